"""Runs of a program for `trimtab tune`: bare, learning, frozen; its output goes nowhere, and it must end with code 0."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from trimtab.analysis import build
from trimtab.history import History
from trimtab.model.report import Report
from trimtab.programs import find_program
from trimtab.readers import open_run, read_info
from trimtab.running import Ended, recording_command, run_to_end
from trimtab.spark.with_run import build_spark_run, event_log_of
from trimtab.tuning.multi_run import RunFailed, Start
from trimtab.tuning.objective import Cost, Meter
from trimtab.tuning.single_run import entries_of_start, key_of
from trimtab.tuning.tunables import with_variables


@dataclass
class ProgramRunner:
    """Runs `command`.

    Attributes:
        command: program and arguments.
        folder: of the runs made; exists.
        history: what the learning runs find, and the frozen ones use.
        options: further ones of `trimtab run`.
        input: file for the program's standard input; None: nothing.
        environment: the user's.
        input_class: what the input is called in the history; None: the arguments.
        meter: what a run costs.
    """

    command: Sequence[str]
    folder: Path
    history: Path
    options: Sequence[str] = ()
    input: Path | None = None
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    input_class: str | None = None
    meter: Meter = field(default_factory=lambda: Meter("time"))
    _count: int = 0
    _histories: dict[str, Path] = field(default_factory=dict)

    def bare(self) -> Cost:
        """Of the program alone."""

        def run() -> tuple[Ended, float]:
            ended = self._run(self.command, self.environment)
            return ended, ended.wall_s

        ended, cost = self.meter.measure(run)
        self._check(ended, "as you start it")
        return cost

    def learn(self, environment: Mapping[str, str]) -> Report:
        """A run with search; its report."""
        directory = self._watched("--tune", environment)
        run, log = open_run(directory), event_log_of(directory)
        return build(run) if log is None else build_spark_run(run, log)

    def frozen(self, start: Start) -> Cost:
        """With what was found, what `start` says on top of it, and no search."""
        history = self._history_with(start)

        def run() -> tuple[None, float]:
            return None, _seconds(self._watched("--frozen", start.environment, history))

        return self.meter.measure(run)[1]

    def _history_with(self, start: Start) -> Path:
        """What was found, and the settings of `start` instead where it has some: a file of its own."""
        if not start.settings:
            return self.history
        file = self._histories.get(start.text)
        if file is None:
            file = self._histories[start.text] = self.folder / f"history-{len(self._histories) + 1}.sqlite"
            program = find_program(self.command[0])
            key = key_of(Path(program), self.command[1:], self.input_class)
            known_entries = History(self.history).recall(key)
            History(file).remember([*known_entries, *entries_of_start(key, Path(program), start)])
        return file

    def _watched(self, mode: str, environment: Mapping[str, str], history: Path | None = None) -> Path:
        self._count += 1
        directory = self.folder / f"{self._count:03d}"
        options = [mode, "--history", str(history or self.history), *self.options]
        command = recording_command(directory, options, self.command)
        ended = self._run(command, with_variables(self.environment, environment))
        settings = " ".join(f"{name}={value}" for name, value in environment.items())
        self._check(ended, f"with {mode} {settings}".rstrip())
        return directory

    def _run(self, command: Sequence[str], environment: Mapping[str, str]) -> Ended:
        try:
            with (self.input or Path(os.devnull)).open("rb") as stdin:
                return run_to_end(
                    command,
                    stdin=stdin,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    env=dict(environment),
                )
        except OSError as error:
            raise RunFailed(f"{error.filename or command[0]}: {error.strerror}") from error

    def _check(self, ended: Ended, mode: str) -> None:
        if ended.code != 0:
            ending = f"exit code {ended.code}" if ended.signal is None else ended.signal
            raise RunFailed(
                f"{self.command[0]} {mode}: expected exit code 0, found {ending}; see what it says by itself"
            )


def _seconds(directory: Path) -> float:
    """From start to end of the program, as its launcher saw it."""
    ended = read_info(directory).get("ended") or {}
    if ended.get("wall_s") is None:
        raise RunFailed(f"{directory / 'run.json'}: ended: expected how the run ended, found nothing")
    return float(ended["wall_s"])
