"""Spark applications for the tests of pooled shuffle files, in turn in one JVM: `pooled_shuffle.py JSON`, a list of [check, settings].

The settings of the first one are those of the JVM: they hold for the others, which must set again what they want otherwise.
Prints one line of JSON: a list of answers.
"""

from __future__ import annotations

import json
import os
import signal
import struct
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

sys.path.insert(0, str(Path(__file__).parents[2] / "workloads" / "spark"))
import shuffles

NETWORK = ["group_by", "join", "tera_sort"]
WAIT_S = 60
SIZE = shuffles.SIZES["small"]


def wide(spark: SparkSession) -> dict[str, Any]:
    """40 x 200 partitions, all blocks read; opens of files since the JVM has started, by kind."""
    rows = spark.range(0, 40_000, 1, 40).repartition(200, "id")
    sums = rows.selectExpr("sum(id) AS total", "count(*) AS rows").first().asDict()
    counts = Path(os.environ["SLOW_OPENS_COUNTS"]).read_bytes()
    return {**sums, "opens": list(struct.unpack("4Q", counts))}


def programs(spark: SparkSession) -> dict[str, Any]:
    """All programs, then an executor is killed, then all shuffles are removed."""
    shuffles.run(spark, SIZE, list(shuffles.PROGRAMS))
    pooled = len(shuffle_descriptors())
    killed = kill_an_executor(spark)
    removed = remove_shuffles(spark)
    return {"descriptors": pooled, "executor_killed": killed, "all_closed_after_removal": removed}


def network(spark: SparkSession) -> dict[str, Any]:
    """Programs whose blocks are sent from one executor to the other one."""
    shuffles.run(spark, SIZE, NETWORK)
    return {"descriptors": len(shuffle_descriptors()), "all_closed_after_removal": remove_shuffles(spark)}


def held(spark: SparkSession) -> dict[str, Any]:
    """How many shuffle files stay open after a job."""
    shuffles.run(spark, SIZE, ["group_by"])
    return {"descriptors": len(shuffle_descriptors())}


def deleted(spark: SparkSession) -> dict[str, Any]:
    """A data file vanishes between two jobs that read it, so that its stage is run again."""
    pairs = spark.sparkContext.parallelize(range(2000), 6).map(lambda number: (number % 7, number))
    sums = pairs.reduceByKey(lambda one, two: one + two, 5)
    before = sorted(sums.collect())
    for path in data_files(spark):
        path.unlink()
    after = sorted(sums.collect())
    return {"same": before == after}


def kill_an_executor(spark: SparkSession) -> bool:
    """Map outputs are lost between two jobs: the second one must compute them again, with the same answer."""
    sums = (
        spark.sparkContext.parallelize(range(2000), 6)
        .map(lambda n: (n % 7, n))
        .reduceByKey(lambda a, b: a + b, 5)
    )
    before = sorted(sums.collect())
    os.kill(executors()[0], signal.SIGKILL)
    return before == sorted(sums.collect())


def executors() -> list[int]:
    """Processes of executors of this application, or the driver's JVM where it runs the tasks itself."""
    java = {process: command(process) for process in descendants(os.getpid())}
    found = [process for process, text in java.items() if "CoarseGrainedExecutorBackend" in text]
    return found or [process for process, text in java.items() if "SparkSubmit" in text]


def command(process: int) -> str:
    try:
        return Path(f"/proc/{process}/cmdline").read_text().replace("\0", " ")
    except OSError:
        return ""


def descendants(process: int) -> list[int]:
    """All processes below one."""
    parents: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents.setdefault(int(fields[1]), []).append(int(stat.parent.name))
    found, todo = [], [process]
    while todo:
        children = parents.get(todo.pop(), [])
        found += children
        todo += children
    return found


def shuffle_descriptors() -> list[str]:
    """Data files of shuffles that executors have open."""
    return [path for process in executors() for path in open_files(process) if "/shuffle_" in path]


def open_files(process: int) -> Iterator[str]:
    try:
        descriptors = list(Path(f"/proc/{process}/fd").iterdir())
    except OSError:
        return
    for descriptor in descriptors:
        try:
            yield os.readlink(descriptor)
        except OSError:
            continue


def data_files(spark: SparkSession) -> list[Path]:
    """Files of map outputs in the local directories of this application."""
    folder = Path(spark.conf.get("spark.local.dir"))
    return list(folder.glob("blockmgr-*/*/shuffle_*.data"))


def remove_shuffles(spark: SparkSession) -> bool:
    """What Spark's cleaner does when nothing refers to a shuffle any more; whether executors then have no file of one open."""
    cleaner = spark._jsc.sc().cleaner().get()
    for path in shuffle_descriptors():
        cleaner.doCleanupShuffle(int(Path(path).name.split("_")[1]), True)
    return wait_for(lambda: not shuffle_descriptors())


def wait_for(condition: Any) -> bool:
    deadline = time.monotonic() + WAIT_S
    while not (holds := condition()) and time.monotonic() < deadline:
        time.sleep(0.05)
    return bool(holds)


CHECKS = {check.__name__: check for check in (wide, programs, network, held, deleted)}


def application(check: str, settings: dict[str, str]) -> dict[str, Any]:
    """One application, from its start to its end."""
    builder = SparkSession.builder.config("spark.ui.enabled", "false")
    builder = builder.config("spark.sql.shuffle.partitions", str(SIZE.reduces))
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.addPyFile(shuffles.__file__)
    try:
        return CHECKS[check](spark)
    finally:
        spark.stop()


def main() -> None:
    print(json.dumps([application(check, settings) for check, settings in json.loads(sys.argv[1])]))


if __name__ == "__main__":
    main()
