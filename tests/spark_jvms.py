"""JVMs of Spark for tests: options that let them start with half of the CPU time, and a standalone cluster with two workers."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

# For java, not for javac. Code that runs for seconds is not worth the second compiler, nor several threads of a collector.
QUICK_JAVA = {"JDK_JAVA_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}
HOSTS = ("127.0.0.2", "127.0.0.3")
_WAIT_S = 240


def spark_folder() -> Path:
    """Of the installed pyspark."""
    spec = importlib.util.find_spec("pyspark")
    assert spec is not None and spec.origin is not None
    return Path(spec.origin).parent


@contextlib.contextmanager
def spark_cluster(folder: Path) -> Iterator[str]:
    """The address of a master with workers that pass for two hosts, of two cores each; all are ended with the context.

    Spark copies a slow task only to another host.
    """
    log = folder / "master.log"
    options = ["--host", HOSTS[0], "--port", "0", "--webui-port", "0"]
    processes = [_start("master.Master", options, log, folder)]
    try:
        address = _wait_for(log, processes[0], _address)
        for host in HOSTS:
            options = ["--host", host, "--cores", "2", "--memory", "1200m", "--webui-port", "0", address]
            processes.append(_start("worker.Worker", options, folder / f"{host}.log", folder))
        _wait_for(log, processes[0], _both_workers)
        yield address
    finally:
        for process in processes:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
        for process in processes:
            process.wait(60)


def _start(name: str, options: list[str], log: Path, folder: Path) -> subprocess.Popen[bytes]:
    home = spark_folder()
    environment = {
        **os.environ,
        **QUICK_JAVA,
        "SPARK_HOME": str(home),
        "SPARK_DAEMON_MEMORY": "128m",
        "SPARK_WORKER_DIR": str(folder / "work"),
    }
    command = [str(home / "bin" / "spark-class"), f"org.apache.spark.deploy.{name}", *options]
    with log.open("wb") as file:
        return subprocess.Popen(
            command, stdout=file, stderr=subprocess.STDOUT, env=environment, start_new_session=True
        )


def _wait_for(log: Path, master: subprocess.Popen[bytes], find: Callable[[str], str]) -> str:
    """What `find` finds in the log of the master."""
    deadline = time.monotonic() + _WAIT_S
    while time.monotonic() < deadline and master.poll() is None:
        if result := find(log.read_text()):
            return result
        time.sleep(0.1)
    raise AssertionError(f"no cluster was started: {log.read_text()[-2000:]}")


def _address(text: str) -> str:
    rest = text.partition("Starting Spark master at ")[2]
    return rest.split()[0] if "\n" in rest else ""


def _both_workers(text: str) -> str:
    return "both" if text.count("Registering worker") == len(HOSTS) else ""
