"""Programs that ask for memory again and again: what the kernel does for them, and the settings that stop it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import finished, long_enough
from trimtab.model.enumerations import Cause
from trimtab.tuning.tunables import VARIABLE

Run = Callable[..., Any]
Compiled = Callable[..., Path]

SOURCE = (Path(__file__).parent / "memory_churn.c").read_text(encoding="utf-8")
ENVIRONMENT = {
    **{name: value for name, value in os.environ.items() if name != VARIABLE},
    "OMP_NUM_THREADS": "2",
    "OMP_WAIT_POLICY": "passive",
}
KEEP = "glibc.malloc.mmap_threshold=1073741824:glibc.malloc.trim_threshold=2147483648"
COMPILERS = ["gcc", "clang-19"]
STEPS = 12
PAGES = 5_000_000 * 8 // 4096


def observe(run: Run, program: Path, mode: str, **variables: str) -> dict[str, Any]:
    watched = run(program, mode, str(STEPS), env={**ENVIRONMENT, **variables})
    assert watched.done.returncode == 0 and watched.done.stdout == "right\n", watched.done
    report: dict[str, Any] = watched.report()
    return report


def causes(report: dict[str, Any]) -> set[str]:
    return {finding["cause"] for finding in report["findings"]}


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("mode", ["temporaries", "vectors", "threads"])
def test_memory_that_is_given_back_is_seen_and_kept_with_the_advice(
    run: Run, compiled: Compiled, mode: str, compiler: str
) -> None:
    program = compiled(SOURCE, compiler)
    report = observe(run, program, mode)
    whole = next(use for use in report["cpu_use"] if use["name"] == "all")
    assert whole["minor_faults"] > 0.9 * STEPS * PAGES
    assert 0 < whole["page_fault_s"] <= whole["kernel_s"] <= whole["cpu_s"]
    advice = next(finding for finding in report["findings"] if finding["cause"] == Cause.RETURNED_MEMORY)
    assert KEEP in advice["action"] and advice["gain_s"] > 0
    kept = observe(run, program, mode, **{VARIABLE: KEEP})
    faults = next(use for use in kept["cpu_use"] if use["name"] == "all")["minor_faults"]
    # Each thread keeps its own, and an array that has grown lies beside the next one.
    assert faults < whole["minor_faults"] / 2
    assert Cause.RETURNED_MEMORY not in causes(kept)


@pytest.mark.parametrize("compiler", COMPILERS)
def test_faults_are_told_by_region(run: Run, compiled: Compiled, compiler: str) -> None:
    """All first touches are in the region, whose parts take milliseconds: nearly each is asked."""
    report = observe(run, compiled(SOURCE, compiler), "temporaries")
    whole, region = report["cpu_use"][0], report["cpu_use"][1]
    assert region["key"] is not None and region["samples"] >= STEPS
    assert region["minor_faults"] == pytest.approx(whole["minor_faults"], rel=0.25)


@pytest.mark.parametrize("compiler", COMPILERS)
def test_memory_that_is_kept_is_no_finding(run: Run, compiled: Compiled, compiler: str) -> None:
    assert Cause.RETURNED_MEMORY not in causes(observe(run, compiled(SOURCE, compiler), "once"))


def test_much_memory_in_small_pages(run: Run, compiled: Compiled) -> None:
    enabled = Path("/sys/kernel/mm/transparent_hugepage/enabled")
    if not enabled.exists() or "[madvise]" not in enabled.read_text():
        pytest.skip("this machine gives huge pages to all programs, or to none")
    program = compiled(SOURCE, "gcc")
    report = observe(run, program, "fresh")
    assert Cause.SMALL_PAGES in causes(report) and Cause.RETURNED_MEMORY not in causes(report)
    huge = observe(run, program, "fresh", **{VARIABLE: "glibc.malloc.hugetlb=1"})
    assert Cause.SMALL_PAGES not in causes(huge)


def test_a_program_without_regions(run: Run, compiled: Compiled) -> None:
    source = """#include <stdlib.h>
