"""The Spark plug-in with a real Spark: what it counts is what happened, and whatever is killed, the run is readable."""

from __future__ import annotations

import collections
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from spark_jvms import QUICK_JAVA
from trimtab.paths import spark_plugin
from trimtab.readers import open_run

pytest.importorskip("pyspark", reason="pyspark is not installed")
pytestmark = [
    pytest.mark.usefixtures("spark_home"),
    pytest.mark.skipif(shutil.which("java") is None, reason="there is no Java"),
    pytest.mark.skipif(not spark_plugin().exists(), reason="this wheel was built without a JDK"),
]
MAPS, REDUCES = 10, 8
PROGRAM = f"""\
import sys, time
from pyspark import SparkConf, SparkContext
master, local = sys.argv[1:3]
conf = SparkConf().setMaster(master).setAppName("shuffle").set("spark.local.dir", local)
context = SparkContext(conf=conf.set("spark.ui.enabled", "false"))
pairs = context._jsc.sc().range(0, 4000, 1, {MAPS}).toJavaRDD()
for _ in range(int(sys.argv[3])):
    print(pairs.repartition({REDUCES}).count(), flush=True)
context.stop()
"""
LOCAL, CLUSTER = "local[2]", "local-cluster[2,1,1024]"
MANAGER, POOL = "trimtab.spark.pooled.PooledShuffleManager", "spark.trimtab.pooledShuffle"


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "shuffle.py"
    path.write_text(PROGRAM)
    return path


def command(program: Path, master: str, rounds: int = 1, *options: str) -> list[str]:
    """One shuffle per round, without Python workers."""
    return [
        *(sys.executable, "-m", "trimtab", "run", "-q", *options, "-o", str(program.parent / "run")),
        *("--", sys.executable, str(program), master, str(program.parent / "local"), str(rounds)),
    ]


def with_settings(**settings: str) -> dict[str, str]:
    """The environment of a user with settings; keys have _ for a dot. JVMs start quickly."""
    words = [
        word for name, value in settings.items() for word in ("--conf", f"{name.replace('_', '.')}={value}")
    ]
    return {**os.environ, **QUICK_JAVA, "PYSPARK_SUBMIT_ARGS": " ".join([*words, "pyspark-shell"])}


def report(run: Path) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "trimtab", "report", str(run), "--json"],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


def counted(rows: list[dict[str, Any]], call: str, key: str = "count") -> collections.Counter[str]:
    """Calls, or their bytes, by group of files."""
    counts: collections.Counter[str] = collections.Counter()
    for row in rows:
        if row["call"] == call:
            counts[row["group"]] += row[key]
    return counts


def test_two_executors_count_all_shuffle_opens_and_the_report_has_log_and_processes(program: Path) -> None:
    """Without anything that a user does not have."""
    done = subprocess.run(command(program, CLUSTER), capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout) == (0, "4000\n"), done.stderr[-2000:]
    seen = report(program.parent / "run")
    reads = [row for row in seen["storage"] if row["file_class"] == "shuffle read"]
    blocks = sum(stage["blocks"] for stage in seen["stages"])
    assert blocks > 0
    # Each block that is fetched, also by the other executor, opens both files of its map output.
    assert counted(reads, "open") == {"shuffle 0 data": blocks, "shuffle 0 index": blocks}
    assert {row["stage"] for row in reads} == {1}
    assert {row["process"] for row in reads} == {"executor 0", "executor 1"}
    temporary = counted(seen["storage"], "open")["temporary shuffle files"]
    assert MAPS * REDUCES <= temporary <= 2 * MAPS * REDUCES
    assert all(0 <= row["median_s"] <= row["p99_s"] <= row["longest_s"] <= row["total_s"] for row in reads)
    executors = {row["id"]: row for row in seen["processes"]}
    assert all(row["pid"] > 0 and row["cpu_s"] > 0 for row in executors.values())
    assert {"executor 0", "executor 1"} <= {row["process"] for row in seen["counters"]}
    assert not [row for row in seen["unavailable"] if "dropped" in row["why"]]


SHUFFLE_FILE = re.compile(r"/(temp_shuffle_|shuffle_0_\d+_0\.(data|index|checksum))")
TRANSFERS = {
    **dict.fromkeys(("read", "pread64", "readv", "preadv", "sendfile"), "read"),
    **dict.fromkeys(("write", "pwrite64", "writev", "pwritev"), "write"),
}
CALL = re.compile(
    r"^(\d+) +(?:<\.\.\. (\w+) resumed>|(\w+)\()(.*?)(?: = (-?\d+)[^=]*| <unfinished \.\.\.>)?$"
)


def group_of(text: str) -> str:
    """The group that a report puts a file of this call into; "": no file of a shuffle."""
    file = SHUFFLE_FILE.search(text)
    if file is None:
        return ""
    return f"shuffle 0 {file[2]}" if file[2] else "temporary shuffle files"


