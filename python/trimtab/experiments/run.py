"""One planned run as a record: started, watched, read, judged."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from trimtab import machine
from trimtab.experiments import observe
from trimtab.experiments.execute import Outcome, execute
from trimtab.experiments.output import Figures, figures_in
from trimtab.experiments.placement import (
    Placement,
    PlacementError,
    bound,
    placement_of,
    replaced_environment,
)
from trimtab.experiments.plan import Planned, seed_of
from trimtab.experiments.results import Record, Results
from trimtab.experiments.spec import BUILT_IN, CPUS, OBSERVED, Configuration, Experiment, ExperimentError
from trimtab.experiments.templates import filled
from trimtab.experiments.topology import topology
from trimtab.model import RunError

RUNS = "runs"


def command_of(experiment: Experiment, planned: Planned) -> list[str]:
    """What is run, with all values in place."""
    values = _values(experiment, planned)
    return [filled(part, values) for part in experiment.command]


def placement_in(experiment: Experiment, configuration: Configuration) -> Placement | None:
    """Where the threads of this configuration run, if a factor says it.

    Raises:
        ExperimentError: this machine has no such CPUs.
    """
    for factor in experiment.factors:
        if factor.kind == CPUS:
            try:
                return placement_of(str(configuration[factor.name]), topology())
            except PlacementError as error:
                raise ExperimentError(
                    f"{experiment.file}: factor '{factor.name}': expected {error}"
                ) from error
    return None


def _values(experiment: Experiment, planned: Planned) -> dict[str, object]:
    extra = {"sample": planned.sample, "seed": seed_of(experiment, planned)}
    values = {**experiment.fixed, **planned.configuration, **extra}
    return {name: str(value).lower() if isinstance(value, bool) else value for name, value in values.items()}


def run_once(experiment: Experiment, planned: Planned, attempt: int, results: Results) -> Record:
    """Run it and say how it went. Nothing that the program does is an error here: a failure is a result."""
    values = _values(experiment, planned)
    argv = [filled(part, values) for part in experiment.command]
    placement = placement_in(experiment, planned.configuration)
    environment = replaced_environment(
        {**os.environ, **{name: filled(text, values) for name, text in experiment.environment.items()}},
        placement,
    )
    record = Record(
        configuration=dict(planned.configuration),
        sample=planned.sample,
        attempt=attempt,
        started=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        command=argv,
        code=None,
        signal=None,
        failure=None,
        stderr=[],
        others=None,
        steal=None,
        is_disturbed=False,
        metrics={},
    )
    directory = None if experiment.observe is None else _run_directory(results.directory, planned, attempt)
    before = machine.reading()
    try:
        if directory is not None and experiment.observe is not None:
            argv = observe.command(experiment.observe, directory, argv)
        with bound(placement):
            outcome = execute(argv, experiment.cwd, environment, experiment.timeout_s, results.running)
    except OSError as error:
        return replace(record, failure=f"cannot be started: {error.strerror}: {error.filename or argv[0]}")
    disturbance = machine.between(before, machine.reading())
    record = _judged(experiment, record, outcome, directory)
    if directory is not None and experiment.observe is not None and not experiment.observe.is_kept:
        shutil.rmtree(directory, ignore_errors=True)
    if disturbance is None:
        return record
    return replace(
        record,
        others=round(disturbance.others, 4),
        steal=round(disturbance.steal, 4),
        is_disturbed=disturbance.is_above(experiment.disturbed_above),
    )


def _run_directory(folder: Path, planned: Planned, attempt: int) -> Path:
    """A new name, which says whose run it is as far as a file name can."""
    (folder / RUNS).mkdir(exist_ok=True)
    run_label = re.sub(r"[^\w.+-]+", "-", "-".join(map(str, planned.configuration.values())))[:80]
    name = f"{run_label}-s{planned.sample}-a{attempt}-"
    # trimtab run makes it itself: only the name is to be free.
    run_folder = Path(tempfile.mkdtemp(prefix=name, dir=folder / RUNS))
    run_folder.rmdir()
    return run_folder


def _judged(experiment: Experiment, record: Record, outcome: Outcome, directory: Path | None) -> Record:
    """With its figures; and with a failure if it is no right answer."""
    figures: Figures = {
        "wall_s": (outcome.wall_s, "s"),
        "user_s": (outcome.user_s, "s"),
        "system_s": (outcome.system_s, "s"),
    }
    if outcome.max_rss_kb is not None:
        figures["max_rss_kb"] = (outcome.max_rss_kb, "kB")
    failure = _how_it_ended(experiment, outcome)
    if failure is None and directory is not None:
        try:
            # In place of ours, which have the launcher's time in them.
            figures.update(
                observe.figures_of(
                    directory, experiment.observe is not None and experiment.observe.has_kernel
                )
            )
        except (RunError, OSError) as error:
            failure = f"not observed: {error}"
    taken_names = {*experiment.fixed, *record.configuration, *BUILT_IN}
    printed = figures_in(outcome.output)
    figures.update(
        {
            name: printed_value
            for name, printed_value in printed.items()
            if name not in taken_names and not name.startswith(OBSERVED)
        }
    )
    return replace(
        record,
        code=outcome.code,
        signal=outcome.signal,
        failure=failure or _what_is_wrong(experiment, outcome, figures),
        stderr=list(outcome.errors) if failure else [],
        metrics={name: value for name, (value, _) in figures.items()},
        units={name: unit for name, (_, unit) in printed.items() if unit and name in figures},
    )


def _how_it_ended(experiment: Experiment, outcome: Outcome) -> str | None:
    if outcome.is_timed_out:
        return f"timed out after {experiment.timeout_s:g} s"
    if outcome.signal is not None:
        return f"killed by {outcome.signal}"
    return f"exit code {outcome.code}" if outcome.code else None


def _what_is_wrong(experiment: Experiment, outcome: Outcome, figures: Figures) -> str | None:
    if experiment.expect is not None and not re.search(experiment.expect, outcome.output, re.MULTILINE):
        last = next((line for line in reversed(outcome.output.splitlines()) if line.strip()), "nothing")
        return f"wrong answer: expected output like '{experiment.expect}', found {last.strip()[:200]!r}"
    for metric in experiment.metrics.values():
        if metric.is_required and metric.source not in figures:
            return f"metric '{metric.name}': expected '{metric.source}=NUMBER' in the output, found none"
        _, unit = figures.get(metric.source, (0.0, ""))
        if metric.name not in BUILT_IN and unit and metric.unit and unit != metric.unit:
            return f"metric '{metric.name}': expected unit '{metric.unit}', found '{unit}'"
    return None
