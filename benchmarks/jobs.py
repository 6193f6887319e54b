"""Jobs of two localities beside the same programs in plain MPI: workloads, round trips, the raw ring, and HPC Challenge.

Each process is bound to a CPU of its own. All systems run in turn in each round, and the ratios are of the same round.
"""

from __future__ import annotations

import json
import random
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import hpcc
from benchmarks.job_suite import (
    MPI,
    OURS,
    TRANSPORTS,
    JobCase,
    environment,
    job_cases,
    launched,
    missing_hpcc,
    missing_mpi,
    under_mpirun,
)
from benchmarks.machine import Patience, Watch
from benchmarks.measure import measure_all
from benchmarks.running import BenchError, finished, make

WORKLOAD, ROUND_TRIP, RING, HPCC = "workload", "round trip", "ring", "hpcc"
# Ways of a round trip, as the results have them.
POLLED, SLEEPING, CALL, MPI_POLLED, MPI_SLEEPING = (
    "transport, polled",
    "transport, sleeping",
    "call",
    "MPI transport, polled",
    "MPI transport, sleeping",
)
# Bytes of a message through the raw ring.
RING_BYTES = (16, 1024)
_TIMEOUT_S = 300
# A run of hpcc takes some seconds where nothing else runs.
_HPCC_ROUNDS = 3
_UNITS = {"ns": 1e9, "us": 1e6}

Figures = Mapping[str, float]


@dataclass(frozen=True)
class _Task:
    """One case of any kind. `again` gives the figures of a round; `about` is what else its results say."""

    title: str
    about: Mapping[str, Any]
    rounds: int
    ways: tuple[str, ...]
    again: Callable[[str], Figures]


def run_jobs(
    root: Path,
    programs: Path,
    is_smoke: bool,
    rounds: int,
    minutes: float,
    report_progress: Callable[[str], None],
) -> dict[str, Any]:
    """Results of all cases. Without MPI, those of Trimtab alone."""
    missing = missing_mpi()
    if missing is None:
        make(root, "benchmarks/peers/mpi", programs)
    else:
        report_progress(f"MPI is not available: install {missing}")
    tasks = _Tasks(root, programs, missing is None, is_smoke, 1 if is_smoke else rounds)
    results = measure_all(
        tasks.all(report_progress),
        lambda task: f"jobs: {task.title}",
        _measure,
        is_smoke=is_smoke,
        minutes=minutes,
        report_progress=report_progress,
    )
    return {**results, "mpi": _version() if missing is None else None}


def _version() -> str:
    return finished([under_mpirun("shm", [])[0], "--version"], _TIMEOUT_S).splitlines()[0]


def _measure(task: _Task, patience: Patience, seed: int) -> dict[str, Any]:
    order = random.Random(seed)
    watch = Watch()
    patience.next_case()
    ways = list(task.ways)
    rounds: list[dict[str, float]] = []
    others_share: list[float] = []
    run_again = 0
    while len(rounds) < task.rounds:
        order.shuffle(ways)
        watch.again()
        began = time.monotonic()
        figures: dict[str, float] = {}
        for way in ways:
            figures |= task.again(way)
        others = watch.others()
        if patience.bears(others, time.monotonic() - began):
            run_again += 1
            continue
        others_share.append(round(others or 0.0, 4))
        rounds.append(figures)
    values = {name: [round(entry[name], 6) for entry in rounds] for name in sorted(rounds[0])}
    return {
        "title": task.title,
        **task.about,
        "rounds": len(rounds),
        "run_again": run_again,
        "others_share": others_share,
        "values": values,
    }