def traced(lines: list[str]) -> tuple[collections.Counter[str], dict[str, collections.Counter[str]]]:
    """Opens by group, and by kind of transfer its bytes by group. A call may be cut into two lines."""
    opens: collections.Counter[str] = collections.Counter()
    moved: dict[str, collections.Counter[str]] = {
        "read": collections.Counter(),
        "write": collections.Counter(),
    }
    begun: dict[str, str] = {}
    for line in lines:
        call = CALL.match(line)
        if call is None:
            continue
        thread, resumed, started, rest, result = call.groups()
        name = resumed or started
        group = begun.pop(thread, "") if resumed else group_of(rest)
        if started and name in ("open", "openat", "creat"):
            opens[group] += 1
        elif result is None:
            begun[thread] = group
        elif name in TRANSFERS and int(result) > 0:
            moved[TRANSFERS[name]][group] += int(result)
    return opens, moved


@pytest.mark.skipif(shutil.which("strace") is None, reason="there is no strace")
def test_totals_equal_those_of_strace_with_a_pool_that_the_user_has_switched_off(program: Path) -> None:
    trace = program.parent / "trace"
    calls = ",".join(["open", "openat", "creat", *TRANSFERS])
    # -y: the file of each descriptor; -s 0: nothing of what is read or written.
    options = ["-f", "-qq", "-y", "-s", "0", "--seccomp-bpf", "-e", f"trace={calls}", "-o", str(trace)]
    done = subprocess.run(
        ["strace", *options, *command(program, LOCAL)],
        capture_output=True,
        text=True,
        timeout=300,
        env=with_settings(spark_shuffle_manager=MANAGER, spark_trimtab_pooledShuffle_enabled="false"),
    )
    if "ptrace" in done.stderr.lower() and "not permitted" in done.stderr.lower():
        pytest.skip("strace may not trace here")
    assert done.returncode == 0, done.stderr[-2000:]
    opens, moved = traced(trace.read_text(errors="replace").splitlines())
    seen = report(program.parent / "run")
    pool = [row["why"] for row in seen["unavailable"] if row["what"] == "pooled shuffle files"]
    assert pool == [f"executor driver: {POOL}.enabled=false"]
    assert not [row for row in seen["decisions"] if row["subject"] == "shuffle files"]
    rows = seen["storage"]
    assert opens.total() - opens.pop("") > MAPS * REDUCES
    calls_of = counted(rows, "open")
    assert {group: calls_of[group] for group in opens} == opens
    for kind, by_group in moved.items():
        by_group.pop("", None)
        assert by_group.total() > 0
        bytes_of = counted(rows, kind, "bytes")
        assert {group: bytes_of[group] for group in by_group} == by_group, kind


def test_pooled_files_by_option_and_killed_jvms_leave_a_readable_run(program: Path) -> None:
    """An executor is killed while it writes and reads shuffle files, the application goes on, and then its driver is killed."""
    run = program.parent / "run"
    started = subprocess.Popen(
        command(program, CLUSTER, 1000, "--spark-pooled"),
        stdout=subprocess.PIPE,
        start_new_session=True,
        env=with_settings(spark_trimtab_pooledShuffle_minimumOpenMicroseconds="0"),
    )
    try:
        assert started.stdout is not None
        assert started.stdout.readline() == b"4000\n"
        for victim in ("executor", "driver"):
            os.kill(pid_of(run, victim), signal.SIGKILL)
            if victim == "executor":
                assert [started.stdout.readline() for _ in range(3)] == [b"4000\n"] * 3
            readable_with_pools(run)
    finally:
        os.killpg(started.pid, signal.SIGTERM)
        try:
            started.wait(60)
        except subprocess.TimeoutExpired:
            os.killpg(started.pid, signal.SIGKILL)
            started.wait(10)
    readable_with_pools(run)


def readable_with_pools(run: Path) -> None:
    """Both executors have decided to keep files open, so each has opened each file of the first shuffle once, and not for each block."""
    seen = report(run)
    pools = {row["process"]: row for row in seen["decisions"] if row["subject"] == "shuffle files"}
    assert set(pools) >= {"executor 0", "executor 1"}
    assert all(row["evidence"]["open_us"] > 0 and "an open takes" in row["reason"] for row in pools.values())
    reads = [row for row in seen["storage"] if row["file_class"] == "shuffle read"]
    opens = counted(reads, "open")
    assert all(0 < opens[f"shuffle 0 {kind}"] <= 2 * MAPS for kind in ("data", "index"))
    assert not [process.why for process in open_run(run).left_out if "left out" in process.why]


def pid_of(run: Path, role: str) -> int:
    """A JVM of the running program."""
    for process in open_run(run).processes:
        name = process.facts.get("spark executor")
        if name is not None and (name == "driver") == (role == "driver"):
            return process.pid
    raise AssertionError(f"no {role} among the processes")
