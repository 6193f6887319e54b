"""Numbers of things in a sentence."""

from __future__ import annotations


def counted(count: float, noun: str) -> str:
    """`1 thread`, `2 threads`, `1.5 CPUs`, `2 processes`."""
    number = count if isinstance(count, int) else f"{count:g}"
    plural = "es" if noun.endswith("s") else "s"
    return f"{number} {noun}{'' if count == 1 else plural}"
