"""Settings of the allocator that are worth trying at the start, after what a run has shown of its memory."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trimtab.analysis.memory_findings import HUGE_PAGES, KEEP_MEMORY
from trimtab.doctor.check import Machine
from trimtab.glibc import as_variable
from trimtab.model.enumerations import Cause
from trimtab.tuning.multi_run import Start
from trimtab.tuning.start_situation import WIDE, Situation
from trimtab.tuning.tunables import VARIABLE, tunables_of

# Variables with which the user sets the same thing.
_OTHER_WAYS = {"MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_", "MALLOC_TOP_PAD_", "MALLOC_MMAP_MAX_"}


def offers_huge_pages(machine: Machine) -> bool:
    """Whether a program that asks gets transparent huge pages; `machine`: where /sys is read."""
    text = machine.read("/sys/kernel/mm/transparent_hugepage/enabled") or ""
    return re.search(r"\[(always|madvise)\]", text) is not None


def memory_starts(situation: Situation) -> list[Start]:
    """Memory that is kept, and huge pages; none of what the user has set."""
    users = tunables_of(situation.environment.get(VARIABLE, ""))
    if not situation.is_open(*_OTHER_WAYS):
        return []
    starts = []
    for tunables, reason in _wanted(situation):
        left_open = {name: value for name, value in tunables.items() if name not in users}
        if left_open:
            starts.append(Start({VARIABLE: as_variable(left_open)}, reason))
    return starts


def _wanted(situation: Situation) -> Iterator[tuple[dict[str, str], str]]:
    returned = situation.finding_of(Cause.RETURNED_MEMORY)
    # Memory that is kept is not faulted in again, so there may be less to gain; what is kept may as well be huge.
    small = situation.finding_of(Cause.SMALL_PAGES) or returned
    for finding, tunables in ((returned, KEEP_MEMORY), (small, HUGE_PAGES)):
        is_offered = tunables is not HUGE_PAGES or offers_huge_pages(situation.machine)
        if is_offered and (finding is not None or situation.is_wide):
            yield tunables, WIDE if finding is None else finding.evidence
