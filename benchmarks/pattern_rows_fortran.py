"""The rows of the matrix of patterns that are written in Fortran."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.pattern_rows import FORTRAN, HALF, SCHEDULE, TRIP, Loop, Pattern

_UP, _CELL = "do i = 1, trip", "cell(i) = cell(i) + work(i)"
_BLOCKS, _BY_HAND = "schedule(static)", "schedule(dynamic, 8)"
_STATIC, _DYNAMIC_8 = Loop("static"), Loop("dynamic", 8)
_TOTAL, _TOTAL_STEP = "integer(int64) :: total\ntotal = 0", "total = total + work(i)"
_TOTAL_AFTER = "call expect(total == instances * sum_of_answers)"


def _combined(clauses: str = "", body: str = _CELL, head: str = _UP, ends: int = 1) -> str:
    ending = "\n".join(["end do"] * ends)
    return (
        f"call start()\n!$omp parallel do {SCHEDULE} {clauses}\n{head}\n{body}\n{ending}\ncall stop_at(trip)"
    )


def _inside(clauses: str = "", body: str = _CELL, end: str = "") -> str:
    loop = f"!$omp do {SCHEDULE} {clauses}\n{_UP}\n{body}\nend do\n!$omp end do {end}"
    if end:
        return f"!$omp parallel\ncall start()\n{loop}\n!$omp end parallel\ncall stop_at(trip)"
    return f"!$omp parallel\ncall start()\n{loop}\ncall stop_at(trip)\n!$omp end parallel"


_ROWS = (
    Pattern("parallel_do", _combined(), (_STATIC,)),
    Pattern("do_chunk", _combined(), (Loop("static", 8),), "schedule(static, 8)"),
    Pattern("do_dynamic", _combined(), (_DYNAMIC_8,), _BY_HAND),
    Pattern("do_dynamic_one", _combined(), (Loop("dynamic", 1),), "schedule(dynamic)"),
    Pattern("do_guided", _combined(), (Loop("guided", 1),), "schedule(guided)"),
    Pattern("do_auto", _combined(), (Loop("auto", is_tuned=False),), "schedule(auto)"),
    Pattern("do_runtime", _combined(), (Loop("runtime"),), "schedule(runtime)"),
    Pattern("do_in_parallel", _inside(), (_STATIC,), _BLOCKS),
    Pattern("do_dynamic_in_parallel", _inside(), (_DYNAMIC_8,), _BY_HAND),
    Pattern("do_nowait", _inside(end="nowait"), (_DYNAMIC_8,), _BY_HAND),
    Pattern(
        "do_simd",
        f"call start()\n!$omp parallel do simd {SCHEDULE}\n{_UP}\n{_CELL}\nend do\ncall stop_at(trip)",
        (_DYNAMIC_8,),
        _BY_HAND,
    ),
    Pattern(
        "do_sum",
        _combined("reduction(+ : total)", _TOTAL_STEP),
        (_STATIC,),
        _BLOCKS,
        _TOTAL,
        after=_TOTAL_AFTER,
    ),
    Pattern(
        "do_sum_dynamic",
        _combined("reduction(+ : total)", _TOTAL_STEP),
        (Loop("dynamic", 10),),
        "schedule(dynamic, 10)",
        _TOTAL,
        after=_TOTAL_AFTER,
    ),
    Pattern(
        "do_extremes",
        _combined(
            "reduction(max : most) reduction(min : least)",
            "given = work(i)\nmost = max(most, given)\nleast = min(least, given)",
        ).replace("reduction(max", "private(given) reduction(max"),
        (_STATIC,),
        _BLOCKS,
        "integer(int64) :: most, least, given\nmost = 0\nleast = huge(least)",
        after="call expect(most == maxval(answer) .and. least == minval(answer))",
    ),
    Pattern(
        "do_array_sum",
        _combined("reduction(+ : part)", "part(mod(i, 4) + 1) = part(mod(i, 4) + 1) + work(i)"),
        (Loop("guided", 4),),
        "schedule(guided, 4)",
        "integer(int64) :: part(4)\npart = 0",
        after="call expect(sum(part) == instances * sum_of_answers)",
    ),
    Pattern(
        "do_lastprivate",
        _combined("lastprivate(last)", f"{_CELL}\nlast = i") + "\ncall expect(last == trip)",
        (_DYNAMIC_8,),
        _BY_HAND,
        "integer :: last",
    ),
    Pattern(
        "do_firstprivate",
        _combined("firstprivate(seen)", "cell(i) = cell(i) + work(i) * min(seen, 1)\nseen = seen + 1"),
        (_DYNAMIC_8,),
        _BY_HAND,
        "integer :: seen\nseen = 1",
    ),
    Pattern(
        "do_collapse",
        _combined(
            "collapse(2) private(i)",
            f"i = columns * (row - 1) + column\n{_CELL}",
            "do row = 1, rows\ndo column = 1, columns",
            ends=2,
        ),
        (_DYNAMIC_8,),
        _BY_HAND,
        "integer :: row, column",
    ),
    Pattern("do_down", _combined(head="do i = trip, 1, -1"), (_DYNAMIC_8,), _BY_HAND),
    Pattern(
        "do_stride",
        _combined("private(i)", f"i = j / 3\n{_CELL}", "do j = 3 * trip, 3, -3"),
        (_DYNAMIC_8,),
        _BY_HAND,
        "integer :: j",
    ),
    Pattern(
        "do_long",
        _combined(
            "private(i)",
            f"i = int(j - 5000000000_int64)\n{_CELL}",
            "do j = 5000000001_int64, 5000000000_int64 + trip",
        ),
        (_DYNAMIC_8,),
        _BY_HAND,
        "integer(int64) :: j",
    ),
    Pattern("do_serialized", _combined("if(instances < 0)"), (_STATIC,), _BLOCKS, threads=1),
    Pattern(
        "do_sections",
        "!$omp parallel sections private(i)\n"
        + "\n".join(
            f"!$omp section\ndo i = {part} * trip / 4 + 1, {part + 1} * trip / 4\n{_CELL}\nend do"
            for part in range(4)
        )
        + "\n!$omp end parallel sections",
        (Loop("sections", None, 4, is_tuned=False),),
    ),
    Pattern(
        "do_taskloop",
        f"!$omp parallel\n!$omp single\n!$omp taskloop grainsize(8)\n{_UP}\n{_CELL}\nend do\n"
        "!$omp end taskloop\n!$omp end single\n!$omp end parallel",
    ),
    Pattern(
        "do_doacross",
        f"chain(1) = 1\n!$omp parallel do ordered(1) {SCHEDULE}\ndo i = 2, trip\n{_CELL}\n"
        "!$omp ordered depend(sink : i - 1)\nchain(i) = chain(i - 1) + 1\n!$omp ordered depend(source)\nend do\n"
        "call expect(chain(trip) == trip)\ncell(1) = cell(1) + answer(1)",
        (Loop("dynamic", 8, TRIP - 1, is_tuned=False),),
        _BY_HAND,
        "integer, save :: chain(trip)",
    ),
    Pattern(
        "do_nested",
        "!$omp parallel num_threads(2) private(first)\nfirst = half * omp_get_thread_num()\n"
        f"!$omp parallel do num_threads(2) {SCHEDULE}\ndo i = first + 1, first + half\n{_CELL}\nend do\n!$omp end parallel",
        (Loop("dynamic", 8, HALF, is_tuned=False, executions=2),),
        _BY_HAND,
        "integer :: first\ncall omp_set_max_active_levels(2)",
        after="call omp_set_max_active_levels(1)\ncall expect_cells(instances)",
        calls=(1, 2),
    ),
)


def _in_fortran(row: Pattern) -> Pattern:
    is_default = row.after == "expect_cells(instances);"
    return replace(row, language=FORTRAN, after="call expect_cells(instances)" if is_default else row.after)


FORTRAN_PATTERNS = tuple(map(_in_fortran, _ROWS))
