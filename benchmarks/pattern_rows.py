"""The matrix of OpenMP patterns: a row is what is written, and what Trimtab must make of it.

`pattern_programs.py` makes programs of the rows. The test-suite runs all of them, `./x bench --only patterns` some.
"""

from __future__ import annotations

from dataclasses import dataclass

TRIP, HALF = 240, 120
CPP, FORTRAN = "c++", "fortran"
COMPILERS = {"clang++-19": CPP, "g++": CPP, "gfortran": FORTRAN}
SHAPES = ("light-first", "heavy-first", "alternating")
# Stands in a row's code for the clause of its schedule.
SCHEDULE = "SCHEDULE"
BY_HAND = "schedule(dynamic, 8)"


@dataclass(frozen=True)
class Loop:
    """A loop of a pattern.

    Attributes:
        schedule: its name in the report.
        chunk: as written; None: the program gives none.
        iterations: of one execution.
        is_tuned: Trimtab has a knob for it, so it measures the loop's time.
        executions: in one instance of the pattern, by all teams together.
    """

    schedule: str
    chunk: int | None = None
    iterations: int = TRIP
    is_tuned: bool = True
    executions: int = 1


@dataclass(frozen=True)
class Pattern:
    """One row.

    Attributes:
        name: also the name of its function.
        code: one instance; START and STOP stand around what its clock measures.
        loops: its loops, in any order.
        schedule: the clause that SCHEDULE stands for.
        before: declarations of its function.
        outside: declarations outside of its function.
        after: checks of the answer.
        threads: the largest team of its first region.
        calls: of each of its regions in one instance, in order of lines.
        only: the compilers it is for; empty: all of its language.
        by: its loops where a compiler makes others of them.
        has_clock: START and STOP stand around one loop, or around loops without a barrier between them.
        by_hand: the schedule that an expert tries first.
    """

    name: str
    code: str
    loops: tuple[Loop, ...] = ()
    schedule: str = ""
    before: str = ""
    outside: str = ""
    after: str = "expect_cells(instances);"
    threads: int = 2
    calls: tuple[int, ...] = (1,)
    language: str = CPP
    only: tuple[str, ...] = ()
    by: tuple[tuple[str, tuple[Loop, ...]], ...] = ()
    has_clock: bool = True
    by_hand: str = BY_HAND

    @property
    def has_schedule(self) -> bool:
        """Whether one can write another schedule by hand."""
        return SCHEDULE in self.code

    def is_for(self, compiler: str) -> bool:
        """Whether that compiler builds it."""
        return COMPILERS[compiler] == self.language and (not self.only or compiler in self.only)

    def loops_of(self, compiler: str) -> tuple[Loop, ...]:
        """Its loops as that compiler makes them."""
        known_values = dict(self.by).get(compiler)
        if known_values is not None:
            return known_values
        return self.loops if compiler.startswith("clang") else tuple(map(_inlined, self.loops))


def _inlined(loop: Loop) -> Loop:
    """GCC inlines static loops: the runtime sees nothing of them but two questions."""
    is_inlined = loop.schedule in ("static", "auto")
    return Loop("static (inferred)", None, 0, False, loop.executions) if is_inlined else loop


# Of several static loops of a region GCC's code asks its questions once.
_INLINED_ONCE = (("g++", (Loop("static (inferred)", None, 0, False),)),)
STATIC, STATIC_8, DYNAMIC_8 = Loop("static"), Loop("static", 8), Loop("dynamic", 8)
BLOCKS = "schedule(static)"
# For lastprivate: without "monotonic" LLVM 19 itself gives back a value of another iteration.
_MONOTONIC_8 = "schedule(monotonic : dynamic, 8)"
_UP, _CELL = "for (int i = 0; i < trip; ++i)", "cell[i] += work(i);"


def _combined(clauses: str = "", body: str = _CELL, head: str = _UP, directive: str = "parallel for") -> str:
    return f"START;\n#pragma omp {directive} {SCHEDULE} {clauses}\n{head} {body}\nSTOP(trip);"


def _inside(clauses: str = "", body: str = _CELL, around: str = "") -> str:
    loop = f"START;\n#pragma omp for {SCHEDULE} {clauses}\n{_UP} {body}\nSTOP(trip);"
    return f"#pragma omp parallel {around}\n{{\n{loop}\n}}"


