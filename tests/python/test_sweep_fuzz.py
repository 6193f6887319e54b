"""Whatever stands in an experiment file or a results file: it is used, or told in an error of ours."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from sweep_samples import write
from trimtab.experiments import ExperimentError, configurations, json_of, load, summarised
from trimtab.experiments.load import experiment_of
from trimtab.experiments.plan import plan
from trimtab.experiments.results import Results
from trimtab.experiments.run import command_of
from trimtab.experiments.swept import gathered
from trimtab.experiments.tables import tables_of

WHOLE: dict[str, Any] = {
    "name": "n",
    "title": "t",
    "command": ["a", "{x}"],
    "environment": {"A": "{y}"},
    "samples": 2,
    "seed": 3,
    "timeout": 5,
    "warm_up": 1,
    "order": "random",
    "expect": "a+",
    "observe": {"trace": True, "with": "cpu", "keep": False},
    "disturbed_above": 0.5,
    "factors": {
        "x": [1, 2],
        "y": {"range": "log2", "from": 1, "to": "p", "step": 1, "title": "y", "unit": "u"},
    },
    "fixed": {"p": 8},
    "where": [{"x": 1}, {"y": {"above": "x", "at_most": 8}}],
    "skip": [{"x": [2], "p": 8}],
    "metrics": {"m": {"from": "mm", "title": "t", "unit": "s", "required": False}},
    "derived": {"d": "m / x", "e": {"formula": "max(d, 1)", "unit": "s", "title": "e"}},
    "figure": [
        {"x": "y", "y": "m", "lines": "x", "log": ["x"], "errors": False, "where": {"p": 8}, "name": "f"}
    ],
    "best": [{"metric": "d", "goal": "max", "per": "x", "show": ["m"], "title": "b"}],
}
JUNK = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["x", "y", "m", "{x}"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=5,
)


def places(table: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place of a nested table."""
    inner = table.items() if isinstance(table, dict) else enumerate(table) if isinstance(table, list) else ()
    return [path, *(place for key, entry in inner for place in places(entry, (*path, key)))]


def changed(table: dict[str, Any], place: tuple[Any, ...], value: Any, is_added: bool) -> dict[str, Any]:
    """The table with another value at a place, or with a key more there."""
    result = copy.deepcopy(table)
    at: Any = result
    for key in place[:-1]:
        at = at[key]
    if is_added and isinstance(at, dict):
        at["added"] = value
    else:
        at[place[-1]] = value
    return result


def test_the_whole_is_right() -> None:
    assert len(configurations(experiment_of(Path("f"), copy.deepcopy(WHOLE), {}))) == 4


@example([(("where", 0), {"\n": None}, False)])
@given(st.lists(st.tuples(st.sampled_from(places(WHOLE)[1:]), JUNK, st.booleans()), min_size=1, max_size=2))
@settings(max_examples=400, deadline=None)
def test_any_file(changes: list[tuple[tuple[Any, ...], Any, bool]]) -> None:
    table = WHOLE
    for place, value, is_added in changes:
        try:
            table = changed(table, place, value, is_added)
        except (KeyError, IndexError, TypeError):
            continue  # the first change took the place of the second
    try:
        experiment = experiment_of(Path("f"), copy.deepcopy(table), {})
        chosen = configurations(experiment)
    except ExperimentError as error:
        assert str(error).startswith("f: ") and "\n" not in str(error)
        return
    if len(chosen) * (experiment.samples + experiment.warm_up) < 1000:
        for planned in plan(experiment, chosen):
            assert all(isinstance(part, str) for part in command_of(experiment, planned))


RECORD = {
    "configuration": {"grain": 1, "mode": "a"},
    "sample": 1,
    "attempt": 0,
    "started": "t",
    "command": ["x"],
    "code": 0,
    "signal": None,
    "failure": None,
    "stderr": [],
    "others": 0.0,
    "steal": 0.0,
    "is_disturbed": False,
    "metrics": {"time": 1.0},
    "units": {},
}
ALTERED = st.tuples(st.sampled_from(places(RECORD)[1:]), JUNK, st.booleans()).map(
    lambda value: changed(RECORD, *value)
)
LINES = st.lists(
    st.binary(max_size=20) | (ALTERED | JUNK).map(lambda value: json.dumps(value).encode()), max_size=4
)


@given(LINES, st.booleans())
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_results(tmp_path: Path, lines: list[bytes], is_whole: bool) -> None:
    experiment = load(write(tmp_path))
    path = tmp_path / "out/results.jsonl"
    path.unlink(missing_ok=True)
    with Results(tmp_path / "out", experiment):
        pass
    path.write_bytes(b"\n".join(lines) + (b"\n" if is_whole else b""))
    try:
        with Results(tmp_path / "out", experiment) as results:
            swept = gathered(experiment, results, configurations(experiment))
            json.dumps(json_of(swept, summarised(swept)), allow_nan=False)
            tables_of(swept, summarised(swept))
            assert path.read_bytes()[-1:] in (b"", b"\n")
    except ExperimentError as error:
        assert f"{path}: line " in str(error)


@pytest.mark.parametrize("cut", range(0, 200, 7))
def test_a_line_torn_anywhere(tmp_path: Path, cut: int) -> None:
    experiment = load(write(tmp_path))
    with Results(tmp_path / "out", experiment):
        pass
    line = json.dumps(RECORD).encode() + b"\n"
    (tmp_path / "out/results.jsonl").write_bytes(line + line[:cut])
    with Results(tmp_path / "out", experiment) as results:
        assert len(results.records) == 1 and len(results.notes) == (1 if cut else 0)
    assert (tmp_path / "out/results.jsonl").read_bytes() == line
