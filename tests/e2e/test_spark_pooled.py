"""Pooled shuffle files with a real Spark: number of opens, answers, lost executors, files that vanish; and the pool alone."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from spark_jvms import QUICK_JAVA, spark_folder
from trimtab.paths import spark_plugin

HERE = Path(__file__).parents[1] / "spark"
MANAGER = "trimtab.spark.pooled.PooledShuffleManager"
KINDS = ("index", "data", "temporary", "other")
# Executors of a busy machine take long to start; nothing here waits for that time to pass.
TIMEOUT_S = 540
# Of class files.
JAVA_8 = 52

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


def applications(
    folder: Path, *steps: tuple[str, dict[str, str]], **environment: str
) -> tuple[list[dict[str, Any]], str]:
    """Run checks of tests/spark/pooled_shuffle.py in turn in one JVM; what each answers, and what Spark logged."""
    common = {
        "spark.jars": str(spark_plugin()),
        "spark.local.dir": str(folder),
        "spark.driver.memory": "1g",
        "spark.executor.memory": "512m",
        "spark.ui.showConsoleProgress": "false",
    }
    words = json.dumps([(check, {**common, **settings}) for check, settings in steps])
    done = subprocess.run(
        [sys.executable, HERE / "pooled_shuffle.py", words],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        env={**os.environ, **QUICK_JAVA, **environment},
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return json.loads(done.stdout.splitlines()[-1]), done.stderr


POOLED = {"spark.shuffle.manager": MANAGER, "spark.trimtab.pooledShuffle.enabled": "true"}


@dataclass(frozen=True)
class Local:
    """Four applications in one JVM: as Spark is, with pooled files, with room for one of them, and where opens are fast."""

    stock: dict[str, Any]
    pooled: dict[str, Any]
    deleted: dict[str, Any]
    fast: dict[str, Any]
    log: str


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory, slow_opens: Path) -> Local:
    folder = tmp_path_factory.mktemp("local")
    stock = {
        "spark.master": "local[2]",
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.shuffle.partitions": "200",
    }
    pooled = {**stock, **POOLED}
    found, log = applications(
        folder,
        ("wide", stock),
        ("wide", pooled),
        ("deleted", {**pooled, "spark.trimtab.pooledShuffle.descriptorShare": "0.000001"}),
        (
            "held",
            {
                "spark.shuffle.manager": MANAGER,
                "spark.trimtab.pooledShuffle.minimumOpenMicroseconds": "1e9",
            },
        ),
        LD_PRELOAD=str(slow_opens),
        SLOW_OPENS_COUNTS=str(folder / "counts"),
    )
    return Local(*found, log)


def test_40_times_200_partitions_open_240_files_and_not_8200(local: Local) -> None:
    for seen in (local.stock, local.pooled):
        assert (seen["total"], seen["rows"]) == (40_000 * 39_999 // 2, 40_000)
    before, so_far = (dict(zip(KINDS, seen["opens"], strict=True)) for seen in (local.stock, local.pooled))
    after = {kind: so_far[kind] - before[kind] for kind in KINDS}
    assert before["index"] >= 8000 and before["data"] >= 8000, "what Spark does today"
    assert after["index"] <= 240 and after["data"] <= 240
    assert after["temporary"] == before["temporary"], "writing is as before"


def test_a_file_that_vanished_is_written_again_also_with_room_for_one(local: Local) -> None:
    assert local.deleted["same"]
    assert "FetchFailed" in local.log, "Spark itself sees that the file is missing, and runs the stage again"


def test_fast_opens_switch_it_off(local: Local) -> None:
    assert local.fast["descriptors"] == 0


def test_all_programs_with_encryption_and_a_lost_executor_then_blocks_sent_between_executors(
    tmp_path: Path,
) -> None:
    """Two applications in turn, each with two executors of its own."""
    cluster = {**POOLED, "spark.master": "local-cluster[2,1,512]"}
    found, _ = applications(
        tmp_path,
        ("programs", {**cluster, "spark.io.encryption.enabled": "true"}),
        (
            "network",
            {
                **cluster,
                "spark.io.encryption.enabled": "false",
                "spark.shuffle.readHostLocalDisk": "false",
                "spark.shuffle.compress": "false",
                "spark.shuffle.sort.bypassMergeThreshold": "1",
                "spark.sql.adaptive.enabled": "false",
            },
        ),
    )
    programs, network = found
    assert programs["descriptors"] > 0, "files stay open between jobs"
    assert programs["executor_killed"] and programs["all_closed_after_removal"]
    assert network["descriptors"] > 0
    assert network["all_closed_after_removal"]


def test_the_pool_alone(tmp_path: Path) -> None:
    """Eviction, threads, interrupts, replaced files, descriptors: tests/spark/java/PoolChecks.java."""
    path = f"{tmp_path / 'classes'}:{spark_plugin()}:{spark_folder()}/jars/*"
    classes, files = tmp_path / "classes", tmp_path / "files"
    files.mkdir()
    compiler = ["javac", "--release", "17", "-nowarn", "-d", str(classes), "-cp", path]
    subprocess.run([*compiler, *map(str, (HERE / "java").glob("*.java"))], check=True, capture_output=True)
    checks = ["java", "-cp", path, "trimtab.spark.pooled.PoolChecks", str(files)]
    environment = {**os.environ, **QUICK_JAVA}
    done = subprocess.run(checks, capture_output=True, text=True, timeout=TIMEOUT_S, env=environment)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 11


def test_classes_that_spark_loads_by_name_are_for_java_8_too() -> None:
    """Spark 3 also runs with Java 8 and 11: a class for a later one would end the application."""
    names = [
        "TrimtabPlugin",
        "TrimtabDriver",
        "TrimtabExecutor",
        "TaskTag",
        "JavaVersion",
        "SparkVersion",
        "ShippedJar",
    ]
    names += ["policy/Policies", "pooled/PooledShuffleManager", "pooled/PooledBlockResolver", "PoolNote"]
    with zipfile.ZipFile(spark_plugin()) as jar:
        versions = {name: jar.read(f"trimtab/spark/{name}.class")[7] for name in names}
    assert versions == dict.fromkeys(names, JAVA_8)
