"""Writes the tables of docs/reference/run-directory.md."""

from __future__ import annotations

from collections.abc import Sequence

from schema.description import Enumeration, EventKind, Field, Metric, Record, Schema


def blocks(schema: Schema) -> dict[str, str]:
    """What stands between `<!-- schema: NAME -->` and `<!-- end -->`, by name."""
    found = {
        "files": _files(schema),
        "units": table(("unit", "meaning"), list(schema.units.items())),
        "names": _names(schema),
        "event_kind": _event_kinds(schema),
        "metric": _metrics(schema),
    }
    found |= {record.name: _record(schema, record) for record in schema.records}
    for enumeration in schema.enumerations:
        if enumeration.type and enumeration.name not in (*found, "name_tag"):
            found[enumeration.name] = _enumeration(enumeration)
    return found


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [f"|{''.join(f' {cell} |' if cell else ' |' for cell in row)}\n" for row in (head, *rows)]
    return lines[0] + "|" + "---|" * len(head) + "\n" + "".join(lines[1:])


def _files(schema: Schema) -> str:
    rows = [(f"`{file.path}`", file.content, _bytes(schema, file.record)) for file in schema.files]
    return table(("file", "content", "record"), rows)


def _bytes(schema: Schema, record: str) -> str:
    if not record:
        return ""
    return "variable" if record == "name_record" else f"{schema.bytes_of(schema.record(record))} bytes"


def _record(schema: Schema, record: Record) -> str:
    offsets = schema.offsets(record)
    rows = [
        (
            str(record.start + at),
            _type(schema, field),
            field.name,
            _meaning(schema, field),
            field.unit,
            field.unknown,
        )
        for at, field in zip(offsets, record.fields, strict=True)
    ]
    return f"{record.meaning}\n\n" + table(("byte", "type", "field", "meaning", "unit", "not known"), rows)


def _type(schema: Schema, field: Field) -> str:
    if field.element == "char":
        return f"{field.count} bytes"
    stored = schema.stored(field.element)
    return f"{field.count} {stored}" if "[" in field.type else stored


def _meaning(schema: Schema, field: Field) -> str:
    kind = schema.by_name.get(field.element)
    return "; ".join(part for part in (field.meaning, f"a {kind.name}" if kind else "") if part)


def _enumeration(each: Enumeration) -> str:
    rows = [(str(value.number), value.name, value.meaning) for value in each.values]
    return f"**{each.name}**: {each.meaning}\n\n" + table(("number", "name", "meaning"), rows)


def _event_kinds(schema: Schema) -> str:
    kinds = [
        value
        for value in schema.by_name["event_kind"].values
        if isinstance(value, EventKind) and value.number
    ]
    rows = [(str(kind.number), kind.name, kind.meaning, kind.arg, kind.a, kind.b) for kind in kinds]
    return table(("kind", "name", "meaning", "arg", "a", "b"), rows)


def _metrics(schema: Schema) -> str:
    rows = [
        (str(metric.number), metric.name, metric.meaning, _fields(metric), metric.flags)
        for metric in schema.metrics()
    ]
    return table(("metric", "name", "ticks are", "x", "flags"), rows)


def _fields(metric: Metric) -> str:
    return "<br>".join(f"{field.number} {field.name}: {field.text}" for field in metric.fields)


def _names(schema: Schema) -> str:
    rows = [
        (
            str(name.tag),
            name.name.removeprefix("name_"),
            ", ".join(_fixed(schema, field) for field in name.fields),
            "; ".join(name.strings),
        )
        for name in schema.names
    ]
    return table(("tag", "name", "fixed part from byte 8", "texts"), rows)


def _fixed(schema: Schema, field: Field) -> str:
    said = "; ".join(part for part in (field.meaning, field.unknown) if part)
    return f"{_type(schema, field)} {field.name}" + (f" ({said})" if said else "")
