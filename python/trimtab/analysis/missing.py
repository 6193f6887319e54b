"""What a report lacks, why, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from trimtab.analysis.job import Job
from trimtab.analysis.process_report import ProcessReport
from trimtab.analysis.without_knob import without_knob
from trimtab.model import Process, Run, Unavailable
from trimtab.model.enumerations import Missing

_REGIONS = "OpenMP regions"


def unavailable(
    run: Run, processes: Sequence[ProcessReport], job: Job, changed: Iterable[str]
) -> tuple[Unavailable, ...]:
    """What is missing for the run, then for its processes; the same of several processes is reported once.

    `changed`: binaries that are not those which ran.
    """
    unavailable = [*_of_run(run), *(_changed(path) for path in changed)]
    unavailable += _without_regions(job, unavailable)
    mode = (run.info.get("steering") or {}).get("mode")
    for part in job.parts:
        unavailable += [*_two_runtimes(part.process), *without_knob(part.process, part.places, mode)]
    reported = set[Unavailable]()
    result: list[Unavailable] = []
    for missing in (unavailable, *(_of_process(process, job) for process in processes)):
        result += [missing_entry for missing_entry in missing if missing_entry not in reported]
        reported |= set(missing)
    return tuple(result)


def nothing_loaded(run: Run) -> tuple[Unavailable, ...]:
    """Why nothing was recorded inside the program."""
    unavailable = _of_run(run)
    if run.left_out:
        return (*unavailable, replace(run.left_out[0], what=_REGIONS, kind=Missing.REGIONS))
    if any(entry.kind is Missing.REGIONS for entry in unavailable):
        return tuple(unavailable)
    reason = "the library could not be loaded into the program"
    remedy = "see trimtab doctor; static and setuid programs cannot be watched"
    return (*unavailable, Unavailable(_REGIONS, reason, remedy, Missing.REGIONS))


def unseen_processes(cpu_s: float) -> Iterator[Unavailable]:
    """That programs left no record which used this much CPU time; none for 0."""
    if cpu_s > 0:
        yield Unavailable(
            "other processes",
            f"used {cpu_s:.3g} s CPU time and left no record: forked and ended without a region, static, or setuid",
            "trimtab run --kernel shows them, too",
            Missing.PROCESS,
        )


def _of_run(run: Run) -> list[Unavailable]:
    missing = run.info.get("unavailable") or []
    schedulers = [entry for recording in run.schedulers for entry in recording.unavailable]
    return [*map(_by_launcher, missing), *run.left_out, *run.schedulers_left_out, *schedulers]


def _by_launcher(entry: dict[str, str]) -> Unavailable:
    """An entry of run.json, which anybody may have written."""
    kind = entry.get("kind")
    known_kind = next(
        (kind_of_missing for kind_of_missing in Missing if kind_of_missing == kind), Missing.OTHER
    )
    return Unavailable(entry["what"], entry["why"], entry["remedy"], known_kind)


def _of_process(process_report: ProcessReport, job: Job) -> list[Unavailable]:
    """What a process lacks. If it takes no part in the report, only damaged files are named."""
    takes_part = process_report in job.parts
    return [
        missing
        for missing in process_report.process.unavailable
        if takes_part or missing.kind is Missing.RECORD
    ]


def _without_regions(job: Job, unavailable: Sequence[Unavailable]) -> Iterator[Unavailable]:
    """Why there is nothing of OpenMP and no task, where nothing else says it."""
    reported = [*unavailable, *(missing for part in job.parts for missing in part.process.unavailable)]
    is_reported = any(entry.kind is Missing.REGIONS for entry in reported)
    if is_reported or any(part.regions or part.workers for part in job.parts):
        return
    yield Unavailable(
        _REGIONS,
        "the program entered no parallel region that can be watched",
        "none needed if it uses no OpenMP; a static runtime must be linked dynamically",
        Missing.REGIONS,
    )


def _two_runtimes(process: Process) -> Iterator[Unavailable]:
    if len(process.runtimes) > 1:
        kinds = ", ".join(path for _, path in process.runtimes.values())
        yield Unavailable(
            "one view of all threads",
            f"two OpenMP runtimes in one process: {kinds}",
            "each has its own threads: limit both, or load libraries built with the same one",
        )


def _changed(path: str) -> Unavailable:
    return Unavailable(
        "source places",
        f"{path} is another build than the one that ran",
        "report before building anew: what was found once stays in the run directory",
    )
