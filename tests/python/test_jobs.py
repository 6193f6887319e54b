"""Ranks of a job: who is one, which job it is, and who may join its run."""

from __future__ import annotations

import doctest
import importlib
import json
import os
import re
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from trimtab.launcher import directory_of_job, is_open_to, job_folder
from trimtab.launcher.job import RANK_VARIABLES, Job, job_of
from trimtab.launcher.job_folder import JobFolder, RankState, enter_job, rank_folder, state_of

ROOT = Path(__file__).parents[2]
OPEN_MPI = {
    "OMPI_COMM_WORLD_RANK": "1",
    "OMPI_COMM_WORLD_SIZE": "4",
    "PMIX_RANK": "1",
    "PMIX_NAMESPACE": "prterun-host-77@1",
}
SLURM = {
    "SLURM_CLUSTER_NAME": "big",
    "SLURM_JOB_ID": "12",
    "SLURM_STEP_ID": "3",
    "SLURM_PROCID": "2",
    "SLURM_STEP_NUM_TASKS": "8",
}
HYDRA = b"hydra_pmi_proxy\0--control-port\0host:38567\0--demux\0poll\0--pgid\0" + b"0\0--proxy-id\0" + b"1\0"


def test_the_library_reads_the_same_variables() -> None:
    text = (ROOT / "rooms/options/include/trimtab/options/rank_variables.hpp").read_text()
    table = text.partition("rank_table[] = {")[2].partition("};")[0]
    written = re.findall(r'\{"(\w+)", "(\w+)", "(\w*)"\}', table)
    assert written == [
        (rank_variable.rank, rank_variable.size, rank_variable.required) for rank_variable in RANK_VARIABLES
    ]


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, None),
        (OPEN_MPI, Job("Open MPI", "Open MPI prterun-host-77@1", 1, 4)),
        # Of srun inside of which mpirun runs.
        ({**OPEN_MPI, **SLURM}, Job("Open MPI", "Open MPI prterun-host-77@1", 1, 4)),
        (SLURM, Job("Slurm", "Slurm big-12-3", 2, 8)),
        ({**SLURM, "SLURM_STEP_NUM_TASKS": ""}, Job("Slurm", "Slurm big-12-3", 2, None)),
        # A batch script has a number as well, but is no rank.
        ({key: value for key, value in SLURM.items() if key != "SLURM_STEP_ID"}, None),
        # srun --mpi=pmi2 and --mpi=pmix
        ({**SLURM, "PMI_RANK": "2", "PMI_SIZE": "8", "PMI_JOBID": "12.3"}, Job("PMI", "PMI 12.3", 2, 8)),
        (
            {**SLURM, "PMIX_RANK": "2", "PMIX_NAMESPACE": "slurm.pmix.12.3"},
            Job("PMIx", "PMIx slurm.pmix.12.3", 2, 8),
        ),
        ({"PMIX_RANK": "2", "PMIX_NAMESPACE": "n"}, Job("PMIx", "PMIx n", 2, None)),
        ({**OPEN_MPI, "OMPI_COMM_WORLD_SIZE": "1", "OMPI_COMM_WORLD_RANK": "0"}, None),
        ({**OPEN_MPI, "OMPI_COMM_WORLD_SIZE": "1"}, Job("Open MPI", "Open MPI prterun-host-77@1", 1, None)),
        ({"PMI_RANK": "-1", "PMI_SIZE": "4"}, None),
        ({"PMI_RANK": "9" * 5000, "PMI_SIZE": "4"}, None),
        ({"PMI_RANK": "²", "PMI_SIZE": "4"}, None),
    ],
)
def test_who_is_a_rank(environment: dict[str, str], expected: Job | None) -> None:
    assert job_of(environment) == expected


@pytest.mark.parametrize("name", ["launcher.job", "readers.ranks"])
def test_documented_examples(name: str) -> None:
    result = doctest.testmod(importlib.import_module(f"trimtab.{name}"))
    assert result.failed == 0 and result.attempted > 0


