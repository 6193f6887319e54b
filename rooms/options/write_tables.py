"""Writes the tables of options anew: python/trimtab/options.json, and those in the documentation. --check only compares.

It takes them from build/wheel/rooms/session/trimtab-options, which `./x build` makes.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PROGRAM = ROOT / "build/wheel/rooms/session/trimtab-options"
EXPORT = "python/trimtab/options.json"
# Which tables are where, between <!-- options: NAME --> and <!-- end of options -->.
PAGES = {"rooms/session/README.md": ("library", "foreign"), "docs/reference/options.md": ("runtime", "job")}


def printed(what: str) -> str:
    """One of the tables, as the program has it."""
    return subprocess.run([PROGRAM, what], capture_output=True, text=True, check=True).stdout


def with_table(page: str, name: str) -> str:
    """The page with this table in its place."""
    begin, end = f"<!-- options: {name} -->\n", "<!-- end of options -->"
    made, count = re.subn(
        f"({re.escape(begin)}).*?({re.escape(end)})",
        lambda match: match[1] + printed(name) + match[2],
        page,
        flags=re.S,
    )
    assert count == 1, f"expected one {begin.strip()}, found {count}"
    return made


def files() -> dict[str, str]:
    """What each file is to be."""
    made = {EXPORT: printed("json")}
    for page, names in PAGES.items():
        text = (ROOT / page).read_text(encoding="utf-8")
        for name in names:
            text = with_table(text, name)
        made[page] = text
    return made


def main() -> int:
    """1: with --check something is stale."""
    stale = {name: text for name, text in files().items() if not _is(ROOT / name, text)}
    for name, text in stale.items():
        if "--check" in sys.argv:
            print(f"{name}: stale; run rooms/options/write_tables.py after ./x build")
        else:
            (ROOT / name).write_text(text, encoding="utf-8")
    return 1 if stale and "--check" in sys.argv else 0


def _is(path: Path, text: str) -> bool:
    return path.exists() and path.read_text(encoding="utf-8") == text


if __name__ == "__main__":
    sys.exit(main())
