"""Steering of the task runtime, as a user switches it on: right answers, decisions that add up, in print and in reports."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import finished, long_enough, remember

Run = Callable[..., Any]
Workload = Callable[[str], Path]

# So many steps are some seconds of work, so that there is time to decide.
STEPS = 8000
RING = ["--points", "200000", "--partition", "1000", "--no-check", "--steps"]
LINE = re.compile(r"^at ([\d.]+) s (.+): (\S+) (\d+) -> (\d+), (trial|kept|undone|set)\b")


def _decisions(stderr: str) -> list[tuple[str, str, int, int, str]]:
    """Subject, knob, from, to and outcome of what was printed."""
    result = []
    for line in stderr.splitlines():
        if match := LINE.match(line):
            result.append((match[2], match[3], int(match[4]), int(match[5]), match[6]))
    return result


@pytest.mark.parametrize("policy", ["tuner", "queue-length"])
def test_caps_follow_one_another(workload: Workload, policy: str) -> None:
    ring = [str(workload("heat_ring")), *RING]
    options = [
        "--trimtab:workers=8",
        "--trimtab:tune=workers",
        f"--trimtab:tune-policy={policy}",
        "--trimtab:print-decisions",
    ]
    completed = long_enough(
        STEPS,
        lambda steps: finished([*ring, steps, *options], timeout=300),
        lambda one_completed: bool(_decisions(one_completed.stderr)),
    )
    assert completed.returncode == 0, completed.stderr
    decisions = _decisions(completed.stderr)
    assert decisions, completed.stderr
    in_force = accepted = 8
    for subject, knob, first, last, outcome in decisions:
        assert (subject, knob) == ("runtime 1", "workers")
        assert 1 <= last <= 8
        if outcome == "kept":
            assert (first, last) == (accepted, in_force)
        else:
            assert first == in_force
        in_force = last
        if outcome == "undone":
            assert last == accepted
        if outcome in ("kept", "set"):
            accepted = last
    # What is on trial when the program ends is undone.
    assert in_force == accepted


@pytest.mark.parametrize(
    "command",
    [
        ["heat_ring", "--points", "200000", "--partition", "1000", "--steps", "400", "--tune-every", "10"],
        ["heat_ghost", "--blocks", "4", "--block", "12", "--steps", "40"],
        ["cg", "--size", "200", "--grain", "3", "--steps", "60"],
        ["sort", "--count", "2000003", "--grain", "100"],
        ["matmul", "--size", "300", "--block", "16"],
        ["nqueens", "--size", "11", "--depth", "3"],
    ],
    ids=lambda command: str(command[0]),
)
@pytest.mark.parametrize("policy", ["tuner", "queue-length"])
def test_answers_are_the_serial_ones(workload: Workload, command: list[str], policy: str) -> None:
    environment = {
        **os.environ,
        "TRIMTAB_TASK_TUNE": "workers,grain",
        "TRIMTAB_TASK_TUNE_POLICY": policy,
        "TRIMTAB_WORKERS": "4",
    }
    program = [str(workload(command[0])), *command[1:]]
    completed = subprocess.run(
        program, capture_output=True, text=True, check=False, timeout=300, env=environment
    )
    assert completed.returncode == 0, completed.stderr
    assert "check=right" in completed.stdout
    assert completed.stderr == ""


def test_decisions_are_in_the_report(run: Run, workload: Workload) -> None:
    options = ["--trimtab:workers=8", "--trimtab:tune=workers", "--trimtab:tune-policy=queue-length"]
    watched = long_enough(
        STEPS,
        lambda steps: run(workload("heat_ring"), *RING, steps, *options, "--trimtab:print-decisions"),
        lambda watched: bool(_decisions(watched.done.stderr)),
    )
    assert watched.done.returncode == 0, watched.done.stderr
    printed = _decisions(watched.done.stderr)
    assert printed
    result = [
        (
            decision["subject"],
            decision["changes"][0]["knob"],
            int(decision["changes"][0]["from"]),
            int(decision["changes"][0]["to"]),
            decision["outcome"],
        )
        for decision in watched.report()["decisions"]
    ]
    assert result == printed


@pytest.mark.parametrize("policy", ["tuner", "queue-length", "fit"])
def test_a_frozen_run_has_what_was_found_and_searches_nothing(
    run: Run, workload: Workload, tmp_path: Path, policy: str
) -> None:
    program, file = workload("heat_ring"), tmp_path / "history.sqlite"
    options = ["--trimtab:workers=4", "--trimtab:tune=workers", f"--trimtab:tune-policy={policy}"]
    arguments = [*RING, "2000", *options]
    remember(file, program, arguments, "tasks/heat_ring/runtime 1", {"workers": "2"})
    frozen = run(program, *arguments, options=("--frozen", "--history", str(file)))
    assert frozen.done.returncode == 0, frozen.done.stderr
    decided = [
        (
            decision["policy"],
            decision["outcome"],
            decision["subject"],
            decision["changes"],
        )
        for decision in frozen.decisions_but_moves()
        if decision["policy"] != "fit"
    ]
    known_values = ("history", "set", "runtime 1", [{"knob": "workers", "from": "4", "to": "2"}])
    # What fits is of the moment, and not for later runs.
    assert decided == ([] if policy == "fit" else [known_values])


def test_a_run_begins_with_what_was_found(run: Run, workload: Workload, tmp_path: Path) -> None:
    program, file = workload("heat_ring"), tmp_path / "history.sqlite"
    arguments = [*RING, "2000", "--trimtab:workers=4", "--trimtab:tune=workers"]
    remember(file, program, arguments, "tasks/heat_ring/runtime 1", {"workers": "2"})
    for mode in (("--tune",), ()):
        tuned = run(program, *arguments, options=(*mode, "--history", str(file)))
        first = tuned.decisions_but_moves()[0]
        assert (first["policy"], first["outcome"]) == ("history", "set")
    remember(file, program, arguments, "tasks/heat_ring/runtime 1", {"workers": "99"})
    reported = run(program, *arguments, options=("--frozen", "--history", str(file))).report()["unavailable"]
    assert [entry for entry in reported if entry["what"] == "what earlier runs found"]


TREE = ["--no-check", "--roots", "6", "--depth", "12", "--trimtab:workers=2"]
PLACE = "tasks/uts/runtime 1/2 workers"


def test_a_scheduling_policy_that_was_found_is_set_at_the_start(
    run: Run, workload: Workload, tmp_path: Path
) -> None:
    program, file = workload("uts"), tmp_path / "history.sqlite"
    history = ("--history", str(file))
    assert "policy=local-priority" in run(program, *TREE).done.stdout
    remember(file, program, TREE, PLACE, {"scheduler": "abp-priority"})
    for mode in ("--frozen", "--tune"):
        known_values = run(program, *TREE, options=(mode, *history))
        assert known_values.done.returncode == 0, known_values.done.stderr
        assert "policy=abp-priority" in known_values.done.stdout
        (decided,) = known_values.decisions_but_moves()
        assert (decided["subject"], decided["key"], decided["policy"], decided["outcome"]) == (
            "runtime 1",
            PLACE,
            "history",
            "set",
        )
        assert decided["changes"] == [{"knob": "scheduler", "from": "local-priority", "to": "abp-priority"}]
    # Who says which one it is has that.
    frozen = run(
        program, *TREE, options=("--frozen", *history), env={**os.environ, "TRIMTAB_POLICY": "local"}
    )
    assert "policy=local\n" in frozen.done.stdout and frozen.decisions_but_moves() == []
    assert "policy=abp-priority" in run(program, *TREE, options=history).done.stdout, "without a word, too"
    assert "policy=local-priority" in run(program, *TREE, options=("--tune=off",)).done.stdout
    remember(file, program, TREE, PLACE, {"scheduler": "hierarchy"})
    reported = run(program, *TREE, options=("--frozen", *history)).report()["unavailable"]
    assert [entry for entry in reported if entry["what"] == "what earlier runs found"], (
        "two workers have no tree"
    )


# With static-priority one worker has all that its own tasks fork: the other is idle, whatever else the machine does.
@pytest.mark.alone
def test_tune_finds_and_proves_a_scheduling_policy(
    trimtab: str, run: Run, workload: Workload, tmp_path: Path
) -> None:
    program, file = workload("uts"), tmp_path / "history.sqlite"
    arguments = [*TREE, "--trimtab:tune=scheduler", "--trimtab:policy=static-priority"]
    arguments[arguments.index("12")] = "14"
    command = [trimtab, "tune", "--runs", "1", "--json", "--history", str(file), "--"]
    completed = finished([*command, str(program), *arguments], timeout=300)
    assert completed.returncode == 0, completed.stderr
    outcome = json.loads(completed.stdout)
    (row,) = [one_row for one_row in outcome["rows"] if one_row["subject"] == "runtime 1"]
    assert (row["before"], row["after"], row["verdict"]) == (
        "scheduler=static-priority",
        "scheduler=local-priority",
        "better",
    ), completed.stderr
    assert outcome["proved"] and outcome["kept"] >= 1
    frozen = run(program, *arguments, options=("--frozen", "--history", str(file)))
    assert "policy=local-priority" in frozen.done.stdout
    bare = finished([str(program), *arguments])
    assert "policy=static-priority" in bare.stdout


def test_without_a_meter_it_is_told(workload: Workload) -> None:
    if os.access("/sys/class/powercap/intel-rapl:0/energy_uj", os.R_OK):
        pytest.skip("there is a meter")
    ring = [str(workload("heat_ring")), "--points", "10000", "--partition", "100", "--steps", "20"]
    completed = finished([*ring, "--trimtab:power-limit=50", "--trimtab:print-decisions"], timeout=60)
    assert completed.returncode == 0, completed.stderr
    assert "power limit: there is no power meter" in completed.stderr


def test_a_simulated_meter_limits_as_a_real_one_does_and_is_told_of(run: Run, workload: Workload) -> None:
    # However little of the CPUs two workers get: more than one of them never fits.
    options = ["--trimtab:workers=2", "--trimtab:power-limit=1", "--trimtab:print-decisions"]
    meter = "--trimtab:power-meter=simulated:idle_w=0,cpu_w=100"
    watched = long_enough(
        STEPS,
        lambda steps: run(workload("heat_ring"), *RING, steps, *options, meter),
        lambda watched: bool(_decisions(watched.done.stderr)),
    )
    assert watched.done.returncode == 0, watched.done.stderr
    assert _decisions(watched.done.stderr) == [("runtime 1", "workers", 2, 1, "set")]
    report = watched.report()
    assert report["decisions"][0]["reason"].endswith(" W, limit 1.0 W")
    why = "simulated: 0 W, and 100 W for each busy CPU"
    assert ("measured power", why) in [(each["what"], each["why"]) for each in report["unavailable"]]


@pytest.mark.parametrize(
    ("option", "told"),
    [
        ("power-meter=simulated:watts=1", '"watts=1": expected idle_w=WATTS or cpu_w=WATTS'),
        ("tune=cap", 'tune is "cap", expected a comma list of workers, grain, scheduler'),
        ("tune-policy=best", 'tune-policy is "best", expected one of tuner, queue-length, power-limit, fit'),
        ("power-limit=much", 'power-limit is "much", expected a number from 0 to 1000000'),
    ],
)
def test_a_wrong_option_is_told(workload: Workload, option: str, told: str) -> None:
    completed = finished([str(workload("heat_ring")), f"--trimtab:{option}"], timeout=60)
    assert completed.returncode == 2
    assert told in completed.stderr


POLICY = """
from trimtab.policies import Policy
class Mine(Policy):
    def observe(self, now):
        for each in now.subjects:
            if "workers" in each.knobs and each.knobs["workers"].accepted == "3":
                yield each.set("two are enough", workers=2)
            if "size" in each.knobs and each.knobs["size"].in_force == each.knobs["size"].initial:
                yield each.set("larger ones", size=each.knobs["size"].values[-1])
