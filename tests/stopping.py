"""Commands that run a program, told to stop meanwhile."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

import pytest


def told_to_stop(command: Sequence[str], folder: Path, first: str = "true") -> str:
    """What `command` says when it gets SIGTERM while its program runs, which is ended by then.

    Args:
        command: to which the program is added: a shell's script.
        folder: where it runs.
        first: what the script does before it waits.
    """
    script = f"{first}; echo $$ > pid.part; mv pid.part pid; exec sleep 600"
    running = subprocess.Popen(
        [*command, "--", "sh", "-c", script], cwd=folder, stderr=subprocess.PIPE, text=True
    )
    while not (folder / "pid").exists():
        assert running.poll() is None
        time.sleep(0.01)
    running.send_signal(signal.SIGTERM)
    _, errors = running.communicate()
    assert running.returncode == 128 + signal.SIGTERM, errors
    with pytest.raises(ProcessLookupError):
        os.kill(int((folder / "pid").read_text()), 0)
    return errors
