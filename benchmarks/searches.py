"""The comparison of searches on response surfaces: what build/release/rooms/steer/search_table works out, and its tables."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks import surfaces
from benchmarks.running import BenchError, finished
from benchmarks.tables import Results, markdown

# Of this repository: what the tables are made from.
RECORDED = Path("rooms/steer/bench/recorded_surfaces.txt")
PROGRAM = Path("build/release/rooms/steer/search_table")
_TIMEOUT_S = 600
# Mostly: nine seeds of ten.
_MOSTLY = 0.9
_NEAR = 1.05


def run_searches(
    root: Path,
    programs: Path,
    is_smoke: bool,
    rounds: int,
    minutes: float,
    report_progress: Callable[[str], None],
) -> dict[str, Any]:
    """On the surfaces that are kept. Deterministic: there is nothing to repeat or to wait for."""
    return results_on(root, root / RECORDED)


def run_surfaces(
    root: Path,
    programs: Path,
    is_smoke: bool,
    rounds: int,
    minutes: float,
    report_progress: Callable[[str], None],
) -> dict[str, Any]:
    """On surfaces that are recorded now."""
    text = surfaces.record(root, programs.parent, is_smoke, rounds, report_progress)
    path = recorded_in(programs.parent)
    path.write_text(text, encoding="utf-8")
    report_progress(f"surfaces: {path}")
    return results_on(root, path)


def recorded_in(out: Path) -> Path:
    """Where `run_surfaces` leaves them."""
    return out / RECORDED.name


def keep_surfaces(root: Path, out: Path) -> None:
    """Those that were recorded last, in place of the ones in the repository."""
    shutil.copyfile(recorded_in(out), root / RECORDED)


def results_on(root: Path, path: Path) -> dict[str, Any]:
    """What the searches come to on the recorded surfaces of that file, and on the modelled ones.

    Raises:
        BenchError: the program is not built, or does not like the file.
    """
    program = root / PROGRAM
    if not program.exists():
        raise BenchError(f"{program}: expected the built program, found none; ./x bench builds it")
    result: dict[str, Any] = json.loads(finished([str(program), str(path)], _TIMEOUT_S))
    return result


def _name(case: dict[str, Any]) -> str:
    return str(case["surface"]) + ("" if case["is_recorded"] else " (modelled)")


def _cell(until: float | None, reached: float, ended: float) -> str:
    return f"{'-' if until is None else f'{until:.0f}'}, {reached:.0%}, {ended:.2f}"


def recorded_on(results: Results) -> str:
    """Machine, compilers, runs."""
    return "\n".join(f"- {line}" for line in results["recorded_on"])


def surfaces_table(results: Results) -> str:
    """What was recorded."""
    head = [
        "surface",
        "what",
        "points",
        "within 5 %",
        "best, us",
        "start / best",
        "worst / best",
        "spread",
        "runs' spread",
    ]
    return markdown(
        head,
        (
            [
                case["surface"],
                case["about"],
                str(case["points"]),
                str(case["good"]),
                f"{case['best_us']:.4g}",
                f"{case['start']:.2f}",
                f"{case['worst']:.1f}",
                f"{case['spread']:.1%}",
                f"{case['rounds']:.1%}",
            ]
            for case in results["cases"]
            if case["is_recorded"]
        ),
    )


def _searches_table(results: Results, experiment: str) -> str:
    searches = list(results["cases"][0][experiment])
    rows = []
    for case in results["cases"]:
        cells = [_cell(*case[experiment][search][:3]) for search in searches]
        rows.append([_name(case), str(case["points"]), f"{case['start']:.2f}", *cells])
    return markdown(["surface", "points", "start", *searches], rows)


def alone_table(results: Results) -> str:
    """Searches by themselves."""
    return _searches_table(results, "alone")


def tuned_table(results: Results) -> str:
    """The tuner with each of them."""
    return _searches_table(results, "tuned")


def overview(results: Results) -> str:
    """Each search over all recorded surfaces: alone, and within a run."""
    cases = [case for case in results["cases"] if case["is_recorded"]]
    rows = []
    for search in cases[0]["alone"]:
        row = [f"`{search}`"]
        for experiment in ("alone", "tuned"):
            result = [case[experiment][search] for case in cases]
            untils = sorted(entry[0] for entry in result if entry[0] is not None)
            row += [
                f"{sum(entry[1] >= _MOSTLY for entry in result)} of {len(cases)}",
                f"{untils[len(untils) // 2]:.0f}" if untils else "-",
                f"{sum(entry[2] <= _NEAR for entry in result)} of {len(cases)}",
                f"{max(entry[2] for entry in result):.2f}",
            ]
        rows.append(row)
    head = [
        f"{experiment}: {figure}"
        for experiment in ("alone", "in a run")
        for figure in ("reaches 5 %", "after", "ends within 5 %", "at worst")
    ]
    return markdown(["search", *head], rows)


def arcs_table(results: Results) -> str:
    """ARCS as published, where there are schedules to be searched."""
    cases = [case for case in results["cases"] if case["arcs"]]
    kinds = list(cases[0]["arcs"])
    rows = []
    for case in cases:
        cells = [
            f"{'-' if until is None else f'{until:.0f}'}, {ended:.2f}, {lost:.1%}"
            for until, _, ended, lost in (case["arcs"][kind] for kind in kinds)
        ]
        rows.append([_name(case), f"{case['start']:.2f}", *cells])
    return markdown(["surface", "start", *kinds], rows)


SEARCH_BLOCKS = {
    "surfaces-recorded-on": recorded_on,
    "surfaces": surfaces_table,
    "searches-overview": overview,
    "searches-alone": alone_table,
    "searches-tuned": tuned_table,
    "searches-arcs": arcs_table,
}
