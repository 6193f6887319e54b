"""Results of the study of Spark as tables."""

from __future__ import annotations

from typing import Any

from benchmarks.spark_runs import BOTH, IDLE, LEVELS, POOLED, SHOWN, STOCK
from benchmarks.spark_study import (
    MEMORY,
    SHUFFLES,
    case_of,
    figure_names,
    figure_of,
    iterations_of,
    programs_of,
    values_of,
)
from benchmarks.tables import Results, machine, markdown

_TITLES = {
    "group_by": "GroupBy",
    "page_rank": "PageRank",
    "tera_sort": "TeraSort-like",
    "aggregation": "SQL aggregation",
    "join": "SQL join",
    "power_iteration": "power iteration clustering",
}


def spark_run(results: Results) -> str:
    """How it was run."""
    return "\n".join(
        [
            f"    trimtab sweep docs/experiments/{SHUFFLES}",
            f"    trimtab sweep docs/experiments/{MEMORY}",
            "",
            machine(results),
            f"- {results['runs']} runs of {len(results['cases'])} configurations, {results['samples']} of each, in random order; all answers were right",
        ]
    )


def spark_time(results: Results) -> str:
    """Core time of each program by executors, in shares."""
    rows = []
    for program in programs_of(results):
        for count in values_of(results, SHUFFLES, "executors"):
            case = case_of(results, SHUFFLES, executors=count, delay_us=0, setting=STOCK)
            if case is None:
                continue
            parts = [figure_of(case, f"{program}.time.{part}") for part in (*SHOWN, IDLE)]
            shares = [f"{part / sum(parts):.0%}" for part in parts] if sum(parts) else ["-"] * len(parts)
            seconds = figure_of(case, f"{program}.seconds")
            rows.append([_TITLES.get(program, program), str(count), f"{seconds:.1f}", *shares])
    return markdown(["program", "executors", "s", *SHOWN, IDLE], rows)


def spark_modes(results: Results) -> str:
    """Each program with stock Spark, with pooled files, and with them and the threshold: time and opens."""
    rows = []
    for program in programs_of(results):
        for delay in values_of(results, SHUFFLES, "delay_us"):
            cases = {
                setting: case
                for setting in (STOCK, POOLED, BOTH)
                if (case := case_of(results, SHUFFLES, executors=2, delay_us=delay, setting=setting))
            }
            if STOCK in cases:
                rows.append([_TITLES.get(program, program), f"{delay / 1000:g} ms", *_modes(cases, program)])
    head = ["program", "added to each open", "stock, s", "pooled", "and threshold"]
    return markdown([*head, "opens: stock", "pooled", "and threshold", "time in opens, stock, s"], rows)


def _modes(cases: dict[str, dict[str, Any]], program: str) -> list[str]:
    """Seconds of stock Spark, ratios of the others, opens of all."""
    stock = figure_of(cases[STOCK], f"{program}.seconds")
    ratios = [
        f"{figure_of(cases[setting], f'{program}.seconds') / stock:.2f}" if setting in cases else "-"
        for setting in (POOLED, BOTH)
    ]
    opens = [
        f"{figure_of(cases[setting], f'{program}.opens'):.0f}" if setting in cases else "-"
        for setting in (STOCK, POOLED, BOTH)
    ]
    return [f"{stock:.1f}", *ratios, *opens, f"{figure_of(cases[STOCK], f'{program}.open_s'):.2f}"]


def spark_reads(results: Results) -> str:
    """Blocks of shuffles that stages read."""
    case = case_of(results, SHUFFLES, executors=2, delay_us=0, setting=STOCK)
    if case is None:
        return "not run"
    rows = [
        [
            _TITLES.get(program, program),
            *(f"{figure_of(case, f'{program}.{key}'):.0f}" for key in ("stages", "blocks", "most_blocks")),
        ]
        for program in programs_of(results)
    ]
    return markdown(["program", "stages", "blocks read", "by the stage with most"], rows)


def spark_memory(results: Results) -> str:
    """PageRank with little memory, by what becomes of its links."""
    rows = []
    for memory in values_of(results, MEMORY, "memory"):
        written = case_of(results, MEMORY, memory=memory, setting=next(iter(LEVELS)))
        for setting in LEVELS:
            case = case_of(results, MEMORY, memory=memory, setting=setting)
            if case is None or written is None:
                continue
            numbers = iterations_of(case)
            totals = [
                sum(figure_of(case, f"iteration{at}.{key}") for at in numbers)
                for key in ("blocks", "spilled_bytes", "gc_s")
            ]
            rows.append(
                [
                    f"{memory} MB",
                    setting,
                    f"{figure_of(case, 'seconds'):.1f}",
                    f"{figure_of(case, 'seconds') / figure_of(written, 'seconds'):.2f}",
                    *(f"{figure_of(case, f'iteration{at}.seconds'):.1f}" for at in (numbers[1], numbers[-1])),
                    f"{totals[0]:.0f}",
                    f"{totals[1] / 1e6:.0f}",
                    f"{totals[2]:.1f}",
                ]
            )
    head = ["memory", "links", "all iterations, s", "of as written", "second, s", "last, s"]
    return markdown([*head, "blocks read", "spilled, MB", "garbage collection, s"], rows)


def spark_figures(_: Results) -> str:
    """All of them."""
    titles = (
        "Core time by part over the number of executors",
        "Distribution of the time of opens",
        "Time of each iteration",
        "Shuffle blocks that each iteration reads",
    )
    return "\n\n".join(
        f"![{title}](figures/{name}.svg)" for title, name in zip(titles, figure_names(), strict=True)
    )


SPARK_BLOCKS = {
    "spark-run": spark_run,
    "spark-time": spark_time,
    "spark-modes": spark_modes,
    "spark-reads": spark_reads,
    "spark-memory": spark_memory,
    "spark-figures": spark_figures,
}
