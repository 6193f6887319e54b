"""Writes docs/reference/top.schema.json, the JSON Schema of `trimtab top --json`, from the types that it prints."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
from trimtab.live.model import Look

PATH = Path(__file__).parents[1] / "docs/reference/top.schema.json"


def text() -> str:
    """What the file should have."""
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **msgspec.json.schema(Look)}
    return json.dumps(schema, indent=2) + "\n"


if __name__ == "__main__":
    PATH.write_text(text())
