"""Chains of tasks that ran too late: workers had nothing to do until they had run, and other tasks had been preferred."""

from __future__ import annotations

import os
from collections.abc import Container, Iterable, Mapping, Sequence

from msgspec.structs import replace

from trimtab.analysis.findings import finding
from trimtab.analysis.idle_report import TasksOverTime
from trimtab.model.enumerations import Cause, IdleVerdict
from trimtab.model.report import Finding, IdleRegion, TaskTimes

# As for all findings: what gives back less of the run's time is noise.
_LEAST_GAIN_SHARE = 0.01
# Of a kind with a knob, bytes (kind_priorities.hpp).
_LONGEST_NAME = 63
# Kinds of a chain whose middle is left out stand beside this.
_LEFT_OUT = "..."
# An idle region, and by how much each kind delayed its delayed task.
_LateRegion = tuple[IdleRegion, Mapping[str, float]]


def with_task_order(findings: Sequence[Finding], tasks: TasksOverTime, run_s: float) -> list[Finding]:
    """The findings, and one for each kind that began late; largest gain first."""
    late = [entry for entry in _task_order(tasks) if entry.gain_s >= _LEAST_GAIN_SHARE * run_s]
    return sorted([*findings, *late], key=lambda entry: -entry.gain_s) if late else list(findings)


def kinds_to_raise(regions: Iterable[IdleRegion], late: str) -> tuple[str, ...]:
    """`late`, and the kinds that follow it in the chains of its idle regions.

    All of them, because a task that is raised gains nothing if what waits for it does not run. The first task of a chain is
    what ran when the region was over: it need not be earlier than its siblings.
    """
    kinds = dict.fromkeys([late])
    for region in regions:
        if _is_late(region) and region.delayed == late:
            chain = list(region.chain)
            kinds.update(dict.fromkeys(kind for kind in chain[1 : chain.index(late)] if kind != _LEFT_OUT))
    return tuple(kinds)


def kinds_without_knob(times: Iterable[TaskTimes], kinds: Iterable[str]) -> list[str]:
    """Those whose priority nobody can turn: without a name they are known by their code, and a long name has no room."""
    named = {entry.name for entry in times if entry.name in entry.key}
    return [kind for kind in kinds if kind not in named or len(os.fsencode(kind)) > _LONGEST_NAME]


def _is_late(region: IdleRegion) -> bool:
    """A task that the others waited for was ready, and the workers ran other tasks before it."""
    return region.verdict is IdleVerdict.NOT_ENOUGH_WORKERS and region.delayed in region.chain


def _task_order(tasks: TasksOverTime) -> Iterable[Finding]:
    """gain = sum over idle regions of the least of the region, the delay, and what other kinds did in the delay / workers.

    What others did before fits into the region. Tasks that would be raised, too, would still run before each other.
    """
    late: dict[tuple[str, str], list[_LateRegion]] = {}
    for region, preferred_s in zip(tasks.regions, tasks.preferred_s, strict=True):
        if _is_late(region) and region.delayed is not None:
            late.setdefault((region.process, region.delayed), []).append((region, preferred_s))
    for (process, kind), members in late.items():
        regions = [region for region, _ in members]
        raised = kinds_to_raise(regions, kind)
        fixed = {*raised, *(entry.name for entry in tasks.times if entry.is_own)}
        gain_s = sum(
            min(region.end_s - region.begin_s, region.earlier_s, _of_others(preferred_s, fixed))
            for region, preferred_s in members
        )
        idle_s, delay_s = sum(region.lane_time_s for region in regions), sum(r.earlier_s for r in regions)
        names = ", ".join(raised)
        can_prove = not kinds_without_knob(tasks.times, raised)
        yield replace(
            finding(
                Cause.TASK_ORDER,
                kind,
                f"workers were idle for {idle_s:.3g} s in {len(regions)} idle regions behind tasks of this kind, which had been "
                f"ready for {delay_s:.3g} s while workers ran other tasks",
                f"raise the priority of {names} (task_options::level = high)"
                + ("; `trimtab prove` can do it" if can_prove else ""),
                gain_s,
            ),
            processes=(process,),
        )


def _of_others(preferred_s: Mapping[str, float], fixed: Container[str]) -> float:
    return sum(delay_s for kind, delay_s in preferred_s.items() if kind not in fixed)
