"""`trimtab run --threads`: teams get fewer members where CPUs are wanted, and no program gets another number than it was told."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from conftest import long_enough
from trimtab.options import library_option, tunables

Run = Callable[..., Any]
Compiled = Callable[..., Path]

SOURCE = (Path(__file__).parent / "thread_counts.c").read_text(encoding="utf-8")
COMPILERS = ("gcc", "clang-19")
CPUS = len(os.sched_getaffinity(0))
pytestmark = pytest.mark.alone


def threads(count: int, policy: str = "passive") -> dict[str, str]:
    return {**os.environ, "OMP_NUM_THREADS": str(count), "OMP_WAIT_POLICY": policy}


def members(watched: Any) -> tuple[int, int]:
    """The least and the most members that regions had, as the program has counted them."""
    assert (watched.done.returncode, watched.done.stdout) == (0, "right\n"), watched.done.stderr
    result = re.search(r"regions of (\d+) to (\d+) members", watched.done.stderr)
    assert result is not None, watched.done.stderr
    return int(result[1]), int(result[2])


def thread_decisions(report: dict[str, Any]) -> list[tuple[int, int]]:
    return [
        (int(change["from"]), int(change["to"]))
        for decision in report["decisions"]
        for change in decision["changes"]
        if change["knob"] == "threads"
    ]


def shuffled(folder: Path) -> tuple[str, ...]:
    """Options: any number of threads, at random."""
    return ("--threads=fit", "--tune=shuffle", "--history", str(folder / "history"))


@contextmanager
def hogs(count: int) -> Iterator[None]:
    """So many other programs that want a CPU each."""
    with ExitStack() as all_of_them:
        for _ in range(count):
            hog = all_of_them.enter_context(subprocess.Popen([sys.executable, "-c", "while True: pass"]))
            all_of_them.callback(hog.kill)
        yield


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("how", ["asks", "believes"])
def test_any_number_of_members_is_right_that_was_told(
    run: Run, compiled: Compiled, tmp_path: Path, compiler: str, how: str
) -> None:
    def turned(watched: Any) -> set[int]:
        return {to for _, to in thread_decisions(watched.report())}

    program = compiled(SOURCE, compiler)
    watched = long_enough(
        2,
        lambda seconds: run(program, how, seconds, options=shuffled(tmp_path), env=threads(4)),
        lambda watched: turned(watched) == {1, 2, 3, 4} and members(watched)[0] < members(watched)[1],
    )
    smallest, limit = members(watched)
    assert smallest < limit <= 4
    assert turned(watched) == {1, 2, 3, 4}


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("how", ["asks-once", "asks-twice", "clause", "sets", "procs"])
def test_what_the_program_was_told_or_says_itself_stays(
    run: Run, compiled: Compiled, tmp_path: Path, compiler: str, how: str
) -> None:
    watched = run(compiled(SOURCE, compiler), how, "0.3", options=shuffled(tmp_path), env=threads(4))
    assert members(watched) == ((3, 3) if how in ("clause", "sets") else (4, 4))
    if how in ("clause", "sets"):
        missing = [
            entry for entry in watched.report()["unavailable"] if entry["what"] == "other numbers of threads"
        ]
        assert len(missing) == 1, "it is told why"


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("how", ["believes-clause", "believes-sets"])
def test_what_the_program_says_itself_goes_down_only_with_the_stronger_consent(
    run: Run, compiled: Compiled, tmp_path: Path, compiler: str, how: str
) -> None:
    program = compiled(SOURCE, compiler)
    assert members(run(program, how, "0.3", options=shuffled(tmp_path), env=threads(4))) == (3, 3)
    options = (*shuffled(tmp_path), "--threads-even-if-fixed")
    watched = long_enough(
        2,
        lambda seconds: run(program, how, seconds, options=options, env=threads(4)),
        lambda watched: members(watched)[0] < members(watched)[1],
    )
    smallest, limit = members(watched)
    assert smallest < limit <= 3, "never more than it says"


@pytest.mark.parametrize("compiler", COMPILERS)
def test_no_more_members_than_cpus_even_by_a_clause(run: Run, compiled: Compiled, compiler: str) -> None:
    if CPUS > 2:
        pytest.skip("three members are none too many")
    options = ("--threads=fit", "--threads-even-if-fixed")
    program = compiled(SOURCE, compiler)
    watched = long_enough(
        1,
        lambda seconds: run(program, "believes-clause", seconds, options=options, env=threads(4)),
        lambda watched: members(watched)[0] <= CPUS,
    )
    assert members(watched)[0] <= CPUS
    assert "the process may run on" in watched.report()["decisions"][0]["reason"]


@pytest.mark.parametrize("compiler", COMPILERS)
def test_several_threads_with_regions_are_left_alone(
    run: Run, compiled: Compiled, tmp_path: Path, compiler: str
) -> None:
    watched = run(compiled(SOURCE, compiler), "pthreads", "0.3", options=shuffled(tmp_path), env=threads(3))
    assert members(watched)[1] == 3
    assert any("several of its threads" in entry["why"] for entry in watched.report()["unavailable"])


def test_without_consent_no_number_is_changed(run: Run, compiled: Compiled, tmp_path: Path) -> None:
    without_consent = ("--tune=shuffle", "--history", str(tmp_path / "history"))
    watched = run(compiled(SOURCE, "gcc"), "believes", "0.3", options=without_consent, env=threads(4))
    assert members(watched) == (4, 4)
    assert thread_decisions(watched.report()) == []


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("how", ["asks", "believes"])
def test_no_more_members_than_cpus(run: Run, compiled: Compiled, compiler: str, how: str) -> None:
    program = compiled(SOURCE, compiler)
    watched = long_enough(
        2,
        lambda seconds: run(program, how, seconds, options=("--threads=fit",), env=threads(CPUS + 2)),
        lambda watched: members(watched)[0] <= CPUS,
    )
    assert members(watched)[0] <= CPUS
    report = watched.report()
    assert report["steering"]["mode"] == "off" and report["steering"]["threads"] == "fit"
    assert thread_decisions(report)[0] == (CPUS + 2, CPUS)
    decided = report["decisions"][0]
    assert (decided["policy"], decided["outcome"]) == ("fit", "set")
    assert decided["reason"] == f"the process may run on {CPUS} CPUs"


@pytest.mark.skipif(CPUS < 2, reason="with one CPU there is nothing to give away")
@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("how", ["asks", "believes"])
def test_beside_others_there_are_fewer_members(run: Run, compiled: Compiled, compiler: str, how: str) -> None:
    def reasons(watched: Any) -> list[str]:
        return [decision["reason"] for decision in watched.report()["decisions"]]

    def is_told(watched: Any) -> bool:
        return any("members wait for a CPU" in reason for reason in reasons(watched))

    program, active = compiled(SOURCE, compiler), threads(CPUS, "active")
    with hogs(2 * CPUS):
        watched = long_enough(
            3,
            lambda seconds: run(program, how, seconds, options=("--threads=fit",), env=active),
            lambda watched: is_told(watched) and members(watched)[0] < CPUS,
        )
    assert members(watched)[0] < CPUS
    assert is_told(watched), reasons(watched)


@pytest.mark.parametrize("policy", ["asat-v1", "asat-v2", "asat-v1-timed", "asat-v2-reset"])
@pytest.mark.parametrize("compiler", COMPILERS)
def test_the_published_policies_measure_between_regions(
    run: Run, compiled: Compiled, compiler: str, policy: str
) -> None:
    # More members than CPUs: they cannot all do the same share of the iterations. A barrier is still short where they sleep.
    def decisions(watched: Any) -> list[dict[str, Any]]:
        return [
            decision
            for decision in watched.report()["decisions"]
            if decision["policy"] == policy
            and any(change["knob"] == "threads" for change in decision["changes"])
        ]

    has_iterations = policy.startswith("asat-v1")
    program, active = compiled(SOURCE, compiler), threads(3 * CPUS, "active")
    watched = long_enough(
        4,
        lambda seconds: run(program, "asks", seconds, options=("--threads", policy), env=active),
        lambda watched: not has_iterations or bool(decisions(watched)),
    )
    members(watched)
    decided = decisions(watched)
    assert decided or not has_iterations, "a thread less, since members lose their CPUs"
    evidence = "iterations_spread" if has_iterations else "passage_seconds"
    assert all(evidence in entry["evidence"] for entry in decided)


POLICIES = library_option("TRIMTAB_THREADS").words


@pytest.mark.parametrize("policy", [name for name, known in tunables().items() if known and name in POLICIES])
def test_tunables_are_those_that_the_library_has(run: Run, compiled: Compiled, policy: str) -> None:
    named = ",".join(
        f"{tunable.name}={tunable.words[-1] if tunable.words else 2}" for tunable in tunables()[policy]
    )
    watched = run(
        compiled(SOURCE), "asks", "0.2", options=("--threads", f"{policy}:{named}"), env=threads(CPUS)
    )
    members(watched)
    assert not [entry for entry in watched.report()["unavailable"] if "tunable" in entry["what"]]


def test_a_tunable_is_in_force(run: Run, compiled: Compiled) -> None:
    # No barrier is as quick as that.
    strict = "asat-v2:eval_time_s=0.05,bad_time_s=1e-9,bad_trig=1"
    watched = long_enough(
        2,
        lambda seconds: run(
            compiled(SOURCE), "asks", seconds, options=("--threads", strict), env=threads(2 * CPUS)
        ),
        lambda watched: bool(thread_decisions(watched.report())),
    )
    assert members(watched)[0] < 2 * CPUS
    assert thread_decisions(watched.report())[0] == (2 * CPUS, 2 * CPUS - 1)


# A barrier after each 10 ms that no barrier is short enough for, so that a team soon has one member, unless it is switched off.
STRICT = "asat-v2:eval_time_s=0.01,bad_time_s=1e-9,bad_trig=1"
SWITCHING = r"""
#include <omp.h>
#include <stdio.h>
#include <string.h>
#include <trimtab.h>
// Regions until one has fewer members than the first (or more than the latest), or 20 s have passed.
static int until(int is_fewer) {
  const double end = omp_get_wtime() + 20;
  int first = 0, members = 0;
  do {
    #pragma omp parallel
    {
      #pragma omp single
      members = omp_get_num_threads();
    }
    if (first == 0) first = members;
  } while (omp_get_wtime() < end && (is_fewer ? members >= first : members <= first));
  return members;
}
int main(int count, char** words) {
  if (count > 1 && strcmp(words[1], "on") == 0) trimtab_fit_threads(1);
  const int fewer = until(1);
  trimtab_fit_threads(0);
  const int off = until(0);
  trimtab_fit_threads(1);
  const int again = until(1);
  printf("%d %d %d\n", fewer, off, again);
  return 0;
}
"""


def test_fitting_may_begin_switched_off(run: Run, compiled: Compiled) -> None:
    watched = run(
        compiled(SOURCE), "asks", "0.5", options=("--threads", f"{STRICT},flag=off"), env=threads(2 * CPUS)
    )
    assert members(watched) == (2 * CPUS, 2 * CPUS)
    assert thread_decisions(watched.report()) == []


@pytest.mark.parametrize("begins", ["", "on"], ids=["begun on", "begun off"])
def test_the_program_switches_fitting_off_and_on(
    trimtab: str, run: Run, compiled: Compiled, begins: str
) -> None:
    cmake = subprocess.run(
        [trimtab, "--cmake-dir"], capture_output=True, text=True, check=True
    ).stdout.strip()
    header = next(parent for parent in Path(cmake).parents if (parent / "include/trimtab.h").exists())
    program = compiled(SWITCHING, "gcc", f"-I{header / 'include'}")
    policy = f"{STRICT},flag=off" if begins else STRICT
    watched = run(program, begins, options=("--threads", policy), env=threads(4))
    assert watched.done.returncode == 0, watched.done.stderr
    fewer, off, repeated = map(int, watched.done.stdout.split())
    assert fewer < off and repeated < off, watched.done.stdout
    reasons = [decision["reason"] for decision in watched.report()["decisions"]]
    assert "it was switched off: as many as the program asks for" in reasons


@pytest.mark.skipif(CPUS < 2, reason="with one CPU there is nothing to share out")
def test_two_copies_share_the_cpus(trimtab: str, compiled: Compiled, run: Run, tmp_path: Path) -> None:
    def both(seconds: str) -> Any:
        first = tmp_path / f"first-{seconds}"
        command = [trimtab, "run", "-q", "-o", str(first), "--threads=fit", "--", str(program), "believes"]
        with subprocess.Popen(
            [*command, seconds], env=threads(CPUS), stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as other:
            watched = run(program, "believes", seconds, options=("--threads=fit",), env=threads(CPUS))
            out, err = other.communicate()
        assert out == b"right\n", err
        members(watched)
        return watched

    program = compiled(SOURCE, "gcc")
    watched = long_enough(4, both, lambda watched: bool(thread_decisions(watched.report())))
    assert thread_decisions(watched.report()), "each comes down to a part of them"


# Regions until they have fewer members; then, while the first thread sleeps, how many others want a CPU.
LEFT_OVER = r"""
#include <dirent.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
enum { most = 256 };
struct use { long thread; double ns; };
static int read_uses(struct use* uses) {
  int count = 0;
  DIR* const all = opendir("/proc/self/task");
  for (struct dirent* each; all != NULL && count < most && (each = readdir(all)) != NULL;) {
    char path[300];
    snprintf(path, sizeof path, "/proc/self/task/%s/schedstat", each->d_name);
    FILE* const file = each->d_name[0] == '.' ? NULL : fopen(path, "r");
    if (file == NULL) continue;
    uses[count].thread = atol(each->d_name);
    if (fscanf(file, "%lf", &uses[count].ns) == 1) ++count;
    fclose(file);
  }
  if (all != NULL) closedir(all);
  return count;
}
int main(int argc, char** argv) {
  const int wanted = atoi(argv[1]);
  const double until = omp_get_wtime() + 20;
  int members = wanted + 1;
  for (int small = 0; small < 50 && omp_get_wtime() < until; small += members <= wanted) {
#pragma omp parallel
    {
#pragma omp single
      members = omp_get_num_threads();
    }
  }
  static struct use before[most], after[most];
  const int had = read_uses(before);
  usleep(500000);
  const int has = read_uses(after);
  int spin = 0;
  for (int i = 0; i < has; ++i)
    for (int k = 0; k < had; ++k)
      spin += after[i].thread == before[k].thread && after[i].ns - before[k].ns > 20e6;
  printf("%d members, %d threads spin\n", members, spin);
  return argc != 2;
}
"""


@pytest.mark.parametrize("others", [0, 1])
@pytest.mark.parametrize("compiler", COMPILERS)
def test_threads_that_are_left_over_do_not_spin_on(
    run: Run, compiled: Compiled, compiler: str, others: int
) -> None:
    # Beside another, the program has forked its first regions before anybody looks at their sizes.
    program, active = compiled(LEFT_OVER, compiler), threads(CPUS + 2, "active")
    with hogs(others):
        watched = run(program, str(CPUS), options=("--threads=fit",), env=active)
    result = re.fullmatch(r"(\d+) members, (\d+) threads spin\n", watched.done.stdout)
    assert result is not None, watched.done.stderr
    members, spinning = int(result[1]), int(result[2])
    assert members <= CPUS, "its teams are smaller"
    assert spinning <= members - 1, "the others are asleep, or gone"
    assert watched.done.stderr.count("OMP:") == 0, "the runtime has nothing to grumble at"


# For SECONDS: some hundred nanoseconds of work a region, or a millisecond ("long"); or it asks before each for its number
# of threads, and relies on it ("asks").
SHORT_REGIONS = r"""
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const int asks = strcmp(argv[1], "asks") == 0, size = strcmp(argv[1], "long") == 0 ? 1000000 : 200;
  double* const x = calloc((size_t)size, sizeof *x);
  const double until = omp_get_wtime() + atof(argv[2]);
  long steps = 0;
  for (; omp_get_wtime() < until; ++steps) {
    const int told = asks ? omp_get_max_threads() : 0;
    int members = 0;
#pragma omp parallel
    {
#pragma omp for schedule(static)
      for (int i = 0; i < size; ++i) x[i] = 0.5 * x[i] + 1 / (x[i] + 2);
#pragma omp master
      members = omp_get_num_threads();
    }
    if (asks && members != told) return puts("not as told"), 1;
  }
  double after = 0;
  for (long i = 0; i < steps; ++i) after = 0.5 * after + 1 / (after + 2);
  for (int i = 0; i < size; ++i)
    if (x[i] != after) return puts("wrong"), 1;
  return puts("right"), 0;
}
"""


@pytest.mark.skipif(CPUS < 2, reason="with one CPU there is one thread")
@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("how", ["short", "asks"])
def test_nobody_is_woken_for_regions_that_are_too_short(
    run: Run, compiled: Compiled, compiler: str, how: str
) -> None:
    def is_told(watched: Any) -> bool:
        return any(
            "regions take" in decision["reason"] and "trial_ratio" in decision["evidence"]
            for decision in watched.report()["decisions"]
        )

    def is_small(watched: Any) -> bool:
        turned = thread_decisions(watched.report())
        return bool(turned) and turned[-1][1] < CPUS

    def lacks_cpus(watched: Any) -> bool:
        return any("members wait" in decision["reason"] for decision in watched.report()["decisions"])

    program = compiled(SHORT_REGIONS, compiler)
    watched = long_enough(
        2,
        lambda seconds: run(program, how, seconds, options=("--threads=fit",), env=threads(CPUS)),
        lambda watched: (is_told(watched) and is_small(watched)) or lacks_cpus(watched),
    )
    assert (watched.done.returncode, watched.done.stdout) == (0, "right\n"), watched.done.stderr
    if lacks_cpus(watched):
        pytest.skip("others want the CPUs: there are fewer threads for their sake")
    assert is_told(watched)
    assert is_small(watched)


@pytest.mark.skipif(CPUS < 2, reason="with one CPU there is one thread")
@pytest.mark.parametrize("compiler", COMPILERS)
def test_nothing_is_tried_with_long_regions(run: Run, compiled: Compiled, compiler: str) -> None:
    watched = run(
        compiled(SHORT_REGIONS, compiler), "long", "2", options=("--threads=fit",), env=threads(CPUS)
    )
    assert watched.done.stdout == "right\n"
    changes = [change["knob"] for decision in watched.report()["decisions"] for change in decision["changes"]]
    assert "trial_members" not in changes, "regions of a millisecond are not tried"


@pytest.mark.skipif(CPUS < 2, reason="one CPU")
@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize(
    "binding", ["OMP_PROC_BIND=true", "OMP_PLACES=cores", f"GOMP_CPU_AFFINITY=0-{CPUS - 1}"]
)
def test_threads_that_the_runtime_binds_leave_the_program_its_cpus(
    run: Run, compiled: Compiled, tmp_path: Path, compiler: str, binding: str
) -> None:
    """GCC's runtime leaves the first thread with one CPU before any library's constructor runs."""
    name, value = binding.split("=")
    program, options = (
        compiled(SOURCE, compiler),
        ("--threads=fit", "--tune", "--history", str(tmp_path / "history")),
    )
    free = run(program, "asks", "0.1", options=options, env=threads(CPUS))
    bound = run(program, "asks", "0.5", options=options, env={**threads(CPUS), name: value})
    members(bound)
    report = bound.report()
    assert report["cpus_available"] == free.report()["cpus_available"]
    assert not [decision["reason"] for decision in report["decisions"] if "may run on" in decision["reason"]]
