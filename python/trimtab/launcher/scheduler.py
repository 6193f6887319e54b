"""The recorder of the operating system's scheduler, in a process of its own beside the program's."""

from __future__ import annotations

import os
import select
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from trimtab.launcher.run_name import plain_host
from trimtab.paths import scheduler_recorder

WHAT = "the operating system's scheduler (--kernel)"
_ADDS = "who had the CPUs while the program waited for one, wake-up latency, and what else ran"
_REMEDY = (
    f"it would say {_ADDS}: run as root, or with CAP_PERFMON and a readable /sys/kernel/tracing "
    "(`mount -t tracefs tracefs /sys/kernel/tracing`)"
)
# Opening the rings of very many CPUs takes a while; the program waits for it.
_START_S = 10.0
# It counts and writes what is left.
_END_S = 30.0


@contextmanager
def scheduler_beside(directory: Path, event_bytes: int, unavailable: list[dict[str, str]]) -> Iterator[None]:
    """Record the scheduler of this host into the run `directory` while this is open; one launcher of a job does it for all.

    That it cannot be recorded is no reason not to run the program: why is added to `unavailable`.

    Args:
        event_bytes: room for every event of a trace; 0: they are only counted.
    """
    recorder = None
    try:
        recorder = _started(directory, event_bytes)
        problem = _answer(recorder)
    except OSError as error:
        problem = f"{scheduler_recorder()}: {error.strerror}"
    if problem not in ("ready", "elsewhere"):
        unavailable.append({"what": WHAT, "why": problem, "remedy": _REMEDY})
    try:
        yield
    finally:
        if recorder is not None:
            lost = _end(recorder)
            if problem == "ready" and lost:
                remedy = "the rest of the report stays as it is"
                unavailable.append({"what": WHAT, "why": lost, "remedy": remedy})


def _started(directory: Path, event_bytes: int) -> subprocess.Popen[str]:
    folder = directory / f"{plain_host()}.scheduler"
    command = [
        str(scheduler_recorder()),
        str(folder),
        str(os.getpid()),
        os.uname().nodename,
    ]
    if event_bytes:
        command += ["--events", str(event_bytes)]
    return subprocess.Popen(
        command,
        # It ends when this is closed: also if we are killed.
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={"PATH": os.environ.get("PATH", "")},
        # What the terminal sends is for the program.
        start_new_session=True,
    )


def _answer(recorder: subprocess.Popen[str]) -> str:
    """Its first line."""
    assert recorder.stdout is not None
    readable, _, _ = select.select([recorder.stdout], [], [], _START_S)
    if not readable:
        recorder.kill()
        return f"the recorder was not ready after {_START_S:g} s"
    return recorder.stdout.readline().strip() or "the recorder ended without a word"


def _end(recorder: subprocess.Popen[str]) -> str:
    """What it could not write; empty: nothing."""
    try:
        rest, _ = recorder.communicate(timeout=_END_S)
    except subprocess.TimeoutExpired:
        recorder.kill()
        recorder.communicate()
        return (
            f"the recorder had not ended after {_END_S:g} s: what it has seen of the last second is missing"
        )
    if recorder.returncode == 0:
        return ""
    return (
        rest.strip()
        or f"the recorder ended early (status {recorder.returncode}): what came after that is missing"
    )
