"""Task programs with and without `--trimtab:tune=priority`, in turn: what the search costs where the order of tasks hardly matters.

python -m benchmarks.priorities [--pairs 14] [--long]
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.running import BenchError
from benchmarks.spread import spread

WORKLOADS = Path(__file__).resolve().parent.parent / "build" / "workloads"
_TUNED = "--trimtab:tune=priority"
_TWO = "--trimtab:workers=2"
_REDUCTIONS = ("reductions", "--updates", "8", "--steps")
# Only `reductions` has named kinds of task; the others show what watching for them costs.
_USUAL = (
    (*_REDUCTIONS, "60", "--trimtab:workers=4"),
    (*_REDUCTIONS, "60", "--trimtab:workers=8"),
    ("cg", "--size", "600", "--steps", "60", _TWO),
    ("heat_ring", "--steps", "200", _TWO),
    ("sort", "--no-check", _TWO),
    ("sparse_lu", _TWO),
    ("uts", _TWO),
    ("matmul", _TWO),
)
# Long enough for the search to come to its end.
_LONG = ((*_REDUCTIONS, "400", "--trimtab:workers=4"),)
_TIMEOUT_S = 300


def seconds_of(command: Sequence[str]) -> float:
    """How long one run takes."""
    began = time.perf_counter()
    completed = subprocess.run(
        [WORKLOADS / command[0], *command[1:]], capture_output=True, timeout=_TIMEOUT_S, check=False
    )
    if completed.returncode != 0:
        raise BenchError(f"{' '.join(command)}: expected exit code 0, found {completed.returncode}")
    return time.perf_counter() - began


def row_of(command: Sequence[str], pairs: int) -> str:
    """A row of the table; each pair begins with the other side."""
    bare: list[float] = []
    tuned: list[float] = []
    for number in range(pairs):
        for is_tuned in (True, False) if number % 2 == 0 else (False, True):
            (tuned if is_tuned else bare).append(seconds_of([*command, *([_TUNED] if is_tuned else [])]))
    ratio = spread([after / before for after, before in zip(tuned, bare, strict=True)])
    return (
        f"| `{' '.join(command)}` | {statistics.median(bare):.2f} s | {ratio.median:.3f} | "
        f"{ratio.low:.3f} to {ratio.high:.3f} | {pairs} |"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=14)
    parser.add_argument("--long", action="store_true", help="a program of 20 s instead")
    options = parser.parse_args()
    print("| program | as it is | tuned / as it is, median | 95 % interval | pairs |")
    print("|---|---|---|---|---|")
    for command in _LONG if options.long else _USUAL:
        print(row_of(command, options.pairs), flush=True)


if __name__ == "__main__":
    main()
