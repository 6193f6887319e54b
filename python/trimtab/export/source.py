"""What is exported: the processes of a run on one time axis, with names that are unique in the whole run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from trimtab.analysis.keys import Keys, keys_of
from trimtab.analysis.regions import Places, places_of
from trimtab.model import NO_LANE, Lane, Process, Run
from trimtab.model.enumerations import EventKind, RecordLevel
from trimtab.symbols import Symbols
from trimtab.traces import Trace, traces_of
from trimtab.traces.arrows import Arrows, Ends, arrows_of, parcel_arrows
from trimtab.traces.slices import Slices, lane_slices, ticks_since

Integers = NDArray[np.int64]
# Events looked at in one go: bounds the memory beside the slices of a lane.
BLOCK = 1 << 18
# Linux gives no process or thread a higher number.
_MOST_PIDS = 1 << 22
# A run of two years, in nanoseconds: what says more is damaged. (Less than 2 to the 56th also as a float.)
LONGEST = float((1 << 56) - 8)

Advance = Callable[[int], None]


@dataclass(frozen=True)
class Series:
    """Samples of one counter, of the process or of one lane."""

    name: str
    unit: str
    is_cumulative: bool
    lane: int | None
    ns: Integers
    values: NDArray[np.float64]


@dataclass(frozen=True)
class View:
    """One process: `number` and `number_of` stand for its pid and its threads' tids, unique in the run."""

    trace: Trace
    places: Places
    keys: Keys
    number: int
    name: str
    offset_ns: float
    end_ticks: int
    parcels: Ends = ({}, {})

    @property
    def process(self) -> Process:
        """Its records, corrected."""
        return self.trace.process

    def ns(self, ticks: Integers) -> Integers:
        """Nanoseconds since the run began, of ticks since the process began."""
        exact = self.offset_ns + ticks * self.process.ns_per_tick
        nanoseconds: Integers = np.clip(exact, 0, LONGEST).astype(np.int64)
        return nanoseconds

    def ns_of(self, ticks: NDArray[np.uint64]) -> Integers:
        """Nanoseconds since the run began, of ticks as they are recorded."""
        return self.ns(ticks_since(ticks, int(self.process.header["start_ticks"]), self.end_ticks))

    def slices(self, lane: Lane) -> Slices:
        """The slices and instants of one of its lanes."""
        start = int(self.process.header["start_ticks"])
        return lane_slices(lane.events, start, self.end_ticks, self.process.ns_per_tick)

    @cached_property
    def _tids(self) -> dict[int, int]:
        numbers_by_pid: dict[int, int] = {}
        used_numbers = {0}
        extra = self.number - int(self.process.header["pid"])
        for lane in self.process.lanes:
            tid = (int(lane.header["tid"]) + extra) & 0x7FFFFFFF
            # Lanes outlive threads, and the system gives a tid out again.
            while tid in used_numbers:
                tid = (tid + _MOST_PIDS) & 0x7FFFFFFF
            used_numbers.add(tid)
            numbers_by_pid[lane.id] = tid
        return numbers_by_pid

    def number_of(self, lane: Lane) -> int:
        """Stands for the thread of a lane."""
        return self._tids[lane.id]

    @staticmethod
    def lane_name(lane: Lane) -> str:
        """As a viewer shows it."""
        is_chosen = (
            f"lane {lane.id}" if lane.is_thread else f"lane {lane.id} ({lane.kind} {lane.header['number']})"
        )
        return f"{is_chosen}: {lane.name}" if lane.name else is_chosen

    @staticmethod
    def is_cut(lane: Lane) -> bool:
        """Whether the oldest events of a lane were overwritten."""
        return lane.events_written > len(lane.events)

    def series(self) -> Iterator[Series]:
        """Every counter that has samples."""
        samples = self.process.samples
        keys = (samples["counter"].astype(np.uint64) << np.uint64(32)) | samples["lane"]
        for key in np.unique(keys).tolist():
            counter = self.process.counters.get(key >> 32)
            counter_samples = samples[keys == key]
            lane = key & 0xFFFFFFFF
            yield Series(
                counter.name if counter else f"counter {key >> 32}",
                counter.unit if counter else "",
                counter is not None and counter.is_cumulative,
                None if lane == NO_LANE else lane,
                self.ns_of(counter_samples["ticks"]),
                counter_samples["value"].astype(np.float64),
            )

    def times_on_cpu(self, lane: Lane) -> tuple[Integers, Integers, list[str]]:
        """Begins, ends and names of the times that a lane had a CPU, or had been taken it away."""
        lane_switches = self.process.switches[self.process.switches["b"] == lane.id]
        if len(lane_switches) < 2:
            return np.empty(0, np.int64), np.empty(0, np.int64), []
        at = np.maximum.accumulate(self.ns_of(lane_switches["ticks"]))
        is_switch_in = lane_switches["kind"][:-1] == EventKind.SWITCH_IN
        is_preempted = (lane_switches["kind"][:-1] == EventKind.SWITCH_OUT) & (lane_switches["arg"][:-1] == 1)
        # A record that was lost leaves two of a kind in a row: nothing is known of the time between.
        has_partner = lane_switches["kind"][:-1] != lane_switches["kind"][1:]
        chosen = np.flatnonzero((is_switch_in | is_preempted) & has_partner)
        names = [
            f"CPU {cpu}" if is_on_cpu else "preempted"
            for cpu, is_on_cpu in zip(lane_switches["a"][chosen], is_switch_in[chosen], strict=True)
        ]
        return at[chosen], at[chosen + 1], names

    @cached_property
    def arrows(self) -> Arrows:
        """The arrows between its tasks and to and from those of other processes, whose both ends are recorded."""
        return arrows_of(self.process).with_parcels(self.parcels)


