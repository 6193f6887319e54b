"""Compiles a small program, runs it under the preload library and gives back what was recorded."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import Any

import pytest
from trimtab import paths
from trimtab.model import METRICS, SCHEDULES, UNKNOWN, WAITS, Process
from trimtab.model.enumerations import (
    LockFields,
    LoopFields,
    Metric,
    RegionFields,
    SingleFields,
    TaskFields,
    TeamFields,
    WorkerFields,
)
from trimtab.readers import open_run


def preload_library() -> Path:
    """The library under test: that of the installed package, or the one named by TRIMTAB_PRELOAD."""
    library = Path(os.environ.get("TRIMTAB_PRELOAD") or paths.preload_library())
    assert library.exists(), f"{library} is not there: ./x build, or set TRIMTAB_PRELOAD"
    return library


@dataclass(frozen=True)
class Row:
    """Profile rows of one subject and metric, over all lanes."""

    kind: str
    count: int
    ticks: int
    fields: dict[str, int]
    flags: int
    lanes: int

    def __getattr__(self, name: str) -> int:
        """A field of `x`, by the name that it has in rows of this metric."""
        if name not in self.fields:
            raise AttributeError(f"rows of this metric have {', '.join(self.fields)}, not {name}")
        return self.fields[name]

    @property
    def schedule(self) -> str | None:
        """Name of the schedule of a loop's row."""
        return SCHEDULES.get(self.flags)

    @property
    def wait(self) -> str:
        """Name of the wait of a wait's row."""
        return WAITS[self.flags]


class Recorded:
    """What one process recorded, asked by metric."""

    def __init__(self, process: Process, output: str) -> None:
        self.process = process
        self.output = output

    def rows(self, metric: str, kind: str | None = None) -> list[Row]:
        """One Row for each subject and flags that has rows of `metric`, in order of first sight."""
        groups: dict[tuple[int, int], list[Any]] = {}
        for lane in self.process.lanes:
            for row in lane.rows[lane.rows["what"] == METRICS[metric]]:
                groups.setdefault((int(row["subject"]), int(row["flags"])), []).append(row)
        result = []
        for (subject, flags), members in sorted(groups.items()):
            name = self.process.subjects[subject].kind
            if kind is None or kind == name:
                result.append(Row(name, *_sums(members), flags, len(members)))
        return result

    def only(self, metric: str, kind: str | None = None) -> Row:
        """The one row of that metric."""
        result = self.rows(metric, kind)
        assert len(result) == 1, f"expected one {metric} row, found {result}"
        return result[0]


# The fields of each metric's rows, and those that are not sums over its lanes.
FIELDS: dict[int, type[IntEnum]] = {
    Metric.REGION: RegionFields,
    Metric.TEAM: TeamFields,
    Metric.LOOP: LoopFields,
    Metric.LOCK: LockFields,
    Metric.TASK: TaskFields,
    Metric.SINGLE: SingleFields,
    Metric.WORKER: WorkerFields,
}
SAME_ON_EVERY_LANE = (LoopFields.CHUNK_SIZE, LoopFields.TRIP_COUNT)


def _sums(members: list[Any]) -> tuple[int, int, dict[str, int]]:
    fields = FIELDS.get(int(members[0]["what"]), ())
    result = {
        field.name.lower(): _together(field, [int(row["x"][field]) for row in members]) for field in fields
    }
    return sum(int(row["count"]) for row in members), sum(int(row["sum"]) for row in members), result


def _together(field: IntEnum, values: list[int]) -> int:
    """What the values of several lanes come to."""
    if isinstance(field, LoopFields) and field in SAME_ON_EVERY_LANE:
        return values[0]
    is_most = isinstance(field, RegionFields) and field == RegionFields.MOST_THREADS
    return max(values) if is_most else sum(values)


def build(output: Path, compiler: str, source: str, *flags: str, suffix: str = ".c") -> Path:
    """Compile `source`; libraries want -shared and -fPIC among the flags."""
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    text = output.with_suffix(suffix)
    text.write_text(source)
    subprocess.run([compiler, str(text), *flags, "-o", str(output), "-lm"], check=True, timeout=120)
    return output


def record(
    tmp_path: Path,
    compiler: str,
    source: str,
    flags: tuple[str, ...] = ("-O2", "-fopenmp"),
    level: str = "profile",
    threads: int = 4,
    suffix: str = ".c",
    **environment: str,
) -> Recorded:
    """Build `source` and run it with and without the library; the output must be the same.

    LD_PRELOAD in `environment` is loaded behind the library, as the command does it.
    """
    program, run = build(tmp_path / "program", compiler, source, *flags, suffix=suffix), tmp_path / "run"
    base = {**os.environ, "OMP_NUM_THREADS": str(threads), "OMP_WAIT_POLICY": "passive", **environment}
    if "LD_PRELOAD" not in environment:
        base.pop("LD_PRELOAD", None)
    alone = subprocess.run([str(program)], env=base, capture_output=True, text=True, timeout=120)
    run.mkdir()
    (run / "run.json").write_text(json.dumps({"format": 1}))
    preload = ":".join([str(preload_library()), *filter(None, [environment.get("LD_PRELOAD")])])
    watched = {**base, "LD_PRELOAD": preload, "TRIMTAB_RUN": str(run), "TRIMTAB_LEVEL": level}
    seen_values = subprocess.run([str(program)], env=watched, capture_output=True, text=True, timeout=120)
    assert seen_values.returncode == alone.returncode, seen_values.stderr
    assert seen_values.stdout == alone.stdout
    (process,) = open_run(run).processes
    return Recorded(process, seen_values.stdout)


_TEAMS = """#include <omp.h>
#include <thread>
#include <vector>
int main() {
  omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
  {
#pragma omp parallel num_threads(3)
    { asm volatile(""); }
  }
  for (int n = 1; n <= 6; n++) {
    omp_set_num_threads(n);
#pragma omp parallel
    { asm volatile(""); }
  }
  std::vector<std::thread> hosts;
  for (int k = 0; k < 3; k++)
    hosts.emplace_back([] {
      for (int r = 0; r < 5; r++)
#pragma omp parallel num_threads(2)
      { asm volatile(""); }
    });
  for (auto& each : hosts) each.join();
#pragma omp parallel num_threads(64)
  { asm volatile(""); }
  for (volatile int no = 0, r = 0; r < 3; r++)
#pragma omp parallel if (no)
    { asm volatile(""); }
}
"""


def check_teams(folder: Path, compiler: str, *flags: str) -> None:
    """Runs a program with teams of many kinds, and checks that all of them were seen."""
    seen_values = record(folder, compiler, _TEAMS, ("-O2", "-fopenmp", "-pthread", *flags), suffix=".cpp")
    # Subjects are numbered by first sight: outer, inner, changing, hosts, many, serialized.
    expected = [(1, 2, 2), (2, 6, 3), (6, 21, 6), (15, 30, 2), (1, 64, 64), (3, 3, 1)]
    regions = [(row.count, row.threads, row.most_threads) for row in seen_values.rows("region")]
    assert regions == expected, regions
    members = [row.count for row in seen_values.rows("team")]
    assert members == [threads for _, threads, _ in expected], members


__all__ = ["UNKNOWN", "Recorded", "Row", "build", "check_teams", "record"]
