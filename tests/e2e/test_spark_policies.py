"""Policies of the Spark plug-in that decide while an application runs."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from reports import checked
from trimtab.paths import spark_plugin

HERE = Path(__file__).parents[1] / "spark"
TIMEOUT_S = 540
# As in slow_tasks.py: eight tasks of 0.2 s on two slots.
IDEAL_S = 0.8

pytestmark = [
    pytest.mark.usefixtures("spark_home"),
    pytest.mark.skipif(shutil.which("javac") is None, reason="there is no JDK"),
    pytest.mark.skipif(importlib.util.find_spec("pyspark") is None, reason="needs pyspark"),
    pytest.mark.skipif(not spark_plugin().exists(), reason="the wheel has no Spark plug-in"),
    pytest.mark.timeout(TIMEOUT_S + 60),
]


DISTINCT = """\
import sys
from pyspark import SparkConf, SparkContext
conf = SparkConf().setMaster("local-cluster[2,1,512]").set("spark.local.dir", sys.argv[1]).set("spark.ui.enabled", "false")
context = SparkContext(conf=conf.set("spark.executor.memory", "512m"))
numbers = context._jsc.sc().range(0, 4000, 1, 6).toJavaRDD()
distinct, moved = numbers.distinct(4), numbers.repartition(4)
print([distinct.count() for _ in range(5)] + [moved.count() for _ in range(4)])
context.stop()
"""


# Spark's default of 200 partitions for a few rows; each task takes longer to start than to run. The last query has a number of the program's own.
SMALL_QUERIES = """\
from pyspark.sql import SparkSession
session = SparkSession.builder.master("local[2]").config("spark.sql.adaptive.enabled", "false").getOrCreate()
for _ in range(12):
    rows = session.range(0, 1000, 1, 2).selectExpr("id % 10 AS key", "id").groupBy("key").sum("id")
    assert sorted(map(tuple, rows.collect())) == [(key, sum(range(key, 1000, 10))) for key in range(10)]
session.conf.set("spark.sql." + "shuffle.partitions", "50")
for _ in range(5):
    rows = session.range(0, 1000, 1, 2).selectExpr("id % 7 AS key").groupBy("key").count().collect()
print(len(rows))
session.stop()
"""


def observed(folder: Path, option: str, program: list[str]) -> tuple[str, dict[str, Any], str]:
    """What the program printed last, the report, and the report as text."""
    run = folder / "run"
    trimtab = [sys.executable, "-m", "trimtab"]
    done = subprocess.run(
        [*trimtab, "run", "-q", option, "-o", str(run), "--", sys.executable, *program],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    printed = subprocess.run([*trimtab, "report", str(run), "--json"], capture_output=True, check=True)
    text = subprocess.run([*trimtab, "report", str(run)], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[-1], checked(json.loads(printed.stdout)), text.stdout


def slow_tasks(
    folder: Path, jobs: int, long_s: float, copies: str
) -> tuple[list[float], dict[str, Any], str]:
    """Seconds of each job, the report, and the report as text."""
    program = [str(HERE / "slow_tasks.py"), str(jobs), str(long_s), copies, str(folder)]
    printed, report, text = observed(folder, "--spark-speculation", program)
    return json.loads(printed), report, text


def outcomes(report: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Outcome of each decision, with the old and the new share of tasks that has to end before one is copied."""
    return [
        (row["outcome"], change["from"], change["to"])
        for row in report["decisions"]
        for change in row["changes"]
        if row["policy"] == "speculation" and change["knob"] == "spark.speculation.quantile"
    ]


def test_copies_of_slow_tasks_give_back_a_fifth_of_the_lost_time(tmp_path: Path) -> None:
    long_s, jobs = 8.0, 5
    seconds, report, text = slow_tasks(tmp_path, jobs, long_s, "fast")
    assert outcomes(report) == [("trial", "1.0", "0.75"), ("kept", "1.0", "0.75")]
    assert "slow_tasks.py" in report["decisions"][0]["subject"]
    # Without copies every job would take as long as its longest task, and nothing shortens that one's sleep.
    assert seconds[0] >= long_s
    lost = jobs * (long_s - IDEAL_S)
    recovered = sum(long_s - job for job in seconds)
    assert recovered >= 0.2 * lost, seconds
    assert "decided at" in text and "spark.speculation.quantile" in text


