"""How long functions are, how many parameters they take, and how many ways lead through them.

    python lint/functions.py    prints the figures of each language; fails above a limit

Lines are those with code (lizard's `nloc`). A way through a function is what McCabe's cyclomatic complexity counts.
"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from statistics import median
from typing import Any

import lizard

ROOT = Path(__file__).resolve().parent.parent
MOST_LINES_OF_HALF, MOST_LINES_OF_NINE_TENTHS = 7, 20
MOST_PARAMETERS, MOST_WAYS = 6, 25
LANGUAGES = {
    "C++": ("rooms/*.hpp", "rooms/*.cpp"),
    "Python": ("python/*.py", "benchmarks/*.py", "lint/*.py", "schema/*.py", "tests/*.py"),
    "TypeScript": ("viewer/src/*.ts",),
}
# Functions whose parameters somebody else has chosen: by file and name, with the reason.
FOREIGN_PARAMETERS = (
    ("rooms/openmp/src/hooks/*", "*", "the entry points of the OpenMP runtimes, and what they hand on"),
    (
        "rooms/openmp/src/accounting/region_thunks.cpp",
        "*",
        "as many arguments as LLVM's runtime gives a region",
    ),
    ("rooms/session/src/preload_seccomp.cpp", "*", "a system call with its arguments"),
    ("rooms/tasks/test/interleaved.hpp", "*", "a system call with its arguments"),
    ("rooms/tasks/include/trimtab/tasks/algorithms/*", "*", "the C++ standard's algorithms"),
    ("rooms/tasks/src/policies/contract.hpp", "*", "a requires-expression, no function"),
    ("python/trimtab/cli/*", "*", "the options of a command"),
    ("benchmarks/*", "*", "what each part of the benchmarks is given, and parameters that are given by name"),
    ("tests/*", "*", "fixtures, and parts of samples that are given by name"),
)


@dataclass(frozen=True)
class Function:
    """A function in a file of ours, with its figures."""

    place: str
    name: str
    lines: int
    parameters: int
    ways: int

    def problems(self) -> list[str]:
        """What is above a limit."""
        file = self.place.partition(":")[0]
        is_foreign = any(
            fnmatchcase(file, path) and fnmatchcase(self.name, name) for path, name, _ in FOREIGN_PARAMETERS
        )
        violations = []
        if self.parameters > MOST_PARAMETERS and not is_foreign:
            violations.append(f"{self.parameters} parameters, expected at most {MOST_PARAMETERS}")
        if self.ways > MOST_WAYS:
            violations.append(f"complexity {self.ways}, expected at most {MOST_WAYS}")
        return violations


def functions_of(patterns: tuple[str, ...]) -> list[Function]:
    """All functions in the repository's files that match."""
    command = ["git", "ls-files", "--", *patterns]
    files = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    return [
        Function(
            f"{file}:{function.start_line}",
            function.name.rpartition("::")[2],
            function.nloc,
            _parameters(function),
            function.cyclomatic_complexity,
        )
        for file in files
        for function in lizard.analyze_file(str(ROOT / file)).function_list
    ]


def _parameters(function: Any) -> int:
    """Parameters without the object of a method."""
    return sum(name.strip() not in ("self", "cls") for name in function.parameters)


def main() -> int:
    """0, or 1 where a figure is above its limit."""
    is_failed = False
    for language, patterns in LANGUAGES.items():
        functions = functions_of(patterns)
        lines = sorted(function.lines for function in functions)
        half, nine_tenths = median(lines), lines[len(lines) * 9 // 10]
        print(
            f"{language}: {len(functions)} functions; lines: median {half:g}, nine tenths at most {nine_tenths}, longest {lines[-1]}"
        )
        if half > MOST_LINES_OF_HALF or nine_tenths > MOST_LINES_OF_NINE_TENTHS:
            print(
                f"  expected a median of at most {MOST_LINES_OF_HALF} and nine tenths of at most {MOST_LINES_OF_NINE_TENTHS} lines"
            )
            is_failed = True
        for function in functions:
            for problem in function.problems():
                print(f"  {function.place}: {function.name}: {problem}")
                is_failed = True
    return int(is_failed)


if __name__ == "__main__":
    sys.exit(main())
