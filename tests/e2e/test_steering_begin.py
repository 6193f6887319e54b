"""Steering begins with a process's first lane: until then a process has no folder and no thread of ours, as without steering.

However the process begins, and however it ends.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import remember

Run = Callable[..., Any]
Compiled = Callable[..., Path]

# Does what the letters of its first argument say, one after the other, and prints how many steering threads it had at last:
# t: a team; f: goes on as the child of a fork; k: is killed; x: executes itself with the second argument.
PROGRAM = """
#include <dirent.h>
#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static int steering_threads(void) {
  int count = 0;
  DIR* threads = opendir("/proc/self/task");
  for (struct dirent* entry; (entry = readdir(threads));) {
    char path[300], name[32] = "";
    snprintf(path, sizeof path, "/proc/self/task/%s/comm", entry->d_name);
    FILE* file = fopen(path, "r");
    if (file && fgets(name, sizeof name, file)) count += !strncmp(name, "trimtab-steer", 13);
    if (file) fclose(file);
  }
  closedir(threads);
  return count;
}
static void report(int expected) {
  /* A thread has its name when it has begun. */
  const time_t begin = time(0);
  while (steering_threads() < expected && time(0) - begin < 20) usleep(1000);
  printf("%d %d\\n", getpid(), steering_threads());
  fflush(stdout);
}
int main(int count, char** arguments) {
  int expected = 0, is_child = 0, members = 0;
  for (const char* step = arguments[1]; *step; ++step) {
    if (*step == 't') {
#pragma omp parallel num_threads(2) reduction(+ : members)
      members += 1;
      expected = !is_child;
    }
    if (*step == 'f') {
      const pid_t child = fork();
      int status = 0;
      if (child != 0) {
        if (waitpid(child, &status, 0) != child || status != 0) return 1;
        break;
      }
      is_child = 1;
      expected = 0;
    }
    if (*step == 'k') { report(expected); raise(SIGKILL); }
    if (*step == 'x') { report(expected); execl(arguments[0], arguments[0], arguments[2], (char*)0); }
  }
  report(expected);
  return members % 2;
}
"""

# Arguments; for each process, in the order of their lines: its steering threads, and whether it has a folder. The child of a
# fork is recorded once it has a lane, and runs as without steering. (GCC's runtime has no teams in the child of a process that had.)
CASES = {
    "nothing": (("",), [(0, False)]),
    "a team": (("t",), [(1, True)]),
    "killed": (("k",), [(0, False)]),
    "a team, then killed": (("tk",), [(1, True)]),
    "exec": (("x", ""), [(0, False), (0, False)]),
    "exec, then a team": (("x", "t"), [(0, False), (1, True)]),
    "a team, then exec": (("tx", ""), [(1, True), (0, False)]),
    "fork": (("f",), [(0, None), (0, False)]),
    "fork, then a team": (("ft",), [(0, True), (0, False)]),
    "a team, then fork": (("tf",), [(0, None), (1, True)]),
}


def options(name: str, history: Path) -> tuple[str, ...]:
    file = ("--history", str(history))
    return {
        "tune": ("--tune", *file),
        "shuffle": ("--tune=shuffle", *file),
        "frozen": ("--frozen", *file),
        "threads": ("--threads=fit", *file),
    }[name]


@pytest.mark.parametrize("mode", ["tune", "shuffle", "frozen", "threads"])
def test_only_processes_with_lanes_are_steered(
    run: Run, compiled: Compiled, tmp_path: Path, mode: str
) -> None:
    program = compiled(PROGRAM, "gcc")
    for case, (arguments, expected) in CASES.items():
        history = tmp_path / f"{case}.sqlite"
        remember(history, program, arguments, "somewhere else", {"chunk": "8"})
        watched = run(program, *arguments, options=options(mode, history))
        assert watched.done.returncode == (-9 if "k" in arguments[0] else 0), (case, watched.done.stderr)
        lines = [tuple(map(int, line.split())) for line in watched.done.stdout.splitlines()]
        assert [steered for _, steered in lines] == [steered for steered, _ in expected], case
        processes = watched.report()["processes"]
        folders = sorted(entry.name for entry in watched.directory.iterdir() if entry.is_dir())
        # Images of a process are numbered, those with a folder and the others.
        with_folder = [pid for (pid, _), (_, has_folder) in zip(lines, expected, strict=True) if has_folder]
        assert sorted(int(folder.split("-")[-2]) for folder in folders) == sorted(with_folder), case
        recorded = [
            pid for (pid, _), (_, has_folder) in zip(lines, expected, strict=True) if has_folder is not None
        ]
        assert sorted(process["pid"] for process in processes) == sorted(recorded), case
        assert watched.decisions_but_moves() == [] or mode == "shuffle", case


def test_settings_that_no_process_uses_are_in_the_report(run: Run, tmp_path: Path) -> None:
    history = tmp_path / "history.sqlite"
    arguments = ("-c", "true; true")
    remember(history, Path("/bin/sh"), arguments, "a", {"chunk": "8"})
    watched = run("/bin/sh", *arguments, options=("--frozen", "--history", str(history)))
    assert watched.done.returncode == 0, watched.done.stderr
    steering = json.loads((watched.directory / "run.json").read_text())["steering"]
    assert (steering["mode"], steering["known_settings"]) == ("frozen", 1)
    report = watched.report()
    assert report["steering"]["mode"] == "frozen" and report["decisions"] == []
    assert not [entry for entry in watched.directory.iterdir() if entry.is_dir()]


# The list of variables is overwritten, as programs do that show what they are at in the list of processes.
OVERWRITES = """
#include <omp.h>
#include <stdio.h>
#include <string.h>
extern char** environ;
int main(void) {
  for (char** variable = environ; *variable; ++variable) memset(*variable, 'x', strlen(*variable));
  int members = 0;
#pragma omp parallel num_threads(2) reduction(+ : members)
  members += 1;
  printf("%d\\n", members);
  return 0;
}
"""


def test_a_program_may_overwrite_its_environment_before_its_first_region(
    run: Run, compiled: Compiled, tmp_path: Path
) -> None:
    program = compiled(OVERWRITES, "gcc")
    history = tmp_path / "history.sqlite"
    remember(history, program, (), "somewhere else", {"chunk": "8"})
    for chosen in (("--frozen", "--history", str(history)), ("--tune", "--history", str(history))):
        watched = run(program, options=chosen, env={**os.environ, "OMP_WAIT_POLICY": "passive"})
        assert (watched.done.returncode, watched.done.stdout) == (0, "2\n"), watched.done.stderr
        missing = [entry["what"] for entry in watched.report()["unavailable"]]
        assert "what earlier runs found" not in missing, missing
