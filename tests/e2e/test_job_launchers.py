"""Several launchers that start the ranks of one job: one run, one verdict, and each rank's output and exit code its own.

The variables are those that Open MPI sets; so no MPI is needed here. `test_mpi.py` has the same with real ones.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import remember
from trimtab.readers import open_run, read_info

Compiled = Callable[..., Path]
# Goes on when all ranks have come, as MPI_Init does; then it waits for the files that it is to wait for.
TOGETHER = r"""
rank=$OMPI_COMM_WORLD_RANK
echo "rank $rank"
touch "come-$rank"
for other in $(seq 0 $((OMPI_COMM_WORLD_SIZE - 1))); do
  until [ -e "come-$other" ]; do sleep 0.02; done
done
until [ -e "go-$rank" ]; do sleep 0.02; done
exit $rank
"""
PARALLEL = r"""
#include <stdio.h>
#include <time.h>
int main(void) {
  double sum = 0;
  const clock_t begin = clock();
  while (clock() - begin < CLOCKS_PER_SEC / 5) {
#pragma omp parallel for schedule(dynamic, 100) reduction(+ : sum) num_threads(2)
    for (int i = 0; i < 20000; ++i) sum += 1.0 / (1 + i % 17);
  }
  printf("%d\n", sum > 0);
  return 0;
}
"""


class Job:
    """Launchers of ranks, started by hand."""

    def __init__(self, trimtab: str, folder: Path, size: int) -> None:
        self._trimtab, self._folder, self._size = trimtab, folder, size
        self.ranks: dict[int, subprocess.Popen[str]] = {}

    def start(
        self,
        rank: int,
        *command: str | Path,
        options: tuple[str, ...] = (),
        name: str = "job",
        host: str | None = None,
        folder: str = ".",
    ) -> subprocess.Popen[str]:
        as_host = ["unshare", "--uts", "sh", "-c", f'hostname {host}; exec "$@"', "sh"] if host else []
        environment = {
            **os.environ,
            **{"OMPI_COMM_WORLD_RANK": str(rank), "OMPI_COMM_WORLD_SIZE": str(self._size)},
            "PMIX_NAMESPACE": f"{name}-{os.getpid()}",
        }
        self.ranks[rank] = subprocess.Popen(
            [*as_host, self._trimtab, "run", *options, "--", *map(str, command)],
            cwd=self._folder / folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        return self.ranks[rank]

    def start_all(self, *command: str | Path, options: tuple[str, ...] = ()) -> None:
        for rank in range(self._size):
            self.start(rank, *command, options=options)

    def let_go(self, *ranks: int) -> None:
        for rank in ranks:
            (self._folder / f"go-{rank}").touch()

    def wait_for(self, name: str) -> None:
        until = time.monotonic() + 120
        while not (self._folder / name).exists():
            assert time.monotonic() < until, f"{name} did not come"
            time.sleep(0.02)

    def end(self, rank: int) -> tuple[int, str, str]:
        process = self.ranks[rank]
        out, err = process.communicate(timeout=120)
        return process.returncode, out, err

    def end_all(self) -> list[tuple[int, str, str]]:
        return [self.end(rank) for rank in sorted(self.ranks)]


@pytest.fixture
def job(trimtab: str, tmp_path: Path) -> Iterator[Job]:
    created = Job(trimtab, tmp_path, 4)
    yield created
    for rank in created.ranks.values():
        rank.kill()
        rank.wait()


def verdicts(ended: list[tuple[int, str, str]]) -> int:
    return sum(err.count("trimtab report RUN") for _, _, err in ended)


def processes_by_rank(run: Path) -> dict[int | None, set[str]]:
    result: dict[int | None, set[str]] = {}
    for process in open_run(run).processes:
        result.setdefault(process.rank, set()).add(process.host)
    return result


HOST = os.uname().nodename


@pytest.mark.parametrize("options", [("-o", "run"), ()], ids=["named", "default"])
def test_ranks_at_once_are_one_run(job: Job, tmp_path: Path, options: tuple[str, ...]) -> None:
    job.let_go(0, 1, 2, 3)
    job.start_all("sh", "-c", TOGETHER, options=options)
    ended = job.end_all()
    assert [code for code, _, _ in ended] == [0, 1, 2, 3]
    assert [out for _, out, _ in ended] == [f"rank {rank}\n" for rank in range(4)]
    assert verdicts(ended) == 1
    assert [err for _, _, err in ended if not err] == [""] * 3, "the others say nothing"
    (run,) = (tmp_path / "trimtab-runs").iterdir() if not options else [tmp_path / "run"]
    info = read_info(run)
    assert [rank["ended"]["code"] for rank in info["ranks"]] == [0, 1, 2, 3]
    assert info["unavailable"] == [] and info["ended"]["code"] in (1, 2, 3)
    assert info["job"]["size"] == 4 and info["hosts"] == [HOST]
    assert processes_by_rank(run) == {rank: {HOST} for rank in range(4)}
    names = {process.directory.name for process in open_run(run).processes}
    assert all(name.startswith(f"{HOST.partition('.')[0]}-") for name in names)


def test_ranks_that_start_and_end_one_after_another(job: Job, tmp_path: Path) -> None:
    """The last to end reports, whichever it is; none waits for another that runs."""
    for rank in (3, 1, 0, 2):
        job.start(rank, "sh", "-c", TOGETHER, options=("-o", "run"))
        job.wait_for(f"come-{rank}")
    reported = []
    for rank in (0, 3, 2, 1):
        job.let_go(rank)
        reported.append(job.end(rank))
    assert [code for code, _, _ in reported] == [0, 3, 2, 1]
    assert [verdicts([entry]) for entry in reported] == [0, 0, 0, 1]
    assert [one_rank["rank"] for one_rank in read_info(tmp_path / "run")["ranks"]] == [0, 1, 2, 3]


def test_a_killed_launcher_takes_no_verdict_with_it(job: Job, tmp_path: Path, trimtab: str) -> None:
    job.start_all("sh", "-c", TOGETHER, options=("-o", "run"))
    for rank in range(4):
        job.wait_for(f"come-{rank}")
    job.ranks[2].send_signal(signal.SIGKILL)
    job.ranks[2].wait()
    job.let_go(0, 1, 2, 3)
    ended = [job.end(rank) for rank in (0, 1, 3)]
    assert [code for code, _, _ in ended] == [0, 1, 3]
    assert verdicts(ended) == 1
    info = read_info(tmp_path / "run")
    assert [entry["what"] for entry in info["unavailable"]] == ["how rank 2 ended"]
    assert set(processes_by_rank(tmp_path / "run")) == {0, 1, 2, 3}
    report = subprocess.run(
        [trimtab, "report", "run", "--json"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert not json.loads(report.stdout)["complete"]


def test_a_rank_that_a_signal_kills(job: Job, tmp_path: Path) -> None:
    job.start(0, "sh", "-c", "touch come-0; until [ -e come-1 ]; do sleep 0.02; done; kill -ABRT $$")
    for rank in (1, 2, 3):
        job.start(rank, "sh", "-c", TOGETHER)
    job.let_go(1, 2, 3)
    ended = job.end_all()
    assert [code for code, _, _ in ended] == [-signal.SIGABRT, 1, 2, 3]
    assert verdicts(ended) == 1
    (run,) = (tmp_path / "trimtab-runs").iterdir()
    assert read_info(run)["ranks"][0]["ended"]["signal"] == "SIGABRT"


def test_a_rank_that_never_comes_is_named(job: Job, tmp_path: Path) -> None:
    for rank in (0, 1, 3):
        job.start(rank, "true", options=("-o", "run"))
    ended = job.end_all()
    assert verdicts(ended) == 1
    assert "rank 2 not in this directory" in "".join(err for _, _, err in ended)
    assert [entry["what"] for entry in read_info(tmp_path / "run")["unavailable"]] == ["rank 2"]


def test_who_is_not_of_the_job_is_refused_before_the_program_starts(job: Job, tmp_path: Path) -> None:
    job.let_go(0, 1, 2, 3)
    job.start_all("sh", "-c", TOGETHER, options=("-o", "run"))
    job.end_all()
    before = sorted(tmp_path.rglob("*"))
    for rank, name in ((1, "job"), (1, "another")):
        job.start(rank, "touch", "has-run", options=("-o", "run"), name=name)
        message = "trimtab: -o run: exists already; expected the name of a new directory\n"
        assert job.end(rank) == (2, "", message)
    assert sorted(tmp_path.rglob("*")) == before


def test_a_program_that_cannot_be_started_leaves_no_run(job: Job, tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text("#!/\n")
    program.chmod(0o700)
    job.start_all("./program", options=("-o", "run"))
    ended = job.end_all()
    assert [code for code, _, _ in ended] == [126] * 4, ended
    assert not (tmp_path / "run").exists()


def test_quiet_ranks_print_nothing_and_one_page_is_written(job: Job, tmp_path: Path) -> None:
    job.let_go(0, 1, 2, 3)
    job.start_all("sh", "-c", TOGETHER, options=("-q", "--html", "page.html", "-o", "run"))
    ended = job.end_all()
    reported = "".join(err for _, _, err in ended)
    assert reported == "trimtab: report page: page.html\n"
    assert (tmp_path / "page.html").stat().st_size > 0


def test_regions_of_every_rank_are_recorded(job: Job, tmp_path: Path, compiled: Compiled) -> None:
    job.start_all(compiled(PARALLEL), options=("-o", "run"))
    ended = job.end_all()
    assert [(code, out) for code, out, _ in ended] == [(0, "1\n")] * 4
    assert verdicts(ended) <= 1, "none, if the first ended long before the last began"
    regions = {
        process.rank: sum(subject.kind == "region" for subject in process.subjects.values())
        for process in open_run(tmp_path / "run").processes
    }
    assert regions == {0: 1, 1: 1, 2: 1, 3: 1}


def test_all_ranks_use_the_settings_of_the_first(job: Job, tmp_path: Path, compiled: Compiled) -> None:
    """What the history knows may be another on another host, or by the time that another rank starts."""
    program = compiled(PARALLEL)
    known_values, empty = tmp_path / "known.sqlite", tmp_path / "nothing.sqlite"
    remember(known_values, program, (), "some+0x10/2", {"schedule": "static", "chunk": "7"})
    remember(empty, program, ("other",), "some+0x10/2", {"schedule": "static"})
    job.start(0, program, options=("--frozen", "--history", str(known_values), "-o", "run"))
    job.wait_for("run")
    for rank in (1, 2):
        job.start(rank, program, options=("--frozen", "--history", str(empty), "-o", "run"))
    job.start(3, program, "other", options=("--frozen", "--history", str(empty), "-o", "run"))
    assert [code for code, _, _ in job.end_all()] == [0] * 4
    texts = [(tmp_path / "run" / f"rank-{rank}" / "settings.txt").read_text() for rank in range(4)]
    assert "7" in texts[0] and texts[0] == texts[1] == texts[2]
    assert texts[3] != texts[0], "another command has its own"


def test_ranks_that_tune_are_remembered(job: Job, tmp_path: Path, compiled: Compiled) -> None:
    history = tmp_path / "history.sqlite"
    job.start_all(compiled(PARALLEL), options=("--tune", "--history", str(history), "-o", "run"))
    ended = job.end_all()
    assert [(code, out) for code, out, _ in ended] == [(0, "1\n")] * 4
    assert "not saved" not in "".join(err for _, _, err in ended)
    modes = {info["mode"] for info in infos_of_ranks(tmp_path / "run", "steering")}
    assert modes == {"on"}


def infos_of_ranks(run: Path, key: str) -> list[Any]:
    return [json.loads((run / f"rank-{rank}" / "run.json").read_text())[key] for rank in range(4)]


def can_be_another_host() -> bool:
    command = ["unshare", "--uts", "sh", "-c", "hostname other && true"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


@pytest.mark.skipif(not can_be_another_host(), reason="no host of another name may be made")
def test_hosts_that_share_a_file_system_are_one_run(job: Job, tmp_path: Path) -> None:
    job.let_go(0, 1, 2, 3)
    for rank in range(4):
        host = f"node-{rank % 2}.cluster"
        job.start(rank, "sh", "-c", TOGETHER, options=("-o", "run"), host=host)
    ended = job.end_all()
    assert [code for code, _, _ in ended] == [0, 1, 2, 3], ended
    assert verdicts(ended) == 1
    assert read_info(tmp_path / "run")["hosts"] == ["node-0.cluster", "node-1.cluster"]
    expected = {rank: {f"node-{rank % 2}.cluster"} for rank in range(4)}
    assert processes_by_rank(tmp_path / "run") == expected
    names = [process.directory.name for process in open_run(tmp_path / "run").processes]
    assert all(name.startswith(("node-0-", "node-1-")) for name in names), names


def test_hosts_that_share_none_have_a_run_each(job: Job, tmp_path: Path) -> None:
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
    for rank in range(4):
        folder = "first" if rank < 2 else "second"
        job.start(rank, "sleep", "6", options=("-o", "run"), folder=folder)
    ended = job.end_all()
    assert verdicts(ended[:2]) == verdicts(ended[2:]) == 1
    assert "ranks 2-3 not in this directory" in "".join(err for _, _, err in ended[:2])
    assert "ranks 0-1 not in this directory" in "".join(err for _, _, err in ended[2:])
    for rank in (2, 3):
        shutil.copytree(tmp_path / f"second/run/rank-{rank}", tmp_path / f"first/run/rank-{rank}")
    info = read_info(tmp_path / "first/run")
    assert info["unavailable"] == [] and [one_rank["rank"] for one_rank in info["ranks"]] == [0, 1, 2, 3]


POLICY = """
from trimtab.policies import Policy

