"""Samples of an experiment, as a sweep stores them."""

from __future__ import annotations

from trimtab.experiments.results import Record
from trimtab.experiments.spec import Configuration


def sampled(configuration: Configuration, sample: int, metrics: dict[str, float]) -> Record:
    """A sample that succeeded, undisturbed."""
    return Record(
        configuration=configuration,
        sample=sample,
        attempt=0,
        started="",
        command=[],
        code=0,
        signal=None,
        failure=None,
        stderr=[],
        others=0.01,
        steal=0.02,
        is_disturbed=False,
        metrics=metrics,
    )
