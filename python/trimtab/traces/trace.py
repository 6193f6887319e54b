"""The processes of a run with their corrections applied, on one axis of time."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trimtab.model import Process, Run
from trimtab.model.enumerations import ProcessState
from trimtab.traces.open_states import close_worker_states
from trimtab.traces.sampling import scale_samples
from trimtab.traces.span import Span, begin_ns, span_of
from trimtab.traces.truncated import close_regions

_ENDS: dict[int, str] = {ProcessState.EXITED: "exit", ProcessState.REPLACED: "exec"}


@dataclass(frozen=True)
class Trace:
    """One process: an image that ran under one process id on one host.

    Attributes:
        process: its records. Rows of sampled short regions stand for all of their calls; regions and worker states that
            were open when the process was killed last until then.
        span: how long it was observed.
        begin_ns: when the library was loaded, since the first process of the run; hosts are aligned by their real-time clocks.
        end_ticks: when the observed time ended.
    """

    process: Process
    span: Span
    begin_ns: float
    end_ticks: int

    @property
    def id(self) -> str:
        """Unique within the run, for a reused pid, another host and an exec too: the process's directory within the run."""
        directory = self.process.directory
        rank = directory.parent.name
        return f"{rank}/{directory.name}" if rank.startswith("rank-") else directory.name

    @property
    def pid(self) -> int:
        """The process id on its host."""
        return self.process.pid

    @property
    def image(self) -> int:
        """Which image with this pid it was: 0, then 1 after an exec or when the pid was used again."""
        return self.process.image

    @property
    def ended(self) -> str | None:
        """How it ended, as it said itself: "exit", or "exec" when another program took its place; None: it did not say."""
        return _ENDS.get(int(self.process.header["state"])) if self.span.is_complete else None

    @property
    def host(self) -> str | None:
        """The name of its host, where the library recorded it."""
        return self.process.host or None

    @property
    def rank(self) -> int | None:
        """Its rank in an MPI job."""
        return self.process.rank

    @property
    def size(self) -> int | None:
        """How many ranks that job has."""
        return _whole(self.process.facts.get("size"))

    @property
    def begin_s(self) -> float:
        """`begin_ns` in seconds."""
        return self.begin_ns * 1e-9

    @property
    def end_s(self) -> float:
        """When the observed time ended, on the same axis."""
        return self.begin_s + self.span.wall_s

    @property
    def name(self) -> str:
        """The program's file name."""
        return Path(self.process.command[0]).name if self.process.command else ""


def _whole(text: str | None) -> int | None:
    return int(text) if text is not None and text.isascii() and text.isdigit() and len(text) < 10 else None


def traces_of(run: Run) -> tuple[Trace, ...]:
    """All processes of the run, corrected; in the order of their directories."""
    begins = _begins(run, _clock_offsets(run))
    origin = min(begins, default=0.0)
    return tuple(
        _corrected(
            process_of_run, span_of(process_of_run, _launcher_end(run, process_of_run)), begin - origin
        )
        for process_of_run, begin in zip(run.processes, begins, strict=True)
    )


@dataclass(frozen=True)
class Axis:
    """The time of a run: nanoseconds since its first process began, on the clock of the first host."""

    origin_ns: float
    offsets: dict[str | None, float]

    def ns(self, monotonic_ns: NDArray[Any], host: str) -> NDArray[np.float64]:
        """Times of the monotonic clock of a host; a host without processes is taken for the first one."""
        offset = self.offsets.get(host, 0.0)
        nanoseconds: NDArray[np.float64] = monotonic_ns.astype(np.float64) - self.origin_ns + offset
        return nanoseconds


def axis_of(run: Run) -> Axis:
    """The axis of `traces_of`; without a process it begins with the first recording of the scheduler."""
    offsets = _clock_offsets(run)
    recorded = [float(recording.header["begin_ns"]) for recording in run.schedulers]
    return Axis(min(_begins(run, offsets) or recorded, default=0.0), offsets)


def _begins(run: Run, offsets: dict[str | None, float]) -> list[float]:
    """When each process began, on the clock of the first host."""
    return [begin_ns(process) + offsets[process.facts.get("host")] for process in run.processes]


def _launcher_end(run: Run, process: Process) -> float | None:
    """When the launcher saw its program end, on its own host's clock; None for processes of another host."""
    launcher_host, host = (run.info.get("machine") or {}).get("hostname"), process.facts.get("host")
    is_launcher_host = host is None or not launcher_host or host == launcher_host
    return (run.info.get("ended") or {}).get("mono_ns") if is_launcher_host else None


def _clock_offsets(run: Run) -> dict[str | None, float]:
    """By host: what turns its monotonic clock into that of the first host, as far as their real-time clocks agree."""
    offsets: dict[str | None, float] = {}
    for process in run.processes:
        offset = float(process.header["real_ns_0"]) - float(process.header["mono_ns_0"])
        offsets.setdefault(process.facts.get("host"), offset)
    first = next(iter(offsets.values()), 0.0)
    return {host: offset - first for host, offset in offsets.items()}


def _corrected(process: Process, span: Span, begin: float) -> Trace:
    end_ticks = int(process.header["start_ticks"] + span.wall_s * 1e9 / process.ns_per_tick)
    closed = close_worker_states(close_regions(process, end_ticks), end_ticks)
    return Trace(scale_samples(closed), span, begin, end_ticks)