int main(void) {
  for (int step = 0; step < 20; ++step) {
    volatile char* const block = malloc(40000000);
    for (long i = 0; i < 40000000; i += 4096) block[i] = 1;
    free((void*)block);
  }
}"""
    watched = run(compiled(source, "gcc"), env=ENVIRONMENT)
    assert Cause.RETURNED_MEMORY in causes(watched.report()), watched.done.stderr


def live(
    run: Run, folder: Path, program: Path, mode: str, steps: str, *options: str, **variables: str
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Decisions on memory of a run that is tuned while it goes on, and the whole report."""
    tuned = ("--tune", "--history", str(folder / "history.sqlite"), *options)
    watched = run(program, mode, steps, options=tuned, env={**ENVIRONMENT, **variables})
    assert watched.done.returncode == 0 and watched.done.stdout == "right\n", watched.done
    report: dict[str, Any] = watched.report()
    return [decision for decision in report["decisions"] if decision["subject"] == "memory"], report


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("mode", ["temporaries", "vectors", "threads"])
def test_memory_is_kept_while_the_program_runs(
    run: Run, compiled: Compiled, tmp_path: Path, mode: str, compiler: str
) -> None:
    program = compiled(SOURCE, compiler)

    def is_kept(outcome: tuple[list[dict[str, Any]], dict[str, Any]]) -> bool:
        return any(decision["outcome"] == "kept" for decision in outcome[0])

    decisions, report = long_enough(120, lambda steps: live(run, tmp_path, program, mode, steps), is_kept)
    kept = next(decision for decision in decisions if decision["outcome"] == "kept")
    assert kept["policy"] == "memory" and "peak memory" in kept["reason"]
    assert [(change["knob"], change["to"]) for change in kept["changes"]] == [("keep", "keep")]
    # The trial before it is in the report, too.
    assert decisions[0]["outcome"] == "trial" and decisions[0]["number"] < kept["number"]
    assert report["cpu_use"][0]["minor_faults"] > 0


@pytest.mark.parametrize(
    ("mode", "variables"),
    [
        ("once", {}),
        ("temporaries", {VARIABLE: "glibc.malloc.arena_max=2"}),
        ("temporaries", {"MALLOC_TOP_PAD_": "131072"}),
    ],
)
def test_memory_is_left_alone(
    run: Run, compiled: Compiled, tmp_path: Path, mode: str, variables: dict[str, str]
) -> None:
    """Where it is not given back, and where the user has set how it is kept."""
    decisions, _ = live(run, tmp_path, compiled(SOURCE, "gcc"), mode, "120", **variables)
    assert decisions == []


def test_memory_that_becomes_too_much_is_given_back(run: Run, compiled: Compiled, tmp_path: Path) -> None:
    program = compiled(SOURCE, "gcc")
    decisions, _ = long_enough(
        120,
        lambda steps: live(run, tmp_path, program, "temporaries", steps, "--max-memory", "1M"),
        lambda outcome: any("more than allowed" in decision["reason"] for decision in outcome[0]),
    )
    assert [decision["outcome"] for decision in decisions] == ["trial", "undone"]


def test_another_allocator_is_left_alone(run: Run, compiled: Compiled, tmp_path: Path) -> None:
    """One of the program's own."""
    source = f"""#include <stddef.h>
void* __libc_malloc(size_t);
void __libc_free(void*);
void* malloc(size_t bytes) {{ return __libc_malloc(bytes); }}
void free(void* block) {{ __libc_free(block); }}
{SOURCE}"""
    program = compiled(source, "gcc", "-rdynamic")

    def reasons(outcome: tuple[list[dict[str, Any]], dict[str, Any]]) -> list[str]:
        missing = outcome[1]["unavailable"]
        return [entry["why"] for entry in missing if entry["what"] == "settings of the allocator"]

    outcome = long_enough(120, lambda steps: live(run, tmp_path, program, "temporaries", steps), reasons)
    assert outcome[0] == []
    assert reasons(outcome) == ["the program does not use the allocator of the GNU C library"]


def test_tune_tries_and_explains_the_settings(trimtab: str, compiled: Compiled, tmp_path: Path) -> None:
    history = tmp_path / "history.sqlite"
    command = [str(compiled(SOURCE, "gcc")), "temporaries", str(STEPS)]
    tuned = finished(
        [trimtab, "tune", "--runs", "1", "--history", str(history), "--json", "--", *command],
        env=ENVIRONMENT,
        timeout=600,
    )
    assert tuned.returncode == 0, tuned.stderr
    rows = json.loads(tuned.stdout)["rows"]
    tried = [row for row in rows if f"{VARIABLE}={KEEP}" in row["after"]]
    assert len(tried) == 1 and tried[0]["verdict"] in ("better", "no better", "clearly worse")
    assert "faulted" not in tuned.stderr
    # What is proved on this machine is used by later runs, and merged with what the user sets.
    outcome = json.loads(tuned.stdout)
    if outcome["proved"] and tried[0]["verdict"] == "better":
        mine = "glibc.malloc.arena_max=2"
        run = finished(
            [
                trimtab,
                "run",
                "--frozen",
                "--history",
                str(history),
                "-o",
                str(tmp_path / "run"),
                "--",
                *command,
            ],
            env={**ENVIRONMENT, VARIABLE: mine},
        )
        assert run.returncode == 0 and run.stdout == "right\n"
        steering = json.loads((tmp_path / "run/run.json").read_text())["steering"]
        value = next(entry["value"] for entry in steering["start_values"] if entry["name"] == VARIABLE)
        assert value.startswith(f"{mine}:{KEEP}")
