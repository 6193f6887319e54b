"""Makes the event logs in tests/spark/logs with a real Spark: `python tests/spark/make_logs.py [NAME ...]`.

Needs pyspark (`pip install pyspark`, which brings Spark) and a JDK of version 17 or later; a minute for each log. The
tests themselves need neither. Each log is of a program with one property, at a size that a laptop runs in seconds.
"""

from __future__ import annotations

import gzip
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

LOCAL, CLUSTER = "local[2]", "local-cluster[2,1,1024]"
Settings = dict[str, str]


def group_by(context: Any) -> None:
    """A wide shuffle, twice over the same data."""
    pairs = context.parallelize(range(40_000), 8).map(lambda number: (number % 97, number))
    print(pairs.groupByKey(6).mapValues(len).count())


def straggler(context: Any, slow_s: float = 3.0) -> None:
    """One partition sleeps; it has no more data than the others."""

    def work(partition: int, numbers: Any) -> Any:
        deadline = time.monotonic() + 0.25
        while time.monotonic() < deadline:
            sum(range(1000))
        if partition == 5:
            time.sleep(slow_s)
        return [sum(numbers)]

    context.parallelize(range(8000), 8).mapPartitions(lambda numbers: [1]).count()
    print(context.parallelize(range(8000), 8).mapPartitionsWithIndex(work).sum())


def no_straggler(context: Any) -> None:
    """The same program without the sleep."""
    straggler(context, 0.0)


def skew(context: Any) -> None:
    """Nearly all rows of a join have one key."""
    session = _session()
    left = session.range(600_000).selectExpr("IF(id % 10 < 9, 0, id) AS key", "id AS value")
    right = session.range(2000).selectExpr("id AS key", "id * 2 AS other")
    joined = left.join(right.hint("merge"), "key").selectExpr(
        "sha2(CAST(value * other AS STRING), 512) AS text"
    )
    print(joined.selectExpr("sum(length(text))").collect())


def sql(context: Any) -> None:
    """An aggregation with two exchanges."""
    session = _session()
    numbers = session.range(200_000).selectExpr("id % 1000 AS key", "id AS value")
    print(numbers.groupBy("key").sum("value").orderBy("key").limit(3).collect())


def eviction(context: Any) -> None:
    """More is cached than there is room for, and read three times."""
    from pyspark import StorageLevel

    session = _session()
    frame = (
        session.range(0, 6_000_000, 1, 12)
        .selectExpr("id", "uuid() AS text")
        .persist(StorageLevel.MEMORY_ONLY)
    )
    for _ in range(3):
        print(frame.count())


def failures(context: Any) -> None:
    """Tasks that fail at their first attempt, and a job that fails."""
    from pyspark import TaskContext

    def sometimes(partition: int, numbers: Any) -> Any:
        task = TaskContext.get()
        if partition == 1 and task is not None and task.attemptNumber() == 0:
            raise ValueError("<b>the first attempt</b> fails")
        return [sum(numbers)]

    def always(_: int, numbers: Any) -> Any:
        raise ValueError("every attempt fails")

    print(context.parallelize(range(400), 4).mapPartitionsWithIndex(sometimes).sum())
    try:
        context.parallelize(range(400), 4).mapPartitionsWithIndex(always).sum()
    except Exception as error:
        print("failed as it should:", type(error).__name__)


def speculation(context: Any) -> None:
    """A slow attempt of a task beside which Spark starts another one."""
    from pyspark import TaskContext

    def work(partition: int, numbers: Any) -> Any:
        task = TaskContext.get()
        time.sleep(6.0 if partition == 3 and task is not None and task.attemptNumber() == 0 else 0.2)
        return [sum(numbers)]

    print(context.parallelize(range(800), 8).mapPartitionsWithIndex(work).sum())


def killed_executor(context: Any) -> None:
    """An executor is killed between a shuffle's write and its second read."""
    pairs = context.parallelize(range(20_000), 6).map(lambda number: (number % 50, number)).groupByKey(4)
    print(pairs.count())
    found = subprocess.run(
        ["pgrep", "-f", f"CoarseGrainedExecutorBackend.*{context.applicationId}"], capture_output=True
    )
    os.kill(int(found.stdout.split()[0]), 9)
    time.sleep(3.0)
    print(pairs.mapValues(len).count())


def small_tasks(context: Any) -> None:
    """Six hundred tasks that do nothing."""
    print(context.parallelize(range(600), 600).count())


def one_partition(context: Any) -> None:
    """A long stage with a single task."""

    def work(numbers: Any) -> Any:
        time.sleep(2.0)
        return [sum(numbers)]

    print(context.parallelize(range(1000), 1).mapPartitions(work).sum())


def spill(context: Any) -> None:
    """A sort with less memory than its data."""
    session = _session()
    frame = session.range(0, 400_000, 1, 2).selectExpr("uuid() AS text", "id")
    print(frame.repartition(2).sortWithinPartitions("text").selectExpr("max(text)").collect())


