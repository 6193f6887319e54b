"""The Barcelona OpenMP Tasks Suite: which of its programs are measured, and how they are built from its sources."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from benchmarks.running import BenchError

COMPILERS = {"gcc": "gcc", "clang": "clang-19"}
_TIME = re.compile(r"^Time Program\s*=\s*([\d.]+) seconds", re.MULTILINE)
_CHECKED = re.compile(r"^Verification\s*=\s*(.*)$", re.MULTILINE)
# What the programs print of themselves; they do not compile without.
_INFO = [f'-D{name}="-"' for name in ("CDATE", "CC", "LD", "CMESSAGE", "LDFLAGS", "CFLAGS")]


@dataclass(frozen=True)
class BotsProgram:
    """One program in one of its versions.

    Attributes:
        folder: below omp-tasks.
        sources: in it.
        arguments: by compiler, for some 0.3 to 1 s on two threads; "INPUTS" stands for the suite's folder of inputs.
        version: "", MANUAL, IF or FINAL: how the program makes fewer tasks.
        is_tied: its untied tasks are made tied ones: clang takes no array of variable length in these, and LLVM's runtime
            (19, with assertions) ends programs whose untied tasks have a false `if`.
    """

    name: str
    folder: str
    sources: tuple[str, ...]
    arguments: dict[str, str]
    version: str = ""
    is_tied: bool = False


def _both(arguments: str) -> dict[str, str]:
    return dict.fromkeys(COMPILERS, arguments)


def _program(name: str, arguments: dict[str, str], version: str = "", **overrides: object) -> BotsProgram:
    title = f"{name}-{version.lower()}" if version else name
    return BotsProgram(title, name, (f"{name}.c",), arguments, version, **overrides)  # type: ignore[arg-type]


_ALIGNMENT = ("alignment.c", "sequence.c")
PROGRAMS = (
    BotsProgram(
        "alignment-for", "alignment/alignment_for", _ALIGNMENT, _both("-f INPUTS/alignment/prot.20.aa")
    ),
    BotsProgram(
        "alignment-single", "alignment/alignment_single", _ALIGNMENT, _both("-f INPUTS/alignment/prot.20.aa")
    ),
    _program("concom", {"gcc": "-n 500000", "clang": "-n 300000"}),
    _program("fft", _both("-n 8388608")),
    _program("fib", _both("-n 29")),
    _program("fib", {"gcc": "-n 47 -x 12", "clang": "-n 42 -x 12"}, "MANUAL"),
    _program("fib", {"gcc": "-n 37 -x 12", "clang": "-n 34 -x 12"}, "IF", is_tied=True),
    _program("fib", {"gcc": "-n 37 -x 12", "clang": "-n 33 -x 12"}, "FINAL"),
    _program("floorplan", _both("-f INPUTS/floorplan/input.15"), is_tied=True),
    _program("floorplan", _both("-f INPUTS/floorplan/input.15 -x 5"), "MANUAL", is_tied=True),
    _program("floorplan", _both("-f INPUTS/floorplan/input.15 -x 5"), "IF", is_tied=True),
    _program("health", _both("-f INPUTS/health/small.input")),
    _program("health", _both("-f INPUTS/health/small.input -x 3"), "MANUAL"),
    _program("health", _both("-f INPUTS/health/small.input -x 2"), "IF", is_tied=True),
    _program("knapsack", _both("-f INPUTS/knapsack/knapsack-036.input")),
    _program("knapsack", _both("-f INPUTS/knapsack/knapsack-036.input -x 6"), "MANUAL"),
    _program(
        "knapsack",
        {
            "gcc": "-f INPUTS/knapsack/knapsack-036.input -x 6",
            "clang": "-f INPUTS/knapsack/knapsack-032.input -x 6",
        },
        "IF",
        is_tied=True,
    ),
    _program("nqueens", _both("-n 11")),
    _program("nqueens", _both("-n 13 -x 4"), "MANUAL"),
    _program("nqueens", _both("-n 12 -x 4"), "IF", is_tied=True),
    _program("nqueens", _both("-n 12 -x 4"), "FINAL"),
    _program("sort", _both("-n 8388608")),
    BotsProgram("sparselu-for", "sparselu/sparselu_for", ("sparselu.c",), _both("-n 40 -m 80")),
    BotsProgram("sparselu-single", "sparselu/sparselu_single", ("sparselu.c",), _both("-n 40 -m 80")),
    _program("strassen", _both("-n 2048")),
    _program("strassen", _both("-n 2048 -x 3"), "MANUAL"),
    _program("strassen", _both("-n 2048 -x 3"), "IF", is_tied=True),
    BotsProgram("uts", "uts", ("uts.c", "brg_sha1.c"), _both("-f INPUTS/uts/test.input")),
)


def build(program: BotsProgram, compiler: str, suite: Path, out: Path) -> list[str]:
    """The command that runs the program, which is compiled if it is not there yet.

    Raises:
        BenchError: the suite is not in `suite`, or the compiler refuses it.
    """
    common, folder = suite / "common", suite / "omp-tasks" / program.folder
    for entry in (common, folder):
        if not entry.is_dir():
            raise BenchError(f"{entry}: expected a folder of the Barcelona OpenMP Tasks Suite, found none")
    out.mkdir(parents=True, exist_ok=True)
    created = out / f"{program.name}-{compiler}"
    if not created.exists():
        sources = [folder / source for source in program.sources]
        if program.is_tied:
            sources = [_tied(source, out / f"{program.name}-{source.name}") for source in sources]
        command = [
            *(COMPILERS[compiler], "-std=gnu89", "-O3", "-g", "-w", "-fopenmp", "-fcommon", *_INFO),
            *([f"-D{program.version}_CUTOFF"] if program.version else []),
            *(f"-I{common}", f"-I{folder}", "-o", str(created)),
            *(str(common / one_entry) for one_entry in ("bots_main.c", "bots_common.c")),
            *(str(source) for source in sources),
            "-lm",
        ]
        completed = subprocess.run(command, capture_output=True, text=True, check=False)
        if completed.returncode != 0:
            raise BenchError(
                f"{program.name}, {compiler}: does not compile: {completed.stderr.strip()[:300]}"
            )
    arguments = program.arguments[compiler].replace("INPUTS", str(suite / "inputs"))
    return [str(created), *arguments.split()]


def _tied(source: Path, copy: Path) -> Path:
    text = source.read_text(encoding="utf-8", errors="replace")
    copy.write_text(re.sub(r"\btask\s+untied\b", "task", text), encoding="utf-8")
    return copy


def seconds(printed: str) -> float:
    """What the program says that it took, without its start and its check."""
    result = _TIME.search(printed)
    if result is None:
        raise BenchError(f"expected a line 'Time Program = ... seconds', found {printed[-200:]!r}")
    return float(result[1])


def is_right(printed: str) -> bool:
    """Of a run with `-c`: whether its answer was the expected one, or there is none to compare with."""
    result = _CHECKED.search(printed)
    return result is not None and result[1].strip().lower() in ("successful", "not applicable")
