"""Python programs: threads of their libraries, and processes that they fork."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import finished
from msgspec.structs import replace
from trimtab.analysis import build
from trimtab.analysis.limit import limit_of
from trimtab.analysis.other_threads import other_threads
from trimtab.readers import open_run
from trimtab.tuning.start_situation import Situation
from trimtab.tuning.start_sources import proposed_starts

BUSY_S = 0.5
BUSY = f"""
import time
def busy(_):
    until = time.process_time() + {BUSY_S}
    while time.process_time() < until: pass
"""
# Its pool ends its processes by a signal: they leave no record.
PROCESSES = (
    BUSY
    + """
from multiprocessing import get_context
with get_context("fork").Pool(2) as pool:
    pool.map(busy, range(2), 1)
print("done")
"""
)
# A checksum lets go of Python's own lock.
THREADS = """
import threading, time, zlib
data = bytes(20_000_000)
def work():
    until = time.thread_time() + 0.3
    while time.thread_time() < until: zlib.crc32(data)
threads = [threading.Thread(target=work) for _ in range(2)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print("done")
"""


@pytest.fixture
def recorded(trimtab: str, tmp_path: Path) -> Any:
    def run(text: str) -> tuple[Any, Any]:
        script = tmp_path / "program.py"
        script.write_text(text)
        directory = tmp_path / "run"
        command = [trimtab, "run", "--tune=off", "-o", str(directory), "--", sys.executable, str(script)]
        completed = finished(command)
        assert completed.returncode == 0, completed.stderr
        assert completed.stdout == "done\n"
        return build(open_run(directory)), completed

    return run


def test_cpu_time_of_forked_processes_is_work(recorded: Any) -> None:
    report, completed = recorded(PROCESSES)
    assert report.os.cpu_s >= 2 * BUSY_S
    assert report.time["work"] * report.capacity_s >= 1.5 * BUSY_S
    assert "other processes used " in completed.stderr and "left no record" in completed.stderr


def test_threads_of_python_are_no_serial_part(recorded: Any) -> None:
    report, completed = recorded(THREADS)
    others = other_threads(report)
    assert others is not None and others.cpu_s - others.first_s >= 0.5
    assert "several threads, none in a region" in completed.stderr
    assert report.time["serial"] == 0.0
    assert "serial" not in limit_of(report)


def test_processes_without_a_record_count_for_the_threads_of_libraries(recorded: Any) -> None:
    """As if the two had had a CPU each, whatever else this machine does now."""
    report, _ = recorded(PROCESSES)
    quick = replace(report, observed_s=report.os.cpu_s / 2)
    starts = [start.text for start in proposed_starts(Situation(quick, {}, 2.0))]
    assert any("OPENBLAS_NUM_THREADS=1" in text for text in starts), json.dumps(starts)
