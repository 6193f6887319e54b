"""Programs of the rows of pattern_rows.py: one for each compiler, with all patterns that it builds."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

from benchmarks.pattern_rows import COMPILERS, CPP, CPP_PATTERNS, FORTRAN, SCHEDULE, Pattern
from benchmarks.pattern_rows_fortran import FORTRAN_PATTERNS

HERE = Path(__file__).resolve().parent
PATTERNS = (*CPP_PATTERNS, *FORTRAN_PATTERNS)
_SUFFIXES = {CPP: ".cpp", FORTRAN: ".f90"}
_PARALLEL = ("#pragma omp parallel", "!$omp parallel")


def patterns_of(compiler: str) -> list[Pattern]:
    """All rows that this compiler builds."""
    return [pattern for pattern in PATTERNS if pattern.is_for(compiler)]


def source_of(patterns: Iterable[Pattern], language: str, *, by_hand: bool = False) -> str:
    """The program; `by_hand`: with the schedule that an expert tries first wherever one can be written."""
    chosen = list(patterns)
    write = _cpp if language == CPP else _fortran
    return write(
        [(row, row.code.replace(SCHEDULE, row.by_hand if by_hand else row.schedule)) for row in chosen]
    )


def _cpp(rows: list[tuple[Pattern, str]]) -> str:
    text = '#include "patterns.hpp"\n'
    for row, code in rows:
        text += (
            f'{row.outside}\nextern "C" void {row.name}(int instances) {{\n{row.before}\n'
            f"for (int instance = 0; instance < instances; ++instance) {{\n{code}\n}}\n{row.after}\n}}\n"
        )
    table = "".join(f'    {{"{row.name}", {row.name}}},\n' for row, _ in rows)
    return (
        f"{text}int main(int argc, char** argv) {{\n  const pattern all[] = {{\n{table}  }};\n"
        "  return run_patterns(all, sizeof all / sizeof all[0], argc, argv);\n}\n"
    )


def _fortran(rows: list[tuple[Pattern, str]]) -> str:
    text = ""
    for row, code in rows:
        text += (
            f"subroutine {row.name}(instances)\nuse patterns\ninteger, intent(in) :: instances\n"
            f"integer :: instance, i\n{row.before}\ndo instance = 1, instances\n{code}\nend do\n{row.after}\n"
            f"end subroutine\n\n"
        )
    names = [row.name for row, _ in rows]
    calls = "".join(f"call run_pattern('{name}', {name})\n" for name in names)
    declared = "".join(f"external :: {name}\n" for name in names)
    return f"{text}program all_patterns\nuse patterns\n{declared}call prepare()\n{calls}call end_patterns()\nend program\n"


def region_lines(source: str, name: str) -> list[int]:
    """Lines of the parallel directives of a pattern, in order."""
    lines = source.splitlines()
    begin = next(at for at, line in enumerate(lines) if re.search(rf"\b(void|subroutine) {name}\(", line))
    end = next(at for at in range(begin, len(lines)) if lines[at] in ("}", "end subroutine"))
    return [at + 1 for at in range(begin, end) if lines[at].startswith(_PARALLEL)]


def build(
    folder: Path,
    compiler: str,
    patterns: Sequence[Pattern],
    *,
    by_hand: bool = False,
    has_marks: bool = False,
) -> Path:
    """Write and compile the program of these patterns; gives the executable, whose source lies beside it.

    Args:
        folder: for both.
        compiler: one of COMPILERS.
        patterns: rows that this compiler builds.
        by_hand: with another schedule, see source_of.
        has_marks: each iteration takes the time, so that the program's clock knows when the last one has finished.
    """
    language = COMPILERS[compiler]
    program = folder / f"patterns-{compiler}{'-by-hand' if by_hand else ''}"
    source = program.with_name(program.name + _SUFFIXES[language])
    source.write_text(source_of(patterns, language, by_hand=by_hand), encoding="utf-8")
    flags = ["-g", "-O2", "-fopenmp"]
    if compiler.startswith("clang"):
        flags.append("-Wno-pass-failed")  # simd of a loop with an inner one
    if language == CPP:
        sources = ["-I", str(HERE), *(["-DPATTERNS_MARKS"] if has_marks else []), str(source)]
    else:
        sources = ["-J", str(folder), str(HERE / "patterns.f90"), str(source)]
    subprocess.run([compiler, *flags, *sources, "-o", str(program)], check=True)
    return program
