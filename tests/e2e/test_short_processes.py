"""Short processes of every kind and with every end: all that started are in the report, with how they ended.

Most have a page in the list of processes; those that need lanes have a folder.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from trimtab.readers import open_run

Run = Callable[..., Any]
Compiled = Callable[..., Path]

# Starts itself in the manner of the first argument, to end in the manner of the second; prints the child's process number.
PROGRAM = """
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
extern char** environ;
static void* nothing(void* of) { return of; }
static int end(const char* how) {
  pthread_t thread;
  volatile double sink = 0;
  if (!strcmp(how, "return")) return 0;
  if (!strcmp(how, "exit")) exit(3);
  if (!strcmp(how, "_exit")) _exit(4);
  if (!strcmp(how, "quick_exit")) quick_exit(5);
  if (!strcmp(how, "abort")) { signal(SIGABRT, SIG_DFL); abort(); }
  if (!strcmp(how, "killed")) raise(SIGKILL);
  if (!strcmp(how, "fault")) *(volatile int*)8 = 1;
  if (!strcmp(how, "exec")) execlp("true", "true", (char*)0);
  if (!strcmp(how, "no exec")) { execlp("/none", "none", (char*)0); return 6; }
  if (!strcmp(how, "thread")) { pthread_create(&thread, 0, nothing, 0); pthread_join(thread, 0); }
  if (!strcmp(how, "team")) {
#pragma omp parallel num_threads(2)
    sink = 1;
  }
  return 0;
}
int main(int n, char** v) {
  if (n < 3) return end(v[1]);
  char* const child[] = {v[0], v[2], 0};
  int state;
  pid_t pid = 0;
  if (!strcmp(v[1], "spawn")) posix_spawn(&pid, v[0], 0, 0, child, environ);
  if (!strcmp(v[1], "vfork") && (pid = vfork()) == 0) { execv(v[0], child); _exit(9); }
  if (!strcmp(v[1], "fork") && (pid = fork()) == 0) { execve(v[0], child, environ); _exit(9); }
  if (!strcmp(v[1], "daemon") && (pid = fork()) == 0) {
    setsid();
    if ((pid = fork()) == 0) execv(v[0], child);
    printf("%d\\n", pid); fflush(stdout);
    waitpid(pid, &state, 0);
    _exit(0);
  }
  if (!strcmp(v[1], "again")) execv(v[0], child);
  waitpid(pid, &state, 0);
  if (strcmp(v[1], "daemon")) printf("%d\\n", pid);
  return 0;
}
"""

# How the report says that it ended, and the arguments of the last image of the process.
ENDS = {
    "return": "exit",
    "exit": "exit",
    "_exit": "exit",
    "quick_exit": "exit",
    "abort": None,
    "killed": None,
    "fault": None,
    "exec": "exec",
    "no exec": "exit",
    "thread": "exit",
    "team": "exit",
}


@pytest.mark.parametrize("start", ["spawn", "vfork", "fork", "daemon"])
def test_each_start_and_end_is_in_the_report(run: Run, compiled: Compiled, start: str) -> None:
    program = compiled(PROGRAM, "gcc")
    for end, ended in ENDS.items():
        watched = run(program, start, end)
        assert watched.done.returncode == 0, watched.done.stderr
        child = int(watched.done.stdout)
        processes = {
            (process["pid"], tuple(process["command"][1:])): process
            for process in watched.report()["processes"]
        }
        found = processes[child, (end,)]
        assert found["ended"] == ended, (end, found)
        # A process that says how it ended has said what it used by then.
        assert (found["cpu_s"] > 0) == (ended is not None) or end == "team", (end, found)
        if end == "exec":
            assert processes[child, ()]["ended"] == "exit" and processes[child, ()]["command"] == ["true"]
        has_folder = any(f"-{child}-" in entry.name for entry in watched.directory.iterdir())
        assert has_folder == (end == "team"), end


def test_one_process_that_is_replaced_has_an_entry_for_each_program(run: Run, compiled: Compiled) -> None:
    watched = run("sh", "-c", f"exec {compiled(PROGRAM, 'gcc')} again exec")
    processes = watched.report()["processes"]
    assert [process["ended"] for process in sorted(processes, key=lambda process: process["begin_s"])] == [
        *["exec"] * 3,
        "exit",
    ]
    assert len({process["pid"] for process in processes}) == 1
    assert len({process["id"] for process in processes}) == 4


@pytest.mark.parametrize("option", ["--tune=off", "--tune", "--frozen", "--threads=fit"])
def test_a_script_makes_no_folder(run: Run, option: str) -> None:
    script = "for i in 1 2 3 4 5 6 7 8 9 10; do echo $i | sed s/1/2/ | awk '{print}' >/dev/null; done"
    watched = run("sh", "-c", script, options=(option,))
    assert watched.done.returncode == 0
    assert not [entry for entry in watched.directory.iterdir() if entry.is_dir()]
    report = watched.report()
    names = [process["command"][0] for process in report["processes"]]
    assert names.count("sed") == 10 and names.count("awk") == 10 and names.count("sh") == 1
    # What is counted at the end of a process is there without a folder.
    process = next(
        process for process in open_run(watched.directory).processes if process.command[0] == "sed"
    )
    counted = {process.counters[number].name for number in set(process.samples["counter"].tolist())}
    assert {"minor page faults", "kernel time", "process run delay", "first thread's CPU time"} <= counted


def test_a_longer_process_has_read_what_a_short_one_leaves_out(run: Run) -> None:
    watched = run("sh", "-c", "sed p /dev/null; sleep 0.1; sed p /dev/null; :")
    processes = open_run(watched.directory).processes
    (long,) = (process for process in processes if process.command[0] == "sleep")
    short = [process for process in processes if process.command[0] == "sed"]
    assert len(short) == 2 and not [entry for entry in watched.directory.iterdir() if entry.is_dir()]
    assert long.header["cpus_online"] >= 1
    assert "peak resident memory" in {
        long.counters[number].name for number in set(long.samples["counter"].tolist())
    }
    for process in short:
        # A busy machine may make it a long one.
        assert process.header["cpus_online"] in (0, long.header["cpus_online"])
        assert process.header["cpus_available"] == long.header["cpus_available"]
        assert process.header["cpus_quota"] == long.header["cpus_quota"]


@pytest.mark.parametrize("start", ["spawn", "fork"])
def test_where_there_is_no_room_for_a_list_the_program_runs_on(
    run: Run, compiled: Compiled, tmp_path: Path, start: str
) -> None:
    watched = run("sh", "-c", f"ulimit -f 3; {compiled(PROGRAM, 'gcc')} {start} exit")
    assert watched.done.returncode == 0 and watched.done.stdout.strip().isdigit()
    watched.report()
