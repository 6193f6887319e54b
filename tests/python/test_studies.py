"""The studies: their variants, tables made of made-up results, and that their pages show the results that are kept."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sampled import sampled
from trimtab.experiments import configurations, key_of, load, summarised, write_outputs
from trimtab.experiments.results import Results
from trimtab.experiments.swept import Swept, gathered

from benchmarks import docs
from benchmarks.__main__ import SUITES
from benchmarks.coalescing_tables import (
    coalescing_best,
    coalescing_changing,
    coalescing_correlations,
    correlation,
)
from benchmarks.machine import describe
from benchmarks.studies import COALESCING, GRAIN_SIZE, SHORT, THREADS, Study, results_of
from benchmarks.study_tables import (
    grain_best,
    grain_ends,
    study_figures,
    study_run,
    threads_copies,
    threads_job,
    threads_means,
    threads_work,
)

ROOT = Path(__file__).parents[2]
STUDIES = pytest.mark.parametrize("study", [COALESCING, GRAIN_SIZE, THREADS], ids=lambda study: study.word)
MOST_BYTES = 250_000
EXPERIMENTS = sorted((ROOT / "docs/experiments").glob("*.toml"))


@pytest.mark.parametrize("file", EXPERIMENTS, ids=lambda file: file.stem)
def test_every_experiment_of_the_docs_can_be_read_and_draws_what_it_measures(file: Path) -> None:
    experiment = load(file)
    assert configurations(experiment)
    for figure in experiment.figures:
        assert figure.y in experiment.metrics, figure.name


@STUDIES
def test_the_short_variant_has_all_that_the_study_compares(study: Study) -> None:
    file = ROOT / "docs/experiments" / study.file
    whole, short = load(file), load(file, variant=SHORT)
    chosen = configurations(short)
    assert 0 < len(chosen) * short.samples < len(configurations(whole)) * whole.samples
    for factor in whole.factors:
        if all(isinstance(value, str) for value in factor.values):
            assert {entry[factor.name] for entry in chosen} == set(factor.values)
    smoke = load(file, study.smoke, variant=SHORT)
    assert 0 < len(configurations(smoke)) < len(chosen)


def test_the_threads_study_has_the_whole_grid() -> None:
    file = load(ROOT / "docs/experiments" / THREADS.file, variant=THREADS.variant)
    result = configurations(file)
    grains = [2_000, 10_000, 100_000, 1_000_000, 4_000_000]
    companion = [("none", 1), ("serial", 1), ("changing", 1), ("none", 2), ("none", 3), ("none", 4)]
    policies = ["free", "one", "asat-v1", "asat-v2", "fit"]
    expected = product(grains, policies, ["ACTIVE", "PASSIVE"], companion)
    names = ("grain", "threads", "wait", "beside", "copies")
    assert {tuple(entry[name] for name in names) for entry in result} == {
        (grain, threads, wait, *situation) for grain, threads, wait, situation in expected
    }
    assert len(result) == 300 and file.samples > 1


def made_up(
    study: Study,
    folder: Path,
    changes: dict[str, Any],
    is_done: Callable[[dict[str, Any], int], bool] = lambda at, sample: True,
    **metrics: Any,
) -> dict[str, Any]:
    """Results as `./x bench` keeps them; each metric is a function of the configuration."""
    experiment = load(ROOT / "docs/experiments" / study.file, changes, variant=SHORT)
    with Results(folder, experiment) as results:
        for configuration, sample in product(configurations(experiment), (1, 2)):
            if not is_done(configuration, sample):
                continue
            result = {name: value(configuration) for name, value in metrics.items()}
            results.append(
                sampled(
                    configuration,
                    sample,
                    {name: entry for name, entry in result.items() if entry is not None},
                )
            )
        swept: Swept = gathered(experiment, results, configurations(experiment))
    drawn = {experiment.figures[0].name}
    if study is THREADS:
        drawn = {path.stem for path in write_outputs(swept, summarised(swept)).figures}
    created = results_of(study, describe(), swept, summarised(swept), drawn)
    kept: dict[str, Any] = json.loads(json.dumps(created))
    return kept


def test_tables_of_grain_sizes(tmp_path: Path) -> None:
    # Best at 1600; static-priority takes twice as long as the others.
    def time_s(at: dict[str, Any]) -> float:
        slow = 2.0 if at["policy"] == "static-priority" else 1.0
        return slow * {160: 3.0, 506: 1.05, 1600: 1.0, 5000: 1.5}[at["partition"]]

    results = made_up(
        GRAIN_SIZE,
        tmp_path / "out",
        {"points": 5000},
        time_s=time_s,
        overhead_s=lambda at: 0.1,
        idle_rate=lambda at: 0.5 if at["partition"] == 160 else 0.25,
        phase_duration_us=lambda at: 2.0,
        task_length_us=lambda at: 1.5,
        pending_accesses=lambda at: 10.0,
        pending_misses=lambda at: 5.0,
        lups=lambda at: 1e9,
    )
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in grain_best(results).splitlines()[2:]]
    assert len(rows) == 12
    slow = next(row for row in rows if row[:2] == ["2", "static-priority"])
    assert slow[2:] == ["1.6 k", "2.000 (2.000-2.000)", "2.00", "25.0%", "2", "1.5", "1000", "0"]
    ends = [[cell.strip() for cell in line.split("|")[1:-1]] for line in grain_ends(results).splitlines()[2:]]
    assert ends[0] == ["1", "local", "3.00", "50.0%", "1.50", "25.0%", "506 to 1.6 k"]
    assert "24 configurations" not in study_run(results) and "48 configurations" in study_run(results)
    assert "3.0% of the CPUs" in study_run(results)
    figures = study_figures(results)
    assert "(figures/study-grain-size-overhead_s.png)" in figures
    assert "*Last-level cache misses*: not available: " in figures


def test_tables_of_coalescing(tmp_path: Path) -> None:
    # More parcels in a message: less time and overhead, but not for calls that need each other.
    def time_s(at: dict[str, Any]) -> float:
        if at["count"] == 0:
            return 0.05
        if "dependent" in at["program"]:
            return 0.01 * at["count"]
        return 1.0 / at["count"] + at["wait"] * 1e-9

    def overhead(at: dict[str, Any]) -> float:
        return 0.5 / max(at["count"], 1) + at["wait"] * 1e-7

    phases = {f"phase{number}_time_s": time_s for number in (1, 2, 3, 4)}
    phases |= {f"phase{number}_overhead": overhead for number in (1, 2, 3, 4)}
    results = made_up(
        COALESCING,
        tmp_path / "out",
        {"count": [0, 1, 4, 64], "wait": [2000, 4000]},
        time_s=time_s,
        overhead=overhead,
        queued_wait_s=lambda at: 0.001 * at["count"],
        parcels_a_message=lambda at: float(max(at["count"], 1)),
        **phases,
    )

    def rows_of(table: str) -> dict[tuple[str, ...], list[str]]:
        rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()[2:]]
        return {tuple(row[:3]): row[3:] for row in rows}

    correlations = rows_of(coalescing_correlations(results))
    assert len(correlations) == 6
    toy = correlations["toy", "TCP", "5"]
    dependent = correlations["toy, each call needs the one before", "shared memory", "5"]
    assert toy[0].startswith("1.00 (") and toy[1].startswith("-0.") and toy[2].startswith("1.00 (")
    assert dependent[0].startswith("-0.") and dependent[1].startswith("1.00 (")
    best = rows_of(coalescing_best(results))
    assert best["toy", "TCP", "best static"][:1] == ["64, 2000 us"]
    assert best["toy", "TCP", "worst static"][2] == f"{(1 + 4e-6) / (1 / 64 + 2e-6):.2f}"
    assert best["toy, each call needs the one before", "TCP", "best static"][0] in (
        "1, 2000 us",
        "1, 4000 us",
    )
    assert best["rotation", "shared memory", "adaptive"][0] == ""
    changing = rows_of(coalescing_changing(results))
    assert [key[1:] for key in changing if key[0] == "TCP"] == [
        ("1", "1"),
        ("2", "8"),
        ("3", "64"),
        ("4", "512"),
    ]


def test_correlation_and_its_interval() -> None:
    generator = np.random.default_rng(3)
    first = generator.normal(size=200)
    second = first + generator.normal(size=200)
    whole, low, high = correlation(list(first), list(second))
    assert 0.6 < low < whole < high < 0.8 and whole == pytest.approx(np.corrcoef(first, second)[0, 1])
    assert all(np.isnan(correlation([1.0, 1.0, 1.0], [1.0, 2.0, 3.0])[:1]))


def test_tables_of_threads(tmp_path: Path) -> None:
    lost = {"free": 4.0, "one": 1.25, "asat-v1": 2.5, "asat-v2": 2.0, "fit": 1.0}
    results = made_up(
        THREADS,
        tmp_path / "out",
        {"grain": 2000, "wait": "ACTIVE"},
        over_ideal=lambda at: lost[at["threads"]],
        job_slowdown=lambda at: 1.1 if at["beside"] != "none" else None,
        copies_cpus=lambda at: 1.0,
        slowest_copy_cpus=lambda at: 1.0,
        done_cpus=lambda at: 1.0,
    )
    work = threads_work(results).splitlines()[2:]
    assert [line.split("|")[1].strip() for line in work] == [
        "alone",
        "beside a serial job",
        "beside changing load",
        "copies: 4",
    ]
    assert all(line.count("*") == 1 and "| 1.00 (1.00-1.00) * |" in line for line in work)
    means = [
        [cell.strip() for cell in line.split("|")[1:-1]] for line in threads_means(results).splitlines()[2:]
    ]
    of_entry = [f"{entry:.2f}" for entry in lost.values()]
    assert means[0] == ["alone", "spin", "1", *of_entry] and means[3] == ["copies", "spin", "1", *of_entry]
    assert means[4] == ["in all", "", "4", *of_entry]
    assert means[5:] == [
        [title, wait, lines, *["1.10"] * 5]
        for title, wait, lines in (
            ("beside a serial job: the job", "spin", "1"),
            ("beside changing load: the job", "spin", "1"),
            ("in all: the job", "", "2"),
        )
    ]
    assert len(threads_job(results).splitlines()) == 2 + 2
    assert [cell.strip() for cell in threads_copies(results).splitlines()[2].split("|")[4:-1]] == [
        "3.20",
        "2.00",
        "1.60",
        "0.80",
    ]


def test_tables_of_a_sweep_that_was_stopped(tmp_path: Path) -> None:
    """Alone all is done, beside a serial job `one` and a first sample of `fit`, of the copies all but `one`."""

    def is_done(at: dict[str, Any], sample: int) -> bool:
        if at["beside"] == "serial":
            return at["threads"] == "one" or (at["threads"] == "fit" and sample == 1)
        return at["beside"] == "none" and (at["copies"] == 1 or at["threads"] != "one")

    results = made_up(
        THREADS,
        tmp_path / "out",
        {"grain": 2000, "wait": "ACTIVE"},
        is_done,
        over_ideal=lambda at: 2.0 if at["threads"] == "one" else 1.5,
        job_slowdown=lambda at: 1.1 if at["beside"] == "serial" else None,
        copies_cpus=lambda at: 1.0,
        slowest_copy_cpus=lambda at: 1.0,
        done_cpus=lambda at: 1.0,
    )

    def cells(table: str) -> list[list[str]]:
        return [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()[2:]]

    best, two = "1.50 (1.50-1.50) *", "2.00 (2.00-2.00)"
    assert cells(threads_work(results)) == [
        ["alone", "spin", "2 k", best, two, best, best, best],
        ["beside a serial job", "spin", "2 k", "", two, "", "", best],
        ["copies: 4", "spin", "2 k", best, "", best, best, best],
    ]
    first = "1.10 (1.10-1.10) *"
    assert cells(threads_job(results)) == [["beside a serial job", "spin", "2 k", "", first, "", "", first]]
    assert cells(threads_copies(results)) == []
    assert "21 of 40 runs" in study_run(results)
    files = [figure["file"].removeprefix("study-threads-") for figure in results["figures"]]
    assert files == ["alone.png", "serial.png", "job.png", "", "copies-active.png", ""]
    assert "*Beside load that changes*: not available." in study_figures(results)


@STUDIES
def test_the_page_shows_the_results_that_are_kept(study: Study) -> None:
    suite = SUITES[study.word]
    text = suite.page.read_text(encoding="utf-8")
    if not suite.kept.exists():
        blocks = re.findall(r"<!-- bench ([a-z-]+) -->\n(.*?)<!-- end -->", text, re.DOTALL)
        assert {name for name, _ in blocks} == suite.blocks.keys()
        assert {body for _, body in blocks} == {"*Not run yet.*\n"}
        return
    results = json.loads(suite.kept.read_text(encoding="utf-8"))
    assert docs.filled(text, results, suite.blocks) == text
    for figure in results["figures"]:
        if figure["file"]:
            assert 0 < (ROOT / "docs/studies/figures" / figure["file"]).stat().st_size < MOST_BYTES
    assert len({key_of(case["configuration"]) for case in results["cases"]}) == len(results["cases"])
