"""What the operating system saw of a program, in one line."""

from __future__ import annotations

from trimtab.counted import counted
from trimtab.model.report import Report
from trimtab.text.units import seconds


def system_line(report: Report) -> str:
    """CPU time, and what else is known; what is not known is left out, for that is not 0."""
    os = report.os
    cpu = f"{seconds(os.cpu_s)} of CPU time"
    if report.wall_s:
        cpu += f" ({os.cpu_s / report.wall_s:.2f} CPUs on average)"
    parts = [cpu]
    if os.run_delay_s is not None:
        parts.append(f"{seconds(os.run_delay_s)} of run delay")
    if os.switches_voluntary is not None:
        parts.append(
            f"{os.switches_voluntary} voluntary and {os.switches_involuntary} involuntary context switches"
        )
    for count, noun in ((os.preemptions, "preemption"), (os.migrations, "migration")):
        if count is not None:
            parts.append(counted(count, noun))
    return "operating system: " + ", ".join(parts)
