"""How long a process was observed."""

from __future__ import annotations

from dataclasses import dataclass

from trimtab.model import Process

# A process that was killed lived on for less than this after its last heartbeat.
_HEARTBEAT_NS = 2e9


@dataclass(frozen=True)
class Span:
    """The observed time of a process, seconds; and whether the process itself said when it ended."""

    wall_s: float
    is_complete: bool


def span_of(process: Process, ended_mono_ns: float | None) -> Span:
    """From the library's load to the process's end: its own word, else the last sign of it, or the launcher's
    word where that came soon after."""
    head = process.header
    if head["end_ticks"]:
        ticks = max(head["end_ticks"] - head["start_ticks"], 0)
        return Span(ticks * process.ns_per_tick * 1e-9, True)
    start_ns = begin_ns(process)
    last = max(
        [head["last_ticks"], *(int(lane.events["ticks"][-1]) for lane in process.lanes if len(lane.events))]
    )
    end_ns = head["mono_ns_0"] + (last - head["ticks_0"]) * process.ns_per_tick
    if ended_mono_ns is not None and end_ns < ended_mono_ns < end_ns + _HEARTBEAT_NS:
        end_ns = ended_mono_ns
    return Span(max(end_ns - start_ns, 0.0) * 1e-9, False)


def begin_ns(process: Process) -> float:
    """When the library was loaded, on the monotonic clock of the process's host."""
    head = process.header
    return float(head["mono_ns_0"] + (head["start_ticks"] - head["ticks_0"]) * process.ns_per_tick)
