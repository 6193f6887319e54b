"""Reports for the page: one with everything in it and of any size, one with the worst names there are."""

from __future__ import annotations

import math
import random
from typing import Any

from reports import checked, plain, typed

SHARES = ("work", "barrier_wait", "arrival", "starved", "serial", "run_delay", "runtime", "unattributed")
SHARES_OF_FLOW = (0.55, 0.17, 0.02, 0.03, 0.12, 0.08, 0.01, 0.02)
# Keys whose values are names of processes.
IDS = ("id", "process")
# Keys whose values are words of Trimtab.
WORDS = ("cause", "kind")
NASTY = [
    "</script><script>document.title='owned'</script>",
    "<img src=x onerror=\"document.title='owned'\">",
    "<!--<script>",
    "]]>&amp;&lt;b&gt;",
    "\"'`${document.title='owned'}",
    "@@REPORT@@ @@SCRIPT@@",
    "Gr\u00f6\u00dfe \u2028 \u2029 \u202e right to left \U0001f600 \u0000\u0007",
    "bytes that are no UTF-8: \udc80\udcff",
    "std::vector<std::map<int, " * 400,
    "x" * 10_000,
    "__proto__",
    "",
]


def report(
    regions: int = 6, lanes: int = 4, bins: int = 400, seed: int = 1, workers: int = 0
) -> dict[str, Any]:
    """A complete report of a program that ran for ten seconds."""
    chance = random.Random(seed)
    wall, cpus = 10.0, float(lanes)
    table = [_region(number, lanes, chance) for number in range(regions)]
    table.sort(key=lambda region: -region["wall_s"])
    times = [at * 0.1 for at in range(100)]
    totals: list[float] = []
    for _ in times:
        totals.append((totals[-1] if totals else 0.0) + chance.random() * 0.1 * lanes)
    sample = {
        "trimtab": "0.1.0",
        "program": "/opt/simulation/bin/flow",
        "command": ["/opt/simulation/bin/flow", "--steps", "100", "in put.dat"],
        "level": "trace",
        "started_real_ns": 1_700_000_000_000_000_000,
        "machine": {
            "hostname": "node17",
            "model": "Processor",
            "cpus_online": lanes,
            "memory_bytes": 1 << 36,
        },
        "complete": True,
        "exit": {"code": 0, "signal": None},
        "processes": [
            {
                **_process("7-0", ["flow"], wall),
                "cpu_s": 20.0,
                "lanes": lanes,
                "regions": regions,
                "calls": 10,
                "threads": lanes,
                "efficiency": 0.55,
                "time": dict(zip(SHARES, SHARES_OF_FLOW, strict=True)),
                "timeline": _timeline(table, lanes, bins, wall),
            },
            {**_process("8-0", ["sh", "-c", "true"], 0.1), "complete": False, "takes_part": False},
        ],
        "wall_s": wall,
        "observed_s": wall,
        "capacity_s": wall * cpus,
        "cpus_available": cpus,
        "threads": lanes,
        "efficiency": 0.55,
        "time": dict(zip(SHARES, SHARES_OF_FLOW, strict=True)),
        "regions": table,
        "tasks": [
            {
                "name": "fib",
                "count": 1000,
                "timed": 1000,
                "total_s": 3.0,
                "mean_s": 0.003,
                "longest_s": 0.5,
                "includes_inner": False,
                "created": 1000,
                "suspended": 7,
                "processes": ["7-0"],
            }
        ],
        "workers": [_worker(number, wall) for number in range(workers)],
        "scopes": [{"name": "solve", "count": 10, "timed": 10, "total_s": 3.0, "mean_s": 0.3}],
        "os": {
            "run_delay_s": 3.2,
            "switches_voluntary": 1234,
            "switches_involuntary": 56,
            "preemptions": 40,
            "migrations": None,
            "cpu_s": 22.0,
            "max_rss_kb": 123456,
        },
        "overhead": {
            "share": 0.004,
            "seconds": 0.16,
            "setup_s": 0.01,
            "sampler_s": 0.02,
            "events": 98765,
            "dropped": 12,
        },
        "unavailable": [
            {"what": "energy", "why": "there is no power meter", "remedy": "run on the bare machine"}
        ],
        "findings": [
            {
                "cause": "imbalance",
                "subject": table[0]["name"] if table else None,
                "evidence": "the slowest thread works twice as long",
                "action": "write schedule(dynamic, 16)",
                "gain_s": 1.5,
                "processes": ["7-0"],
            },
            {
                "cause": "serial part",
                "subject": None,
                "evidence": "1.2 s lie outside",
                "action": "parallelise them",
                "gain_s": 0.9,
                "processes": ["7-0"],
            },
        ],
        "lanes": [
            {
                "process": "7-0",
                "lane": lane,
                "name": "flow",
                "tid": 100 + lane,
                "threads": 1,
                "run_s": chance.random() * wall,
                "run_delay_s": 0.1,
                "voluntary": 3,
                "involuntary": 4,
                "migrations": None,
            }
            for lane in range(lanes)
        ],
        "timeline": _timeline(table, lanes, bins, wall),
        "counters": [
            {
                "process": "7-0",
                "name": "process cpu",
                "unit": "s",
                "source": "clock",
                "is_cumulative": True,
                "lanes": None,
                "t_s": times,
                "values": totals,
            },
            {
                "process": "7-0",
                "name": "run delay",
                "unit": "s",
                "source": "schedstat",
                "is_cumulative": True,
                "lanes": lanes,
                "t_s": times,
                "values": [total / 10 for total in totals],
            },
            {
                "process": "7-0",
                "name": "resident memory",
                "unit": "B",
                "source": "statm",
                "is_cumulative": False,
                "lanes": None,
                "t_s": times,
                "values": [1e8 + 1e6 * at for at in range(100)],
            },
            {
                "process": "7-0",
                "name": "residual",
                "unit": "1",
                "source": "program",
                "is_cumulative": False,
                "lanes": None,
                "t_s": times,
                "values": [math.exp(-at / 20) for at in range(100)],
            },
            {
                "process": "7-0",
                "name": "major page faults",
                "unit": "1",
                "source": "getrusage",
                "is_cumulative": True,
                "lanes": None,
                "t_s": times,
                "values": [0.0] * 100,
            },
            {
                "process": "7-0",
                "name": "process run delay",
                "unit": "s",
                "source": "schedstat",
                "is_cumulative": True,
                "lanes": None,
                "t_s": [9.9],
                "values": [3.0],
            },
        ],
    }
    return checked(plain(typed(sample)))


