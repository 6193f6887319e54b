"""The sweep: what is planned and not yet done, one run after the other; what others disturbed, again at the end."""

from __future__ import annotations

import math
import shutil
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from trimtab.experiments.factors import configurations, key_of
from trimtab.experiments.plan import Planned, plan, shuffle
from trimtab.experiments.results import Record, Results
from trimtab.experiments.run import RUNS, run_once
from trimtab.experiments.spec import Configuration, Experiment

# A disturbed run is made again at most so often.
REPEATS = 2


@dataclass(frozen=True)
class Progress:
    """After a run: how far the sweep is; `left_s` is an estimate, None before anything is known."""

    done: int
    total: int
    left_s: float | None
    record: Record


@dataclass(frozen=True)
class Options:
    """How to go about it."""

    is_retrying: bool = False
    is_stopping_on_failure: bool = False


@dataclass(frozen=True)
class Swept:
    """All that is known of an experiment: its configurations in the file's order, its records, what is to be told."""

    experiment: Experiment
    directory: Path
    configurations: list[Configuration]
    records: list[Record]
    planned: int
    is_stopped: bool
    notes: list[str]

    @property
    def runs(self) -> list[Record]:
        """The record that counts of each run: of several attempts the least disturbed one that is right."""
        chosen: dict[tuple[str, int], Record] = {}
        for record in self.records:
            other = chosen.get(record.key)
            if record.sample > 0 and (other is None or _rank(record) <= _rank(other)):
                chosen[record.key] = record
        return list(chosen.values())

    @property
    def failed(self) -> list[Record]:
        """Of these, the ones that failed."""
        return [each for each in self.runs if each.failure is not None]

    def counts(self) -> dict[str, int]:
        """What was run: nothing is left out unsaid."""
        runs = self.runs
        return {
            "planned": self.planned,
            "done": len(runs),
            "failed": len(self.failed),
            "repeated": sum(each.attempt > 0 for each in self.records),
            "disturbed": sum(each.is_disturbed for each in runs),
            "warm_up": sum(each.sample < 1 for each in self.records),
        }


def _rank(record: Record) -> tuple[bool, bool, float]:
    """Smaller is better; of equals, the later counts. How fast a run was does not matter."""
    disturbance = (record.others or 0.0) + (record.steal or 0.0)
    return record.failure is not None, record.is_disturbed, disturbance if record.is_disturbed else 0.0


def sweep(
    experiment: Experiment,
    directory: Path,
    options: Options = Options(),
    tell: Callable[[Progress], None] = lambda _: None,
) -> Swept:
    """Do what is left of the experiment in `directory`.

    Raises:
        ExperimentError: the folder is not of this experiment.
        OSError: results cannot be written.
        KeyboardInterrupt: what is done is kept; the same call goes on.
    """
    chosen = configurations(experiment)
    wanted = plan(experiment, chosen)
    with Results(directory, experiment) as results:
        # Of a run that was not finished.
        if experiment.observe is None or not experiment.observe.is_kept:
            shutil.rmtree(directory / RUNS, ignore_errors=True)
        work = _Work(experiment, results, wanted, options, tell)
        is_stopped = not work.all_done()
        if experiment.observe is not None and not experiment.observe.is_kept:
            shutil.rmtree(directory / RUNS, ignore_errors=True)
        return gathered(experiment, results, chosen, is_stopped)


def gathered(
    experiment: Experiment, results: Results, chosen: list[Configuration], is_stopped: bool = False
) -> Swept:
    """What the results say of these configurations; others' records are left out, and counted."""
    keys = {key_of(each) for each in chosen}
    mine = [each for each in results.records if key_of(each.configuration) in keys]
    notes = list(results.notes)
    if len(mine) < len(results.records):
        notes.append(
            f"{len(results.records) - len(mine)} recorded runs of configurations that the file no longer has are left out"
        )
    return Swept(
        experiment, results.directory, chosen, mine, len(chosen) * experiment.samples, is_stopped, notes
    )


class _Work:
    """What is left to do, and how long it may take."""

    def __init__(
        self,
        experiment: Experiment,
        results: Results,
        wanted: list[Planned],
        options: Options,
        tell: Callable[[Progress], None],
    ) -> None:
        self._experiment, self._results, self._wanted = experiment, results, wanted
        self._options, self._tell = options, tell
        self._attempts: dict[tuple[str, int], list[Record]] = defaultdict(list)
        self._took_s: dict[str, list[float]] = defaultdict(list)
        self._done = 0
        for record in results.records:
            self._note(record, record.metrics.get("wall_s", 0.0))

    def _note(self, record: Record, took_s: float) -> None:
        self._attempts[record.key].append(record)
        self._took_s[key_of(record.configuration)].append(took_s)

    def all_done(self) -> bool:
        """Runs whatever is left; False if a failure ended it early."""
        left = [each for each in self._wanted if self._is_open(each)]
        self._done = len(self._wanted) - len(left)
        if not self._run_all(left):
            return False
        for round_number in range(1, REPEATS + 1):
            again = [each for each in self._wanted if self._is_to_be_repeated(each)]
            shuffle(again, self._experiment.seed, f"again {round_number}")
            if not self._run_all(again):
                return False
        return True

    def _is_open(self, planned: Planned) -> bool:
        """Not run; or failed, where that is to be tried again."""
        records = self._attempts[planned.key]
        return not records or (
            self._options.is_retrying and all(each.failure is not None for each in records)
        )

    def _is_to_be_repeated(self, planned: Planned) -> bool:
        records = self._attempts[planned.key]
        right = [each for each in records if each.failure is None]
        return (
            not planned.is_warm_up
            and bool(right)
            and all(each.is_disturbed for each in right)
            and len(records) <= REPEATS
        )

    def _run_all(self, runs: list[Planned]) -> bool:
        for at, planned in enumerate(runs):
            began = time.monotonic()
            record = run_once(self._experiment, planned, len(self._attempts[planned.key]), self._results)
            self._results.append(record)
            # What a run takes is more than the program's time: starting it, reading it.
            self._note(record, time.monotonic() - began)
            self._done += 1
            left = runs[at + 1 :]
            self._tell(Progress(self._done, self._done + len(left), self._estimate_s(left), record))
            if record.failure is not None and self._options.is_stopping_on_failure:
                return False
        return True

    def _estimate_s(self, left: Iterable[Planned]) -> float | None:
        """Configurations that ran take what they took; of others, the mean of these is all that is known."""
        known = {key: statistics.median(took) for key, took in self._took_s.items()}
        if not known:
            return None
        mean = statistics.fmean(known.values())
        return math.fsum(known.get(key_of(each.configuration), mean) for each in left)
