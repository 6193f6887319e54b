"""Texts of others in a line of ours: names of programs, files, subjects; what a run's files say; what a program printed.

A terminal obeys escape sequences, and shows text after a bidirectional override in another order than it is: names that
hold them could change what the reader sees. So everything that is printed goes through here.
"""

from __future__ import annotations

from typing import Any


def printable(text: str, allowed: str = "") -> str:
    r"""`text` with escapes for what a terminal would not show as it is, but for the characters in `allowed`.

    These are control characters, changes of direction, characters without width, and undecodable bytes.

    Example:
        >>> printable("a\nb\tc"), printable("a\nb\tc", allowed="\t")
        ('a\\nb\\tc', 'a\\nb\tc')
        >>> printable("\x1b[2J \u202e \u200b \udc80 größer")
        '\\x1b[2J \\u202e \\u200b \\udc80 größer'
    """
    if text.isprintable():
        return text
    return "".join(
        letter if letter.isprintable() or letter in allowed else repr(letter)[1:-1] for letter in text
    )


def all_printable(value: Any) -> Any:
    """`value`, which is as JSON has it, with each of its texts, keys included, made printable."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, dict):
        return {printable(str(key)): all_printable(element) for key, element in value.items()}
    if isinstance(value, list | tuple):
        return [all_printable(element) for element in value]
    return value
