"""The comparison of searches: surfaces as they are recorded, its tables, and that docs/performance/searches.md and the kept results are of today."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from sampled import sampled
from trimtab.experiments import Swept, configurations, load
from trimtab.experiments.results import Results
from trimtab.experiments.swept import gathered

from benchmarks import docs
from benchmarks.__main__ import SUITES
from benchmarks.machine import describe
from benchmarks.running import BenchError
from benchmarks.searches import (
    PROGRAM,
    RECORDED,
    SEARCH_BLOCKS,
    alone_table,
    arcs_table,
    overview,
    recorded_on,
    results_on,
    surfaces_table,
)
from benchmarks.surfaces import FIRST_LINE, SURFACES, Surface, text_of

ROOT = Path(__file__).parents[2]
PERCENTS = (5, 25, 50, 75, 95)


def kept() -> dict[str, Any]:
    result: dict[str, Any] = json.loads(SUITES["searches"].kept.read_text(encoding="utf-8"))
    return result


def lines_of(word: str) -> list[str]:
    lines = (ROOT / RECORDED).read_text(encoding="utf-8").splitlines()
    return [line.removeprefix(f"{word} ") for line in lines if line.startswith(f"{word} ")]


def test_the_page_shows_the_results_that_are_kept() -> None:
    text = SUITES["searches"].page.read_text(encoding="utf-8")
    assert docs.filled(text, kept(), SEARCH_BLOCKS) == text


def test_the_kept_results_are_of_the_recorded_surfaces() -> None:
    cases = [case for case in kept()["cases"] if case["is_recorded"]]
    assert kept()["recorded_on"] == lines_of("machine")
    assert (
        [case["surface"] for case in cases] == lines_of("surface") == [surface.name for surface in SURFACES]
    )
    assert sum(case["points"] for case in cases) == len(lines_of("point"))


@pytest.mark.skipif(not (ROOT / PROGRAM).exists(), reason="needs the release build")
def test_the_kept_results_are_what_the_searches_do() -> None:
    """Where they are not: ./x bench --only searches --write-docs."""
    assert results_on(ROOT, ROOT / RECORDED) == kept()


@pytest.mark.skipif(not (ROOT / PROGRAM).exists(), reason="needs the release build")
def test_a_malformed_file_is_told(tmp_path: Path) -> None:
    path = tmp_path / "wrong.txt"
    path.write_text(f"{FIRST_LINE}\nsurface a\nknob b set 1 c\n")
    with pytest.raises(BenchError, match=r"wrong\.txt:3: expected a number, found 'c'"):
        results_on(ROOT, path)


def swept(folder: Path, surface: Surface, left_out: tuple[Any, ...] = ()) -> Swept:
    """Three samples; each median is 100 us times the first knob, times 0.9 to 1.1 by the sample."""
    whole = load(ROOT / "docs/experiments" / surface.file)
    chosen = [
        one_configuration
        for one_configuration in configurations(whole)
        if surface.at.items() <= one_configuration.items()
    ]
    experiment = replace(whole, samples=3)
    with Results(folder, experiment) as results:
        for configuration, sample in product(chosen, (1, 2, 3)):
            if tuple(configuration[knob] for knob in surface.knobs) == left_out:
                continue
            median = 100 * float(configuration[surface.knobs[0]]) * (0.8 + 0.1 * sample)
            metrics = {f"step_q{percent:02}_us": median * (0.5 + percent / 100) for percent in PERCENTS}
            results.append(sampled(configuration, sample, metrics))
        return gathered(experiment, results, chosen)


def test_surfaces_are_written_point_by_point(tmp_path: Path) -> None:
    surface = next(one_surface for one_surface in SURFACES if one_surface.name == "hotspot3d, gcc")
    lines = text_of({surface.file: swept(tmp_path / "out", surface)}, describe(), [surface]).splitlines()
    assert lines[0] == FIRST_LINE
    assert (
        "27 runs" not in lines[3]
        and "81 runs, 3 of each point" in lines[3]
        and "3.0% of the CPUs" in lines[3]
    )
    assert lines[5:12] == [
        "surface hotspot3d, gcc",
        "about loop of a few layers",
        "knob threads set 1 2 4",
        "knob schedule names static dynamic guided",
        "knob chunk set 1 2 4",
        "start 4 static 1",
        "hint 2 static 1",
    ]
    assert lines[13] == "point 1 static 1 55 75 100 125 145 0.100"
    assert lines[-1] == "point 4 guided 4 220 300 400 500 580 0.100"
    assert len(lines) == 13 + 27


def test_a_point_that_was_not_measured_is_told(tmp_path: Path) -> None:
    surface = next(one_surface for one_surface in SURFACES if one_surface.name == "hotspot3d, gcc")
    result = {surface.file: swept(tmp_path / "out", surface, left_out=(2, "guided", 4))}
    with pytest.raises(ValueError, match="hotspot3d, gcc: expected times at 2 guided 4, found none"):
        text_of(result, describe(), [surface])
    astray = replace(surface, start=(3, "static", 1))
    with pytest.raises(ValueError, match="expected the start 3 static 1 among its points"):
        text_of(result, describe(), [astray])


def test_all_that_is_swept_is_of_a_surface() -> None:
    for file in {surface.file for surface in SURFACES}:
        chosen = configurations(load(ROOT / "docs/experiments" / file))
        own_rows = [surface for surface in SURFACES if surface.file == file]
        for configuration in chosen:
            assert sum(entry.at.items() <= configuration.items() for entry in own_rows) == 1


def made_up() -> dict[str, Any]:
    def case(name: str, **overrides: Any) -> dict[str, Any]:
        result = {"good": [4, 1.0, 1.0, 0.0], "bad": [None, 0.4, 1.5, 0.0]}
        sizes = {"points": 45, "start": 3.0, "good": 5, "worst": 9.0}
        return {
            "surface": name,
            "about": "a loop",
            **sizes,
            "alone": result,
            "tuned": result,
            "arcs": {},
            **overrides,
        }

    recorded = {"is_recorded": True, "best_us": 1234.5, "spread": 0.02, "rounds": 0.01}
    return {
        "recorded_on": ["a machine", "a compiler"],
        "cases": [
            case("one", **recorded),
            case("two", **recorded, arcs={"online": [9, 1.0, 1.25, 0.1], "offline": [None, 0.0, 1.0, 0.2]}),
            case("three", is_recorded=False),
        ],
    }


def test_tables() -> None:
    def cells(table: str) -> list[list[str]]:
        return [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()[2:]]

    results = made_up()
    assert recorded_on(results) == "- a machine\n- a compiler"
    first, two = cells(surfaces_table(results))
    assert first == ["one", "a loop", "45", "5", "1234", "3.00", "9.0", "2.0%", "1.0%"] and two[0] == "two"
    assert cells(alone_table(results))[2] == [
        "three (modelled)",
        "45",
        "3.00",
        "4, 100%, 1.00",
        "-, 40%, 1.50",
    ]
    good, bad = cells(overview(results))
    assert good == ["`good`", *["2 of 2", "4", "2 of 2", "1.00"] * 2]
    assert bad == ["`bad`", *["0 of 2", "-", "0 of 2", "1.50"] * 2]
    assert cells(arcs_table(results)) == [["two", "3.00", "9, 1.25, 10.0%", "-, 1.00, 20.0%"]]
