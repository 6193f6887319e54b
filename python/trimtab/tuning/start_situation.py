"""What a source of start values may look at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from trimtab.machine_files import Machine
from trimtab.model.enumerations import BlameCause, Cause
from trimtab.model.report import Finding, Report

# The reason of what is tried although nothing speaks for it.
WIDE = "with --wide it is tried without evidence"


@dataclass(frozen=True)
class Situation:
    """A run that was observed, and the machine.

    Attributes:
        report: of the run.
        environment: the user's: what is set there is left.
        cpus: that the program may use, quota included.
        machine: where /sys is read.
        is_wide: try also what nothing speaks for.
        may_preload: the user agrees to another allocator.
        loader_cache: what `ldconfig -p` prints.
        command: that starts the program.
        fewer: of a run with half the threads; None: there was none.
    """

    report: Report
    environment: Mapping[str, str]
    cpus: float
    machine: Machine = field(default_factory=Machine)
    is_wide: bool = False
    may_preload: bool = False
    loader_cache: str = ""
    command: tuple[str, ...] = ()
    fewer: Report | None = None

    def is_open(self, *names: str) -> bool:
        """Whether the user has set none of these variables."""
        return not set(names) & self.environment.keys()

    def share(self, name: str) -> float:
        """Of the core time, by the name that the report has for it."""
        return (self.report.time or {}).get(name, 0.0)

    def finding_of(self, *causes: Cause) -> Finding | None:
        """The first finding of one of these causes; the largest gain comes first."""
        return next((finding for finding in self.report.findings if finding.cause in causes), None)

    def blamed_share(self, cause: BlameCause) -> float:
        """Share of the core time that is charged to it."""
        return sum(blamed.share for blamed in self.report.blame if blamed.cause == cause)