class _Tasks:
    """Everything that is measured."""

    def __init__(self, root: Path, programs: Path, has_mpi: bool, is_smoke: bool, rounds: int) -> None:
        self._root, self._programs, self._has_mpi = root, programs, has_mpi
        self._is_smoke, self._rounds = is_smoke, rounds
        self._benches = root / "build" / "release" / "rooms" / "parcels"
        self._trips = 50 if is_smoke else 20_000

    def all(self, report_progress: Callable[[str], None]) -> list[_Task]:
        """The tasks; says which ones are left out."""
        tasks = [self._workload(case) for case in job_cases(self._is_smoke)]
        tasks += [self._round_trip(transport) for transport in TRANSPORTS]
        tasks.append(_Task("raw ring", {"kind": RING}, self._rounds, ("ring",), lambda _: self._ring()))
        missing = missing_hpcc()
        if missing is not None:
            report_progress(f"HPC Challenge is not available: install {missing}")
        elif not self._is_smoke:
            tasks += [self._hpcc(transport) for transport in TRANSPORTS]
        return tasks

    def _workload(self, case: JobCase) -> _Task:
        systems = tuple(system for system in case.programs if system == OURS or self._has_mpi)
        unit = _UNITS[case.unit.partition("/")[0]]
        # The first run of each compares its answers with the serial ones.
        unchecked = set(systems)

        def again(system: str) -> Figures:
            command = case.command(system, self._root, self._programs)
            is_first = system in unchecked
            if is_first:
                unchecked.remove(system)
                took = _seconds([entry for entry in command if entry != "--no-check"])
            if not (is_first and self._is_smoke):
                took = _seconds(command)
            return {system: unit * took / case.programs[system].operations}

        about = {
            "kind": WORKLOAD,
            "workload": case.workload,
            "size": case.size,
            "transport": case.transport,
            "unit": case.unit,
            "commands": {system: " ".join(case.programs[system].arguments) for system in systems},
        }
        return _Task(case.title, about, self._rounds, systems, again)

    def _round_trip(self, transport: str) -> _Task:
        ways = {
            OURS: lambda: self._own_trips(transport),
            MPI: lambda: self._mpi_trips(transport),
            "MPI transport": lambda: self._mpi_transport(transport),
        }
        chosen = tuple(ways) if self._has_mpi else (OURS,)
        about = {"kind": ROUND_TRIP, "transport": transport}
        title = f"round trips, {TRANSPORTS[transport]}"
        return _Task(title, about, self._rounds, chosen, lambda way: ways[way]())

    def _own_trips(self, transport: str) -> Figures:
        command = [str(self._bench("round_trip_bench")), transport, str(self._trips)]
        entry = _json_of(finished(command, _TIMEOUT_S))
        return {POLLED: entry["polled"], SLEEPING: entry["sleeping"], CALL: entry["call"]}

    def _mpi_trips(self, transport: str) -> Figures:
        program = [str(self._programs / "mpi_ping_pong"), "--bytes", "16", "--trips", str(self._trips)]
        return {MPI: float(_values(under_mpirun(transport, program))["round_trip_us"])}

    def _mpi_transport(self, transport: str) -> Figures:
        # Nine batches of each way, and hardly anything but round trips.
        options = ["", str(self._trips // 20 + 1), "10"]
        command = under_mpirun(transport, [str(self._bench("mpi_figures")), *options])
        return mpi_transport_figures(finished(command, _TIMEOUT_S, env=environment()))

    def _ring(self) -> Figures:
        """Messages a second, in millions, by size."""
        sizes = "|".join(map(str, RING_BYTES))
        command = [
            str(self._bench("transport_bench")),
            f"--benchmark_filter=^raw_ring/one_way/({sizes})/real_time$",
            "--benchmark_format=json",
            "--benchmark_min_time=0.1",
        ]
        benchmarks = _json_of(finished(command, _TIMEOUT_S))["benchmarks"]
        return {entry["name"].split("/")[2]: 1e3 / entry["real_time"] for entry in benchmarks}

    def _hpcc(self, transport: str) -> _Task:
        rounds = min(self._rounds, _HPCC_ROUNDS)
        table, points = hpcc.TABLE_WORDS, hpcc.FFT_POINTS

        def ours() -> Figures:
            updates, steps = 2_000_000, 20
            histogram = ["--updates", str(updates), "--bins", str(table)]
            transform = ["--side", str(int(points**0.5)), "--steps", str(steps)]
            trips = self._own_trips(transport)
            return {
                f"{OURS} GUPS": 2e-9 * updates / self._own(transport, "histogram", histogram),
                f"{OURS} FFT": hpcc.gigaflops(points, self._own(transport, "fft", transform) / steps),
                f"{OURS} latency": trips[CALL] / 2,
                f"{OURS} transport latency": trips[POLLED] / 2,
            }

        def theirs() -> Figures:
            return {f"hpcc {name}": value for name, value in hpcc.run(transport).items()}

        about = {"kind": HPCC, "transport": transport, "table": table, "points": points}
        ways = {OURS: ours, HPCC: theirs}
        title = f"HPC Challenge, {TRANSPORTS[transport]}"
        return _Task(title, about, rounds, (OURS, HPCC), lambda way: ways[way]())

    def _own(self, transport: str, name: str, options: list[str]) -> float:
        program = str(self._root / "build" / "workloads" / f"job_{name}")
        return _seconds(launched(transport, [program, *options, "--no-check"]))

    def _bench(self, name: str) -> Path:
        program = self._benches / name
        if not program.exists():
            raise BenchError(f"{program}: expected the program there; ./x bench builds it")
        return program


def _seconds(command: list[str]) -> float:
    """Time of a workload, whose answer must be right."""
    return float(_values(command)["time_s"])


def _values(command: list[str]) -> dict[str, str]:
    """What it prints, by name."""
    printed = finished(command, _TIMEOUT_S, env=environment())
    values = dict(line.split("=", 1) for line in printed.splitlines() if "=" in line)
    if values.get("check") != "right" or "time_s" not in values:
        raise BenchError(
            f"{' '.join(command)}: expected lines check=right and time_s=, found {printed[-200:]!r}"
        )
    return values


def _json_of(printed: str) -> Any:
    try:
        return json.loads(printed)
    except ValueError as error:
        raise BenchError(f"expected JSON, found {printed[:200]!r}") from error


def mpi_transport_figures(printed: str) -> dict[str, float]:
    """Round trips of the MPI transport, us, of what mpi_figures prints.

    Example:
        >>> mpi_transport_figures("transport, polled  round trip 1.5 us\\ntransport, wait()  round trip 9 us")
        {'MPI transport, polled': 1.5, 'MPI transport, sleeping': 9.0}
    """
    result = {}
    for name, title in ((MPI_POLLED, "transport, polled"), (MPI_SLEEPING, "transport, wait()")):
        line = re.search(rf"^{re.escape(title)}\s+round trip\s+([\d.]+) us", printed, re.MULTILINE)
        if line is None:
            raise BenchError(f"mpi_figures: expected a line '{title} ...', found {printed[:200]!r}")
        result[name] = float(line[1])
    return result
