"""Knobs that a program declares through trimtab.h: found, kept, remembered, replayed; and without effect where they must be."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import long_enough

Run = Callable[..., Any]
Built = Callable[..., Path]

HERE = Path(__file__).parent
OWN = "program: tile 32, order 0\n"
BEST = "program: tile 96, order 1\n"
SEARCHES = ("--tune", "--budget", "100")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory, trimtab: str) -> Built:
    """built(SOURCE, COMPILER...): the program, or with -shared the library."""
    include = subprocess.run(
        [trimtab, "--include-dir"], capture_output=True, text=True, check=True
    ).stdout.strip()
    folder = tmp_path_factory.mktemp("program-knobs")

    def build(source: str, *compiler: str) -> Path:
        created = folder / ("-".join(compiler) + "-" + source).replace("/", "_")
        warnings = ("-Wall", "-Wextra", "-Wconversion", "-Werror")
        command = [
            *compiler,
            *warnings,
            "-O1",
            f"-I{include}",
            str(HERE / source),
            "-o",
            str(created),
            "-pthread",
            "-ldl",
        ]
        subprocess.run(command, check=True)
        return created

    return build


@pytest.fixture
def history(tmp_path: Path) -> tuple[str, str]:
    return ("--history", str(tmp_path / "history.sqlite"))


def knobs_kept(report: dict[str, Any], subject: str = "solve") -> dict[str, str]:
    """The values accepted at the end, of knobs that were changed."""
    kept: dict[str, str] = {}
    for decision in report["decisions"]:
        if decision["outcome"] in ("kept", "set") and decision["subject"] == subject:
            kept |= {change["knob"]: change["to"] for change in decision["changes"]}
    return kept


def without(report: dict[str, Any]) -> dict[str, str]:
    return {entry["what"]: entry["why"] for entry in report["unavailable"]}


def tuned(run: Run, program: Path, mode: str, history: tuple[str, str], *overrides: str) -> Any:
    """As many events as it takes until the best is found, on a machine that others use, too."""
    return long_enough(
        20000,
        lambda events: run(program, mode, events, *overrides, options=(*SEARCHES, *history)),
        lambda watched: BEST in watched.done.stdout,
    )


COMPILERS = [("gcc", "-std=gnu11"), ("clang-19",), ("g++", "-x", "c++", "-std=c++17")]


@pytest.mark.parametrize("compiler", COMPILERS, ids=["gcc", "clang", "g++"])
def test_the_best_values_are_found_and_kept(
    run: Run, built: Built, history: tuple[str, str], compiler: tuple[str, ...]
) -> None:
    watched = tuned(run, built("program_knobs.c", *compiler), "events", history)
    assert (watched.done.returncode, watched.done.stdout) == (0, BEST), watched.done.stderr
    report = watched.report()
    assert knobs_kept(report) == {"tile": "96", "order": "columns"}, report["decisions"]
    assert {decision["policy"] for decision in report["decisions"] if decision["subject"] == "solve"} == {
        "tuner"
    }


def test_later_runs_begin_with_them(run: Run, built: Built, history: tuple[str, str]) -> None:
    program = built("program_knobs.c", "gcc")
    assert tuned(run, program, "events", history).done.stdout == BEST
    for options in (("--frozen", *history), history):
        watched = run(program, "events", "20000", options=options)
        assert watched.done.stdout == BEST, watched.done.stderr
        assert {decision["policy"] for decision in watched.report()["decisions"]} == {"history"}
    assert run(program, "events", "20000", options=("--tune=off",)).done.stdout == OWN
    # Of another input nothing is known.
    assert run(program, "events", "100", options=("--frozen", *history)).done.stdout == OWN


def test_nothing_is_changed_unless_it_is_asked_for(run: Run, built: Built, history: tuple[str, str]) -> None:
    program = built("program_knobs.c", "gcc")
    assert (
        subprocess.run([program, "events", "100"], capture_output=True, text=True, check=True).stdout == OWN
    )
    watched = run(program, "events", "2000", options=history)
    assert watched.done.stdout == OWN
    assert watched.report()["decisions"] == []


def test_events_of_several_threads_count(run: Run, built: Built, history: tuple[str, str]) -> None:
    watched = tuned(run, built("program_knobs.c", "gcc"), "threads", history)
    assert watched.done.stdout == BEST, watched.done.stderr


def test_a_work_without_events_is_told(run: Run, built: Built, history: tuple[str, str]) -> None:
    watched = run(built("program_knobs.c", "gcc"), "silent", "0", options=(*SEARCHES, *history))
    assert watched.done.stdout == OWN
    report = watched.report()
    assert report["decisions"] == []
    assert without(report)["knobs of solve"] == "none of its events has ended"


def test_the_child_of_a_fork_runs_as_without_us(run: Run, built: Built, history: tuple[str, str]) -> None:
    watched = tuned(run, built("program_knobs.c", "gcc"), "fork", history)
    assert watched.done.stdout == "child: tile 32, order 0\n" + BEST, watched.done.stderr


def test_a_knob_that_is_declared_late_is_turned(run: Run, built: Built, history: tuple[str, str]) -> None:
    watched = tuned(run, built("program_knobs.c", "gcc"), "late", history)
    assert watched.done.stdout == BEST, watched.done.stderr
    assert knobs_kept(watched.report())["depth"] == "3"


def test_wrong_declarations_are_told_and_have_no_effect(
    run: Run, built: Built, history: tuple[str, str]
) -> None:
    watched = tuned(run, built("program_knobs.c", "gcc"), "wrong", history)
    assert watched.done.stdout == BEST, watched.done.stderr
    reported = without(watched.report())
    assert reported["knob reversed of solve"] == "least 512 is above most 16"
    assert reported["knob tile of solve"] == "its name was declared before, with other values"
    assert reported["knob size of solve"] == "its initial value 9 is not one of its values"
    assert reported["knob twins of solve"] == "two of its names are the same"
    assert reported["knob g of solve"] == "its work has 8 knobs already"
    assert "knob f of solve" not in reported


def test_a_library_may_be_unloaded(run: Run, built: Built, history: tuple[str, str]) -> None:
    library = built("program_knobs_library.c", "gcc", "-shared", "-fPIC")
    watched = tuned(run, built("program_knobs.c", "gcc"), "library", history, str(library))
    assert (watched.done.returncode, watched.done.stdout) == (0, BEST), watched.done.stderr


def test_classes_of_cpp_do_the_same(run: Run, built: Built, history: tuple[str, str]) -> None:
    program = built("program_knobs.cpp", "g++", "-std=c++17")
    alone = subprocess.run([program, "10"], capture_output=True, text=True, check=True)
    assert alone.stdout == "way 0, size 2, width 4\n"
    watched = long_enough(
        8000,
        lambda events: run(program, events, options=(*SEARCHES, *history)),
        lambda watched: "way 2, " in watched.done.stdout,
    )
    assert watched.done.stdout.startswith("way 2, "), watched.done.stderr
    assert knobs_kept(watched.report(), "transform") == {"way": "fast"}


POLICY = """
from trimtab.policies import Policy
class Mine(Policy):
    def observe(self, now):
        for each in now.subjects:
            if each.name != "solve" or not each.has_level:
                continue
            if each.knobs["tile"].in_force == "32":
                yield each.trial("I know better", tile=96, order="columns")
            elif each.measured_now() and each.knobs["tile"].accepted == "32":
                yield each.keep("as I thought")
