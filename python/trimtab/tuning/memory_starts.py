"""Settings of the allocator that are worth trying at the start, after what a run has shown of its memory."""

from __future__ import annotations

import re
from collections.abc import Mapping

from trimtab.analysis.memory_findings import HUGE_PAGES, KEEP_MEMORY, as_variable
from trimtab.doctor.check import Machine
from trimtab.model.enumerations import Cause
from trimtab.model.report import Finding, Report
from trimtab.tuning.multi_run import Start
from trimtab.tuning.tunables import VARIABLE, tunables_of

_THOROUGH = "with --thorough it is tried without evidence"
# Variables with which the user sets the same thing.
_OTHER_WAYS = {"MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_", "MALLOC_TOP_PAD_", "MALLOC_MMAP_MAX_"}


def offers_huge_pages(machine: Machine | None = None) -> bool:
    """Whether a program that asks gets transparent huge pages; `machine`: where /sys is read."""
    text = (machine or Machine()).read("/sys/kernel/mm/transparent_hugepage/enabled") or ""
    return re.search(r"\[(always|madvise)\]", text) is not None


def memory_starts(
    report: Report, environment: Mapping[str, str], *, has_huge_pages: bool, is_thorough: bool = False
) -> list[Start]:
    """The likeliest first; none of what the user has set.

    Args:
        report: of a run.
        environment: the user's.
        has_huge_pages: of the machine (`offers_huge_pages`).
        is_thorough: try also what nothing speaks for.
    """
    users = tunables_of(environment.get(VARIABLE, ""))
    if _OTHER_WAYS & environment.keys():
        return []
    returned = _of(report, Cause.RETURNED_MEMORY)
    small_pages = _of(report, Cause.SMALL_PAGES)
    wanted = []
    if returned is not None or is_thorough:
        wanted.append((KEEP_MEMORY, _THOROUGH if returned is None else returned.evidence))
    # Memory that is kept is not faulted in again, so there may be less to gain; what is kept may as well be huge.
    found = small_pages or returned
    if has_huge_pages and (found is not None or is_thorough):
        wanted.append((HUGE_PAGES, _THOROUGH if found is None else found.evidence))
    starts = []
    for tunables, reason in wanted:
        left_open = {name: value for name, value in tunables.items() if name not in users}
        if left_open:
            starts.append(Start({VARIABLE: as_variable(left_open)}, reason))
    return starts


def _of(report: Report, cause: Cause) -> Finding | None:
    return next((finding for finding in report.findings if finding.cause == cause), None)
