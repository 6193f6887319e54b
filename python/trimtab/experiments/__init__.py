"""Experiments: a file says what is varied; the sweep runs it, and leaves tables, figures and a page."""

from trimtab.experiments.factors import configurations
from trimtab.experiments.load import load
from trimtab.experiments.outputs import Outputs, write_outputs
from trimtab.experiments.plan import Planned, plan
from trimtab.experiments.run import command_of
from trimtab.experiments.spec import Experiment, ExperimentError
from trimtab.experiments.summary import Summary, as_json, summarised
from trimtab.experiments.sweeping import Options, Progress, Swept, sweep

__all__ = [
    "Experiment",
    "ExperimentError",
    "Options",
    "Outputs",
    "Planned",
    "Progress",
    "Summary",
    "Swept",
    "as_json",
    "command_of",
    "configurations",
    "load",
    "plan",
    "summarised",
    "sweep",
    "write_outputs",
]
