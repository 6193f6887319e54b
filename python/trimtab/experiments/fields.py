"""The tables of an experiment file, read key by key: what is wrong is told with file, key, value and what is allowed."""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from trimtab.experiments.spec import ExperimentError, Value

_NOTHING: Any = object()


class Fields:
    """One table of a TOML file. Each key is taken once; `done` complains of what nobody took."""

    def __init__(self, file: Path, location: str, table: object) -> None:
        self.file, self._where = file, location
        if not isinstance(table, Mapping):
            raise ExperimentError(f"{file}: key '{location}': expected a table, found {shown(table)}")
        self._table: dict[str, Any] = dict(table)
        self._known: list[str] = []

    def __contains__(self, key: str) -> bool:
        return key in self._table

    def wrong(self, key: str, expected: str, actual: object = _NOTHING) -> NoReturn:
        """An error about `key`."""
        description = "nothing" if actual is _NOTHING else shown(actual)
        raise ExperimentError(
            f"{self.file}: key '{self.path(key)}': expected {expected}, found {description}"
        )

    def path(self, key: str) -> str:
        """`key` as seen from the top of the file."""
        return f"{self._where}.{key}" if self._where else key

    def take(self, key: str, default: Any = _NOTHING, expected: str = "a value") -> Any:
        """Whatever is there, or `default`; without one the key must be there."""
        self._known.append(key)
        if key in self._table:
            return self._table.pop(key)
        if default is _NOTHING:
            self.wrong(key, expected)
        return default

    def text(self, key: str, default: Any = _NOTHING) -> Any:
        """A string that is not empty (or the default)."""
        value = self.take(key, default, "a string")
        if value != default and (not isinstance(value, str) or not value):
            self.wrong(key, "a string that is not empty", value)
        return value

    def integer(self, key: str, default: int, smallest: int) -> int:
        """A whole number."""
        value = self.take(key, default)
        if isinstance(value, bool) or not isinstance(value, int) or value < smallest:
            self.wrong(key, f"a whole number from {smallest} on", value)
        return int(value)

    def number(self, key: str, default: Any, smallest: float, largest: float = math.inf) -> Any:
        """A number in [least, most], or the default."""
        value = self.take(key, default)
        if value is default:
            return default
        if isinstance(value, bool) or not isinstance(value, int | float) or not smallest <= value <= largest:
            self.wrong(
                key,
                f"a number from {smallest:g} " + (f"to {largest:g}" if largest < math.inf else "on"),
                value,
            )
        return float(value)

    def flag(self, key: str, default: bool) -> bool:
        """true or false."""
        value = self.take(key, default)
        if not isinstance(value, bool):
            self.wrong(key, "true or false", value)
        return value

    def one_of(self, key: str, allowed: Sequence[str], default: Any = _NOTHING) -> Any:
        """One of some words."""
        value = self.take(key, default, f"one of {', '.join(allowed)}")
        if value is not default and value not in allowed:
            self.wrong(key, f"one of {', '.join(allowed)}", value)
        return value

    def words(self, key: str, allowed: Sequence[str] | None = None) -> tuple[str, ...]:
        """A string, or a list of them; nothing is an empty one."""
        value = self.take(key, [])
        parts = [value] if isinstance(value, str) else value
        description = "a string or a list of strings" if allowed is None else f"some of {', '.join(allowed)}"
        if not isinstance(parts, list) or not all(
            isinstance(part, str) and (allowed is None or part in allowed) for part in parts
        ):
            self.wrong(key, description, value)
        return tuple(parts)

    def table(self, key: str) -> Fields:
        """A table; an empty one if it is not there."""
        return Fields(self.file, self.path(key), self.take(key, {}))

    def tables(self, key: str) -> list[Fields]:
        """An array of tables ([[key]]), each known by its number."""
        value = self.take(key, [])
        if not isinstance(value, list):
            self.wrong(key, f"tables, written [[{self.path(key)}]]", value)
        return [Fields(self.file, f"{self.path(key)}[{at}]", element) for at, element in enumerate(value, 1)]

    def rest(self) -> dict[str, Any]:
        """All keys that are left, for tables whose keys are the user's names."""
        remaining, self._table = self._table, {}
        return remaining

    def done(self) -> None:
        """Every key was known, or there is an error."""
        for key in self._table:
            close = difflib.get_close_matches(key, self._known, 1)
            hint = f"; did you mean '{close[0]}'?" if close else ""
            raise ExperimentError(
                f"{self.file}: unknown key '{self.path(key)}'{hint} (allowed: {', '.join(sorted(self._known))})"
            )


def shown(value: object) -> str:
    """A value as an error writes it: as in the file, and not too long."""
    if isinstance(value, bool):
        return "true" if value else "false"
    text = f"'{value}'" if isinstance(value, str) else str(value)
    return text if len(text) <= 60 else text[:57] + "..."


def is_value(value: object) -> bool:
    """Whether a factor or a fixed value can be this."""
    return isinstance(value, str | int | bool) or (isinstance(value, float) and math.isfinite(value))


def as_word(value: Value) -> str:
    """A value as a program gets it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
