"""Runs of a program for `trimtab tune`: bare, learning, frozen; its output goes nowhere, and it must end with code 0."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from trimtab.analysis import build
from trimtab.history import History, HistoryError
from trimtab.model.report import Report
from trimtab.programs import find_program
from trimtab.readers import open_run, read_info
from trimtab.running import Ended, recording_command, run_to_end
from trimtab.spark.with_run import build_spark_run, event_log_of
from trimtab.tuning.multi_run import RunFailed, Start
from trimtab.tuning.objective import Cost, Meter
from trimtab.tuning.single_run import entries_of_start, key_of, start_of
from trimtab.tuning.tunables import with_variables

# A run with a setting is ended after so many times what the program takes as its user starts it, and the launcher's own time.
_TOO_LONG = 3.0
_SLACK_S = 3.0


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
        is_inherited: programs that it starts get the start values, too.
        overhead_s: most that `trimtab run` itself took in addition so far.
    """

    command: Sequence[str]
    folder: Path
    history: Path
    options: Sequence[str] = ()
    input: Path | None = None
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    input_class: str | None = None
    meter: Meter = field(default_factory=lambda: Meter("time"))
    is_inherited: bool = False
    overhead_s: float = 0.0
    _bare_s: float = 0.0
    _count: int = 0
    _histories: dict[str, Path] = field(default_factory=dict)

    def bare(self) -> Cost:
        """Of the program alone."""

        def run() -> tuple[Ended, float]:
            ended = self._run(self.command, self.environment)
            return ended, ended.wall_s

        ended, cost = self.meter.measure(run)
        self._check(ended, "as you start it")
        self._bare_s = max(self._bare_s, cost.seconds)
        return cost

    def learn(self, environment: Mapping[str, str]) -> Report:
        """A run with search; its report."""
        variables = " ".join(f"{name}={value}" for name, value in environment.items())
        directory, ended = self._watched("--tune", with_variables(self.environment, environment))
        self._check(ended, f"with --tune {variables}".rstrip())
        run, log = open_run(directory), event_log_of(directory)
        return build(run) if log is None else build_spark_run(run, log)

    def watched(self, environment: Mapping[str, str]) -> Report:
        """The report of a run in which nothing is changed but these variables."""
        directory, ended = self._watched("--frozen", with_variables(self.environment, environment))
        self._check(ended, f"with {' '.join(f'{name}={value}' for name, value in environment.items())}")
        return build(open_run(directory))

    def frozen(self, start: Start) -> Cost:
        """With what was found, what `start` says on top of it, and no search: as `trimtab run --frozen` will run it."""
        history = self._history_with(start)

        def run() -> tuple[bool, float]:
            directory, ended = self._watched("--frozen", self.environment, history, self._limit_s())
            if ended.is_timed_out:
                return True, ended.wall_s
            self._check(ended, f"with --frozen {start.text}".rstrip())
            seconds = _seconds(directory)
            self.overhead_s = max(self.overhead_s, ended.wall_s - seconds)
            return False, seconds

        is_stopped, cost = self.meter.measure(run)
        return replace(cost, is_stopped=is_stopped)

    def _limit_s(self) -> float | None:
        """When a run is ended; None: it is not known how long the program takes."""
        return _TOO_LONG * self._bare_s + _SLACK_S if self._bare_s > 0 else None

    def _history_with(self, start: Start) -> Path:
        """What was found, and what `start` says instead where it says something: a file of its own."""
        if not (start.settings or start.environment):
            return self.history
        file = self._histories.get(start.text)
        if file is None:
            file = self._histories[start.text] = self.folder / f"history-{len(self._histories) + 1}.sqlite"
            program = find_program(self.command[0])
            key = key_of(Path(program), self.command[1:], self.input_class)
            try:
                known_entries = History(self.history).recall(key)
                whole = start.on_top_of(start_of(known_entries))
                added_entries = entries_of_start(key, Path(program), whole, is_inherited=self.is_inherited)
                History(file).remember([*known_entries, *added_entries])
            except HistoryError as error:
                raise RunFailed(str(error)) from error
        return file

    def _watched(
        self,
        mode: str,
        environment: Mapping[str, str],
        history: Path | None = None,
        limit_s: float | None = None,
    ) -> tuple[Path, Ended]:
        self._count += 1
        directory = self.folder / f"{self._count:03d}"
        options = [mode, "--history", str(history or self.history), *self.options]
        command = recording_command(directory, options, self.command)
        return directory, self._run(command, environment, limit_s)

    def _run(
        self, command: Sequence[str], environment: Mapping[str, str], limit_s: float | None = None
    ) -> Ended:
        try:
            with (self.input or Path(os.devnull)).open("rb") as stdin:
                return run_to_end(
                    command,
                    limit_s,
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
                f"{self.command[0]} {mode}: expected exit code 0, found {ending}; see what it says by itself{self._no_input}"
            )

    @property
    def _no_input(self) -> str:
        """What the user may have to give it."""
        return "" if self.input is not None else ", and give it --input FILE if it reads standard input"


def _seconds(directory: Path) -> float:
    """From start to end of the program, as its launcher saw it."""
    ended = read_info(directory).get("ended") or {}
    if ended.get("wall_s") is None:
        raise RunFailed(f"{directory / 'run.json'}: ended: expected how the run ended, found nothing")
    return float(ended["wall_s"])
