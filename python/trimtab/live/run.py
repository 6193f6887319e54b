"""A run while it goes on: all of its processes on this host, and one `Look` at a time."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from trimtab.live.background import Analysis
from trimtab.live.knobs import NotTurned, Slot, turn
from trimtab.live.model import Look
from trimtab.live.process import LiveProcess, ProcessChanges
from trimtab.live.targets import folders_of, is_alive, pages_of_run
from trimtab.model import RunError
from trimtab.readers.listed import ListedPage
from trimtab.symbols import Symbols

# New processes and ranks are looked for this often.
_SEARCH_S = 2.0
_FORMAT = 1


class LiveRun:
    """The processes of a run that go on, here. Use `opened`.

    Attributes:
        directory: of the run.
    """

    def __init__(self, directory: Path, symbols: Symbols, findings_every_s: float, pid: int | None) -> None:
        self.directory = directory
        self._symbols = symbols
        self._pid = pid
        self._known: dict[Path, LiveProcess | None] = {}  # None: left out, or over
        self._problems: dict[Path, str] = {}
        self._searched = 0.0
        self._looked: float | None = None
        self._cpu = 0.0
        self._has_seen_any = False
        self._analysis = Analysis(directory, findings_every_s) if findings_every_s > 0 else None

    def look(self) -> Look:
        """What all of its processes do now.

        Raises:
            RunError: it is no run any more.
        """
        now, cpu = time.monotonic(), time.process_time()
        interval = None if self._looked is None else now - self._looked
        share = None if not interval else (cpu - self._cpu) / interval
        self._looked, self._cpu = now, cpu
        self._find(now)
        changes = [look for folder in list(self._known) if (look := self._look_at(folder)) is not None]
        self._has_seen_any = self._has_seen_any or bool(changes)
        findings = self._analysis.latest(now) if self._analysis is not None else None
        is_over = not any(process is not None for process in self._known.values())
        return Look(
            _FORMAT,
            str(self.directory),
            time.time(),
            interval,
            is_over,
            tuple(change.process for change in changes),
            tuple(lane for change in changes for lane in change.lanes),
            tuple(
                sorted(
                    (subject for change in changes for subject in change.subjects),
                    key=lambda subject: (-subject.seconds, -subject.per_s, subject.subject),
                )
            ),
            tuple(counter for change in changes for counter in change.counters),
            tuple(knob for change in changes for knob in change.knobs),
            tuple(decision for change in changes for decision in change.decisions),
            None if findings is None else findings.findings,
            None if findings is None else findings.at_s,
            tuple(self._problems.values()),
            share,
        )

    def slots(self) -> list[tuple[LiveProcess, Slot]]:
        """All knobs of the last look, with their processes."""
        return [
            (process, slot)
            for process in self._known.values()
            if process is not None
            for file in process.knob_files
            for slot in file.slots
        ]

    def turn(self, name: str, text: str | None) -> list[str]:
        """Set the knob that `name` means to `text`, or undo (None), in each process that has it.

        Raises:
            NotTurned: there is no such knob, it is not the only one of that name, or it was refused.
            RunError: its file cannot be written.
        """
        return [
            turn(slot, text, lambda process=process: is_alive(process.pid))  # type: ignore[misc]
            for process, slot in find_slots(self.slots(), name)
        ]

    def close(self) -> None:
        """End what runs beside."""
        if self._analysis is not None:
            self._analysis.close()

    def _find(self, now: float) -> None:
        if self._searched and now - self._searched < _SEARCH_S:
            return
        self._searched = now
        for folder in folders_of(self.directory):
            if self._pid is not None and folder.name.rsplit("-", 2)[-2] != str(self._pid):
                continue
            if folder not in self._known and folder not in self._problems:
                self._begin(folder)
        for folder, page in pages_of_run(self.directory).items():
            if self._pid in (None, page.pid) and folder not in self._known and folder not in self._problems:
                self._begin(folder, page)

    def _begin(self, folder: Path, page: ListedPage | None = None) -> None:
        process = LiveProcess(folder, self._symbols, self.directory, page)
        try:
            if not process.begin():
                return
            if _is_elsewhere(process):
                self._problems[folder] = f"{process.id}: it is on another host: start trimtab top there"
                return
        except RunError as error:
            self._problems[folder] = str(error)
            return
        self._known[folder] = process

    def _look_at(self, folder: Path) -> ProcessChanges | None:
        process = self._known[folder]
        if process is not None and process.is_listed and (folder / "process.tt").exists():
            # It has needed a folder since the last look.
            self._begin(folder)
            process = self._known[folder]
        if process is None:
            return None
        try:
            changes = process.look()
        except (RunError, OSError, ValueError) as error:
            self._problems[folder] = str(error)
            self._known[folder] = None
            return None
        if not process.is_over:
            return changes
        self._known[folder] = None
        # Those that had ended before are none of what is watched.
        return changes if self._has_seen_any else None


def find_slots(slots: list[tuple[LiveProcess, Slot]], name: str) -> list[tuple[LiveProcess, Slot]]:
    """Knobs of this name, or the only one whose name has it in it; of several processes one each.

    Raises:
        NotTurned: there is none, or there are several.
    """
    exact = [pair for pair in slots if pair[1].look.name == name]
    if not exact:
        subject, _, knob = name.rpartition("/")
        exact = [
            pair
            for pair in slots
            if pair[1].knob.name == knob and subject in pair[1].look.name.rpartition("/")[0]
        ]
    names = sorted({pair[1].look.name for pair in exact})
    if not names:
        known = ", ".join(sorted({pair[1].look.name for pair in slots})[:10])
        raise NotTurned(f"there is no knob {name}: {f'there are {known}' if known else NO_KNOBS}")
    if len(names) > 1:
        raise NotTurned(f"{name} may be {', '.join(names)}: name one of them")
    return exact


NO_KNOBS = (
    "the program has none that can be turned. Start it with `trimtab run --frozen` (it changes nothing by itself), with `--tune`, "
    "and with `--threads regions` for thread counts; a task program with `--trimtab:tune=workers`"
)


def _is_elsewhere(process: LiveProcess) -> bool:
    host = process.host
    return bool(host) and host != os.uname().nodename


@contextmanager
def opened(directory: Path, findings_every_s: float, pid: int | None = None) -> Iterator[LiveRun]:
    """A run to look at; `pid`: only this process of it."""
    # Not as a context: what it finds is written by reports only.
    run = LiveRun(directory, Symbols(directory), findings_every_s, pid)
    try:
        yield run
    finally:
        run.close()
