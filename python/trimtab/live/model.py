"""What `trimtab top --json` prints: one `Look` a line. `docs/reference/top.schema.json` is made from these types."""

from __future__ import annotations

from msgspec import Struct


class Shares(Struct, frozen=True):
    """What a lane did in the interval, as shares of it that add up to 1.

    Attributes:
        busy: it ran the program.
        cpu_wait: it could run, and had no CPU.
        barrier: it waited at a barrier inside a region, or for a single or reduction.
        join: it waited for the others at the end of a region, or until a region began for it.
        lock: it waited to enter a lock, critical or ordered region.
        tasks: it waited for tasks: taskwait, or a worker that looked for one.
        blocked: it had no CPU and asked for none: input, output, sleep, or a wait that is not over yet.
        idle: it had nothing to do.
        capped: a worker that the runtime may not use.
    """

    busy: float
    cpu_wait: float
    barrier: float
    join: float
    lock: float
    tasks: float
    blocked: float
    idle: float
    capped: float


class LaneLook(Struct, frozen=True):
    """A lane that is open.

    Attributes:
        process: `id` of its process.
        lane: its number in the process.
        name: what the program calls it, or the name of its thread.
        tid: its thread now; null: it is no thread.
        state: what it does now, one of the names of the shares.
        subject: the region, task or scope that it is in; null: none, or not known.
        waits_for: lanes of the process that it waits for; empty: not known.
        shares: what it did in the interval; null in the first look.
    """

    process: str
    lane: int
    name: str
    tid: int | None
    state: str
    subject: str | None
    waits_for: tuple[int, ...]
    shares: Shares | None


class SubjectLook(Struct, frozen=True):
    """A kind of work that something happened to in the interval.

    Attributes:
        kind: region, task, scope, loop, or lock.
        seconds: of a region its wall time, of others time of all lanes, in a second of the interval; of a lock: waited for it.
        per_s: occurrences in a second.
    """

    process: str
    kind: str
    subject: str
    seconds: float
    per_s: float


class CounterLook(Struct, frozen=True):
    """A counter's latest sample.

    Attributes:
        unit: of the value.
        value: the latest.
        per_s: of one that only grows, how much in a second; null: not known, or it is a level.
    """

    process: str
    counter: str
    unit: str
    value: float
    per_s: float | None


class KnobLook(Struct, frozen=True):
    """A knob that can be turned.

    Attributes:
        name: as `--set` takes it: SUBJECT/KNOB.
        value: in force.
        values: that it may have, as many as the program tells.
        value_count: how many there are.
        is_on_trial: steering tries this value.
        is_by_hand: the user has set it.
        is_settable: it can be set.
    """

    process: str
    name: str
    value: str
    values: tuple[str, ...]
    value_count: int
    is_on_trial: bool
    is_by_hand: bool
    is_settable: bool


class DecisionLook(Struct, frozen=True):
    """A change of the program since the look before."""

    process: str
    number: int
    time_s: float
    text: str


class FindingLook(Struct, frozen=True):
    """A finding of the report, from what was recorded up to then."""

    cause: str
    subject: str | None
    evidence: str
    action: str
    gain_s: float


class ProcessLook(Struct, frozen=True):
    """A process that is watched.

    Attributes:
        id: unique within the run.
        host: where it runs.
        rank: its rank in a job; null: none.
        state: running, ended, replaced (by exec), or killed.
        seconds: since its start.
        cpus: that it may use.
        busy: lanes that ran the program, in the mean over the interval; null in the first look.
        steering: whether knobs can be set.
    """

    id: str
    pid: int
    host: str
    rank: int | None
    command: str
    state: str
    seconds: float
    cpus: float
    busy: float | None
    steering: bool


class Look(Struct, frozen=True):
    """One look at a run.

    Attributes:
        format: 1.
        run: the run directory.
        time_s: seconds since 1970.
        interval_s: what the shares and rates are over; null in the first look.
        is_over: all processes have ended: there is no further look.
        findings: of the latest analysis; null: none yet, or it is switched off.
        findings_at_s: when the run was read for them, seconds since 1970.
        problems: what could not be read.
        own_cpu_share: CPU time of this command in the interval, of one CPU.
    """

    format: int
    run: str
    time_s: float
    interval_s: float | None
    is_over: bool
    processes: tuple[ProcessLook, ...]
    lanes: tuple[LaneLook, ...]
    subjects: tuple[SubjectLook, ...]
    counters: tuple[CounterLook, ...]
    knobs: tuple[KnobLook, ...]
    decisions: tuple[DecisionLook, ...]
    findings: tuple[FindingLook, ...] | None
    findings_at_s: float | None
    problems: tuple[str, ...]
    own_cpu_share: float | None
