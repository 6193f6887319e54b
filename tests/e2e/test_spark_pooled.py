"""Pooled shuffle files with a real Spark: number of opens, answers, lost executors, files that vanish; and the pool alone."""

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

HERE = Path(__file__).parents[1] / "spark"
MANAGER = "trimtab.spark.pooled.PooledShuffleManager"
KINDS = ("index", "data", "temporary", "other")
# Executors of a busy machine take long to start; nothing here waits for that time to pass.
TIMEOUT_S = 540

pytestmark = [
    pytest.mark.usefixtures("spark_home"),
    pytest.mark.skipif(shutil.which("javac") is None, reason="needs a JDK: javac is not on PATH"),
    pytest.mark.skipif(importlib.util.find_spec("pyspark") is None, reason="needs pyspark"),
    pytest.mark.skipif(not spark_plugin().exists(), reason="the wheel has no Spark plug-in"),
    pytest.mark.timeout(TIMEOUT_S + 60),
]


@pytest.fixture(scope="module")
def slow_opens(tmp_path_factory: pytest.TempPathFactory) -> Path:
    library = tmp_path_factory.mktemp("library") / "slow_opens.so"
    source = HERE / "slow_opens.c"
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", str(library), str(source)], check=True)
    return library


def application(
    folder: Path, check: str, master: str, settings: dict[str, str], environment: dict[str, str] | None = None
) -> tuple[dict[str, Any], str]:
    """Run tests/spark/pooled_shuffle.py; its line of JSON and what Spark logged."""
    common = {
        "spark.jars": str(spark_plugin()),
        "spark.local.dir": str(folder),
        "spark.driver.memory": "1g",
        "spark.executor.memory": "512m",
        "spark.ui.showConsoleProgress": "false",
    }
    done = subprocess.run(
        [sys.executable, HERE / "pooled_shuffle.py", check, master]
        + [f"{key}={value}" for key, value in {**common, **settings}.items()],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        env={**os.environ, **(environment or {})},
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return json.loads(done.stdout.splitlines()[-1]), done.stderr


def pooled(**more: str) -> dict[str, str]:
    """Settings that switch the pool on wherever this runs; keys of `more` have _ for a dot."""
    always = {"spark.shuffle.manager": MANAGER, "spark.trimtab.pooledShuffle.enabled": "true"}
    return {**always, **{key.replace("_", "."): value for key, value in more.items()}}


def test_40_times_200_partitions_open_240_files_and_not_8200(tmp_path: Path, slow_opens: Path) -> None:
    environment = {"LD_PRELOAD": str(slow_opens), "SLOW_OPENS_COUNTS": str(tmp_path / "counts")}
    settings = {"spark.sql.adaptive.enabled": "false", "spark.sql.shuffle.partitions": "200"}
    found, _ = application(tmp_path, "twice", "local[2]", settings, environment)
    counts = []
    for rows, opens in (found["stock"], found["pooled"]):
        assert rows == {"total": 40_000 * 39_999 // 2, "rows": 40_000}
        counts.append(dict(zip(KINDS, opens, strict=True)))
    before, so_far = counts
    after = {kind: so_far[kind] - before[kind] for kind in KINDS}
    assert before["index"] >= 8000 and before["data"] >= 8000, "what Spark does today"
    assert after["index"] <= 240 and after["data"] <= 240
    assert after["temporary"] == before["temporary"], "writing is as before"


def test_all_programs_with_encryption_and_a_lost_executor(tmp_path: Path) -> None:
    settings = pooled(spark_io_encryption_enabled="true")
    found, _ = application(tmp_path, "programs", "local-cluster[2,1,512]", settings)
    assert found["descriptors"] > 0, "files stay open between jobs"
    assert found["executor_killed"] and found["all_closed_after_removal"]


def test_blocks_sent_between_executors(tmp_path: Path) -> None:
    settings = pooled(
        spark_shuffle_readHostLocalDisk="false",
        spark_shuffle_compress="false",
        spark_shuffle_sort_bypassMergeThreshold="1",
        spark_sql_adaptive_enabled="false",
    )
    found, _ = application(tmp_path, "network", "local-cluster[2,1,512]", settings)
    assert found["descriptors"] > 0
    assert found["all_closed_after_removal"]


def test_a_file_that_vanished_is_written_again_also_with_room_for_one(tmp_path: Path) -> None:
    settings = pooled(spark_trimtab_pooledShuffle_descriptorShare="0.000001")
    found, log = application(tmp_path, "deleted", "local[2]", settings)
    assert found["same"]
    assert "FetchFailed" in log, "Spark itself sees that the file is missing, and runs the stage again"


def test_fast_opens_switch_it_off(tmp_path: Path) -> None:
    settings = {
        "spark.shuffle.manager": MANAGER,
        "spark.trimtab.pooledShuffle.minimumOpenMicroseconds": "1e9",
    }
    found, _ = application(tmp_path, "held", "local[2]", settings)
    assert found["descriptors"] == 0


def test_the_pool_alone(tmp_path: Path) -> None:
    """Eviction, threads, interrupts, replaced files, descriptors: tests/spark/java/PoolChecks.java."""
    spec = importlib.util.find_spec("pyspark")
    assert spec is not None and spec.origin is not None
    path = f"{tmp_path / 'classes'}:{spark_plugin()}:{Path(spec.origin).parent}/jars/*"
    classes, files = tmp_path / "classes", tmp_path / "files"
    files.mkdir()
    compiler = ["javac", "--release", "17", "-nowarn", "-d", str(classes), "-cp", path]
    subprocess.run([*compiler, *map(str, (HERE / "java").glob("*.java"))], check=True, capture_output=True)
    checks = ["java", "-cp", path, "trimtab.spark.pooled.PoolChecks", str(files)]
    done = subprocess.run(checks, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 11
