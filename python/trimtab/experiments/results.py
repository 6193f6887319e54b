"""Results on disk: a line for each run, on the disk before the next one starts, so that a killed sweep loses none."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import platform
import signal
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import trimtab
from trimtab import machine
from trimtab.experiments.factors import key_of
from trimtab.experiments.fields import is_value
from trimtab.experiments.output import MOST
from trimtab.experiments.spec import Configuration, Experiment, ExperimentError
from trimtab.files import FileKind, read_bytes, read_json
from trimtab.whole_files import open_kept, why_not_private, write_whole

RESULTS = "results.jsonl"
_EXPERIMENT = "experiment.json"
_LOCK = ".lock"
_FORMAT = 1
_EXPERIMENT_FILE = FileKind("what an earlier sweep wrote", 64 << 20, ExperimentError)
_RESULTS_FILE = FileKind("results of a sweep", 1 << 30, ExperimentError)


@dataclass(frozen=True)
class Record:
    """One finished run. `metrics` are all figures that were found; `failure` says why it does not count."""

    configuration: Configuration
    sample: int
    attempt: int
    started: str
    command: list[str]
    code: int | None
    signal: str | None
    failure: str | None
    stderr: list[str]
    others: float | None
    steal: float | None
    is_disturbed: bool
    metrics: dict[str, float]
    units: dict[str, str] = field(default_factory=dict)

    @property
    def key(self) -> tuple[str, int]:
        """As `Planned.key`."""
        return key_of(self.configuration), self.sample


class Results:
    """The folder of a sweep, locked: one sweep at a time. `notes` tell what was found there that is not as usual."""

    def __init__(self, directory: Path, experiment: Experiment) -> None:
        self.directory = directory
        self.notes: list[str] = []
        directory.mkdir(parents=True, exist_ok=True)
        self._lock = open_kept(directory / _LOCK, os.O_RDWR)
        try:
            self._take_lock()
            self._check(experiment)
            self._stream = open_kept(directory / RESULTS, os.O_WRONLY | os.O_APPEND)
            try:
                self.records = self._read()
            except BaseException:
                os.close(self._stream)
                raise
        except BaseException:
            os.close(self._lock)
            raise

    def __enter__(self) -> Results:
        return self

    def __exit__(self, *_: object) -> None:
        os.ftruncate(self._lock, 0)
        os.close(self._stream)
        os.close(self._lock)

    def append(self, record: Record) -> None:
        """Keep it; it is on the disk when this returns."""
        line = json.dumps(asdict(record), allow_nan=False).encode() + b"\n"
        while line:
            line = line[os.write(self._stream, line) :]
        os.fsync(self._stream)
        self.records.append(record)

    def running(self, pid: int) -> None:
        """Note which program runs: if we are killed, the next sweep here ends it."""
        text = json.dumps({"sweep": os.getpid(), "program": pid, "since": _start_of(pid)}).encode()
        os.ftruncate(self._lock, 0)
        os.pwrite(self._lock, text, 0)

    def _take_lock(self) -> None:
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ExperimentError(
                f"{self.directory}: another sweep is at work here; wait for it, or give another folder with -o"
            ) from None
        # Another user could name any process of ours, and have it killed.
        if why_not_private(os.fstat(self._lock)):
            return
        try:
            left = json.loads(os.pread(self._lock, 4096, 0))
            pid, started = int(left["program"]), left["since"]
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
            return
        # The start time tells it from another process that has its number by now.
        if started is not None and _start_of(pid) == started:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(pid, signal.SIGKILL)
                self.notes.append(f"ended process {pid}, which a killed sweep had left running")

    def _check(self, experiment: Experiment) -> None:
        """That what is here was made by the same commands."""
        path = self.directory / _EXPERIMENT
        now = json.loads(json.dumps(experiment.what_runs()))
        if not path.exists():
            others = sorted(entry.name for entry in self.directory.iterdir() if entry.name != _LOCK)
            if others:
                raise ExperimentError(
                    f"{self.directory}: expected a new or empty folder, or one of a sweep, found {others[0]}"
                )
            description = {
                "format": _FORMAT,
                "trimtab": trimtab.__version__,
                "name": experiment.name,
                "file": str(experiment.file),
                "started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
                "machine": _machine(),
                "what_runs": now,
            }
            write_whole(path, (json.dumps(description, indent=1) + "\n").encode())
            return
        difference = _difference(self.directory, experiment)
        if difference:
            raise ExperimentError(
                f"{self.directory}: holds results of another experiment: {difference}; give another folder with -o"
            )

    def _read(self) -> list[Record]:
        """All whole lines; a last line that was torn when a sweep was killed is cut off, and told."""
        path = self.directory / RESULTS
        records, torn, size = _records(path)
        if torn:
            os.ftruncate(self._stream, size - torn)
            self.notes.append(f"{path}: dropped a torn last line of {torn} bytes; its run is made again")
        return records


def recorded(directory: Path, experiment: Experiment | None = None) -> list[Record]:
    """The finished runs in the folder of a sweep, which may be at work meanwhile.

    Raises:
        ExperimentError: there are no results, or results of other commands than those of `experiment`.
    """
    if experiment is not None:
        difference = _difference(directory, experiment)
        if difference:
            raise ExperimentError(f"{directory}: expected results of {experiment.file}, but {difference}")
    records, _, _ = _records(directory / RESULTS)
    return records


def count_recorded(directory: Path) -> int:
    """How many runs are recorded in the folder of a sweep, without a look at what they are."""
    path = directory / RESULTS
    return read_bytes(path, _RESULTS_FILE).count(b"\n") if path.exists() else 0


def _records(path: Path) -> tuple[list[Record], int, int]:
    """The records, the bytes of a torn last line, and all bytes."""
    content = read_bytes(path, _RESULTS_FILE)
    whole, _, torn = content.rpartition(b"\n")
    records = [_record(path, at, line) for at, line in enumerate(whole.split(b"\n"), 1) if whole]
    return records, len(torn), len(content)


def _difference(directory: Path, experiment: Experiment) -> str:
    """How the experiment whose results are in a folder differs from this one; empty if it does not."""
    path = directory / _EXPERIMENT
    now = json.loads(json.dumps(experiment.what_runs()))
    try:
        before = read_json(path, _EXPERIMENT_FILE)["what_runs"]
        differ = [key for key in now if before.get(key) != now[key]]
    except (LookupError, TypeError, AttributeError) as error:
        raise ExperimentError(f"{path}: expected what an earlier sweep wrote, found {error!r}") from error
    return f"'{differ[0]}' was {before.get(differ[0])}, is {now[differ[0]]}" if differ else ""


def _machine() -> dict[str, Any]:
    this_machine = machine.describe()
    return this_machine | {
        "model": this_machine["model"] or platform.machine(),
        "cpus": len(os.sched_getaffinity(0)),
    }


def _record(path: Path, number: int, line: bytes) -> Record:
    try:
        parsed: Any = json.loads(line)
        record = Record(**{field.name: parsed[field.name] for field in fields(Record)})
        for name, is_right in _RIGHT.items():
            if not is_right(parsed[name]):
                raise ValueError(f"'{name}' is {parsed[name]!r}")
        return record
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        raise ExperimentError(
            f"{path}: line {number}: expected the result of a run, found {line[:40]!r} ({error}); "
            "remove the line, and its run is made again"
        ) from error


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < MOST


def _is_share(value: object) -> bool:
    return value is None or _is_number(value)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _has_values(value: object) -> bool:
    return isinstance(value, dict) and all(map(is_value, value.values()))


# What others read of a record, and what it must be.
_RIGHT: dict[str, Callable[[Any], bool]] = {
    "configuration": _has_values,
    "sample": lambda value: type(value) is int,
    "attempt": lambda value: type(value) is int,
    "started": _is_text,
    "command": lambda value: isinstance(value, list) and all(map(_is_text, value)),
    "code": lambda value: value is None or type(value) is int,
    "signal": lambda value: value is None or _is_text(value),
    "failure": lambda value: value is None or _is_text(value),
    "stderr": lambda value: isinstance(value, list) and all(map(_is_text, value)),
    "others": _is_share,
    "steal": _is_share,
    "is_disturbed": lambda value: isinstance(value, bool),
    "metrics": lambda value: isinstance(value, dict) and all(map(_is_number, value.values())),
    "units": lambda value: isinstance(value, dict) and all(map(_is_text, value.values())),
}


def _start_of(pid: int) -> str | None:
    """When a process started, in the kernel's ticks since boot, and in which boot; None when it is over."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return None
    # The name, in parentheses, may hold anything.
    state, *rest = stat.rpartition(")")[2].split()
    return None if state == "Z" else f"{boot}/{rest[18]}"
