"""Versions of Spark other than ours: shuffle files are pooled where there are classes for it; what there are none for is as without the plug-in, and one line of each JVM's log says so."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from spark_jvms import QUICK_JAVA

PYTHON = os.environ.get("TRIMTAB_OTHER_SPARK", "")
PROGRAM = """\
import sys
from pyspark import SparkConf, SparkContext
conf = SparkConf().setMaster("local[2]").set("spark.local.dir", sys.argv[1]).set("spark.ui.enabled", "false")
context = SparkContext(conf=conf)
distinct = context._jsc.sc().range(0, 4000, 1, 6).toJavaRDD().distinct(4)
print([distinct.count() for _ in range(5)], context.version)
context.stop()
"""


POOLED = ("3.5", "4.0", "4.1")  # versions with a pool, and with policies
DECIDED = ("4.0", "4.1")


@pytest.mark.skipif(
    not PYTHON, reason="set TRIMTAB_OTHER_SPARK to a Python with a pyspark of another version, as 3.5"
)
@pytest.mark.timeout(600)
def test_another_version_runs_as_it_is_and_says_so(tmp_path: Path) -> None:
    program, run = tmp_path / "program.py", tmp_path / "run"
    program.write_text(PROGRAM)
    options = ["--spark-pooled", "--spark-persist", "--spark-speculation", "--spark-partitions"]
    command = [sys.executable, "-m", "trimtab", "run", "-q", *options, "-o", str(run), "--"]
    always = "--conf spark.trimtab.pooledShuffle.minimumOpenMicroseconds=0 pyspark-shell"
    done = subprocess.run(
        [*command, PYTHON, str(program), str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=500,
        env={**os.environ, **QUICK_JAVA, "PYSPARK_SUBMIT_ARGS": always},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.startswith("[4000, 4000, 4000, 4000, 4000] ")
    version = ".".join(done.stdout.split()[-1].split(".")[:2])
    lines = [line for line in done.stderr.splitlines() if "Trimtab:" in line]
    reasons = [line.partition("Trimtab: ")[2].partition(":")[0] for line in lines]
    without_pool = [] if version in POOLED else ["shuffle files are not pooled"]
    without_policies = [] if version in DECIDED else ["no policy decides about this application"]
    assert reasons == [*without_pool, *without_policies]
    assert all(f"Spark {version} is not" in line for line in lines)
    printed = subprocess.run(
        [sys.executable, "-m", "trimtab", "report", str(run), "--json"], capture_output=True, check=True
    )
    report = json.loads(printed.stdout)
    assert report["spark"]["version"].startswith(version)
    decided = sorted(row["process"] for row in report["decisions"])
    assert decided == ["driver"] * (version in DECIDED) + ["executor driver"] * (version in POOLED)
    # The log and the counted calls need none of Spark's own classes.
    # From the third time on the policy has the partitions that are computed from them on disk.
    blocks = [24] * 3 + [0] * 2 if version in DECIDED else [24] * 5
    assert [stage["blocks"] for stage in report["stages"]][1:] == blocks
    reads = [
        row for row in report["storage"] if row["file_class"] == "shuffle read" and row["call"] == "open"
    ]
    opens = sum(row["count"] for row in reads if row["group"] == "shuffle 0 data")
    # Six data files, each opened once for its pool, or for each block of the jobs.
    assert opens == (6 if version in POOLED else sum(blocks))
