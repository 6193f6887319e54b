"""The run of a job as it is read: all ranks in one, each with how it ended, and what is missing."""

from __future__ import annotations

import io
import json
import struct
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from reports import build, typed
from synthetic import ProcessFiles, module, subject, write_run
from trimtab.cli.main import list_runs
from trimtab.export.source import views_of
from trimtab.model import RunError
from trimtab.readers import open_run, read_info
from trimtab.text.verdict import verdict

S = 10**9


def fact(key: str, value: str) -> bytes:
    text = f"{key}\0{value}\0".encode()
    size = (8 + len(text) + 7) // 8 * 8
    return (struct.pack("<IHH", size, 6, 0) + text).ljust(size, b"\0")


def ended(end_s: float, wall_s: float, code: int | None = 0, signal: str | None = None) -> dict[str, Any]:
    usage = {"user_s": 1.0, "system_s": 0.5, "voluntary": 3, "involuntary": 4, "max_rss_kb": 1000 * end_s}
    return {
        "mono_ns": int((100 + end_s) * S),
        "real_ns": int((5000 + end_s) * S),
        **{"code": code, "signal": signal, "wall_s": wall_s, "rusage": usage},
    }


def a_rank(run: Path, rank: int, host: str, mode: dict[str, Any] | None, pid: int = 100) -> Path:
    """A rank's folder, with one process; returns its run.json."""
    folder = run / f"rank-{rank}"
    facts = [fact("host", f"{host}.cluster"), fact("rank", str(rank)), fact("process start", "7")]
    written = ProcessFiles(names=[module(1, "/app", "ab"), subject(1), *facts], pid=pid).write(folder)
    written.rename(folder / f"{host}-{pid}-0")
    description = {"format": 1, "argv": ["./app"], "rank": rank, "machine": {"hostname": f"{host}.cluster"}}
    (folder / "run.json").write_text(json.dumps({**description, "ended": mode}))
    return folder / "run.json"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Of four ranks, which are still to be written."""
    folder = write_run(tmp_path / "run")
    description = {
        "format": 1,
        "argv": ["./app"],
        "program": "./app",
        "started_real_ns": 5000 * S,
        "ended": None,
    }
    described = {"launcher": "Open MPI", "id": "a", "size": 4}
    (folder / "run.json").write_text(json.dumps({**description, "job": described, "machine": {}}))
    return folder


def missing(info: dict[str, Any]) -> dict[str, str]:
    return {entry["what"]: entry["why"] for entry in info["unavailable"]}


def test_a_job_ended_as_its_ranks_did(run: Path) -> None:
    for rank, (end_s, wall_s) in enumerate(((3.0, 2.5), (4.0, 3.0), (3.5, 3.25), (2.0, 1.0))):
        a_rank(run, rank, "node1", ended(end_s, wall_s), 100 + rank)
    info = read_info(run)
    assert info["ended"] == {
        "mono_ns": 104 * S,
        "real_ns": pytest.approx(5004 * S),
        **{"code": 0, "signal": None, "wall_s": pytest.approx(4.0 - 0.25)},
        "rusage": {"user_s": 4, "system_s": 2, "voluntary": 12, "involuntary": 16, "max_rss_kb": 4000},
    }
    assert [one_rank["rank"] for one_rank in info["ranks"]] == [0, 1, 2, 3]
    assert [one_rank["ended"]["wall_s"] for one_rank in info["ranks"]] == [2.5, 3.0, 3.25, 1.0]
    assert info["hosts"] == ["node1.cluster"] and info["unavailable"] == []
    assert [process.rank for process in open_run(run).processes] == [0, 1, 2, 3]
    assert build(open_run(run))["complete"]


def test_a_job_failed_as_the_rank_that_failed_first(run: Path) -> None:
    """The others are killed for that."""
    a_rank(run, 0, "node1", ended(4.0, 3.0, None, "SIGTERM"))
    a_rank(run, 1, "node1", ended(5.0, 3.0, 0), 101)
    a_rank(run, 2, "node1", ended(3.9, 3.0, 7), 102)
    a_rank(run, 3, "node1", ended(4.1, 3.0, None, "SIGKILL"), 103)
    info = read_info(run)
    assert (info["ended"]["code"], info["ended"]["signal"]) == (7, None)
    codes = [(rank["ended"]["code"], rank["ended"]["signal"]) for rank in info["ranks"]]
    assert codes == [(None, "SIGTERM"), (0, None), (7, None), (None, "SIGKILL")]


def test_processes_of_several_hosts_may_have_the_same_number(run: Path) -> None:
    for rank, host in enumerate(("node1", "node-2", "node1", "node1")):
        a_rank(run, rank, host, ended(3.0, 2.0), 100 if rank < 2 else 98 + rank)
    result = open_run(run)
    assert [(process.rank, process.host, process.pid, process.image) for process in result.processes] == [
        (0, "node1.cluster", 100, 0),
        (1, "node-2.cluster", 100, 0),
        (2, "node1.cluster", 100, 0),
        (3, "node1.cluster", 101, 0),
    ]
    assert result.info["hosts"] == ["node-2.cluster", "node1.cluster"]
    assert result.info["ended"]["mono_ns"] is None, "clocks of two hosts have nothing in common"
    numbers = [view.number for view in views_of(result)]
    assert len(set(numbers)) == 4 and numbers[0] == 100
    tids = [view.number_of(lane) for view in views_of(result) for lane in view.process.lanes]
    assert len(set(tids)) == len(tids)


def test_a_reused_number_a_second_host_and_an_exec_differ(tmp_path: Path) -> None:
    write_run(tmp_path)

    def process(name: str, host: str, start: int) -> None:
        facts = [fact("host", host), fact("process start", str(start))]
        ProcessFiles(names=facts, pid=5).write(tmp_path).rename(tmp_path / name)

    process("a-5-0", "a", 70)
    process("a-5-1", "a", 70)
    process("a-5-2", "a", 99)
    process("b-5-0", "b", 70)
    first, after_exec, reused, elsewhere = open_run(tmp_path).processes
    assert first.same_process == after_exec.same_process and (first.image, after_exec.image) == (0, 1)
    assert len({first.same_process, reused.same_process, elsewhere.same_process}) == 3


def test_ranks_that_are_not_there_are_named(run: Path) -> None:
    a_rank(run, 2, "node1", ended(3.0, 2.0))
    info = read_info(run)
    assert list(missing(info)) == ["ranks 0-1, 3"]
    assert missing(info)["ranks 0-1, 3"].startswith("not in this directory")
    assert info["ended"]["code"] == 0
    out = io.StringIO()
    verdict(typed(build(open_run(run))), run, out)
    assert "ranks 0-1, 3 not in this directory" in out.getvalue()


def test_a_rank_whose_launcher_was_killed_leaves_a_readable_run(run: Path) -> None:
    for rank in range(4):
        a_rank(run, rank, "node1", None if rank == 1 else ended(3.0, 2.0), 100 + rank)
    info = read_info(run)
    assert info["ended"] is None
    assert missing(info) == {"how rank 1 ended": "not recorded: it still runs, or its trimtab was killed"}
    assert not build(open_run(run))["complete"]
    assert len(open_run(run).processes) == 4


@pytest.mark.parametrize("text", ["", "{", '{"format": 2}', '{"format": 1, "ended": 5}', "[]"])
def test_a_damaged_rank_damages_no_other(run: Path, text: str) -> None:
    for rank in range(4):
        path = a_rank(run, rank, "node1", ended(3.0, 2.0), 100 + rank)
    path.write_text(text)
    info = read_info(run)
    assert missing(info)["rank 3"].startswith("left out: ")
    assert str(path) in missing(info)["rank 3"]
    assert info["ended"] is None and len(open_run(run).processes) == 4
    out = io.StringIO()
    verdict(typed(build(open_run(run))), run, out)
    assert "rank 3 left out: " in out.getvalue()


def test_folders_that_are_no_ranks_are_passed_over(run: Path, tmp_path: Path) -> None:
    a_rank(run, 0, "node1", ended(3.0, 2.0))
    a_rank(tmp_path / "other", 1, "node1", ended(3.0, 2.0))
    (run / "rank-1").symlink_to(tmp_path / "other" / "rank-1")
    for name in ("rank-00", "rank-x", "rank-99999999999", "rank-"):
        (run / name).mkdir()
    (run / "rank-2").write_text("a file")
    assert [rank["rank"] for rank in read_info(run)["ranks"]] == [0]
    assert len(open_run(run).processes) == 1


def test_what_is_missing_in_several_ranks_is_told_once(run: Path) -> None:
    entry = {"what": "energy", "why": "no meter", "remedy": "another machine"}
    for rank in range(4):
        path = a_rank(run, rank, "node1", ended(3.0, 2.0), 100 + rank)
        path.write_text(json.dumps({**json.loads(path.read_text()), "unavailable": [entry]}))
    assert read_info(run)["unavailable"] == [entry]


def test_no_rank_has_come(run: Path) -> None:
    info = read_info(run)
    assert info["ended"] is None and info["ranks"] == []
    assert list(missing(info)) == ["ranks 0-3"]
    build(open_run(run))


@pytest.mark.parametrize("described", ['{"size": "4"}', '{"size": true}', '{"id": 1}', "5"])
def test_what_is_no_job_is_refused(run: Path, described: str) -> None:
    path = run / "run.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "job": json.loads(described)}))
    with pytest.raises(RunError, match="job"):
        read_info(run)


def test_a_made_up_size_costs_nothing(run: Path) -> None:
    path = run / "run.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "job": {"size": 1 << 62}}))
    a_rank(run, 0, "node1", ended(3.0, 2.0))
    assert len(missing(read_info(run))) == 1


def test_a_job_is_one_run_in_the_list(run: Path) -> None:
    a_rank(run, 0, "node1", ended(3.0, 2.5, 3))
    out = CliRunner().invoke(list_runs, [str(run.parent), "--json"])
    (listed,) = json.loads(out.stdout)
    assert (listed["run"], listed["program"], listed["wall_s"], listed["code"]) == (str(run), "./app", 2.5, 3)
