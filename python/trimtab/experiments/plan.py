"""Which runs there are, and in which order: what drifts over time must not look like a factor."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from trimtab.experiments.conditions import holds
from trimtab.experiments.factors import key_of
from trimtab.experiments.spec import Configuration, Experiment


@dataclass(frozen=True)
class Planned:
    """One run to be made. Samples count from 1; warm-up runs are samples 0, -1, ..."""

    configuration: Configuration
    sample: int

    @property
    def key(self) -> tuple[str, int]:
        """What makes it this run and no other."""
        return key_of(self.configuration), self.sample

    @property
    def is_warm_up(self) -> bool:
        """Not part of any table."""
        return self.sample < 1


def plan(experiment: Experiment, configurations: Sequence[Configuration]) -> list[Planned]:
    """All runs in order, which the seed decides.

    interleaved: each sample is a block that holds every configuration once, shuffled; more samples append to the order.
    given: blocks in the file's order. random: all samples of all configurations shuffled. Warm-up blocks come first.
    """
    warm_up = _blocks(experiment, configurations, range(1 - experiment.warm_up, 1))
    counted = _blocks(experiment, configurations, range(1, experiment.samples + 1))
    if experiment.order == "random":
        shuffle(counted, experiment.seed, "all")
    return warm_up + counted


def samples_of(experiment: Experiment, configuration: Configuration) -> int:
    """How many runs of a configuration count: `samples`, or the least number that [[fewer_samples]] has for it."""
    row_values = {**experiment.fixed, **configuration}
    fewer = [rule.samples for rule in experiment.fewer if holds(rule.where, row_values)]
    return min([experiment.samples, *fewer])


def _blocks(
    experiment: Experiment, configurations: Sequence[Configuration], samples: Iterable[int]
) -> list[Planned]:
    planned = []
    for sample in samples:
        block = [
            Planned(configuration, sample)
            for configuration in configurations
            if sample <= samples_of(experiment, configuration)
        ]
        if experiment.order != "given":
            shuffle(block, experiment.seed, str(sample))
        planned += block
    return planned


def shuffle(runs: list[Planned], seed: int, purpose: str) -> None:
    """In place, by the seed and the word `purpose` alone."""
    # A string seeds the same on every machine and version of Python.
    random.Random(f"{seed}/{purpose}").shuffle(runs)


def seed_of(experiment: Experiment, planned: Planned) -> int:
    """What {seed} stands for: another number for each sample, the same for all configurations of a sample."""
    return random.Random(f"{experiment.seed}/sample {planned.sample}").randrange(2**31)