"""


def test_a_policy_in_python_turns_the_knobs_of_tasks(
    run: Run, workload: Workload, trimtab: str, tmp_path: Path
) -> None:
    policy = tmp_path / "mine.py"
    policy.write_text(POLICY, encoding="utf-8")
    ring = ["--points", "200000", "--partition", "1000", "--no-check", "--tune-every", "20"]
    tuned = ("--trimtab:workers=3", "--trimtab:tune=workers,grain")
    history = ("--history", str(tmp_path / "history.sqlite"))
    watched = long_enough(
        STEPS,
        lambda steps: run(
            workload("heat_ring"),
            *(*ring, "--steps", steps, *tuned),
            options=("--tune", "--policy", str(policy), "--record-snapshots", *history),
        ),
        lambda watched: len(watched.report()["decisions"]) >= 2,
    )
    report = watched.report()
    assert watched.done.returncode == 0, watched.done.stderr
    assert [entry["what"] for entry in report["unavailable"] if entry["what"].startswith("policy")] == []
    decided = {
        (decision["policy"], decision["outcome"], decision["reason"]) for decision in report["decisions"]
    }
    assert decided == {("mine.py", "set", "two are enough"), ("mine.py", "set", "larger ones")}
    turned = {
        change["knob"]: change["to"] for decision in report["decisions"] for change in decision["changes"]
    }
    assert turned["workers"] == "2" and set(turned) == {"workers", "size"}
    completed = subprocess.run(
        [trimtab, "replay", str(watched.directory), "--json"], capture_output=True, text=True, check=True
    )
    engines = {load["file"]: load for load in json.loads(completed.stdout)}
    assert engines["snapshots-runtime-1.txt"]["difference"] is None
    assert engines["snapshots-runtime-1.txt"]["decisions"] == len(report["decisions"])
