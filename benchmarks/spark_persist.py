"""PageRank of Spark with little memory: as written, with the policy that keeps results of shuffles, and with persist by hand."""

from __future__ import annotations

import os
import random
import statistics
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from trimtab.paths import spark_plugin

from benchmarks.machine import describe
from benchmarks.running import finished
from benchmarks.spark_home import spark_home
from benchmarks.spark_pooled import missing, ratios_of

WORD = "spark-persist"
STOCK, POLICY, BY_HAND = "as written", "policy", "persisted by hand"
SETTINGS = (STOCK, POLICY, BY_HAND)
SHAPES = {"each": "an action after each iteration", "last": "one action at the end"}
# With one action at the end a program that persists by hand says nothing new about the policy.
SETTINGS_OF = {"each": SETTINGS, "last": (STOCK, POLICY)}
# Of the time as written: what is promised with an action after each iteration, and that nothing is lost otherwise.
MOST = {"each": 0.95, "last": 1.05}
_MEMORY = "480m"
# What remains for grouping is so little that groups are spilled.
MEMORY_FRACTION = "0.2"
# Nodes, links of each, iterations, partitions.
_SIZE, _SMOKE_SIZE = (60_000, 32, 10, 2), (2_000, 4, 4, 4)
_POLICY = {"spark.plugins": "trimtab.spark.TrimtabPlugin", "spark.trimtab.persist.enabled": "true"}
_END_S = 3600


def run_spark_persist(
    root: Path,
    programs: Path,
    is_smoke: bool,
    rounds: int,
    wait_minutes: float,
    report_progress: Callable[[str], None],
) -> dict[str, Any]:
    """Seconds of the iterations for each shape and setting, all in turn, each in a JVM of its own."""
    if reason := missing():
        report_progress(f"{WORD}: left out, because {reason}")
        return {"missing": reason, "cases": []}
    classes = compiled(root, programs)
    size = _SMOKE_SIZE if is_smoke else _SIZE
    cases: list[dict[str, Any]] = [
        {"shape": shape, "setting": setting, "seconds": []}
        for shape in SHAPES
        for setting in SETTINGS_OF[shape]
    ]
    for index in range(rounds):
        for case in random.Random(index).sample(cases, len(cases)):
            case["seconds"].append(_seconds(classes, size, case["shape"], case["setting"]))
        report_progress(f"{WORD}: round {index + 1} of {rounds}")
    return {"machine": describe(), "memory": _MEMORY, "size": list(size), "cases": cases}


def compiled(root: Path, programs: Path) -> Path:
    classes = programs / "spark"
    source = root / "workloads" / "spark" / "PageRank.java"
    command = [
        "javac",
        "--release",
        "17",
        "-nowarn",
        "-cp",
        f"{spark_home()}/jars/*",
        "-d",
        str(classes),
        str(source),
    ]
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
    archive = programs / "pagerank.jar"
    subprocess.run(["jar", "--create", "--file", str(archive), "-C", str(classes), "."], check=True)
    return archive


def _seconds(archive: Path, size: tuple[int, int, int, int], shape: str, setting: str) -> float:
    with tempfile.TemporaryDirectory() as folder:
        settings = {
            "spark.local.dir": folder,
            "spark.ui.enabled": "false",
            "spark.memory.fraction": MEMORY_FRACTION,
        }
        settings |= _POLICY if setting == POLICY else {}
        command = [
            *(str(spark_home() / "bin" / "spark-submit"), "--master", "local[2]", "--driver-memory", _MEMORY),
            *("--driver-class-path", str(spark_plugin())),
            *(word for name, value in settings.items() for word in ("--conf", f"{name}={value}")),
            *("--class", "PageRank", str(archive), *map(str, size), shape),
            "disk" if setting == BY_HAND else "no",
        ]
        environment = {**os.environ, "SPARK_HOME": str(spark_home())}
        return float(finished(command, _END_S, env=environment).split()[-1])


def ratios(results: dict[str, Any], shape: str) -> dict[str, list[float]]:
    """Time with each setting divided by that as written, in the same round."""
    return ratios_of([case for case in results["cases"] if case["shape"] == shape], STOCK)


def persist_table(results: dict[str, Any]) -> str:
    """One line for each shape and setting."""
    if results.get("missing"):
        return f"left out, because {results['missing']}"
    lines = [
        "| PageRank with | setting | median, s | of as written: median | least to most |",
        "|---|---|---|---|---|",
    ]
    for case in results["cases"]:
        shares = ratios(results, case["shape"])[case["setting"]]
        lines.append(
            f"| {SHAPES[case['shape']]} | {case['setting']} | {statistics.median(case['seconds']):.1f} "
            f"| {statistics.median(shares):.2f} | {min(shares):.2f} to {max(shares):.2f} |"
        )
    return "\n".join(lines)


def persist_faults(results: dict[str, Any]) -> list[str]:
    """What is slower than promised; nothing where it could not be measured."""
    if results.get("missing"):
        return []
    return [
        f"{WORD}: the policy with {SHAPES[shape]}: expected at most {most} of the time as written, found {share:.2f}"
        for shape, most in MOST.items()
        if (share := statistics.median(ratios(results, shape)[POLICY])) > most
    ]
