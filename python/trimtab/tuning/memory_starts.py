"""Settings of the allocator that are worth trying at the start, after what a run has shown of its memory."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trimtab.analysis.allocator_findings import LARGER_CACHES
from trimtab.analysis.memory_findings import HUGE_PAGES, KEEP_MEMORY
from trimtab.glibc import as_variable
from trimtab.machine_files import Machine
from trimtab.model.enumerations import Cause
from trimtab.model.report import Finding
from trimtab.tuning.multi_run import Start
from trimtab.tuning.start_situation import WIDE, Situation
from trimtab.tuning.tunables import VARIABLE, tunables_of

# From here on huge pages are worth a try: a TLB holds some thousand small pages, of 4 KB each.
_MUCH_KB = 64_000
_OFFER = "/sys/kernel/mm/transparent_hugepage/enabled"
# Variables with which the user sets the same thing.
_OTHER_WAYS = {"MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_", "MALLOC_TOP_PAD_", "MALLOC_MMAP_MAX_"}


def offers_huge_pages(machine: Machine) -> bool:
    """Whether a program that asks gets transparent huge pages; `machine`: where /sys is read."""
    text = machine.read(_OFFER) or ""
    return re.search(r"\[(always|madvise)\]", text) is not None


def memory_starts(situation: Situation) -> list[Start]:
    """Memory that is kept, caches of threads, and huge pages; none of what the user has set."""
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
    contended = situation.finding_of(Cause.ALLOCATOR_CONTENTION)
    # Memory that an arena gives back while its lock is held makes the others wait longer.
    if reason := _reason(situation, returned or contended):
        yield KEEP_MEMORY, reason
    if reason := _reason(situation, contended):
        yield LARGER_CACHES, reason
    # Memory that is kept is not faulted in again, so there may be less to gain; what is kept may as well be huge.
    small = situation.finding_of(Cause.SMALL_PAGES) or returned
    if offers_huge_pages(situation.machine) and (
        reason := _reason(situation, small) or _much_memory(situation)
    ):
        yield HUGE_PAGES, reason


def _reason(situation: Situation, finding: Finding | None) -> str:
    if finding is not None:
        return finding.evidence
    return WIDE if situation.is_wide else ""


def _much_memory(situation: Situation) -> str:
    """A reason without a finding: what fewer misses of the TLB save is not in the gain of small pages, which may be too little to be told."""
    peak_kb = situation.report.os.max_rss_kb or 0
    if "[madvise]" not in (
        situation.machine.read(_OFFER) or ""
    ):  # `always`: pages are huge where they can be
        return ""
    return f"{peak_kb / 1e3:.3g} MB of memory may lie in small pages" if peak_kb >= _MUCH_KB else ""
