"""Ten million events: reported in under 5 s of CPU time and 1 GB."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
from synthetic import LaneFile, ProcessFiles, S, file_header, subject, team_of, write_run
from trimtab.model.enumerations import EventKind, FileKind
from trimtab.readers import layout

EVENTS = 10_000_000
LANES = 16
REGIONS = 200
PARTS = np.array([EventKind.WORK_BEGIN, EventKind.LOOP, EventKind.WAIT, EventKind.WORK_END])
MEASURE = """
import json, sys, time
from pathlib import Path
from trimtab.analysis import build
from trimtab.readers import open_run
report = build(open_run(sys.argv[1]))
# Not of getrusage: that knows the memory of the process that forked this one, too.
peak_kb = int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0])
inside = sum(sum(each.lanes) for each in report.timeline.series) * report.timeline.dt_s
print(json.dumps([time.process_time(), peak_kb * 1024, report.overhead.events, inside]))
"""


def write_lane(path: Path, lane: int) -> None:
    """Parts in regions of 3/4 of the time, with a loop and a wait in each."""
    count = EVENTS // LANES
    at = np.arange(count)
    instance = at // 4
    events = np.zeros(count, layout.EVENT)
    events["ticks"] = (instance + np.array([0.0, 0.0, 0.5, 0.75])[at % 4]) * (10.0 * S * 4 / count)
    events["subject"] = 1 + instance % REGIONS
    events["kind"] = PARTS[at % 4]
    events["a"] = np.where(events["kind"] == EventKind.WAIT, 100, instance + 1)
    events["b"] = instance + 1
    head = path.read_bytes()[64:4096]
    with path.open("wb") as stream:
        stream.write(file_header(FileKind.EVENTS, layout.EVENT.itemsize, count, count) + head)
        events.tofile(stream)


def test_ten_million_events(tmp_path: Path) -> None:
    lanes = [LaneFile(run_s=5.0) for _ in range(LANES)]
    for number in range(1, REGIONS + 1):
        lanes[0].rows += team_of(number, 0.05, [0.05] * LANES, calls=1000)
    names = [subject(number, name=f"region {number}") for number in range(1, REGIONS + 1)]
    run = write_run(tmp_path / "run", ProcessFiles(lanes, names, parallel=10.0, cpus=float(LANES)))
    for lane in range(LANES):
        write_lane(run / "100-0" / f"lane-{lane:04}.events", lane)
    completed = subprocess.run(
        [sys.executable, "-c", MEASURE, str(run)], capture_output=True, text=True, check=True, timeout=120
    )
    seconds, memory, events, inner = json.loads(completed.stdout)
    assert events == EVENTS
    assert abs(inner - 0.75 * 10 * LANES) < 0.1
    assert seconds < 5, f"{seconds:.1f} s"
    assert memory < 1e9, f"{memory / 1e6:.0f} MB"
