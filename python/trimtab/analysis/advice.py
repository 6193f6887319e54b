"""What to change where the threads of a region have unequal work: the advice fits the construct that shares the work out."""

from __future__ import annotations

from trimtab.model import SCHEDULES, SUBJECT_KINDS
from trimtab.model.enumerations import Schedule, SubjectKind
from trimtab.model.report import Region

# A loop with fewer iterations than this for each thread cannot be balanced by its schedule.
_LEAST_ITERATIONS_EACH = 4
# Schedules that hand out chunks while the loop runs.
SELF_SCHEDULED = (SCHEDULES[Schedule.DYNAMIC], SCHEDULES[Schedule.GUIDED])
_BY_HAND = "divide the work by its cost instead of by the thread's number, or write it as a loop with schedule(dynamic, C)"


def balance_advice(region: Region) -> str:
    """One action for an imbalanced region, from its table entry (`region_table`).

    The construct with most time decides: a loop or sections, else explicit tasks, else nested regions, else `single`. A region
    without any of them shares its work out by the numbers of its threads.
    """
    constructs = set(region.constructs)
    if region.schedule == SCHEDULES[Schedule.SECTIONS]:
        return _sections(region)
    if region.schedule is not None:
        return ordered_advice(region) if SUBJECT_KINDS[SubjectKind.ORDERED] in constructs else _loop(region)
    if SUBJECT_KINDS[SubjectKind.TASKLOOP] in constructs:
        return "make the tasks of the taskloop smaller: grainsize(C), C about iterations / (threads * 16)"
    if SUBJECT_KINDS[SubjectKind.TASK] in constructs:
        return (
            "split the longest tasks into smaller ones (for a taskloop: a smaller grainsize), "
            "or create the longest tasks first"
        )
    if SUBJECT_KINDS[SubjectKind.REGION] in constructs:
        return (
            "the threads run nested regions of different lengths: share the work out at one level only, "
            "or give the longer nested region more threads (num_threads)"
        )
    if SUBJECT_KINDS[SubjectKind.SINGLE] in constructs:
        return (
            "the other threads wait while one executes the single construct: let it create tasks that all can run, "
            "or add nowait and give the others work"
        )
    return _BY_HAND


def _sections(region: Region) -> str:
    return (
        f"there are {region.iterations} sections for {region.threads} threads, and a section is never divided: "
        "split the longest one, or write the sections as a loop or as tasks"
    )


def ordered_advice(region: Region) -> str:
    """One action for a region whose loop has an ordered part."""
    if region.schedule in SELF_SCHEDULED or region.chunk == 1:
        return "make the ordered part shorter: only one thread at a time executes it, in the order of the iterations"
    return (
        "write schedule(static, 1) at the ordered loop, so that neighbouring iterations run at the same time, "
        "and make the ordered part shorter"
    )


def _loop(region: Region) -> str:
    iterations, threads = region.iterations, region.threads
    if iterations is not None and iterations < _LEAST_ITERATIONS_EACH * threads:
        return (
            f"the loop has only {iterations} iterations for {threads} threads: "
            "collapse it with an inner loop (collapse(2)), or parallelise the inner one"
        )
    if region.schedule in SELF_SCHEDULED:
        smaller = "iterations" if (region.chunk or 0) == 1 else "chunks"
        return f"make the {smaller} smaller, or order the long iterations first"
    return "write schedule(dynamic, C) or schedule(guided) at the loop, C about iterations / (threads * 16)"
