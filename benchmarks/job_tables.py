"""Results of jobs beside MPI as tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from benchmarks.job_suite import MPI, MPI_NAIVE, NAMES, OURS, TRANSPORTS
from benchmarks.jobs import (
    CALL,
    HPCC,
    MPI_POLLED,
    MPI_SLEEPING,
    POLLED,
    RING,
    RING_BYTES,
    ROUND_TRIP,
    SLEEPING,
    WORKLOAD,
)
from benchmarks.spread import Spread, judge, ratios, spread
from benchmarks.tables import Results, machine, markdown

# Of a round trip, beside MPI_Send and MPI_Recv over the same transport.
TRIP_LIMIT = 1.5
# Of fewer rounds no interval holds the median with 95 %.
_LEAST_ROUNDS = 6
_NOT_MEASURED = "not measured"
# A bin's number.
_UPDATE_BYTES = 8
_TRIP_NAMES = {
    MPI: "MPI_Send and MPI_Recv, 16 bytes",
    POLLED: "transport of Trimtab, 16 bytes, both poll",
    SLEEPING: "transport of Trimtab, 16 bytes, both sleep until it comes",
    CALL: "`async(where, f, number).get()`",
    MPI_POLLED: "Trimtab over MPI, 16 bytes, both poll",
    MPI_SLEEPING: "Trimtab over MPI, 16 bytes, both sleep until it comes",
}


def _of_kind(results: Results, kind: str) -> list[Mapping[str, Any]]:
    return [case for case in results["cases"] if case["kind"] == kind]


def job_machine(results: Results) -> str:
    """What it ran on, and which MPI."""
    return f"{machine(results)}\n- {results['mpi'] or 'MPI was not available'}"


def job_targets(results: Results) -> str:
    """The bar of round trips."""
    rows = []
    for case in _of_kind(results, ROUND_TRIP):
        for way in (POLLED, CALL):
            head = [TRANSPORTS[case["transport"]], _TRIP_NAMES[way], f"{TRIP_LIMIT} times MPI"]
            rows.append([*head, *_judged(case["values"], way)])
    return markdown(["transport", "round trip", "at most", "found (95 % interval)", "verdict"], rows)


def _judged(values: Mapping[str, Sequence[float]], way: str) -> list[str]:
    if MPI not in values:
        return [_NOT_MEASURED, "open"]
    result = spread(ratios(values[way], values[MPI]))
    return [_ratio(result), judge(result, TRIP_LIMIT) if result.count >= _LEAST_ROUNDS else "open"]


def job_trips(results: Results) -> str:
    """Every way of a round trip."""
    rows = []
    for case in _of_kind(results, ROUND_TRIP):
        for way, name in _TRIP_NAMES.items():
            if way not in case["values"]:
                continue
            result = spread(case["values"][way])
            rows.append(
                [
                    TRANSPORTS[case["transport"]],
                    name,
                    _three_digits(result.median),
                    f"{_three_digits(result.low)} to {_three_digits(result.high)}",
                ]
            )
    return markdown(["transport", "round trip", "median, us", "95 % interval"], rows)


def job_workloads(results: Results) -> str:
    """Every workload beside the same one in MPI."""
    rows = []
    for case in _of_kind(results, WORKLOAD):
        values = case["values"]
        for peer in (MPI, MPI_NAIVE) if MPI in values else (None,):
            if peer is None or peer in values:
                rows.append(_beside(case, peer))
    head = [
        "workload",
        "size",
        "transport",
        "beside",
        "unit",
        "Trimtab",
        "the other",
        "Trimtab / other (95 %)",
    ]
    return markdown(head, rows)


def _beside(case: Mapping[str, Any], peer: str | None) -> list[str]:
    values = case["values"]
    own = spread(values[OURS])
    head = [case["workload"], case["size"], TRANSPORTS[case["transport"]]]
    if peer is None:
        return [*head, NAMES[MPI], case["unit"], _three_digits(own.median), _NOT_MEASURED, _NOT_MEASURED]
    other = spread(values[peer])
    name = "MPI, 1,024 updates a message" if peer == MPI and MPI_NAIVE in values else NAMES[peer]
    return [
        *head,
        name,
        case["unit"],
        _three_digits(own.median),
        _three_digits(other.median),
        _ratio(spread(ratios(values[OURS], values[peer]))),
    ]


def job_ring(results: Results) -> str:
    """Updates of the histogram a second beside what a raw ring in shared memory carries."""
    (ring,) = _of_kind(results, RING)
    rows = []
    for count in RING_BYTES:
        result = spread(ring["values"][str(count)])
        rows.append(
            [
                f"raw ring, messages of {count} bytes",
                *_rates(result, 1),
                *_rates(result, count / _UPDATE_BYTES),
            ]
        )
    for case in _of_kind(results, WORKLOAD):
        if case["workload"] != "histogram":
            continue
        for system in (OURS, MPI, MPI_NAIVE):
            if system not in case["values"]:
                continue
            name = "MPI, 1,024 updates a message" if system == MPI else NAMES[system]
            # Half of the updates are for bins of the other locality. Both directions together: both use the two CPUs.
            result = spread([1e3 / value / 2 for value in case["values"][system]])
            title = f"histogram, {case['size']}, {TRANSPORTS[case['transport']]}: {name}"
            rows.append([title, "", "", *_rates(result, 1)])
    head = ["what", "messages, M/s", "95 % interval", "remote updates, M/s", "95 % interval "]
    return markdown(head, rows)


def _rates(result: Spread, factor: float) -> list[str]:
    low, high = _three_digits(result.low * factor), _three_digits(result.high * factor)
    return [_three_digits(result.median * factor), f"{low} to {high}"]


def job_hpcc(results: Results) -> str:
    """HPC Challenge beside the nearest of ours."""
    rows = []
    for case in _of_kind(results, HPCC):
        for title, theirs, own in _hpcc_pairs(case):
            values = case["values"]
            rows.append(
                [
                    TRANSPORTS[case["transport"]],
                    title,
                    _medians(values[f"hpcc {theirs}"]),
                    _medians(values[f"{OURS} {own}"]) if own else "-",
                ]
            )
    if not rows:
        rows = [["all", "HPC Challenge", _NOT_MEASURED, _NOT_MEASURED]]
    return markdown(["transport", "what", "hpcc", "Trimtab"], rows)


def _hpcc_pairs(case: Mapping[str, Any]) -> list[tuple[str, str, str | None]]:
    """Title, name of their figure, and of ours."""
    table, points = case["table"], case["points"]
    return [
        (f"random updates of {table:,} words, 10^9/s (MPIRandomAccess; job_histogram)", "GUPS", "GUPS"),
        (f"Fourier transform of {points:,} points, Gflop/s (MPIFFT; job_fft)", "FFT", "FFT"),
        ("half a round trip, us (ping-pong, 8 bytes; a call)", "latency", "latency"),
        ("half a round trip, us (ping-pong, 8 bytes; the transport)", "latency", "transport latency"),
        ("bandwidth of ping-pong, GB/s", "bandwidth", None),
        ("transposition of a matrix, GB/s (PTRANS)", "PTRANS", None),
    ]


def _medians(values: Sequence[float]) -> str:
    """The median, and the least and the greatest: few rounds have no interval."""
    low, high = _three_digits(min(values)), _three_digits(max(values))
    return f"{_three_digits(spread(values).median)} ({low} to {high})"


def _ratio(result: Spread) -> str:
    return f"{result.median:.2f} ({result.low:.2f} to {result.high:.2f})"


def _three_digits(value: float) -> str:
    """Without an exponent.

    Example:
        >>> _three_digits(1234.5), _three_digits(0.012345)
        ('1,234', '0.0123')
    """
    return f"{value:,.0f}" if value >= 1000 else f"{value:#.3g}".rstrip(".")


JOB_BLOCKS: Mapping[str, Callable[[Results], str]] = {
    "machine": job_machine,
    "targets": job_targets,
    "round-trips": job_trips,
    "workloads": job_workloads,
    "histogram": job_ring,
    "hpcc": job_hpcc,
}