def _region(number: int, lanes: int, chance: random.Random) -> dict[str, Any]:
    calls = chance.randint(1, 10**6)
    per_lane = [
        {
            "process": "7-0",
            "lane": lane,
            "calls": calls,
            "work_s": chance.random(),
            "wait_s": chance.random() / 3,
            "arrival_s": chance.random() / 20,
        }
        for lane in range(lanes)
    ]
    work = sum(lane["work_s"] for lane in per_lane)
    name = f"kernel{number % 17}.cpp:{100 + number} (step_{number})"
    region = {
        "name": name,
        "file": f"/home/user/flow/src/kernel{number % 17}.cpp",
        "line": 100 + number,
        "function": f"step_{number}",
        "runtime": "libgomp",
        "nested": number % 9 == 8,
        "calls": calls,
        "threads": lanes,
        "wall_s": 3.0 / (number + 1),
        "work_s": work,
        "wait_s": sum(lane["wait_s"] for lane in per_lane),
        "arrival_s": sum(lane["arrival_s"] for lane in per_lane),
        "imbalance": None if number % 5 == 4 else 1.0 + chance.random(),
        "critical_path_s": 1.0,
        "mean_work_s": 0.5,
        "schedule": ("static", "dynamic", None)[number % 3],
        "chunk": (None, 16, None)[number % 3],
        "iterations": 1000 + number,
        "loops": [
            {
                "name": name,
                "schedule": "dynamic",
                "chunk": 16,
                "iterations": 1000,
                "executed": 1000,
                "chunks": 63,
                "executions": 1,
            }
        ],
        "waits": {"barrier": 0.2},
        "lock_wait_s": 0.1,
        "lock_held_s": 0.05,
        "lanes": per_lane,
        "histogram": [{"le_ns": 1000.0 * 2**at, "count": at * (9 - at)} for at in range(10)],
    }
    names = ("calls", "threads", "wall_s", "work_s", "wait_s", "arrival_s", "imbalance")
    return {
        **region,
        "processes": [{"process": "7-0", **{field: region[field] for field in names}}],
        "spread": {
            field: dict.fromkeys(("least", "median", "most"), region[field])
            for field in ("calls", "wall_s", "work_s", "wait_s")
        },
    }


