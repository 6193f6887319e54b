"""A cluster without Slurm: sbatch, squeue, sacct, scancel and scontrol that run jobs here, each on a node of its own name.

A folder holds the state: `nodes` has a line for each node (NAME, or NAME broken: a job there ends at once), `jobs` a file for
each job. Whoever calls a command also starts waiting jobs whose node has become free.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

COMMANDS = ("sbatch", "srun", "squeue", "sacct", "scancel", "scontrol")
_STATE = "FAKE_SLURM"


class FakeSlurm:
    """The cluster as a test uses it."""

    def __init__(self, folder: Path, *nodes: str) -> None:
        self.folder, self.commands = folder, folder / "bin"
        (folder / "jobs").mkdir(parents=True)
        self.commands.mkdir()
        self.set_nodes(*nodes)
        for name in COMMANDS:
            script = self.commands / name
            script.write_text(f"#!/bin/sh\nexec '{sys.executable}' '{Path(__file__)}' {name} \"$@\"\n")
            script.chmod(0o755)

    def environment(self) -> dict[str, str]:
        """With its commands in PATH, before those of a real Slurm."""
        return {
            **os.environ,
            "PATH": f"{self.commands}:{os.environ['PATH']}",
            _STATE: str(self.folder),
        }

    def set_nodes(self, *nodes: str) -> None:
        (self.folder / "nodes").write_text("".join(f"{node}\n" for node in nodes))

    def jobs(self) -> list[dict[str, Any]]:
        """All that were submitted, in their order."""
        files = sorted((self.folder / "jobs").glob("*.json"), key=lambda path: int(path.stem))
        return [json.loads(path.read_text()) for path in files]

    def options(self) -> list[dict[str, str]]:
        """What each job was submitted with."""
        return [job["options"] for job in self.jobs()]

    def call(self, *command: str) -> None:
        subprocess.run(command, env=self.environment(), check=True, stdout=subprocess.DEVNULL)

    def end_jobs(self) -> None:
        """Nothing of a test is to outlive it. A job that is told to end also ends the program that it runs."""
        for job in self.jobs():
            if job["state"] == "RUNNING" and _is_alive(job["pid"]):
                os.killpg(job["pid"], signal.SIGTERM)


def _is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


class _State:
    """The jobs, while the lock is held."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        files = sorted((folder / "jobs").glob("*.json"), key=lambda path: int(path.stem))
        self.jobs: dict[str, dict[str, Any]] = {path.stem: json.loads(path.read_text()) for path in files}
        self.nodes = dict(
            (*line.split(), "")[:2] for line in (folder / "nodes").read_text().splitlines() if line
        )

    def save(self) -> None:
        for number, job in self.jobs.items():
            part = self.folder / "jobs" / f"{number}.part"
            part.write_text(json.dumps(job))
            part.rename(part.with_suffix(".json"))

    def schedule(self) -> None:
        for job in self.jobs.values():
            if job["state"] == "RUNNING" and not _is_alive(job["pid"]):
                job["state"] = "COMPLETED"
        for number, job in self.jobs.items():
            if job["state"] == "PENDING":
                self._start(number, job)

    def _start(self, number: str, job: dict[str, Any]) -> None:
        busy = {other["node"] for other in self.jobs.values() if other["state"] == "RUNNING"}
        excluded = {*busy, *job["options"].get("exclude", "").split(",")}
        wanted = job["options"].get("nodelist")
        free = [node for node in self.nodes if node not in excluded and wanted in (None, node)]
        if not free:
            return
        job["node"] = free[0]
        if self.nodes[free[0]] == "broken":
            job["state"] = "NODE_FAIL"
            return
        options = {key: value.replace("%j", number) for key, value in job["options"].items()}
        with open(options["output"], "ab") as output, open(options["error"], "ab") as errors:
            process = subprocess.Popen(
                ["bash", job["script"]],
                cwd=options["chdir"],
                env={**os.environ, "SLURM_JOB_ID": number, "SLURMD_NODENAME": free[0]},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=errors,
                start_new_session=True,
            )
        job |= {"pid": process.pid, "state": "RUNNING"}


@contextmanager
def _state() -> Iterator[_State]:
    folder = Path(os.environ[_STATE])
    # Jobs do not inherit the lock: Python's descriptors are closed on exec.
    with open(folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        state = _State(folder)
        state.schedule()
        yield state
        state.schedule()
        state.save()


def sbatch(script: str) -> int:
    text = Path(script).read_text()
    options = {}
    for line in re.findall(r"^#SBATCH (.*)$", text, re.MULTILINE):
        name, _, value = shlex.split(line)[0].removeprefix("--").partition("=")
        options[name] = value
    if options.get("partition") == "nowhere":
        print("sbatch: error: Batch job submission failed: Invalid partition name specified", file=sys.stderr)
        return 1
    with _state() as state:
        number = str(len(state.jobs) + 1)
        # Slurm keeps a copy: submitit moves the file.
        copy = state.folder / f"{number}.sh"
        copy.write_text(text)
        state.jobs[number] = {
            "options": options,
            "script": str(copy),
            "state": "PENDING",
            "node": "",
            "pid": 0,
        }
    print(f"Submitted batch job {number}")
    return 0


def squeue(*_: str) -> int:
    with _state() as state:
        for number, job in state.jobs.items():
            if job["state"] in ("PENDING", "RUNNING"):
                print(f"{number}|{job['state']}|{job['node']}|None")
    return 0


def sacct(*options: str) -> int:
    (number,) = (option.partition("=")[2] for option in options if option.startswith("--jobs="))
    with _state() as state:
        print(f"{state.jobs[number]['state']}|{state.jobs[number]['node']}")
    return 0


def scancel(*arguments: str) -> int:
    *options, number = arguments
    with _state() as state:
        job = state.jobs[number]
        name = options[0].partition("=")[2] if options else "SIGTERM"
        if job["state"] == "RUNNING":
            os.kill(job["pid"], signal.Signals[name])
        job["state"] = "TIMEOUT" if name == "SIGUSR2" else "CANCELLED"
    return 0


def scontrol(*arguments: str) -> int:
    """show hostnames n[1,3]"""
    prefix, _, numbers = arguments[-1].rstrip("]").partition("[")
    print(*(f"{prefix}{number}" for number in numbers.split(",")), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(globals()[sys.argv[1]](*sys.argv[2:]))
