"""What tests of `trimtab sweep` share: a subject to run, and experiment files over it."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

# Prints figures that its arguments decide, and does what it is told besides.
SUBJECT = """
import os, sys, time
given = dict(each.split("=", 1) for each in sys.argv[1:])
with open("ran.txt", "a") as log:
    log.write(" ".join(sys.argv[1:]) + "\\n")
grain, mode = int(given.get("grain", 1)), given.get("mode", "")
if mode == "fail":
    print("warning", "it broke", sep="\\n", file=sys.stderr)
    sys.exit(3)
if mode == "hang":
    time.sleep(600)
if mode == "crash":
    os.kill(os.getpid(), 6)
print(f"time={1.0 / grain + grain} s idle_rate={0.5 / grain} note=none")
print("wrong" if mode == "wrong" else "answer 42")
"""
FILE = """
name = "tiny"
command = [{python}, "subject.py", "grain={{grain}}", "mode={{mode}}"]
samples = 3
disturbed_above = 1.0
expect = "answer \\\\d+"
[factors]
grain = {{range = "log2", from = 1, to = 8}}
mode = ["a", "b"]
[metrics]
time = {{title = "execution time", unit = "s"}}
idle_rate = {{unit = ""}}
misses = {{required = false}}
[derived]
overhead = "idle_rate * time"
"""


def write(folder: Path, overrides: str = "", **replaced: str) -> Path:
    """A subject and an experiment file in `folder`; `replaced` exchanges the lines of top-level keys."""
    (folder / "subject.py").write_text(SUBJECT)
    lines = FILE.format(python=f'"{sys.executable}"').splitlines()
    for key, text in replaced.items():
        if any(line.startswith(f"{key} = ") for line in lines):
            lines = [f"{key} = {text}" if line.startswith(f"{key} = ") else line for line in lines]
        else:
            lines.insert(1, f"{key} = {text}")
    path = folder / "tiny.toml"
    path.write_text("\n".join([*lines, overrides]) + "\n")
    return path


def ran(folder: Path) -> list[str]:
    """The arguments of each run of the subject, in order."""
    log = folder / "ran.txt"
    return log.read_text().splitlines() if log.exists() else []


def until(holds: Callable[[], bool]) -> None:
    """Waits for what another process does."""
    end = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end, "it did not happen within a minute"
        time.sleep(0.01)
