"""Commands with places for values: {factor}; {{ and }} stand for braces."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

_PART = re.compile(r"\{\{|\}\}|\{([A-Za-z_]\w*)\}|[{}]")
# Beside factors and fixed values: which sample it is, from 1 on, and a seed of its own for each.
EXTRA = ("sample", "seed")


class TemplateError(ValueError):
    """Text with a place that has no value: says what was expected and found."""


def filled(text: str, values: Mapping[str, object]) -> str:
    """`text` with values in its places.

    Example:
        >>> filled("--steps={steps} {{x}}", {"steps": 5})
        '--steps=5 {x}'

    Raises:
        TemplateError: a name is not known, or a brace stands alone.
    """

    def value(match: re.Match[str]) -> str:
        name = match[1]
        if name is not None:
            if name not in values:
                raise TemplateError(
                    f"one of {', '.join('{' + name_known + '}' for name_known in values)}, found {{{name}}}"
                )
            return str(values[name])
        if len(match[0]) == 2:
            return match[0][0]
        raise TemplateError(f"'{match[0] * 2}' for a brace that is meant, found '{match[0]}'")

    return _PART.sub(value, text)


def names_in(texts: Iterable[str]) -> set[str]:
    """The names that `texts` have places for."""
    return {match[1] for text in texts for match in _PART.finditer(text) if match[1] is not None}
