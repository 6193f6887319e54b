"""Other allocators that are installed: with the user's consent only, since they change where a program's memory lies."""

from __future__ import annotations

import re

from trimtab.model.enumerations import Cause
from trimtab.tuning.multi_run import Start
from trimtab.tuning.start import PRELOAD_VARIABLE
from trimtab.tuning.start_situation import WIDE, Situation

_NAMES = ("libjemalloc.so.2", "libmimalloc.so.2", "libtcmalloc_minimal.so.4")
# Of the CPU time.
_MUCH_IN_FAULTS = 0.03
_MUCH_IN_KERNEL = 0.1


def allocator_starts(situation: Situation) -> list[Start]:
    """Each one that is installed. Where the user preloads a library, it may be an allocator: that stays."""
    if not situation.may_preload or not situation.is_open(PRELOAD_VARIABLE):
        return []
    reason = _reason(situation)
    if not reason:
        return []
    return [Start({PRELOAD_VARIABLE: path}, reason) for path in installed_allocators(situation.loader_cache)]


def installed_allocators(loader_cache: str) -> list[str]:
    """Their files, from what `ldconfig -p` prints; the first of each name, which the loader takes, too.

    >>> installed_allocators("libjemalloc.so.2 (libc6,x86-64) => /lib/x86_64-linux-gnu/libjemalloc.so.2")
    ['/lib/x86_64-linux-gnu/libjemalloc.so.2']
    """
    files: dict[str, str] = {}
    for name, path in re.findall(r"^\s*(\S+) \(.*\) => (\S+)$", loader_cache, re.MULTILINE):
        files.setdefault(name, path)
    return [files[name] for name in _NAMES if name in files]


def _reason(situation: Situation) -> str:
    finding = situation.finding_of(Cause.RETURNED_MEMORY, Cause.ALLOCATOR_CONTENTION)
    if finding is not None:
        return finding.evidence
    whole = next((use for use in situation.report.cpu_use if use.key is None), None)
    if whole is not None and whole.cpu_s > 0:
        faults, kernel = whole.page_fault_s / whole.cpu_s, whole.kernel_s / whole.cpu_s
        if faults > _MUCH_IN_FAULTS:
            return f"page faults took {faults:.0%} of the CPU time"
        if kernel > _MUCH_IN_KERNEL:
            return f"the kernel used {kernel:.0%} of the CPU time"
    return WIDE if situation.is_wide else ""
