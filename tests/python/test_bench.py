"""The benchmarks' arithmetic, and that docs/performance/recording.md shows the results that are kept."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from benchmarks import docs, tables
from benchmarks.__main__ import SUITES
from benchmarks.machine import Patience
from benchmarks.running import LEVELS, run
from benchmarks.spread import differences, geometric_mean, judge, ratios, spread, together
from benchmarks.suite import FULL, SMOKE, cases, program_cases


def case(group: str, **values: list[float]) -> dict[str, Any]:
    names = ("wall_s", "cpu_s", "own_s", "hooks", "clock_reads", "clock_read_ns", "events", "dropped")
    levels = {
        level: {**{name: [0.0, 0.0, 0.0] for name in names}, "value": values.get(level, [1.0, 1.0, 1.0])}
        for level in LEVELS
    }
    return {
        "group": group,
        "name": "region",
        "compiler": "gcc",
        "threads": 1,
        "occurrences": 100,
        "levels": levels,
        "shortest_region_us": 150.0,
        "others_share": [0.01],
        "run_again": 0,
    }


def test_spread_of_a_known_series() -> None:
    result = spread([float(entry) for entry in range(1, 16)])
    assert (result.count, result.median, result.quarter, result.three_quarters) == (15, 8, 4.5, 11.5)
    # The sign test's interval for 15 values: from the 4th smallest to the 4th largest.
    assert (result.low, result.high) == (4, 12)
    assert result.iqr == 7


def test_spread_of_few_values_is_their_range() -> None:
    assert (spread([3.0]).low, spread([3.0]).high) == (3.0, 3.0)
    assert (spread([3.0, 1.0]).low, spread([3.0, 1.0]).high) == (1.0, 3.0)
    with pytest.raises(ValueError, match="at least one"):
        spread([])


def test_interval_holds_the_median_as_often_as_it_says() -> None:
    source = random.Random(7)
    held = 0
    for _ in range(2000):
        result = spread([source.expovariate(1.0) for _ in range(15)])
        held += result.low <= 0.6931 <= result.high
    assert 0.95 <= held / 2000 < 0.985


def test_rounds_are_compared_with_themselves() -> None:
    assert differences([11.0, 102.0], [10.0, 100.0]) == [1.0, 2.0]
    assert ratios([11.0, 110.0], [10.0, 100.0]) == pytest.approx([1.1, 1.1])
    assert geometric_mean([0.5, 2.0]) == pytest.approx(1.0)
    with pytest.raises(ValueError, match="argument 2"):
        differences([1.0], [1.0, 2.0])


def test_judgement_needs_the_whole_interval() -> None:
    values = [float(entry) for entry in range(1, 16)]
    assert [judge(spread(values), limit) for limit in (12, 8, 3.9)] == ["met", "open", "not met"]


def test_programs_together_are_the_mean_of_their_medians() -> None:
    first = case("program", bare=[1.0, 2.0, 4.0], profile=[2.0, 4.0, 8.0])
    second = case("program", bare=[1.0, 2.0, 4.0], profile=[0.5, 1.0, 2.0])
    results = {"programs": {"cases": [case("once"), first, second]}}
    assert tables.all_programs(results, "profile").median == pytest.approx(1.0)


def test_one_round_of_one_program_does_not_move_all_of_them() -> None:
    source = random.Random(3)
    series = [[source.gauss(1.0, 0.01) for _ in range(22)] for _ in range(14)]
    result = together(series)
    assert 0.995 < result.low < result.median < result.high < 1.005
    disturbed = together([[*series[0][1:], 9.0], *series[1:]])
    assert disturbed.median == pytest.approx(result.median, abs=0.001)
    assert disturbed.high - disturbed.low < 2 * (result.high - result.low)


def test_a_ratio_is_shown_as_what_is_above_bare() -> None:
    assert tables.percent(spread([1.002, 1.004, 0.999])) == "+0.20 (-0.10 to +0.40)"


def test_threads_are_bound_where_that_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_PROC_BIND", "false")  # the test's own environment is put back at its end
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    reported = ["sh", "-c", "echo $OMP_NUM_THREADS $OMP_PROC_BIND"]
    assert run(reported, "bare", 3, tmp_path, is_bound=True).output == "3 true\n"
    assert run(reported, "bare", 3, tmp_path).output == "3\n"


def test_patience_lasts_for_its_seconds() -> None:
    patience = Patience(10.0, quiet=0.05)
    assert not patience.bears(0.5, 1.0)  # no case has begun
    patience.next_case()
    assert not patience.bears(0.04, 20.0)
    assert not patience.bears(None, 20.0)
    assert patience.bears(0.5, 20.0)
    assert not patience.bears(0.5, 20.0)


def test_hook_cost_is_what_clock_reads_do_not_explain() -> None:
    result = case("construct", bare=[100.0] * 3, profile=[170.0] * 3, trace=[210.0] * 3)
    for level, reads in (("profile", 200.0), ("trace", 300.0)):
        result["levels"][level]["clock_reads"] = [reads] * 3
        result["levels"][level]["clock_read_ns"] = [20.0] * 3
    result["levels"]["trace"]["events"] = [200.0] * 3
    assert tables.hook_cost_ns(result) == pytest.approx(70 - 2 * 20)
    assert tables.event_cost_ns(result) == pytest.approx((110 - 3 * 20 - 30) / 2)


def test_tables_are_aligned_markdown() -> None:
    lines = tables.markdown(["what", "ns"], [["a long name", "+1"], ["b", "-20"]]).splitlines()
    assert lines == [
        "| what        |  ns |",
        "|-------------|----:|",
        "| a long name |  +1 |",
        "| b           | -20 |",
    ]


def test_pages_without_a_block_are_refused() -> None:
    with pytest.raises(ValueError, match=r"expected the blocks .*targets.*, found machine"):
        docs.filled("<!-- bench machine -->\n<!-- end -->", {})


def test_smoke_run_has_every_kind_of_case() -> None:
    def groups(size: Any) -> set[str]:
        return {entry.group for entry in every(size)}

    def every(size: Any) -> list[Any]:
        return [*cases(size, Path("p"), 2), *program_cases(size, Path("p"), Path("w"), 2)]

    assert groups(SMOKE) == groups(FULL) == {"start", "scope", "construct", "once", "program"}
    assert len({entry.title for entry in every(FULL)}) == len(every(FULL))


def test_page_shows_the_kept_results() -> None:
    suite = SUITES["recording"]
    text = suite.page.read_text(encoding="utf-8")
    assert docs.filled(text, json.loads(suite.kept.read_text(encoding="utf-8")), suite.blocks) == text
