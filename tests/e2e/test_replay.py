"""`trimtab replay`: what was decided in a run is decided again from what its engines were told, whoever decided."""

from __future__ import annotations

import json
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

SOURCE = (Path(__file__).parent / "loops_to_share.c").read_text(encoding="utf-8")
KILLED = r"""
#include <signal.h>
#include <stdlib.h>
double y[3000];
int main(int count, char** arguments) {
  for (int step = 0; step < atoi(arguments[count - 1]); ++step)
#pragma omp parallel for schedule(dynamic)
    for (int i = 0; i < 3000; ++i)
      for (int k = 0; k < 20; ++k) y[i] += 1.0 / (1 + k);
  raise(SIGKILL);
}
"""
POLICY = """
from trimtab.policies import Policy
class Mine(Policy):
    def observe(self, now):
        for each in now.subjects:
            if "schedule" in each.knobs and now.number % 2:
                yield each.set("by turns", schedule=("static", "dynamic")[now.number % 4 == 1])
"""


def threads(count: int = 3) -> dict[str, str]:
    return {**os.environ, "OMP_NUM_THREADS": str(count), "OMP_WAIT_POLICY": "passive"}


def recorded(run: Run, program: Path, options: str, history: Path, env: dict[str, str] | None = None) -> Any:
    """A run that has decided something, of those who decide much; of others, one run."""
    overrides = ("--history", str(history)) if "--tune" in options else ()
    return long_enough(
        12,
        lambda rounds: run(
            program,
            rounds,
            options=("--record-snapshots", *options.split(), *overrides),
            env=env or threads(),
        ),
        lambda watched: not decides_much(options) or bool(watched.report()["decisions"]),
    )


def decides_much(options: str) -> bool:
    return "shuffle" in options or "policy" in options


def replayed(trimtab: str, directory: Path, *options: str) -> tuple[int, list[dict[str, Any]]]:
    completed = subprocess.run(
        [trimtab, "replay", str(directory), "--json", *options], capture_output=True, text=True, check=False
    )
    assert completed.stderr == "" and completed.returncode in (0, 1), completed.stderr
    result: list[dict[str, Any]] = json.loads(completed.stdout)
    return completed.returncode, result


@pytest.mark.parametrize("compiler", ["gcc", "clang-19"])
@pytest.mark.parametrize(
    "options",
    [
        *("--tune --budget 100", "--tune --search exhaustive --budget 100", "--tune=shuffle --seed 7"),
        *("--tune --policy=arcs-online", "--tune --threads=regions --budget 100"),
        *("--tune --threads=fit:calm_s=0.2", "--threads=asat-v1:bad_trig=1", "--frozen"),
    ],
)
def test_decisions_of_openmp_programs_are_made_again(
    run: Run, compiled: Compiled, trimtab: str, tmp_path: Path, compiler: str, options: str
) -> None:
    program, history = compiled(SOURCE, compiler), tmp_path / "history.sqlite"
    is_frozen = options == "--frozen"
    if is_frozen:  # what an earlier run found is in the recording, too
        run(
            program,
            "12",
            options=("--tune", "--policy=arcs-online", "--history", str(history)),
            env=threads(),
        )
        options = f"--frozen --history {history}"
    watched = recorded(run, program, options, history)
    assert (watched.done.returncode, watched.done.stdout) == (0, "right\n"), watched.done.stderr
    code, (engine,) = replayed(trimtab, watched.directory)
    assert code == 0 and engine["difference"] is None, engine
    assert engine["is_whole"] and engine["not_compared"] == 0
    assert engine["decisions"] - engine["unapplied"] == len(watched.report()["decisions"])
    if decides_much(options):
        assert engine["decisions"] > 0


def test_a_policy_of_the_users_is_not_needed(
    run: Run, compiled: Compiled, trimtab: str, tmp_path: Path
) -> None:
    policy = tmp_path / "mine.py"
    policy.write_text(POLICY, encoding="utf-8")
    # The policy's process takes a while to start.
    source = SOURCE.replace("int main(int argc", "#include <time.h>\nint test(int argc").replace(
        "__END__", ""
    ) + (
        "\nint main(int argc, char** argv) {\n  const time_t begin = time(NULL);\n  int code = 0;\n"
        "  while (time(NULL) - begin < 4 && code == 0) code = test(argc, argv);\n  return code;\n}\n"
    )
    watched = recorded(run, compiled(source, "gcc"), f"--tune --policy {policy}", tmp_path / "history.sqlite")
    assert watched.report()["decisions"], watched.done.stderr
    policy.unlink()
    code, (engine,) = replayed(trimtab, watched.directory)
    assert code == 0 and engine["decisions"] == len(watched.report()["decisions"]), engine


