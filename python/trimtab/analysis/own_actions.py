"""What Trimtab itself does about the causes of findings: `trimtab explain` names it, `trimtab prove` applies it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from trimtab.analysis.allocator_findings import LARGER_CACHES
from trimtab.analysis.memory_findings import HUGE_PAGES, KEEP_MEMORY
from trimtab.glibc import as_variable
from trimtab.model.enumerations import Cause

# In the place of a value: as many as the program may use CPUs.
CPU_COUNT = "CPUs"


@dataclass(frozen=True)
class OwnAction:
    """What is done about a cause.

    Attributes:
        hint: how the user has it done.
        search: what a search within a run chooses; empty: no search is tried as a proof.
        variables: what a proof starts the program with.
        known: variables of the user that would contradict them.
    """

    hint: str
    search: str = ""
    variables: Mapping[str, str] = field(default_factory=dict)
    known: tuple[str, ...] = ()


_LOOPS = OwnAction(
    "`trimtab tune -- PROGRAM` tries other schedules and chunks of this loop, where its schedule can be changed",
    "the search chooses the schedules and chunks of loops",
)
_THREAD_COUNTS = ("OMP_NUM_THREADS", "OMP_THREAD_LIMIT", "OMP_DYNAMIC", "KMP_ALL_THREADS")
_WAITING = ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME", "KMP_LIBRARY")
_FIT = "`trimtab run --threads fit -- PROGRAM` gives teams as many threads as there are free CPUs"
_MALLOC = "`trimtab tune -- PROGRAM` tries this setting of malloc at the start"
_ADAPTIVE = OwnAction("leave the setting out: the adaptive rules are the default")

OWN_ACTIONS: Mapping[Cause, OwnAction] = {
    Cause.IMBALANCE: _LOOPS,
    Cause.STRAGGLER: _LOOPS,
    Cause.SMALL_CHUNKS: OwnAction(
        "`trimtab tune -- PROGRAM` tries larger chunks", "the search chooses the chunks of loops"
    ),
    Cause.SMALL_REGIONS: OwnAction(
        "`trimtab tune -- PROGRAM` tries fewer threads for this region, with --threads"
    ),
    Cause.OVERSUBSCRIPTION: OwnAction(_FIT, variables={"OMP_NUM_THREADS": CPU_COUNT}, known=_THREAD_COUNTS),
    Cause.FEW_THREADS: OwnAction(
        "`trimtab prove` starts the program with a thread for each CPU",
        variables={"OMP_NUM_THREADS": CPU_COUNT},
        known=_THREAD_COUNTS,
    ),
    Cause.CPU_CONTENTION: OwnAction(_FIT),
    Cause.WAIT_POLICY: OwnAction(
        "`trimtab tune -- PROGRAM` tries other times of spinning",
        variables={"OMP_WAIT_POLICY": "passive"},
        known=_WAITING,
    ),
    Cause.LATE_WAKE_UPS: OwnAction(
        "`trimtab tune -- PROGRAM` tries other times of spinning, where threads wait in regions",
        variables={"OMP_WAIT_POLICY": "active"},
        known=_WAITING,
    ),
    Cause.RETURNED_MEMORY: OwnAction(_MALLOC, variables={"GLIBC_TUNABLES": as_variable(KEEP_MEMORY)}),
    Cause.SMALL_PAGES: OwnAction(_MALLOC, variables={"GLIBC_TUNABLES": as_variable(HUGE_PAGES)}),
    Cause.ALLOCATOR_CONTENTION: OwnAction(
        "`trimtab tune -- PROGRAM` tries other settings of malloc at the start, with --try-allocators also other allocators",
        variables={"GLIBC_TUNABLES": as_variable(LARGER_CACHES)},
    ),
    Cause.REMOTE_MEMORY: OwnAction(
        "`trimtab tune -- PROGRAM` tries memory from all nodes",
        variables={"TRIMTAB_INTERLEAVE": "1"},
        known=("TRIMTAB_INTERLEAVE",),
    ),
    Cause.FEW_WORKERS: OwnAction(
        "`trimtab prove` starts the program with a worker for each CPU",
        variables={"TRIMTAB_WORKERS": CPU_COUNT},
        known=("TRIMTAB_WORKERS",),
    ),
    Cause.SMALL_TASKS: OwnAction(
        "`trimtab tune -- PROGRAM` tries a larger grain, where the program has a knob for it",
        "the search chooses the grain",
    ),
    Cause.SCHEDULING_POLICY: OwnAction(
        "`trimtab tune -- PROGRAM` tries the other scheduling policies",
        "the search chooses the scheduling policy",
    ),
    Cause.TINY_MESSAGES: _ADAPTIVE,
    Cause.QUEUED_PARCELS: _ADAPTIVE,
}
