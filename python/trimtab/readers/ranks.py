"""The ranks of a job: what each launcher wrote of its rank, put together to what run.json of a single program says."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from trimtab.files import read_json
from trimtab.model import RunError
from trimtab.model.enumerations import Missing
from trimtab.readers.files import RUN_INFO
from trimtab.readers.info import check_info

_FOLDER = re.compile(r"rank-(\d{1,10})")
_USAGE_SUMS = ("user_s", "system_s", "voluntary", "involuntary")
_ABSENT = "not in this directory: never started, not under trimtab, or on a host that does not share it"
# Of a size that somebody made up.
_MOST_LISTED = 1 << 16
_NO_END = "not recorded: it still runs, or its trimtab was killed"


def rank_folders(directory: Path) -> dict[int, Path]:
    """The folders of the ranks of a run, in order; links lead out of the run and are none.

    Raises:
        OSError: the directory cannot be read.
    """
    ranks_found = {}
    for entry in directory.iterdir():
        match = _FOLDER.fullmatch(entry.name)
        if match and entry.name == f"rank-{int(match[1])}" and entry.is_dir() and not entry.is_symlink():
            ranks_found[int(match[1])] = entry
    return dict(sorted(ranks_found.items()))


def with_ranks(directory: Path, info: dict[str, Any]) -> dict[str, Any]:
    """`info` of a job, with how the whole job ended, its `ranks` and `hosts`, and what of it is missing.

    Raises:
        OSError: the directory cannot be read.
    """
    infos: dict[int, dict[str, Any]] = {}
    unavailable = list(info.get("unavailable") or [])
    for rank, folder in rank_folders(directory).items():
        infos[rank], reason = _read(folder / "run.json")
        if reason:
            unavailable.append(
                _missing(
                    f"rank {rank}",
                    f"left out: {reason}",
                    "the other ranks are in this report",
                    Missing.PROCESS,
                )
            )
        unavailable += [entry for entry in infos[rank].get("unavailable") or [] if entry not in unavailable]
    size = info["job"].get("size")
    absent = [rank for rank in range(min(size or 0, _MOST_LISTED)) if rank not in infos]
    if absent:
        remedy = "with -o, name a folder that all hosts share, or copy the folders rank-N of the other hosts into this one"
        unavailable.append(_missing(_ranks(absent), _ABSENT, remedy, Missing.PROCESS))
    endless = [rank for rank, info_of_rank in infos.items() if not info_of_rank.get("ended")]
    if endless:
        unavailable.append(
            _missing(f"how {_ranks(endless)} ended", _NO_END, "none needed if it still runs", Missing.END)
        )
    ranks = [_entry(rank, info_of_rank) for rank, info_of_rank in infos.items()]
    hosts = sorted({rank_entry["host"] for rank_entry in ranks if rank_entry["host"]})
    is_whole = bool(infos) and not endless
    ended = _ended([rank_entry["ended"] for rank_entry in ranks], len(hosts)) if is_whole else None
    return info | {"ended": ended, "ranks": ranks, "hosts": hosts, "unavailable": unavailable}


def _missing(subject_text: str, reason: str, remedy: str, kind: Missing) -> dict[str, str]:
    return {"what": subject_text, "why": reason, "remedy": remedy, "kind": kind}


def _read(path: Path) -> tuple[dict[str, Any], str]:
    """What a rank's launcher wrote, and what is wrong with it."""
    try:
        rank_info = read_json(path, RUN_INFO)
        check_info(path, rank_info)
    except RunError as error:
        return {}, str(error)
    return dict(rank_info), ""


def _entry(rank: int, rank_info: dict[str, Any]) -> dict[str, Any]:
    """A rank in the list of ranks."""
    ended = rank_info.get("ended") or None
    return {
        "rank": rank,
        "host": str((rank_info.get("machine") or {}).get("hostname") or ""),
        "argv": rank_info.get("argv") or [],
        "started_real_ns": rank_info.get("started_real_ns"),
        "ended": ended,
    }


def _ended(endings: Sequence[dict[str, Any]], hosts: int) -> dict[str, Any]:
    """How the job ended: as the rank that failed first, if one did; from the first start to the last end, by the hosts' clocks."""
    ends = [float(end.get("real_ns") or 0) for end in endings]
    starts = [at - float(end.get("wall_s") or 0) * 1e9 for at, end in zip(ends, endings, strict=True)]
    failed = [
        (at, end) for at, end in zip(ends, endings, strict=True) if end.get("signal") or end.get("code")
    ]
    cause = min(failed, key=lambda failed_ending: failed_ending[0])[1] if failed else endings[0]
    usage = [end.get("rusage") or {} for end in endings]
    return {
        # Clocks of several hosts have nothing in common.
        "mono_ns": max(end.get("mono_ns") or 0 for end in endings) if hosts == 1 else None,
        "real_ns": max(ends),
        "code": cause.get("code"),
        "signal": cause.get("signal"),
        "wall_s": (max(ends) - min(starts)) * 1e-9,
        "rusage": {name: sum(rusage.get(name) or 0 for rusage in usage) for name in _USAGE_SUMS}
        | {"max_rss_kb": max(rusage.get("max_rss_kb") or 0 for rusage in usage)},
    }


def _ranks(numbers: Sequence[int]) -> str:
    """Ranks as a list with ranges.

    >>> _ranks([3]), _ranks([0, 1, 2, 5])
    ('rank 3', 'ranks 0-2, 5')
    """
    parts: list[list[int]] = []
    for number in numbers:
        if parts and number == parts[-1][1] + 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    shown = ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in parts)
    return f"rank{'s' if len(numbers) > 1 else ''} {shown}"