@pytest.mark.parametrize("policy", ["tuner", "queue-length", "fit"])
def test_decisions_of_task_runtimes_are_made_again(
    run: Run, workload: Callable[[str], Path], trimtab: str, policy: str
) -> None:
    options = ["--points", "200000", "--partition", "1000", "--no-check", "--tune-every", "20"]
    options += ["--trimtab:workers=8", "--trimtab:tune=workers,grain", f"--trimtab:tune-policy={policy}"]
    watched = long_enough(
        4000,
        lambda steps: run(
            workload("heat_ring"), *options, "--steps", steps, options=("--record-snapshots", "--no-follow")
        ),
        lambda watched: bool(watched.report()["decisions"]),
    )
    code, (engine,) = replayed(trimtab, watched.directory)
    assert code == 0 and engine["difference"] is None, engine
    assert engine["file"] == "snapshots-runtime-1.txt" and engine["is_whole"]
    assert engine["decisions"] - engine["unapplied"] == len(watched.report()["decisions"]) > 0


def test_a_killed_programs_decisions_are_made_again_until_there(
    run: Run, compiled: Compiled, trimtab: str, tmp_path: Path
) -> None:
    watched = long_enough(
        2000,
        lambda steps: run(
            compiled(KILLED),
            steps,
            options=("--tune=shuffle", "--record-snapshots", "--history", str(tmp_path / "history.sqlite")),
            env=threads(2),
        ),
        lambda watched: len(watched.report()["decisions"]) > 3,
    )
    assert watched.done.returncode == -9
    code, (engine,) = replayed(trimtab, watched.directory)
    assert code == 0 and not engine["is_whole"] and engine["decisions"] > 3, engine
    # Cut in the midst of a snapshot, and of one long before the end.
    (file,) = watched.directory.glob("*/snapshots.txt")
    text = file.read_bytes()
    for size in (len(text) - 3, len(text) // 2):
        file.write_bytes(text[:size])
        code, (cut,) = replayed(trimtab, watched.directory)
        assert code == 0 and not cut["is_whole"] and cut["snapshots"] < engine["snapshots"], cut
        assert cut["decisions"] + cut["not_compared"] == engine["decisions"] + engine["not_compared"]
    completed = subprocess.run(
        [trimtab, "replay", str(watched.directory)], capture_output=True, text=True, check=False
    )
    assert re.search(
        r"^process \S+-\d+-0: \d+ decisions? from \d+ snapshots, all as recorded; the snapshots end at [\d.]+ s, "
        r"\d+ decisions? there not compared$",
        completed.stdout,
        re.MULTILINE,
    ), completed.stdout


def test_what_was_changed_afterwards_is_found(
    run: Run, compiled: Compiled, trimtab: str, tmp_path: Path
) -> None:
    watched = recorded(
        run, compiled(SOURCE, "gcc"), "--tune --policy=arcs-online", tmp_path / "history.sqlite"
    )
    (file,) = watched.directory.glob("*/snapshots.txt")
    reported = file.read_text(encoding="utf-8")
    assert replayed(trimtab, watched.directory)[0] == 0
    # The best that ever was measured is the worst.
    file.write_text(
        re.sub(r"^(measured \d+) \S+", r"\1 0x1p+0", reported, flags=re.MULTILINE), encoding="utf-8"
    )
    code, (engine,) = replayed(trimtab, watched.directory)
    assert code == 1
    first = engine["difference"]
    assert first["number"] == engine["decisions"] + 1 and first["recorded"] != first["replayed"]
    completed = subprocess.run(
        [trimtab, "replay", str(watched.directory)], capture_output=True, text=True, check=False
    )
    assert completed.returncode == 1
    assert f"as recorded, then decision {first['number']} is another\n  recorded: " in completed.stdout
    file.write_text(reported.replace("time 0x", "time x", 1), encoding="utf-8")
    completed = subprocess.run(
        [trimtab, "replay", str(watched.directory)], capture_output=True, text=True, check=False
    )
    assert completed.returncode == 2 and completed.stdout == ""
    assert re.search(r"snapshots.txt: line \d+: expected .*, found 'time x", completed.stderr), (
        completed.stderr
    )


def test_what_is_missing_is_named(run: Run, compiled: Compiled, trimtab: str, tmp_path: Path) -> None:
    watched = run(
        compiled(SOURCE, "gcc"), "1", options=("--tune", "--history", str(tmp_path / "h")), env=threads()
    )
    for options, expected in (
        (
            (),
            "no process has snapshots.txt: nothing was steered, or it was not recorded; record with trimtab",
        ),
        (("--process", "1"), "expected one of the processes "),
    ):
        completed = subprocess.run(
            [trimtab, "replay", str(watched.directory), *options], capture_output=True, text=True, check=False
        )
        assert completed.returncode == 2 and expected in completed.stderr, completed.stderr
    completed = subprocess.run(
        [trimtab, "replay", str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert completed.returncode == 2 and "this is not a run directory" in completed.stderr