class Nothing(Policy):
    def observe(self, snapshot):
        print("asked", flush=True)
        return []
"""


def test_each_rank_has_a_policy_process_of_its_own(job: Job, tmp_path: Path, compiled: Compiled) -> None:
    (tmp_path / "nothing.py").write_text(POLICY)
    history = str(tmp_path / "history.sqlite")
    options = ("--tune", "--policy", "nothing.py", "--history", history, "-o", "run")
    job.start_all(compiled(PARALLEL), options=options)
    ended = job.end_all()
    assert [(code, out) for code, out, _ in ended] == [(0, "1\n")] * 4, ended
    for rank in range(4):
        assert (tmp_path / "run" / f"rank-{rank}" / "policy.log").exists()


def test_an_exec_is_the_same_process(trimtab: str, tmp_path: Path) -> None:
    subprocess.run(
        [trimtab, "run", "-q", "-o", "run", "--", "sh", "-c", "sh -c true; exec env true"],
        cwd=tmp_path,
        check=True,
    )
    result = open_run(tmp_path / "run").processes
    images: dict[tuple[str, int, str], list[int]] = {}
    for entry in result:
        images.setdefault(entry.same_process, []).append(entry.image)
    assert sorted(map(len, images.values())) == [1, 3], "a child; and sh, env and true"
    assert all(rank is None for rank in {one_entry.rank for one_entry in result})
