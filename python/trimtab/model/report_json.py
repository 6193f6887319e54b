"""Reports as plain data, for JSON."""

from __future__ import annotations

from typing import Any

import msgspec


def as_json(value: msgspec.Struct) -> dict[str, Any]:
    """A report, or a part of one, as dicts and lists whose keys are those of docs/reference/report.md."""
    fields: dict[str, Any] = msgspec.to_builtins(value)
    return fields
