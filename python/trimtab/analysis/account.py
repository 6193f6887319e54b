"""Where the available core time of a process went (docs/metrics.md, "Shares")."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trimtab.model import METRICS, NO_LANE, UNKNOWN, Process, Records

SHARES = ("work", "barrier_wait", "arrival", "serial", "run_delay", "runtime", "unattributed")


@dataclass(frozen=True)
class Span:
    """The observed time of a process, seconds; and how its end is known."""

    wall_s: float
    is_complete: bool


@dataclass(frozen=True)
class Account:
    """Shares of the available core time (they sum to 1), and the sums they come from, seconds."""

    shares: dict[str, float]
    wall_s: float
    cpus: float
    parallel_s: float
    run_delay_s: float


def span_of(process: Process, ended_mono_ns: int | None) -> Span:
    """From the library's load to the process's end: its own word, else the launcher's, else the last sign."""
    head = process.header
    if head["end_ticks"]:
        return Span((head["end_ticks"] - head["start_ticks"]) * process.ns_per_tick * 1e-9, True)
    start_ns = head["mono_ns_0"] + (head["start_ticks"] - head["ticks_0"]) * process.ns_per_tick
    last = max(
        (int(lane.events["ticks"].max()) for lane in process.lanes if len(lane.events)),
        default=head["last_ticks"],
    )
    last = max(last, head["last_ticks"])
    end_ns = head["mono_ns_0"] + (last - head["ticks_0"]) * process.ns_per_tick
    if ended_mono_ns is not None and ended_mono_ns > end_ns:
        end_ns = ended_mono_ns
    return Span(max(end_ns - start_ns, 0) * 1e-9, False)


def rows_of(process: Process, metric: str) -> Records:
    """All rows of one metric, of all lanes."""
    parts = [lane.rows[lane.rows["what"] == METRICS[metric]] for lane in process.lanes]
    return np.concatenate(parts) if parts else np.empty(0, dtype=np.dtype([("what", "<u2")]))


def run_delay_s(process: Process) -> float:
    """Time that lanes were runnable without a CPU, seconds (schedstat)."""
    return float(sum(lane.header["run_delay_ns"] for lane in process.lanes)) * 1e-9


def _parallel_ticks(process: Process, end_ticks: int) -> int:
    head = process.header
    ticks = int(head["parallel_ticks"])
    # Killed inside a region: the phase then under way counts up to the end.
    began = [int(e["ticks"]) for lane in process.lanes for e in _open_regions(lane.events)]
    if not head["end_ticks"] and began:
        ticks += max(end_ticks - min(began), 0)
    return ticks


def _open_regions(events: Records) -> Records:
    begins = events[(events["kind"] == 1) & (events["arg"] == 1)]
    ends = set(events["a"][events["kind"] == 2].tolist())
    return begins[[int(a) not in ends for a in begins["a"]]] if len(begins) else begins


