"""Reports as tests look at them: as `trimtab report --json` prints them, each checked against the JSON Schema."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
from jsonschema import Draft202012Validator
from trimtab import analysis
from trimtab.model import Run
from trimtab.model.report import Report
from trimtab.model.report_json import as_json

SCHEMA = Path(__file__).parents[1] / "docs/reference/report.schema.json"
Type = type[msgspec.Struct]


@cache
def validator() -> Draft202012Validator:
    """Of whole reports."""
    schema = json.loads(SCHEMA.read_text())
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def checked(report: dict[str, Any]) -> dict[str, Any]:
    """The report, which must be as its schema says."""
    wrong = next(validator().iter_errors(report), None)
    assert wrong is None, f"{wrong.json_path}: {wrong.message[:500]}"
    return report


def plain(value: msgspec.Struct) -> dict[str, Any]:
    """What the command prints of a report, or of a part of one."""
    printed: dict[str, Any] = json.loads(json.dumps(as_json(value), allow_nan=False))
    return printed


def build(run: Run) -> dict[str, Any]:
    """The report of a run: of every run in these tests all idle core time is charged to someone."""
    report = checked(plain(analysis.build(run)))
    idle = 0.0 if report["efficiency"] is None else 1.0 - report["efficiency"]
    charged = [blamed["share"] for blamed in report["blame"]]
    assert abs(sum(charged) - idle) < 1e-6, f"{sum(charged)} of {idle} is charged"
    assert all(share >= 0 for share in charged)
    assert (
        not report["critical_path"] or abs(sum(part["share"] for part in report["critical_path"]) - 1) < 1e-6
    )
    return report


def typed(report: dict[str, Any]) -> Report:
    """A report of the test's own making, as texts and pages take it; what the test leaves out is empty."""
    complete: Report = part(Report, report)
    return complete


def part(kind: Type, fields: dict[str, Any]) -> Any:
    """One part of a report, from the fields that the test sets; the other fields are empty."""
    return msgspec.convert(_filled(msgspec.inspect.type_info(kind), fields), kind)


def _filled(kind: msgspec.inspect.Type, value: Any) -> Any:
    """`value` with an empty value for every required field that it lacks."""
    if isinstance(kind, msgspec.inspect.UnionType):
        present = [member for member in kind.types if not isinstance(member, msgspec.inspect.NoneType)]
        return value if value is None else _filled(present[0], value)
    if isinstance(kind, msgspec.inspect.VarTupleType):
        return [_filled(kind.item_type, element) for element in value]
    if isinstance(kind, msgspec.inspect.StructType) and isinstance(value, dict):
        fields = {field.encode_name: field for field in kind.fields if field.required}
        return value | {
            name: _filled(field.type, value[name]) if name in value else _empty(field.type)
            for name, field in fields.items()
        }
    return value


def _empty(kind: msgspec.inspect.Type) -> Any:
    if isinstance(kind, msgspec.inspect.UnionType):
        return None
    if isinstance(kind, msgspec.inspect.StructType):
        return _filled(kind, {})
    empty = {
        msgspec.inspect.VarTupleType: (),
        msgspec.inspect.DictType: {},
        msgspec.inspect.StrType: "",
        msgspec.inspect.BoolType: False,
    }
    if isinstance(kind, msgspec.inspect.EnumType):
        return next(iter(kind.cls)).value
    return empty.get(type(kind), 0)
