"""What the operating system's scheduler did on one host: records of `trimtab run --kernel`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from trimtab.model.report import Unavailable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_Records: TypeAlias = "NDArray[np.void]"


@dataclass(frozen=True)
class SchedulerRecording:
    """The events of all CPUs of one host, counted by thread.

    Attributes:
        header: of threads.tt.
        threads: all threads that were seen; the other tables refer to them by number, from 1.
        charges: what threads have to do with the waits of others; each refers to threads that are there.
        delays: how many waits took how long; likewise.
        events: in the order of time; only of a trace.
        events_dropped: events of a trace that found no room in the file.
        unavailable: what was damaged, and left out.
    """

    directory: Path
    host: str
    header: dict[str, Any]
    threads: _Records
    charges: _Records
    delays: _Records
    events: _Records
    events_dropped: int = 0
    unavailable: tuple[Unavailable, ...] = ()

    @property
    def length_ns(self) -> int:
        """How long was recorded."""
        return int(self.header["end_ns"]) - int(self.header["begin_ns"])