def account(process: Process, wall_s: float) -> Account:
    """Divide wall_s * cpus among the shares.

    Lanes in regions are in one of the states work, waiting, arriving or runtime; with more lanes than CPUs the
    lanes' time is scaled to the CPUs, with fewer the rest is serial. Run delay is taken out of the first three
    in proportion. Outside regions the first lane's CPU time is work, the other CPUs are serial.
    """
    s = process.ns_per_tick * 1e-9
    head = process.header
    cpus = max(float(head["cpus_available"]), 1e-9)
    if wall_s <= 0:
        return Account({**dict.fromkeys(SHARES, 0.0), "unattributed": 1.0}, 0.0, cpus, 0.0, 0.0)
    capacity = cpus * wall_s
    delay = run_delay_s(process)
    regions, teams = rows_of(process, "region"), rows_of(process, "team")
    end_ticks = int(head["start_ticks"] + wall_s / s)
    parallel = min(_parallel_ticks(process, end_ticks) * s, wall_s)
    if not len(regions):
        return _account_without_regions(process, wall_s, cpus, delay)

    outer = regions["in_region"] == NO_LANE
    # Outermost regions hold all their threads; a nested one adds those beyond the lane that forked it.
    lane_time = float(_lane_time(regions[outer])) * s
    inner = regions[~outer]
    lane_time += max(float(_lane_time(inner)) - float(inner["sum"].sum()), 0.0) * s
    work = float(teams["sum"].sum()) * s
    # The forking lane's time inside a nested region is in the inner row and, as idle, in the outer one.
    nested_master = _nested_master_work(teams, inner) * s
    waiting = float(teams["x"][:, 0].sum() + teams["x"][:, 2].sum()) * s
    arrival = float(teams["x"][:, 1].sum()) * s
    nested_inside = float(inner["sum"].sum()) * s
    waiting = max(waiting - max(nested_inside - nested_master, 0.0), 0.0)
    work = max(work - nested_master, 0.0)
    runtime = max(lane_time - work - waiting - arrival, 0.0)
    total = work + waiting + arrival + runtime
    room = cpus * parallel
    scale = min(1.0, room / total) if total > 0 else 1.0
    parts = {"work": work, "barrier_wait": waiting, "arrival": arrival, "runtime": runtime}
    taken = min(delay, work + waiting + arrival)
    keep = 1.0 - taken / (work + waiting + arrival) if work + waiting + arrival > 0 else 1.0
    for name in ("work", "barrier_wait", "arrival"):
        parts[name] *= keep
    parts["run_delay"] = taken
    parts = {name: value * scale for name, value in parts.items()}
    in_regions = sum(parts.values())
    serial_wall = wall_s - parallel
    serial_work = _serial_work(process, serial_wall, wall_s)
    parts["work"] += serial_work
    parts["serial"] = max(room - in_regions, 0.0) + max(cpus - 1.0, 0.0) * serial_wall
    return Account(_normalised(parts, capacity), wall_s, cpus, parallel, delay)


def _lane_time(regions: Records) -> float:
    """Sum over instances of threads * wall, from sums: mean threads times the summed wall."""
    if not len(regions):
        return 0.0
    threads = regions["x"][:, 0] / np.maximum(regions["count"], 1)
    return float((threads * regions["sum"]).sum())


def _nested_master_work(teams: Records, inner: Records) -> float:
    if not len(inner):
        return 0.0
    nested = teams[teams["in_region"] != NO_LANE]
    masters = {(int(row["subject"]), int(row["about"])) for row in inner}
    return float(sum(int(t["sum"]) for t in nested if (int(t["subject"]), int(t["about"])) in masters))


def _serial_work(process: Process, serial_wall: float, wall_s: float) -> float:
    """CPU time of the process's first lane outside regions; never more than the time there was."""
    s = process.ns_per_tick * 1e-9
    main = next((lane for lane in process.lanes if lane.header["is_main"]), None)
    if main is None:
        return 0.0
    # schedstat counts from the lane's opening (the first region); before it the whole process was this thread.
    before = max((int(main.header["start_ticks"]) - int(process.header["start_ticks"])) * s, 0.0)
    regions = rows_of(process, "region")
    outer = regions[(regions["in_region"] == NO_LANE) & (regions["about"] == main.id)]
    inside = float(outer["sum"].sum()) * s
    after = max(float(main.header["run_ns"]) * 1e-9 - inside, 0.0)
    return min(before + after, max(serial_wall, 0.0))


def _account_without_regions(process: Process, wall_s: float, cpus: float, delay: float) -> Account:
    used = (process.header["user_ns"] + process.header["system_ns"]) * 1e-9
    capacity = cpus * wall_s
    parts = {"work": min(used, capacity), "run_delay": min(delay, max(capacity - used, 0.0))}
    if used <= wall_s * 1.05:
        parts["serial"] = max(cpus - 1.0, 0.0) * wall_s
    return Account(_normalised(parts, capacity), wall_s, cpus, 0.0, delay)


def _normalised(parts: dict[str, float], capacity: float) -> dict[str, float]:
    shares = {name: max(parts.get(name, 0.0), 0.0) / capacity for name in SHARES}
    total = sum(shares.values())
    if total > 1.0:
        return {name: value / total for name, value in shares.items()}
    shares["unattributed"] += 1.0 - total
    return shares


def known(value: int) -> int | None:
    """None for the format's "unknown"."""
    return None if value == UNKNOWN else int(value)
