"""Policies of the Spark plug-in that decide while an application runs."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from reports import checked
from spark_jvms import QUICK_JAVA, spark_cluster, spark_folder
from trimtab.paths import spark_plugin

HERE = Path(__file__).parents[1] / "spark"
TIMEOUT_S = 540
# As in slow_tasks.py: eight tasks of 0.2 s on two slots.
IDEAL_S = 0.8
TRIMTAB = [sys.executable, "-m", "trimtab"]
MANAGER = "trimtab.spark.pooled.PooledShuffleManager"
POOL = "spark.trimtab.pooledShuffle"

pytestmark = [
    pytest.mark.usefixtures("spark_home"),
    pytest.mark.skipif(shutil.which("javac") is None, reason="there is no JDK"),
    pytest.mark.skipif(importlib.util.find_spec("pyspark") is None, reason="needs pyspark"),
    pytest.mark.skipif(not spark_plugin().exists(), reason="the wheel has no Spark plug-in"),
    pytest.mark.timeout(TIMEOUT_S + 60),
]


# What is computed from a shuffle again and again, and what is only moved. Then queries with Spark's default of 200 partitions for a few rows:
# each task takes longer to start than to run. The last query has a number of the program's own.
PROGRAM = """\
import json, sys
from pyspark.sql import SparkSession
builder = SparkSession.builder.master("local[2]").config("spark.local.dir", sys.argv[1]).config("spark.ui.enabled", "false")
session = builder.config("spark.sql.adaptive.enabled", "false").getOrCreate()
numbers = session._jsc.sc().range(0, 4000, 1, 6).toJavaRDD()
distinct, moved = numbers.distinct(4), numbers.repartition(4)
counts = [distinct.count() for _ in range(5)] + [moved.count() for _ in range(4)]
for _ in range(12):
    rows = session.range(0, 1000, 1, 2).selectExpr("id % 10 AS key", "id").groupBy("key").sum("id")
    assert sorted(map(tuple, rows.collect())) == [(key, sum(range(key, 1000, 10))) for key in range(10)]
session.conf.set("spark.sql." + "shuffle.partitions", "50")
for _ in range(5):
    rows = session.range(0, 1000, 1, 2).selectExpr("id % 7 AS key").groupBy("key").count().collect()
print(json.dumps({"counts": counts, "rows": len(rows)}))
session.stop()
"""


@dataclass(frozen=True)
class Observed:
    """One application under `trimtab run`: what it printed last, the report, and the report as text."""

    printed: Any
    report: dict[str, Any]
    text: str


def start(folder: Path, options: list[str], program: list[str], **environment: str) -> subprocess.Popen[str]:
    """The application; the run is in the folder."""
    return subprocess.Popen(
        [*TRIMTAB, "run", "-q", *options, "-o", str(folder / "run"), "--", sys.executable, *program],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **QUICK_JAVA, **environment},
    )


def observed(folder: Path, started: subprocess.Popen[str]) -> Observed:
    """Of an application in the folder, when it has ended."""
    out, errors = started.communicate(timeout=TIMEOUT_S)
    assert started.returncode == 0, errors[-3000:]
    run = str(folder / "run")
    printed = subprocess.run([*TRIMTAB, "report", run, "--json"], capture_output=True, check=True)
    text = subprocess.run([*TRIMTAB, "report", run], capture_output=True, text=True, check=True)
    return Observed(json.loads(out.splitlines()[-1]), checked(json.loads(printed.stdout)), text.stdout)


def outcomes(report: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Outcome of each decision, with the old and the new share of tasks that has to end before one is copied."""
    return [
        (row["outcome"], change["from"], change["to"])
        for row in report["decisions"]
        for change in row["changes"]
        if row["policy"] == "speculation" and change["knob"] == "spark.speculation.quantile"
    ]


def test_copies_that_give_back_a_fifth_of_the_lost_time_stay_and_others_are_given_up(tmp_path: Path) -> None:
    """Two applications in turn on one cluster. With TRIMTAB_SPARK_LONG more and longer jobs."""
    is_long = "TRIMTAB_SPARK_LONG" in os.environ
    jobs = {"fast": (6, 8.0), "slow": (11, 4.0) if is_long else (7, 3.0)}
    ended = {}
    with spark_cluster(tmp_path) as master:
        for kind, (count, long_s) in jobs.items():
            folder = tmp_path / kind
            folder.mkdir()
            program = [str(HERE / "slow_tasks.py"), master, str(count), str(long_s), kind, str(folder)]
            ended[kind] = observed(folder, start(folder, ["--spark-speculation"], program))
    copies_that_win(ended["fast"], *jobs["fast"])
    copies_that_do_not_win(ended["slow"], jobs["slow"][1])


