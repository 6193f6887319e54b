"""Experiments: a file says what is varied; the sweep runs it, and leaves tables, figures and a page."""

from trimtab.experiments.as_json import json_of
from trimtab.experiments.cluster import ClusterProgress, ClusterSweep, Listener
from trimtab.experiments.factors import configurations, key_of
from trimtab.experiments.gather import gathered_from
from trimtab.experiments.load import load
from trimtab.experiments.outputs import Outputs, write_outputs
from trimtab.experiments.plan import Planned, plan
from trimtab.experiments.results import Record
from trimtab.experiments.run import command_of
from trimtab.experiments.spec import Experiment, ExperimentError, Value
from trimtab.experiments.submission import SlurmOptions, as_words, node_request
from trimtab.experiments.summary import Row, Summary, summarised
from trimtab.experiments.sweeping import Options, Progress, expected_s, sweep
from trimtab.experiments.swept import Swept

__all__ = [
    "ClusterProgress",
    "ClusterSweep",
    "Experiment",
    "ExperimentError",
    "Listener",
    "Options",
    "Outputs",
    "Planned",
    "Progress",
    "Record",
    "Row",
    "SlurmOptions",
    "Summary",
    "Swept",
    "Value",
    "as_words",
    "command_of",
    "configurations",
    "expected_s",
    "gathered_from",
    "json_of",
    "key_of",
    "load",
    "node_request",
    "plan",
    "summarised",
    "sweep",
    "write_outputs",
]
