"""Texts of others in a line of ours."""

from __future__ import annotations


def printable(text: str, also: str = "") -> str:
    r"""`text` with escapes for what a terminal would not show as it is, but for the characters in `also`.

    Example:
        >>> printable("a\nb\tc"), printable("a\nb\tc", also="\t")
        ('a\\nb\\tc', 'a\\nb\tc')
    """
    return "".join(each if each.isprintable() or each in also else repr(each)[1:-1] for each in text)
