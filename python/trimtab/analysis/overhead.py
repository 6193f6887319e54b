"""What the tool itself cost the program it watched (docs/metrics.md, "Own cost")."""

from __future__ import annotations

from dataclasses import dataclass

from trimtab.model import Process

# What one hook costs beside its clock reads, ns: the call through us, the look-ups and the record.
_HOOK_NS = 15.0


@dataclass(frozen=True)
class OwnCost:
    """CPU time, seconds: on the program's lanes, while setting up, and on the sampler's own thread."""

    on_lanes_s: float
    setup_s: float
    sampler_s: float

    @property
    def beside_s(self) -> float:
        """What was not spent inside hooks."""
        return self.setup_s + self.sampler_s

    @property
    def total_s(self) -> float:
        """All of it."""
        return self.on_lanes_s + self.beside_s


def own_cost(process: Process) -> OwnCost:
    """hooks * 15 ns + clock reads * their measured cost, set-up ticks, sampler CPU time."""
    head = process.header
    hooks = sum(lane.header["hooks"] for lane in process.lanes)
    reads = sum(lane.header["clock_reads"] for lane in process.lanes)
    return OwnCost(
        (hooks * _HOOK_NS + reads * float(head["clock_read_ns"])) * 1e-9,
        head["setup_ticks"] * process.ns_per_tick * 1e-9,
        head["sampler_cpu_ns"] * 1e-9,
    )
