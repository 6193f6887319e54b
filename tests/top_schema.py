"""Writes docs/reference/top.schema.json, the JSON Schema of `trimtab top --json`, from the types that it prints."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

import msgspec
from trimtab.live.model import Look

PATH = Path(__file__).parents[1] / "docs/reference/top.schema.json"


def text() -> str:
    """What the file should have."""
    of_types = msgspec.json.schema(Look)
    _clean_descriptions(of_types)
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **of_types}
    return json.dumps(schema, indent=2) + "\n"


def _clean_descriptions(part: Any) -> None:
    """Without the indentation of the docstrings, which msgspec before 0.23 leaves in."""
    for value in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
        _clean_descriptions(value)
    if isinstance(part, dict) and isinstance(part.get("description"), str):
        part["description"] = inspect.cleandoc(part["description"])


if __name__ == "__main__":
    PATH.write_text(text())
