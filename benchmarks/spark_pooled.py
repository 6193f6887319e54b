"""Pooled shuffle files of Spark against stock Spark, in turn, where opens are slow and where they are fast."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from trimtab.paths import spark_plugin

from benchmarks.machine import describe
from benchmarks.running import BenchError

WORD = "spark-pooled"
STOCK, POOL, THRESHOLD, BOTH = "stock", "pool", "bypassMergeThreshold=1", "both"
DELAYS_US = (0, 1000)
# Of the time of stock Spark with 1 ms added to each open: what is promised.
MOST = {POOL: 0.82, BOTH: 0.45}
_POOL = {
    "spark.shuffle.manager": "trimtab.spark.pooled.PooledShuffleManager",
    "spark.trimtab.pooledShuffle.enabled": "auto",
}
_THRESHOLD = {"spark.shuffle.sort.bypassMergeThreshold": "1"}
_SETTINGS: dict[str, dict[str, str]] = {
    STOCK: {},
    POOL: _POOL,
    THRESHOLD: _THRESHOLD,
    BOTH: {**_POOL, **_THRESHOLD},
}
# Compiles what all settings use.
_WARM_UP = (BOTH, THRESHOLD, BOTH)
_END_S = 60


def run_spark_pooled(
    root: Path,
    programs: Path,
    is_smoke: bool,
    rounds: int,
    wait_minutes: float,
    report_progress: Callable[[str], None],
) -> dict[str, Any]:
    """Seconds of a shuffle of 40 x 200 partitions for each delay of opens and each setting, all in turn.

    A JVM for each delay, warmed up with each setting before anything is timed: its start and the compilation of its code
    would otherwise be most of the time.
    """
    if reason := missing():
        report_progress(f"{WORD}: left out, because {reason}")
        return {"missing": reason, "cases": []}
    library = slow_opens(root, programs)
    cases: list[dict[str, Any]] = [
        {"delay_us": delay, "setting": setting, "seconds": []} for delay in DELAYS_US for setting in _SETTINGS
    ]
    with contextlib.ExitStack() as stack:
        preset = "small" if is_smoke else "wide"
        sessions = {delay: stack.enter_context(_Session(root, library, delay, preset)) for delay in DELAYS_US}
        for delay, setting in ((delay, setting) for delay in DELAYS_US for setting in _WARM_UP):
            sessions[delay].seconds(setting)
        for index in range(rounds):
            for case in random.Random(index).sample(cases, len(cases)):
                case["seconds"].append(round(sessions[case["delay_us"]].seconds(case["setting"]), 3))
            report_progress(f"{WORD}: round {index + 1} of {rounds}")
    return {"machine": describe(), "cases": cases}


def slow_opens(root: Path, programs: Path) -> Path:
    programs.mkdir(parents=True, exist_ok=True)
    library = programs / "slow_opens.so"
    source = root / "tests" / "spark" / "slow_opens.c"
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", str(library), str(source)], check=True)
    return library


def missing() -> str:
    """Why nothing of Spark can be measured here; "": it can."""
    if shutil.which("java") is None:
        return "java is not on PATH"
    if importlib.util.find_spec("pyspark") is None:
        return "pyspark is not installed"
    return "" if spark_plugin().exists() else "the wheel has no Spark plug-in"


class _Session:
    """One JVM that runs the shuffle whenever it is asked to; the same delay is added to each open of all its settings."""

    def __init__(self, root: Path, library: Path, delay_us: int, preset: str) -> None:
        self._folder = tempfile.TemporaryDirectory()
        script = str(root / "benchmarks" / "shuffle_session.py")
        environment = {
            **os.environ,
            "PYSPARK_SUBMIT_ARGS": f"--jars {spark_plugin()} --conf spark.ui.enabled=false --conf spark.ui.showConsoleProgress=false pyspark-shell",
            "LD_PRELOAD": str(library),
            "SLOW_OPENS_DELAY": str(delay_us),
        }
        self._process = subprocess.Popen(
            [sys.executable, script, "exchange", preset, "local[2]"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=environment,
        )

    def __enter__(self) -> _Session:
        return self

    def __exit__(self, *error: object) -> None:
        self._process.communicate(timeout=_END_S)
        self._folder.cleanup()

    def seconds(self, setting: str) -> float:
        """How long one shuffle takes, in its own session of Spark."""
        assert self._process.stdin is not None and self._process.stdout is not None
        settings = {
            "spark.local.dir": self._folder.name,
            "spark.sql.adaptive.enabled": "false",
            **_SETTINGS[setting],
        }
        print(json.dumps(settings), file=self._process.stdin, flush=True)
        line = self._process.stdout.readline()
        try:
            return float(json.loads(line))
        except (ValueError, TypeError) as error:
            raise BenchError(f"{WORD}: expected a line with seconds, found {line[:200]!r}") from error


def ratios(results: dict[str, Any], delay_us: int) -> dict[str, list[float]]:
    """Time of each setting divided by that of stock Spark in the same round."""
    return ratios_of([case for case in results["cases"] if case["delay_us"] == delay_us], STOCK)


def ratios_of(cases: list[dict[str, Any]], basis: str) -> dict[str, list[float]]:
    """Time of each setting divided by that of the setting `basis` in the same round."""
    seconds = {case["setting"]: case["seconds"] for case in cases}
    return {
        setting: [round(time / reference, 4) for time, reference in zip(times, seconds[basis], strict=True)]
        for setting, times in seconds.items()
    }


def table(results: dict[str, Any]) -> str:
    """One line for each delay and setting: seconds, and the time as a share of stock Spark's."""
    if results.get("missing"):
        return f"left out, because {results['missing']}"
    lines = [
        "| added to each open | setting | median, s | of stock: median | least to most |",
        "|---|---|---|---|---|",
    ]
    for case in results["cases"]:
        shares = ratios(results, case["delay_us"])[case["setting"]]
        lines.append(
            f"| {case['delay_us'] / 1000:g} ms | {case['setting']} | {statistics.median(case['seconds']):.1f} "
            f"| {statistics.median(shares):.2f} | {min(shares):.2f} to {max(shares):.2f} |"
        )
    return "\n".join(lines)


def pooled_faults(results: dict[str, Any]) -> list[str]:
    """What is slower than promised; nothing where it could not be measured."""
    if results.get("missing"):
        return []
    slow = ratios(results, DELAYS_US[-1])
    faults = [
        f"{WORD}: {setting} with 1 ms for each open: expected at most {most} of stock, found {found:.2f}"
        for setting, most in MOST.items()
        if (found := statistics.median(slow[setting])) > most
    ]
    fast = ratios(results, 0)[POOL]
    if min(fast) > 1.05:
        faults.append(f"{WORD}: with fast opens the pool is slower than stock in all rounds: {fast}")
    return faults
