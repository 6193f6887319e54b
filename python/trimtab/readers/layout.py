"""The records of a run directory as numpy types; offsets as in rooms/observe's format.hpp."""

from __future__ import annotations

import numpy as np

MAGIC = b"TRIMTAB\0"
VERSION = 1
HEADER_BYTES = 4096
KINDS = {1: "process", 2: "names", 3: "counters", 4: "events", 5: "profile", 6: "switches", 7: "decisions"}

FILE_HEADER = np.dtype(
    [
        ("magic", "V8"),
        ("version", "<u4"),
        ("header_size", "<u4"),
        ("kind", "<u4"),
        ("record_bytes", "<u4"),
        ("capacity", "<u8"),
        ("written", "<u8"),
        ("dropped", "<u8"),
        ("minor", "<u8"),
        ("reserved", "<u8"),
    ]
)
PROCESS_HEADER = np.dtype(
    [
        ("pid", "<u4"),
        ("ppid", "<u4"),
        ("clock", "<u4"),
        ("level", "<u4"),
        ("state", "<u4"),
        ("lanes", "<u4"),
        ("ticks_0", "<u8"),
        ("mono_ns_0", "<u8"),
        ("real_ns_0", "<u8"),
        ("ns_per_tick", "<f8"),
        ("start_ticks", "<u8"),
        ("last_ticks", "<u8"),
        ("end_ticks", "<u8"),
        ("cpus_available", "<f8"),
        ("cpus_affinity", "<u4"),
        ("cpus_online", "<u4"),
        ("cpus_quota", "<f8"),
        ("parallel_ticks", "<u8"),
        ("parallel_since", "<u8"),
        ("setup_ticks", "<u8"),
        ("sampler_cpu_ns", "<u8"),
        ("clock_read_ns", "<f8"),
        ("forked_from", "<u8"),
        ("user_ns", "<u8"),
        ("system_ns", "<u8"),
        ("voluntary_switches", "<u8"),
        ("involuntary_switches", "<u8"),
        ("max_rss_kb", "<u8"),
        ("command", "V2048"),
    ]
)
LANE_HEADER = np.dtype(
    [
        ("lane", "<u4"),
        ("tid", "<u4"),
        ("start_ticks", "<u8"),
        ("end_ticks", "<u8"),
        ("threads", "<u4"),
        ("is_main", "<u4"),
        ("name", "V16"),
        ("run_ns", "<u8"),
        ("run_delay_ns", "<u8"),
        ("time_slices", "<u8"),
        ("voluntary_switches", "<u8"),
        ("involuntary_switches", "<u8"),
        ("migrations", "<u8"),
        ("alive_ticks", "<u8"),
        ("hooks", "<u8"),
        ("clock_reads", "<u8"),
        ("worker_of", "<u4"),
        ("worker", "<u4"),
        ("title", "V40"),
    ]
)
EVENT = np.dtype(
    [("ticks", "<u8"), ("subject", "<u4"), ("kind", "<u2"), ("arg", "<u2"), ("a", "<u8"), ("b", "<u8")]
)
ROW = np.dtype(
    [
        ("subject", "<u4"),
        ("what", "<u2"),
        ("flags", "<u2"),
        ("about", "<u4"),
        ("in_region", "<u4"),
        ("count", "<u8"),
        ("timed", "<u8"),
        ("sum", "<u8"),
        ("min", "<u8"),
        ("max", "<u8"),
        ("x", "<u8", (4,)),
        ("histogram", "<u4", (42,)),
    ]
)
SAMPLE = np.dtype(
    [("ticks", "<u8"), ("counter", "<u4"), ("lane", "<u4"), ("value", "<f8"), ("reserved", "<u8")]
)
DECISION = np.dtype(
    [
        ("ticks", "<u8"),
        ("number", "<u8"),
        ("subject", "<u4"),
        ("knob", "<u4"),
        ("from", "<i8"),
        ("to", "<i8"),
        ("gain", "<f8"),
        ("uncertainty", "<f8"),
        ("pairs", "<u4"),
        ("outcome", "<u2"),
        ("policy", "<u2"),
        ("text", "V192"),
    ]
)
RECORDS = {"counters": SAMPLE, "decisions": DECISION, "events": EVENT, "profile": ROW, "switches": EVENT}


def offset_of(dtype: np.dtype[np.void], name: str) -> int:
    """Bytes from the start of a record to one of its fields."""
    assert dtype.fields is not None
    return int(dtype.fields[name][1])
