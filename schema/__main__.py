"""Writes what is generated from the schema. With `--check`: says what is not up to date, and which numbers are by hand."""

from __future__ import annotations

import sys
from pathlib import Path

from schema import (
    cpp,
    json_schema,
    markdown,
    python_code,
    report_markdown,
    report_python,
    report_typescript,
    typescript,
)
from schema.handwritten import found_in
from schema.records import SCHEMA
from schema.report import REPORT_SCHEMA

ROOT = Path(__file__).resolve().parent.parent
TRIMTAB_H = "rooms/observe/include/trimtab.h"
RUN_DIRECTORY = "docs/reference/run-directory.md"
REPORT = "docs/reference/report.md"
METRICS = "docs/reference/metrics.md"


def generated(root: Path) -> dict[str, str]:
    """Every generated file by its path below the root, and what it must be."""
    found = {
        "rooms/observe/include/trimtab/observe/format.hpp": cpp.header(SCHEMA),
        "rooms/observe/include/trimtab/observe/words.hpp": cpp.words(SCHEMA),
        "rooms/observe/test/format_fields.inc": cpp.field_list(SCHEMA),
        "python/trimtab/model/enumerations.py": python_code.enumerations(SCHEMA),
        "python/trimtab/readers/layout.py": python_code.layout(SCHEMA),
        "python/trimtab/model/report.py": report_python.report(SCHEMA, REPORT_SCHEMA),
        "viewer/src/enumerations.ts": typescript.enumerations(SCHEMA),
        "viewer/src/report.ts": report_typescript.report(SCHEMA, REPORT_SCHEMA),
        "docs/reference/report.schema.json": json_schema.report(SCHEMA, REPORT_SCHEMA),
    }
    in_c = {
        enumeration.name: cpp.c_enumeration(enumeration)
        for enumeration in SCHEMA.enumerations
        if enumeration.header
    }
    found[TRIMTAB_H] = with_blocks(TRIMTAB_H, (root / TRIMTAB_H).read_text(), in_c, "/* {} */")
    tables = {
        RUN_DIRECTORY: markdown.blocks(SCHEMA),
        REPORT: report_markdown.blocks(SCHEMA, REPORT_SCHEMA),
        METRICS: report_markdown.shares(SCHEMA),
    }
    for path, in_docs in tables.items():
        found[path] = with_blocks(path, (root / path).read_text(), in_docs, "<!-- {} -->")
    return found


def with_blocks(name: str, text: str, blocks: dict[str, str], comment: str) -> str:
    """`text` with what stands between the comments `schema: NAME` and `end` replaced by the block of that name.

    Raises:
        ValueError: `text` has no such place for one of the blocks, or has it twice.
    """
    for block, content in blocks.items():
        begin, end = comment.format(f"schema: {block}") + "\n", comment.format("end") + "\n"
        if text.count(begin) != 1:
            raise ValueError(f"{name}: expected one place for {block}, found {text.count(begin)}")
        before, _, rest = text.partition(begin)
        _, found, after = rest.partition(end)
        if not found:
            raise ValueError(f"{name}: the place for {block} has no end")
        text = before + begin + content + end + after
    return text


def stale(root: Path) -> list[str]:
    """The generated files that are not what the schema says."""
    return [path for path, text in generated(root).items() if _content(root / path) != text]


def main(arguments: list[str]) -> int:
    """0; with `--check` 1 where a file is not what the schema says, or code has a number by hand."""
    if "--check" in arguments:
        found = [f"{path}: not what schema/ says; run ./x schema" for path in stale(ROOT)]
        found += [f"{each}; schema/ has a name for it" for each in found_in(ROOT, SCHEMA)]
        print(*found, sep="\n", end="\n" if found else "")
        return 1 if found else 0
    for path in stale(ROOT):
        (ROOT / path).write_text(generated(ROOT)[path])
        print(f"wrote {path}")
    return 0


def _content(path: Path) -> str | None:
    return path.read_text() if path.exists() else None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