def _process(name: str, command: list[str], wall: float) -> dict[str, Any]:
    """One that did nothing."""
    return {
        "id": name,
        "pid": int(name.split("-")[0]),
        "image": 0,
        "ppid": 1,
        "forked_from": None,
        "host": None,
        "rank": None,
        "size": None,
        "command": command,
        "begin_s": 0.0,
        "wall_s": wall,
        "cpu_s": 0.0,
        "lanes": 1,
        "workers": 0,
        "regions": 0,
        "calls": 0,
        "complete": True,
        "ended": "exit",
        "takes_part": True,
        "cpus_available": 4.0,
        "threads": 1,
        "efficiency": None,
        "time": None,
        "run_delay_s": 0.0,
        "timeline": None,
    }


def two_ranks(regions: int = 6, lanes: int = 4) -> dict[str, Any]:
    """The same program as two ranks on two hosts: all that is of one process is there of both."""
    sample = report(regions, lanes)
    first, second = (
        {
            **sample["processes"][0],
            "id": name,
            "pid": pid,
            "host": host,
            "rank": rank,
            "size": 2,
            "cpu_s": cpu_s,
        }
        for name, pid, host, rank, cpu_s in (("7-0", 7, "node17", 0, 20.0), ("9-0", 9, "node18", 1, 19.0))
    )
    second["begin_s"] = 1.0
    for name in ("lanes", "counters"):
        sample[name] += [{**entry, "process": "9-0"} for entry in sample[name]]
    for region in sample["regions"]:
        region["lanes"] += [{**lane, "process": "9-0"} for lane in region["lanes"]]
        region["processes"].append({**region["processes"][0], "process": "9-0", "wall_s": 0.125})
        region["spread"]["wall_s"] = {"least": 0.125, "median": 0.2, "most": region["wall_s"]}
    sample["findings"][0]["processes"] = ["9-0", "7-0"]
    return {**sample, "processes": [first, second, {**sample["processes"][1], "host": "node17"}]}


def _worker(number: int, wall: float) -> dict[str, Any]:
    work = wall / (number + 1)
    return {
        "process": "7-0",
        "lane": number + 1,
        "name": f"runtime 1, worker {number}",
        "runtime": "runtime 1",
        "worker": number,
        "work_s": work,
        "looking_s": (wall - work) * 0.25,
        "starved_s": (wall - work) * 0.5,
        "idle_s": (wall - work) * 0.25,
        "capped_s": 0.0,
        "parks": 10 * number,
        "tasks": 500,
        "created": 1000 if number == 0 else 0,
    }


def _timeline(table: list[dict[str, Any]], lanes: int, bins: int, wall: float) -> dict[str, Any] | None:
    if not table:
        return None
    shown = table[:13]
    values = [
        [round(lanes / len(shown) * (1 + math.sin(at / 9 + number)) / 2, 3) for at in range(bins)]
        for number in range(len(shown))
    ]
    return {
        "t0_s": 0.0,
        "dt_s": wall / bins,
        "from_s": 0.0,
        "series": [
            {"name": region["name"], "lanes": line} for region, line in zip(shown, values, strict=True)
        ],
        "waiting": [0.25] * bins,
        "eligible": [1.5] * bins,
        "ineligible": [3.0] * bins,
        "source": "all events",
    }


def hostile() -> dict[str, Any]:
    """Every text is one of NASTY, in turn; keys stay."""
    sample = report(regions=len(NASTY), lanes=3)
    number = 0

    def poison(value: Any) -> Any:
        nonlocal number
        if isinstance(value, str):
            number += 1
            return NASTY[number % len(NASTY)]
        if isinstance(value, list):
            return [poison(element) for element in value]
        if isinstance(value, dict):
            return {key: text_of(key, member) for key, member in value.items()}
        return value

    def text_of(key: str, value: Any) -> Any:
        if key in WORDS:
            return value
        return name_of(value) if key in IDS else poison(value)

    def name_of(process: str) -> str:
        """What belongs together keeps the same name."""
        return NASTY[0] if process == "7-0" else NASTY[1]

    poisoned: dict[str, Any] = poison(sample)
    for region, name in zip(poisoned["regions"], NASTY, strict=True):
        region["name"] = name
    # Figures that JSON has no word for, and a name that a finding points to.
    poisoned["overhead"]["share"] = math.nan
    poisoned["regions"][0]["wall_s"] = math.inf
    poisoned["findings"][0]["subject"] = poisoned["regions"][0]["name"]
    poisoned["machine"] = {text: text for text in NASTY}
    return poisoned
