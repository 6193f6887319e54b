"""Every header that the task runtime installs is reachable from `trimtab/tasks.hpp`."""

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
INCLUDE = ROOT / "rooms" / "tasks" / "include"


def test_tasks_hpp_includes_every_header() -> None:
    rooms = [ROOT / "rooms" / room / "include" for room in ("tasks", "base", "observe")]
    command = ["g++", "-std=c++20", "-MM", "-x", "c++", *(f"-I{path}" for path in rooms), "trimtab/tasks.hpp"]
    rule = subprocess.run(command, cwd=INCLUDE, capture_output=True, text=True, check=True).stdout
    included = {(INCLUDE / name).resolve() for name in rule.split() if name.endswith((".hpp", ".inc"))}
    # Only counters.cpp includes the table, which is data.
    headers = set(INCLUDE.rglob("*.hpp"))
    assert len(headers) > 40
    assert headers - included == set()
