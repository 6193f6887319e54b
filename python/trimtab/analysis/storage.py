"""Calls on files by JVMs of Spark, as the library in them has counted them."""

from __future__ import annotations

import numpy as np

from trimtab.model import Process, Records, Run
from trimtab.model.enumerations import NO_SUBJECT, STORAGE_CALLS, STORAGE_CLASSES
from trimtab.model.report import StorageCalls
from trimtab.traces import traces_of

_NS = 1e-9
# The greatest number, as for subjects.
_NO_STAGE = NO_SUBJECT


def storage_calls(run: Run) -> tuple[StorageCalls, ...]:
    """All rows of all processes, most time first."""
    rows = [
        _row(trace_id, row)
        for trace_id, process in _processes(run)
        for row in ([] if process.storage is None else process.storage)
    ]
    return tuple(sorted(rows, key=lambda row: (-row.total_s, row.process, row.group, row.call)))


def _processes(run: Run) -> list[tuple[str, Process]]:
    if not any(process.storage is not None and len(process.storage) for process in run.processes):
        return []
    return [(trace.id, trace.process) for trace in traces_of(run)]


def _row(process_id: str, row: Records) -> StorageCalls:
    has_stage = int(row["stage"]) != _NO_STAGE
    longest_s = float(row["longest_ns"]) * _NS
    return StorageCalls(
        process=process_id,
        stage=int(row["stage"]) if has_stage else None,
        attempt=int(row["attempt"]) if has_stage else None,
        file_class=STORAGE_CLASSES.get(int(row["file_class"]), str(int(row["file_class"]))),
        group=bytes(row["group"]).split(b"\0", 1)[0].decode("utf-8", "replace"),
        call=STORAGE_CALLS.get(int(row["call"]), str(int(row["call"]))),
        count=int(row["count"]),
        failed=int(row["failed"]),
        bytes=int(row["bytes"]),
        total_s=float(row["sum_ns"]) * _NS,
        median_s=min(percentile_ns(row["histogram"], 0.5) * _NS, longest_s),
        p99_s=min(percentile_ns(row["histogram"], 0.99) * _NS, longest_s),
        longest_s=longest_s,
    )


def percentile_ns(histogram: Records, share: float) -> float:
    """The length that `share` of the calls do not exceed, in nanoseconds.

    Args:
        histogram: Calls by bit width of their nanoseconds; within a width they are taken to be spread evenly.
        share: From 0 to 1.
    """
    up_to = np.cumsum(histogram, dtype=float)
    if not len(up_to) or up_to[-1] <= 0:
        return 0.0
    rank = share * up_to[-1]
    width = int(np.searchsorted(up_to, rank))
    if width == 0:
        return 0.0
    low = 2.0 ** (width - 1)
    inside = (rank - up_to[width - 1]) / max(float(histogram[width]), 1.0)
    return float(low * (1.0 + inside))
