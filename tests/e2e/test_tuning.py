"""`trimtab run --tune`: whatever it does to a program's loops, the answer stays; what it found is known to the next run."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import long_enough, remember
from stopping import told_to_stop

Run = Callable[..., Any]
Compiled = Callable[..., Path]

SOURCE = (Path(__file__).parent / "loops_to_share.c").read_text(encoding="utf-8")
COMPILERS = ("gcc", "clang-19")


def threads(count: int) -> dict[str, str]:
    # Waiting passively: there may be more threads than CPUs.
    return {**os.environ, "OMP_NUM_THREADS": str(count), "OMP_WAIT_POLICY": "passive"}


@pytest.fixture
def history(tmp_path: Path) -> tuple[str, str]:
    return ("--history", str(tmp_path / "history.sqlite"))


@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("compiler", COMPILERS)
def test_every_iteration_runs_once_whatever_is_turned(
    run: Run, compiled: Compiled, history: tuple[str, str], compiler: str, count: int
) -> None:
    wanted = {("schedule", to) for to in ("static", "dynamic", "guided", "fac2", "tss", "mfsc", "awf", "sss")}
    if compiler == "clang-19":
        wanted.add(("partition", "weighted"))
    turned: set[tuple[str, str]] = set()
    # How often it draws lots in one run depends on how long the machine lets the run take.
    for seed in range(count, count + 80, 10):
        watched = run(
            compiled(SOURCE, compiler),
            "12",
            options=("--tune=shuffle", "--seed", str(seed), *history),
            env=threads(count),
        )
        assert watched.done.returncode == 0, watched.done.stderr
        assert watched.done.stdout == "right\n"
        decided = watched.report()["decisions"]
        assert {entry["policy"] for entry in decided} == {"shuffle"}
        turned |= {(change["knob"], change["to"]) for entry in decided for change in entry["changes"]}
        if wanted <= turned:
            break
    assert wanted <= turned
    assert "first_chunk" in {knob for knob, _ in turned}


@pytest.mark.parametrize("search", ["diagnosed", "exhaustive"])
@pytest.mark.parametrize("compiler", COMPILERS)
def test_the_answer_stays_while_it_searches(
    run: Run, compiled: Compiled, history: tuple[str, str], compiler: str, search: str
) -> None:
    options = ("--tune", "--search", search, "--budget", "100", *history)
    watched = run(compiled(SOURCE, compiler), "12", options=options, env=threads(2))
    assert (watched.done.returncode, watched.done.stdout) == (0, "right\n"), watched.done.stderr
    report = watched.report()
    assert report["steering"]["mode"] == "on"
    # Whatever was tried was kept or undone: at the end nothing is on trial.
    on_trial: dict[str, bool] = {}
    for decision in report["decisions"]:
        on_trial[decision["key"]] = decision["outcome"] == "trial"
    assert not any(on_trial.values())


@pytest.mark.parametrize("name", ["mandelbrot", "triangular", "hotspot3d", "lavamd", "sph", "tasktree"])
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize(
    "policy",
    [
        *("--tune", "--tune --policy=arcs-online", "--tune --policy=arcs-offline", "--tune=shuffle"),
        *("--tune --threads=regions", "--threads=fit", "--threads=asat-v1", "--threads=asat-v2"),
    ],
)
def test_workloads_are_right_under_every_policy(
    run: Run, workload: Callable[[str], Path], history: tuple[str, str], name: str, compiler: str, policy: str
) -> None:
    options = (*policy.split(), *(history if "--tune" in policy else ()))
    watched = run(workload(f"{name}-{compiler}"), options=options, env=threads(3))
    assert watched.done.returncode == 0, watched.done.stderr
    assert ", right, " in watched.done.stdout


# Far from what it could be: chunks of one tiny iteration, or one thread with three quarters of the work.
POOR = r"""
#include <stdio.h>
#include <stdlib.h>
enum { size = 20000 };
static double y[size];
int main(int count, char** arguments) {
  const int steps = atoi(arguments[1]);
  for (int step = 0; step < steps; ++step)
#pragma omp parallel for schedule(SCHEDULE)
    for (int i = 0; i < size; ++i)
      for (int k = 0; k < WORK; ++k) y[i] += 1.0 / (1 + k);
  double sum = 0;
  for (int i = 0; i < size; ++i) sum += y[i];
  printf("%.17g\n", sum);
  return count > 2;
}
"""


@pytest.mark.alone
@pytest.mark.parametrize(
    ("compiler", "schedule", "work", "knob"),
    [
        ("gcc", "dynamic, 1", "2", "schedule"),
        ("clang-19", "dynamic, 1", "2", "schedule"),
        ("clang-19", "static", "i / 250", "partition"),
    ],
)
def test_what_is_poor_is_changed_and_a_frozen_run_has_what_was_found(
    run: Run,
    compiled: Compiled,
    history: tuple[str, str],
    compiler: str,
    schedule: str,
    work: str,
    knob: str,
) -> None:
    program = compiled(POOR.replace("SCHEDULE", schedule).replace("WORK", work), compiler)

    def lasting(watched: Any) -> dict[str, str]:
        return {
            change["knob"]: change["to"]
            for decision in watched.decisions_but_moves()
            if decision["outcome"] in ("kept", "set") and decision["key"]
            for change in decision["changes"]
        }

    learnt = long_enough(
        1000,
        lambda steps: run(program, steps, options=("--tune", *history), env=threads(2)),
        lambda watched: bool(lasting(watched).keys() & {knob, "chunk"}),
    )
    result = lasting(learnt)
    assert set(result) & {knob, "chunk"}, learnt.done.stderr
    # Another number of steps is another input, of which nothing is known.
    frozen = run(program, *learnt.done.args[-1:], options=("--frozen", *history), env=threads(2))
    assert lasting(frozen) == result, frozen.done.stderr
    assert {decision["policy"] for decision in frozen.decisions_but_moves()} == {"history"}
    bare = subprocess.run(
        [program, *learnt.done.args[-1:]], capture_output=True, text=True, env=threads(2), check=True
    )
    assert learnt.done.stdout == frozen.done.stdout == bare.stdout


def settings_of(watched: Any) -> dict[str, dict[str, str]]:
    result: dict[str, dict[str, str]] = {}
    for decision in watched.report()["decisions"]:
        result.setdefault(decision["key"], {}).update(
            {change["knob"]: change["to"] for change in decision["changes"]}
        )
    return result


def test_a_frozen_run_has_the_blocks_that_were_found(
    run: Run, compiled: Compiled, tmp_path: Path, trimtab: str
) -> None:
    program = compiled(SOURCE, "clang-19")
    arguments = ("--blocks", "300", "1500")
    file = ("--history", str(tmp_path / "history.sqlite"))
    bare = subprocess.run([program, *arguments], capture_output=True, text=True, env=threads(2), check=True)
    assert bare.stdout.startswith("0-750 750-1500 ")
    # So that there is a key, whatever the machine lets a search find.
    shuffled = long_enough(
        300,
        lambda rounds: run(
            program, "--blocks", rounds, "1500", options=("--tune=shuffle", *file), env=threads(2)
        ),
        lambda watched: bool(settings_of(watched)),
    )
    (key,) = settings_of(shuffled)
    assert subprocess.run(
        [trimtab, "history", "list", *file], capture_output=True, check=True
    ).stdout.strip() in (
        b"",
        b"nothing known",
    ), "what was turned at random is nothing to remember"
    settings = {"partition": "weighted", "partition.costs": "0.500000000/0.250000000"}
    remember(Path(file[1]), program, arguments, key, settings)
    answers = [run(program, *arguments, options=("--frozen", *file), env=threads(2)) for _ in range(2)]
    for answer in answers:
        # Half of the time at two thirds of the loop: 0.25 / 0.5 iterations, then 0.25 / 1.5.
        assert answer.done.stdout.startswith("0-1000 1000-1500 "), answer.done.stdout + answer.done.stderr
        assert answer.done.stdout == answers[0].done.stdout, "bit by bit"
        decided = [(move["outcome"], move["policy"]) for move in answer.decisions_but_moves()]
        assert decided == [("set", "history")]
    unasked = run(program, *arguments, options=file, env=threads(2))
    assert unasked.done.stdout == answers[0].done.stdout
    assert (
        "used the settings that earlier runs proved to help; --tune=off runs the program without them"
        in unasked.done.stderr
    )
    written = run(program, *arguments, options=("--tune=off",), env=threads(2))
    assert written.done.stdout == bare.stdout and written.report()["steering"] is None
    repeated = run(
        program, *arguments, options=("--frozen", "--input-class", "another", *file), env=threads(2)
    )
    assert repeated.done.stdout == bare.stdout
    assert repeated.decisions_but_moves() == []


def test_what_cannot_be_known_is_told_and_the_program_runs(
    run: Run, compiled: Compiled, tmp_path: Path
) -> None:
    program = compiled(SOURCE, "gcc")
    spoilt = tmp_path / "history.sqlite"
    spoilt.write_text("this is no database, but some text that is long enough to be looked at as one")
    watched = run(program, "2", options=("--tune", "--history", str(spoilt)), env=threads(2))
    assert (watched.done.returncode, watched.done.stdout) == (0, "right\n")
    assert f"trimtab: {spoilt}" in watched.done.stderr
    assert spoilt.read_text().startswith("this is no database")


def test_nothing_is_changed_where_nothing_is_known(run: Run, compiled: Compiled) -> None:
    report = run(compiled(SOURCE, "gcc"), "10", env=threads(2)).report()
    assert report["decisions"] == [] and report["steering"] is None


def test_children_of_forks_run_as_they_were_written(
    run: Run, compiled: Compiled, history: tuple[str, str]
) -> None:
    source = SOURCE.replace(
        "int main(int argc, char** argv) {",
        "#include <sys/wait.h>\n#include <unistd.h>\nint test(int argc, char** argv);\n"
        "int main(int argc, char** argv) {\n"
        "  for (int i = 0; i < 5; ++i) {\n"
        "    const pid_t child = fork();\n"
        "    if (child == 0) { omp_set_num_threads(2); return test(argc, argv); }\n"
        "    int status = 0;\n"
        "    if (waitpid(child, &status, 0) != child || status != 0) return 1;\n"
        "  }\n"
        "  return test(argc, argv);\n"
        "}\n"
        "int test(int argc, char** argv) {",
    )
    watched = run(compiled(source, "gcc"), "3", options=("--tune=shuffle", *history), env=threads(2))
    assert (watched.done.returncode, watched.done.stdout) == (0, "right\n" * 6), watched.done.stderr


def test_options_that_exclude_each_other(run: Run) -> None:
    completed = run("true", options=("--frozen", "--tune")).done
    assert completed.returncode == 2 and "--frozen and --tune=on cannot be used together" in completed.stderr


def test_who_says_nothing_gets_what_earlier_runs_proved(run: Run, tmp_path: Path) -> None:
    program = Path(shutil.which("true") or "")
    file = tmp_path / "data" / "trimtab" / "history.sqlite"
    environment = {**os.environ, "XDG_DATA_HOME": str(tmp_path / "data")}

    def steering(*options: str, input_of_it: str = "1") -> dict[str, Any] | None:
        watched = run("true", input_of_it, options=options, env=environment)
        assert watched.done.returncode == 0, watched.done.stderr
        result: dict[str, Any] | None = json.loads((watched.directory / "run.json").read_text())["steering"]
        assert ("settings that earlier runs proved" in watched.done.stderr) == (
            result is not None and result["mode"] == "known" and "-q" not in options
        )
        return result

    assert steering() is None and not file.exists()
    remember(file, program, ["1"], "a", {"chunk": "8"})
    for options in ((), ("-q",), ("--history", str(file))):
        known_values = steering(*options)
        assert known_values is not None and (known_values["mode"], known_values["known_settings"]) == (
            "known",
            1,
        )
    assert steering("--tune=off") is None and steering(input_of_it="2") is None
    assert steering("--input-class", "large") is None
    remember(file, program, ["2"], "a", {"chunk": "8"}, "large")
    assert steering("--input-class", "large", input_of_it="3") is not None
    # What the user must agree to, each time, is not among it.
    remember(file, program, ["4"], "a", {"blocks": "8"})
    remember(file, program, ["4"], "b", {"threads": "1"})
    assert steering(input_of_it="4") is None
    fitted = steering("--threads", "fit", input_of_it="4")
    assert fitted is not None and (fitted["mode"], fitted["known_settings"]) == ("off", 0), (
        "one number for all"
    )
    fitted = steering("--threads", "fit")
    assert fitted is not None and (fitted["mode"], fitted["known_settings"]) == ("known", 1)
    reported = run("true", "1", options=("--history", str(tmp_path / "none"))).done
    assert reported.returncode == 0 and f"trimtab: no history yet at {tmp_path / 'none'}" in reported.stderr
    file.write_text("no database")
    reported = run("true", "1", env=environment).done
    assert reported.returncode == 0 and f"trimtab: {file}" in reported.stderr
    assert not run("true", "1", options=("-q",), env=environment).done.stderr


def test_settings_are_in_the_run(run: Run, tmp_path: Path, history: tuple[str, str]) -> None:
    watched = run("true", options=("--tune", *history))
    info = json.loads((watched.directory / "run.json").read_text())
    assert info["steering"]["mode"] == "on" and info["steering"]["known_settings"] == 0


def test_tuning_over_several_runs(trimtab: str, compiled: Compiled, history: tuple[str, str]) -> None:
    command = [
        trimtab,
        "tune",
        "--runs",
        "1",
        "--json",
        *history,
        "--",
        str(compiled(SOURCE, "gcc")),
        "2",
        "300",
    ]
    completed = subprocess.run(command, capture_output=True, text=True, env=threads(2), check=False)
    assert completed.returncode == 0, completed.stderr
    assert "right" not in completed.stdout + completed.stderr, "the program's output goes nowhere"
    assert "s as it is" in completed.stderr and "learning, run 1" in completed.stderr
    outcome = json.loads(completed.stdout)
    assert outcome["proved"] or outcome["kept"] == 0
    for row in outcome["rows"]:
        assert {"subject", "before", "after", "gain", "spread", "verdict", "reason"} == row.keys()


def test_tune_told_to_stop_ends_the_program(trimtab: str, tmp_path: Path, history: tuple[str, str]) -> None:
    assert "stopped; nothing was kept" in told_to_stop([trimtab, "tune", *history], tmp_path)
