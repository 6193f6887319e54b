"""Changes of a process that replays try, each for a cause of lost time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import partial
from itertools import chain, islice

import numpy as np

from trimtab.analysis import compiled
from trimtab.analysis.schedule_changes import Grain, LoopSchedules
from trimtab.analysis.step_work import Floats, is_work, largest, ones
from trimtab.analysis.task_changes import Chains, Making, TaskOrder, without_locks
from trimtab.analysis.unequal_work import SharedWork, without_stragglers
from trimtab.analysis.what_if import Change, Replays
from trimtab.model import NO_SUBJECT
from trimtab.threads import Calls
from trimtab.traces.intervals import Doing
from trimtab.traces.steps import Steps

# Of the replayed steps of all changes together: more take too long.
_MOST_STEPS = 20_000_000
_LEAST_SHARE = 0.01  # of the process's time: what explains less is not tried
_FASTER = 0.75
_WORKERS = (1, 2, 4)
_PARTS = (2, 4)
_SMALL_ERROR = 0.05


class ChangeKind(Enum):
    """What is different; the value is how a report writes it, with the subject's name in it."""

    NO_STRAGGLERS = "stragglers take as long as the median"
    BALANCED = "{subject}: lanes share the work equally"
    NO_PREEMPTION = "no thread loses its CPU"
    NO_LOCK_WAITS = "nobody waits for a lock"
    PARALLEL_SERIAL_PART = "the serial part uses all lanes or workers"
    FASTER = "{subject} takes 25 % less time"
    NO_CHAIN = "tasks of {subject} do not wait for each other"
    SHARED_MAKING = "{subject} makes its tasks in parallel"
    DYNAMIC_SCHEDULE = "{subject}: schedule(dynamic, {count})"
    STATIC_SCHEDULE = "{subject}: schedule(static)"
    SMALLER_GRAIN = "each task of {subject} is divided into {count}"
    MORE_WORKERS = "{workers} more, each with a CPU of its own"
    NO_LATENCY = "steps begin as soon as they can"
    SHARED_BY_PROCESSES = "processes share the work equally"
    NO_MESSAGE_LATENCY = "messages take no time on their way"
    NO_MESSAGE_QUEUES = "messages leave the queues of their senders at once"


@dataclass(frozen=True)
class Prediction:
    """What a change saves, seconds; below 0: it costs.

    Attributes:
        subject: region, loop or kind of task.
        count: of workers, of iterations in a chunk, or of parts of a task.
        low_s, high_s: how much shorter or longer the run could be besides the replay's error, because something that decides it is not recorded.
    """

    kind: ChangeKind
    subject: int
    count: int
    saved_s: float
    low_s: float = 0.0
    high_s: float = 0.0


@dataclass(frozen=True)
class Predictions:
    """Of a process or a job.

    Attributes:
        changes: in the order in which they were tried.
        error: of the replay of the unchanged run, as a share of its time.
        tasks_move: whether any worker takes tasks in the replay; otherwise they stay with the recorded one, since that fits the recorded run better.
        subjects: of a job: process, by place, and number there of each subject of the changes.
    """

    changes: tuple[Prediction, ...]
    error: float
    tasks_move: bool
    subjects: tuple[tuple[int, int], ...] = ()

    def renumbered(self, places: Sequence[int]) -> Predictions:
        """With other numbers of processes."""
        return replace(self, subjects=tuple((places[process], number) for process, number in self.subjects))


def predictions_of(steps: Steps) -> Predictions | None:
    """None where the replay cannot be made: of damaged files."""
    return Predicting(steps).predictions()


class Predicting:
    """The replays of all changes, which begin at once, in as many threads as are given; `subjects`: as `Predictions` has them."""

    def __init__(self, steps: Steps, threads: int = 1, subjects: tuple[tuple[int, int], ...] = ()) -> None:
        self._unchanged: tuple[float, bool] | None = None
        self._subjects = subjects
        self._calls = Calls(self._attempts(steps)).begun(threads)

    def predictions(self) -> Predictions | None:
        """When all are done; as `predictions_of`."""
        try:
            changes = self._calls.results()
        except compiled.CompiledError:
            return None
        if self._unchanged is None:
            return None
        return Predictions(tuple(changes), *self._unchanged, self._subjects)

    def stop(self) -> None:
        """Nobody wants them any more."""
        self._calls.stop()

    def _attempts(self, steps: Steps) -> Iterator[Callable[[], Prediction]]:
        replays = _best_replays(steps)
        self._unchanged = replays.error, bool(replays.steps.is_pooled.any())
        budget, tasks = _MOST_STEPS // max(len(steps), 1), TaskOrder(replays.steps)
        tried = chain(_changes(replays.steps, tasks), _of_schedules(tasks), _between_processes(replays.steps))
        for attempt in islice(tried, budget):
            yield partial(_predicted, replays, attempt)


def _predicted(replays: Replays, tried: _Tried) -> Prediction:
    kind, subject, count, change, *bounds_s = tried
    return Prediction(kind, subject, count, replays.saved_s(change), *bounds_s)


def _best_replays(steps: Steps) -> Replays:
    """Tasks move between workers in a replay, unless the recorded run is repeated better where they stay."""
    moving = Replays(steps)
    if abs(moving.error) <= _SMALL_ERROR:
        return moving
    staying = Replays(steps.with_recorded_workers())
    return staying if abs(staying.error) < abs(moving.error) / 2 else moving


