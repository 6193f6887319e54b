"""HOST.scheduler of a run directory: what the operating system's scheduler did with all threads of a host."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trimtab.model import Records, RunError, Unavailable
from trimtab.model.enumerations import Missing, SchedulerChargeKind, SchedulerWait
from trimtab.model.scheduler import SchedulerRecording
from trimtab.readers import layout
from trimtab.readers.files import SCHEDULER_RECORDS, File, open_finished, records, second_header, text

_FOLDER = re.compile(r"([\w.+-]{1,64})\.scheduler", re.ASCII)
# Linux has at most 8192 CPUs; the field of an event has 16 bits.
_MOST_CPUS = 1 << 16
# Two years, as for processes: what says more is damaged.
_LONGEST_NS = 1 << 56
# More switches than a CPU can make in two years.
_MOST_COUNT = 1 << 48
# The clock is read at several places.
_SLACK_NS = 1_000_000_000
_COUNTS = ("voluntary_switches", "involuntary_switches", "moves", "woken_waits", "preempted_waits")
_TIMES = (
    *("running_ns", "woken_ns", "longest_woken_ns", "preempted_ns", "longest_preempted_ns"),
    *("idle_though_ready_ns", "unknown_ns"),
)
_REST = "the rest of the scheduler's records is in this report"
_Mask = NDArray[np.bool_]


def read_schedulers(folders: Iterable[Path], run: Path) -> tuple[list[SchedulerRecording], list[Unavailable]]:
    """The recordings in `folders`, one for each host, and those that are left out.

    Where a host was recorded several times, which ranks of a job may do, each recording has all threads of the host:
    the longest one is taken.

    Raises:
        OSError: a folder cannot be read.
    """
    by_host: dict[str, SchedulerRecording] = {}
    left_out: list[Unavailable] = []
    for folder in folders:
        for directory in sorted(folder.glob("*.scheduler")):
            match = _FOLDER.fullmatch(directory.name)
            if match is None or directory.is_symlink() or not directory.is_dir():
                continue
            result = _read_or_leave_out(directory, match[1], run)
            if isinstance(result, Unavailable):
                left_out.append(result)
                continue
            other = by_host.get(result.host)
            if other is None or other.length_ns < result.length_ns:
                by_host[result.host] = result
    return list(by_host.values()), left_out


def _read_or_leave_out(directory: Path, host: str, run: Path) -> SchedulerRecording | Unavailable:
    subject_text = f"records of the scheduler in {directory.relative_to(run)}"
    try:
        file = open_finished(directory / "threads.tt", "scheduler_threads")
        if file is not None:
            return _read(directory, host, file)
        reason = "there is no complete threads.tt: the recorder was killed in its first moments"
    except (RunError, OSError) as error:
        reason = f"left out: {error}"
    return Unavailable(subject_text, reason, "the rest of the run is in this report", Missing.RECORD)


def _read(directory: Path, host: str, file: File) -> SchedulerRecording:
    header = second_header(file, layout.SCHEDULER_HEADER)
    header["host"] = text(header["host"])
    _check(file.path, header)
    limit_ns = header["end_ns"] - header["begin_ns"] + _SLACK_NS
    lost: list[Unavailable] = []
    threads = _plausible_threads(file, limit_ns, lost)
    charges_file, charges = _optional(directory, "charges", "scheduler_charges", lost)
    delays_file, delays = _optional(directory, "delays", "scheduler_delays", lost)
    events_file, events = _optional(directory, "events", "scheduler_events", lost)
    if charges_file is not None:
        charges = _kept(charges_file, charges, _good_charges(charges, len(threads), limit_ns), lost)
    if delays_file is not None:
        delays = _kept(delays_file, delays, _good_delays(delays, len(threads), limit_ns), lost)
    if header["damaged"]:
        reason = f"{header['damaged']} records of the kernel were not understood"
        lost.append(_lost(f"events of the scheduler of {host}", reason))
    return SchedulerRecording(
        directory,
        header["host"] or host,
        header,
        threads,
        charges,
        delays,
        events,
        0 if events_file is None else int(events_file.header["dropped"]),
        tuple(lost),
    )


def _check(path: Path, header: dict[str, Any]) -> None:
    """Figures that all others are compared with.

    Raises:
        RunError: one of them cannot be.
    """
    length = header["end_ns"] - header["begin_ns"]
    room = (length + _SLACK_NS) * min(header["cpus"], _MOST_CPUS)
    for name, value, least, most in (
        ("end_ns", header["end_ns"], header["begin_ns"], header["begin_ns"] + _LONGEST_NS),
        ("cpus", header["cpus"], 1, _MOST_CPUS),
        ("busy_ns", header["busy_ns"], 0, room),
        ("idle_ns", header["idle_ns"], 0, room),
        ("recorder_cpu_ns", header["recorder_cpu_ns"], 0, room),
        *((name, header[name], 0, _MOST_COUNT) for name in ("events", "lost", "inferred", "damaged")),
    ):
        if not least <= value <= most:
            place = layout.FILE_HEADER.itemsize + layout.offset_of(layout.SCHEDULER_HEADER, name)
            raise RunError(f"{path}: byte {place}: expected {name} from {least} to {most}, found {value}")


def _optional(directory: Path, name: str, kind: str, lost: list[Unavailable]) -> tuple[File | None, Records]:
    """A file beside threads.tt; no records where it is not there, or is damaged, which is added to `lost`."""
    try:
        file = open_finished(directory / f"{name}.tt", kind)
        if file is not None:
            return file, records(file, kind)
    except RunError as error:
        lost.append(_lost(f"{name} of the scheduler", f"left out: {error}"))
    return None, np.empty(0, dtype=SCHEDULER_RECORDS[kind])


def _lost(subject_text: str, reason: str) -> Unavailable:
    return Unavailable(subject_text, reason, _REST, Missing.RECORD)


def _plausible_threads(file: File, limit_ns: int, lost: list[Unavailable]) -> Records:
    """All threads. Those with figures that cannot be keep their number, without figures."""
    threads = records(file, "scheduler_threads")
    is_good = np.ones(len(threads), np.bool_)
    for fields, limit in ((_TIMES, limit_ns), (_COUNTS, _MOST_COUNT)):
        for field in fields:
            is_good &= threads[field] <= np.uint64(limit)
    for first, second in (("woken_ns", "preempted_ns"), ("idle_though_ready_ns", "unknown_ns")):
        # Neither is above the limit, or the row is refused already: the sum of two cannot overflow.
        both = np.where(is_good, threads[first], 0) + np.where(is_good, threads[second], 0)
        is_good &= both <= np.uint64(limit_ns)
    if is_good.all():
        return threads
    corrected = threads.copy()
    for field in (*_TIMES, *_COUNTS):
        corrected[field][~is_good] = 0
    lost.append(_lost(*_refused(file, is_good, "threads")))
    return corrected


def _good_charges(charges: Records, threads: int, limit_ns: int) -> _Mask:
    return (
        _is_number(charges["waiter"], threads)
        & _is_number(charges["other"], threads)
        & np.isin(charges["kind"], [int(kind) for kind in SchedulerChargeKind])
        & (charges["ns"] <= np.uint64(limit_ns))
        & (charges["count"] <= np.uint64(_MOST_COUNT))
    )


def _good_delays(delays: Records, threads: int, limit_ns: int) -> _Mask:
    return (
        _is_number(delays["thread"], threads)
        & np.isin(delays["kind"], [int(kind) for kind in SchedulerWait])
        & (delays["longest_ns"] <= np.uint64(limit_ns))
        & (delays["count"] <= np.uint64(_MOST_COUNT))
    )


def _is_number(numbers: NDArray[Any], threads: int) -> _Mask:
    return (numbers >= 1) & (numbers <= threads)


def _kept(file: File, rows: Records, is_good: _Mask, lost: list[Unavailable]) -> Records:
    if is_good.all():
        return rows
    lost.append(_lost(*_refused(file, is_good, file.path.stem)))
    return rows[is_good]


def _refused(file: File, is_good: _Mask, name: str) -> tuple[str, str]:
    """What is missing, and why."""
    first = int(np.argmin(is_good))
    return (
        f"{name} of the scheduler",
        f"{file.path}: {int((~is_good).sum())} of {len(is_good)} records were passed over, the first of them record "
        f"{first + 1}: expected numbers of threads that are there, and times within the recorded time",
    )