"""


def test_a_policy_in_python_turns_them(
    run: Run, built: Built, history: tuple[str, str], tmp_path: Path
) -> None:
    policy = tmp_path / "mine.py"
    policy.write_text(POLICY)
    watched = long_enough(
        40000,
        lambda events: run(
            built("program_knobs.c", "gcc"),
            "events",
            events,
            options=(*SEARCHES, "--policy", str(policy), *history),
        ),
        lambda watched: BEST in watched.done.stdout,
    )
    assert watched.done.stdout == BEST, watched.done.stderr
    decided = [
        (decision["policy"], decision["outcome"], decision["reason"])
        for decision in watched.report()["decisions"]
    ]
    assert decided == [("mine.py", "trial", "I know better"), ("mine.py", "kept", "as I thought")]


def test_decisions_are_replayed(run: Run, built: Built, history: tuple[str, str], trimtab: str) -> None:
    program = built("program_knobs.c", "gcc")
    watched = run(program, "late", "20000", options=(*SEARCHES, "--record-snapshots", *history))
    completed = subprocess.run(
        [trimtab, "replay", str(watched.directory), "--json"],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ,
    )
    (engine,) = json.loads(completed.stdout)
    assert engine["difference"] is None and engine["is_whole"]
    assert engine["decisions"] > 0
