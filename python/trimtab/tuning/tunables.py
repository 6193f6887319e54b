"""GLIBC_TUNABLES: settings of the C library in one variable, name=value with colons between them."""

from __future__ import annotations

from collections.abc import Mapping

from trimtab.glibc import as_variable

VARIABLE = "GLIBC_TUNABLES"


def tunables_of(text: str) -> dict[str, str]:
    """Value by name, in order; what is no setting is left out, as the C library does.

    >>> tunables_of("glibc.malloc.hugetlb=1:nothing")
    {'glibc.malloc.hugetlb': '1'}
    """
    pairs = (part.partition("=") for part in text.split(":"))
    return {name: value for name, sign, value in pairs if sign and name}


def merged(*texts: str) -> str:
    """All of them; where two say different things, the later one.

    >>> merged("a=1:b=2", "b=3")
    'a=1:b=3'
    """
    values: dict[str, str] = {}
    for text in texts:
        values |= tunables_of(text)
    return as_variable(values)


def with_variables(environment: Mapping[str, str], added: Mapping[str, str]) -> dict[str, str]:
    """`environment` of the user with what a program is to be started with: of the C library's settings the user's own stay.

    >>> with_variables({"GLIBC_TUNABLES": "a=1"}, {"GLIBC_TUNABLES": "a=2:b=2", "OMP_NUM_THREADS": "2"})
    {'GLIBC_TUNABLES': 'a=1:b=2', 'OMP_NUM_THREADS': '2'}
    """
    result = {**environment, **added}
    if VARIABLE in environment and VARIABLE in added:
        users = environment[VARIABLE]
        result[VARIABLE] = merged(users, added[VARIABLE], users)
    return result
