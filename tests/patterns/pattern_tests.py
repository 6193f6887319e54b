"""The tests of the matrix of patterns, the same for every compiler; each has a file of its own, so that they run at once."""

from __future__ import annotations

from typing import ClassVar

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


class PatternTests:
    """Every pattern of `COMPILER` with every shape of costs."""

    COMPILER: ClassVar[str]

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        if "row" in metafunc.fixturenames:
            metafunc.parametrize("row", patterns_of(self.COMPILER), ids=lambda row: row.name)
        if "shape" in metafunc.fixturenames:
            metafunc.parametrize("shape", SHAPES)

    @pytest.fixture(scope="class")
    def program(
        self, request: pytest.FixtureRequest, trimtab: str, tmp_path_factory: pytest.TempPathFactory
    ) -> dict[str, Program]:
        return programs(trimtab, tmp_path_factory.mktemp("patterns"), request.cls.COMPILER)

    def test_answer(self, program: dict[str, Program], shape: str, row: Pattern) -> None:
        check_answers(program[shape], row)

    def test_report(self, program: dict[str, Program], shape: str, row: Pattern) -> None:
        check_report(program[shape], row, self.COMPILER)

    def test_objective(self, program: dict[str, Program], shape: str, row: Pattern) -> None:
        check_objective(program[shape], row, self.COMPILER)

    def test_frozen(self, program: dict[str, Program], shape: str) -> None:
        check_frozen(program[shape])
