"""One observed run of Spark for the study: `python -m benchmarks.spark_runs shuffles|pagerank ...` prints a line of JSON with its figures.

shuffles: the programs of workloads/spark/shuffles.py, one after the other in one application, with an executor for each core.
pagerank: workloads/spark/PageRank.java with little memory, an action after each iteration.
Both run under `trimtab run`. Exit code 1: an answer is wrong.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from trimtab.model.enumerations import StorageCall, StorageClass
from trimtab.readers import open_run
from trimtab.spark.application import Application
from trimtab.spark.attribution import PARTS
from trimtab.spark.report import Analysis, analyse
from trimtab.spark.with_run import event_log_of

from benchmarks.spark_home import linked_home, spark_home
from benchmarks.spark_persist import MEMORY_FRACTION, compiled
from benchmarks.spark_pooled import slow_opens

ROOT = Path(__file__).resolve().parent.parent
STOCK, POOLED, BOTH = "stock", "pooled", "pooled and threshold"
_THRESHOLD = ("--conf", "spark.shuffle.sort.bypassMergeThreshold=1")
# Options of `trimtab run`, and of spark-submit.
SETTINGS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    STOCK: ((), ()),
    POOLED: (("--spark-pooled",), ()),
    BOTH: (("--spark-pooled",), _THRESHOLD),
}
AS_WRITTEN, POLICY, IN_MEMORY, ON_DISK = "as written", "policy", "kept in memory", "kept on disk"
# Options of `trimtab run`, and the program's own level of storage.
LEVELS: dict[str, tuple[tuple[str, ...], str]] = {
    AS_WRITTEN: ((), "no"),
    POLICY: (("--spark-persist",), "no"),
    IN_MEMORY: ((), "memory"),
    ON_DISK: ((), "disk"),
}
# What figures show: sums of parts of tasks. What is left of the core time is idle.
SHOWN = {
    "application": ("application",),
    "fetch": ("fetch_network", "fetch_disk"),
    "serialization": ("serialization", "deserialization"),
    "gc": ("gc",),
    "scheduler": ("scheduler_delay",),
    "other": ("spill", "failed", "unattributed"),
}
IDLE = "idle"
_SHUFFLE_CLASSES: dict[int, str] = {StorageClass.SHUFFLE_READ: "read", StorageClass.SHUFFLE_WRITE: "write"}
_END_S = 900


def main() -> int:
    parser = argparse.ArgumentParser(description="One observed run of Spark.")
    programs = parser.add_subparsers(dest="program", required=True)
    shuffles = programs.add_parser("shuffles")
    shuffles.add_argument("--executors", type=int, default=2)
    shuffles.add_argument("--delay-us", type=int, default=0, help="added to each open of a shuffle file")
    shuffles.add_argument("--setting", choices=SETTINGS, default=STOCK)
    shuffles.add_argument("--preset", default="small")
    shuffles.add_argument("--only", help="programs with commas between them; all, if left out")
    pagerank = programs.add_parser("pagerank")
    pagerank.add_argument("--memory", default="480m")
    pagerank.add_argument("--setting", choices=LEVELS, default=AS_WRITTEN)
    pagerank.add_argument(
        "--size",
        nargs=4,
        default=["2000", "4", "4", "4"],
        help="nodes, links of each, iterations, partitions",
    )
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        run = run_shuffles if chosen.program == "shuffles" else run_pagerank
        print(json.dumps(run(chosen, Path(folder))))
    return 0


def run_shuffles(chosen: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Of each program: seconds, core time by part, blocks and opens; and the lengths of all opens."""
    ours, of_submit = SETTINGS[chosen.setting]
    master = f"local-cluster[{chosen.executors},1,512]"
    options = [*_submit(master, folder), "--conf", "spark.executor.memory=512m", *of_submit]
    program = [str(ROOT / "workloads" / "spark" / "shuffles.py"), "--preset", chosen.preset]
    program += ["--only", *chosen.only.split(",")] if chosen.only else []
    environment = {"LD_PRELOAD": str(slow_opens(ROOT, folder)), "SLOW_OPENS_DELAY": str(chosen.delay_us)}
    printed = _observed(folder, ours, [*options, *program], environment)
    seconds = {row["program"]: row["seconds"] for row in map(json.loads, _json_lines(printed))}
    analysis = _analysed(folder)
    by_stage = _programs_of_stages(analysis.application)
    figures = {
        name: {"seconds": took, "time": _time(analysis, by_stage, name, chosen.executors * took)}
        | _reads(analysis.application, by_stage, name)
        for name, took in seconds.items()
    }
    by_id = {stage.id: name for stage, name in zip(analysis.application.stages, by_stage, strict=True)}
    return figures | _opens(folder, by_id, figures)


