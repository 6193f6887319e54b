"""GLIBC_TUNABLES, as the C library reads it. Imported before a program starts, so it needs nothing."""

from __future__ import annotations

from collections.abc import Mapping


def as_variable(tunables: Mapping[str, str]) -> str:
    """The value of GLIBC_TUNABLES.

    >>> as_variable({"glibc.malloc.hugetlb": "1"})
    'glibc.malloc.hugetlb=1'
    """
    return ":".join(f"{name}={value}" for name, value in tunables.items())
