"""The sweep: what is planned and not yet done, one run after the other; what others disturbed, again at the end."""

from __future__ import annotations

import math
import shutil
import statistics
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from trimtab.experiments.factors import configurations, key_of
from trimtab.experiments.plan import Planned, plan, shuffle
from trimtab.experiments.results import RESULTS, Record, Results, recorded
from trimtab.experiments.run import RUNS, placement_in, run_once
from trimtab.experiments.spec import HOST, Configuration, Experiment, ExperimentError
from trimtab.experiments.swept import Swept, gathered

# A disturbed run is made again at most so often.
REPEATS = 2
# So many repeats in a row that were disturbed again: the machine is busy, and more would only take time.
HOPELESS = 12


@dataclass(frozen=True)
class Progress:
    """After a run: how far the sweep is; `left_s` is an estimate."""

    done: int
    total: int
    left_s: float
    record: Record


@dataclass(frozen=True)
class Options:
    """How to go about it."""

    is_retrying: bool = False
    is_stopping_on_failure: bool = False


def sweep(
    experiment: Experiment,
    directory: Path,
    options: Options = Options(),
    report_progress: Callable[[Progress], None] = lambda _: None,
) -> Swept:
    """Do what is left of the experiment in `directory`.

    Raises:
        ExperimentError: the folder is not of this experiment.
        OSError: results cannot be written.
        KeyboardInterrupt: what is done is kept; the same call goes on.
    """
    chosen = configurations(experiment)
    _check_machine(experiment, chosen)
    wanted = plan(experiment, chosen)
    with Results(directory, experiment) as results:
        # Of a run that was not finished.
        if experiment.observe is None or not experiment.observe.is_kept:
            shutil.rmtree(directory / RUNS, ignore_errors=True)
        work = _Work(experiment, results, wanted, options, report_progress)
        is_stopped = not work.all_done()
        if experiment.observe is not None and not experiment.observe.is_kept:
            shutil.rmtree(directory / RUNS, ignore_errors=True)
        return gathered(experiment, results, chosen, is_stopped)


def _check_machine(experiment: Experiment, chosen: Sequence[Configuration]) -> None:
    """That the runs can be made here, before the first one."""
    for factor in experiment.factors:
        if factor.kind == HOST and len(factor.values) > 1:
            names = ", ".join(map(str, factor.values))
            raise ExperimentError(
                f"{experiment.file}: factor '{factor.name}': expected one host, this one, found {names}; run the sweep on "
                "each host, then put the results together with --gather"
            )
    for configuration in chosen:
        placement_in(experiment, configuration)


def expected_s(experiment: Experiment, directory: Path) -> float | None:
    """How long the runs take that are left in `directory`: by those that were made, else by the file's `run_s`; None: not known."""
    records = recorded(directory) if (directory / RESULTS).exists() else []
    took: dict[str, list[float]] = defaultdict(list)
    for record in records:
        took[key_of(record.configuration)].append(record.metrics.get("wall_s", 0.0))
    usual_s = {key: statistics.median(values) for key, values in took.items()}
    default_s = statistics.fmean(usual_s.values()) if usual_s else experiment.run_s
    left = [key_of(run.configuration) for run in runs_left(experiment, records)]
    if default_s is None and any(key not in usual_s for key in left):
        return None
    return math.fsum(usual_s.get(key, default_s or 0.0) for key in left)


def runs_left(experiment: Experiment, records: Sequence[Record], is_retrying: bool = False) -> list[Planned]:
    """The planned runs that are not among `records`; with `is_retrying` also those that only failed."""
    done = {record.key for record in records if record.failure is None or not is_retrying}
    return [run for run in plan(experiment, configurations(experiment)) if run.key not in done]


class _Work:
    """What is left to do, and how long it may take."""

    def __init__(
        self,
        experiment: Experiment,
        results: Results,
        wanted: list[Planned],
        options: Options,
        report_progress: Callable[[Progress], None],
    ) -> None:
        self._experiment, self._results, self._wanted = experiment, results, wanted
        self._options, self._tell = options, report_progress
        self._attempts: dict[tuple[str, int], list[Record]] = defaultdict(list)
        self._took_s: dict[str, list[float]] = defaultdict(list)
        self._usual_s: dict[str, float] = {}
        self._done = 0
        self._disturbed_in_a_row = 0
        for record in results.records:
            self._note(record, record.metrics.get("wall_s", 0.0))

    def _note(self, record: Record, took_s: float) -> None:
        self._attempts[record.key].append(record)
        key = key_of(record.configuration)
        self._took_s[key].append(took_s)
        self._usual_s[key] = statistics.median(self._took_s[key])

    def all_done(self) -> bool:
        """Runs whatever is left; False if a failure ended it early."""
        left = [planned_run for planned_run in self._wanted if self._is_open(planned_run)]
        self._done = len(self._wanted) - len(left)
        if not self._run_all(left):
            return False
        for round_number in range(1, REPEATS + 1):
            planned_run = [repeated for repeated in self._wanted if self._is_to_be_repeated(repeated)]
            shuffle(planned_run, self._experiment.seed, f"again {round_number}")
            if not self._run_all(planned_run, HOPELESS):
                return False
            if self._disturbed_in_a_row >= HOPELESS:
                break
        return True

    def _is_open(self, planned: Planned) -> bool:
        """Not run; or failed, where that is to be tried again."""
        records = self._attempts[planned.key]
        return not records or (
            self._options.is_retrying and all(record.failure is not None for record in records)
        )

    def _is_to_be_repeated(self, planned: Planned) -> bool:
        records = self._attempts[planned.key]
        right = [record for record in records if record.failure is None]
        return (
            not planned.is_warm_up
            and bool(right)
            and all(record.is_disturbed for record in right)
            and len(records) <= REPEATS
        )

    def _run_all(self, runs: list[Planned], patience: float = math.inf) -> bool:
        """In this order, until so many were disturbed in a row; False if a failure ended it."""
        self._disturbed_in_a_row = 0
        left = Counter(key_of(run.configuration) for run in runs)
        for at, planned in enumerate(runs, 1):
            began = time.monotonic()
            record = run_once(self._experiment, planned, len(self._attempts[planned.key]), self._results)
            self._results.append(record)
            # What a run takes is more than the program's time: starting it, reading it.
            self._note(record, time.monotonic() - began)
            self._done += 1
            left[key_of(planned.configuration)] -= 1
            self._tell(Progress(self._done, self._done + len(runs) - at, self._estimate_s(left), record))
            if record.failure is not None and self._options.is_stopping_on_failure:
                return False
            self._disturbed_in_a_row = self._disturbed_in_a_row + 1 if record.is_disturbed else 0
            if self._disturbed_in_a_row >= patience:
                break
        return True

    def _estimate_s(self, left: Mapping[str, int]) -> float:
        """Configurations that ran take what they took; of others, the mean of these is all that is known."""
        mean = statistics.fmean(self._usual_s.values())
        return math.fsum(self._usual_s.get(key, mean) * count for key, count in left.items())
