"""The types of a report, its JSON Schema and its documentation say the same; reports that are wrong are refused."""

from __future__ import annotations

import copy
import json
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
import report_samples as samples
from reports import SCHEMA, build, checked, plain, typed, validator
from trimtab.model import report as types
from trimtab.model.enumerations import BlameCause, Cause, IdleVerdict, Missing
from trimtab.readers import open_run

from schema.report import REPORT_SCHEMA, UNITS

ROOT = Path(__file__).parents[2]
PUBLISHED = json.loads(SCHEMA.read_text())["$defs"]
STRUCTS = {entry.name: getattr(types, entry.name) for entry in REPORT_SCHEMA.types}


def kinds(result: Any) -> Any:
    """What a property of a JSON Schema may be, without what is said about it."""
    if "$ref" in result:
        name = result["$ref"].rsplit("/", 1)[-1]
        words = {
            "Cause": "cause",
            "BlameCause": "blame_cause",
            "IdleVerdict": "idle_verdict",
            "Missing": "missing_kind",
        }
        return words.get(name, name)
    if "anyOf" in result:
        return sorted(str(kinds(entry)) for entry in result["anyOf"])
    kind = result.get("type")
    if kind == "array":
        return ["array", kinds(result["items"])]
    if kind == "object":
        return ["object", kinds(result.get("additionalProperties", {}))]
    return sorted(kind) if isinstance(kind, list) else kind


@pytest.mark.parametrize("name", STRUCTS)
def test_the_published_schema_is_that_of_the_types(name: str) -> None:
    _, components = msgspec.json.schema_components([STRUCTS[name]])
    own_value = components[name]
    assert list(PUBLISHED[name]["properties"]) == list(own_value["properties"])
    defaults = {field.name for field in REPORT_SCHEMA.by_name[name].fields if field.default}
    assert set(PUBLISHED[name]["required"]) == set(own_value["required"]) | defaults, (
        "what has a default is written, too"
    )
    for key, result in own_value["properties"].items():
        assert kinds(PUBLISHED[name]["properties"][key]) == kinds(result), key


def test_types_are_frozen() -> None:
    for kind in STRUCTS.values():
        assert kind.__struct_config__.frozen


def test_causes_are_those_of_the_schema() -> None:
    assert PUBLISHED["cause"]["enum"] == [str(entry) for entry in Cause]
    assert PUBLISHED["blame_cause"]["enum"] == [str(entry) for entry in BlameCause]
    assert PUBLISHED["idle_verdict"]["enum"] == [str(entry) for entry in IdleVerdict]
    assert PUBLISHED["missing_kind"]["enum"] == [str(entry) for entry in Missing]
    assert f"{Cause.SMALL_TASKS}" == "tasks too small"


def test_golden_report_is_valid() -> None:
    report = build(open_run(ROOT / "tests/golden"))
    assert report["processes"][0]["pid"] == 100
    assert plain(typed(report)) == report


def test_a_report_without_processes_is_valid(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text('{"format": 1, "ended": {"code": 0, "wall_s": 2.0}}')
    report = build(open_run(tmp_path))
    assert (report["wall_s"], report["capacity_s"], report["os"]["max_rss_kb"]) == (2.0, None, None)


def broken(change: Any) -> dict[str, Any]:
    report = copy.deepcopy(samples.report())
    change(report)
    return report


@pytest.mark.parametrize(
    "change",
    [
        lambda report: report.pop("os"),
        lambda report: report.update(more=1),
        lambda report: report.update(wall_s=None),
        lambda report: report["findings"][0].update(cause="bad luck"),
        lambda report: report["regions"][0].update(calls=1.5),
        lambda report: report["regions"][0]["lanes"][0].pop("process"),
        lambda report: report["time"].update(sleep=0.0),
        lambda report: report["processes"][0]["command"].append(3),
    ],
)
def test_wrong_reports_are_refused(change: Any) -> None:
    with pytest.raises(AssertionError):
        checked(broken(change))


def test_every_number_has_a_unit_that_is_described() -> None:
    fields = [field for entry in REPORT_SCHEMA.types for field in entry.fields]
    assert {field.unit for field in fields} - {""} == set(UNITS)
    for field in fields:
        if field.name.endswith("_s"):
            assert field.unit == "s", field.name
        assert not field.is_nullable or field.unknown, f"{field.name}: what does null mean?"


def test_the_page_knows_every_field() -> None:
    page = (ROOT / "viewer/src/report.ts").read_text()
    for entry in REPORT_SCHEMA.types:
        (body,) = re.findall(rf"export interface {entry.name} \{{\n(.*?)\n\}}", page, re.DOTALL)
        assert re.findall(r"^  (\w+):", body, re.MULTILINE) == [field.name for field in entry.fields]


def test_the_schema_is_checked_as_a_schema() -> None:
    assert validator().is_valid(samples.report())
