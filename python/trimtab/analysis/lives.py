"""When the processes of a run lived beside each other on a host, and which CPUs they had then."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TypeVar

Value = TypeVar("Value")


@dataclass(frozen=True)
class Life:
    """One process on its host: from when to when, seconds, and what CPUs it could use.

    Attributes:
        cpus: how many at a time.
        mask: which, a bit each; None where the run does not tell.
        quota: of its control group, in CPUs; 0: none.
    """

    host: str | None
    begin: float
    end: float
    cpus: float
    mask: int | None = None
    quota: float = 0.0

    @property
    def length(self) -> float:
        """Seconds."""
        return self.end - self.begin


def groups_of(lives: Sequence[Life]) -> list[list[int]]:
    """Which of them lived beside each other on one host, directly or through others, by their places in `lives`."""
    order = sorted(range(len(lives)), key=lambda at: (lives[at].host or "", lives[at].begin, lives[at].end))
    groups: list[list[int]] = []
    end = 0.0
    for at in order:
        if groups and lives[groups[-1][0]].host == lives[at].host and lives[at].begin < end:
            groups[-1].append(at)
            end = max(end, lives[at].end)
        else:
            groups.append([at])
            end = lives[at].end
    return groups


def capacity_s(lives: Sequence[Life]) -> float:
    """Core time that processes of one host had together: each CPU counts once, however many of them could use it."""
    if len(lives) == 1:
        return lives[0].cpus * lives[0].length
    alive = _Alive()
    total = last = 0.0
    for time, at, is_begin in _changes(lives):
        total += alive.cpus * (time - last)
        last = time
        alive.change(lives[at], 1 if is_begin else -1)
    return total


def covered_s(lives: Sequence[Life]) -> float:
    """Seconds in which at least one of them lived, on any host."""
    total, end = 0.0, float("-inf")
    for life in sorted(lives, key=lambda one_life: one_life.begin):
        total += max(life.end - max(life.begin, end), 0.0)
        end = max(end, life.end)
    return total


def mean_beside(lives: Sequence[Life], values: Sequence[float]) -> list[float]:
    """For each of them, the sum of `values` of all that lived at a time, itself included, on average over its life."""
    times, sums, integrals = _profile(lives, values)
    return [
        (_integral(times, sums, integrals, life.end) - _integral(times, sums, integrals, life.begin))
        / life.length
        if life.length > 0
        else value
        for life, value in zip(lives, values, strict=True)
    ]


def most_at_a_time(lives: Sequence[Life], values: Sequence[float]) -> float:
    """The greatest sum of `values` of those that lived at a time."""
    return max((*values, *_profile(lives, values)[1]), default=0.0)


def longest_chain(lives: Sequence[Life], values: Sequence[float]) -> float:
    """The greatest sum of `values` of processes that ran one after another.

    What each of several processes could save adds up only if they do not run at the same time.
    """
    order = sorted(range(len(lives)), key=lambda at: lives[at].end)
    ends = [lives[at].end for at in order]
    best = [0.0]
    for place, at in enumerate(order):
        before = bisect_right(ends, lives[at].begin + _TOUCHING_S, 0, place)
        best.append(max(best[-1], best[before] + values[at]))
    return best[-1]


# One that is begun by the end of another may seem to begin a little before it: each has a clock of its own.
_TOUCHING_S = 1e-3


class _Alive:
    """The processes that are alive at a time, and how many CPUs they have together."""

    def __init__(self) -> None:
        self._cpus: Counter[float] = Counter()
        self._quotas: Counter[float] = Counter()
        self._masks: Counter[int | None] = Counter()
        self.cpus = 0.0

    def change(self, life: Life, step: int) -> None:
        """One begins or ends."""
        _count(self._cpus, life.cpus, step)
        _count(self._quotas, life.quota, step)
        _count(self._masks, life.mask, step)
        self.cpus = self._together() if self._cpus else 0.0

    def _together(self) -> float:
        most_cpus = max(self._cpus)
        if None in self._masks:
            return most_cpus
        union = 0
        for mask in self._masks:
            union |= mask or 0
        # A quota is that of a control group which they are all in.
        limit = max(self._quotas) if min(self._quotas) > 0 else float("inf")
        all_cpus = sum(cpus * count for cpus, count in self._cpus.items())
        return max(most_cpus, min(float(union.bit_count()), limit, all_cpus))


def _count(counts: Counter[Value], value: Value, step: int) -> None:
    counts[value] += step
    if not counts[value]:
        del counts[value]


def _changes(lives: Sequence[Life]) -> Iterator[tuple[float, int, bool]]:
    """Begins and ends in order of time; ends come first, so that who follows another is not beside it."""
    changes = [(life.begin, 1, at) for at, life in enumerate(lives) if life.length > 0]
    changes += [(life.end, 0, at) for at, life in enumerate(lives) if life.length > 0]
    return ((time, at, is_begin == 1) for time, is_begin, at in sorted(changes))


def _profile(lives: Sequence[Life], values: Sequence[float]) -> tuple[list[float], list[float], list[float]]:
    """Times of change, the sum of values from each on, and its integral until each."""
    changes = list(_changes(lives))
    times = [time for time, _, _ in changes]
    sums = list(accumulate(values[at] if is_begin else -values[at] for _, at, is_begin in changes))
    steps = (
        value * (next_time - time) for value, time, next_time in zip(sums, times, times[1:], strict=False)
    )
    return times, sums, list(accumulate(steps, initial=0.0))


def _integral(times: list[float], sums: list[float], integrals: list[float], until: float) -> float:
    at = bisect_left(times, until) - 1
    return 0.0 if at < 0 else integrals[at] + sums[at] * (until - times[at])
