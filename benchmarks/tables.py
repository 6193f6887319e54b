"""Results as Markdown tables; the same text goes to the terminal and into docs/performance/recording.md."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from benchmarks.running import LEVELS, PROMISED
from benchmarks.spread import Spread, differences, ratios, spread, together

ATTACHED = LEVELS[1:]
RECORDED = PROMISED[1:]
Results = dict[str, Any]


def of_group(results: Results, group: str) -> list[dict[str, Any]]:
    """Cases of one group, in order."""
    return [case for case in results["cases"] if case["group"] == group]


def above_bare(case: dict[str, Any], level: str, figure: str = "value") -> Spread:
    """Difference to the bare run of the same round."""
    return spread(differences(case["levels"][level][figure], case["levels"]["bare"][figure]))


def ratios_to_bare(case: dict[str, Any], level: str) -> list[float]:
    """To the bare run of the same round, of each round."""
    return ratios(case["levels"][level]["value"], case["levels"]["bare"]["value"])


def all_programs(results: Results, level: str) -> Spread:
    """The geometric mean of what each program's median ratio is."""
    return together([ratios_to_bare(case, level) for case in of_group(results["programs"], "program")])


def markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table with its columns aligned, so that it reads in a terminal, too. Figures stand right."""
    cells = [list(head), *(list(row) for row in rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(head))]
    is_figure = [[row[i][0] in "0123456789+-" for row in cells[1:] if row[i]] for i in range(len(head))]
    # Some of the titles may begin like one.
    is_text = [not (all if i == 0 else any)(column) for i, column in enumerate(is_figure)]

    def line(row: Sequence[str]) -> str:
        padded = [
            cell.ljust(width) if text else cell.rjust(width)
            for cell, width, text in zip(row, widths, is_text, strict=True)
        ]
        return "| " + " | ".join(padded) + " |"

    rule = ["-" * (width + 1) + ("-" if text else ":") for width, text in zip(widths, is_text, strict=True)]
    return "\n".join([line(cells[0]), "|" + "|".join(rule) + "|", *map(line, cells[1:])])


def programs_machine(results: Results) -> str:
    """What the whole programs ran on."""
    return machine(results["programs"])


def machine(results: Results) -> str:
    """What it ran on."""
    result = results["machine"]
    cases = results["cases"]
    others = [share for case in cases for share in case["others_share"]]
    repeated = sum(case["run_again"] for case in cases)
    cpus = f"{result['cpus']} CPUs" + (" of a virtual machine" if result["virtual"] else "")
    return "\n".join(
        [
            f"- {result['date']}, commit {result['commit']}: {result['cpu']}, {cpus}, {result['memory_gb']} GB,"
            f" Linux {result['kernel']}",
            f"- {result['gcc']}; {result['clang']}; Python {result['python']}",
            f"- other programs and the hypervisor took {spread(others).median:.1%} of the CPUs in the median round and"
            f" {max(others):.1%} at most; {repeated} rounds were run again because they took more than"
            f" {results['quiet']:.0%}",
        ]
    )


def scopes(results: Results) -> str:
    """Begin + end of a subject of the program's own."""
    rows = []
    for case in of_group(results, "scope"):
        result = [spread(case["levels"][level]["value"]) for level in LEVELS]
        rows.append(
            [
                case["compiler"],
                *(f"{entry.median:.1f} ± {entry.iqr / 2:.1f}" for entry in result),
                f"{lost(case):.0%}",
            ]
        )
    return markdown(["begin + end, ns", "not attached", *ATTACHED, "lost in trace"], rows)


def constructs(results: Results) -> str:
    """What one construct costs a thread."""
    rows = []
    for case in of_group(results, "construct"):
        bare = spread(case["levels"]["bare"]["value"])
        higher = [above_bare(case, level) for level in ATTACHED]
        rows.append(
            [
                case["name"],
                case["compiler"],
                str(case["threads"]),
                f"{bare.median:.0f} ± {bare.iqr / 2:.0f}",
                *(f"{entry.median:+.0f} ± {entry.iqr / 2:.0f}" for entry in higher),
                f"{lost(case):.0%}",
            ]
        )
    return markdown(["construct", "compiler", "threads", "bare, ns", *ATTACHED, "lost in trace"], rows)


def programs(results: Results) -> str:
    """Wall time of whole programs, and what the tool says of itself."""
    rows = []
    for case in of_group(results["programs"], "program"):
        rows.append(
            [
                case["name"],
                case["compiler"],
                _length(case["shortest_region_us"]),
                f"{spread(case['levels']['bare']['value']).median:.3f}",
                *(percent(spread(ratios_to_bare(case, level))) for level in RECORDED),
                *(f"{_reported_share(case, level, results) * 100:.2f}" for level in RECORDED),
            ]
        )
    rows.append(["all", "", "", "", *(percent(all_programs(results, level)) for level in RECORDED), "", ""])
    head = ["program", "compiler", "shortest region", "bare, s", *(f"{level}, %" for level in RECORDED)]
    return markdown([*head, *(f"reported, {level} %" for level in RECORDED)], rows)


def _reported_share(case: dict[str, Any], level: str, results: Results) -> float:
    """The tool's own cost as it says itself: CPU time of the available core time."""
    result = case["levels"][level]
    cpus = results["programs"]["machine"]["cpus"]
    return spread(
        [own_value / (wall * cpus) for own_value, wall in zip(result["own_s"], result["value"], strict=True)]
    ).median


