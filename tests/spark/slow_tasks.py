"""Jobs whose tasks sleep, one of them for long when it is tried first, or (slow) its copies, too: `slow_tasks.py JOBS LONG_S fast|slow FOLDER`.

Starts a cluster of its own: two workers that pass for two hosts, since Spark copies a task only to another host.
Prints one line of JSON: seconds of each job, and its answer.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pyspark
from pyspark import SparkConf, SparkContext, TaskContext

HOME = Path(pyspark.__file__).parent
TASKS, SHORT_S = 8, 0.2
HOSTS = ("127.0.0.2", "127.0.0.3")
WAIT_S = 240


@contextlib.contextmanager
def cluster(folder: Path) -> Iterator[str]:
    """The address of a master with a worker on each host; all are ended with the context."""
    environment = {
        **os.environ,
        "SPARK_HOME": str(HOME),
        "SPARK_DAEMON_MEMORY": "128m",
        "SPARK_WORKER_DIR": str(folder),
    }
    log = folder / "master.log"
    processes = [
        start("master.Master", ["--host", HOSTS[0], "--port", "0", "--webui-port", "0"], log, environment)
    ]
    try:
        master = address(log, processes[0])
        for host in HOSTS:
            options = ["--host", host, "--cores", "1", "--memory", "600m", "--webui-port", "0", master]
            processes.append(start("worker.Worker", options, folder / f"{host}.log", environment))
        yield master
    finally:
        for process in processes:
            os.killpg(process.pid, signal.SIGTERM)
        for process in processes:
            process.wait(60)


def start(name: str, options: list[str], log: Path, environment: dict[str, str]) -> subprocess.Popen[bytes]:
    command = [str(HOME / "bin" / "spark-class"), f"org.apache.spark.deploy.{name}", *options]
    with log.open("wb") as file:
        return subprocess.Popen(
            command, stdout=file, stderr=subprocess.STDOUT, env=environment, start_new_session=True
        )


def address(log: Path, master: subprocess.Popen[bytes]) -> str:
    """What the master says in its log."""
    deadline = time.monotonic() + WAIT_S
    while time.monotonic() < deadline and master.poll() is None:
        _, is_said, rest = log.read_text().partition("Starting Spark master at ")
        if is_said and "\n" in rest:
            return rest.split()[0]
        time.sleep(0.1)
    raise SystemExit(f"no master was started: {log.read_text()[-2000:]}")


def sleeping(index: int, long_s: float, is_copy_slow: bool) -> int:
    """One task: the first of a job sleeps long when it is tried first, or always."""
    task = TaskContext.get()
    assert task is not None
    is_long = index == 0 and (is_copy_slow or task.attemptNumber() == 0)
    time.sleep(long_s if is_long else SHORT_S)
    return index


def main() -> None:
    jobs, long_s, is_copy_slow, folder = (
        int(sys.argv[1]),
        float(sys.argv[2]),
        sys.argv[3] == "slow",
        Path(sys.argv[4]),
    )
    with cluster(folder) as master:
        conf = SparkConf().setMaster(master).setAppName("slow tasks")
        for name, value in {
            "spark.ui.enabled": "false",
            "spark.executor.memory": "512m",
            "spark.local.dir": str(folder),
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
