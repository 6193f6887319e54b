"""A run directory as a Run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

from trimtab.files import is_missing, read_json
from trimtab.model import Lane, Process, Records, Run, RunError, Unavailable
from trimtab.model.enumerations import Missing
from trimtab.readers import layout
from trimtab.readers.files import RUN_INFO, File, open_finished, records, second_header, text
from trimtab.readers.info import check_info
from trimtab.readers.listed import ListedPage, pages_of, process_lists
from trimtab.readers.names import Names, read_names
from trimtab.readers.ranks import rank_folders, with_ranks
from trimtab.readers.scheduler import read_schedulers

# HOST-PID-N; without a host in runs of earlier versions.
_PROCESS = re.compile(r"(?:([\w.+-]{1,64})-)?(\d{1,10})-(\d{1,10})", re.ASCII)
# Figures of process.tt that all others are multiplied with, and what they can be.
_LEAST_CPUS, _MOST_CPUS = 1e-3, 1e6
_PLAUSIBLE = (
    ("ns_per_tick", 1e-3, 1e6),
    ("cpus_available", _LEAST_CPUS, _MOST_CPUS),
    ("cpus_quota", 0.0, _MOST_CPUS),
    ("clock_read_ns", 0.0, 1e6),
)


def open_run(path: str | Path) -> Run:
    """Read the run in directory `path`. Events stay mapped; nothing large is copied.

    A process that cannot be read is left out, and named. Of one whose lanes or samples are damaged the rest is read.

    Raises:
        RunError: it is no run, or its run.json is damaged.
    """
    directory = Path(path)
    if not directory.is_dir():
        raise RunError(f"{directory}: no such run directory")
    info = read_info(directory)
    try:
        folders = [directory, *(rank_folders(directory).values() if info.get("job") is not None else ())]
        read = [result for folder in folders for result in _read_folder(folder, directory)]
        _complete_limits(
            [result for result in read if isinstance(result, Process)], info.get("machine") or {}
        )
        schedulers, schedulers_left_out = read_schedulers(folders, directory)
        return Run(
            directory,
            info,
            tuple(result for result in read if isinstance(result, Process)),
            tuple(result for result in read if isinstance(result, Unavailable)),
            tuple(schedulers),
            tuple(schedulers_left_out),
        )
    except OSError as error:
        raise RunError(f"{error.filename or directory}: {error.strerror}") from error


def read_info(directory: Path) -> dict[str, Any]:
    """What run.json in `directory` says, checked; of a job, with what its ranks say.

    Raises:
        RunError: it is no run, or its run.json is damaged.
    """
    path = directory / "run.json"
    try:
        info = read_json(path, RUN_INFO)
    except RunError as error:
        if is_missing(error):
            raise RunError(f"{error}: this is not a run directory") from error
        raise
    check_info(path, info)
    if info.get("job") is None:
        return dict(info)
    try:
        return with_ranks(directory, info)
    except OSError as error:
        raise RunError(f"{error.filename or directory}: {error.strerror}") from error


def process_folders(folder: Path) -> list[Path]:
    """The folders of processes in the folder of a run or of a rank, by host, process number and image."""
    directories = [
        (match[1] or "", int(match[2]), int(match[3]), entry)
        for entry in folder.iterdir()
        if (match := _PROCESS.fullmatch(entry.name)) and _is_folder(entry)
    ]
    return [entry for *_, entry in sorted(directories)]


def _read_folder(folder: Path, run: Path) -> list[Process | Unavailable]:
    """All processes in the folder of a run or of a rank, by host, process number and image."""
    read = {entry.name: _read_or_leave_out(entry, run) for entry in process_folders(folder)}
    listed: list[Unavailable] = []
    for path in process_lists(folder):
        try:
            pages = list(pages_of(path))
        except RunError as error:
            listed.append(_left_out(f"processes in {path.relative_to(run)}", error))
            continue
        _add_pages(read, listed, folder, pages)
    return [*(read[name] for name in sorted(read, key=_order)), *listed]


def _order(name: str) -> tuple[str, int, int]:
    match = _PROCESS.fullmatch(name)
    assert match is not None
    return match[1] or "", int(match[2]), int(match[3])


def _add_pages(
    read: dict[str, Process | Unavailable], left_out: list[Unavailable], folder: Path, pages: list[ListedPage]
) -> None:
    """Add the processes of `pages` under the names that their folders would have.

    A process that died while it made its folder has a page, too: the whole folder counts, or else the page.
    """
    begins: dict[str, set[int]] = {}
    images: dict[str, int] = {}
    for name, result in read.items():
        if isinstance(result, Process):
            begins.setdefault(name.rpartition("-")[0], set()).add(int(result.header["start_ticks"]))
    for page in pages:
        stem = f"{page.host}-{page.pid}"
        try:
            process, names = page.files()
            start = int(second_header(process, layout.PROCESS_HEADER)["start_ticks"])
            if start in begins.get(stem, ()):
                continue
            image = images.get(stem, 0)
            while isinstance(read.get(f"{stem}-{image}"), Process) or (
                f"{stem}-{image}" in read and not _is_unfinished(read[f"{stem}-{image}"])
            ):
                image += 1
            images[stem] = image + 1
            read[f"{stem}-{image}"] = _read_process(
                folder / f"{stem}-{image}", process, names, has_folder=False
            )
        except RunError as error:
            left_out.append(_left_out(f"process of {page.place}", error))


def _complete_limits(processes: list[Process], launchers: dict[str, Any]) -> None:
    """Short processes, and killed ones, may not have read their quota of CPUs: it is that of the others on their host.

    Args:
        launchers: what the launcher saw of its machine; its quota counts where no process has read one.
    """
    quotas: dict[str, float] = {}
    for process in processes:
        quota = float(process.header["cpus_quota"])
        if quota > 0:
            quotas[process.host] = min(quota, quotas.get(process.host, quota))
    of_launcher = float(launchers.get("cpus_quota") or 0.0)
    if _LEAST_CPUS <= of_launcher <= _MOST_CPUS:
        quotas.setdefault(str(launchers.get("hostname") or ""), of_launcher)
    for process in processes:
        quota = quotas.get(process.host, 0.0)
        if quota > 0 and process.header["cpus_online"] == 0:
            process.header["cpus_quota"] = quota
            process.header["cpus_available"] = min(float(process.header["cpus_affinity"]), quota)


def _is_unfinished(result: Process | Unavailable) -> bool:
    return isinstance(result, Unavailable) and result.kind == Missing.END


def _left_out(subject_text: str, error: Exception) -> Unavailable:
    reason = f"left out: {error}"
    return Unavailable(subject_text, reason, "the other processes are in this report", Missing.PROCESS)


def _is_folder(path: Path) -> bool:
    """A link to a folder is none: it leads out of the run."""
    return path.is_dir() and not path.is_symlink()


def _read_or_leave_out(directory: Path, run: Path) -> Process | Unavailable:
    """The process in `directory`, or why there is none: a run does not become unreadable through one of its processes."""
    subject_text = f"process {directory.relative_to(run)}"
    try:
        process, names = (open_finished(directory / f"{kind}.tt", kind) for kind in ("process", "names"))
        if process is None or names is None:
            # It died while it made its directory: there is nothing to read.
            reason = "it ended, or was killed, before its files were complete"
            return Unavailable(
                subject_text, reason, "none needed if it was killed in its first milliseconds", Missing.END
            )
        return _read_process(directory, process, names)
    except (RunError, OSError) as error:
        return _left_out(subject_text, error)


def _empty(kind: str) -> Records:
    return np.empty(0, dtype=layout.RECORDS[kind])


def _read_optional(path: Path, kind: str, lost: list[Unavailable]) -> Records:
    """Its records; none where there is no such file, or where it is damaged, which is added to `lost`."""
    try:
        file = open_finished(path, kind)
        return _empty(kind) if file is None else records(file, kind)
    except RunError as error:
        lost.append(_lost(f"{kind} of process {path.parent.name}", error))
        return _empty(kind)


def _lost(subject_text: str, error: RunError) -> Unavailable:
    return Unavailable(
        subject_text, f"left out: {error}", "the rest of the process is in this report", Missing.RECORD
    )


def _read_process(directory: Path, process: File, names_file: File, has_folder: bool = True) -> Process:
    head = second_header(process, layout.PROCESS_HEADER)
    for name, smallest, largest in _PLAUSIBLE:
        if not smallest <= head[name] <= largest:
            place = layout.FILE_HEADER.itemsize + layout.offset_of(layout.PROCESS_HEADER, name)
            raise RunError(
                f"{process.path}: byte {place}: expected {name} from {smallest:g} to {largest:g}, "
                f"found {head[name]:g}"
            )
    names = read_names(names_file)
    command = tuple(
        part.decode("utf-8", "replace") for part in bytes(head.pop("command")).rstrip(b"\0").split(b"\0")
    )
    lost: list[Unavailable] = []
    lost += _lost_names(names_file)
    # There may be 100,000 processes in a list: nothing is looked for where nothing can be.
    lane_files = _lane_files(directory) if has_folder else []
    lanes = tuple(lane for path in lane_files if (lane := _read_lane_or_leave_out(path, lost)) is not None)
    counters, switches, decisions, storage = (
        _read_optional(directory / f"{kind}.tt", kind, lost) if has_folder else _empty(kind)
        for kind in ("counters", "switches", "decisions", "storage")
    )
    return Process(
        directory,
        head,
        tuple(names.modules.values()),
        names.subjects,
        names.counters,
        names.runtimes,
        (*lost, *names.unavailable),
        names.facts,
        lanes,
        _with_samples(counters, names),
        switches,
        command,
        names.knobs,
        names.policies,
        decisions,
        storage,
    )


def _with_samples(counters: Records, names: Names) -> Records:
    """Samples among the names are older: the process had no counters.tt then."""
    if not names.samples:
        return counters
    early = np.zeros(len(names.samples), dtype=layout.SAMPLE)
    for place, sample in enumerate(names.samples):
        early["ticks"][place], early["counter"][place], early["lane"][place], early["value"][place] = sample
    return np.concatenate([early, counters]) if len(counters) else early


def _lost_names(file: File) -> list[Unavailable]:
    """What it means that names found no room."""
    dropped = int(file.header["dropped"])
    if not dropped:
        return []
    written = int(file.header["written"])
    reason = f"{file.path.name}: expected room for all names, found none for {dropped} of them after {written} bytes"
    remedy = "see what else is unavailable about the run directory"
    return [Unavailable(f"names of process {file.path.parent.name}", reason, remedy)]


def _lane_files(directory: Path) -> list[Path]:
    """By number of the lane, which has more digits from 10,000 on."""
    return sorted(directory.glob("lane-*.events"), key=lambda path: (len(path.name), path.name))


def _read_lane_or_leave_out(events_path: Path, lost: list[Unavailable]) -> Lane | None:
    """The lane; None where its files were not complete when the process died, or are damaged: that is added to `lost`."""
    try:
        events = open_finished(events_path, "events")
        profile = open_finished(events_path.with_suffix(".profile"), "profile")
        return None if events is None or profile is None else _read_lane(events, profile)
    except RunError as error:
        lost.append(_lost(f"{events_path.stem} of process {events_path.parent.name}", error))
        return None


def _read_lane(events: File, profile: File) -> Lane:
    head = second_header(events, layout.LANE_HEADER)
    # So that no two lanes of a process have the same number.
    if events.path.name != f"lane-{head['lane']:04}.events":
        raise RunError(f"{events.path}: byte 64: expected the lane of the file's name, found {head['lane']}")
    head["name"] = text(head["name"])
    head["title"] = text(head["title"])
    return Lane(
        head["lane"],
        head,
        records(profile, "profile"),
        records(events, "events"),
        int(events.header["written"]),
        int(events.header["dropped"]),
        int(profile.header["dropped"]),
    )
