"""Jobs whose tasks sleep, one of them for long when it is tried first, or (slow) its copies, too: `slow_tasks.py MASTER JOBS LONG_S fast|slow FOLDER`.

Prints one line of JSON: seconds of each job.
"""

from __future__ import annotations

import json
import sys
import time

from pyspark import SparkConf, SparkContext, TaskContext

TASKS, SHORT_S = 8, 0.2
WAIT_S = 240


def sleeping(index: int, long_s: float, is_copy_slow: bool) -> int:
    """One task: the first of a job sleeps long when it is tried first, or always."""
    task = TaskContext.get()
    assert task is not None
    is_long = index == 0 and (is_copy_slow or task.attemptNumber() == 0)
    time.sleep(long_s if is_long else SHORT_S)
    return index


def main() -> None:
    master, jobs, long_s, is_copy_slow, folder = (
        sys.argv[1],
        int(sys.argv[2]),
        float(sys.argv[3]),
        sys.argv[4] == "slow",
        sys.argv[5],
    )
    conf = SparkConf().setMaster(master).setAppName("slow tasks")
    for name, value in {
        "spark.ui.enabled": "false",
        "spark.executor.memory": "512m",
        "spark.executor.cores": "1",
        "spark.local.dir": folder,
        "spark.driver.host": "127.0.0.1",
        "spark.scheduler.minRegisteredResourcesRatio": "1.0",
        "spark.scheduler.maxRegisteredResourcesWaitingTime": f"{WAIT_S}s",
        "spark.cores.max": "2",
        # A copied task that has lost is ended at once.
        "spark.python.task.killTimeout": "100ms",
    }.items():
        conf.set(name, value)
    context = SparkContext(conf=conf)
    context.parallelize(range(TASKS), TASKS).map(lambda index: sleeping(index + 1, 0, False)).collect()
    seconds = []
    for _ in range(jobs):
        begin = time.monotonic()
        answer = (
            context.parallelize(range(TASKS), TASKS)
            .map(lambda i: sleeping(i, long_s, is_copy_slow))
            .collect()
        )
        seconds.append(round(time.monotonic() - begin, 3))
        assert answer == list(range(TASKS))
    context.stop()
    print(json.dumps(seconds))


if __name__ == "__main__":
    main()
