"""Options of the library in watched programs, of the task runtime and of jobs: what they may be, as the C++ tables say it.

options.json is what `trimtab-options json` prints; `rooms/options/write_tables.py` writes it, and a test compares them.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

_FILE = Path(__file__).with_name("options.json")


@dataclass(frozen=True)
class Option:
    """One variable.

    Attributes:
        variable: its name in the environment.
        default: its value where it is not set; empty: none.
        kind: text, path, flag, number, word, words or selection.
        help: what it means.
        argument: NAME of --trimtab:NAME=VALUE; empty: it is no argument.
        least, most: of a number.
        words: of word, words and selection, in order.
        file_ending: how the name of a file ends that is a value beside the words; empty: none is.
        has_tunables: WORD:NAME=VALUE,... is a value beside the words.
    """

    variable: str
    default: str
    kind: str
    help: str
    argument: str = ""
    least: int = 0
    most: int = 0
    words: tuple[str, ...] = ()
    file_ending: str = ""
    has_tunables: bool = False

    def problem(self, value: str) -> str | None:
        """What is wrong with a value; None: nothing.

        >>> library_option("TRIMTAB_KEEP").problem("newest")
        "expected one of first, last, found 'newest'"
        """
        if self._allows(value):
            return None
        return f"expected {self.expected}, found {value!r}"

    @property
    def expected(self) -> str:
        """What a value must be, behind the word expected."""
        words = ", ".join(self.words)
        if self.kind == "flag":
            return "0 or 1"
        if self.kind == "number":
            return f"a number from {self.least} to {self.most}"
        if self.kind == "word":
            return f"one of {words}" + (f" or a file *{self.file_ending}" if self.file_ending else "")
        return f"a comma list of {words}" if self.words else f"a {self.kind}"

    def _allows(self, value: str) -> bool:
        if self.kind == "flag":
            return value in ("0", "1")
        if self.kind == "number":
            return value.isascii() and value.isdigit() and self.least <= int(value) <= self.most
        if self.kind == "word":
            return self._allows_word(value)
        if self.kind == "words":
            return value == "" or set(value.removesuffix(",").split(",")) <= set(self.words)
        return True if self.kind != "selection" else not self.unknown_words(value)

    def _allows_word(self, value: str) -> bool:
        if self.file_ending and value.endswith(self.file_ending):
            return value != self.file_ending
        word, colon, tunables = value.partition(":")
        if not colon or not self.has_tunables:
            return value in self.words
        return word in self.words and tunables_problem(word, tunables) is None

    def unknown_words(self, value: str) -> list[str]:
        """The words of a selection that the option does not have."""
        given_words = [word.removeprefix("+") for word in value.split(",")]
        return [word for word in given_words if word not in ("", "none", *self.words)]


@dataclass(frozen=True)
class Tunable:
    """What may be set of a policy behind its colon: a number above 0 (or 0, where that is allowed), or a word.

    Attributes:
        expected: what the value must be, for messages.
    """

    name: str
    expected: str
    words: tuple[str, ...] = ()
    is_whole: bool = False
    is_zero_allowed: bool = False
    most: float = 0

    def allows(self, text: str) -> bool:
        """Whether the library takes this value."""
        if self.words:
            return text in self.words
        try:
            number = float(text)
        except ValueError:
            return False
        is_in_range = 0 < number <= self.most or (number == 0 and self.is_zero_allowed)
        return is_in_range and (not self.is_whole or text.isdigit())


def library_option(variable: str) -> Option:
    """The option of the library that this variable sets.

    Raises:
        KeyError: the library has none.
    """
    return _table("library")[variable]


def runtime_option(variable: str) -> Option:
    """The option of the task runtime that this variable sets.

    Raises:
        KeyError: the task runtime has none.
    """
    return _table("runtime")[variable]


def job_option(variable: str) -> Option:
    """The option of jobs of several processes that this variable sets.

    Raises:
        KeyError: they have none.
    """
    return _table("job")[variable]


@cache
def tunables() -> dict[str, tuple[Tunable, ...]]:
    """Of each policy for numbers of threads and of each power meter, by its name."""
    return {
        policy: tuple(Tunable(**_frozen(row)) for row in rows)
        for policy, rows in _export()["tunables"].items()
    }


def tunables_problem(policy: str, text: str) -> str | None:
    """What is wrong with NAME=VALUE,... behind a policy; None: nothing.

    >>> tunables_problem("asat-v2", "nice=20")
    "'nice=20': expected a whole number from 0 to 19"
    """
    by_name = {tunable.name: tunable for tunable in tunables()[policy]}
    for pair in text.split(",") if text else []:
        name, _, value = pair.partition("=")
        if name not in by_name:
            return f"{pair!r}: expected a tunable of {policy}: {', '.join(by_name or ('none',))}"
        if not by_name[name].allows(value):
            return f"{pair!r}: expected {by_name[name].expected}"
    return None


def checked_environment(values: dict[str, str | None]) -> dict[str, str]:
    """The variables that have a value.

    Raises:
        ValueError: the library would not understand one of them.
    """
    set_values = {variable: value for variable, value in values.items() if value is not None}
    for variable, value in set_values.items():
        if problem := library_option(variable).problem(value):
            raise ValueError(f"{variable}: {problem}")
    return set_values


@cache
def _table(name: str) -> dict[str, Option]:
    return {row["variable"]: Option(**_frozen(row)) for row in _export()[name]}


@cache
def _export() -> dict[str, Any]:
    table: dict[str, Any] = json.loads(_FILE.read_text(encoding="utf-8"))
    return table


def _frozen(row: dict[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in row.items()}
