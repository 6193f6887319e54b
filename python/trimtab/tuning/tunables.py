"""Variables that hold several settings, name=value: those of the C library (GLIBC_TUNABLES) and those of Spark."""

from __future__ import annotations

from collections.abc import Mapping

from trimtab.launcher.spark import SETTINGS_VARIABLE

VARIABLE = "GLIBC_TUNABLES"
# What separates settings in variables that hold several of them.
_SEPARATORS = {VARIABLE: ":", SETTINGS_VARIABLE: ";"}


def tunables_of(text: str, separator: str = ":") -> dict[str, str]:
    """Value by name, in order; what is no setting is left out, as the C library does.

    >>> tunables_of("glibc.malloc.hugetlb=1:nothing")
    {'glibc.malloc.hugetlb': '1'}
    """
    pairs = (part.partition("=") for part in text.split(separator))
    return {name: value for name, sign, value in pairs if sign and name}


def merged(*texts: str, separator: str = ":") -> str:
    """All of them; where two say different things, the later one.

    >>> merged("a=1:b=2", "b=3")
    'a=1:b=3'
    """
    values: dict[str, str] = {}
    for text in texts:
        values |= tunables_of(text, separator)
    return separator.join(f"{name}={value}" for name, value in values.items())


def combined(first: Mapping[str, str], second: Mapping[str, str]) -> dict[str, str]:
    """Variables of both, `second` where they say different things, also within one variable.

    >>> combined({"GLIBC_TUNABLES": "a=1:b=1"}, {"GLIBC_TUNABLES": "b=2"})
    {'GLIBC_TUNABLES': 'a=1:b=2'}
    """
    result = {**first, **second}
    for name, separator in _SEPARATORS.items():
        if name in first and name in second:
            result[name] = merged(first[name], second[name], separator=separator)
    return result


def holds_several(name: str) -> bool:
    """Whether this variable holds several settings."""
    return name in _SEPARATORS


def sets_anything_new(name: str, value: str, environment: Mapping[str, str]) -> bool | None:
    """Whether `value` has settings that `environment` lacks; None: the variable does not hold several settings."""
    separator = _SEPARATORS.get(name)
    if separator is None:
        return None
    users = tunables_of(environment.get(name, ""), separator)
    return not tunables_of(value, separator).keys() <= users.keys()


def with_variables(environment: Mapping[str, str], added: Mapping[str, str]) -> dict[str, str]:
    """`environment` of the user with what a program is to be started with: the user's own settings stay.

    >>> with_variables({"GLIBC_TUNABLES": "a=1"}, {"GLIBC_TUNABLES": "a=2:b=2", "OMP_NUM_THREADS": "2"})
    {'GLIBC_TUNABLES': 'a=1:b=2', 'OMP_NUM_THREADS': '2'}
    """
    result = {**environment, **added}
    for name, separator in _SEPARATORS.items():
        if name in environment and name in added:
            users = environment[name]
            result[name] = merged(users, added[name], users, separator=separator)
    return result
