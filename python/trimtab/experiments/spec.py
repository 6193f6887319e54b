"""What an experiment is: plain frozen data that `load` returns and all else reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from trimtab.escapes import printable
from trimtab.experiments.formula import Formula
from trimtab.experiments.templates import names_in

# What one factor or fixed value can be.
Value = str | int | float | bool
Configuration = dict[str, Value]

ORDERS = ("interleaved", "random", "given")
GOALS = ("min", "max")
# What the values of a factor stand for: themselves, placements of threads, or the name of the host.
VALUES, CPUS, HOST = "values", "cpus", "host"
# What is measured of every run, whatever the program prints: title and unit.
BUILT_IN = {
    "wall_s": ("wall time", "s"),
    "user_s": ("CPU time in the program", "s"),
    "system_s": ("CPU time in the kernel", "s"),
    "max_rss_kb": ("peak memory", "kB"),
}
# Names of what a run directory tells begin so (`observe`).
OBSERVED = "observed_"


class ExperimentError(Exception):
    """An experiment that cannot be run: says the file, the key, what was expected and what was found, in one line."""

    def __init__(self, message: str) -> None:
        super().__init__(printable(message))


@dataclass(frozen=True)
class Factor:
    """A named thing that is varied, and its values in order."""

    name: str
    values: tuple[Value, ...]
    title: str
    unit: str = ""
    kind: str = VALUES


@dataclass(frozen=True)
class Bound:
    """A limit of a factor's values; `limit` may name another factor or a fixed value."""

    relation: str  # above, below, at_least, at_most
    limit: float | str


@dataclass(frozen=True)
class Condition:
    """Holds of a configuration when each name has one of its values and keeps its bounds."""

    values: Mapping[str, tuple[Value, ...]]
    bounds: Mapping[str, tuple[Bound, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Metric:
    """A figure of each run: printed by the program as `source`, measured, or derived by a formula."""

    name: str
    source: str
    title: str
    unit: str
    is_required: bool = False
    formula: Formula | None = None


@dataclass(frozen=True)
class FigureSpec:
    """A figure as the file asks for it."""

    name: str
    title: str
    x: str
    y: str
    lines: str | None
    panels: str | None
    log: tuple[str, ...]
    has_errors: bool
    where: Condition
    x_label: str
    y_label: str


@dataclass(frozen=True)
class BestSpec:
    """A table of the best configuration of each group."""

    title: str
    metric: str
    goal: str
    per: tuple[str, ...]
    show: tuple[str, ...]


@dataclass(frozen=True)
class Observe:
    """How runs are recorded with `trimtab run`."""

    is_trace: bool = False
    probes: str | None = None
    is_kept: bool = False
    has_kernel: bool = False

    def what_is_recorded(self) -> list[Any]:
        """As in the description of a sweep; what earlier versions did not know is there only if it is used."""
        return [self.is_trace, self.probes, *(["kernel"] if self.has_kernel else [])]


@dataclass(frozen=True)
class ViolinSpec:
    """A figure for each value of the factors `per`: rows of violins of single runs, one for each value of the factor `x`."""

    name: str
    title: str
    x: str
    rows: tuple[str, ...]
    per: tuple[str, ...]


@dataclass(frozen=True)
class AverageSpec:
    """A table of means over all runs, a row for each value of the factors `per`."""

    title: str
    metrics: tuple[str, ...]
    per: tuple[str, ...]


@dataclass(frozen=True)
class OutlierSpec:
    """A list of runs that lie far from the others that have the same values of the factors `per`."""

    title: str
    metrics: tuple[str, ...]
    per: tuple[str, ...]
    beyond: float  # interquartile ranges from the quartiles


@dataclass(frozen=True)
class FewerSamples:
    """Configurations that run less often than the others, because each run takes long."""

    samples: int
    where: Condition


@dataclass(frozen=True)
class Experiment:
    """A whole experiment file, checked."""

    file: Path
    name: str
    title: str
    command: tuple[str, ...]
    cwd: Path
    environment: Mapping[str, str]
    factors: tuple[Factor, ...]
    fixed: Mapping[str, Value]
    where: tuple[Condition, ...]
    skip: tuple[Condition, ...]
    samples: int
    seed: int
    timeout_s: float | None
    run_s: float | None
    order: str
    warm_up: int
    expect: str | None
    observe: Observe | None
    disturbed_above: float
    metrics: Mapping[str, Metric]
    figures: tuple[FigureSpec, ...]
    best: tuple[BestSpec, ...]
    violins: tuple[ViolinSpec, ...] = ()
    averages: tuple[AverageSpec, ...] = ()
    outliers: tuple[OutlierSpec, ...] = ()
    fewer: tuple[FewerSamples, ...] = ()

    def what_runs(self) -> dict[str, Any]:
        """What decides on the results of a run: a sweep goes on only where all of this is as it was."""
        uses_seed = "seed" in names_in((*self.command, *self.environment.values()))
        return {
            "command": list(self.command),
            "cwd": str(self.cwd),
            "environment": dict(self.environment),
            "fixed": dict(self.fixed),
            "expect": self.expect,
            "observe": None if self.observe is None else self.observe.what_is_recorded(),
            "seed": self.seed if uses_seed else None,
        }