def _between_processes(steps: Steps) -> Iterator[_Tried]:
    """Of a job of several processes."""
    if len(steps.workers_of) < 2:
        return
    least_ns = _LEAST_SHARE * steps.span_ns
    factor = _shared_by_processes(steps)
    if _saved_ns(steps, factor) >= least_ns:
        yield ChangeKind.SHARED_BY_PROCESSES, NO_SUBJECT, 0, Change(factor)
    if int(steps.links.latency_ns[steps.links.is_message].sum()) >= least_ns:
        yield ChangeKind.NO_MESSAGE_LATENCY, NO_SUBJECT, 0, Change(has_messages_on_the_way=False)
    if int(steps.queued_ns.sum()) >= least_ns:
        yield ChangeKind.NO_MESSAGE_QUEUES, NO_SUBJECT, 0, Change(has_queued_messages=False)


def _shared_by_processes(steps: Steps) -> Floats:
    """Each process does an equal share of the work of all, of each region or kind of task."""
    pieces, factor = steps.pieces, np.ones(len(steps.pieces.step))
    process = steps.process[pieces.step]
    is_work = (pieces.doing == int(Doing.WORK)) & (pieces.subject != NO_SUBJECT)
    processes = len(steps.workers_of)
    for subject in np.unique(pieces.subject[is_work]).tolist():
        chosen = np.flatnonzero(is_work & (pieces.subject == subject))
        work = np.bincount(process[chosen], weights=pieces.length_ns[chosen], minlength=processes)
        # Of what only one process does, the others have no part.
        if np.count_nonzero(work) == processes:
            factor[chosen] = (work.mean() / work)[process[chosen]]
    return factor


_Tried = tuple[ChangeKind, int, int, Change] | tuple[ChangeKind, int, int, Change, float, float]


def _of_schedules(tasks: TaskOrder) -> Iterator[_Tried]:
    """Loops with another schedule, and tasks in parts."""
    steps = tasks.steps
    least_ns = _LEAST_SHARE * steps.span_ns
    for subject, other in LoopSchedules(steps).changes(least_ns):
        kind = ChangeKind.DYNAMIC_SCHEDULE if other.chunk else ChangeKind.STATIC_SCHEDULE
        yield kind, subject, other.chunk, other.change, other.low_ns * 1e-9, other.high_ns * 1e-9
    grain = Grain(tasks)
    for subject in grain.subjects(least_ns):
        for parts in _PARTS:
            change, bound_ns = grain.divided(subject, parts)
            yield ChangeKind.SMALLER_GRAIN, subject, parts, change, bound_ns * 1e-9, bound_ns * 1e-9


def _changes(steps: Steps, tasks: TaskOrder) -> Iterator[_Tried]:
    """Those worth a replay: what they could save at best is 1 % of the time or more."""
    least_ns = _LEAST_SHARE * steps.span_ns
    for kind, factor in (
        (ChangeKind.NO_STRAGGLERS, without_stragglers(steps.with_subjects_of_processes())),
        (ChangeKind.PARALLEL_SERIAL_PART, _parallel_serial(steps)),
    ):
        if _saved_ns(steps, factor) >= least_ns:
            yield kind, NO_SUBJECT, 0, Change(factor)
    uninterrupted = _without(steps, Doing.PREEMPTED)
    if _saved_ns(steps, uninterrupted) + int(steps.delay_ns.sum()) >= least_ns:
        yield ChangeKind.NO_PREEMPTION, NO_SUBJECT, 0, Change(uninterrupted, has_delays=False)
    if steps.links.is_lock.any():
        yield ChangeKind.NO_LOCK_WAITS, NO_SUBJECT, 0, without_locks(tasks)
    shared = SharedWork(steps)
    for subject in shared.unbalanced(least_ns):
        yield ChangeKind.BALANCED, subject, 0, Change(shared.balanced(subject))
    if steps.is_pooled.any():
        for count in _WORKERS:
            yield ChangeKind.MORE_WORKERS, NO_SUBJECT, count, Change(more_workers=count)
        yield from _of_tasks(tasks, least_ns)
    if int((steps.lead_ns - steps.delay_ns).sum()) >= least_ns:
        yield ChangeKind.NO_LATENCY, NO_SUBJECT, 0, Change(has_leads=False)
    for subject in _longest(steps):
        yield ChangeKind.FASTER, subject, 0, Change(_faster(steps, subject))


def _of_tasks(tasks: TaskOrder, least_ns: float) -> Iterator[_Tried]:
    chains, making = Chains(tasks), Making(tasks)
    for subject in chains.subjects(least_ns):
        bound_s = chains.bound_ns(subject) * 1e-9
        yield ChangeKind.NO_CHAIN, subject, 0, chains.without(subject), bound_s, bound_s
    for subject in making.subjects(least_ns):
        if (change := making.shared(subject)) is not None:
            yield ChangeKind.SHARED_MAKING, subject, 0, change


def _saved_ns(steps: Steps, factor: Floats) -> float:
    """Lane time that a factor takes away."""
    return float((steps.pieces.length_ns * np.maximum(1.0 - factor, 0.0)).sum())


def _without(steps: Steps, doing: Doing) -> Floats:
    factor = ones(steps)
    factor[steps.pieces.doing == int(doing)] = 0.0
    return factor


def _parallel_serial(steps: Steps) -> Floats:
    factor = ones(steps)
    # Beside workers the thread that makes tasks has no CPU of its own.
    factor[steps.pieces.doing == int(Doing.SERIAL)] = 1.0 / max(steps.workers or steps.lanes, 1)
    return factor


def _faster(steps: Steps, subject: int) -> Floats:
    factor = ones(steps)
    factor[is_work(steps) & (steps.pieces.subject == subject)] = _FASTER
    return factor


def _longest(steps: Steps) -> list[int]:
    """Subjects with most work."""
    pieces = steps.pieces
    chosen = np.flatnonzero(is_work(steps) & (pieces.subject != NO_SUBJECT))
    return largest(pieces.subject[chosen], pieces.length_ns[chosen].astype(np.float64), 0.0)