def copies_that_win(seen: Observed, jobs: int, long_s: float) -> None:
    """They are kept, and a fifth of the lost time comes back."""
    assert outcomes(seen.report) == [("trial", "1.0", "0.75"), ("kept", "1.0", "0.75")]
    assert "slow_tasks.py" in seen.report["decisions"][0]["subject"]
    # Without copies every job would take as long as its longest task, and nothing shortens that one's sleep.
    assert seen.printed[0] >= long_s
    lost = jobs * (long_s - IDEAL_S)
    recovered = sum(long_s - job for job in seen.printed)
    assert recovered >= 0.2 * lost, seen.printed
    assert "decided at" in seen.text and "spark.speculation.quantile" in seen.text


def copies_that_do_not_win(seen: Observed, long_s: float) -> None:
    """They are given up after four."""
    assert all(job >= long_s for job in seen.printed)
    # While the copy of one job is being killed, the next job may find no slot for its own; four copies are needed to judge them.
    copies = sum(stage["attempts"] - stage["tasks"] for stage in seen.report["stages"])
    assert copies > 0
    found = [outcome for outcome, _, _ in outcomes(seen.report)]
    if copies > 4:
        assert found == ["trial", "undone"], seen.printed
        assert seen.report["decisions"][1]["evidence"] == {"copies": 4, "wins": 0}
    else:
        assert found[0] == "trial" and "kept" not in found


def test_the_decisions_alone(tmp_path: Path) -> None:
    """tests/spark/java/policy/PolicyChecks.java."""
    path = f"{tmp_path}:{spark_plugin()}:{spark_folder()}/jars/*"
    source = HERE / "java" / "policy" / "PolicyChecks.java"
    compiler = ["javac", "--release", "17", "-nowarn", "-d", str(tmp_path), "-cp", path, str(source)]
    subprocess.run(compiler, check=True, capture_output=True)
    checks = ["java", "-cp", path, "trimtab.spark.policy.PolicyChecks"]
    environment = {**os.environ, **QUICK_JAVA}
    done = subprocess.run(checks, capture_output=True, text=True, timeout=TIMEOUT_S, env=environment)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 16


def test_results_on_disk_and_partitions_of_later_queries_beside_a_pool_of_the_users_own(
    tmp_path: Path,
) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    settings = [
        "--conf",
        f"spark.shuffle.manager={MANAGER}",
        "--conf",
        f"{POOL}.enabled=true",
        "pyspark-shell",
    ]
    started = start(
        tmp_path,
        ["--spark-persist", "--spark-partitions"],
        [str(program), str(tmp_path)],
        PYSPARK_SUBMIT_ARGS=" ".join(settings),
    )
    seen = observed(tmp_path, started)
    assert seen.printed == {"counts": [4000] * 9, "rows": 7}
    results_of_shuffles_are_kept_on_disk(seen.report)
    partitions_follow_the_worst_stage(seen)
    pool = [row["reason"] for row in seen.report["decisions"] if row["subject"] == "shuffle files"]
    assert pool == [f"{POOL}.enabled=true"]
    assert "pooled shuffle files" not in [row["what"] for row in seen.report["unavailable"]]


def decisions(report: dict[str, Any], policy: str) -> list[dict[str, Any]]:
    return [row for row in report["decisions"] if row["policy"] == policy]


def results_of_shuffles_are_kept_on_disk(report: dict[str, Any]) -> None:
    """From the third time on, and only what combines: repartition has nothing to compute again."""
    (decision,) = decisions(report, "persist")
    assert decision["outcome"] == "set"
    assert decision["evidence"] == {"reads": 3, "partitions": 4}
    assert "distinct" in decision["subject"]
    blocks = [stage["blocks"] for stage in report["stages"] if stage["name"].startswith("count")]
    assert len(blocks) == 9
    # 6 x 4 blocks. A job that had begun when it was decided may still read them.
    assert blocks[:2] == [24, 24] and blocks[4] == 0, "first from the shuffle, then from disk"
    assert blocks[5:] == [24] * 4


def partitions_follow_the_worst_stage(seen: Observed) -> None:
    """Old, new, old again: only then is a number kept."""
    rows = decisions(seen.report, "partitions")
    changes = [(row["outcome"], row["changes"][0]["from"], row["changes"][0]["to"]) for row in rows]
    assert changes == [("trial", "200", "6"), ("trial", "6", "200"), ("kept", "200", "6")]
    assert rows[0]["evidence"]["tasks"] == 200 and "starting 200 tasks" in rows[0]["reason"]
    assert rows[2]["evidence"]["after_s"] < rows[2]["evidence"]["before_s"]
    stages = [stage for stage in seen.report["stages"] if stage["name"].startswith("collect")]
    tasks = [stage["tasks"] for stage in stages if stage["tasks"] > 2]
    assert tasks[:3] == [200] * 3 and tasks[-6:] == [6, *[50] * 5]
    assert "spark.sql.shuffle.partitions" in seen.text
