"""Experiment files: what they may say, and what is told of those that are wrong."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from sweep_samples import write
from trimtab.experiments import ExperimentError, command_of, configurations, load, plan
from trimtab.experiments.plan import seed_of


def values(folder: Path, factor: str, fixed: str = "") -> list[object]:
    path = folder / "f.toml"
    path.write_text(f'name = "n"\ncommand = "true {{x}}"\n[factors]\nx = {factor}\n[fixed]\n{fixed}\n')
    return list(load(path).factors[0].values)


@pytest.mark.parametrize(
    ("factor", "expected"),
    [
        ("[3, 1, 2]", [3, 1, 2]),
        ('["b", "a"]', ["b", "a"]),
        ("[true, false]", [True, False]),
        ("{values = [1, 2], title = 'grain', unit = 'points'}", [1, 2]),
        ("{range = 'lin', from = 1, to = 10, step = 4}", [1, 5, 9]),
        ("{range = 'lin', from = 1, to = 3}", [1, 2, 3]),
        ("{range = 'lin', from = -1, to = 1, count = 3}", [-1, 0, 1]),
        ("{range = 'lin', from = 0, to = 1, count = 3}", [0.0, 0.5, 1.0]),
        ("{range = 'lin', from = 0, to = 1, step = 0.25}", [0.0, 0.25, 0.5, 0.75, 1.0]),
        ("{range = 'log2', from = 1, to = 16}", [1, 2, 4, 8, 16]),
        ("{range = 'log2', from = 3, to = 16}", [3, 6, 12, 16]),
        ("{range = 'log2', from = 1, to = 1024, step = 5}", [1, 32, 1024]),
        (
            "{range = 'log10', from = 160, to = 100000000}",
            [160, 1600, 16000, 160000, 1600000, 16000000, 100000000],
        ),
        ("{range = 'log10', from = 1, to = 1000, count = 4}", [1, 10, 100, 1000]),
        (
            "{range = 'log10', from = 0.1, to = 10.0, step = 0.5}",
            [0.1, 0.316227766017, 1.0, 3.16227766017, 10.0],
        ),
        # Rounded to whole numbers, and none twice.
        ("{range = 'log2', from = 1, to = 4, step = 0.5}", [1, 2, 3, 4]),
    ],
)
def test_factors(tmp_path: Path, factor: str, expected: list[object]) -> None:
    result = values(tmp_path, factor)
    assert result == expected and list(map(type, result)) == list(map(type, expected))


def test_a_range_ends_at_a_fixed_value(tmp_path: Path) -> None:
    assert values(tmp_path, "{range = 'log10', from = 10, to = 'points'}", "points = 2000") == [
        10,
        100,
        1000,
        2000,
    ]


def test_configurations_and_conditions(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        '[[skip]]\nmode = "b"\ngrain = {above = 2}\n[[where]]\ngrain = {at_least = "least"}\n[[where]]\nmode = "b"\n'
        "[fixed]\nleast = 4",
    )
    result = [tuple(configuration.values()) for configuration in configurations(load(path))]
    assert result == [(1, "b"), (2, "b"), (4, "a"), (8, "a")]
    empty = write(tmp_path, '[[skip]]\nmode = ["a", "b"]')
    with pytest.raises(ExperimentError, match="expected a configuration that stays, found none of 8"):
        configurations(load(empty))


def test_orders(tmp_path: Path) -> None:
    experiment = replace(load(write(tmp_path)), warm_up=1)
    chosen = configurations(experiment)
    all_entries = [(str(entry), sample) for sample in range(4) for entry in chosen]
    orders = {
        name: plan(replace(experiment, order=name), chosen) for name in ("interleaved", "random", "given")
    }
    for order in orders.values():
        # Whatever the order, everything once, warm-up first.
        assert Counter((str(entry.configuration), entry.sample) for entry in order) == Counter(all_entries)
        assert [entry.is_warm_up for entry in order] == [True] * 8 + [False] * 24
    assert [(str(entry.configuration), entry.sample) for entry in orders["given"]] == all_entries
    samples = [entry.sample for entry in orders["interleaved"]]
    assert samples == sorted(samples)
    blocks = [
        [str(entry.configuration) for entry in orders["interleaved"] if entry.sample == at]
        for at in (1, 2, 3)
    ]
    assert blocks[0] != blocks[1] != blocks[2] != blocks[0]
    mixed = [entry.sample for entry in orders["random"][8:]]
    assert mixed != sorted(mixed)


def test_the_seed_decides_the_order(tmp_path: Path) -> None:
    experiment = load(write(tmp_path))
    chosen = configurations(experiment)
    order = plan(experiment, chosen)
    assert plan(load(experiment.file), chosen) == order
    assert plan(replace(experiment, seed=2), chosen) != order
    # More samples only append.
    assert plan(replace(experiment, samples=5), chosen)[: len(order)] == order
    seeds = {(entry.sample, seed_of(experiment, entry)) for entry in order}
    assert len(seeds) == 3, "a seed for each sample, the same for all configurations"
    # The same on every machine: a sweep may go on elsewhere.
    assert [tuple(entry.configuration.values()) for entry in order[:3]] == FIRST


# From seed 1.
FIRST = [(1, "b"), (4, "b"), (2, "a")]


def test_commands(tmp_path: Path) -> None:
    path = tmp_path / "f.toml"
    path.write_text(
        'name = "n"\ncommand = "run --mode={mode} \'a b\' {{}} {sample} {seed} {big} {flag}"\n'
        '[factors]\nmode = ["x y"]\n[fixed]\nbig = 100_000_000\nflag = true\n'
    )
    experiment = load(path)
    (first, *_) = plan(experiment, configurations(experiment))
    seed = seed_of(experiment, first)
    # A value stays one word, whatever is in it.
    assert command_of(experiment, first) == [
        "run",
        "--mode=x y",
        "a b",
        "{}",
        "1",
        str(seed),
        "100000000",
        "true",
    ]


def test_overrides(tmp_path: Path) -> None:
    path = write(tmp_path, "[fixed]\nleast = 4")
    experiment = load(path, {"least": 5, "mode": "a", "grain": [2, 4]})
    assert experiment.fixed == {"least": 5}
    assert configurations(experiment) == [{"grain": 2, "mode": "a"}, {"grain": 4, "mode": "a"}]
    with pytest.raises(
        ExperimentError, match="--set nosuch: expected a factor or fixed value of it: grain, mode, least"
    ):
        load(path, {"nosuch": 1})


@pytest.mark.parametrize(
    ("key", "text", "told"),
    [
        ("samples", "0", "key 'samples': expected a whole number from 1 on, found 0"),
        ("samples", "true", "key 'samples': expected a whole number from 1 on, found true"),
        ("sampels", "3", "unknown key 'sampels'; did you mean 'samples'? (allowed: "),
        ("name", '""', "key 'name': expected a string that is not empty, found ''"),
        ("name", '"../x"', "key 'name': expected letters, digits"),
        (
            "command",
            "[]",
            "key 'command': expected a string, or a list of strings, that is not empty, found []",
        ),
        ("command", '"a \'b"', "key 'command': expected quotes that are closed"),
        (
            "command",
            '"a {grian}"',
            "key 'command': expected one of {grain}, {mode}, {sample}, {seed}, found {grian}",
        ),
        ("command", '"a {"', "key 'command': expected '{{' for a brace that is meant, found '{' in '{'"),
        ("order", '"sorted"', "key 'order': expected one of interleaved, random, given, found 'sorted'"),
        ("timeout", '"5s"', "key 'timeout': expected a number from 0.001 to 1e+07, found '5s'"),
        ("cwd", '"nosuch"', "key 'cwd': expected a folder, relative to the file, found '"),
        ("expect", '"("', "key 'expect': expected a regular expression (missing )"),
        ("environment", "{A = [1]}", "key 'environment.A': expected NAME = a string or a number, found [1]"),
        ("environment", "3", "key 'environment': expected a table, found 3"),
        ("observe", "{trase = true}", "unknown key 'observe.trase'; did you mean 'trace'?"),
        ("fixed", "{grain = 1}", "key 'factors.grain': expected a name that is not among the fixed values"),
        ("fixed", "{seed = 1}", "key 'fixed.seed': expected a name of letters"),
        ("fixed", "{a = [1]}", "key 'fixed.a': expected a string, number or boolean, found [1]"),
        ("disturbed_above", "2", "key 'disturbed_above': expected a number from 0 to 1, found 2"),
    ],
)
def test_wrong_keys(tmp_path: Path, key: str, text: str, told: str) -> None:
    path = write(tmp_path, **{key: text})
    with pytest.raises(ExperimentError) as error:
        load(path)
    assert str(error.value).startswith(f"{path}: ") and told in str(error.value)


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (
            '[[skip]]\npolicy = "x"',
            "key 'skip[1].policy': expected a factor or fixed value (grain, mode), found 'policy'",
        ),
        ('[[skip]]\nmode = "c"', "key 'skip[1].mode': expected values of 'mode' (a, b), found 'c'"),
        (
            "[[skip]]\ngrain = {over = 1}",
            "unknown key 'skip[1].grain.over'; did you mean 'above'? (allowed: above, at_least, at_most, below)",
        ),
        ("[[skip]]\ngrain = {above = 'x'}", "key 'skip[1].grain.above': expected a number, or the name of"),
        ("[skip]\ngrain = 1", "key 'skip': expected tables, written [[skip]], found {'grain': 1}"),
        (
            '[[figure]]\nx = "grain"\ny = "tme"\nlines = "mode"',
            "key 'figure[1].y': expected one of time, idle_rate",
        ),
        (
            '[[figure]]\nx = "grain"\ny = "time"',
            "key 'figure[1].where': expected one value for 'mode', which is neither",
        ),
        (
            '[[figure]]\nx = "grain"\ny = "time"\nlines = "mode"\nlog = ["z"]',
            "key 'figure[1].log': expected some of x, y, found ['z']",
        ),
        (
            '[[figure]]\nx = "grain"\ny = "time"\nlines = "mode"\n' * 2,
            "key 'figure[2].name': expected a name that no",
        ),
        (
            '[[best]]\nmetric = "time"\nper = ["time"]',
            "key 'best[1].per': expected some of grain, mode, found ['time']",
        ),
        (
            '[[best]]\nmetric = "time"\ngoal = "low"',
            "key 'best[1].goal': expected one of min, max, found 'low'",
        ),
        (
            "[metrics.mode]",
            "key 'metrics.mode': expected a name of letters, digits and _ that nothing else has",
        ),
        (
            '[metrics.x]\nfrom = "observed_work"',
            "key 'metrics.x.from': expected `observe` at the top of the file",
        ),
    ],
)
def test_wrong_tables(tmp_path: Path, more: str, told: str) -> None:
    path = write(tmp_path, more)
    with pytest.raises(ExperimentError) as error:
        load(path)
    assert str(error.value).startswith(f"{path}: ") and told in str(error.value)


@pytest.mark.parametrize(
    ("factor", "told"),
    [
        ("3", "key 'factors.x': expected a list of values, or a table with `values` or `range`, found 3"),
        ("[]", "key 'factors.x': expected a list of values"),
        ("[1, 'a']", "key 'factors.x': expected values of one kind"),
        ("[1, 2, 1]", "key 'factors.x': expected every value once, found '1 twice'"),
        ("[[1]]", "key 'factors.x': expected strings, numbers or booleans, found [1]"),
        ("[nan]", "expected strings, numbers or booleans, found nan"),
        (
            "{range = 'log', from = 1, to = 2}",
            "key 'factors.x.range': expected one of lin, log2, log10, found 'log'",
        ),
        ("{range = 'lin', from = 2, to = 1}", "key 'factors.x.to': expected more than 'from' = 2, found 1"),
        ("{range = 'log2', from = 0, to = 1}", "key 'factors.x.from': expected a number above 0"),
        (
            "{range = 'lin', to = 1}",
            "key 'factors.x.from': expected a number, or the name of a fixed value, found nothing",
        ),
        (
            "{range = 'lin', from = 1, to = 'n'}",
            "key 'factors.x.to': expected a number, or the name of a fixed value",
        ),
        (
            "{range = 'lin', from = 0, to = 1e9}",
            "key 'factors.x.step': expected a range of at most 100000 values",
        ),
        ("{range = 'lin', from = 0, to = 9, stp = 1}", "unknown key 'factors.x.stp'; did you mean 'step'?"),
    ],
)
def test_wrong_factors(tmp_path: Path, factor: str, told: str) -> None:
    with pytest.raises(ExperimentError) as error:
        values(tmp_path, factor)
    assert told in str(error.value)


def test_wrong_formulas(tmp_path: Path) -> None:
    for text, reported in (
        ("time *", "expected a formula (at character 7: expected a number"),
        ("time * tme", "expected names of numbers (grain, idle_rate, max_rss_kb,"),
        ("time * mode", "found 'mode'"),
    ):
        path = tmp_path / "tiny.toml"
        path.write_text(write(tmp_path).read_text().replace("idle_rate * time", text))
        with pytest.raises(ExperimentError) as error:
            load(path)
        assert "key 'derived.overhead.formula'" in str(error.value) and reported in str(error.value)


def test_files_that_are_none(tmp_path: Path) -> None:
    path = tmp_path / "f.toml"
    for content, reported in (
        (b"name =", "not TOML: "),
        (b"name = '\xff'", "byte 8: expected UTF-8, found invalid start byte"),
    ):
        path.write_bytes(content)
        with pytest.raises(ExperimentError, match=f"{path}: {reported}"):
            load(path)
    with pytest.raises(ExperimentError, match="No such file"):
        load(tmp_path / "nosuch.toml")


def test_too_many_combinations(tmp_path: Path) -> None:
    path = tmp_path / "f.toml"
    lines = [f"f{at} = {{range = 'lin', from = 1, to = 100}}" for at in range(4)]
    path.write_text('name = "n"\ncommand = "true"\n[factors]\n' + "\n".join(lines))
    with pytest.raises(ExperimentError, match="expected at most 1000000 combinations, found 100000000"):
        configurations(load(path))
