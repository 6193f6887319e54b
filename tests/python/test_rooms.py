"""Rooms are described where they are, in a README each, and only one file of theirs reads the environment."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent


def test_each_room_says_what_it_is() -> None:
    rooms = sorted(path.parent for path in ROOT.glob("rooms/*/CMakeLists.txt"))
    assert len(rooms) >= 8
    for room in rooms:
        assert (room / "README.md").read_text().startswith(f"# {room.name}: ")


# What reads or changes the environment of a process, in C++.
ENVIRONMENT = re.compile(r"\b(?:(?:secure_)?getenv|(?:un)?setenv|putenv|clearenv|_*environ)\b|/environ\b")
COMMENTS = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


def test_one_file_reads_the_environment() -> None:
    sources = [
        path
        for path in sorted(ROOT.glob("rooms/*/**/*.[chi]*"))
        if path.relative_to(ROOT).parts[2] not in ("test", "bench")
    ]
    assert len(sources) > 200
    result = {
        str(path.relative_to(ROOT))
        for path in sources
        if ENVIRONMENT.search(COMMENTS.sub("", path.read_text(encoding="utf-8")))
    }
    assert result == {"rooms/options/src/environment.cpp"}
