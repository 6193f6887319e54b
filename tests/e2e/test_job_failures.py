"""What a job does when something fails: a clear message and the end of all within seconds, and nothing is left behind."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import finished
from running_jobs import RunningJob, descendants_of, has_joined, name_of, shared_files_of, wait_until_over

Workload = Callable[[str], Path]

SIZE = 3
HEAT = ["--points", "2000", "--steps", "30"]
ENDLESS = ["--points", "2000", "--steps", "1000000000", "--no-check"]
TRANSPORTS = ("shm", "tcp")
# Less than a run or the rings of a job need.
_SMALL = "200k"


@pytest.fixture(params=TRANSPORTS)
def transport(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def started(trimtab: str, transport: str, *program: str | Path) -> RunningJob:
    return RunningJob(
        [trimtab, "launch", "-n", str(SIZE), "--transport", transport, "--", *map(str, program)]
    )


def named(job: RunningJob, name: str, count: int) -> list[int]:
    """Processes of that name, as soon as there are so many."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        found = [pid for pid in descendants_of(job.launcher.pid) if name_of(pid) == name]
        if len(found) == count:
            return found
        time.sleep(0.01)
    raise AssertionError(f"expected {count} processes {name}")


@pytest.mark.parametrize("victim", range(SIZE))
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV])
def test_a_locality_that_dies_before_it_joins(
    trimtab: str, workload: Workload, tmp_path: Path, transport: str, victim: int, number: signal.Signals
) -> None:
    script = tmp_path / "waits.sh"
    script.write_text(f'[ "$TRIMTAB_JOB_RANK" = {victim} ] && exec sleep 600\nexec "$@"\n')
    script.chmod(0o755)
    job = started(trimtab, transport, script, workload("job_heat"), *HEAT)
    (dying,) = named(job, "sleep", 1)
    named(job, "job_heat", SIZE - 1)
    everything = list(descendants_of(job.launcher.pid))
    os.kill(dying, number)
    status, messages = job.end()
    assert f"trimtab: locality {victim} (process {dying}) was ended by {number.name}\n" in messages
    assert status == 128 + number
    wait_until_over(everything)


@pytest.mark.parametrize("victims", [(0, 1), (1, 2), (0, 1, 2)])
def test_several_that_are_killed_at_once(
    trimtab: str, workload: Workload, transport: str, victims: tuple[int, ...]
) -> None:
    job = started(trimtab, transport, workload("job_heat"), *ENDLESS)
    pids = job.wait_for(SIZE, "job_heat", has_joined)
    files = shared_files_of(pids)
    everything = list(descendants_of(job.launcher.pid))
    os.kill(pids[victims[0]], signal.SIGKILL)
    for victim in victims[1:]:
        # It may have seen the end of the first one already.
        with contextlib.suppress(ProcessLookupError):
            os.kill(pids[victim], signal.SIGKILL)
    status, messages = job.end()
    assert status == 128 + signal.SIGKILL
    assert any(
        f"trimtab: locality {victim} (process {pids[victim]}) was ended" in messages for victim in victims
    )
    wait_until_over(everything)
    assert not any(path.exists() for path in files)


def test_one_that_is_stopped_and_then_killed(trimtab: str, workload: Workload, transport: str) -> None:
    job = started(trimtab, transport, workload("job_heat"), *ENDLESS)
    pids = job.wait_for(SIZE, "job_heat", has_joined)
    os.kill(pids[1], signal.SIGSTOP)
    time.sleep(0.2)
    os.kill(pids[1], signal.SIGKILL)
    status, messages = job.end()
    assert (
        status == 128 + signal.SIGKILL and f"locality 1 (process {pids[1]}) was ended by SIGKILL" in messages
    )
    wait_until_over(pids)


def test_one_that_is_killed_at_any_time(trimtab: str, workload: Workload, transport: str) -> None:
    """From its start to its end: whatever it was doing."""
    chance = random.Random(1)
    killed = 0
    for _ in range(12):
        job = started(trimtab, transport, workload("job_heat"), "--points", "2000", "--steps", "2000")
        everything: set[int] = set()
        while job.launcher.poll() is None and len(everything) < SIZE:
            everything = set(descendants_of(job.launcher.pid))
        time.sleep(chance.random() * 0.3)
        everything |= set(descendants_of(job.launcher.pid))
        victims = [pid for pid in everything if name_of(pid) == "job_heat"]
        if victims:
            os.kill(chance.choice(victims), signal.SIGKILL)
        status, messages = job.end() if victims else (job.launcher.wait(60), "")
        killed += status == 128 + signal.SIGKILL
        assert status in (0, 128 + signal.SIGKILL), messages
        assert ("was ended by SIGKILL" in messages) == (status != 0)
        wait_until_over(list(everything))
    assert killed > 0


@pytest.mark.parametrize("order", ["run launch", "launch run"])
def test_a_full_disk_of_the_run_does_not_stop_the_job(
    trimtab: str, workload: Workload, small_file_system: Callable[[str], Path], transport: str, order: str
) -> None:
    record = [trimtab, "run", "-q", "-o", str(small_file_system(_SMALL) / "run"), "--"]
    launch = [trimtab, "launch", "-n", "3", "--transport", transport, "--"]
    command = [*record, *launch] if order == "run launch" else [*launch, *record]
    completed = finished([*command, str(workload("job_heat")), *HEAT], timeout=120)
    assert completed.returncode == 0, completed.stderr
    assert "check=right\n" in completed.stdout


def without_launcher(program: Path, size: int, **variables: str) -> list[tuple[int, str]]:
    """Localities that were started by hand: exit status and messages of each."""
    processes = [
        subprocess.Popen(
            [program, *HEAT],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={
                **os.environ,
                "TRIMTAB_JOB_RANK": str(rank),
                "TRIMTAB_JOB_SIZE": str(size),
                "TRIMTAB_JOB_SECRET": "of this test",
                "TRIMTAB_JOB_PATIENCE": "3",
                **{f"TRIMTAB_JOB_{name}": value for name, value in variables.items()},
            },
        )
        for rank in range(size)
    ]
    ends = [process.communicate(timeout=60) for process in processes]
    return [(process.returncode, err) for process, (_, err) in zip(processes, ends, strict=True)]


def test_a_file_system_that_is_too_small_for_messages(
    workload: Workload, small_file_system: Callable[[str], Path]
) -> None:
    folder = small_file_system(_SMALL)
    ends = without_launcher(workload("job_heat"), 2, PATH=str(folder / "messages"))
    assert [status for status, _ in ends] == [2, 2]
    assert all("cannot join the job" in messages for _, messages in ends), ends
    assert any(str(folder) in messages and "there is room for" in messages for _, messages in ends), ends


def test_a_port_in_use(workload: Workload) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        ends = without_launcher(workload("job_heat"), 2, MEETING=f"127.0.0.1:{port}")
    assert ends[0][0] == 2
    assert f"cannot listen at 127.0.0.1:{port}: Address already in use" in ends[0][1]
    assert ends[1][0] == 2 and "cannot join the job" in ends[1][1]
