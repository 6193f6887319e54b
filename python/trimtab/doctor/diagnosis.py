"""All that trimtab doctor finds."""

from __future__ import annotations

import os
from dataclasses import dataclass

from trimtab.doctor import processors, runtimes, sources, trial
from trimtab.doctor.check import Check
from trimtab.machine_files import Machine


@dataclass(frozen=True)
class Diagnosis:
    """All checks; `observes` is False when no program can be observed here."""

    checks: list[Check]
    runtimes: list[runtimes.Runtime]

    @property
    def observes(self) -> bool:
        """Whether programs can be observed at all."""
        return all(check.status != "broken" for check in self.checks)


def diagnose() -> Diagnosis:
    """Looks at this machine and watches a small program on it."""
    machine = Machine(affinity=len(os.sched_getaffinity(0)))
    tried = trial.run_trial()
    libraries = runtimes.find(machine.root, runtimes.loader_cache(), runtimes.active_pythons())
    checks = trial.merged([*sources.checks(machine), *processors.checks(machine)], tried.unavailable)
    return Diagnosis([tried.check, *runtimes.checks(libraries), *checks], libraries)
