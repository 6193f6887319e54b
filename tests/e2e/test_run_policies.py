"""`--policy`: ARCS as published, and policies of the user's in a process of their own; the program's answer stays."""

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

ROOT = Path(__file__).parent.parent.parent
# Runs until the file MARK is there, and a second longer; a minute at most.
SOURCE = r"""
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static double value[4096];
int main(int argc, char** argv) {
  const char* const mark = getenv("MARK");
  double until = omp_get_wtime() + 60;
  int rounds = 0, is_marked = 0;
  while (omp_get_wtime() < until) {
    if (!is_marked && rounds % 64 == 0 && access(mark, F_OK) == 0) {
      is_marked = 1;
      until = omp_get_wtime() + atof(argv[1]);
    }
    ++rounds;
#pragma omp parallel for schedule(dynamic, 2)
    for (int i = 0; i < 4096; ++i) {
      double sum = 0;
      for (int k = 0; k < i / 8; ++k) sum += 1.0 / (1 + i + k);
      value[i] += sum > 0;
    }
  }
  for (int i = 8; i < 4096; ++i)
    if (value[i] != rounds) return printf("WRONG\n"), 1;
  return printf("right\n"), 0;
}
"""


@pytest.fixture
def history(tmp_path: Path) -> tuple[str, str]:
    return ("--history", str(tmp_path / "history.sqlite"))


def environment(threads: int = 2) -> dict[str, str]:
    return {**os.environ, "OMP_NUM_THREADS": str(threads), "OMP_WAIT_POLICY": "passive"}


def policy_file(folder: Path, text: str) -> str:
    path = folder / "mine.py"
    path.write_text(text, encoding="utf-8")
    return str(path)


def run_with(run: Run, program: Path, policy: str, history: tuple[str, str], seconds: float = 1) -> Any:
    options = ("--tune", "--policy", policy, "--budget", "100", *history)
    mark = Path(history[1]).parent / "mark"
    if not policy.endswith(".py"):
        mark.touch()
    watched = run(program, str(seconds), options=options, env={**environment(), "MARK": str(mark)})
    assert (watched.done.returncode, watched.done.stdout) == (0, "right\n"), watched.done.stderr
    return watched


def disabled(report: dict[str, Any]) -> list[str]:
    return [entry["why"] for entry in report["unavailable"] if entry["what"] == "policy mine.py"]


@pytest.mark.parametrize("compiler", ["gcc", "clang-19"])
@pytest.mark.parametrize("policy", ["arcs-online", "arcs-offline"])
def test_arcs_searches_its_sets_and_keeps_the_best(
    run: Run, compiled: Compiled, history: tuple[str, str], policy: str, compiler: str
) -> None:
    program = compiled(SOURCE, compiler)
    watched = long_enough(
        1.5,
        lambda seconds: run_with(run, program, policy, history, float(seconds)),
        lambda watched: bool(watched.report()["decisions"]),
    )
    decided = watched.report()["decisions"]
    assert {entry["policy"] for entry in decided} == {policy}
    tried = {(change["knob"], change["to"]) for entry in decided for change in entry["changes"]}
    assert {to for knob, to in tried if knob == "schedule"} <= {"as-written", "static", "dynamic", "guided"}
    assert {to for knob, to in tried if knob == "chunk"} <= {"1", "8", "16", "32", "64", "128", "256", "512"}
    assert decided[-1]["outcome"] in ("kept", "undone")


MARK = """
def mark():
    import os, pathlib
    pathlib.Path(os.environ["MARK"]).touch()
"""
WORKS = (
    MARK
    + """
from trimtab.policies import Policy
class Mine(Policy):
    def observe(self, now):
        for each in now.subjects:
            knob = each.knobs["schedule"]
            if knob.accepted == "fac2":
                mark()
            if not each.has_level:
                continue
            if knob.in_force == "as-written":
                yield each.trial("it is worth a try", schedule="fac2", chunk=4)
            elif each.measured_now() and knob.accepted != "fac2":
                yield each.keep("I like it")
"""
)


def test_a_policy_of_the_users_is_asked(
    run: Run, compiled: Compiled, history: tuple[str, str], tmp_path: Path
) -> None:
    watched = run_with(run, compiled(SOURCE, "gcc"), policy_file(tmp_path, WORKS), history)
    report = watched.report()
    assert disabled(report) == []
    decided = [
        (
            decision["policy"],
            decision["outcome"],
            decision["reason"],
            {change["knob"]: change["to"] for change in decision["changes"]},
        )
        for decision in report["decisions"]
    ]
    assert decided[:2] == [
        ("mine.py", "trial", "it is worth a try", {"schedule": "fac2", "chunk": "4"}),
        ("mine.py", "kept", "I like it", {"schedule": "fac2", "chunk": "4"}),
    ]