def process_in(proc: Path, pid: int, parent: int, environment: bytes, command: bytes = b"sh\0") -> None:
    folder = proc / str(pid)
    folder.mkdir()
    (folder / "environ").write_bytes(environment)
    (folder / "cmdline").write_bytes(command)
    (folder / "stat").write_text(f"{pid} (a) b) S {parent} " + " ".join(map(str, range(5, 30))))


def test_mpich_jobs_are_told_apart_by_the_address_of_mpiexec(tmp_path: Path) -> None:
    """A shell between the launcher and us is a rank as well."""
    process_in(tmp_path, os.getppid(), 7, b"A=1\0PMI_RANK=0\0")
    process_in(tmp_path, 7, 1, b"A=1\0", HYDRA)
    result = job_of({"PMI_RANK": "0", "PMI_SIZE": "2"}, tmp_path)
    assert result == Job("PMI", "PMI host:38567-0", 0, 2)


def test_other_jobs_are_told_apart_by_who_started_them(tmp_path: Path) -> None:
    process_in(tmp_path, os.getppid(), 7, b"A=1\0PMI_RANK=0\0")
    process_in(tmp_path, 7, 1, b"NOT_PMI_RANK=0\0")
    result = job_of({"PMI_RANK": "0", "PMI_SIZE": "2"}, tmp_path)
    assert result == Job("PMI", f"PMI {os.uname().nodename}-7-22", 0, 2)
    in_slurm = {"PMI_RANK": "0", "PMI_SIZE": "2", "SLURM_JOB_ID": "12", "SLURM_STEP_ID": "3"}
    assert job_of(in_slurm, tmp_path) == Job("PMI", "PMI 12-3", 0, 2)


def test_without_proc_a_rank_is_one_all_the_same(tmp_path: Path) -> None:
    result = job_of({"PMI_RANK": "0", "PMI_SIZE": "2"}, tmp_path / "none")
    assert result is not None and (result.rank, result.size) == (0, 2)


INFO = {"format": 1, "argv": ["./app"], "started_real_ns": 0, "ended": None}


def job(rank: int, size: int | None = 3, identity: str = "a") -> Job:
    return Job("Open MPI", identity, rank, size)


def info(**overrides: Any) -> dict[str, Any]:
    return {**INFO, "started_real_ns": time.time_ns(), **overrides}


def enter(path: Path, chosen: Job) -> JobFolder:
    """As a launcher does."""
    entered = enter_job(path, chosen, info(), {"settings.txt": f"of rank {chosen.rank}"})
    entered.rank.write_info(info())
    return entered


def end(entered: JobFolder) -> None:
    entered.rank.write_info(info(ended={"code": 0}))


def never(_: float) -> None:
    raise AssertionError("waited")


def test_ranks_share_a_run_whoever_comes_first(tmp_path: Path) -> None:
    path = tmp_path / "above" / "run"
    entered = [enter(path, job(rank)) for rank in (2, 0, 1)]
    assert sorted(one_path.name for one_path in path.iterdir()) == [
        *("rank-0", "rank-1", "rank-2"),
        *("run.json", "settings.txt"),
    ]
    assert json.loads((path / "run.json").read_text())["job"] == {
        "launcher": "Open MPI",
        "id": "a",
        "size": 3,
    }
    assert {entry.text_of("settings.txt") for entry in entered} == {"of rank 2"}
    for entry in (path, path / "rank-0"):
        assert stat.S_IMODE(entry.stat().st_mode) == 0o700
    assert [one_path.name for one_path in path.parent.iterdir()] == ["run"], "no half-made folder is left"


def test_only_the_last_to_end_reports(tmp_path: Path) -> None:
    first, second, third = (enter(tmp_path / "run", job(rank)) for rank in range(3))
    end(first)
    assert not first.is_reporter(never)
    end(third)
    assert not third.is_reporter(never)
    end(second)
    assert second.is_reporter(never)
    assert not first.is_reporter(never) and not second.is_reporter(never)


def test_ranks_that_end_at_once_report_once(tmp_path: Path) -> None:
    entered = [enter(tmp_path / "run", job(rank)) for rank in range(3)]
    for entry in entered:
        end(entry)
    assert sorted(one_entry.is_reporter(never) for one_entry in entered) == [False, False, True]


