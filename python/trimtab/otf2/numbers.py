"""Numbers of OTF2's enumerations, as its C headers have them; only those that are used here."""

from __future__ import annotations

from enum import IntEnum

NO_UINT32 = 0xFFFFFFFF
NO_UINT64 = 0xFFFFFFFFFFFFFFFF


class FileMode(IntEnum):
    """OTF2_FileMode."""

    WRITE = 0
    READ = 1


POSIX_FILES = 1
"""OTF2_SUBSTRATE_POSIX."""
UNCOMPRESSED = 1
"""OTF2_COMPRESSION_NONE."""
FLUSH = 1
"""OTF2_FLUSH: what a callback answers so that a full buffer is written."""


class Type(IntEnum):
    """OTF2_Type."""

    UINT64 = 4
    INT64 = 8
    FLOAT = 9
    DOUBLE = 10
    STRING = 11


class Paradigm(IntEnum):
    """OTF2_Paradigm."""

    UNKNOWN = 0
    USER = 1
    COMPILER = 2
    OPENMP = 3
    MPI = 4
    MEASUREMENT_SYSTEM = 6
    PTHREAD = 7


PROCESSES = 0
"""OTF2_PARADIGM_CLASS_PROCESS."""
FORK_JOIN = 1
"""OTF2_PARADIGM_CLASS_THREAD_FORK_JOIN."""


class Role(IntEnum):
    """OTF2_RegionRole."""

    UNKNOWN = 0
    FUNCTION = 1
    WRAPPER = 2
    LOOP = 3
    CODE = 4
    PARALLEL = 5
    SECTIONS = 6
    SECTION = 7
    WORKSHARE = 8
    SINGLE = 9
    SINGLE_BLOCK = 10
    MASTER = 11
    CRITICAL = 12
    CRITICAL_BLOCK = 13
    ATOMIC = 14
    BARRIER = 15
    IMPLICIT_BARRIER = 16
    FLUSH = 17
    ORDERED = 18
    ORDERED_BLOCK = 19
    TASK = 20
    TASK_CREATE = 21
    TASK_WAIT = 22
    ONE_TO_ALL = 23
    ALL_TO_ONE = 24
    ALL_TO_ALL = 25
    OTHER_COLLECTIVE = 26
    POINT_TO_POINT = 28
    ARTIFICIAL = 31
    TASK_UNTIED = 34


class LocationType(IntEnum):
    """OTF2_LocationType."""

    UNKNOWN = 0
    CPU_THREAD = 1
    ACCELERATOR = 2
    METRIC = 3


PROCESS_GROUP = 1
"""OTF2_LOCATION_GROUP_TYPE_PROCESS."""
SHARED_MEMORY = 1
"""OTF2_SYSTEM_TREE_DOMAIN_SHARED_MEMORY."""


class GroupType(IntEnum):
    """OTF2_GroupType."""

    LOCATIONS = 1
    COMM_LOCATIONS = 4
    COMM_GROUP = 5
    COMM_SELF = 6


ASYNCHRONOUS = 2
"""OTF2_METRIC_ASYNCHRONOUS: values at times of their own, not at events."""
OTHER_METRIC = 0
"""OTF2_METRIC_TYPE_OTHER."""
ACCUMULATED_START = 0
"""OTF2_METRIC_ACCUMULATED_START: a count since the beginning."""
ABSOLUTE_POINT = 17
"""OTF2_METRIC_ABSOLUTE_POINT: a level at that moment."""
DECIMAL = 1
"""OTF2_BASE_DECIMAL."""
ABSTRACT_RECORDER = 1
"""OTF2_RECORDER_KIND_ABSTRACT."""


class Scope(IntEnum):
    """OTF2_MetricScope."""

    LOCATION = 0
    LOCATION_GROUP = 1


UNSIGNED_PARAMETER = 2
"""OTF2_PARAMETER_TYPE_UINT64."""
