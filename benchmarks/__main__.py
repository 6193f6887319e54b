"""./x bench: runs all benchmarks, prints their tables, leaves their results in build/bench."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import docs
from benchmarks.apex import WORD as APEX
from benchmarks.apex import draw_apex, run_apex
from benchmarks.apex_tables import APEX_BLOCKS
from benchmarks.arcs import WORD as ARCS
from benchmarks.arcs import run_arcs
from benchmarks.arcs_tables import ARCS_BLOCKS
from benchmarks.asat import WORD as ASAT
from benchmarks.asat import draw_asat, run_asat
from benchmarks.asat_tables import ASAT_BLOCKS
from benchmarks.coalescing_tables import COALESCING_BLOCKS
from benchmarks.job_tables import JOB_BLOCKS
from benchmarks.jobs import run_jobs
from benchmarks.message_tables import MESSAGE_BLOCKS
from benchmarks.messages import run_messages
from benchmarks.pattern_tables import LEAST_ROUNDS, PATTERN_BLOCKS, pattern_faults
from benchmarks.patterns import PARTS, run_part, run_patterns
from benchmarks.predicted_gains import WORD as PREDICTED_GAINS
from benchmarks.predicted_gains import run_predicted_gains
from benchmarks.predicted_gains_tables import PREDICTED_GAINS_BLOCKS, prediction_faults
from benchmarks.real_programs import KEPT as REAL_PROGRAMS_KEPT
from benchmarks.real_programs import PAGE as REAL_PROGRAMS_PAGE
from benchmarks.real_programs import PAIRS, run_real_programs, tables, write_suite
from benchmarks.real_programs import WORD as REAL_PROGRAMS
from benchmarks.recording import PROGRAMS, run_programs, run_recording, run_titled
from benchmarks.report_speed import WORD as REPORT_SPEED
from benchmarks.report_speed import run_report_speed
from benchmarks.report_speed_tables import REPORT_BLOCKS, report_faults
from benchmarks.running import BenchError, clean_environment
from benchmarks.scheduler import run_scheduler
from benchmarks.scheduler_tables import SCHEDULER_BLOCKS
from benchmarks.scheduling_tables import SCHEDULING_BLOCKS
from benchmarks.searches import SEARCH_BLOCKS, keep_surfaces, run_searches, run_surfaces
from benchmarks.spark_overhead import WORD as SPARK_OVERHEAD
from benchmarks.spark_overhead import overhead_faults, overhead_table, run_spark_overhead
from benchmarks.spark_persist import WORD as SPARK_PERSIST
from benchmarks.spark_persist import persist_faults, persist_table, run_spark_persist
from benchmarks.spark_pooled import WORD as SPARK_POOLED
from benchmarks.spark_pooled import pooled_faults, run_spark_pooled
from benchmarks.spark_pooled import table as spark_pooled_table
from benchmarks.spark_study import WORD as SPARK_STUDY
from benchmarks.spark_study import draw_spark, run_spark_study
from benchmarks.spark_study_tables import SPARK_BLOCKS
from benchmarks.steering import HOGS, SHARING, TURNS, run_anew, run_steering
from benchmarks.steering_tables import STEERING_BLOCKS
from benchmarks.studies import COALESCING, GRAIN_SIZE, SCHEDULING, THREADS, Study, keep_figures, runner
from benchmarks.study_tables import GRAIN_BLOCKS, THREADS_BLOCKS
from benchmarks.suite import FULL, SMOKE
from benchmarks.task_program_tables import TASK_PROGRAM_BLOCKS
from benchmarks.task_programs import WORD as TASK_PROGRAMS
from benchmarks.task_programs import run_task_programs
from benchmarks.task_tables import TASK_BLOCKS
from benchmarks.tasks import run_tasks

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "build" / "bench"
PERFORMANCE = ROOT / "docs" / "performance"
STUDIES = ROOT / "docs" / "studies"


@dataclass(frozen=True)
class Suite:
    """Benchmarks with a page of their own: `--only` their word.

    Attributes:
        kept: the results that the page was made from.
        rounds: how often each level is run; 0: as the study's file says.
        is_alone: it takes long, and is run only when it is asked for.
        keep: what else of its results goes into the repository.
        faults: what its results show to be worse than promised, one line each; then the command fails.
    """

    page: Path
    kept: Path
    blocks: docs.Blocks
    run: Callable[[Path, Path, bool, int, float, Callable[[str], None]], dict[str, Any]]
    rounds: int
    is_alone: bool = False
    keep: Callable[[dict[str, Any]], None] | None = None
    faults: Callable[[dict[str, Any]], list[str]] | None = None


def _study(study: Study, blocks: docs.Blocks) -> Suite:
    def keep(results: dict[str, Any]) -> None:
        keep_figures(OUT, study, results, STUDIES / "figures")

    page, kept = STUDIES / study.page, ROOT / "benchmarks" / f"{study.word}-results.json"
    return Suite(page, kept, blocks, runner(study), 0, is_alone=True, keep=keep)


def _searches(run: Callable[..., dict[str, Any]], **overrides: Any) -> Suite:
    page, kept = PERFORMANCE / "searches.md", ROOT / "benchmarks" / "searches-results.json"
    return Suite(page, kept, SEARCH_BLOCKS, run, 0, **overrides)


_RECORDING_KEPT = ROOT / "benchmarks" / "results.json"


def _recording(run: Callable[..., dict[str, Any]], **overrides: Any) -> Suite:
    return Suite(PERFORMANCE / "recording.md", _RECORDING_KEPT, docs.BLOCKS, run, FULL.rounds, **overrides)


_STEERING_KEPT = ROOT / "benchmarks" / "steering-results.json"


def _steering(run: Callable[..., dict[str, Any]], rounds: int, **overrides: Any) -> Suite:
    page = PERFORMANCE / "tuning.md"
    return Suite(page, _STEERING_KEPT, STEERING_BLOCKS, run, rounds, **overrides)


_PATTERNS_KEPT = ROOT / "benchmarks" / "patterns-results.json"


def _patterns(run: Callable[..., dict[str, Any]], **overrides: Any) -> Suite:
    page = PERFORMANCE / "patterns.md"
    return Suite(page, _PATTERNS_KEPT, PATTERN_BLOCKS, run, LEAST_ROUNDS, faults=pattern_faults, **overrides)


_SPARK_PAGES = {
    SPARK_POOLED: "spark.md",
    SPARK_PERSIST: "spark-persist.md",
    SPARK_OVERHEAD: "spark-overhead.md",
}


def _spark(
    word: str,
    table: Callable[[dict[str, Any]], str],
    run: Callable[..., dict[str, Any]],
    rounds: int,
    **overrides: Any,
) -> Suite:
    page, kept = PERFORMANCE / _SPARK_PAGES[word], ROOT / "benchmarks" / f"{word}-results.json"
    return Suite(page, kept, {word: table}, run, rounds, is_alone=True, **overrides)


SUITES = {
    "recording": _recording(run_recording),
    PROGRAMS: _recording(run_programs(_RECORDING_KEPT), is_alone=True),
    "tasks": Suite(
        PERFORMANCE / "tasks.md",
        ROOT / "benchmarks" / "task-results.json",
        TASK_BLOCKS,
        run_tasks,
        FULL.rounds,
    ),
    "messages": Suite(
        PERFORMANCE / "messages.md",
        ROOT / "benchmarks" / "message-results.json",
        MESSAGE_BLOCKS,
        run_messages,
        25,
    ),
    "jobs": Suite(
        PERFORMANCE / "jobs.md",
        ROOT / "benchmarks" / "job-results.json",
        JOB_BLOCKS,
        run_jobs,
        9,
    ),
    "kernel": Suite(
        PERFORMANCE / "kernel.md",
        ROOT / "benchmarks" / "kernel-results.json",
        SCHEDULER_BLOCKS,
        run_scheduler,
        11,
    ),
    TASK_PROGRAMS: Suite(
        PERFORMANCE / "task-programs.md",
        ROOT / "benchmarks" / "task-programs-results.json",
        TASK_PROGRAM_BLOCKS,
        run_task_programs,
        9,
    ),
    PREDICTED_GAINS: Suite(
        PERFORMANCE / "predicted-gains.md",
        ROOT / "benchmarks" / f"{PREDICTED_GAINS}-results.json",
        PREDICTED_GAINS_BLOCKS,
        run_predicted_gains,
        5,
        is_alone=True,
        faults=prediction_faults,
    ),
    REPORT_SPEED: Suite(
        PERFORMANCE / "report.md",
        ROOT / "benchmarks" / f"{REPORT_SPEED}-results.json",
        REPORT_BLOCKS,
        run_report_speed,
        5,
        is_alone=True,
        faults=report_faults,
    ),
    "steering": _steering(run_steering, 7),
    **{part: _steering(run_anew(part, _STEERING_KEPT), 3, is_alone=True) for part in (TURNS, HOGS, SHARING)},
    "patterns": _patterns(run_patterns),
    **{part: _patterns(run_part(part, _PATTERNS_KEPT), is_alone=True) for part in PARTS},
    "searches": _searches(run_searches),
    "surfaces": _searches(run_surfaces, is_alone=True, keep=lambda _: keep_surfaces(ROOT, OUT)),
    APEX: Suite(
        STUDIES / "apex.md",
        ROOT / "benchmarks" / f"{APEX}-results.json",
        APEX_BLOCKS,
        run_apex,
        3,
        is_alone=True,
        keep=lambda results: draw_apex(results, STUDIES / "figures"),
    ),
    ARCS: Suite(
        STUDIES / "arcs.md",
        ROOT / "benchmarks" / f"{ARCS}-results.json",
        ARCS_BLOCKS,
        run_arcs,
        5,
        is_alone=True,
    ),
    ASAT: Suite(
        STUDIES / "asat.md",
        ROOT / "benchmarks" / f"{ASAT}-results.json",
        ASAT_BLOCKS,
        run_asat,
        3,
        is_alone=True,
        keep=lambda results: draw_asat(results, STUDIES / "figures"),
    ),
    SPARK_STUDY: Suite(
        STUDIES / "spark.md",
        ROOT / "benchmarks" / f"{SPARK_STUDY}-results.json",
        SPARK_BLOCKS,
        run_spark_study,
        0,
        is_alone=True,
        keep=lambda results: draw_spark(results, STUDIES / "figures"),
    ),
    SPARK_POOLED: _spark(SPARK_POOLED, spark_pooled_table, run_spark_pooled, 7, faults=pooled_faults),
    SPARK_PERSIST: _spark(SPARK_PERSIST, persist_table, run_spark_persist, 3, faults=persist_faults),
    SPARK_OVERHEAD: _spark(SPARK_OVERHEAD, overhead_table, run_spark_overhead, 7, faults=overhead_faults),
    REAL_PROGRAMS: Suite(
        REAL_PROGRAMS_PAGE,
        REAL_PROGRAMS_KEPT,
        {"programs": tables},
        run_real_programs,
        PAIRS,
        is_alone=True,
        keep=write_suite,
    ),
    COALESCING.word: _study(COALESCING, COALESCING_BLOCKS),
    GRAIN_SIZE.word: _study(GRAIN_SIZE, GRAIN_BLOCKS),
    SCHEDULING.word: _study(SCHEDULING, SCHEDULING_BLOCKS),
    THREADS.word: _study(THREADS, THREADS_BLOCKS),
}


def main() -> int:
    """0, or 1 after one line that says what failed."""
    parser = argparse.ArgumentParser(prog="./x bench", description="Runs the benchmarks (docs/performance).")
    parser.add_argument("--smoke", action="store_true", help="a short round that only shows that they work")
    parser.add_argument("--rounds", type=int, help=f"how often each level is run; {FULL.rounds} unless told")
    parser.add_argument(
        "--wait",
        type=float,
        default=10,
        metavar="MINUTES",
        help="most to spend waiting for a quiet machine; 10",
    )
    parser.add_argument(
        "--only",
        metavar="WORD",
        help=f"{', '.join(SUITES)}: these, and their page. Another WORD: cases of recording whose title holds it; no page",
    )
    parser.add_argument("--write-docs", action="store_true", help="put the tables into docs/")
    parser.add_argument("--results", type=Path, help="take these results instead of running anything")
    arguments = parser.parse_args()
    if arguments.results and arguments.only not in SUITES:
        parser.error(f"--results: expected --only with one of {', '.join(SUITES)}")
    if arguments.rounds is not None and arguments.rounds < 1:
        parser.error(f"--rounds: expected 1 or more, found {arguments.rounds}")
    if arguments.write_docs and (arguments.smoke or arguments.only not in (None, *SUITES)):
        parser.error("--write-docs needs a whole run")
    faults: list[str] = []
    try:
        if arguments.only and arguments.only not in SUITES:
            _run_suite("only", _recording(run_titled(arguments.only)), arguments)
        for word, suite in SUITES.items():
            if arguments.only != word and (arguments.only or suite.is_alone):
                continue
            results = (
                json.loads(arguments.results.read_text())
                if arguments.results
                else _run_suite(word, suite, arguments)
            )
            if arguments.write_docs and suite.keep:
                suite.keep(results)
            _show(results, suite.blocks, arguments.write_docs, suite.page, suite.kept)
            if suite.faults and not arguments.smoke:
                faults += suite.faults(results)
    except (BenchError, ValueError, OSError, subprocess.CalledProcessError) as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    for fault in faults:
        print(f"bench: failed: {fault}", file=sys.stderr)
    return 1 if faults else 0


def _show(results: dict[str, Any], blocks: docs.Blocks, writes: bool, page: Path, kept: Path) -> None:
    if writes:
        docs.write(page, results, blocks)
        kept.write_text(_as_text(results), encoding="utf-8")
    for name, block in blocks.items():
        print(f"\n{name}\n{block(results)}")


def _run_suite(word: str, suite: Suite, arguments: argparse.Namespace) -> dict[str, Any]:
    clean_environment()
    rounds = arguments.rounds or (SMOKE.rounds if arguments.smoke else suite.rounds)
    OUT.mkdir(parents=True, exist_ok=True)
    results = suite.run(ROOT, OUT / "bin", arguments.smoke, rounds, arguments.wait, _tell)
    name = f"results-{word}{'-smoke' if arguments.smoke else ''}.json"
    (OUT / name).write_text(_as_text(results), encoding="utf-8")
    return results


def _as_text(results: dict[str, Any]) -> str:
    """JSON with one line for each case, which keeps differences between versions readable."""
    lines = [f"  {json.dumps(case)}" for case in results["cases"]]
    programs = {PROGRAMS: None} if PROGRAMS in results else {}
    text = json.dumps({**results, "cases": [], **programs}, indent=1)
    if programs:
        text = text.replace(f'"{PROGRAMS}": null', f'"{PROGRAMS}": {_as_text(results[PROGRAMS]).strip()}')
    return text.replace('"cases": []', '"cases": [\n' + ",\n".join(lines) + "\n ]") + "\n"


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