def run_pagerank(chosen: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Seconds of all iterations; of each: seconds, blocks of shuffles, bytes, garbage collection."""
    ours, level = LEVELS[chosen.setting]
    submit = [*_submit("local[2]", folder), "--driver-memory", chosen.memory, "--class", "PageRank"]
    submit += ["--conf", f"spark.memory.fraction={MEMORY_FRACTION}"]
    archive = compiled(ROOT, folder)
    printed = _observed(folder, ours, [*submit, str(archive), *chosen.size, "each", level], {})
    application = _analysed(folder).application
    jobs = sorted(application.jobs, key=lambda job: job.id)
    return {"seconds": float(printed.split()[-1])} | {
        f"iteration{number}": _iteration(application, job.id, job.submitted, job.completed or application.end)
        for number, job in enumerate(jobs, 1)
    }


def _submit(master: str, folder: Path) -> list[str]:
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.local.dir": str(folder / "local"),
        "spark.sql.adaptive.enabled": "false",
        "spark.scheduler.minRegisteredResourcesRatio": "1.0",
        "spark.scheduler.maxRegisteredResourcesWaitingTime": "120s",
    }
    words = [word for name, value in settings.items() for word in ("--conf", f"{name}={value}")]
    return [str(spark_home() / "bin" / "spark-submit"), "--master", master, *words]


def _observed(folder: Path, ours: tuple[str, ...], command: list[str], environment: dict[str, str]) -> str:
    """What the program printed; its run is in `folder`.

    Raises:
        SystemExit: it failed.
    """
    recording = [sys.executable, "-m", "trimtab", "run", "-q", "--tune=off", *ours, "-o", str(folder / "run")]
    inherited = {
        "SPARK_HOME": str(linked_home(folder)),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_PYTHON": sys.executable,
    }
    done = subprocess.run(
        [*recording, "--", *command],
        capture_output=True,
        text=True,
        timeout=_END_S,
        env={**os.environ, **inherited, **environment},
    )
    if done.returncode != 0:
        said = "\n".join(line for line in done.stderr.splitlines() if " INFO " not in line)
        raise SystemExit(f"{' '.join(command)}: exit code {done.returncode}: {said[-2000:]}")
    return done.stdout


def _json_lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("{")]


def _analysed(folder: Path) -> Analysis:
    log = event_log_of(folder / "run")
    if log is None:
        raise SystemExit(f"{folder / 'run'}: expected an event log of Spark, found none")
    return analyse(log)


def _programs_of_stages(application: Application) -> list[str]:
    """Of each stage: the description of its job, which is the program's name."""
    descriptions = {job.id: job.description for job in application.jobs}
    return [descriptions.get(-1 if stage.job is None else stage.job, "") for stage in application.stages]


def _time(analysis: Analysis, by_stage: list[str], name: str, core_s: float) -> dict[str, float]:
    """Core time by what figures show, s."""
    tasks = analysis.application.tasks
    own = np.array([program == name for program in by_stage], bool)[tasks["stage"]]
    sums = dict(zip(PARTS, analysis.attribution.parts[own].sum(axis=0) * 1e-3, strict=True))
    shown = {key: float(sum(sums[part] for part in parts)) for key, parts in SHOWN.items()}
    return {
        key: round(value, 4) for key, value in {**shown, IDLE: max(core_s - sum(shown.values()), 0)}.items()
    }


def _reads(application: Application, by_stage: list[str], name: str) -> dict[str, int]:
    """Blocks of shuffles that the stages of a program read: all, and of the stage with most; and its stages."""
    own = np.array([program == name for program in by_stage], bool)
    blocks = application.tasks["remote_blocks"] + application.tasks["local_blocks"]
    of_stages = np.bincount(application.tasks["stage"], blocks, minlength=len(by_stage))[own]
    return {
        "stages": int(own.sum()),
        "blocks": int(of_stages.sum()),
        "most_blocks": int(of_stages.max(initial=0)),
    }


def _opens(folder: Path, by_id: dict[int, str], figures: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Opens of shuffle files: how many lasted how long, by bit width of their nanoseconds; adds those of its stages to each program."""
    widths: dict[str, dict[str, int]] = {kind: defaultdict(int) for kind in _SHUFFLE_CLASSES.values()}
    counts: dict[str, int] = defaultdict(int)
    seconds: dict[str, float] = defaultdict(float)
    for process in open_run(folder / "run").processes:
        for row in [] if process.storage is None else process.storage:
            kind = _SHUFFLE_CLASSES.get(int(row["file_class"]))
            if kind is None or int(row["call"]) != StorageCall.OPEN:
                continue
            for width in np.flatnonzero(row["histogram"]).tolist():
                widths[kind][f"width{width}"] += int(row["histogram"][width])
            name = by_id.get(int(row["stage"]), "")
            counts[name] += int(row["count"])
            seconds[name] += float(row["sum_ns"]) * 1e-9
    for name, values in figures.items():
        values |= {"opens": counts[name], "open_s": round(seconds[name], 4)}
    return {"opens": widths}


def _iteration(application: Application, job: int, begin: int, end: int) -> dict[str, float]:
    """Of one job."""
    own = np.array([stage.job == job for stage in application.stages], bool)[application.tasks["stage"]]
    tasks = application.tasks[own]
    return {
        "seconds": (end - begin) * 1e-3,
        "blocks": int((tasks["remote_blocks"] + tasks["local_blocks"]).sum()),
        "read_bytes": int((tasks["remote_bytes"] + tasks["local_bytes"] + tasks["input_bytes"]).sum()),
        "spilled_bytes": int(tasks["disk_spilled"].sum()),
        "gc_s": round(float(tasks["gc"].sum()) * 1e-3, 3),
        "core_s": round(float((tasks["end"] - tasks["begin"]).sum()) * 1e-3, 3),
    }


if __name__ == "__main__":
    sys.exit(main())
