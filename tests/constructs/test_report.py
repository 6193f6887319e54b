"""What the report says of programs by each compiler: each region with its place, its team and its loop, as written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from probe_run import record
from trimtab.analysis import build
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
            found = (region["schedule"], region["chunk"], region["iterations"])
            assert found == ("static (inferred)", None, None)
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
    found = (region["line"], region["schedule"], region["chunk"], region["iterations"])
    assert found == (4, "dynamic", 10, 1000)
