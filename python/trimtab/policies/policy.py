"""What a policy is shown, and what it proposes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

Outcome = Literal["trial", "kept", "undone", "set"]


# What may happen; docs/guide/policies.md says when.
EVENTS = ("appeared", "gone", "drifted", "crowded", "calm", "cpus")


@dataclass(frozen=True)
class Event:
    """Something that happened.

    Attributes:
        name: one of EVENTS.
        subject: whose, by `Subject.id`; 0: the process's.
        value: of drifted, how many times as long the subject takes; of crowded and calm, the share of their time that
            threads are without a CPU; of cpus, how many the process may use.
    """

    name: str
    subject: int
    value: float


@dataclass(frozen=True)
class Knob:
    """A value that can be changed while the program runs. Values are text, as in the report and the history.

    Attributes:
        values: all that it may have, in their order.
        is_ordered: they are numbers; otherwise names.
        needs_consent: only where the user has allowed it.
        initial: as the program has it.
        in_force, accepted: now, and when what is on trial is undone.
    """

    name: str
    values: tuple[str, ...]
    is_ordered: bool
    needs_consent: bool
    initial: str
    in_force: str
    accepted: str


@dataclass(frozen=True)
class Measurement:
    """One execution of a subject, or several short ones.

    Attributes:
        under: the number of the decision in force when it began; see `Subject.since`.
        value: what is to become less, for one unit of work: seconds per iteration of a loop.
        seconds: how long the program was in it.
    """

    under: int
    value: float
    seconds: float


@dataclass(frozen=True)
class Proposal:
    """A change of a subject's knobs, or what is to become of the one on trial."""

    subject: int
    outcome: Outcome
    values: Mapping[str, str]
    reason: str


@dataclass(frozen=True)
class Subject:
    """Something with knobs: a loop, or the threads of the process.

    Attributes:
        key: what the history calls it; "": it is not remembered.
        since: number of the decision that put in force what is. Only measurements under it are of the present values.
        is_others: another policy turns its knobs.
        has_level: it was measured under the accepted values; there is no trial before.
        measured: since the last snapshot, oldest first.
    """

    id: int
    name: str
    key: str
    since: int
    is_others: bool
    has_level: bool
    knobs: Mapping[str, Knob]
    figures: Mapping[str, float]
    measured: tuple[Measurement, ...]

    def measured_now(self) -> list[float]:
        """The values measured since the last snapshot, of what is in force now."""
        return [measurement.value for measurement in self.measured if measurement.under == self.since]

    def trial(self, reason: str, **values: object) -> Proposal:
        """Put in force, not accepted: it is undone when the run ends or its budget is spent."""
        return self._propose("trial", reason, values)

    def set(self, reason: str, **values: object) -> Proposal:
        """Put in force and accept at once."""
        return self._propose("set", reason, values)

    def keep(self, reason: str) -> Proposal:
        """Accept what is on trial; the next runs begin with it."""
        return self._propose("kept", reason, {})

    def undo(self, reason: str) -> Proposal:
        """Go back to what is accepted."""
        return self._propose("undone", reason, {})

    def _propose(self, outcome: Outcome, reason: str, values: Mapping[str, object]) -> Proposal:
        return Proposal(self.id, outcome, {name: str(value) for name, value in values.items()}, reason)


@dataclass(frozen=True)
class Snapshot:
    """All that happened in one process of the program since the snapshot before.

    Attributes:
        time_s: since the process began.
        is_last: it ends; nothing can be proposed any more.
        budget_left_s: of what trials may cost.
        has_consent: to knobs that need it.
        figures: of the whole process.
        events: what has happened, oldest first.
    """

    number: int
    time_s: float
    is_last: bool
    budget_left_s: float
    has_consent: bool
    figures: Mapping[str, float]
    subjects: tuple[Subject, ...]
    events: tuple[Event, ...] = ()


class Policy(ABC):
    """A rule. Each engine of the program (of a process, of a task runtime) has an object of its own, made without arguments.

    Attributes:
        period_s: between two calls, seconds, from 0.02 on; None: it is called only when one of its events has happened.
        events: names of EVENTS with which it is called besides, at once.
    """

    period_s: ClassVar[float | None] = 0.1
    events: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def observe(self, now: Snapshot) -> Iterable[Proposal]:
        """Called for the first snapshot and the last, and as `period_s` and `events` say; it has 5 s to return."""
