"""Variants of an experiment, and values that replace those of its file."""

from __future__ import annotations

from pathlib import Path

import pytest
from sweep_samples import write
from trimtab.experiments import ExperimentError, configurations, load

VARIANT = """
[variant.short]
samples = 2
set = {grain = [1, 8]}
[[variant.short.skip]]
mode = "b"
grain = 8
"""


def test_a_variant_is_a_smaller_experiment(tmp_path: Path) -> None:
    file = write(tmp_path, VARIANT)
    whole, short = load(file), load(file, variant="short")
    assert whole.samples == 3 and len(configurations(whole)) == 8
    assert short.samples == 2 and short.name == "tiny-short"
    assert [tuple(configuration.values()) for configuration in configurations(short)] == [
        (1, "a"),
        (1, "b"),
        (8, "a"),
    ]
    # What is given besides comes last.
    assert len(configurations(load(file, {"grain": 1}, variant="short"))) == 2


@pytest.mark.parametrize(
    ("more", "name", "told"),
    [
        ("", "short", "--variant: expected one of its variants (it has none), found 'short'"),
        (VARIANT, "tiny", "--variant: expected one of its variants (short), found 'tiny'"),
        ("[variant.short]\nsamples = 0", None, "key 'variant.short.samples': expected a whole number from 1"),
        (
            "[variant.short]\nsampels = 1",
            None,
            "unknown key 'variant.short.sampels'; did you mean 'samples'?",
        ),
        ("[variant]\nshort = 1", None, "key 'variant.short': expected a table, found 1"),
        ("[variant.short]\nskip = 1", None, "key 'variant.short.skip': expected tables"),
        ("[variant.short.set]\nnosuch = 1", "short", "--set nosuch: expected a factor or fixed value of it"),
    ],
)
def test_wrong_variants(tmp_path: Path, more: str, name: str | None, told: str) -> None:
    file = write(tmp_path, more)
    with pytest.raises(ExperimentError) as error:
        load(file, variant=name)
    assert told in str(error.value)


def test_conditions_may_speak_of_values_that_were_replaced(tmp_path: Path) -> None:
    overrides = '[[figure]]\nx = "mode"\ny = "time"\nwhere = {grain = 4}\n[[skip]]\ngrain = [1, 2]\n'
    file = write(tmp_path, overrides)
    assert len(configurations(load(file, {"grain": [2, 8]}))) == 2
    file = write(tmp_path, "[[skip]]\ngrain = 3\n")
    with pytest.raises(ExperimentError, match="expected values of 'grain'"):
        load(file, {"grain": [2, 8]})
