"""Writes the tables into the pages in docs/, between <!-- bench NAME --> and <!-- end -->."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path

from benchmarks import tables
from benchmarks.targets import targets

Blocks = Mapping[str, Callable[[tables.Results], str]]
BLOCKS: Blocks = {
    "machine": tables.machine,
    "targets": targets,
    "scopes": tables.scopes,
    "constructs": tables.constructs,
    "programs-machine": tables.programs_machine,
    "once": tables.once,
    "programs": tables.programs,
    "own-cost": tables.own_costs,
    "hooks": tables.hooks,
    "starts": tables.starts,
    "reading": tables.reading,
}
_BLOCK = re.compile(r"(<!-- bench ([a-z-]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def filled(text: str, results: tables.Results, blocks: Blocks = BLOCKS) -> str:
    """The text with every block made anew.

    Raises:
        ValueError: a block is unknown or missing.
    """
    names = [result[2] for result in _BLOCK.finditer(text)]
    if sorted(names) != sorted(blocks):
        raise ValueError(f"expected the blocks {', '.join(sorted(blocks))}, found {', '.join(sorted(names))}")
    return _BLOCK.sub(lambda result: f"{result[1]}{blocks[result[2]](results)}\n{result[3]}", text)


def write(path: Path, results: tables.Results, blocks: Blocks = BLOCKS) -> None:
    """Fill the blocks of the file at `path`."""
    try:
        text = filled(path.read_text(encoding="utf-8"), results, blocks)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error
    path.write_text(text, encoding="utf-8")