def _session() -> Any:
    from pyspark.sql import SparkSession

    return SparkSession.builder.getOrCreate()


AQE_OFF = {"spark.sql.adaptive.enabled": "false", "spark.sql.shuffle.partitions": "8"}
NO_BROADCAST = {"spark.sql.autoBroadcastJoinThreshold": "-1"}
ZSTD = {"spark.eventLog.compress": "true", "spark.eventLog.compression.codec": "zstd"}
# Name of the log: program, master, settings.
PROGRAMS: dict[str, tuple[Callable[[Any], None], str, Settings]] = {
    "group-by": (group_by, CLUSTER, {}),
    "group-by-zstd": (group_by, LOCAL, ZSTD),
    "group-by-lz4": (group_by, LOCAL, ZSTD | {"spark.eventLog.compression.codec": "lz4"}),
    "group-by-snappy": (group_by, LOCAL, ZSTD | {"spark.eventLog.compression.codec": "snappy"}),
    "rolling": (
        small_tasks,
        LOCAL,
        ZSTD | {"spark.eventLog.rolling.enabled": "true", "spark.eventLog.rolling.maxFileSize": "10m"},
    ),
    "straggler": (straggler, CLUSTER, {}),
    "no-straggler": (no_straggler, CLUSTER, {}),
    "skew": (skew, CLUSTER, AQE_OFF | NO_BROADCAST),
    "sql": (sql, LOCAL, {"spark.sql.shuffle.partitions": "8"}),
    "sql-aqe-off": (sql, LOCAL, AQE_OFF),
    "eviction": (eviction, LOCAL, {"spark.driver.memory": "512m"}),
    "failures": (failures, CLUSTER, {"spark.task.maxFailures": "2"}),
    "speculation": (
        speculation,
        CLUSTER,
        {
            "spark.speculation": "true",
            "spark.speculation.interval": "200ms",
            "spark.speculation.quantile": "0.5",
            "spark.speculation.minTaskRuntime": "200ms",
        },
    ),
    "killed-executor": (killed_executor, CLUSTER, {}),
    "small-tasks": (small_tasks, LOCAL, {}),
    "one-partition": (one_partition, LOCAL, {}),
    "spill": (spill, LOCAL, AQE_OFF | {"spark.driver.memory": "512m", "spark.memory.fraction": "0.1"}),
}


def make(name: str, logs: Path) -> None:
    """Run one program; its log replaces the one in the folder."""
    from pyspark import SparkConf, SparkContext

    program, master, settings = PROGRAMS[name]
    with tempfile.TemporaryDirectory() as folder:
        configuration = SparkConf().setMaster(master).setAppName(name)
        base = {
            "spark.eventLog.enabled": "true",
            "spark.eventLog.dir": f"file://{folder}",
            "spark.eventLog.rolling.enabled": "false",
            "spark.eventLog.compress": "false",
            "spark.ui.enabled": "false",
            "spark.executor.memory": "512m",
        }
        for key, value in (base | settings).items():
            configuration.set(key, value)
        context = SparkContext(conf=configuration)
        try:
            program(context)
        finally:
            context.stop()
        (written,) = (entry for entry in Path(folder).iterdir() if not entry.name.startswith("."))
        _keep(written, logs, name)


def _keep(written: Path, logs: Path, name: str) -> None:
    """A folder, or a file that Spark has compressed, as it is; a plain file compressed here."""
    logs.mkdir(exist_ok=True)
    if written.is_dir():
        shutil.rmtree(logs / name, ignore_errors=True)
        shutil.copytree(written, logs / name, ignore=shutil.ignore_patterns(".*"))
    elif written.suffix:
        shutil.copyfile(written, logs / f"{name}{written.suffix}")
    else:
        # Without a time in the header: the same log gives the same bytes.
        text = written.read_bytes().replace(os.fsencode(_installed()), b"/opt/python/site-packages")
        (logs / f"{name}.gz").write_bytes(gzip.compress(text, 9, mtime=0))


def _installed() -> Path:
    """Where Spark is on the machine that makes the logs, which nobody wants to know."""
    import pyspark

    return Path(pyspark.__file__).resolve().parents[1]


def main() -> None:
    """Each program in a process of its own: a SparkContext's settings last as long as its JVM.

    In a folder of its own, and compiled under its bare name: the logs hold no path of this machine as folder or source file.
    """
    if sys.argv[1:2] == ["--one"]:
        make(sys.argv[2], Path(sys.argv[3]))
        return
    logs = Path(__file__).resolve().parent / "logs"
    start = "exec(compile(open('make_logs.py').read(), 'make_logs.py', 'exec'))"
    for name in sys.argv[1:] or PROGRAMS:
        with tempfile.TemporaryDirectory() as folder:
            shutil.copyfile(__file__, Path(folder) / "make_logs.py")
            command = [sys.executable, "-c", start, "--one", name, str(logs)]
            subprocess.run(command, check=True, cwd=folder)


if __name__ == "__main__":
    main()
