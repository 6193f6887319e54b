"""Memory on machines with several nodes: pages taken from all of them in turn."""

from __future__ import annotations

import re

from trimtab.machine_files import Machine
from trimtab.model.enumerations import Cause
from trimtab.tuning.multi_run import Start
from trimtab.tuning.start import INTERLEAVE_VARIABLE
from trimtab.tuning.start_situation import Situation

_NODES = "/sys/devices/system/node/has_memory"
# Less lies in the caches, or is too little for any node's bandwidth.
_LEAST_KB = 64_000


def nodes_with_memory(machine: Machine) -> int:
    """How many; 0 where the kernel does not tell."""
    return sum(
        int(last or first) - int(first) + 1
        for first, last in re.findall(r"(\d+)(?:-(\d+))?", machine.read(_NODES) or "")
    )


def node_starts(situation: Situation) -> list[Start]:
    """Nothing on a machine with one node, wide or not: it would change nothing."""
    nodes = nodes_with_memory(situation.machine)
    threads, peak = situation.report.threads or 0, situation.report.os.max_rss_kb or 0
    if nodes < 2 or threads < 2 or peak < _LEAST_KB or not situation.is_open(INTERLEAVE_VARIABLE):
        return []
    finding = situation.finding_of(Cause.REMOTE_MEMORY)
    if finding is not None:
        return [Start({INTERLEAVE_VARIABLE: "1"}, finding.evidence)]
    reason = f"{threads} threads use {peak / 1e3:.3g} MB on a machine with {nodes} nodes of memory"
    return [Start({INTERLEAVE_VARIABLE: "1"}, reason)]
