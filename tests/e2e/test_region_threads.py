"""`trimtab run --threads regions`: each parallel region gets a number of threads of its own, where no program relies on another."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import long_enough

Run = Callable[..., Any]
Compiled = Callable[..., Path]

FOLDER = Path(__file__).parent
REGIONS = (FOLDER / "region_threads.c").read_text(encoding="utf-8")
RELIES = (FOLDER / "thread_counts.c").read_text(encoding="utf-8")
COMPILERS = ("gcc", "clang-19")
CPUS = len(os.sched_getaffinity(0))
pytestmark = pytest.mark.alone


def threads(count: int) -> dict[str, str]:
    return {**os.environ, "OMP_NUM_THREADS": str(count), "GOMP_SPINCOUNT": "1000"}


@pytest.fixture
def options(tmp_path: Path) -> tuple[str, ...]:
    return ("--threads=regions", "--history", str(tmp_path / "history.sqlite"), "--input-class", "any")


def numbers(report: dict[str, Any], outcomes: tuple[str, ...]) -> list[tuple[str, int, int]]:
    """Regions by name, with each number of threads that they went from and to by such decisions."""
    return [
        (decision["subject"], int(change["from"]), int(change["to"]))
        for decision in report["decisions"]
        for change in decision["changes"]
        if change["knob"] == "threads" and decision["outcome"] in outcomes
    ]


def last(report: dict[str, Any], region: str, outcomes: tuple[str, ...] = ("kept", "set")) -> int | None:
    """The number that was accepted for it in the end; None: its own."""
    result = [to for name, _, to in numbers(report, outcomes) if region in name]
    return result[-1] if result else None


@pytest.mark.skipif(CPUS < 2, reason="with one CPU there is one thread")
@pytest.mark.parametrize("compiler", COMPILERS)
def test_tiny_regions_end_with_one_thread_and_a_big_one_keeps_its_own(
    run: Run, compiled: Compiled, options: tuple[str, ...], compiler: str
) -> None:
    program = compiled(REGIONS, compiler)

    def kept(watched: Any) -> list[dict[str, Any]]:
        decided = watched.report()["decisions"]
        return [entry for entry in decided if entry["outcome"] == "kept" and "tiny" in entry["subject"]]

    watched = long_enough(
        4,
        lambda seconds: run(program, seconds, options=("--tune", *options), env=threads(2)),
        lambda watched: bool(kept(watched)),
    )
    assert (watched.done.returncode, watched.done.stdout) == (0, "right\n"), watched.done.stderr
    report = watched.report()
    assert last(report, "tiny") == 1
    if not any("wait for a CPU" in decision["reason"] for decision in report["decisions"]):
        assert last(report, "big") in (None, 2), "nobody else wants the CPUs"
    assert (kept(watched)[0]["policy"], kept(watched)[0]["gain"] > 0.1) == ("tuner", True)

    frozen = run(program, "1", options=("--frozen", *options), env=threads(2))
    assert frozen.done.stdout == "right\n"
    report = frozen.report()
    assert last(report, "tiny", ("set",)) == 1, "replayed"
    assert {decision["policy"] for decision in frozen.decisions_but_moves()} == {"history"}
    region = next(one_region for one_region in report["regions"] if "tiny" in one_region["name"])
    assert region["threads"] == 1, "from its first instance on"

    lacking = run(program, "1", options=("--frozen", *options[1:]), env=threads(2))
    assert numbers(lacking.report(), ("set", "kept")) == [], "not without the consent"


@pytest.mark.parametrize("compiler", COMPILERS)
def test_any_numbers_are_right(run: Run, compiled: Compiled, options: tuple[str, ...], compiler: str) -> None:
    def turned(watched: Any) -> list[set[int]]:
        changes = numbers(watched.report(), ("set",))
        return [{to for name, _, to in changes if region in name} for region in ("tiny", "big", "on_demand")]

    program = compiled(REGIONS, compiler)
    watched = long_enough(
        2,
        lambda seconds: run(program, seconds, options=("--tune=shuffle", *options), env=threads(4)),
        lambda watched: turned(watched) == [{1, 2, 4}] * 3,
    )
    assert (watched.done.returncode, watched.done.stdout) == (0, "right\n"), watched.done.stderr
    assert turned(watched) == [{1, 2, 4}] * 3


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("how", ["asks", "asks-once", "asks-twice", "procs", "clause", "sets", "pthreads"])
def test_what_the_program_was_told_or_says_itself_stays(
    run: Run, compiled: Compiled, options: tuple[str, ...], compiler: str, how: str
) -> None:
    count = 3 if how == "pthreads" else 4
    watched = run(
        compiled(RELIES, compiler), how, "0.3", options=("--tune=shuffle", *options), env=threads(count)
    )
    assert (watched.done.returncode, watched.done.stdout) == (0, "right\n"), watched.done.stderr
    result = re.search(r"regions of (\d+) to (\d+) members", watched.done.stderr)
    assert result is not None
    smallest, limit = int(result[1]), int(result[2])
    if how == "pthreads":
        assert limit == 3
    else:
        assert (smallest, limit) == ((3, 3) if how in ("clause", "sets") else (4, 4))
    missing = [
        entry for entry in watched.report()["unavailable"] if entry["what"] == "numbers of threads of regions"
    ]
    # A region with a clause may be brought down with another consent; all else is told with its reason.
    assert len(missing) == 1


@pytest.mark.parametrize("compiler", COMPILERS)
def test_clauses_go_down_only_with_the_stronger_consent(
    run: Run, compiled: Compiled, options: tuple[str, ...], compiler: str
) -> None:
    tune_options = ("--tune=shuffle", "--threads-even-if-fixed", *options)

    def turned(watched: Any) -> set[int]:
        return {to for _, _, to in numbers(watched.report(), ("set",))}

    program = compiled(RELIES, compiler)
    watched = long_enough(
        2,
        lambda seconds: run(program, "believes-clause", seconds, options=tune_options, env=threads(4)),
        lambda watched: turned(watched) == {1, 2, 3},
    )
    assert watched.done.stdout == "right\n", watched.done.stderr
    assert turned(watched) == {1, 2, 3}, "never more than it says"


def test_without_consent_there_is_no_such_knob(
    run: Run, compiled: Compiled, options: tuple[str, ...]
) -> None:
    tune_options = ("--tune=shuffle", *options[1:])
    watched = run(compiled(REGIONS, "gcc"), "0.5", options=tune_options, env=threads(4))
    assert watched.done.stdout == "right\n"
    assert numbers(watched.report(), ("set", "trial", "kept")) == []


def test_arcs_searches_threads_schedule_and_chunk_of_a_region_together(
    run: Run, compiled: Compiled, tmp_path: Path
) -> None:
    tune_options = ("--tune", "--policy=arcs-offline", "--threads=regions", "--input-class", "any")
    program = compiled(REGIONS, "clang-19")

    # Nothing known before: what an earlier run has searched this one would not search again.
    histories: list[tuple[str, str]] = []

    def search(seconds: str) -> Any:
        histories.append(("--history", str(tmp_path / f"{seconds}.sqlite")))
        return run(program, seconds, options=(*tune_options, *histories[-1]), env=threads(4))

    def points(watched: Any) -> set[tuple[str, str, str]]:
        """What was in force together, after each decision on the region or its loop."""
        now = {"threads": "4", "schedule": "as-written", "chunk": "1"}
        seen_values = set()
        for decision in watched.report()["decisions"]:
            if "on_demand" not in decision["subject"]:
                continue
            now.update(
                {change["knob"]: change["to"] for change in decision["changes"] if change["knob"] in now}
            )
            seen_values.add((now["threads"], now["schedule"], now["chunk"]))
        return seen_values

    def is_together(watched: Any) -> bool:
        return any(count == "2" and schedule != "as-written" for count, schedule, _ in points(watched))

    watched = long_enough(3, search, is_together)
    assert watched.done.stdout == "right\n"
    assert {int(count) for count, _, _ in points(watched)} <= {2, 4}, (
        "of its set what is no more than its own"
    )
    assert is_together(watched), points(watched)
    # At the end all of the region is kept, so that the next run does not search it again.
    last = {
        decision["key"]: decision["outcome"]
        for decision in watched.report()["decisions"]
        if "on_demand" in decision["subject"]
    }
    assert set(last.values()) == {"kept"} and len(last) == 2, last
    repeated = run(program, "0.5", options=(*tune_options, *histories[-1]), env=threads(4))
    assert not [
        decision
        for decision in repeated.report()["decisions"]
        if "on_demand" in decision["subject"] and decision["outcome"] == "trial"
    ]


@pytest.mark.parametrize("more", [(), ("--threads-even-if-fixed",)])
def test_consent_without_search_is_an_error(trimtab: str, more: tuple[str, ...]) -> None:
    command = [trimtab, "run", "--threads=regions", *more, "--", "true"]
    completed = subprocess.run(command, capture_output=True, text=True, check=False)
    assert completed.returncode == 2
    assert "--threads regions needs --tune or --frozen" in completed.stderr