def percent(result: Spread) -> str:
    """Of a ratio, what is above 1, with its interval."""
    median, low, high = ((entry - 1) * 100 for entry in (result.median, result.low, result.high))
    return f"{median:+.2f} ({low:+.2f} to {high:+.2f})"


def once(results: Results) -> str:
    """What whole programs pay once."""
    rows = []
    for case in of_group(results["programs"], "once"):
        result = [above_bare(case, level) for level in RECORDED]
        rows.append(
            [
                case["compiler"],
                *(
                    f"{entry.median * 1e3:.2f} ({entry.low * 1e3:.2f} to {entry.high * 1e3:.2f})"
                    for entry in result
                ),
            ]
        )
    return markdown(["compiler", *(f"{level}, ms" for level in RECORDED)], rows)


def _length(microseconds: float) -> str:
    return f"{microseconds:.0f} us" if microseconds < 1000 else f"{microseconds / 1000:.1f} ms"


def own_costs(results: Results) -> str:
    """CPU time that the tool reports for itself, against the difference of pairs of runs."""
    rows = []
    for case, level, reported, measured in own_pairs(results):
        rows.append(
            [
                case["name"],
                case["compiler"],
                str(case["threads"]),
                level,
                f"{reported * 1e3:.1f}",
                f"{measured.median * 1e3:.1f} ± {measured.iqr * 500:.1f}",
                f"{reported / measured.median:.2f}",
            ]
        )
    head = ["what", "compiler", "threads", "level", "reported, ms", "measured, ms", "reported / measured"]
    return markdown(head, rows)


def own_pairs(results: Results) -> list[tuple[dict[str, Any], str, float, Spread]]:
    """Cases in which the difference stands out from its spread: (case, level, reported s, measured s)."""
    result = []
    for case in [*results["cases"], *results["programs"]["cases"]]:
        for level in RECORDED:
            measured = above_bare(case, level, "cpu_s")
            if measured.low > 0 and measured.median > 2 * measured.iqr:
                result.append((case, level, spread(case["levels"][level]["own_s"]).median, measured))
    return result


def hooks(results: Results) -> str:
    """What one occurrence costs beside its clock reads: the constants of trimtab.analysis.overhead."""
    rows = []
    for case in [*of_group(results, "scope"), *of_group(results, "construct")]:
        if case["threads"] != 1:
            continue
        at_trace = event_cost_ns(case)
        rows.append(
            [
                case["name"],
                case["compiler"],
                f"{_reads(case, 'profile'):.1f}",
                f"{hook_cost_ns(case):.0f}",
                "none" if at_trace is None else f"{at_trace:.0f}",
            ]
        )
    return markdown(
        ["one occurrence", "compiler", "clock reads", "beside them, ns", "more an event in trace, ns"], rows
    )


def _reads(case: dict[str, Any], level: str) -> float:
    result = case["levels"][level]
    # Of scopes the lane counts no reads; each event of theirs comes with one.
    reads = spread(result["clock_reads"]).median if case["group"] != "scope" else _events(case, level)
    return reads / float(case["occurrences"])


def _events(case: dict[str, Any], level: str) -> float:
    result = case["levels"][level]
    return spread(result["events"]).median + spread(result["dropped"]).median


def lost(case: dict[str, Any]) -> float:
    """Share of a trace's events that had no room when they came."""
    dropped = spread(case["levels"]["trace"]["dropped"]).median
    return dropped / _events(case, "trace") if dropped else 0.0


def _beside_reads_ns(case: dict[str, Any], level: str) -> float:
    read_ns = spread(case["levels"][level]["clock_read_ns"]).median
    return above_bare(case, level).median - _reads(case, level) * read_ns


def hook_cost_ns(case: dict[str, Any]) -> float:
    """In profile, above bare."""
    return _beside_reads_ns(case, "profile")


def event_cost_ns(case: dict[str, Any]) -> float | None:
    """What each event costs more in trace than in the flight recorder; None where there are hardly any."""
    events = spread(case["levels"]["trace"]["events"]).median / float(case["occurrences"])
    return (
        (_beside_reads_ns(case, "trace") - _beside_reads_ns(case, "profile")) / events
        if events > 0.5
        else None
    )


def starts(results: Results) -> str:
    """What there is to pay once."""
    case = of_group(results, "start")[0]
    command = results["command"]
    rows = [[f"library in the program, {level}", _ms(above_bare(case, level))] for level in ATTACHED]
    rows.append(
        ["`trimtab run` with its verdict", _ms(spread(differences(command["command_s"], command["bare_s"])))]
    )
    return markdown(["once a program", "ms above bare"], rows)


def _ms(result: Spread) -> str:
    return f"{result.median * 1e3:.1f} ± {result.iqr * 500:.1f}"


def reading(results: Results) -> str:
    """`trimtab report --json` of a large trace."""
    result = results["reading"]
    wall, peak = spread(result["wall_s"]), spread(result["peak_bytes"])
    return markdown(
        ["events", "lanes", "on disk", "time, s", "peak memory"],
        [
            [
                f"{result['events'] / 1e6:.2f} M",
                str(result["lanes"]),
                f"{result['bytes_on_disk'] / 1e6:.0f} MB",
                f"{wall.median:.2f} ± {wall.iqr / 2:.2f}",
                f"{peak.median / 1e6:.0f} MB",
            ]
        ],
    )
