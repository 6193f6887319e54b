"""Numbers of things in a sentence."""

from __future__ import annotations


def counted(count: float, what: str) -> str:
    """`1 thread`, `2 threads`, `1.5 CPUs`, `2 processes`."""
    number = count if isinstance(count, int) else f"{count:g}"
    plural = "es" if what.endswith("s") else "s"
    return f"{number} {what}{'' if count == 1 else plural}"