def views_of(run: Run) -> list[View]:
    """The processes of a run; its time begins when the first of them did."""
    traces = traces_of(run)
    parcels = parcel_arrows([process_trace.process for process_trace in traces])
    with Symbols(run.directory) as symbols:
        return [
            _view(process_trace, number, symbols, ends)
            for process_trace, number, ends in zip(traces, numbers_of(traces), parcels, strict=True)
        ]


def numbers_of(traces: Sequence[Trace]) -> list[int]:
    """Of each process a number that no other has: its pid, if no other image or host has the same."""
    counter_keys: dict[int, None] = {}
    latest: dict[int, int] = {}
    for trace in traces:
        image = max(trace.image, latest.get(trace.pid, -1) + 1)
        while (number := _number(trace.pid, image)) in counter_keys:
            image += 1
        latest[trace.pid] = image
        counter_keys[number] = None
    return list(counter_keys)


def _number(pid: int, image: int) -> int:
    """There is room for 512 images beside the pids; further ones take numbers of others that are free."""
    return (pid + image * _MOST_PIDS + image // 512) & 0x7FFFFFFF


def _view(trace: Trace, number: int, symbols: Symbols, parcels: Ends) -> View:
    process = trace.process
    longest = min(LONGEST / process.ns_per_tick, LONGEST)
    ticks = min(trace.end_ticks - int(process.header["start_ticks"]), int(longest))
    return View(
        trace,
        places_of(process, symbols),
        keys_of(process),
        number,
        _name_of(trace),
        trace.begin_ns,
        min(int(process.header["start_ticks"]) + ticks, (1 << 64) - 1),
        parcels,
    )


def _name_of(trace: Trace) -> str:
    """As a viewer shows it: rank, command, and which image of its pid it was."""
    rank = "" if trace.rank is None else f"rank {trace.rank}: "
    image = f" (image {trace.image})" if trace.image else ""
    return rank + " ".join(trace.process.command)[:200] + image


def notes_of(views: list[View]) -> list[str]:
    """What the exported run does not have, for the user to know."""
    lanes = [lane for view in views for lane in view.process.lanes]
    notes = []
    if not lanes:
        notes.append("no lane was recorded: trimtab report says why")
    overwritten = sum(lane.events_written - len(lane.events) for lane in lanes if View.is_cut(lane))
    kept = sum(len(lane.events) for lane in lanes)
    if overwritten:
        # A trace keeps everything up to its limit.
        is_trace = any(view.process.header["level"] == RecordLevel.TRACE for view in views)
        remedy = "a larger --max-trace keeps more" if is_trace else "trimtab run --trace keeps all"
        notes.append(
            f"cut off: only the last {kept:,} of {kept + overwritten:,} events are recorded, so lanes begin late; {remedy}"
        )
    dropped = sum(lane.events_dropped for lane in lanes)
    if dropped:
        notes.append(
            f"cut off: {dropped:,} events found no room, so lanes end early; a larger --max-trace keeps more, "
            "--keep last keeps the newest"
        )
    unfinished = sum(1 for view in views if not view.process.header["end_ticks"])
    if unfinished:
        notes.append(
            f"{unfinished} of {len(views)} processes did not end by themselves: what was open then ends with them"
        )
    return notes
