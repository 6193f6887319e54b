"""`trimtab run --virtual-threads`: GCC's static loops are shared out anew where that is safe, and nowhere else."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import long_enough, remember

Run = Callable[..., Any]
Compiled = Callable[..., Path]

SOURCE = (Path(__file__).parent / "static_loops.c").read_text(encoding="utf-8")
FIT = {"triangular", "two_in_one", "few", "alone"}
REDUCTIONS = {
    "triangular",
    "integers",
    "largest",
    "smallest",
    "several",
    "forces",
    "bits",
    "by_hand",
    "two_loops",
}


def threads(count: int) -> dict[str, str]:
    return {**os.environ, "OMP_NUM_THREADS": str(count), "OMP_WAIT_POLICY": "passive"}


@pytest.fixture
def history(tmp_path: Path) -> tuple[str, str]:
    return ("--history", str(tmp_path / "history.sqlite"))


def functions_of(decisions: list[dict[str, Any]]) -> set[str]:
    return {decision["subject"].split("(")[-1].rstrip(")") for decision in decisions}


@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("level", ["-O0", "-O2", "-O3"])
def test_every_iteration_runs_once_whatever_is_turned(
    run: Run, compiled: Compiled, history: tuple[str, str], level: str, count: int
) -> None:
    options = ("--tune=shuffle", "--virtual-threads", "--seed", str(count), *history)
    program = compiled(SOURCE, "gcc", level)
    watched = long_enough(
        20,
        lambda rounds: run(program, rounds, options=options, env=threads(count)),
        lambda watched: bool(watched.report()["decisions"]),
    )
    assert (watched.done.returncode, watched.done.stdout) == (0, "right\n"), watched.done.stderr
    report = watched.report()
    turned = {
        (change["knob"], change["to"]) for decision in report["decisions"] for change in decision["changes"]
    }
    assert {knob for knob, _ in turned} == {"blocks"}
    assert functions_of(report["decisions"]) <= FIT
    reported = " ".join(entry["why"] for entry in report["unavailable"] if entry["what"] == "virtual threads")
    assert "owned" in reported and "summed" in reported
    assert not any(name + "." in reported for name in FIT)


@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("level", ["-O0", "-O2", "-O3"])
def test_reductions_are_right_whatever_is_turned(
    run: Run, compiled: Compiled, history: tuple[str, str], level: str, count: int
) -> None:
    source = (Path(__file__).parent / "static_reductions.c").read_text(encoding="utf-8")
    program = compiled(source, "gcc", level, "-lm")
    options = ("--tune=shuffle", "--virtual-threads", "--seed", str(count), *history)
    watched = long_enough(
        20,
        lambda rounds: run(program, rounds, options=options, env=threads(count)),
        lambda watched: len(functions_of(watched.report()["decisions"])) > (2 if level == "-O0" else 5),
    )
    assert (watched.done.returncode, watched.done.stdout) == (0, "right\n"), watched.done.stderr
    report = watched.report()
    assert functions_of(report["decisions"]) <= REDUCTIONS
    reported = " ".join(entry["why"] for entry in report["unavailable"] if entry["what"] == "virtual threads")
    assert all(name in reported for name in ("threads_counted", "threads_that_found"))
    if level == "-O2":
        assert not any(name + "." in reported for name in REDUCTIONS)


def test_without_consent_nothing_is_turned(run: Run, compiled: Compiled, history: tuple[str, str]) -> None:
    watched = run(compiled(SOURCE, "gcc"), "20", options=("--tune=shuffle", *history), env=threads(2))
    assert watched.done.stdout == "right\n"
    assert watched.report()["decisions"] == []


def test_consent_without_tuning_is_an_error(trimtab: str) -> None:
    completed = subprocess.run(
        [trimtab, "run", "--virtual-threads", "--", "true"], capture_output=True, text=True, check=False
    )
    assert completed.returncode == 2
    assert "--virtual-threads needs --tune or --frozen" in completed.stderr


@pytest.mark.parametrize(
    ("name", "steps", "more"),
    [
        ("mandelbrot", 8, ()),
        ("triangular", 60, ("--size", "4000")),
        ("hotspot3d", 400, ()),
        ("sph", 4, ()),
        ("lavamd", 30, ()),
    ],
)
def test_workloads_are_right_whatever_is_turned(
    run: Run,
    workload: Callable[[str], Path],
    history: tuple[str, str],
    name: str,
    steps: int,
    more: tuple[str, ...],
) -> None:
    def turned(watched: Any) -> list[dict[str, str]]:
        return [change for decision in watched.report()["decisions"] for change in decision["changes"]]

    program, options = workload(f"{name}-gcc"), ("--tune=shuffle", "--virtual-threads", *history)
    watched = long_enough(
        steps,
        lambda steps: run(program, "--steps", steps, *more, options=options, env=threads(2)),
        lambda watched: any(change["to"] != "0" for change in turned(watched)),
    )
    assert watched.done.returncode == 0, watched.done.stderr
    assert ", right, " in watched.done.stdout
    assert {change["knob"] for change in turned(watched)} == {"blocks"}
    assert any(change["to"] != "0" for change in turned(watched)), "a loop of each is fit"


def test_a_frozen_run_has_the_blocks_that_are_known_and_gives_the_same(
    run: Run, compiled: Compiled, history: tuple[str, str]
) -> None:
    """The program tells on standard error how many of its regions were run in blocks, one after the other."""
    source = (Path(__file__).parent / "blocks_in_order.c").read_text(encoding="utf-8")
    program = compiled(source, "gcc")
    bare = subprocess.run([program, "30"], capture_output=True, text=True, env=threads(2), check=True)
    options = ("--tune=shuffle", "--virtual-threads", *history)
    shuffled = long_enough(
        400,
        lambda rounds: run(program, rounds, options=options, env=threads(2)),
        lambda watched: bool(watched.report()["decisions"]),
    )
    (key,) = {one_decision["key"] for one_decision in shuffled.report()["decisions"]}
    remember(Path(history[1]), program, (), key, {"blocks": "16"}, "any")
    frozen = ("--frozen", "--input-class", "any", *history)
    for _ in range(2):
        repeated = run(program, "30", options=("--virtual-threads", *frozen), env=threads(2))
        assert repeated.done.stdout == bare.stdout, "bit by bit"
        reported = re.search(r"in order: (\d+) of 30\n", repeated.done.stderr)
        assert reported is not None and int(reported[1]) >= 29, (
            "all but the first, in which its questions are seen"
        )
        (decision,) = repeated.decisions_but_moves()
        assert (decision["key"], decision["outcome"], decision["policy"]) == (key, "set", "history")
        assert [(change["knob"], change["to"]) for change in decision["changes"]] == [("blocks", "16")]
    unasked = run(program, "30", options=frozen, env=threads(2))
    assert unasked.done.stdout == bare.stdout
    assert unasked.decisions_but_moves() == []


def test_what_is_kept_is_used_again(
    run: Run, workload: Callable[[str], Path], history: tuple[str, str]
) -> None:
    program = workload("triangular-gcc")
    known_values = ("--virtual-threads", "--input-class", "any", *history)
    searching = ("--tune", "--search", "exhaustive", "--budget", "100")
    size = ("--size", "6000", "--steps")
    result = long_enough(
        150,
        lambda steps: run(program, *size, steps, options=(*searching, *known_values), env=threads(2)),
        lambda watched: bool(watched.report()["decisions"]),
    ).report()["decisions"]
    assert result, "it has tried something, whatever the machine lets it keep"
    kept = [change["to"] for entry in result if entry["outcome"] == "kept" for change in entry["changes"]]
    repeated = run(program, *size, "20", options=("--frozen", *known_values), env=threads(2))
    assert ", right, " in repeated.done.stdout
    replayed = [change["to"] for decision in repeated.decisions_but_moves() for change in decision["changes"]]
    assert replayed == kept[-1:]
