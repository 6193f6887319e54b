"""Where the threads of a program run: words such as "80 % pinned" as CPUs of this machine."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from trimtab.experiments.topology import Cpu

FORM = "'all free', 'all pinned', 'N % free', 'N % pinned', each with ' on one socket' after it if wanted"
# What a placement sets for OpenMP programs.
VARIABLES = ("OMP_NUM_THREADS", "OMP_PLACES", "OMP_PROC_BIND")
_WORDS = re.compile(r"(?:all|(\d+(?:\.\d+)?) ?%) (free|pinned)( on one socket)?")


class PlacementError(ValueError):
    """No placement, or none on this machine: says what was expected and found."""


@dataclass(frozen=True)
class Wish:
    """The words of a placement, read: a share of all CPUs, pinned or not, on one socket or on all."""

    share: float
    is_pinned: bool
    is_on_one_socket: bool


@dataclass(frozen=True)
class Placement:
    """One thread for each CPU. Threads that are pinned stay on theirs; others move among all of `cpus`."""

    cpus: tuple[int, ...]
    is_pinned: bool

    def environment(self) -> dict[str, str]:
        """What an OpenMP program reads. An empty value removes the variable that the caller may have."""
        places = ",".join(f"{{{cpu}}}" for cpu in self.cpus) if self.is_pinned else ""
        bind = "true" if self.is_pinned else "false"
        return dict(zip(VARIABLES, (str(len(self.cpus)), places, bind), strict=True))


def wish_of(words: str) -> Wish:
    """The words, read.

    Example:
        >>> wish_of("80 % pinned")
        Wish(share=0.8, is_pinned=True, is_on_one_socket=False)

    Raises:
        PlacementError: they are of another form, or the share is not from above 0 to 100 %.
    """
    match = _WORDS.fullmatch(words)
    share = 1.0 if match is None or match[1] is None else float(match[1]) / 100
    if match is None or not 0 < share <= 1:
        raise PlacementError(FORM)
    return Wish(share, match[2] == "pinned", match[3] is not None)


def placement_of(words: str, cpus: Sequence[Cpu]) -> Placement:
    """The CPUs for `words` out of `cpus`: the share is rounded down, and at least one.

    Sockets have the same number of threads, as far as possible. In each, cores come before second hardware threads of cores
    that are used already, and fast cores before slow ones.

    Raises:
        PlacementError: `words` are no placement, or no socket has that many CPUs.
    """
    wish = wish_of(words)
    # What is exact in decimals may be less in binary: 0.29 * 100.
    count = max(1, int(len(cpus) * wish.share + 1e-9))
    by_socket: dict[int, list[Cpu]] = {}
    for cpu in cpus:
        by_socket.setdefault(cpu.socket, []).append(cpu)
    sockets = [sorted(members, key=_order) for _, members in sorted(by_socket.items())]
    if wish.is_on_one_socket:
        largest = max(sockets, key=len)
        # "all" means all of that socket.
        count = min(count, len(largest)) if wish.share == 1 else count
        if count > len(largest):
            raise PlacementError(
                f"a socket with {count} CPUs for '{words}', found at most {len(largest)} in one"
            )
        sockets = [largest]
    chosen = sorted(cpu.number for cpu in _in_turn(sockets, count))
    return Placement(tuple(chosen), wish.is_pinned)


def _order(cpu: Cpu) -> tuple[int, int, int]:
    return cpu.thread, -cpu.capacity, cpu.number


def _in_turn(sockets: Sequence[Sequence[Cpu]], count: int) -> list[Cpu]:
    """One CPU of each socket, then the next of each, until there are `count`."""
    longest = max(map(len, sockets))
    in_turn = [socket[at] for at in range(longest) for socket in sockets if at < len(socket)]
    return in_turn[:count]


def replaced_environment(environment: Mapping[str, str], placement: Placement | None) -> dict[str, str]:
    """`environment` with the variables of the placement, and without those that it leaves empty."""
    replaced = {**environment, **({} if placement is None else placement.environment())}
    return {
        name: value for name, value in replaced.items() if value or placement is None or name not in VARIABLES
    }


@contextmanager
def bound(placement: Placement | None) -> Iterator[None]:
    """Programs that are started meanwhile may use only the CPUs of a placement that is not pinned.

    One that is pinned needs no more than its environment: what observes the program stays on the CPUs that it leaves free.
    """
    if placement is None or placement.is_pinned:
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, placement.cpus)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
