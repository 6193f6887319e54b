"""What a report of a run of tasks needs grows with its events: told by memory, since times depend on the machine."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from synthetic import LaneFile, ProcessFiles, event, subject, write_run
from trimtab.model.enumerations import EventKind, RecordLevel, SubjectKind, WaitCause, WorkerState

KIND, RUNTIME = 1, 2
STEP = 1000
SIZES = (5_000, 20_000)
WORKERS = 2
# In a process of its own: what this one has imported and kept says nothing.
MEASURE = """
import sys, tracemalloc
from trimtab.analysis import build
from trimtab.readers import open_run
build(open_run(sys.argv[2]))
tracemalloc.start()
report = build(open_run(sys.argv[1]))
print(tracemalloc.get_traced_memory()[1], sum(times.count for times in report.task_times), len(report.what_if))
"""


def run_of(folder: Path, tasks: int) -> Path:
    """Each task gives the one after the next what it waits for; two workers take turns."""
    lanes: list[list[bytes]] = [
        [event(0, EventKind.WORKER_STATE, RUNTIME, lane, arg=WorkerState.RUNS)] for lane in range(WORKERS)
    ]
    for number in range(1, tasks + 1):
        own, begin = lanes[number % WORKERS], number // WORKERS * STEP + 100
        giver = max(number - WORKERS, 0)
        own.append(event(begin - 40, EventKind.TASK_CREATED, KIND, number, giver))
        if giver:
            own.append(event(begin - 30, EventKind.EDGE, KIND, giver, number, arg=WaitCause.FUTURE))
        own.append(event(begin - 20, EventKind.TASK_READY, KIND, number, giver))
        own.append(event(begin, EventKind.TASK_BEGIN, KIND, number))
        own.append(event(begin + STEP - 200, EventKind.TASK_END, KIND, number))
    workers = [LaneFile(events=events) for events in lanes]
    for worker in workers:
        worker.worker_of = RUNTIME
    names = [
        subject(KIND, kind=SubjectKind.TASK, name="kind"),
        subject(RUNTIME, kind=SubjectKind.WORKERS, name="runtime 1"),
    ]
    process = ProcessFiles(workers, names, wall=10.0, level=RecordLevel.TRACE, cpus=float(WORKERS))
    return write_run(folder / f"run-{tasks}", process)


def test_memory_grows_with_events(tmp_path: Path) -> None:
    small = run_of(tmp_path, 10)
    peaks = []
    for tasks in SIZES:
        command = [sys.executable, "-c", MEASURE, str(run_of(tmp_path, tasks)), str(small)]
        completed = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
        peak, counted, predicted = map(int, completed.stdout.split())
        assert counted == tasks and predicted > 0
        peaks.append(peak)
    growth = SIZES[1] / SIZES[0]
    assert peaks[1] < 1.3 * growth * peaks[0], peaks
    # Of an event of 32 bytes; five of them a task.
    assert (peaks[1] - peaks[0]) / (5 * (SIZES[1] - SIZES[0])) < 400, peaks
