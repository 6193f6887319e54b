"""Settings of Spark: what is tried after what a log has shown, what the user has set, what is kept and used again."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest
from reports import typed
from trimtab.history import History
from trimtab.launcher.spark import SETTINGS_VARIABLE, is_of_user, settings_of
from trimtab.tuning.multi_run import Start
from trimtab.tuning.single_run import Tuning, entries_of_start, key_of, prepare
from trimtab.tuning.spark_starts import spark_starts
from trimtab.tuning.start_situation import Situation
from trimtab.tuning.start_sources import proposed_starts
from trimtab.tuning.tunables import with_variables

SPARK: dict[str, Any] = {
    "application": "a",
    "version": "4.2.0",
    "executors": 2,
    "slots": 4,
    "time": {"pending": 0.0},
    "replay_error": None,
    "replay_trusted": False,
    "groups": [],
}


def tried(
    *causes: str,
    users: Collection[str] = (),
    pending: float = 0.0,
    is_wide: bool = False,
    hosts: Collection[str] = ("node1", "node2"),
) -> list[dict[str, str]]:
    """The settings of each start."""
    findings = [
        {"cause": cause, "subject": None, "evidence": "seen", "action": "", "gain_s": 1.0} for cause in causes
    ]
    report = typed({"findings": findings, "hosts": hosts, "spark": {**SPARK, "time": {"pending": pending}}})
    command = ["spark-submit", *(word for name in users for word in ("--conf", f"{name}=1")), "job.py"]
    starts = spark_starts(Situation(report, {}, 4, is_wide=is_wide, command=tuple(command)))
    assert all(start.reason for start in starts)
    return [settings_of(start.environment[SETTINGS_VARIABLE]) for start in starts]


def partitions(count: int) -> dict[str, str]:
    return {"spark.sql.shuffle.partitions": str(count), "spark.default.parallelism": str(count)}


def test_what_is_tried_follows_from_what_was_seen() -> None:
    assert tried() == []
    assert tried("driver busy") == []
    assert tried("too many small tasks") == [partitions(12), partitions(4)]
    assert tried("too few partitions", "too many small tasks") == [partitions(12), partitions(4)]
    assert tried("straggler") == [{"spark.speculation": "true"}]
    assert tried("straggler", hosts=["node1"]) == [], "Spark copies a task to another host only"
    assert tried("wide shuffle")[0] == {"spark.shuffle.sort.bypassMergeThreshold": "1"}
    assert tried(pending=0.2) == [{"spark.locality.wait": "0s"}]


def test_wide_tries_all_knobs_once() -> None:
    names = [name for settings in tried("wide shuffle", pending=0.2, is_wide=True) for name in settings]
    assert names.count("spark.locality.wait") == names.count("spark.shuffle.sort.bypassMergeThreshold") == 1
    assert "spark.sql.adaptive.enabled" in names


def test_what_the_user_has_set_is_left() -> None:
    assert tried("straggler", users=["spark.speculation"]) == []
    left = [{"spark.default.parallelism": "12"}, {"spark.default.parallelism": "4"}]
    assert tried("too many small tasks", users=["spark.sql.shuffle.partitions"]) == left


def test_other_programs_get_nothing_and_spark_nothing_of_openmp() -> None:
    assert spark_starts(Situation(typed({}), {}, 4, is_wide=True)) == []
    of_spark = Situation(
        typed({"spark": SPARK, "threads": 64, "regions": [{"runtime": "spark"}]}),
        {},
        1,
        is_wide=True,
        command=("spark-submit",),
    )
    assert {name for start in proposed_starts(of_spark) for name in start.environment} <= {
        SETTINGS_VARIABLE,
        "GLIBC_TUNABLES",
        "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",
    }


@pytest.mark.parametrize("quote", ['"', "'"])
def test_settings_of_the_user_are_seen_wherever_they_are(tmp_path: Path, quote: str) -> None:
    name = "spark.speculation"
    program = tmp_path / "program.py"
    program.write_text(f"import pyspark\nbuilder.config({quote}{name}{quote}, True)\n")
    assert is_of_user(name, ["python3", str(program)], {})
    assert is_of_user(name, ["spark-submit", "--conf", f"{name}=true", "x.py"], {})
    assert is_of_user(name, ["python3", "x.py"], {"PYSPARK_SUBMIT_ARGS": f"--conf {name}=true pyspark-shell"})
    assert not is_of_user(f"{name}.quantile", ["python3", str(program)], {})


def test_starts_are_combined_and_the_users_own_stay() -> None:
    first = Start({SETTINGS_VARIABLE: "spark.a=1;spark.b=1"}, "x")
    both = Start({SETTINGS_VARIABLE: "spark.b=2"}, "y").on_top_of(first)
    assert settings_of(both.environment[SETTINGS_VARIABLE]) == {"spark.a": "1", "spark.b": "2"}
    started = with_variables({SETTINGS_VARIABLE: "spark.b=9"}, both.environment)
    assert settings_of(started[SETTINGS_VARIABLE]) == {"spark.a": "1", "spark.b": "9"}


def test_what_is_proved_is_kept_by_job_and_used_again(tmp_path: Path) -> None:
    program, history = Path("/bin/true"), tmp_path / "history.sqlite"
    start = Start({SETTINGS_VARIABLE: "spark.speculation=true"}, "seen")
    History(history).remember(entries_of_start(key_of(program, ["job.py"], None), program, start))
    again = prepare(Tuning("frozen", history), program, ["job.py"], {})
    assert again.steering.environment == start.environment
    other = prepare(Tuning("frozen", history), program, ["other.py"], {})
    assert SETTINGS_VARIABLE not in other.steering.environment
