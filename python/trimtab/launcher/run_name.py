"""Names of runs. In containers each program is process 1, and several hosts may share a folder: so both are in a name."""

from __future__ import annotations

import os
import re
import secrets
import time
from pathlib import Path

_MOST_CHARACTERS = 64
_RANDOM_BYTES = 4


def new_name(program: str) -> str:
    """A name that no other run has: program, time, host, process, and a random part."""
    parts = (plain(Path(program).name), time.strftime("%Y%m%d-%H%M%S"), plain_host(), str(os.getpid()))
    return "-".join((*parts, secrets.token_hex(_RANDOM_BYTES)))


def job_name(identity: str) -> str:
    """The name of a job's run, which all its ranks find."""
    return f"job-{plain(identity)}"


def plain_host() -> str:
    """The first part of this host's name, for a file name."""
    return plain(os.uname().nodename.partition(".")[0])


def plain(text: str) -> str:
    """For a file name on any system: letters, digits and a few signs, not too long."""
    return re.sub(r"[^A-Za-z0-9._+-]", "_", text)[:_MOST_CHARACTERS].lstrip(".-") or "_"
