"""Writes the tables of docs/reference/report.md."""

from __future__ import annotations

from schema.description import ReportField, ReportSchema, ReportType, Schema
from schema.markdown import table


def blocks(schema: Schema, types: ReportSchema) -> dict[str, str]:
    """What stands between `<!-- schema: NAME -->` and `<!-- end -->`, by name."""
    words = {name: schema.by_name[name] for name in ("cause", "blame_cause", "idle_verdict", "missing_kind")}
    return {
        "report_types": "\n".join(_section(types, each) for each in types.types),
        "report_units": table(("unit", "meaning"), list(types.units.items())),
        **{
            name: table(("word", "meaning"), [(value.word, value.meaning) for value in each.values])
            for name, each in words.items()
        },
    }


def shares(schema: Schema) -> dict[str, str]:
    """The table of docs/reference/metrics.md: each share with the name under which reports have it and the word that people read."""
    rows = [(f"`{value.name}`", value.word, value.meaning) for value in schema.by_name["share"].values]
    return {"share": table(("share", "shown as", "meaning"), rows)}


def _section(types: ReportSchema, each: ReportType) -> str:
    rows = [(f"`{one.name}`", _type(types, one), one.unit, one.meaning, one.unknown) for one in each.fields]
    return f"## {each.name}\n{each.meaning}\n\n" + table(("key", "type", "unit", "meaning", "null"), rows)


def _type(types: ReportSchema, each: ReportField) -> str:
    name = each.element
    text = f"[{name}](#{name.lower()})" if name in types.by_name else name
    if each.is_list:
        text = f"list of {text}"
    elif each.is_map:
        text = f"map from {each.keys or 'name'} to {text}"
    text += " or null" if each.is_nullable else ""
    return text + (", may be missing" if each.is_optional else "")
