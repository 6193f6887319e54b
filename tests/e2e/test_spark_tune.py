"""`trimtab tune` with a real Spark: what is tried follows from a log, is proved, kept for the job, and never put over the user's own."""

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
from trimtab.paths import spark_plugin

TIMEOUT_S = 3000
NAME = "spark.sql.shuffle.partitions"
# Spark's default of 200 partitions for a few rows; each task takes longer to start than to run.
PROGRAM = """\
import sys
from pyspark.sql import SparkSession
session = SparkSession.builder.config("spark.sql.adaptive.enabled", "false").getOrCreate()
for _ in range(int(sys.argv[1])):
    rows = session.range(0, 1000, 1, 2).selectExpr("id % 10 AS key", "id").groupBy("key").sum("id")
    assert len(rows.collect()) == 10
session.stop()
"""
ROUNDS = "25"

pytestmark = [
    pytest.mark.usefixtures("spark_home"),
    pytest.mark.skipif(
        "TRIMTAB_SPARK_TUNE" not in os.environ, reason="takes minutes: set TRIMTAB_SPARK_TUNE"
    ),
    pytest.mark.skipif(shutil.which("java") is None, reason="there is no Java"),
    pytest.mark.skipif(importlib.util.find_spec("pyspark") is None, reason="needs pyspark"),
    pytest.mark.skipif(not spark_plugin().exists(), reason="the wheel has no Spark plug-in"),
    pytest.mark.timeout(2 * TIMEOUT_S),
    pytest.mark.alone,
]


def trimtab(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "trimtab", *arguments],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done


def frozen(folder: Path, name: str, job: list[str], **environment: str) -> dict[str, Any]:
    """The report of a run with what was kept."""
    run, history = str(folder / name), str(folder / "history.sqlite")
    trimtab("run", "-q", "--frozen", "--history", history, "-o", run, "--", *job, **environment)
    return dict(json.loads(trimtab("report", run, "--json").stdout))


def widest(report: dict[str, Any]) -> int:
    return max(stage["tasks"] for stage in report["stages"])


def test_settings_that_a_log_suggests_are_proved_and_kept_for_the_job(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    submit = ["spark-submit", "--master", "local[2]", "--conf", "spark.ui.enabled=false", str(program)]
    job = [*submit, ROUNDS]
    history = str(tmp_path / "history.sqlite")
    tuned = trimtab("tune", "--runs", "1", "--history", history, "--", *job)
    (line,) = [line for line in tuned.stderr.splitlines() if "spark-submit --conf" in line]
    kept = line.partition(f"{NAME}=")[2].split()[0]
    # 3 or 1 for each of two core slots.
    assert kept in ("6", "2"), tuned.stderr
    assert widest(frozen(tmp_path, "again", job)) == int(kept)
    # Another job of the same program has nothing of it.
    assert widest(frozen(tmp_path, "other", [*submit, "1"])) == 200
    # What the user has set since then stays.
    settings = tmp_path / "conf"
    settings.mkdir()
    (settings / "spark-defaults.conf").write_text(f"{NAME} 50\\n")
    own = frozen(tmp_path, "own", job, SPARK_CONF_DIR=str(settings))
    assert widest(own) == 50
    assert f"{NAME}: set by you, so it is left as it is" in [row["why"] for row in own["unavailable"]]