def test_copies_that_do_not_win_are_given_up(tmp_path: Path) -> None:
    """With TRIMTAB_SPARK_LONG more and longer jobs."""
    jobs, long_s = (11, 4.0) if "TRIMTAB_SPARK_LONG" in os.environ else (7, 2.5)
    seconds, report, _ = slow_tasks(tmp_path, jobs, long_s, "slow")
    assert all(job >= long_s for job in seconds)
    # While the copy of one job is being killed, the next job may find no slot for its own; four copies are needed to judge them.
    copies = sum(stage["attempts"] - stage["tasks"] for stage in report["stages"])
    assert copies > 0
    found = [outcome for outcome, _, _ in outcomes(report)]
    if copies > 4:
        assert found == ["trial", "undone"], seconds
        assert report["decisions"][1]["evidence"] == {"copies": 4, "wins": 0}
    else:
        assert found[0] == "trial" and "kept" not in found


def test_the_decisions_alone(tmp_path: Path) -> None:
    """tests/spark/java/policy/PolicyChecks.java."""
    spec = importlib.util.find_spec("pyspark")
    assert spec is not None and spec.origin is not None
    path = f"{tmp_path}:{spark_plugin()}:{Path(spec.origin).parent}/jars/*"
    source = HERE / "java" / "policy" / "PolicyChecks.java"
    compiler = ["javac", "--release", "17", "-nowarn", "-d", str(tmp_path), "-cp", path, str(source)]
    subprocess.run(compiler, check=True, capture_output=True)
    checks = ["java", "-cp", path, "trimtab.spark.policy.PolicyChecks"]
    done = subprocess.run(checks, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 16


def test_what_is_computed_from_a_shuffle_three_times_is_kept_on_disk(tmp_path: Path) -> None:
    program = tmp_path / "distinct.py"
    program.write_text(DISTINCT)
    printed, report, _ = observed(tmp_path, "--spark-persist", [str(program), str(tmp_path)])
    assert json.loads(printed) == [4000] * 9
    # Only what combines: repartition has nothing to compute again.
    (decision,) = report["decisions"]
    assert (decision["policy"], decision["outcome"]) == ("persist", "set")
    assert decision["evidence"] == {"reads": 3, "partitions": 4}
    assert "distinct" in decision["subject"]
    blocks = [stage["blocks"] for stage in report["stages"] if stage["name"].startswith("count")]
    assert len(blocks) == 9
    # 6 x 4 blocks. A job that had begun when it was decided may still read them.
    assert blocks[:2] == [24, 24] and blocks[4] == 0, "first from the shuffle, then from disk"
    assert blocks[5:] == [24] * 4


def test_partitions_of_later_queries_follow_the_worst_stage(tmp_path: Path) -> None:
    program = tmp_path / "queries.py"
    program.write_text(SMALL_QUERIES)
    printed, report, text = observed(tmp_path, "--spark-partitions", [str(program)])
    assert printed == "7"
    decisions = [row for row in report["decisions"] if row["policy"] == "partitions"]
    changes = [(row["outcome"], row["changes"][0]["from"], row["changes"][0]["to"]) for row in decisions]
    # Old, new, old again: only then is it kept.
    assert changes == [("trial", "200", "6"), ("trial", "6", "200"), ("kept", "200", "6")]
    assert decisions[0]["evidence"]["tasks"] == 200 and "starting 200 tasks" in decisions[0]["reason"]
    assert decisions[2]["evidence"]["after_s"] < decisions[2]["evidence"]["before_s"]
    tasks = [stage["tasks"] for stage in report["stages"] if stage["tasks"] > 2]
    assert tasks[:3] == [200] * 3 and tasks[-6:] == [6, *[50] * 5]
    assert "spark.sql.shuffle.partitions" in text
