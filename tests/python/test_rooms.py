"""Rooms are described where they are: a README each, and the variables of `session` as the sources have them."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent


def test_each_room_says_what_it_is() -> None:
    rooms = sorted(path.parent for path in ROOT.glob("rooms/*/CMakeLists.txt"))
    assert len(rooms) >= 6
    for room in rooms:
        assert (room / "README.md").read_text().startswith(f"# {room.name}: ")


def test_table_of_variables_is_that_of_the_sources() -> None:
    text = (ROOT / "rooms/session/src/options.hpp").read_text()
    table = text[text.index("option_table[]") : text.index("};", text.index("option_table[]"))]
    rows = re.findall(r'\{"(\w+)", "([^"]*)",\s*"([^"]*)"\}', table)
    assert len(rows) == table.count('{"') > 10
    told = (ROOT / "rooms/session/README.md").read_text()
    for name, standard, meaning in rows:
        assert f"| `{name}` | {standard} | {meaning.replace('|', '/')} |\n" in told
