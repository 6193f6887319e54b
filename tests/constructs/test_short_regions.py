"""Programs of many short regions: all are counted, though the members of most are not timed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from probe_run import Recorded, record
from reports import build
from trimtab.model import NO_SUBJECT, ROWS_UNTIMED
from trimtab.model.enumerations import Metric
from trimtab.readers import open_run

COMPILERS = ("gcc", "clang-19")
CALLS = 20_000
HEAD = "#include <omp.h>\n#include <stdio.h>\n"


def _loop(body: str) -> str:
    return f"for (int i = 0; i < {CALLS}; i++) {{\n{body}\n}}"


def _main(body: str) -> str:
    return f"{HEAD}int main(void) {{\n{body}\nreturn 0; }}\n"


def _report(tmp_path: Path, compiler: str, body: str, threads: int, level: str = "profile") -> dict[str, Any]:
    record(tmp_path, compiler, _main(body), threads=threads, level=level)
    report = build(open_run(tmp_path / "run"))
    assert sum(report["time"].values()) == pytest.approx(1.0)
    return report


def _untimed(tmp_path: Path) -> int:
    (process,) = open_run(tmp_path / "run").processes
    rows = process.lanes[0].rows
    return int(rows["count"][(rows["what"] == Metric.REGION) & (rows["flags"] == ROWS_UNTIMED)].sum())


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("threads", [1, 2])
def test_every_instance_is_counted(tmp_path: Path, compiler: str, threads: int) -> None:
    body = _loop('#pragma omp parallel\n__asm__ volatile("");')
    (region,) = _report(tmp_path, compiler, body, threads)["regions"]
    assert (region["calls"], region["threads"]) == (CALLS, threads)
    assert [lane["calls"] for lane in region["lanes"]] == [CALLS] * threads
    assert 0 < region["work_s"] < threads * region["wall_s"]
    # With more than one thread this is up to the machine.
    if threads == 1:
        assert _untimed(tmp_path) > 0


def test_in_a_trace_all_are_timed(tmp_path: Path) -> None:
    body = _loop('#pragma omp parallel\n__asm__ volatile("");')
    (region,) = _report(tmp_path, "gcc", body, 1, "trace")["regions"]
    assert (region["calls"], _untimed(tmp_path)) == (CALLS, 0)


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("threads", [1, 2])
def test_static_loops_are_counted(tmp_path: Path, compiler: str, threads: int) -> None:
    body = "static int a[8];\n" + _loop("#pragma omp parallel for\nfor (int k = 0; k < 8; k++) a[k] += k;")
    (region,) = _report(tmp_path, compiler, body, threads)["regions"]
    assert [loop["executions"] for loop in region["loops"]] == [CALLS]
    if threads == 1:
        assert _untimed(tmp_path) > 0
    if compiler == "clang-19":
        assert region["loops"][0]["executed"] == 8 * CALLS


@pytest.mark.parametrize("threads", [1, 2])
def test_reductions_are_left_to_the_sample(tmp_path: Path, threads: int) -> None:
    loop = "#pragma omp parallel for reduction(+: t)\nfor (int k = 0; k < 8; k++) t += k;"
    body = "long t = 0;\n" + _loop(loop) + f"\nif (t != 28L * {CALLS}) return 1;"
    (region,) = _report(tmp_path, "clang-19", body, threads)["regions"]
    assert [loop["executed"] for loop in region["loops"]] == [8 * CALLS]
    assert region["waits"]["reduction"] > 0
    if threads == 1:
        assert _untimed(tmp_path) > 0


def test_loops_that_may_be_shared_out_anew_are_timed(tmp_path: Path) -> None:
    body = "static int a[8];\n" + _loop("#pragma omp parallel for\nfor (int k = 0; k < 8; k++) a[k] += k;")
    record(tmp_path, "clang-19", _main(body), threads=2, TRIMTAB_TUNE="shuffle")
    assert _untimed(tmp_path) == 0


@pytest.mark.parametrize("compiler", COMPILERS)
def test_loops_that_cannot_be_shared_out_anew_are_left_to_the_sample(tmp_path: Path, compiler: str) -> None:
    body = "static int a[8];\n" + _loop("#pragma omp parallel for\nfor (int k = 0; k < 8; k++) a[k] += k;")
    record(tmp_path, compiler, _main(body), threads=1, TRIMTAB_TUNE="frozen")
    assert _untimed(tmp_path) > 0


def _locks(seen_values: Recorded) -> dict[int, int]:
    """Entries of critical sections by the region that they are in."""
    result: dict[int, int] = {}
    for lane in seen_values.process.lanes:
        for row in lane.rows[lane.rows["what"] == Metric.LOCK]:
            result[int(row["in_region"])] = result.get(int(row["in_region"]), 0) + int(row["count"])
    return result


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("threads", [1, 2])
def test_a_construct_that_comes_late_belongs_to_its_region(
    tmp_path: Path, compiler: str, threads: int
) -> None:
    body = _loop(f"""
#pragma omp parallel
    {{
      if (i >= {CALLS} - 2000) {{
#pragma omp critical
        __asm__ volatile("");
      }}
      __asm__ volatile("");
    }}
#pragma omp critical
    __asm__ volatile("");""")
    seen_values = record(tmp_path, compiler, _main(body), threads=threads)
    (region,) = {
        int(row["subject"]) for row in seen_values.process.lanes[0].rows if row["what"] == Metric.REGION
    }
    assert _locks(seen_values) == {region: 2000 * threads, NO_SUBJECT: CALLS}


@pytest.mark.parametrize("compiler", COMPILERS)
def test_a_region_inside_that_comes_late_is_nested(tmp_path: Path, compiler: str) -> None:
    body = _loop(f"""
#pragma omp parallel
    {{
      __asm__ volatile("");
      if (i >= {CALLS} - 100) {{
#pragma omp parallel
        __asm__ volatile("" ::: "memory");
        __asm__ volatile("");
      }}
    }}""")
    regions = _report(tmp_path, compiler, body, 1)["regions"]
    assert sorted((region["nested"], region["calls"]) for region in regions) == [(False, CALLS), (True, 100)]


@pytest.mark.parametrize("count", [0, 1, 3, 4, 5, 16, 17])
def test_captured_variables_arrive(tmp_path: Path, count: int) -> None:
    """Of clang's code each is an argument of the call: those of short regions are handed on, too."""
    names = [f"v{k}" for k in range(count)]
    variables = "".join(f"long {name} = 0;\n" for name in names)
    adds = "".join(f"{name} += {k + 1};\n" for k, name in enumerate(names)) or '__asm__ volatile("");\n'
    reported = "".join(f'printf("%ld\\n", {name});\n' for name in names)
    body = variables + _loop(f"#pragma omp parallel\n{{\n{adds}}}") + reported
    seen_values = record(tmp_path, "clang-19", _main(body), ("-O0", "-fopenmp"), threads=1)
    assert seen_values.output.split() == [str((k + 1) * CALLS) for k in range(count)]
    assert (_untimed(tmp_path) > 0) == (count <= 16)


@pytest.mark.parametrize("compiler", COMPILERS)
def test_teams_of_changing_size_have_the_threads_they_had(tmp_path: Path, compiler: str) -> None:
    body = _loop('#pragma omp parallel num_threads(1 + i % 2)\n__asm__ volatile("");')
    (region,) = _report(tmp_path, compiler, body, 2)["regions"]
    assert (region["calls"], region["threads"]) == (CALLS, 2)
    assert sum(lane["calls"] for lane in region["lanes"]) == CALLS * 3 // 2
