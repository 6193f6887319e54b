"""The launcher's own perf event, which spares the program the wait for the first one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from trimtab.launcher import perf_events

PARANOID = Path("/proc/sys/kernel/perf_event_paranoid")
LIST = "import os; print([os.readlink(f'/proc/self/fd/{each}') for each in os.listdir('/proc/self/fd') if os.path.exists(f'/proc/self/fd/{each}')])"


def events_of_this_process() -> list[str]:
    result = []
    for path in Path("/proc/self/fd").iterdir():
        try:
            result.append(os.readlink(path))
        except FileNotFoundError:
            continue  # that of the listing
    return [entry for entry in result if "perf_event" in entry]


@pytest.mark.skipif(
    os.geteuid() != 0 and int(PARANOID.read_text()) > 2, reason="perf events of one's own are forbidden here"
)
def test_one_event_is_held_and_not_passed_on() -> None:
    with perf_events.perf_events_kept_ready():
        assert len(events_of_this_process()) == 1
        child = subprocess.run(
            [sys.executable, "-c", LIST], close_fds=False, capture_output=True, text=True, check=True
        )
        assert "perf_event" not in child.stdout
    assert events_of_this_process() == []


@pytest.mark.parametrize("calls", [{}, {os.uname().machine: 1_000_000}], ids=["unknown machine", "refused"])
def test_nothing_is_held_where_it_cannot_be_had(
    monkeypatch: pytest.MonkeyPatch, calls: dict[str, int]
) -> None:
    monkeypatch.setattr(perf_events, "_SYSTEM_CALL", calls)
    with perf_events.perf_events_kept_ready():
        assert events_of_this_process() == []