def test_a_killed_launcher_is_not_waited_for(tmp_path: Path) -> None:
    """Its lock is gone with it, whatever it has written."""
    first, second, third = (enter(tmp_path / "run", job(rank)) for rank in range(3))
    end(first)
    end(second)
    assert state_of(third.rank_path) is RankState.RUNNING
    assert not first.is_reporter(never)
    third.close()
    assert state_of(third.rank_path) is RankState.KILLED
    assert second.is_reporter(never)


def test_a_rank_that_has_not_come_is_waited_for_while_jobs_start(tmp_path: Path) -> None:
    first = enter(tmp_path / "run", job(0, 2))
    end(first)
    waits = []

    def comes_at_the_third(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 3:
            comers.append(enter(tmp_path / "run", job(1, 2)))

    comers: list[JobFolder] = []
    assert not first.is_reporter(comes_at_the_third), "the second rank runs, and reports"
    assert len(waits) == 3
    end(comers[0])
    assert comers[0].is_reporter(never)


def test_a_rank_that_never_comes_is_waited_for_no_longer(tmp_path: Path) -> None:
    first = enter(tmp_path / "run", job(0, 2))
    end(first)
    began = first.info["started_real_ns"]
    object.__setattr__(first, "info", {"started_real_ns": began - 10 * 10**9})
    assert first.is_reporter(never)


def test_of_an_unknown_number_of_ranks_the_last_that_is_seen_reports(tmp_path: Path) -> None:
    first, second = (enter(tmp_path / "run", job(rank, None)) for rank in range(2))
    end(first)
    assert not first.is_reporter(never)
    end(second)
    object.__setattr__(second, "info", {})
    assert second.is_reporter(never)


@pytest.mark.parametrize(
    "other",
    [job(0), job(1, 2), job(1, None), job(1, identity="b")],
    ids=["this rank again", "another size", "no size", "another job"],
)
def test_who_may_not_join(tmp_path: Path, other: Job) -> None:
    run = tmp_path / "run"
    enter(run, job(0))
    assert is_open_to(run, job(1))
    assert not is_open_to(run, other)
    with pytest.raises(FileExistsError):
        enter_job(run, other, info(), {})
    assert sorted(path.name for path in run.iterdir()) == ["rank-0", "run.json", "settings.txt"]


def empty(path: Path) -> None:
    path.mkdir(mode=0o700)


def of_another_program(path: Path) -> None:
    path.mkdir(mode=0o700)
    (path / "run.json").write_text(json.dumps(INFO))


def a_file(path: Path) -> None:
    path.write_text("precious")


def damaged(path: Path) -> None:
    path.mkdir(mode=0o700)
    (path / "run.json").write_text('{"job": {"id": "a", ')


def a_link(path: Path) -> None:
    enter(path.with_name("target"), job(0))
    path.symlink_to("target")


def writable_by_others(path: Path) -> None:
    enter(path, job(0))
    path.chmod(0o777)


def with_a_pipe(path: Path) -> None:
    path.mkdir(mode=0o700)
    os.mkfifo(path / "run.json")


@pytest.mark.parametrize(
    "make", [empty, of_another_program, a_file, damaged, a_link, writable_by_others, with_a_pipe]
)
def test_what_is_no_run_of_the_job_is_left_alone(tmp_path: Path, make: Any) -> None:
    path = tmp_path / "run"
    make(path)
    before = sorted(tmp_path.rglob("*"))
    assert not is_open_to(path, job(1))
    with pytest.raises(FileExistsError):
        enter_job(path, job(1), info(), {})
    assert sorted(tmp_path.rglob("*")) == before


def test_a_run_of_long_ago_is_of_another_job(tmp_path: Path) -> None:
    """In containers the same process numbers, and with them identities, come again."""
    run = tmp_path / "run"
    entered = enter(run, job(0))
    (run / "run.json").write_text(json.dumps(info(started_real_ns=1, job={"id": "a", "size": 3})))
    assert is_open_to(run, job(1)), "a rank of it runs"
    end(entered)
    entered.close()
    assert not is_open_to(run, job(1))


def test_all_ranks_find_the_same_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    first = directory_of_job(job(0, identity="Slurm big/12-3"))
    assert first == tmp_path / "trimtab-runs" / "job-Slurm_big_12-3"
    enter(first, job(0, identity="Slurm big/12-3"))
    assert directory_of_job(job(1, identity="Slurm big/12-3")) == first
    repeated = directory_of_job(job(0, identity="Slurm big/12-3"))
    assert repeated == first.with_name("job-Slurm_big_12-3-2"), "the second program of the same rank"


def test_a_run_that_did_not_start_leaves_nothing(tmp_path: Path) -> None:
    run = tmp_path / "run"
    first, second = enter(run, job(0)), enter(run, job(1))
    first.leave()
    assert sorted(path.name for path in run.iterdir()) == ["rank-1", "run.json", "settings.txt"]
    second.leave()
    assert not run.exists()


def test_a_rank_that_came_while_the_only_other_gave_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its place is in a run that has its name."""
    run = tmp_path / "run"
    first = enter(run, job(0))
    rename = os.rename
    comers = []

    def rename_late(*names: Any, **overrides: Any) -> None:
        monkeypatch.setattr(os, "rename", rename)
        comers.append(enter(run, job(1)))
        rename(*names, **overrides)

    monkeypatch.setattr(os, "rename", rename_late)
    first.leave()
    assert comers[0].is_at_path()
    assert sorted(path.name for path in run.iterdir()) == ["rank-1", "run.json", "settings.txt"]
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_a_run_that_is_gone_is_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = tmp_path / "run"
    first = enter(run, job(0))
    used = job_folder._take_place

    def take_late(path: Path, chosen: Job) -> JobFolder:
        monkeypatch.setattr(job_folder, "_take_place", used)
        entered = used(path, chosen)
        run.rename(tmp_path / "away")
        return entered

    monkeypatch.setattr(job_folder, "_take_place", take_late)
    second = enter(run, job(1))
    assert second.is_at_path() and not first.is_at_path()
    assert [entry.name for entry in (tmp_path / "away").glob("rank-*")] == ["rank-0"]


RACE = """
import sys, time
from pathlib import Path
from trimtab.launcher.job import Job
from trimtab.launcher.job_folder import enter_job
path, rank = Path(sys.argv[1]), int(sys.argv[2])
print("ready", flush=True)
sys.stdin.read()
for turn in range(50):
    info = {"format": 1, "argv": ["./app"], "started_real_ns": time.time_ns(), "ended": None}
    job = enter_job(path / str(turn), Job("Open MPI", "a", rank, 4), info, {"by": str(rank)})
    job.rank.write_info({**info, "rank": rank})
    job.rank.write_info({**info, "ended": {"code": rank}})
    print(turn, job.is_reporter(), job.text_of("by"), flush=True)
"""


@contextmanager
def racers(folder: Path) -> Iterator[list[subprocess.Popen[str]]]:
    started = [
        subprocess.Popen(
            [sys.executable, "-c", RACE, str(folder), str(rank)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for rank in range(4)
    ]
    try:
        yield started
    finally:
        for entry in started:
            entry.kill()
            entry.wait()


def test_many_ranks_at_the_same_instant(tmp_path: Path) -> None:
    """Each finds its place in the one run, and one of them reports, fifty times."""
    with racers(tmp_path) as started:
        for entry in started:
            assert entry.stdout is not None and entry.stdout.readline() == "ready\n"
        # All begin now, since the end of their input is what they wait for.
        for racer in started:
            assert racer.stdin is not None
            racer.stdin.close()
        answers = [racer.stdout.read().split("\n") for racer in started if racer.stdout is not None]
    for turn in range(50):
        reported = [lines[turn].split() for lines in answers]
        assert [one_entry[1] for one_entry in reported].count("True") == 1, reported
        assert len({one_entry[2] for one_entry in reported}) == 1, reported
        names = {path.name for path in (tmp_path / str(turn)).iterdir()}
        assert names >= {rank_folder(rank) for rank in range(4)} and len(names) == 7, names
