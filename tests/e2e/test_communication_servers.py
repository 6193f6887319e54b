"""Communication servers: what is measured of a machine's network, and jobs that send through them."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import finished

Workload = Callable[[str], Path]

# Answers are checked. In all-to-all the rows of messages are long enough for servers.
PROGRAMS = {
    "job_all_to_all": ["--words", "500", "--rounds", "10"],
    "job_fft": ["--side", "64", "--rows-a-parcel", "1"],
    "job_multigrid": ["--levels", "5", "--cycles", "3"],
}


def launched(
    trimtab: str, workload: Workload, name: str, transport: str, **variables: str
) -> subprocess.CompletedProcess[str]:
    command = [trimtab, "launch", "-n", "3", "--transport", transport, "--", str(workload(name))]
    return finished([*command, *PROGRAMS[name]], timeout=120, env={**os.environ, **variables})


def test_what_was_measured_is_shown_and_kept_for_later_jobs(trimtab: str, tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    environment = {**os.environ, "TRIMTAB_NETWORK_FOLDER": str(folder)}
    shown = finished([trimtab, "doctor", "--network", "--json"], env=environment)
    assert shown.returncode == 0, shown.stderr
    parts = json.loads(shown.stdout)
    assert parts["problem"] == ""
    assert [one["transport"] for one in parts["network"]] == ["shm", "tcp"]
    for one in parts["network"]:
        assert one["choices"][0]["free_cpus"] == one["choices"][0]["servers"] == 0
        assert {point["servers"] for point in one["points"]} >= {0, 1}
        assert all(point["messages_per_s"] > 0 for point in one["points"])
    files = sorted(folder.iterdir())
    assert [file.name.rsplit("-", 1)[1] for file in files] == ["shm.txt", "tcp.txt"]
    assert files[0].read_text().startswith("trimtab saturation curve 1\ntransport: shared memory\n")


def test_a_folder_that_cannot_be_made_is_named(trimtab: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    environment = {**os.environ, "TRIMTAB_NETWORK_FOLDER": str(tmp_path / "file" / "below")}
    shown = finished([trimtab, "doctor", "--network"], env=environment)
    assert (shown.returncode, shown.stdout) == (1, "")
    assert str(tmp_path / "file" / "below") in shown.stderr


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("transport", ["shm", "tcp"])
@pytest.mark.parametrize("servers", ["1", "3"])
def test_answers_are_the_same_through_servers(
    trimtab: str, workload: Workload, name: str, transport: str, servers: str
) -> None:
    completed = launched(trimtab, workload, name, transport, TRIMTAB_COMMUNICATION_SERVERS=servers)
    assert (completed.returncode, completed.stderr) == (0, "")
    assert "check=right" in completed.stdout.splitlines()


def test_the_report_of_a_launched_job_has_its_localities_and_servers(
    trimtab: str, workload: Workload, tmp_path: Path
) -> None:
    """And not the launcher, which was observed as well."""
    directory = tmp_path / "run"
    launched = [
        trimtab,
        "launch",
        "-n",
        "2",
        "--",
        str(workload("job_all_to_all")),
        *PROGRAMS["job_all_to_all"],
    ]
    environment = {**os.environ, "TRIMTAB_COMMUNICATION_SERVERS": "1"}
    watched = finished(
        [trimtab, "run", "-q", "-o", str(directory), "--", *launched], env=environment, timeout=120
    )
    assert watched.returncode == 0, watched.stderr
    report = json.loads(finished([trimtab, "report", str(directory), "--json"]).stdout)
    assert sorted(process["rank"] for process in report["processes"]) == [0, 1]
    assert [locality["locality"] for locality in report["network"]["servers"]] == [0, 1]


def test_a_number_that_is_not_allowed_is_refused(trimtab: str, workload: Workload) -> None:
    completed = launched(trimtab, workload, "job_all_to_all", "shm", TRIMTAB_COMMUNICATION_SERVERS="65")
    assert completed.returncode != 0
    assert "TRIMTAB_COMMUNICATION_SERVERS: expected" in completed.stderr
