"""What is sent to the launcher alone reaches the program once; what is sent to the whole group does not reach it twice."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from trimtab.launcher.witness import GroupWitness

# Counts what it gets, says each, and ends when its input does.
COUNTS = """
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
static void note(int number) { char text[] = "got 00\\n"; text[4] += number / 10; text[5] += number % 10; (void)!write(1, text, 7); }
int main(void) {
  int numbers[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
  struct sigaction what = {.sa_handler = note};
  for (int i = 0; i < 6; i++) sigaction(numbers[i], &what, 0);
  (void)!write(1, "ready\\n", 6);
  char byte;
  while (read(0, &byte, 1) == -1 && errno == EINTR) {}
  return 5;
}
"""
# Sends its whole group a signal in its first instructions, when the launcher may not know yet that it has begun. Says how often
# it came.
SENDS = """
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
static volatile int count;
static void note(int number) { count++; }
int main(void) {
  signal(SIGUSR1, note);
  kill(0, SIGUSR1);
  for (int i = 0; i < 30; i++) usleep(10000);
  return printf("%d\\n", count) != 2;
}
"""
ALL = [signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2]


@pytest.fixture
def program(tmp_path: Path) -> Path:
    (tmp_path / "counts.c").write_text(COUNTS)
    subprocess.run(["gcc", "-O1", str(tmp_path / "counts.c"), "-o", str(tmp_path / "counts")], check=True)
    return tmp_path / "counts"


def use_default_actions() -> None:
    for number in ALL:
        signal.signal(number, signal.SIG_DFL)


@pytest.fixture
def running(trimtab: str, program: Path, tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [trimtab, "run", "-q", "-o", str(tmp_path / "run"), "--", str(program)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # A shell without job control starts what it puts into the background with SIGINT and SIGQUIT ignored: the tests as well.
        preexec_fn=use_default_actions,
    )
    assert process.stdout is not None and process.stdout.readline() == "ready\n"
    yield process
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@pytest.mark.parametrize("number", ALL)
def test_to_the_launcher_alone(running: subprocess.Popen[str], number: signal.Signals) -> None:
    assert running.stdout is not None
    for _ in range(3):
        running.send_signal(number)
        assert running.stdout.readline() == f"got {int(number):02}\n"
    assert running.communicate("x", timeout=60)[0] == ""
    assert running.returncode == 5


@pytest.mark.parametrize("number", ALL)
def test_to_the_group_it_comes_once(running: subprocess.Popen[str], number: signal.Signals) -> None:
    assert running.stdout is not None
    for _ in range(3):
        os.killpg(running.pid, number)
        assert running.stdout.readline() == f"got {int(number):02}\n"
        # What the launcher might pass on comes before this, which it passes on as well.
        other = signal.SIGUSR1 if number != signal.SIGUSR1 else signal.SIGUSR2
        running.send_signal(other)
        assert running.stdout.readline() == f"got {int(other):02}\n"
    assert running.communicate("x", timeout=60)[0] == ""


@pytest.mark.parametrize("number", ALL)
def test_many_to_the_group_come_once_each(running: subprocess.Popen[str], number: signal.Signals) -> None:
    """The program answers sooner than the launcher looks: of two signals, the launcher's witness may see one."""
    assert running.stdout is not None
    for _ in range(300):
        os.killpg(running.pid, number)
        assert running.stdout.readline() == f"got {int(number):02}\n"
    assert running.communicate("x", timeout=60)[0] == ""


@pytest.mark.parametrize("attempt", range(5))
def test_to_the_group_as_soon_as_the_program_begins(trimtab: str, tmp_path: Path, attempt: int) -> None:
    source = tmp_path / "sends.c"
    source.write_text(SENDS)
    # Nothing is loaded before its first instruction.
    subprocess.run(["gcc", "-static", str(source), "-o", str(tmp_path / "sends")], check=True)
    command = [trimtab, "run", "-q", "-o", str(tmp_path / "run"), "--", str(tmp_path / "sends")]
    completed = subprocess.run(command, capture_output=True, text=True, start_new_session=True, timeout=60)
    assert (completed.returncode, completed.stdout) == (0, "1\n"), completed.stderr


def test_an_interrupted_program_ends_as_it_would_alone(trimtab: str, tmp_path: Path) -> None:
    process = subprocess.Popen(
        [trimtab, "run", "-q", "-o", str(tmp_path / "r"), "--", "sh", "-c", "echo ready; exec sleep 100"],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None and process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == -signal.SIGINT


def test_what_is_ignored_stays_ignored(trimtab: str, program: Path, tmp_path: Path) -> None:
    """As a shell without job control starts what it puts into the background."""
    command = f"trap '' INT QUIT; exec {trimtab} run -q -o {tmp_path}/r -- sh -c 'echo ready; read x; exit 5'"
    process = subprocess.Popen(
        ["sh", "-c", command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None and process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    os.killpg(process.pid, signal.SIGQUIT)
    assert process.communicate("x\n", timeout=60)[0] == ""
    assert process.returncode == 5


def test_the_witness_tells_each_signal_apart_and_ends() -> None:
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.setsid()
            for number in (signal.SIGINT, signal.SIGUSR1):
                signal.signal(number, lambda *_: None)
            witness = GroupWitness()
            os.kill(os.getpid(), signal.SIGINT)
            answers = [witness.has_received(signal.SIGINT)]
            os.killpg(0, signal.SIGINT)
            answers += [witness.has_received(signal.SIGINT), witness.has_received(signal.SIGINT)]
            os.killpg(0, signal.SIGUSR1)
            answers += [witness.has_received(signal.SIGUSR1)]
            witness.close()
            os.write(writer, repr(answers).encode())
            code = 0
        finally:
            os._exit(code)
    os.close(writer)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert os.read(reader, 100) == b"[False, True, False, True]"
    os.close(reader)
