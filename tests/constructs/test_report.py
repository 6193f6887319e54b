"""What the report says of programs by each compiler: each region with its place, its team and its loop, as written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from probe_run import record
from reports import build
from trimtab.readers import open_run

LOOP = "for (int i = 0; i < 1000; i++) a[i] += i;"
# directive: (schedule, chunk, iterations, executed, chunks) of seven calls; None: the runtime decides, or it is unknown
WRITTEN: dict[str, tuple[str | None, int | None, int | None, int | None, int | None]] = {
    f"parallel for schedule(dynamic, 8)\n{LOOP}": ("dynamic", 8, 1000, 7000, 875),
    f"parallel\n#pragma omp for schedule(dynamic)\n{LOOP}": ("dynamic", 1, 1000, 7000, 7000),
    f"parallel for schedule(guided, 4)\n{LOOP}": ("guided", 4, 1000, 7000, None),
    f"parallel for schedule(runtime)\n{LOOP}": ("runtime", None, 1000, 7000, None),
    f"parallel for schedule(static, 7)\n{LOOP}": ("static", 7, 1000, 7000, 1001),
    f"parallel for schedule(static)\n{LOOP}": ("static", None, 1000, 7000, 28),
    "parallel sections\n{\n#pragma omp section\na[0]++;\n#pragma omp section\na[1]++;\n}": (
        "sections",
        None,
        2,
        14,
        None,
    ),
    'parallel\n{ __asm__ volatile(""); }': (None, None, None, None, None),
}


def _program() -> tuple[str, list[int]]:
    """The program, and the lines that its regions stand in."""
    text, lines = "int a[1000];\nint main(void) {\nfor (int r = 0; r < 7; r++) {\n", []
    for directive in WRITTEN:
        lines.append(text.count("\n") + 1)
        text += f"#pragma omp {directive}\n"
    return text + "}\nreturn 0; }\n", lines


def _report(tmp_path: Path, compiler: str, source: str, *flags: str, suffix: str = ".c") -> dict[str, Any]:
    record(tmp_path, compiler, source, (*flags, "-g", "-fopenmp"), suffix=suffix)
    report = build(open_run(tmp_path / "run"))
    assert sum(report["time"].values()) == pytest.approx(1.0)
    report["regions"].sort(key=lambda region: region["line"])
    return report


@pytest.mark.parametrize("optimize", ["-O0", "-O2"])
@pytest.mark.parametrize("compiler", ["gcc", "clang-19"])
def test_regions_are_as_written(tmp_path: Path, compiler: str, optimize: str) -> None:
    """Place, calls, threads; schedule, chunk, iterations. GCC inlines static loops, whose figures are unknown."""
    source, lines = _program()
    regions = _report(tmp_path, compiler, source, optimize)["regions"]
    assert [region["line"] for region in regions] == lines
    for region, (directive, expected) in zip(regions, WRITTEN.items(), strict=True):
        assert (region["function"], region["calls"], region["threads"]) == ("main", 7, 4), directive
        schedule, chunk, iterations, executed, chunks = expected
        if compiler == "gcc" and schedule == "static":
            result = (region["schedule"], region["chunk"], region["iterations"])
            assert result == ("static (inferred)", None, None)
            continue
        assert (region["schedule"], region["chunk"], region["iterations"]) == (schedule, chunk, iterations)
        if executed is not None:
            assert region["loops"][0]["executed"] == executed
        if chunks is not None:
            assert region["loops"][0]["chunks"] == chunks


@pytest.mark.parametrize("compiler", ["gcc", "clang-19"])
def test_nested_regions_and_tasks(tmp_path: Path, compiler: str) -> None:
    """A nested region is told to be one; tasks have their counts, and those that run in barriers are work."""
    source = """#include <omp.h>
int main(void) {
omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
{
#pragma omp parallel num_threads(3)
{ for (int k = 0; k < 100000; k++) __asm__ volatile(""); }
}
#pragma omp parallel num_threads(2)
#pragma omp single
for (int t = 0; t < 40; t++) {
#pragma omp task
for (int k = 0; k < 100000; k++) __asm__ volatile("");
}
return 0; }
"""
    report = _report(tmp_path, compiler, source, "-O2")
    regions = report["regions"]
    assert [(r["line"], r["nested"], r["calls"], r["threads"]) for r in regions] == [
        (4, False, 1, 2),
        (6, True, 2, 3),
        (9, False, 1, 2),
    ]
    (task,) = report["tasks"]
    assert (task["count"], task["created"]) == (40, 40)
    assert regions[2]["work_s"] >= 0.9 * task["total_s"]


@pytest.mark.parametrize("compiler", ["gfortran"])
def test_fortran(tmp_path: Path, compiler: str) -> None:
    """Fortran's regions have their places, too."""
    source = """program p
integer :: i
real(8) :: a(1000)
!$omp parallel do schedule(dynamic,10)
do i = 1, 1000
a(i) = i
end do
!$omp end parallel do
print *, a(1) > 0
end program
"""
    (region,) = _report(tmp_path, compiler, source, "-O2", suffix=".f90")["regions"]
    result = (region["line"], region["schedule"], region["chunk"], region["iterations"])
    assert result == (4, "dynamic", 10, 1000)
    assert region["function"] == "main program"


_CXX = """#include <vector>
namespace heat {
template <class T> struct grid {
  std::vector<T> points = std::vector<T>(1000);
  void step() {
#pragma omp parallel for schedule(dynamic, 16)
    for (auto it = points.begin(); it < points.end(); ++it) *it += 1;
  }
};
}
int main() {
  heat::grid<double> g;
  g.step();
  auto scale = [&] {
#pragma omp parallel for schedule(static, 4)
    for (auto it = g.points.rbegin(); it < g.points.rend(); it++) *it *= 2;
  };
  scale();
#pragma omp parallel
  {
#pragma omp for schedule(dynamic, 8) nowait
    for (auto it = g.points.begin(); it < g.points.end(); ++it) *it += 1;
#pragma omp for schedule(guided)
    for (std::size_t i = 0; i < g.points.size(); i++) g.points.at(i) += 1;
  }
}
"""


@pytest.mark.parametrize("optimize", ["-O0", "-O1", "-O3"])
@pytest.mark.parametrize("compiler", ["g++", "clang++-19"])
def test_loops_over_iterators_are_in_the_program(tmp_path: Path, compiler: str, optimize: str) -> None:
    """Not in the header of the C++ library whose code a loop begins with; and two loops of one region are told apart."""
    regions = _report(tmp_path, compiler, _CXX, optimize, suffix=".cpp")["regions"]
    assert [region["line"] for region in regions] == [6, 15, 19]
    assert all(region["file"].endswith("program.cpp") for region in regions)
    functions = [region["function"] for region in regions]
    assert functions[0] == "heat::grid<double>::step" and functions[2] == "main"
    # A compiler gives the line of the directive, or of the loop behind it.
    directives = [[6], [15], [21, 23]]
    for region, lines in zip(regions, directives, strict=True):
        names = sorted(loop["name"] for loop in region["loops"])
        assert len(names) == len(lines)
        for name, line in zip(names, lines, strict=True):
            assert name.startswith((f"program.cpp:{line} ", f"program.cpp:{line + 1} ")), names