def _reduction(name: str, operation: str, start: str, step: str, answer: str) -> Pattern:
    code = _combined(f"reduction({operation} : found)", step)
    check = f"expect(found == {answer});"
    return Pattern(name, code, (STATIC,), BLOCKS, f"word found = {start};", after=check)


_SUM_BEFORE, _SUM_STEP = "word sum = 0;", "sum += work(i);"
_SUM_AFTER = "expect(sum == static_cast<word>(instances) * sum_of_answers);"

_SCHEDULES = (
    Pattern("parallel_for", _combined(), (STATIC,)),
    Pattern("static_block", _combined(), (STATIC,), BLOCKS),
    Pattern("static_chunk", _combined(), (STATIC_8,), "schedule(static, 8)"),
    Pattern("static_one", _combined(), (Loop("static", 1),), "schedule(static, 1)"),
    Pattern("dynamic_one", _combined(), (Loop("dynamic", 1),), "schedule(dynamic)"),
    Pattern("dynamic_chunk", _combined(), (DYNAMIC_8,), BY_HAND),
    Pattern("monotonic", _combined(), (DYNAMIC_8,), "schedule(monotonic : dynamic, 8)"),
    Pattern("guided", _combined(), (Loop("guided", 1),), "schedule(guided)"),
    Pattern("auto_schedule", _combined(), (Loop("auto", is_tuned=False),), "schedule(auto)"),
    Pattern("runtime", _combined(), (Loop("runtime"),), "schedule(runtime)"),
    Pattern("for_in_parallel", _inside(), (STATIC,), BLOCKS),
    Pattern("dynamic_in_parallel", _inside(), (DYNAMIC_8,), BY_HAND),
    Pattern("simd", _combined(directive="parallel for simd"), (STATIC,), BLOCKS),
)

_REDUCTIONS = (
    _reduction(
        "reduction_sum", "+", "0", "found += work(i);", "static_cast<word>(instances) * sum_of_answers"
    ),
    _reduction("reduction_max", "max", "0", "found = std::max(found, work(i));", "most_answer"),
    _reduction("reduction_min", "min", "~word{0}", "found = std::min(found, work(i));", "least_answer"),
    Pattern(
        "reduction_array",
        _combined("reduction(+ : part[:4])", "part[i % 4] += work(i);"),
        (STATIC,),
        BLOCKS,
        "word part[4] = {};",
        after="expect(part[0] + part[1] + part[2] + part[3] == static_cast<word>(instances) * sum_of_answers);",
    ),
    Pattern(
        "reduction_own",
        _combined("reduction(join : found)", "found.add(work(i));"),
        (STATIC,),
        BLOCKS,
        "both found;",
        "struct both {\n  word sum = 0, most = 0;\n"
        "  void add(word x) { sum += x, most = std::max(most, x); }\n"
        "  void add(const both& x) { sum += x.sum, most = std::max(most, x.most); }\n};\n"
        "#pragma omp declare reduction(join : both : omp_out.add(omp_in))",
        "expect(found.sum == static_cast<word>(instances) * sum_of_answers && found.most == most_answer);",
    ),
    Pattern(
        "reduction_several",
        _combined(
            "reduction(+ : sum) reduction(max : most) reduction(+ : real)",
            "{ const word x = work(i); sum += x; most = std::max(most, x); real += static_cast<double>(x); }",
        ),
        (STATIC,),
        BLOCKS,
        "word sum = 0, most = 0; double real = 0;",
        after=_SUM_AFTER + " expect(most == most_answer && real == static_cast<double>(sum));",
    ),
    Pattern(
        "reduction_chunk",
        _combined("reduction(+ : sum)", _SUM_STEP),
        (STATIC_8,),
        "schedule(static, 8)",
        _SUM_BEFORE,
        after=_SUM_AFTER,
    ),
    Pattern(
        "reduction_dynamic",
        _combined("reduction(+ : sum)", _SUM_STEP),
        (Loop("dynamic", 10),),
        "schedule(dynamic, 10)",
        _SUM_BEFORE,
        after=_SUM_AFTER,
    ),
    Pattern(
        "reduction_in_parallel",
        _inside("reduction(+ : sum)", _SUM_STEP),
        (STATIC,),
        BLOCKS,
        _SUM_BEFORE,
        after=_SUM_AFTER,
    ),
    Pattern(
        "reduction_twice",
        "#pragma omp parallel\n{\n"
        f"START;\n#pragma omp for {SCHEDULE} reduction(+ : sum)\n{_UP} {_SUM_STEP}\nSTOP(trip);\n"
        f"START;\n#pragma omp for {SCHEDULE} reduction(max : most)\n"
        "for (int i = 0; i < half; ++i) most = std::max(most, work(i));\nSTOP(half);\n}",
        (STATIC, Loop("static", None, HALF)),
        BLOCKS,
        "word sum = 0, most = 0;",
        after=_SUM_AFTER + " expect(most == *std::max_element(answer, answer + half));",
        by=_INLINED_ONCE,
    ),
    Pattern(
        "inscan",
        "word sum = 0;\n"
        + _combined(
            "reduction(inscan, + : sum)",
            "{\nsum += work(i);\n#pragma omp scan inclusive(sum)\nprefix[i] = sum;\n}",
        ).replace(SCHEDULE, "")
        + "\nfor (int i = 0; i < trip; ++i) expect(prefix[i] == (i > 0 ? prefix[i - 1] : 0) + answer[i]);",
        (STATIC, STATIC),
        before="static word prefix[trip];",
        after="",
        by=_INLINED_ONCE,
        # clang makes two loops of it, with a barrier between them that nobody can stand at.
        has_clock=False,
    ),
)

