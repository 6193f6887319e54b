"""CPUs as tracks: which thread ran on each CPU of a host, from the events of a traced `trimtab run --kernel`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from trimtab.analysis.kernel import own_threads, processes_on, thread_texts
from trimtab.export.source import LONGEST, Integers
from trimtab.model import Records, Run, SchedulerRecording
from trimtab.model.enumerations import SchedulerEventKind
from trimtab.traces import Axis, axis_of

_LAST_NUMBER = 0x7FFFFFFF


@dataclass(frozen=True)
class CpuTrack:
    """What ran on one CPU: begins and ends, nanoseconds since the run began; `names[name[i]]` ran from i-th begin to i-th end."""

    cpu: int
    begins: Integers
    ends: Integers
    name: Integers
    names: list[str]


@dataclass(frozen=True)
class HostTracks:
    """The CPUs of a host. Viewers show them as threads of a process: `number` is its pid, which no process of the run has."""

    number: int
    name: str
    cpus: tuple[CpuTrack, ...]


def host_tracks(run: Run, numbers: Collection[int]) -> Iterator[HostTracks]:
    """The tracks of all hosts whose events are recorded. `numbers` are those of the run's processes."""
    free = (number for number in range(_LAST_NUMBER, 0, -1) if number not in numbers)
    axis = axis_of(run)
    for recording in run.schedulers:
        if len(recording.events):
            tracks = tuple(_tracks(recording, _names(run, recording), axis))
            yield HostTracks(next(free), f"CPUs of {recording.host}", tracks)


def dropped_events(run: Run) -> int:
    """Events of the scheduler that are not in the trace: without them, tracks have gaps, or end early."""
    return sum(
        recording.events_dropped + int(recording.header["lost"])
        for recording in run.schedulers
        if len(recording.events)
    )


def _names(run: Run, recording: SchedulerRecording) -> tuple[list[str], Integers]:
    """What tracks call threads, and the name of each: threads of the program by their own name, others by their program's."""
    is_own = own_threads(recording, processes_on(run, recording))
    programs, program = thread_texts(recording.threads["program"])
    threads, thread = thread_texts(recording.threads["name"])
    tids = recording.threads["tid"]
    texts = [*programs]
    numbers = program.copy()
    for at in np.flatnonzero(is_own).tolist():
        numbers[at] = len(texts)
        texts.append(f"{threads[thread[at]]} (thread {tids[at]})" if tids[at] else threads[thread[at]])
    return texts, numbers


def _tracks(
    recording: SchedulerRecording, names: tuple[Sequence[str], Integers], axis: Axis
) -> Iterator[CpuTrack]:
    events = recording.events
    events = events[np.isin(events["kind"], [SchedulerEventKind.SWITCHED, SchedulerEventKind.LOST])]
    # In groups by CPU, in each in the order of time as recorded.
    events = events[np.argsort(events["cpu"], kind="stable")]
    cpus, first = np.unique(events["cpu"], return_index=True)
    for cpu, low, high in zip(cpus.tolist(), first, [*first[1:], len(events)], strict=True):
        yield _track(cpu, events[low:high], recording, names, axis)


def _track(
    cpu: int,
    events: Records,
    recording: SchedulerRecording,
    names: tuple[Sequence[str], Integers],
    axis: Axis,
) -> CpuTrack:
    """A slice lies between two switches that agree on who ran: where they do not, events are missing."""
    begin_ns, end_ns = recording.header["begin_ns"], recording.header["end_ns"]
    limits = np.array([begin_ns, end_ns], np.uint64)
    exact_ns = axis.ns(np.concatenate([limits[:1], events["time_ns"], limits[1:]]), recording.host)
    at: Integers = np.clip(np.maximum.accumulate(exact_ns), 0, LONGEST).astype(np.int64)
    is_switch = events["kind"] == SchedulerEventKind.SWITCHED
    leaves = np.where(is_switch, events["thread"], 0)
    comes = np.where(is_switch, events["other"], 0)
    # Who ran before the first event, and after the last one, is said by that event alone. After a dropped one, nobody knows.
    ran = np.concatenate([leaves[:1], comes]).astype(np.int64)
    left = np.concatenate([leaves, comes[-1:] if not recording.events_dropped else [0]]).astype(np.int64)
    is_shown = (ran == left) & (ran >= 1) & (ran <= len(recording.threads)) & (at[1:] > at[:-1])
    shown = np.flatnonzero(is_shown)
    distinct, name = np.unique(names[1][ran[shown] - 1], return_inverse=True)
    return CpuTrack(
        cpu,
        at[shown],
        at[shown + 1],
        name.reshape(-1).astype(np.int64),
        [names[0][number] for number in distinct.tolist()],
    )
