"""One Spark job of many short tasks, without Python workers: `many_tasks.py TASKS FOLDER`; prints its seconds, and the JVM's CPU seconds."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from pyspark import SparkConf, SparkContext


def cpu_seconds(process: int) -> float:
    """Of all threads of a process since it began."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    tasks, folder = int(sys.argv[1]), sys.argv[2]
    conf = SparkConf().setMaster("local[2]").setAppName("many tasks")
    for name, value in {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.local.dir": folder,
    }.items():
        conf.set(name, value)
    context = SparkContext(conf=conf)
    scala = context._jsc.sc()
    # Compiles what a task needs.
    scala.range(0, 2000, 1, 2000).toJavaRDD().count()
    assert context._jvm is not None
    process = context._jvm.java.lang.ProcessHandle.current().pid()
    begin, cpu_s = time.monotonic(), cpu_seconds(process)
    if scala.range(0, tasks, 1, tasks).toJavaRDD().count() != tasks:
        sys.exit("the job has a wrong answer")
    print(round(time.monotonic() - begin, 3), round(cpu_seconds(process) - cpu_s, 3))
    context.stop()


if __name__ == "__main__":
    main()
