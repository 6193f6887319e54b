"""Settings as the library inside the program reads them: rooms/steer, settings.hpp says the same."""

from __future__ import annotations

from collections.abc import Iterable

from trimtab.history.entry import Entry

_PLAIN = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:/+")


def settings_text(entries: Iterable[Entry]) -> str:
    """A line a subject; bytes that are not plain are written %XX."""
    lines = ["trimtab-settings 1"]
    for entry in entries:
        values = " ".join(f"{_word(knob)}={_word(value)}" for knob, value in sorted(entry.settings.items()))
        if values:
            lines.append(f"{_word(entry.subject)} {values}")
    return "\n".join(lines) + "\n"


def _word(text: str) -> str:
    raw = text.encode("utf-8", "surrogateescape")
    return "".join(chr(byte) if byte in _PLAIN else f"%{byte:02X}" for byte in raw) or "%"