_CLAUSES = (
    Pattern(
        "lastprivate",
        "int last = -1;\n"
        + _combined("lastprivate(last)", "{ cell[i] += work(i); last = i; }")
        + "\nexpect(last == trip - 1);",
        (STATIC,),
        BLOCKS,
        by_hand=_MONOTONIC_8,
    ),
    Pattern(
        "lastprivate_dynamic",
        "int last = -1;\n"
        + _combined("lastprivate(last)", "{ cell[i] += work(i); last = i; }")
        + "\nexpect(last == trip - 1);",
        (DYNAMIC_8,),
        _MONOTONIC_8,
    ),
    Pattern(
        "firstprivate",
        "word seen = 1;\n"
        + _combined("firstprivate(seen)", "{ cell[i] += work(i) * (seen > 0); seen += 1; }"),
        (STATIC,),
        BLOCKS,
    ),
    Pattern(
        "collapse",
        _combined(
            "collapse(2)",
            "cell[columns * row + column] += work(columns * row + column);",
            "for (int row = 0; row < rows; ++row) for (int column = 0; column < columns; ++column)",
        ),
        (STATIC,),
        BLOCKS,
    ),
    Pattern(
        "collapse_dynamic",
        _combined(
            "collapse(2)",
            "cell[columns * row + column] += work(columns * row + column);",
            "for (int row = 0; row < rows; ++row) for (int column = 0; column < columns; ++column)",
        ),
        (DYNAMIC_8,),
        BY_HAND,
    ),
    Pattern("if_true", _combined("if (instances > 0)"), (STATIC,), BLOCKS),
    Pattern("num_threads", _combined("num_threads(2)"), (STATIC,), BLOCKS),
    Pattern(
        "serialized", _combined("if (instances < 0)"), (Loop("static", is_tuned=False),), BLOCKS, threads=1
    ),
    Pattern(
        "one_thread", _combined("num_threads(1)"), (Loop("dynamic", 8, is_tuned=False),), BY_HAND, threads=1
    ),
)

