"""The report, its page, its tables and every export say the same of each region of each run."""

from __future__ import annotations

import csv
import json
import re
import tempfile
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from chrome_traces import chrome_events
from mutated_runs import bases
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent
from reports import build, typed
from synthetic import LaneFile, ProcessFiles, S, event, row, subject, team_of, write_run
from trimtab.export import export
from trimtab.model.enumerations import EventKind, Metric
from trimtab.readers import open_run
from trimtab.report import page

GOLDEN = Path(__file__).parents[1] / "golden"
FIGURES = ("work_s", "wait_s", "calls")
UNTIMED, SAMPLE = 1, 2

Figures = dict[tuple[str, str], tuple[float, float, float]]


def short_regions(folder: Path) -> Path:
    """Ten calls were timed in full, ninety only at fork and join; in the second process others."""

    def process(pid: int, untimed: int) -> ProcessFiles:
        rows = [
            row(1, Metric.REGION, 2 * S, count=10, x=(20, 2, S // 2, S // 4), flags=SAMPLE),
            row(1, Metric.TEAM, S // 2, description=0, count=10, x=(S, S // 4, S // 4, 0), flags=SAMPLE),
            row(1, Metric.TEAM, S // 4, description=1, count=10, x=(S, S // 2, S // 4, 0), flags=SAMPLE),
            row(1, Metric.REGION, untimed * S // 5, count=untimed, x=(2 * untimed, 2, 0, 0), flags=UNTIMED),
            *team_of(2, 1.0, [1.0, 0.5]),
        ]
        lanes = [LaneFile(rows, run_s=20.0), LaneFile(run_s=20.0)]
        names = [subject(1, name="short"), subject(2, name="long")]
        return ProcessFiles(lanes, names, pid=pid, wall=40.0, parallel=3.0, cpus=2.0)

    return write_run(folder, process(1, 90), process(2, 45))


def killed(folder: Path) -> Path:
    """A region was joined, another was under way."""
    first = [
        *(event(S, EventKind.REGION_BEGIN, 1, a=6, arg=1), event(S, EventKind.WORK_BEGIN, 1, a=6)),
        *(event(2 * S, EventKind.WORK_END, 1, a=6), event(2 * S, EventKind.REGION_END, 1, a=6, b=2, arg=1)),
        *(
            event(4 * S, EventKind.REGION_BEGIN, 1, a=7, arg=1),
            event(4 * S, EventKind.WORK_BEGIN, 1, a=7, b=0),
        ),
    ]
    second = [
        *(event(S, EventKind.WORK_BEGIN, 1, a=6, b=1), event(2 * S, EventKind.WORK_END, 1, a=6, b=S // 2)),
        *(event(5 * S, EventKind.WORK_BEGIN, 1, a=7, b=1), event(8 * S, EventKind.WORK_END, 1, a=7, b=S)),
    ]
    lanes = [LaneFile(team_of(1, 1.0, [1.0, 0.5]), first, run_s=10.0), LaneFile([], second, run_s=5.0)]
    process = ProcessFiles(lanes, [subject(1, name="r")], cpus=2.0, parallel=1.0, ended=False)
    ended = {"mono_ns": 15 * S, "code": None, "signal": "SIGKILL", "wall_s": 10.0}
    return write_run(folder, process, info={"ended": ended})


def traced(folder: Path) -> Path:
    """Two processes with the same region, nested ones in one of them, and all events."""

    def process(pid: int, calls: int) -> ProcessFiles:
        events, rows = [], team_of(1, float(calls), [calls * 0.75], calls=calls)
        for call in range(calls):
            at = 2 * call * S
            events += [
                event(at, EventKind.REGION_BEGIN, 1, a=call + 1, arg=1),
                event(at, EventKind.WORK_BEGIN, 1, a=call + 1),
            ]
            events += [
                event(at + S, EventKind.WORK_END, 1, a=call + 1, b=S // 4),
                event(at + S, EventKind.REGION_END, 1, a=call + 1, b=1, arg=1),
            ]
        names = [subject(1, name="r"), subject(2, name="s")]
        if pid == 2:
            rows += team_of(2, 1.0, [1.0])
            events += [
                event(8 * S, EventKind.REGION_BEGIN, 2, a=99, arg=1),
                event(9 * S, EventKind.REGION_END, 2, a=99, b=1, arg=1),
            ]
        return ProcessFiles([LaneFile(rows, events)], names, pid=pid, parallel=float(calls))

    return write_run(folder, process(1, 3), process(2, 2))


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("runs")
    created = {"short": short_regions, "killed": killed, "traced": traced}
    result = {name: maker(folder / name) for name, maker in created.items()}
    return result | {f"base {path.name}": path for path in bases(folder / "bases")} | {"golden": GOLDEN}


def _names_of_bases() -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        return [f"base {path.name}" for path in bases(Path(folder))]


RUNS = ("golden", *_names_of_bases(), "short", "killed", "traced")


def of_report(report: dict[str, Any]) -> Figures:
    return {
        (part["process"], region["name"]): tuple(part[name] for name in FIGURES)
        for region in report["regions"]
        for part in region["processes"]
    }


def close(result: Figures, expected: Figures, digits: int = 12) -> None:
    assert result.keys() == expected.keys()
    for key, figures in expected.items():
        assert result[key] == pytest.approx(figures, rel=10.0**-digits), key


def test_every_golden_run_is_compared(runs: dict[str, Path]) -> None:
    assert set(runs) == set(RUNS)
    short = of_report(build(open_run(runs["short"])))
    assert short["1-0", "short"][2] == 100 and short["2-0", "short"][2] == 55


@pytest.mark.parametrize("name", RUNS)
def test_totals_are_those_of_the_processes(runs: dict[str, Path], name: str) -> None:
    for region in build(open_run(runs[name]))["regions"]:
        for figure in (*FIGURES, "wall_s", "arrival_s"):
            total = sum(part[figure] for part in region["processes"])
            assert region[figure] == pytest.approx(total), figure
        for figure in ("work_s", "wait_s", "arrival_s"):
            assert region[figure] == pytest.approx(sum(lane[figure] for lane in region["lanes"])), figure


@pytest.mark.parametrize("name", RUNS)
def test_the_page_has_the_reports_regions(runs: dict[str, Path], name: str) -> None:
    report = build(open_run(runs[name]))
    data = re.search(r'<script [^>]*id="report"[^>]*>(.*?)</script>', page(typed(report)), re.DOTALL)
    assert data is not None
    close(of_report(json.loads(data[1])), of_report(report), digits=6)


def csv_rows(folder: Path, table: str) -> list[dict[str, Any]]:
    with (folder / f"{table}.csv").open(newline="") as stream:
        return list(csv.DictReader(stream))


def parquet_rows(folder: Path, table: str) -> list[dict[str, Any]]:
    return list(pq.read_table(folder / f"{table}.parquet").to_pylist())


@pytest.mark.parametrize("name", RUNS)
@pytest.mark.parametrize(("to", "rows_of"), [("csv", csv_rows), ("parquet", parquet_rows)])
def test_tables_have_the_reports_regions(
    runs: dict[str, Path], tmp_path: Path, name: str, to: str, rows_of: Callable[..., list[dict[str, Any]]]
) -> None:
    run = open_run(runs[name])
    export(run, to, tmp_path / to)
    expected = of_report(build(run))
    regions = {
        (entry["process"], entry["name"]): tuple(float(entry[figure]) for figure in FIGURES)
        for entry in rows_of(tmp_path / to, "regions")
    }
    close(regions, expected)
    profile: dict[tuple[str, str], list[float]] = defaultdict(lambda: [0.0, 0.0, 0.0])
    for entry in rows_of(tmp_path / to, "profile"):
        figures = profile[entry["process"], entry["name"]]
        if entry["metric"] == "team":
            figures[0] += float(entry["sum_ns"]) * 1e-9
            figures[1] += (float(entry["x0"]) + float(entry["x2"])) * 1e-9
        elif entry["metric"] == "region":
            figures[2] += float(entry["count"])
    close({key: tuple(profile[key]) for key in expected}, expected)  # type: ignore[misc]


def chrome_regions(path: Path) -> dict[str, list[float]]:
    result: dict[str, list[float]] = defaultdict(list)
    for slice_event in chrome_events(path):
        if slice_event.get("cat") == "region":
            result[slice_event["name"].removeprefix("region ")].append(slice_event["dur"] * 1e-6)
    return result


def perfetto_regions(path: Path) -> dict[str, list[float]]:
    """Durations of the slices of regions, by name."""
    trace = Trace()
    trace.ParseFromString(path.read_bytes())
    names: dict[tuple[int, str, int], str] = {}
    tracks: dict[int, int] = {}
    opened: dict[int, list[tuple[str, int]]] = defaultdict(list)
    result: dict[str, list[float]] = defaultdict(list)
    for packet in trace.packet:
        sequence = packet.trusted_packet_sequence_id
        for event_name in packet.interned_data.event_names:
            names[sequence, "name", event_name.iid] = event_name.name
        if packet.HasField("trace_packet_defaults"):
            tracks[sequence] = packet.trace_packet_defaults.track_event_defaults.track_uuid
        if not packet.HasField("track_event"):
            continue
        event = packet.track_event
        stack = opened[event.track_uuid or tracks[sequence]]
        if event.type == TrackEvent.TYPE_SLICE_BEGIN:
            name = event.name or names[sequence, "name", event.name_iid]
            stack.append((name, packet.timestamp))
        elif event.type == TrackEvent.TYPE_SLICE_END:
            name, begin = stack.pop()
            if name.startswith("region "):
                result[name.removeprefix("region ")].append((packet.timestamp - begin) * 1e-9)
    return result


@pytest.mark.parametrize("name", ["killed", "traced"])
@pytest.mark.parametrize(("to", "regions_of"), [("chrome", chrome_regions), ("perfetto", perfetto_regions)])
def test_traces_show_every_call_of_the_reports_regions(
    runs: dict[str, Path], tmp_path: Path, name: str, to: str, regions_of: Callable[[Path], Any]
) -> None:
    run = open_run(runs[name])
    (path,) = export(run, to, tmp_path / to).files
    shown = regions_of(path)
    report = build(run)
    assert {entry: len(durations) for entry, durations in shown.items()} == {
        region["name"]: region["calls"] for region in report["regions"]
    }
    for region in report["regions"]:
        assert sum(shown[region["name"]]) == pytest.approx(region["wall_s"], rel=1e-6)
