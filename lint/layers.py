"""Folders inside a room that may not include each other's files at will: CMake only knows rooms.

python lint/layers.py       names each include that goes against an arrow; fails if there is one
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Of a room's src: the folders that each of its folders may include files of, besides its own. What lies in no folder may include all.
FOLDERS: dict[str, dict[str, tuple[str, ...]]] = {
    "openmp": {
        "runtimes": (),
        "accounting": ("runtimes",),
        "hooks": ("accounting", "runtimes"),
        "steering": ("hooks", "accounting", "runtimes"),
    }
}
_INCLUDE = re.compile(r'\s*#\s*include\s+"(\w+)/')


def wrong_includes(root: Path) -> Iterator[str]:
    """Each include of a folder that the file's own folder does not know, with its place."""
    for room, folders in FOLDERS.items():
        source = root / "rooms" / room / "src"
        for folder, allowed in folders.items():
            strangers = set(folders) - {folder, *allowed}
            for file in sorted((source / folder).rglob("*.[ch]pp")):
                yield from _of_file(file, folder, strangers, root)
            if not any((source / folder).rglob("*.[ch]pp")):
                yield f"{(source / folder).relative_to(root)}: no such folder, but {Path(__file__).name} has it"


def _of_file(file: Path, folder: str, strangers: set[str], root: Path) -> Iterator[str]:
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        include = _INCLUDE.match(line)
        if include and include[1] in strangers:
            yield f"{file.relative_to(root)}:{number}: {folder} may not include {include[1]}"


def main() -> int:
    """0, or 1 where an include is wrong."""
    wrong = list(wrong_includes(ROOT))
    print(*wrong, sep="\n")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