_ITERATIONS = (
    Pattern("negative_step", _combined(head="for (int i = trip - 1; i >= 0; --i)"), (STATIC,), BLOCKS),
    Pattern("negative_dynamic", _combined(head="for (int i = trip - 1; i >= 0; --i)"), (DYNAMIC_8,), BY_HAND),
    Pattern(
        "negative_stride",
        _combined(head="for (int j = 3 * trip; j > 0; j -= 3)", body="cell[j / 3 - 1] += work(j / 3 - 1);"),
        (STATIC,),
        BLOCKS,
    ),
    Pattern(
        "unsigned_index", _combined(head="for (unsigned i = 0; i < unsigned{trip}; ++i)"), (STATIC,), BLOCKS
    ),
    Pattern(
        "unsigned_dynamic",
        _combined(head="for (unsigned i = 0; i < unsigned{trip}; ++i)"),
        (DYNAMIC_8,),
        BY_HAND,
    ),
    Pattern(
        "long_index",
        _combined(
            head="for (long j = 5000000000; j < 5000000000 + trip; ++j)",
            body="cell[j - 5000000000] += work(j - 5000000000);",
        ),
        (STATIC,),
        BLOCKS,
    ),
    Pattern(
        "long_dynamic",
        _combined(
            head="for (long j = 5000000000; j < 5000000000 + trip; ++j)",
            body="cell[j - 5000000000] += work(j - 5000000000);",
        ),
        (DYNAMIC_8,),
        BY_HAND,
    ),
    Pattern(
        "unsigned_long_index",
        _combined(
            head="for (word j = ~word{0} - trip; j < ~word{0}; ++j)",
            body="{ const word i = j - (~word{0} - trip); cell[i] += work(i); }",
        ),
        (STATIC,),
        BLOCKS,
    ),
    Pattern(
        "unsigned_long_guided",
        _combined(
            head="for (word j = ~word{0} - trip; j < ~word{0}; ++j)",
            body="{ const word i = j - (~word{0} - trip); cell[i] += work(i); }",
        ),
        (Loop("guided", 4),),
        "schedule(guided, 4)",
    ),
    Pattern(
        "iterators",
        _combined(
            head="for (std::vector<word>::iterator at = values.begin(); at != values.end(); ++at)",
            body="*at += work(at - values.begin());",
        ),
        (STATIC,),
        BLOCKS,
        "std::vector<word> values(trip);",
        after="std::copy(values.begin(), values.end(), cell); expect_cells(instances);",
    ),
)

_LOOP_NOWAIT = f"#pragma omp for {SCHEDULE} nowait\n{_UP} {_CELL}\n"
_BARRIER = "{\n#pragma omp barrier\n}\n"


def _nowait(loops: str, stop: str = "STOP(trip);") -> str:
    """Loops that are measured together, from the first one's begin to the end of the region."""
    return f"#pragma omp parallel\n{{\nSTART;\n{loops}}}\n{stop}"


_NOWAIT = (
    Pattern("nowait", _nowait(_LOOP_NOWAIT), (STATIC,), BLOCKS),
    Pattern("nowait_dynamic", _nowait(_LOOP_NOWAIT), (DYNAMIC_8,), BY_HAND),
    Pattern(
        "nowait_reduction",
        _nowait(f"#pragma omp for {SCHEDULE} nowait reduction(+ : sum)\n{_UP} {_SUM_STEP}\n"),
        (STATIC,),
        BLOCKS,
        _SUM_BEFORE,
        after=_SUM_AFTER,
    ),
    # The second loop reads what the same thread wrote in the first one: equal static loops are shared out equally.
    Pattern(
        "nowait_chain",
        _nowait(
            f"#pragma omp for {BLOCKS} nowait\n{_UP} passed[i] = work(i);\n"
            f"#pragma omp for {BLOCKS} nowait\n{_UP} cell[i] += passed[i] + work(i) - answer[i];\n",
            "STOP_EACH_OF_TWO(trip);",
        ),
        (STATIC, STATIC),
        "",
        "static word passed[trip];",
        by=_INLINED_ONCE,
    ),
    Pattern(
        "nowait_different",
        _nowait(
            f"{_LOOP_NOWAIT}#pragma omp for {SCHEDULE} nowait\nfor (int i = 0; i < half; ++i) more[i] = work(i);\n",
            "STOP(trip);\nSTOP(half);",
        ),
        (STATIC, Loop("static", None, HALF)),
        BLOCKS,
        "static word more[half];",
        after="expect_cells(instances); expect(std::equal(more, more + half, answer));",
        by=_INLINED_ONCE,
    ),
    # Barriers of other teams between the loop and its own team's barrier.
    Pattern(
        "nowait_serialized",
        _nowait(f"{_LOOP_NOWAIT}#pragma omp parallel if (instances < 0)\n{_BARRIER}#pragma omp barrier\n"),
        (STATIC,),
        BLOCKS,
        calls=(1, 2),
    ),
    Pattern(
        "nowait_nested",
        _nowait(f"{_LOOP_NOWAIT}#pragma omp parallel num_threads(2)\n{_BARRIER}#pragma omp barrier\n"),
        (STATIC,),
        BLOCKS,
        "omp_set_max_active_levels(2);",
        after="omp_set_max_active_levels(1); expect_cells(instances);",
        calls=(1, 2),
    ),
)


