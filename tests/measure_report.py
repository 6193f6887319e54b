"""What a report costs: `python tests/measure_report.py RUN [--json | --html FILE]` prints events, CPU time and peak memory.

Not a test: a machine that is busy with something else says little.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from trimtab.readers import open_run


def main(run: Path, options: list[str]) -> None:
    """Of `trimtab report RUN` with these options, user and system time of the whole process."""
    events = sum(len(lane.events) for process in open_run(run).processes for lane in process.lanes)
    command = [sys.executable, "-m", "trimtab", "report", *options, str(run)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as reporting:
        _, status, usage = os.wait4(reporting.pid, 0)
        reporting.returncode = os.waitstatus_to_exitcode(status)
    assert reporting.returncode == 0, f"trimtab report ended with {reporting.returncode}"
    seconds = usage.ru_utime + usage.ru_stime
    print(
        f"{events / 1e6:.1f} million events: {seconds:.1f} s of CPU time ({seconds / max(events, 1) * 1e6:.2f} us an event), "
        f"{usage.ru_maxrss / 1e6:.2f} GB"
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
