"""The command on event logs of Spark."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import Run
from reports import checked

LOGS = Path(__file__).parents[1] / "spark" / "logs"


def trimtab(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["trimtab", *map(str, arguments)], capture_output=True, text=True)


def test_text_json_and_page(tmp_path: Path) -> None:
    text = trimtab("spark", LOGS / "straggler.gz")
    assert text.returncode == 0, text.stderr
    assert "straggler at stage 1" in text.stdout
    assert text.stdout.index("replay of the unchanged schedule") < text.stdout.index("what if")
    report = checked(json.loads(trimtab("spark", LOGS / "straggler.gz", "--json").stdout))
    assert [stage["id"] for stage in report["stages"]] == [0, 1]
    page = tmp_path / "page.html"
    assert trimtab("spark", LOGS / "straggler.gz", "--html", page).returncode == 0
    assert "stage 1: sum" in page.read_text()


def test_a_folder_of_logs(tmp_path: Path) -> None:
    for name in ("sql.gz", "skew.gz", "rolling"):
        os.symlink(LOGS / name, tmp_path / name)
    printed = json.loads(trimtab("spark", tmp_path, "--json").stdout)
    assert [checked(report)["program"] for report in printed] == ["rolling", "skew", "sql"]
    refused = trimtab("spark", tmp_path, "--html", tmp_path / "page.html")
    assert refused.returncode == 2 and "3 event logs" in refused.stderr


def test_logs_are_compared() -> None:
    result = trimtab("compare", LOGS / "no-straggler.gz", LOGS / "straggler.gz", "--json")
    compared = json.loads(result.stdout)
    assert compared["total"]["barrier_wait"]["difference"] > 0
    regions = {region["name"]: region["wall_s"]["difference"] for region in compared["regions"]}
    assert regions["stage 1: sum at make_logs.py:43"] > 2


def test_a_run_with_several_applications_says_which_one_it_reports(run: Run, tmp_path: Path) -> None:
    """Stages and executors of all have the same numbers."""
    observed = run("/bin/true")
    for number, name in enumerate(("sql.gz", "skew.gz")):
        folder = observed.directory / "spark-events"
        folder.mkdir(exist_ok=True)
        (folder / name).write_bytes((LOGS / name).read_bytes())
        missing = [row for row in observed.report()["unavailable"] if "applications" in row["what"]]
        assert ["2 event logs" in row["why"] and "skew.gz" in row["why"] for row in missing] == [
            True
        ] * number


@pytest.mark.parametrize("to", ["chrome", "perfetto", "csv"])
def test_a_log_is_exported(to: str, tmp_path: Path) -> None:
    result = trimtab("export", LOGS / "group-by.gz", "--to", to, "-o", tmp_path / "out")
    assert result.returncode == 0, result.stderr
    if to == "chrome":
        events = json.loads((tmp_path / "out").read_text())["traceEvents"]
        assert sum(event["ph"] == "B" for event in events) == 14
        # An arrow to each task of the second stage.
        assert sum(event["ph"] == "s" for event in events) == 6


@pytest.mark.parametrize("arguments", [["spark"], ["compare", "B"], ["export", "--to", "chrome"]])
def test_what_is_no_log_is_refused_in_one_line(arguments: list[str], tmp_path: Path) -> None:
    file = tmp_path / "log"
    file.write_text("nothing\n")
    result = trimtab(*(str(file) if word == "B" else word for word in arguments), file)
    assert result.returncode == 2
    assert result.stderr.startswith("trimtab: ") and len(result.stderr.splitlines()) == 1


@pytest.mark.alone
@pytest.mark.skipif(
    "TRIMTAB_SPARK" not in os.environ, reason="set TRIMTAB_SPARK to a Python that has pyspark"
)
def test_an_injected_straggler_run_for_real(tmp_path: Path) -> None:
    """Takes a minute: the program with the sleep, and without."""
    script = (LOGS.parent / "make_logs.py").read_text()
    (tmp_path / "make_logs.py").write_text(script)
    command = [os.environ["TRIMTAB_SPARK"], "make_logs.py", "straggler", "no-straggler"]
    subprocess.run(command, cwd=tmp_path, check=True, timeout=600)
    sys.path.insert(0, str(Path(__file__).parents[1] / "python"))
    import test_spark as units

    units.LOGS = tmp_path / "logs"
    units.test_an_injected_straggler_is_predicted_within_10_percent()
