"""The list of real programs, and the table that is made of results: no program is left out, and no gain is made up."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.program_picture import picture
from benchmarks.real_programs import (
    FOLDER_VARIABLE,
    KEPT,
    LIST,
    PAGE,
    RESULTS_PAGE,
    Program,
    answers,
    headline,
    measure,
    ratio,
    read_list,
    run_all,
    run_real_programs,
    summary,
    table,
    why_missing,
    write_suite,
)
from benchmarks.running import BenchError


def row(name: str, tuned: list[float], run: list[float] | None = None) -> dict[str, Any]:
    seconds = {"bare": [10.0] * len(tuned), "run": run or [10.0] * len(tuned), "tuned": tuned}
    return {"name": name, "seconds": seconds, "kept": "", "limit": "balanced", "answers": "same"}


def test_the_list_has_programs_of_many_fields_and_both_compilers() -> None:
    programs = read_list()
    assert len({program.name for program in programs}) == len(programs) >= 24
    assert len({program.field for program in programs}) >= 8
    assert {program.compiler for program in programs} == {"gcc", "clang"}
    assert {program.origin for program in programs} == {"debian", "pypi", "github"}
    assert all(program.build for program in programs if program.origin == "github")


def test_every_program_has_a_row() -> None:
    programs = read_list(LIST)
    text = table(programs, {"cases": [row("LULESH", [5.0] * 5)]})
    rows = [line for line in text.splitlines() if line.startswith("| ")][1:]
    assert len(rows) == len(programs)
    assert sum("not measured yet" in line for line in rows) == len(programs) - 1
    assert "10.00 | 1.00 (1.00-1.00) | 0.50 (0.50-0.50) | balanced | same |" in rows[0]


def test_the_summary_counts_only_what_every_pair_shows() -> None:
    cases = [
        row("a", [7.0] * 5),
        row("b", [9.4] * 5),
        row("c", [7.0] * 4 + [10.1]),  # once slower
        row("d", [10.4] * 5),
        row("e", [10.4] * 4 + [10.2]),
        row("f", [10.0] * 5, [11.0] * 5),
    ]
    cases = [case | {"kept": "A=1"} for case in cases] + [row("nothing was kept", [7.0] * 5)]
    text = summary(read_list(), {"cases": cases})
    assert "Faster by 5 % or more: 2; by 20 % or more: 1." in text
    assert text.endswith("(interval wholly above 1.03): d, f.")
    assert ratio(cases[2], "tuned") == pytest.approx((0.7, 0.7, 1.01))


def test_answers() -> None:
    assert answers(["a", "a"], ["a", "a"]) == "same"
    assert answers(["a", "a"], ["a", "b"]) == "different"
    assert answers(["a", "b"], ["a", "b"]) == "bare runs differ by themselves"
    assert answers(["", ""], ["", ""]) == "nothing is printed"


def test_the_page_is_what_the_results_say() -> None:
    results = json.loads(KEPT.read_text())
    assert table(read_list(), results) in PAGE.read_text()
    assert headline(results) in RESULTS_PAGE.read_text()
    assert {case["name"] for case in results["cases"]} <= {program.name for program in read_list()}


def test_what_is_not_there_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = Program("app", "field", "github", "owner/app", "gcc", "./app -n 3", build="true")
    assert why_missing(program, tmp_path) == f"{tmp_path / 'app'}: not there"
    kept: list[Any] = []
    run_all([program], tmp_path, 1, 60, kept.append)
    assert kept == [] and "app: not measured: " in capsys.readouterr().err
    (tmp_path / "app").mkdir()
    (tmp_path / "app/app").touch()
    assert why_missing(program, tmp_path) == ""
    assert program.argv(tmp_path) == [str(tmp_path / "app/app"), "-n", "3"]


def test_a_program_is_measured_in_all_ways(tmp_path: Path) -> None:
    (tmp_path / "inputs").mkdir()
    command = f"{sys.executable} -c 'print(42)'"
    measured = measure(Program("app", "field", "debian", "app", "gcc", command), tmp_path, 2)
    assert {way: len(seconds) for way, seconds in measured["seconds"].items()} == {
        "bare": 2,
        "run": 2,
        "tuned": 2,
    }
    assert measured["answers"] == "same" and measured["kept"] == ""


def test_the_page_of_results_has_gains_and_limits() -> None:
    cases = [row("LULESH", [5.0] * 5) | {"kept": "A=1"}, row("zstd", [10.0] * 5) | {"limit": "a | b"}]
    text = headline({"machine": {"cpus": 2}, "cases": cases})
    assert "- **LULESH**: 10.00 s become 5.00 s (50% to 50% less) with `A=1`" in text
    assert "| zstd | a / b |" in text
    assert "| LULESH |" not in text


def test_the_picture_has_a_bar_for_each_program() -> None:
    rows = [("LULESH", 0.5, 0.4, 0.6), ("zstd", 1.0, 0.9, 1.1)]
    text = picture(rows).decode()
    assert text.startswith("<?xml") and text.count("LULESH") == 1 and text.count("zstd") == 1
    assert picture(rows).decode() == text


def test_a_file_that_differs_is_another_answer(tmp_path: Path) -> None:
    folder = tmp_path / "inputs"
    folder.mkdir()
    script = folder / "app.py"
    script.write_text(
        "import os, sys\nopen('out', 'w').write(str(len(os.environ.get('LD_PRELOAD', '')) > 0))\n"
    )
    program = Program("app", "field", "debian", "app", "gcc", f"{sys.executable} app.py", output="out")
    assert measure(program, tmp_path, 1)["answers"] == "different"


def test_without_a_folder_nothing_is_measured_or_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(FOLDER_VARIABLE, raising=False)
    lines: list[str] = []
    results = run_real_programs(Path(), Path(), False, 1, 0, lines.append)
    assert results["cases"] == [] and len(lines) == 1 and FOLDER_VARIABLE in lines[0]
    with pytest.raises(BenchError):
        write_suite(results)
