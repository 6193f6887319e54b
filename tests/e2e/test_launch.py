"""`trimtab launch`: jobs of several processes on this host, over shared memory, TCP and MPI; and what happens when one fails."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import finished
from running_jobs import (
    LONGEST_END_S,
    RunningJob,
    descendants_of,
    has_joined,
    shared_files_of,
    wait_until_over,
)

Workload = Callable[[str], Path]

# Small, but several messages for each pair of localities.
SMALL = {
    "job_heat": ["--points", "2000", "--steps", "30"],
    "job_histogram": ["--updates", "20000", "--bins", "1000"],
    "job_tree": ["--roots", "50", "--depth", "9"],
    "job_cg": ["--size", "40", "--steps", "20"],
    "job_all_to_all": ["--words", "500", "--rounds", "10"],
    "job_fft": ["--side", "32", "--steps", "2", "--rows-a-parcel", "3"],
    "job_multigrid": ["--levels", "5", "--cycles", "3"],
    "job_toy": ["--parcels", "300", "--phases", "2", "--count", "16", "--wait", "200"],
    "job_mesh": ["--blocks", "12", "--points", "50", "--small-steps", "2", "--steps", "10"],
    "job_late": ["--numbers", "2000", "--severity", "3", "--steps", "20"],
    "job_rotation": ["--size", "6", "--iterations", "3", "--count", "8", "--wait", "200"],
}
# As long as nobody ends it.
ENDLESS = ["--points", "2000", "--steps", "1000000000", "--no-check"]
TRANSPORTS = ("shm", "tcp")


def launched(
    trimtab: str, size: int, *program: str | Path, options: tuple[str, ...] = (), **overrides: Any
) -> subprocess.CompletedProcess[str]:
    return finished(
        [trimtab, "launch", "-n", str(size), *options, "--", *map(str, program)], timeout=120, **overrides
    )


def values_of(completed: subprocess.CompletedProcess[str]) -> dict[str, str]:
    assert completed.returncode == 0, completed.stderr
    return dict(line.split("=", 1) for line in completed.stdout.splitlines())


@pytest.mark.parametrize("size", [1, 2, 4])
@pytest.mark.parametrize("transport", TRANSPORTS)
def test_answers_are_the_serial_ones_where_load_is_shared(
    trimtab: str, workload: Workload, size: int, transport: str
) -> None:
    program = [workload("job_mesh"), *SMALL["job_mesh"], "--placement", "balanced"]
    completed = launched(trimtab, size, *program, options=("--transport", transport))
    values = values_of(completed)
    assert (values["check"], values["localities"], completed.stderr) == ("right", str(size), "")


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("size", [1, 2, 3, 4])
@pytest.mark.parametrize("transport", TRANSPORTS)
def test_answers_are_the_serial_ones(
    trimtab: str, workload: Workload, name: str, size: int, transport: str
) -> None:
    completed = launched(trimtab, size, workload(name), *SMALL[name], options=("--transport", transport))
    values = values_of(completed)
    assert (values["check"], values["localities"], completed.stderr) == ("right", str(size), "")


@pytest.mark.parametrize("name", SMALL)
def test_answers_are_the_serial_ones_without_a_launcher(workload: Workload, name: str) -> None:
    values = values_of(finished([str(workload(name)), *SMALL[name]], timeout=60))
    assert (values["check"], values["localities"]) == ("right", "1")


# More ranks than CPUs give their CPUs away while they wait; and Open MPI runs as root.
FEW_CPUS_FOR_MPI = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "MPIR_CVAR_POLLS_BEFORE_YIELD": "1",
    "MPIR_CVAR_CH4_PROGRESS_THROTTLE": "true",
    "MPIR_CVAR_CH4_PROGRESS_THROTTLE_NO_PROGRESS_COUNT": "1",
}
MPIRUNS = [path for name in ("mpirun.openmpi", "mpirun.mpich") if (path := shutil.which(name))]


def of_mpi(mpirun: str, size: int) -> list[str]:
    """What comes before a program and its arguments."""
    options = ["--oversubscribe", "--bind-to", "none"] if "openmpi" in mpirun else []
    return [mpirun, *options, "-n", str(size)]


@pytest.mark.parametrize("mpirun", MPIRUNS)
@pytest.mark.parametrize("name", SMALL)
def test_answers_are_the_serial_ones_under_mpirun(workload: Workload, name: str, mpirun: str) -> None:
    command = [*of_mpi(mpirun, 2), str(workload(name)), *SMALL[name]]
    completed = finished(command, timeout=120, env={**os.environ, **FEW_CPUS_FOR_MPI})
    assert completed.returncode == 0, completed.stderr
    assert "localities=2\n" in completed.stdout and "check=right\n" in completed.stdout


@pytest.mark.parametrize("outstanding", ["1", "7", "1000"])
def test_all_blocks_arrive_with_any_number_outstanding(
    trimtab: str, workload: Workload, outstanding: str
) -> None:
    program = (workload("job_all_to_all"), *SMALL["job_all_to_all"], "--outstanding", outstanding)
    assert values_of(launched(trimtab, 3, *program))["check"] == "right"


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        (("job_fft", "--side", "48"), "--side: expected a power of 2, found '48'"),
        (("job_fft", "--side", "2"), "--side: expected at least one row for each locality, found '2'"),
        (("job_multigrid", "--levels", "1"), "--levels: expected at least one row for each locality"),
        (("job_all_to_all", "--outstanding", "0"), "--outstanding: expected a number from 1"),
    ],
)
def test_sizes_that_cannot_be_divided_are_refused(
    trimtab: str, workload: Workload, program: tuple[str, ...], expected: str
) -> None:
    name, *arguments = program
    completed = launched(trimtab, 3, workload(name), *arguments)
    assert completed.returncode != 0
    assert expected in completed.stderr


@pytest.mark.parametrize("setting", ["0", "1", "64"])
def test_the_user_decides_how_parcels_are_coalesced(trimtab: str, workload: Workload, setting: str) -> None:
    environment = {**os.environ, "TRIMTAB_PARCEL_COUNT": setting, "TRIMTAB_PARCEL_WAIT": "100"}
    program = (workload("job_histogram"), *SMALL["job_histogram"])
    assert values_of(launched(trimtab, 3, *program, env=environment))["check"] == "right"


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize(
    "extra", [["--dependent", "1"], ["--count", "4", "--count-factor", "8"], ["--count", "0"]]
)
def test_phases_have_figures_and_right_answers(
    trimtab: str, workload: Workload, transport: str, extra: list[str]
) -> None:
    program = (workload("job_toy"), "--parcels", "100", "--phases", "3", "--wait", "300", *extra)
    values = values_of(launched(trimtab, 2, *program, options=("--transport", transport)))
    assert values["check"] == "right"
    for prefix in ("", "phase1_", "phase2_", "phase3_"):
        assert float(values[f"{prefix}time_s"]) > 0
        assert float(values[f"{prefix}overhead"]) > 0
        assert float(values[f"{prefix}parcels_a_message"]) >= 1
    assert "phase4_time_s" not in values


@pytest.mark.parametrize("tune", ["0", "1"])
def test_tuning_of_messages_leaves_answers_as_they_are(trimtab: str, workload: Workload, tune: str) -> None:
    environment = {**os.environ, "TRIMTAB_PARCEL_TUNE": tune}
    for name in ("job_histogram", "job_toy"):
        assert (
            values_of(launched(trimtab, 2, workload(name), *SMALL[name], env=environment))["check"] == "right"
        )


def test_two_jobs_at_once_do_not_meet(trimtab: str, workload: Workload) -> None:
    for transport in TRANSPORTS:
        command = [trimtab, "launch", "-n", "2", "--transport", transport, "--", str(workload("job_cg"))]
        running = [
            subprocess.Popen([*command, *SMALL["job_cg"]], stdout=subprocess.PIPE, text=True)
            for _ in range(2)
        ]
        for job in running:
            out, _ = job.communicate(timeout=120)
            assert job.returncode == 0 and "localities=2\n" in out and "check=right\n" in out


def test_a_hundred_jobs_start_in_a_row(trimtab: str, workload: Workload) -> None:
    for number in range(100):
        options = ("--transport", TRANSPORTS[number % 2])
        completed = launched(
            trimtab, 3, workload("job_tree"), "--roots", "3", "--depth", "3", options=options
        )
        assert (values_of(completed)["check"], completed.stderr) == ("right", "")


def test_a_locality_that_comes_late_is_waited_for(trimtab: str, workload: Workload, tmp_path: Path) -> None:
    script = tmp_path / "late.sh"
    script.write_text('[ "$TRIMTAB_JOB_RANK" = 1 ] && sleep 1\nexec "$@"\n')
    script.chmod(0o755)
    for transport in TRANSPORTS:
        program = (script, workload("job_heat"), *SMALL["job_heat"])
        assert (
            values_of(launched(trimtab, 3, *program, options=("--transport", transport)))["check"] == "right"
        )


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("absent", [0, 1])
def test_who_ends_in_order_before_it_joins_ends_the_job(
    trimtab: str, workload: Workload, tmp_path: Path, transport: str, absent: int
) -> None:
    script = tmp_path / "absent.sh"
    script.write_text(f'[ "$TRIMTAB_JOB_RANK" = {absent} ] && exit 0\nexec "$@"\n')
    script.chmod(0o755)
    program = (script, workload("job_heat"), *SMALL["job_heat"])
    before = time.monotonic()
    completed = launched(trimtab, 3, *program, options=("--transport", transport))
    # TCP's locality 0 is the one that the others call: without it they end at once.
    message = f"trimtab: locality {absent} (process "
    assert message in completed.stderr or "cannot join the job" in completed.stderr, completed.stderr
    assert completed.returncode in (1, 2) and "check=" not in completed.stdout
    assert time.monotonic() - before < 60, "it must not wait until the patience of the others is over"


def test_localities_that_are_no_job_may_end_when_they_like(trimtab: str) -> None:
    script = '[ "$TRIMTAB_JOB_RANK" = 0 ] || sleep 2; echo "$TRIMTAB_JOB_RANK"'
    completed = launched(trimtab, 2, "sh", "-c", script)
    assert (completed.returncode, completed.stdout, completed.stderr) == (0, "0\n1\n", "")


def test_who_does_not_come_is_named(trimtab: str, workload: Workload, tmp_path: Path) -> None:
    script = tmp_path / "late.sh"
    script.write_text('[ "$TRIMTAB_JOB_RANK" = 1 ] && sleep 600\nexec "$@"\n')
    script.chmod(0o755)
    environment = {**os.environ, "TRIMTAB_JOB_PATIENCE": "1"}
    for transport in TRANSPORTS:
        program = (script, workload("job_heat"), *SMALL["job_heat"])
        completed = launched(trimtab, 3, *program, options=("--transport", transport), env=environment)
        assert completed.returncode == 2
        assert "cannot join the job" in completed.stderr and "locality 1" in completed.stderr


# What a process prints that was started as a locality.
SHOW = r"""
import os, sys
names = ("RANK", "SIZE", "LOCAL_SIZE", "TRANSPORT")
words = [os.environ["TRIMTAB_JOB_" + name] for name in names]
has_input = os.readlink("/proc/self/fd/0") != os.devnull
words += [str(len(os.environ["TRIMTAB_JOB_SECRET"])), sys.stdin.read().strip() if has_input else "-"]
os.write(1, (" ".join(words) + "\n").encode())
"""


def test_localities_are_numbered_and_only_the_first_reads(trimtab: str) -> None:
    completed = launched(trimtab, 3, sys.executable, "-c", SHOW, input="some words\n")
    assert (completed.returncode, completed.stderr) == (0, "")
    lines = ["0 3 3 shm 32 some words", "1 3 3 shm 32 -", "2 3 3 shm 32 -"]
    assert sorted(completed.stdout.splitlines()) == lines


def test_labels_name_the_locality_of_each_line(trimtab: str) -> None:
    script = 'echo "out $TRIMTAB_JOB_RANK"; printf "err $TRIMTAB_JOB_RANK" >&2'
    completed = launched(trimtab, 3, "sh", "-c", script, options=("--label",))
    assert sorted(completed.stdout.splitlines()) == ["[0] out 0", "[1] out 1", "[2] out 2"]
    assert sorted(completed.stderr.splitlines()) == ["[0] err 0", "[1] err 1", "[2] err 2"]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["true"], 2, "Missing option '-n'"),
        (["-n", "0", "true"], 2, "0 is not in the range 1<=x<="),
        (["-n", "2", "--transport", "mpi", "true"], 2, "'mpi' is not one of 'shm', 'tcp'"),
        (["-n", "2"], 2, "Missing argument"),
        (["-n", "2", "./no-such-program"], 127, "./no-such-program: no such program"),
        (["-n", "2", "/etc/passwd"], 126, "/etc/passwd: not an executable file"),
    ],
)
def test_wrong_usage_is_named(trimtab: str, arguments: list[str], code: int, message: str) -> None:
    completed = finished([trimtab, "launch", *arguments])
    assert (completed.returncode, completed.stdout) == (code, "")
    assert message in completed.stderr


def test_a_wrong_variable_is_named(trimtab: str, workload: Workload) -> None:
    environment = {**os.environ, "TRIMTAB_JOB_PATIENCE": "soon"}
    completed = launched(trimtab, 2, workload("job_heat"), env=environment)
    assert completed.returncode == 2
    expected = "TRIMTAB_JOB_PATIENCE: expected a number from 1 to 1000000, found 'soon'"
    assert expected in completed.stderr


def test_the_first_failure_is_the_exit_status(trimtab: str) -> None:
    script = 'trap "echo told; exit 0" TERM; [ "$TRIMTAB_JOB_RANK" != 1 ] || exit 7; sleep 600 & wait'
    began = time.monotonic()
    completed = launched(trimtab, 3, "sh", "-c", script)
    assert (completed.returncode, completed.stdout) == (7, "told\n" * 2)
    assert time.monotonic() - began < LONGEST_END_S + 5
    first, second = completed.stderr.splitlines()
    assert first.startswith("trimtab: locality 1 (process ") and first.endswith(" ended with exit status 7")
    assert second == "trimtab: not ended in time: 0, 2; sending SIGTERM"


def listening_sockets_of(pids: list[int]) -> set[str]:
    """Ports of TCP sockets that these processes listen at, from /proc."""
    inodes = set()
    for pid in pids:
        for descriptor in Path(f"/proc/{pid}/fd").iterdir():
            target = os.readlink(descriptor)
            if target.startswith("socket:["):
                inodes.add(target[8:-1])
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return {row[1] for row in rows if row[3] == "0A" and row[9] in inodes}


def listening_sockets() -> set[str]:
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return {row[1] for row in rows if row[3] == "0A"}


@pytest.fixture(params=TRANSPORTS)
def running_job(request: pytest.FixtureRequest, trimtab: str, workload: Workload) -> Iterator[RunningJob]:
    program = [str(workload("job_heat")), *ENDLESS]
    job = RunningJob([trimtab, "launch", "-n", "4", "--transport", request.param, "--", *program])
    yield job
    pids = [job.launcher.pid, *descendants_of(job.launcher.pid)]
    for pid in pids if job.launcher.poll() is None else []:
        os.kill(pid, signal.SIGKILL)
    job.launcher.communicate()


@pytest.mark.parametrize("victim", [0, 2])
def test_a_locality_that_is_killed_ends_the_job(running_job: RunningJob, victim: int) -> None:
    pids = running_job.wait_for(4, "job_heat", has_joined)
    files = shared_files_of(pids)
    os.kill(pids[victim], signal.SIGKILL)
    status, messages = running_job.end()
    assert status == 128 + signal.SIGKILL
    assert f"trimtab: locality {victim} (process {pids[victim]}) was ended by SIGKILL\n" in messages
    # The others have seen it themselves.
    assert messages.count(f"trimtab: locality {victim} (process {pids[victim]} on ") >= 1, messages
    assert "sending SIGTERM" not in messages
    wait_until_over(pids)
    assert not any(path.exists() for path in files)


def test_signals_reach_all_localities(running_job: RunningJob) -> None:
    pids = running_job.wait_for(4, "job_heat", has_joined)
    running_job.launcher.send_signal(signal.SIGTERM)
    status, messages = running_job.end()
    assert (status, messages.splitlines()[-1]) == (
        128 + signal.SIGTERM,
        "trimtab: the job was ended by SIGTERM",
    )
    wait_until_over(pids)


def test_a_killed_launcher_leaves_no_processes(running_job: RunningJob) -> None:
    pids = running_job.wait_for(4, "job_heat", has_joined)
    files = shared_files_of(pids)
    everything = list(descendants_of(running_job.launcher.pid))
    assert set(pids) < set(everything)
    running_job.launcher.kill()
    wait_until_over(everything)
    assert not any(path.exists() for path in files)


def test_a_killed_launcher_leaves_nothing_that_localities_have_started(trimtab: str) -> None:
    job = RunningJob([trimtab, "launch", "-n", "2", "--", "sh", "-c", "sleep 600; true"])
    job.wait_for(2, "sleep", lambda _: True)
    everything = list(descendants_of(job.launcher.pid))
    job.launcher.kill()
    wait_until_over(everything)
    job.launcher.communicate()


def test_what_a_failed_locality_has_started_ends_with_it(trimtab: str) -> None:
    script = '[ "$TRIMTAB_JOB_RANK" = 0 ] || exit 3; sleep 600; true'
    job = RunningJob([trimtab, "launch", "-n", "2", "--", "sh", "-c", f"sleep 700 & {script}"])
    try:
        # The pipe closes with the last process that has it.
        _, messages = job.launcher.communicate(timeout=60)
    finally:
        for pid in descendants_of(job.launcher.pid):
            os.kill(pid, signal.SIGKILL)
    assert job.launcher.returncode == 3
    assert "ended with exit status 3" in messages


@pytest.mark.parametrize("status", [1, 2])
def test_one_that_was_killed_is_named_although_another_one_failed_first(trimtab: str, status: int) -> None:
    """Its closed connections are seen before its end is: by one that has lost it (1) or cannot join without it (2)."""
    script = f'[ "$TRIMTAB_JOB_RANK" = 0 ] || exit {status}; sleep 0.2; kill -KILL $$'
    job = RunningJob([trimtab, "launch", "-n", "2", "--", "sh", "-c", script])
    ended, messages = job.end()
    assert ended == 128 + signal.SIGKILL
    assert "locality 0" in messages and "was ended by SIGKILL" in messages


def test_a_port_is_free_again_after_the_end(trimtab: str, workload: Workload) -> None:
    program = [str(workload("job_heat")), *ENDLESS]
    job = RunningJob([trimtab, "launch", "-n", "2", "--transport", "tcp", "--", *program])
    pids = job.wait_for(2, "job_heat", has_joined)
    ports = listening_sockets_of(pids)
    job.launcher.send_signal(signal.SIGTERM)
    job.end()
    assert not ports & listening_sockets()


def report_of(trimtab: str, directory: Path) -> dict[str, Any]:
    completed = finished([trimtab, "report", str(directory), "--json"])
    assert completed.returncode == 0, completed.stderr
    report: dict[str, Any] = json.loads(completed.stdout)
    return report


@pytest.mark.parametrize("order", ["run launch", "launch run"])
def test_a_report_covers_all_localities(trimtab: str, workload: Workload, tmp_path: Path, order: str) -> None:
    program = [str(workload("job_heat")), *SMALL["job_heat"]]
    directory = tmp_path / "run"
    record = [trimtab, "run", "-q", "-o", str(directory), "--"]
    launch = [trimtab, "launch", "-n", "3", "--"]
    command = [*record, *launch, *program] if order == "run launch" else [*launch, *record, *program]
    completed = finished(command, timeout=120)
    assert completed.returncode == 0, completed.stderr
    assert "check=right\n" in completed.stdout and completed.stderr == ""
    ranks = [process["rank"] for process in report_of(trimtab, directory)["processes"]]
    assert sorted(rank for rank in ranks if rank is not None) == [0, 1, 2]
