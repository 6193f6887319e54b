"""trimtab top on programs that run: in a terminal, into a pipe, as JSON; and knobs that are turned by hand."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator
from fcntl import ioctl
from pathlib import Path
from termios import TIOCSWINSZ
from typing import Any

import jsonschema
import pytest

SOURCE = (Path(__file__).parent / "watched_program.c").read_text()
SCHEMA = json.loads((Path(__file__).parents[2] / "docs/reference/top.schema.json").read_text())
# Each program ends by itself if the machine is too slow for a test.
LONGEST_S = 100
Compiled = Callable[..., Path]


class Program:
    """A program under trimtab run that goes on, until it is ended."""

    def __init__(self, trimtab: str, directory: Path, options: tuple[str, ...], *program: str | Path) -> None:
        self._trimtab, self.directory = trimtab, directory
        command = [trimtab, "run", "-q", "-o", str(directory), *options, "--", *map(str, program)]
        environment = {**os.environ, "OMP_NUM_THREADS": "4", "OMP_WAIT_POLICY": "passive"}
        self.launcher = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            env=environment,
        )

    def top(self, *arguments: str, code: int = 0) -> str:
        """What the command prints about it; of code 2 its messages."""
        command = [self._trimtab, "top", str(self.directory), "--findings", "0", *arguments]
        completed = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        assert completed.returncode == code, completed
        return completed.stderr if code else completed.stdout

    def look_when(self, is_enough: Callable[[dict[str, Any]], Any]) -> dict[str, Any]:
        """The first look that is enough."""
        command = [
            self._trimtab,
            "top",
            str(self.directory),
            "--json",
            "--findings",
            "0",
            "--interval",
            "0.3",
        ]
        self.wait_until_recorded()
        deadline = time.monotonic() + 240
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as top:
            assert top.stdout is not None
            try:
                for line in top.stdout:
                    look: dict[str, Any] = json.loads(line)
                    jsonschema.validate(look, SCHEMA)
                    if is_enough(look):
                        return look
                    assert time.monotonic() < deadline, f"not within 240 s; the last look: {line[:4000]}"
            finally:
                top.kill()
        raise AssertionError("the program ended before that")

    def wait_until_recorded(self) -> None:
        """Until a lane of it has its files."""
        deadline = time.monotonic() + 60
        while not list(self.directory.glob("**/lane-0000.profile")):
            assert time.monotonic() < deadline and self.launcher.poll() is None
            time.sleep(0.02)

    def pid(self) -> int:
        """Of the program itself."""
        (folder,) = {path.parent for path in self.directory.glob("**/lane-0000.profile")}
        return int(folder.name.rsplit("-", 2)[-2])

    def answer(self) -> str:
        """What it printed, when it has ended by itself."""
        out, err = self.launcher.communicate(timeout=2 * LONGEST_S)
        assert self.launcher.returncode == 0, err
        return out

    def decisions(self) -> list[tuple[str, str, str, str]]:
        """Knob, from, to and reason of what the user has done, as the report has it."""
        command = [self._trimtab, "report", str(self.directory), "--json"]
        report = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        return [
            (change["knob"], change["from"], change["to"], decision["reason"])
            for decision in report["decisions"]
            if decision["policy"] == "by hand"
            for change in decision["changes"]
        ]


@pytest.fixture
def start(trimtab: str, tmp_path: Path) -> Iterator[Callable[..., Program]]:
    programs: list[Program] = []

    def go(*program: str | Path, options: tuple[str, ...] = ()) -> Program:
        programs.append(Program(trimtab, tmp_path / f"run-{len(programs)}", options, *program))
        return programs[-1]

    yield go
    for program in programs:
        if program.launcher.poll() is None:
            os.killpg(program.launcher.pid, signal.SIGKILL)
        program.launcher.communicate()


def has_shares(look: dict[str, Any]) -> bool:
    return bool(look["lanes"]) and all(lane["shares"] for lane in look["lanes"])


@pytest.mark.parametrize("compiler", ["gcc", "clang-19"])
def test_knobs_of_openmp_are_turned_and_the_answer_stays(
    start: Callable[..., Program], compiled: Compiled, compiler: str
) -> None:
    program = start(compiled(SOURCE, compiler), "uneven", "40", options=("--frozen", "--threads", "regions"))

    def is_known(look: dict[str, Any]) -> bool:
        return {"threads", "schedule"} <= {knob["name"].rpartition("/")[2] for knob in look["knobs"]}

    look = program.look_when(is_known)
    names = {knob["name"].rpartition("/")[2]: knob["name"] for knob in look["knobs"]}
    assert program.top("--set", f"{names['threads']}=1") == f"{names['threads']}: 4 -> 1, set by hand\n"
    assert program.top("--set", f"{names['schedule']}=static").endswith(
        ": as-written -> static, set by hand\n"
    )
    assert "expected one of 1, 2, 4" in program.top("--set", f"{names['threads']}=3", code=2)
    assert f"{names['threads']} = 1 (by hand): 1 2 4" in program.top("--list-knobs")
    assert "undone" in program.top("--undo", names["schedule"])
    assert program.answer() == "right, teams of 1 to 4\n"
    assert program.decisions() == [
        ("threads", "4", "1", "set by hand"),
        ("schedule", "as-written", "static", "set by hand"),
        ("schedule", "static", "as-written", "undone by hand"),
    ]


def test_the_cap_of_a_task_runtime_is_turned(
    start: Callable[..., Program], workload: Callable[[str], Path]
) -> None:
    ring = ["--points", "100000", "--partition", "1000", "--steps", "90000", "--no-check"]
    options = ["--trimtab:workers=4", "--trimtab:tune=workers"]
    alone = subprocess.run([workload("heat_ring"), *ring], capture_output=True, text=True, check=True).stdout
    (answer,) = re.findall(r"^answer=.*", alone, re.MULTILINE)
    program = start(workload("heat_ring"), *ring, *options, options=("--frozen",))
    program.look_when(lambda look: look["knobs"])
    assert program.top("--set", "runtime 1/workers=1") == "runtime 1/workers: 4 -> 1, set by hand\n"
    look = program.look_when(lambda look: sum(lane["state"] == "capped" for lane in look["lanes"]) == 3)
    assert [knob["value"] for knob in look["knobs"]] == ["1"]
    assert program.top("--undo", "workers") == "runtime 1/workers: undone\n"
    assert answer in program.answer().splitlines()
    assert program.decisions() == [
        ("workers", "4", "1", "set by hand"),
        ("workers", "1", "4", "undone by hand"),
    ]


def test_knobs_of_messages_are_turned_in_every_locality(
    start: Callable[..., Program], workload: Callable[[str], Path], trimtab: str
) -> None:
    job = [trimtab, "launch", "-n", "2", "--transport", "shm", "--", workload("job_heat")]
    endless = ["--points", "2000", "--steps", "1000000000", "--no-check"]
    program = start("env", "TRIMTAB_PARCEL_TUNE=1", *job, *endless)

    def in_both(look: dict[str, Any]) -> list[str]:
        # A busy machine lets parcels pile up, so that a locality may offer the knobs of several kinds of traffic.
        names = Counter(knob["name"] for knob in look["knobs"] if knob["name"].endswith("/under-way"))
        return [name for name, count in names.items() if count == 2]

    name = in_both(program.look_when(in_both))[0]
    answers = program.top("--set", f"{name}=16").splitlines()
    assert len(answers) == 2 and all(line.endswith(" -> 16, set by hand") for line in answers), answers
    assert program.top("--list-knobs").count(f"{name} = 16 (by hand)") == 2
    assert program.top("--undo", name).splitlines() == [f"{name}: undone"] * 2
    assert "expected one of" in program.top("--set", f"{name}=3", code=2)


def test_a_convoy_is_seen_as_waiting_for_a_lock(start: Callable[..., Program], compiled: Compiled) -> None:
    program = start(compiled(SOURCE), "convoy", str(LONGEST_S))

    def is_convoy(look: dict[str, Any]) -> bool:
        is_waiting = has_shares(look) and sum(lane["shares"]["lock"] > 0.2 for lane in look["lanes"]) >= 2
        return is_waiting and any(lane["state"] == "lock" and lane["waits_for"] for lane in look["lanes"])

    look = program.look_when(is_convoy)
    assert {subject["kind"] for subject in look["subjects"]} >= {"region", "lock"}


def test_a_program_without_steering_says_what_to_do(
    start: Callable[..., Program], compiled: Compiled
) -> None:
    program = start(compiled(SOURCE), "uneven", str(LONGEST_S), options=("--tune=off",))
    look = program.look_when(has_shares)
    assert look["knobs"] == [] and look["processes"][0]["steering"] is False
    assert "trimtab run --frozen" in program.top("--set", "anything/threads=1", code=2)
    assert "trimtab run --frozen" in program.top("--list-knobs")


def test_lines_go_into_a_pipe_until_the_program_is_killed(
    start: Callable[..., Program], compiled: Compiled
) -> None:
    program = start(compiled(SOURCE), "uneven", str(LONGEST_S))
    program.look_when(has_shares)
    command = [program._trimtab, "top", str(program.pid()), "--interval", "0.2", "--findings", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as top:
        assert top.stdout is not None
        for line in top.stdout:
            if " lane 3 " in line:
                os.kill(program.pid(), signal.SIGKILL)
                break
        rest = top.stdout.read()
    assert top.returncode == 0
    assert re.search(rf"the run is over: .*\({program.pid()}\) killed", rest.splitlines()[-1])


def test_once_ends_and_a_closed_pipe_is_no_error(start: Callable[..., Program], compiled: Compiled) -> None:
    program = start(compiled(SOURCE), "uneven", str(LONGEST_S))
    program.look_when(has_shares)
    assert "busy" in program.top("--once", "--interval", "0.3", "--filter", "lane")
    command = [
        program._trimtab,
        "top",
        str(program.directory),
        "--json",
        "--interval",
        "0.1",
        "--findings",
        "0",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as top:
        assert top.stdout is not None and top.stderr is not None
        top.stdout.readline()
        top.stdout.close()
        assert top.stderr.read() == b""
    assert top.returncode == 0


def test_a_job_is_shown_with_all_its_localities(
    start: Callable[..., Program], trimtab: str, workload: Callable[[str], Path]
) -> None:
    job = [trimtab, "launch", "-n", "2", "--", workload("job_heat"), "--steps", "20000"]
    program = start(*job)
    look = program.look_when(lambda look: {0, 1} <= {process["rank"] for process in look["processes"]})
    ranks = {process["id"]: process["rank"] for process in look["processes"]}
    assert {0, 1} <= {ranks[lane["process"]] for lane in look["lanes"]}


@pytest.mark.parametrize("what", ["999999999", "missing"])
def test_what_is_no_run_is_refused(trimtab: str, what: str, tmp_path: Path) -> None:
    completed = subprocess.run(
        [trimtab, "top", what], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert completed.returncode == 2 and completed.stderr.startswith("trimtab: ")
    assert len(completed.stderr.splitlines()) == 1


def test_a_run_that_has_ended_is_refused(start: Callable[..., Program], compiled: Compiled) -> None:
    program = start(compiled(SOURCE), "uneven", "0.1")
    program.answer()
    assert "no process of it runs here" in program.top("--json", code=2)


class Screen:
    """trimtab top in a terminal of its own."""

    def __init__(self, trimtab: str, what: str, columns: int, rows: int) -> None:
        self.pid, self._terminal = pty.fork()
        if self.pid == 0:
            os.environ.update(TERM="xterm", COLUMNS=str(columns), LINES=str(rows))
            # The terminal has its size before the command asks for it.
            ioctl(0, TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
            os.execv(trimtab, [trimtab, "top", what, "--interval", "0.3", "--findings", "0"])
        self.seen = ""

    def type(self, keys: str) -> None:
        os.write(self._terminal, keys.encode())

    def expect(self, pattern: str, seconds: float = 60) -> None:
        """Wait for what matches in what comes from here on."""
        deadline = time.monotonic() + seconds
        while not (match := re.search(pattern, self.seen)):
            assert time.monotonic() < deadline, f"no {pattern!r} in {self.seen[-3000:]!r}"
            self._read()
        self.seen = self.seen[match.end() :]

    def _read(self) -> bool:
        if select.select([self._terminal], [], [], 0.1)[0]:
            try:
                read = os.read(self._terminal, 65536)
            except OSError:
                return False
            self.seen += read.decode(errors="replace")
            return bool(read)
        return True

    def end(self) -> int:
        """Its code, when it has ended by itself; `seen` is the rest."""
        deadline = time.monotonic() + 60
        while self._read():
            assert time.monotonic() < deadline
        _, status = os.waitpid(self.pid, 0)
        os.close(self._terminal)
        return os.waitstatus_to_exitcode(status)


@pytest.mark.parametrize(("columns", "rows"), [(80, 24), (160, 50)])
def test_the_screen_shows_and_obeys(
    start: Callable[..., Program], compiled: Compiled, columns: int, rows: int
) -> None:
    program = start(compiled(SOURCE), "uneven", str(LONGEST_S), options=("--frozen", "--threads", "regions"))
    program.look_when(lambda look: any(knob["name"].endswith("/threads") for knob in look["knobs"]))
    screen = Screen(program._trimtab, str(program.pid()), columns, rows)
    screen.expect(r"share of the interval")
    screen.expect(r"#+")
    screen.type("s")
    screen.expect("by busy")
    screen.type("p")
    screen.expect("paused")
    screen.type("p")
    screen.type("h")
    screen.expect("next order of lanes")
    screen.type("h")
    screen.type("/nothing like this\r")
    screen.expect("with 'nothing like this'")
    screen.type("/\r")
    screen.type("e/threads=2\r")
    screen.expect(r"threads: 4 -> 2, set by hand")
    screen.type("u/threads\r")
    screen.expect("undone")
    screen.type("q")
    assert screen.end() == 0
    assert "\x1b[?1049l" in screen.seen, "the screen from before is back"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_the_screen_and_brings_back_the_one_before(
    start: Callable[..., Program], compiled: Compiled, number: int
) -> None:
    program = start(compiled(SOURCE), "uneven", str(LONGEST_S))
    program.look_when(has_shares)
    screen = Screen(program._trimtab, str(program.pid()), 100, 30)
    screen.expect(r"share of the interval")
    os.kill(screen.pid, number)
    assert screen.end() == 0
    assert "\x1b[?1049l" in screen.seen and "Traceback" not in screen.seen


def test_lines_in_the_background_of_a_script_end_at_an_interrupt(
    start: Callable[..., Program], compiled: Compiled
) -> None:
    """Shells start such programs with SIGINT ignored."""
    program = start(compiled(SOURCE), "uneven", str(LONGEST_S))
    program.look_when(has_shares)
    script = 'trap "" INT; exec "$0" top "$1" --json --interval 0.1 --findings 0'
    with subprocess.Popen(
        ["bash", "-c", script, program._trimtab, program.directory],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as top:
        assert top.stdout is not None
        top.stdout.readline()
        top.send_signal(signal.SIGINT)
        try:
            _, errors = top.communicate(timeout=60)
        finally:
            top.kill()
    assert top.returncode == 0 and errors == b""


def test_the_screen_ends_with_the_program(start: Callable[..., Program], compiled: Compiled) -> None:
    program = start(compiled(SOURCE), "uneven", str(LONGEST_S))
    program.look_when(has_shares)
    screen = Screen(program._trimtab, str(program.directory), 80, 24)
    screen.expect(r"share of the interval")
    os.kill(program.pid(), signal.SIGKILL)
    assert screen.end() == 0
    assert "the run is over" in screen.seen and "killed" in screen.seen