TRIGGERED = (
    MARK
    + """
from trimtab.policies import Policy
class Mine(Policy):
    period_s = None
    events = ("appeared",)
    calls = 0
    def observe(self, now):
        self.calls += 1
        appeared = {each.subject for each in now.events if each.name == "appeared"}
        for each in now.subjects:
            if each.id in appeared and "schedule" in each.knobs:
                mark()
                yield each.set(f"call {self.calls}", schedule="fac2", chunk=4)
"""
)


def test_a_policy_of_the_users_is_called_when_something_happens(
    run: Run, compiled: Compiled, history: tuple[str, str], tmp_path: Path
) -> None:
    watched = run_with(run, compiled(SOURCE, "gcc"), policy_file(tmp_path, TRIGGERED), history)
    report = watched.report()
    assert disabled(report) == []
    (decided,) = report["decisions"]
    assert re.fullmatch("call [12]", decided["reason"]), "with the first snapshot, or when there was a loop"


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("        raise ValueError('no idea')", r"raised ValueError: no idea \(mine.py:\d+\)"),
        ("        import sys; sys.exit(3)", r"raised SystemExit: 3"),
        ("        while now.number > 1: pass\n        return []", r"has not answered for \d+ s"),
        ("        return ['nonsense']", r"raised ExchangeError: proposed 'nonsense'"),
        ("        return [each.set('x', schedule='best') for each in now.subjects]", r"outside its domain"),
        ("        return [each.set('x', colour='red') for each in now.subjects]", r"no such knob"),
        ("        print('I was here'); return None", r"raised TypeError"),
    ],
)
def test_a_policy_that_fails_is_disabled_and_told_and_the_program_goes_on(
    run: Run, compiled: Compiled, history: tuple[str, str], tmp_path: Path, body: str, why: str
) -> None:
    text = f"{MARK}\nfrom trimtab.policies import Policy\nclass Mine(Policy):\n    def observe(self, now):\n        mark()\n{body}\n"
    program, policy = compiled(SOURCE, "gcc"), policy_file(tmp_path, text)
    watched = long_enough(
        8 if "not answered" in why else 1,
        lambda seconds: run_with(run, program, policy, history, float(seconds)),
        lambda watched: bool(disabled(watched.report())),
    )
    (result,) = disabled(watched.report())
    assert re.search(why, result), result
    assert watched.report()["decisions"] == []
    if "I was here" in body:
        assert "I was here" in (watched.directory / "policy.log").read_text()


@pytest.mark.parametrize(
    ("policy", "options", "expected"),
    [
        ("mine.py", ("--tune",), "mine.py: expected a policy in Python: No such file"),
        ("arcs", ("--tune",), "expected tuner, arcs-online, arcs-offline or a file FILE.py, found 'arcs'"),
        ("broken.py", ("--tune",), "broken.py: "),
        ("arcs-online", (), "--policy=arcs-online needs --tune or --frozen"),
        ("arcs-online", ("--tune=shuffle",), "--policy=arcs-online needs --tune or --frozen"),
    ],
)
def test_what_cannot_be_a_policy_is_told_before_the_program_starts(
    trimtab: str, tmp_path: Path, policy: str, options: tuple[str, ...], expected: str
) -> None:
    (tmp_path / "broken.py").write_text("class Mine(:\n")
    completed = subprocess.run(
        [trimtab, "run", *options, "--policy", policy, "--", "sh", "-c", "echo started"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert completed.returncode == 2 and completed.stdout == "", completed.stdout
    assert expected in " ".join(completed.stderr.split()).replace("│ ", ""), completed.stderr


def test_the_documents_example_works(
    run: Run, compiled: Compiled, history: tuple[str, str], tmp_path: Path
) -> None:
    lines = (ROOT / "docs/guide/policies.md").read_text(encoding="utf-8").splitlines()
    begin = lines.index("    from statistics import median")
    end = next(i for i in range(begin, len(lines)) if lines[i] and not lines[i].startswith("    "))
    example = "\n".join(line[4:] for line in lines[begin:end])
    example += f"""
{MARK}
_observe = EachSchedule.observe
_trials = 0
def _told(self, now):
    global _trials
    made = list(_observe(self, now))
    _trials += sum(each.outcome == "trial" for each in made)
    if _trials >= 3 and any(each.outcome in ("kept", "undone") for each in made):
        mark()
    return made
EachSchedule.observe = _told
"""
    report = run_with(run, compiled(SOURCE, "gcc"), policy_file(tmp_path, example), history).report()
    assert disabled(report) == []
    outcomes = [decision["outcome"] for decision in report["decisions"]]
    assert outcomes.count("trial") >= 3, report["decisions"]
