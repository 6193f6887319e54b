"""Which of a program's loops may be run by virtual threads: found before it starts, with the reasons for all others."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from trimtab.model.enumerations import Missing

if TYPE_CHECKING:
    from trimtab.binary_check import Outlined

# Named one by one; of more, the number.
_MOST_TOLD = 5


@dataclass(frozen=True)
class Fit:
    """What was found.

    Attributes:
        functions: that are fit, as the library in the program names them.
        unavailable: why others are not, for the run's list.
    """

    functions: tuple[str, ...] = ()
    unavailable: list[dict[str, str]] = field(default_factory=list)


def find_fit(program: Path) -> Fit:
    """Check the outlined functions of `program` and of the libraries that it is linked with."""
    try:
        # Only now: reading machine code is nobody else's need.
        from trimtab.binary_check import check_program

        loops = check_program(program, os.environ.get("LD_LIBRARY_PATH", ""))
    except ImportError:
        return Fit(
            (), [_entry("the package capstone, which reads machine code, is missing", "pip install capstone")]
        )
    fit = tuple(each.key for each in loops if not each.why)
    left = [each for each in loops if each.why]
    told = [_entry(f"{_name(each)}: {each.why}", "") for each in left[:_MOST_TOLD]]
    if len(left) > _MOST_TOLD:
        told.append(_entry(f"{len(left) - _MOST_TOLD} functions more", ""))
    if not loops:
        told.append(_entry(f"{program}: no static loop of GCC's is in it, or in what it is linked with", ""))
    return Fit(fit, told)


def _name(function: Outlined) -> str:
    return f"{function.path.name}: {function.name or hex(function.address)}"


def _entry(why: str, remedy: str) -> dict[str, str]:
    return {
        "what": str(Missing.VIRTUAL_THREADS),
        "why": why,
        "remedy": remedy,
        "kind": str(Missing.VIRTUAL_THREADS),
    }