def _cancelled(condition: str) -> str:
    body = f"{{\n{_CELL}\nif ({condition}) {{\n#pragma omp cancel for\n}}\n}}"
    return f"START;\n#pragma omp parallel\n{{\n#pragma omp for {SCHEDULE}\n{_UP} {body}\n}}\nSTOP(trip);"


_OTHERS = (
    Pattern(
        "nested",
        "#pragma omp parallel num_threads(2)\n{\nconst int from = half * omp_get_thread_num();\n"
        f"#pragma omp parallel for num_threads(2) {SCHEDULE}\n"
        "for (int i = from; i < from + half; ++i) cell[i] += work(i);\n}",
        (Loop("static", None, HALF, is_tuned=False, executions=2),),
        BLOCKS,
        "omp_set_max_active_levels(2);",
        after="omp_set_max_active_levels(1); expect_cells(instances);",
        calls=(1, 2),
    ),
    Pattern(
        "orphaned",
        "#pragma omp parallel\nfill_cells();",
        (DYNAMIC_8,),
        BY_HAND,
        outside=f"__attribute__((noinline)) static void fill_cells() {{\nSTART;\n#pragma omp for {BY_HAND}\n{_UP} {_CELL}\nSTOP(trip);\n}}",
    ),
    Pattern(
        "sections",
        "#pragma omp parallel sections\n{\n"
        + "\n".join(
            f"#pragma omp section\nfor (int i = {part} * trip / 4; i < {part + 1} * trip / 4; ++i) {_CELL}"
            for part in range(4)
        )
        + "\n}",
        (Loop("sections", None, 4, is_tuned=False),),
    ),
    Pattern(
        "taskloop",
        f"#pragma omp parallel\n#pragma omp single\n#pragma omp taskloop grainsize(8)\n{_UP} {_CELL}",
    ),
    Pattern(
        "doacross",
        f"chain[0] = 0;\n#pragma omp parallel for ordered(1) {SCHEDULE}\n"
        "for (int i = 1; i < trip; ++i) {\ncell[i] += work(i);\n#pragma omp ordered depend(sink : i - 1)\n"
        "chain[i] = chain[i - 1] + 1;\n#pragma omp ordered depend(source)\n}\nexpect(chain[trip - 1] == trip - 1);\ncell[0] += answer[0];",
        (Loop("dynamic", 8, TRIP - 1, is_tuned=False),),
        BY_HAND,
        "static int chain[trip];",
    ),
    Pattern(
        "ordered",
        f"int next = 0;\n#pragma omp parallel for ordered {SCHEDULE}\n{_UP} {{\n{_CELL}\n#pragma omp ordered\n"
        "{ expect(next == i); next += 1; }\n}",
        (Loop("static", 8, is_tuned=False),),
        "schedule(static, 8)",
        by=(("g++", (Loop("static", 8, is_tuned=False),)),),
    ),
    # LLVM 19 stops with a failed assertion after a dynamic loop that was cancelled.
    Pattern("cancel", _cancelled("i == trip - 1"), (DYNAMIC_8,), BY_HAND, only=("g++",)),
    Pattern("cancel_static", _cancelled("i == trip - 1"), (STATIC,), BLOCKS),
    Pattern("cancel_never", _cancelled("steps[i] < 0"), (DYNAMIC_8,), BY_HAND),
)

CPP_PATTERNS = (*_SCHEDULES, *_REDUCTIONS, *_CLAUSES, *_ITERATIONS, *_NOWAIT, *_OTHERS)
