"""The matrix of patterns, built by gfortran."""

from __future__ import annotations

import pytest
from pattern_runs import (
    SHAPES,
    Program,
    check_answers,
    check_frozen,
    check_objective,
    check_report,
    programs,
)

from benchmarks.pattern_programs import patterns_of
from benchmarks.pattern_rows import Pattern

COMPILER = "gfortran"
each_row = pytest.mark.parametrize("row", patterns_of(COMPILER), ids=lambda row: row.name)
each_shape = pytest.mark.parametrize("shape", SHAPES)


@pytest.fixture(scope="module")
def program(trimtab: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Program]:
    return programs(trimtab, tmp_path_factory.mktemp("patterns"), COMPILER)


@each_shape
@each_row
def test_answer(program: dict[str, Program], shape: str, row: Pattern) -> None:
    check_answers(program[shape], row)


@each_shape
@each_row
def test_report(program: dict[str, Program], shape: str, row: Pattern) -> None:
    check_report(program[shape], row, COMPILER)


@each_shape
@each_row
def test_objective(program: dict[str, Program], shape: str, row: Pattern) -> None:
    check_objective(program[shape], row, COMPILER)


@each_shape
def test_frozen(program: dict[str, Program], shape: str) -> None:
    check_frozen(program[shape])
