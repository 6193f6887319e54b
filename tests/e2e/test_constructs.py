"""One small program per construct, by each compiler: what is reported is what was written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

COMPILERS = ["gcc", "clang-19"]
Run = Callable[..., Any]
Compiled = Callable[..., Path]

HEAD = "#include <omp.h>\n#include <stdio.h>\n#include <math.h>\nvolatile double sink; double a[1000];\n"


def program(body: str) -> str:
    return f"{HEAD}int main(void) {{\n{body}\nreturn 0; }}\n"


def only_region(report: dict[str, Any]) -> dict[str, Any]:
    assert len(report["regions"]) == 1, [region["name"] for region in report["regions"]]
    region: dict[str, Any] = report["regions"][0]
    return region


@pytest.mark.parametrize("optimise", ["-O0", "-O2"])
@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize(
    ("clause", "schedule", "chunk", "chunks"),
    [
        ("dynamic,8", "dynamic", 8, 125),
        ("dynamic", "dynamic", 1, 1000),
        ("guided,4", "guided", 4, None),
        ("runtime", "runtime", None, None),
    ],
)
@pytest.mark.parametrize("separate", [True, False])
def test_loops_that_the_runtime_hands_out(
    run: Run,
    compiled: Compiled,
    compiler: str,
    optimise: str,
    clause: str,
    schedule: str,
    chunk: int,
    chunks: int | None,
    separate: bool,
) -> None:
    directive = "parallel\n#pragma omp for" if separate else "parallel for"
    source = program(
        f"for (int r = 0; r < 7; r++) {{\n#pragma omp {directive} schedule({clause})\n"
        "for (int i = 0; i < 1000; i++) a[i] = sin(i);\n}"
    )
    report = run(compiled(source, compiler, optimise)).report()
    region = only_region(report)
    assert region["calls"] == 7
    assert (region["schedule"], region["iterations"]) == (schedule, 1000)
    assert region["chunk"] == chunk
    (loop,) = region["loops"]
    assert loop["executed"] == 7 * 1000
    if chunks is not None and not (compiler == "clang-19" and clause == "dynamic"):
        assert loop["chunks"] == 7 * chunks


@pytest.mark.parametrize("compiler", COMPILERS)
def test_static_loops(run: Run, compiled: Compiled, compiler: str) -> None:
    source = program(
        "for (int r = 0; r < 5; r++) {\n#pragma omp parallel for schedule(static)\n"
        "for (int i = 0; i < 1000; i++) a[i] = sin(i);\n}"
    )
    region = only_region(run(compiled(source, compiler)).report())
    assert region["calls"] == 5
    if compiler == "gcc":  # inlined: what remains is that the function asks for the number of threads
        assert (region["schedule"], region["iterations"]) == ("static (inferred)", None)
    else:
        assert (region["schedule"], region["iterations"]) == ("static", 1000)
        assert region["loops"][0]["executed"] == 5000


@pytest.mark.parametrize("threads", ["2", "3", "5"])
def test_static_chunks_of_clang_add_up(run: Run, compiled: Compiled, threads: str) -> None:
    source = program(
        "#pragma omp parallel for schedule(static,7)\nfor (int i = 0; i < 1000; i++) a[i] = sin(i);"
    )
    import os

    region = only_region(
        run(compiled(source, "clang-19"), env={**os.environ, "OMP_NUM_THREADS": threads}).report()
    )
    assert (region["schedule"], region["chunk"], region["iterations"]) == ("static", 7, 1000)
    assert region["loops"][0]["executed"] == 1000
    assert region["threads"] == int(threads)


@pytest.mark.parametrize("compiler", COMPILERS)
def test_barriers_locks_and_singles(run: Run, compiled: Compiled, compiler: str) -> None:
    source = program(
        "#pragma omp parallel num_threads(2)\n{\nfor (int r = 0; r < 10; r++) {\n#pragma omp barrier\n"
        "#pragma omp critical\nsink += 1;\n#pragma omp single\nsink += 1;\n}\n}"
    )
    watched = run(compiled(source, compiler))
    region = only_region(watched.report())
    assert region["threads"] == 2
    assert "barrier" in region["waits"]
    from trimtab.analysis.account import rows_of
    from trimtab.readers import open_run

    (process,) = open_run(watched.directory).processes
    locks, singles = rows_of(process, "lock"), rows_of(process, "single")
    assert int(locks["count"].sum()) == 20
    assert int(singles["count"].sum()) == 20
    assert int(singles["x"][:, 0].sum()) == 10
    waits = rows_of(process, "wait")
    # 10 explicit barriers, and the one at the end of each single, on both lanes
    assert int(waits["count"][waits["flags"] == 2].sum()) == 40


@pytest.mark.parametrize("compiler", COMPILERS)
def test_sections(run: Run, compiled: Compiled, compiler: str) -> None:
    source = program(
        "#pragma omp parallel sections num_threads(2)\n{\n#pragma omp section\nsink += 1;\n#pragma omp section\nsink += 2;\n"
        "#pragma omp section\nsink += 3;\n}"
    )
    region = only_region(run(compiled(source, compiler)).report())
    assert region["schedule"] == "sections"


@pytest.mark.parametrize("compiler", COMPILERS)
def test_tasks_are_counted_and_are_work(run: Run, compiled: Compiled, compiler: str) -> None:
    source = program(
        "#pragma omp parallel num_threads(2)\n#pragma omp single\nfor (int t = 0; t < 40; t++) {\n#pragma omp task\n"
        "{ double s = 0; for (int k = 0; k < 100000; k++) s += sin(k); a[t] = s; }\n}"
    )
    report = run(compiled(source, compiler)).report()
    (task,) = report["tasks"]
    assert (task["count"], task["created"]) == (40, 40)
    region = only_region(report)
    # Tasks run in barriers: had they been taken for waiting, there would be little work.
    assert region["work_s"] >= 0.9 * task["total_s"]


@pytest.mark.parametrize("compiler", COMPILERS)
def test_nested_regions(run: Run, compiled: Compiled, compiler: str) -> None:
    source = program(
        "omp_set_max_active_levels(2);\n#pragma omp parallel num_threads(2)\n{\n#pragma omp parallel num_threads(3)\n"
        "{ for (int k = 0; k < 100000; k++) sink = sin(k); }\n}"
    )
    report = run(compiled(source, compiler)).report()
    assert sorted((r["nested"], r["calls"], r["threads"]) for r in report["regions"]) == [
        (False, 1, 2),
        (True, 2, 3),
    ]
    assert sum(report["time"].values()) == pytest.approx(1.0)


@pytest.mark.parametrize("compiler", COMPILERS)
def test_a_false_if_is_a_region_of_one_thread(run: Run, compiled: Compiled, compiler: str) -> None:
    source = program(
        "volatile int no = 0;\nfor (int r = 0; r < 3; r++) {\n#pragma omp parallel if(no)\nsink += 1;\n}"
    )
    region = only_region(run(compiled(source, compiler)).report())
    assert (region["calls"], region["threads"]) == (3, 1)


@pytest.mark.parametrize("compiler", COMPILERS)
def test_changing_thread_counts(run: Run, compiled: Compiled, compiler: str) -> None:
    source = program(
        "for (int n = 1; n <= 4; n++) {\nomp_set_num_threads(n);\n#pragma omp parallel\n{\n#pragma omp atomic\nsink += n;\n}\n}"
    ).replace("volatile double sink", "double sink")
    region = only_region(run(compiled(source, compiler)).report())
    assert (region["calls"], region["threads"]) == (4, 4)
    assert sum(lane["calls"] for lane in region["lanes"]) == 1 + 2 + 3 + 4


@pytest.mark.parametrize("compiler", ["g++", "clang++-19"])
def test_several_host_threads_each_with_a_team(run: Run, compiled: Compiled, compiler: str) -> None:
    source = (
        "#include <thread>\n#include <vector>\n#include <cmath>\nvolatile double sink;\n"
        "int main() { std::vector<std::thread> hosts; for (int h = 0; h < 3; h++) hosts.emplace_back([] {\n"
        "for (int r = 0; r < 20; r++) {\n#pragma omp parallel num_threads(2)\n{ double s = 0;"
        " for (int k = 0; k < 2000; k++) s += std::sin(k); sink = s; }\n} });\n"
        "for (auto& h : hosts) h.join(); }\n"
    )
    report = run(compiled(source, compiler, "-pthread", suffix=".cpp")).report()
    region = only_region(report)
    assert (region["calls"], region["threads"]) == (60, 2)
    assert sum(report["time"].values()) == pytest.approx(1.0)


@pytest.mark.parametrize("compiler", COMPILERS)
def test_many_captured_variables(run: Run, compiled: Compiled, compiler: str) -> None:
    names = [f"v{i}" for i in range(90)]
    declare = "".join(f"double {name} = {i};" for i, name in enumerate(names))
    body = "".join(f"a[{i}] = {name};" for i, name in enumerate(names))
    source = program(
        f"{declare}\n#pragma omp parallel num_threads(2)\n{{\n#pragma omp critical\n{{ {body} v0 += 1; }}\n}}\n"
        'double s = v0; for (int i = 0; i < 90; i++) s += a[i]; printf("%g\\n", s);'
    )
    watched = run(compiled(source, compiler))
    assert watched.done.stdout in ("4008\n", "4007\n", "4006\n")
    assert only_region(watched.report())["calls"] == 1


def test_fortran(run: Run, compiled: Compiled) -> None:
    source = (
        "program p\n  integer :: i\n  real(8) :: a(1000)\n!$omp parallel do schedule(dynamic,10)\n"
        "  do i = 1, 1000\n    a(i) = sin(real(i, 8))\n  end do\n!$omp end parallel do\n  print *, a(1) > 0\nend program\n"
    )
    region = only_region(run(compiled(source, "gfortran", suffix=".f90")).report())
    assert (region["schedule"], region["chunk"], region["iterations"]) == ("dynamic", 10, 1000)
