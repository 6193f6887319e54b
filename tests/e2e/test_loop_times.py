"""What the tuner measures of a loop is what the program waits for: until the last thread has finished it."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from conftest import long_enough

Run = Callable[..., Any]
Compiled = Callable[..., Path]

SOURCE = (Path(__file__).parent / "loop_times.c").read_text(encoding="utf-8")
# Of loops from fork to join, and of loops between barriers. GCC's static loops are inlined: large chunks are handed out there.
SCHEDULES = {"clang-19": ("static", "static"), "gcc": ("dynamic,512", "dynamic,64")}
THREADS = 2
BETWEEN_BARRIERS = 1006  # trip counts of loops between two barriers, from there on


def environment(threads: int = THREADS) -> dict[str, str]:
    # Waiting passively: there may be more threads than CPUs.
    return {**os.environ, "OMP_NUM_THREADS": str(threads), "OMP_WAIT_POLICY": "passive"}


def measured_seconds(run_directory: Path) -> dict[int, list[float]]:
    """Seconds of executions as the tuner measured them, in their order, by the loop's trip count."""
    keys: dict[str, str] = {}
    measured: dict[int, list[float]] = defaultdict(list)
    (file,) = run_directory.glob("*/snapshots.txt")
    of = ""
    for line in file.read_text(encoding="utf-8").splitlines():
        tag, *words = line.split()
        if tag == "about":
            keys[words[0]] = unquote(words[1])
        elif tag == "subject":
            of = words[0]
        elif tag == "measured" and keys.get(of, "").rsplit("/", 1)[-1].isdigit():
            trip = int(keys[of].rsplit("/", 1)[-1])
            measured[trip].append(float.fromhex(words[1]) * trip)
    return dict(measured)


def share_in_order(measured: list[float], clocked: list[float]) -> float:
    """Of the measurements that share which executions have, one after the other, by the program's own clock.

    Not each execution is measured: neither while the tuner does not know the loop yet, nor of several short ones. And where
    threads lose their CPUs, executions differ by more than any fault, so that means and medians of different ones say nothing.
    """
    longest = [0] * (
        len(clocked) + 1
    )  # common sequence of the measurements so far and the first of the clocked ones
    for first in measured:
        before = longest
        longest = [0]
        for number, own_value in enumerate(clocked):
            is_it = 0.85 < first / own_value < 1.1
            longest.append(max(before[number + 1], longest[number], before[number] + is_it))
    return longest[-1] / len(measured)


@pytest.mark.parametrize("threads", [THREADS, 6])  # with more than 4 LLVM's reductions take another way
@pytest.mark.parametrize("compiler", SCHEDULES)
def test_a_loop_takes_until_its_last_thread_has_finished(
    run: Run, compiled: Compiled, tmp_path: Path, compiler: str, threads: int
) -> None:
    outer, between = SCHEDULES[compiler]
    flags = (f"-DSCHEDULE={outer}", f"-DSCHEDULE_BETWEEN={between}")
    program = compiled(SOURCE, compiler, *flags)
    # Nothing is tried: every instance is as the program wrote it.
    options = ("--tune", "--budget", "0", "--record-snapshots", "--history", str(tmp_path / "history"))

    def shares(rounds: str) -> dict[int, float]:
        watched = run(program, rounds, options=options, env=environment(threads))
        assert watched.done.returncode == 0, watched.done.stderr
        assert not [decision for decision in watched.report()["decisions"] if "/" in decision["key"]]
        lines = map(str.split, watched.done.stdout.splitlines())
        clocked = {int(trip): [float(second) for second in seconds] for trip, *seconds in lines}
        measured = measured_seconds(watched.directory)
        assert measured.keys() <= clocked.keys()
        # clang puts a barrier of its own behind that of a reduction: with more threads than CPUs it takes long, too, and is no loop.
        compared = [trip for trip in clocked if threads == THREADS or trip < BETWEEN_BARRIERS]
        # A loop that was measured too seldom counts as wrong: on a busy machine the program is given more rounds.
        is_enough = {trip: len(measured.get(trip, ())) > 10 for trip in compared}
        return {
            trip: round(share_in_order(measured[trip], clocked[trip]), 2) if is_enough[trip] else 0.0
            for trip in compared
        }

    def are_all(result: dict[int, float]) -> bool:
        return all(entry > 0.8 for entry in result.values())

    result = long_enough(50, shares, are_all)
    assert are_all(result), result


# Light iterations first, in small chunks: one block a thread gives half of the work to neither.
LIGHT_FIRST = r"""
#include <stdio.h>
#include <stdlib.h>
enum { size = 20000 };
int main(int count, char** arguments) {
  double all = 0;
  for (int round = 0; round < atoi(arguments[1]); ++round) {
    double sum = 0;
#pragma omp parallel
#pragma omp for schedule(dynamic, 1) reduction(+ : sum)
    for (int i = 0; i < size; ++i)
      for (int k = 0; k < i / 2000; ++k) sum += 1.0 / (1 + k);
    all += sum;
  }
  printf("%.3f\n", all);
  return count > 2;
}
"""


@pytest.mark.alone
@pytest.mark.parametrize("compiler", SCHEDULES)
def test_what_is_kept_is_not_replaced_by_what_is_slower(
    run: Run, compiled: Compiled, tmp_path: Path, compiler: str
) -> None:
    program = compiled(LIGHT_FIRST, compiler)
    options = ("--tune", "--budget", "50", "--history", str(tmp_path / "history"))

    def kept(watched: Any) -> list[dict[str, str]]:
        return [
            {change["knob"]: change["to"] for change in decision["changes"]}
            for decision in watched.report()["decisions"]
            if decision["outcome"] == "kept" and "/dynamic," in decision["key"]
        ]

    answers = set()
    for _ in range(3):
        watched = run(program, "600", options=options, env=environment())
        assert watched.done.returncode == 0, watched.done.stderr
        answers.add(watched.done.stdout)
        # Thread 0 has a quarter of the work then: until it leaves the reduction is no measure.
        assert all(entry.get("schedule") != "static" for entry in kept(watched)), kept(watched)
    assert len(answers) == 1
