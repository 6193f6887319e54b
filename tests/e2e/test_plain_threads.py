"""Programs with threads but without lanes: what they waited for while CPUs were idle, whoever made the threads."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]

HEAD = r"""
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static void pause_ms(long ms) { struct timespec t = {ms / 1000, ms % 1000 * 1000000}; nanosleep(&t, 0); }
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile long sum;
static int ends[2];
"""
MAIN = r"""
int main(void) {
  pthread_t threads[4];
  if (prepare() != 0) return 1;
  for (long i = 0; i < 4; ++i) if (pthread_create(&threads[i], 0, body, (void*)i) != 0) return 2;
  for (int i = 0; i < 4; ++i) pthread_join(threads[i], 0);
  return 0;
}
"""
NOTHING = "static int prepare(void) { return 0; }\n"
# Of each program: what its threads do, and how the largest part of idle time is called. The waits take most of the time by far.
PROGRAMS = {
    "sleep": (
        NOTHING + "static void* body(void* n) { pause_ms(900); return n; }",
        "threads slept until a time",
    ),
    "lock": (
        # One spins with the lock: the three others, and who joins, have nothing else to wait for.
        NOTHING
        + r"""
static double cpu_s(void) { struct timespec t; clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); return t.tv_sec + t.tv_nsec * 1e-9; }
static void* body(void* n) {
  pthread_mutex_lock(&lock);
  for (double end = cpu_s() + 0.25; cpu_s() < end;) ++sum;
  pthread_mutex_unlock(&lock);
  return n;
}""",
        "threads waited for each other: a lock, a condition, a join",
    ),
    "pipe": (
        r"""
static int prepare(void) { return pipe(ends); }
static void* body(void* n) {
  char byte;
  if (n == 0) { pause_ms(900); return write(ends[1], "four", 4) == 4 ? n : (void*)1; }
  return read(ends[0], &byte, 1) == 1 ? n : (void*)1;
}""",
        "waits for sockets, pipes or a terminal",
    ),
    "poll": (
        r"""
static int prepare(void) { return socketpair(AF_UNIX, SOCK_STREAM, 0, ends); }
static void* body(void* n) { struct pollfd about = {ends[0], POLLIN, 0}; poll(&about, 1, 900); return n; }""",
        "waits for sockets, pipes or a terminal",
    ),
    "child": (
        NOTHING
        + r"""
static void* body(void* n) {
  pid_t child = fork();
  if (child == 0) { pause_ms(900); _exit(0); }
  waitpid(child, 0, 0);
  return n;
}""",
        "waits for other programs",
    ),
}


def largest(report: dict[str, Any]) -> str:
    """What the largest part of the idle time that the looks explain is called."""
    seen = [entry for entry in report["blame"] if entry["basis"] == "looks at threads"]
    assert seen, report["blame"]
    first = max(seen, key=lambda entry: entry["share"])
    return str(first["subject"] or first["reason"])


def check_sums(report: dict[str, Any]) -> None:
    assert sum(entry["share"] for entry in report["blame"]) == pytest.approx(
        1 - report["efficiency"], abs=1e-3
    )


@pytest.mark.parametrize("kind", PROGRAMS)
def test_idle_time_is_charged_to_what_threads_wait_for(
    run: Run, compiled: Callable[..., Path], kind: str
) -> None:
    body, expected = PROGRAMS[kind]
    watched = run(compiled(HEAD + body + MAIN, "gcc", "-pthread"))
    assert watched.done.returncode == 0, watched.done.stderr
    report = watched.report()
    assert largest(report) == expected
    check_sums(report)
    assert expected in watched.done.stderr


ENDINGS = {
    "returns": ("return n;", 0),
    "pthread_exit": ("pthread_exit(n);", 0),
    "cancelled": ("pthread_cancel(pthread_self()); pthread_testcancel(); return n;", 0),
    "killed": ("kill(getpid(), SIGKILL); pause_ms(5000); return n;", -signal.SIGKILL),
    "exits": ("_exit(7);", 7),
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_threads_may_end_in_any_way(run: Run, compiled: Callable[..., Path], ending: str) -> None:
    text, code = ENDINGS[ending]
    body = f"static void* body(void* n) {{ pause_ms(300); {text} }}"
    watched = run(compiled(HEAD + NOTHING + body + MAIN, "gcc", "-pthread"))
    assert watched.done.returncode == code, watched.done.stderr
    check_sums(watched.report())


def test_run_delay_of_threads_that_have_ended_counts(run: Run, compiled: Callable[..., Path]) -> None:
    """Six threads want one CPU; none of them is there any more at the end."""
    body = r"""
static double cpu_s(void) { struct timespec t; clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); return t.tv_sec + t.tv_nsec * 1e-9; }
static void* body(void* n) { for (double end = cpu_s() + 0.15; cpu_s() < end;) ++sum; return n; }"""
    main = MAIN.replace("threads[4]", "threads[6]").replace("i < 4", "i < 6")
    program = compiled(HEAD + NOTHING + body + main, "gcc", "-pthread")
    watched = run("taskset", "-c", str(min(os.sched_getaffinity(0))), program)
    report = watched.report()
    delays = [counter for counter in report["counters"] if counter["name"] == "run delay of ended threads"]
    # All of them wait for five sixths of the time until the first has ended.
    assert sum(counter["values"][-1] for counter in delays) > 1.0
    check_sums(report)


def test_a_program_with_one_thread_keeps_to_it(run: Run, compiled: Callable[..., Path]) -> None:
    count = r"""
#include <dirent.h>
#include <stdio.h>
int main(void) {
  int threads = -2;  /* . and .. */
  DIR* folder = opendir("/proc/self/task");
  while (readdir(folder)) ++threads;
  printf("%d\n", threads);
  return 0;
}"""
    assert run(compiled(count, "gcc")).done.stdout.strip() == "1"


@pytest.mark.parametrize("language", ["python", "c++", "rounds of fork"])
def test_other_ways_to_make_threads(run: Run, compiled: Callable[..., Path], language: str) -> None:
    if language == "python":
        text = "import threading, time\nt = [threading.Thread(target=time.sleep, args=(0.7,)) for _ in range(3)]\n"
        watched = run(sys.executable, "-c", text + "[x.start() for x in t]; [x.join() for x in t]")
    elif language == "c++":
        text = "#include <future>\n#include <thread>\nint main() { auto a = std::async(std::launch::async, [] { std::this_thread::sleep_for(std::chrono::milliseconds(700)); }); a.get(); }"
        watched = run(compiled(text, "g++", "-pthread"))
    else:
        # A thread of a child is seen as well, and the child's first thread was another in its parent.
        text = (
            "static void* inner(void* n) { pause_ms(700); return n; }\n"
            "static void* body(void* n) { if (n) return n; pid_t child = fork();\n"
            "  if (child == 0) { pthread_t t; pthread_create(&t, 0, inner, 0); pthread_join(t, 0); exit(0); }\n"
            "  waitpid(child, 0, 0); return n; }"
        )
        watched = run(compiled(HEAD + NOTHING + text + MAIN, "gcc", "-pthread"))
    assert watched.done.returncode == 0, watched.done.stderr
    report = watched.report()
    assert largest(report) in ("threads slept until a time", "waits for other programs")
    check_sums(report)
