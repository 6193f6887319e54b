"""Ways to coalesce parcels, in phases of a program between two localities: the adaptive way beside the best static ones.

The best static setting of each phase is chosen from rounds of their own. Then it is measured anew, in the same rounds as the
adaptive one, so that luck in the choice is no advantage of either.
"""

from __future__ import annotations

import contextlib
import json
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.machine import Patience, Watch
from benchmarks.measure import measure_all
from benchmarks.running import BenchError, finished

ADAPTIVE, ALONE = "adaptive", "1:20:0"
TRANSPORTS = {"shm": "shared memory", "tcp": "TCP"}
PHASES = ("ping", "burst", "window", "stream", "paced", "changing")
_TIMEOUT_S = 600
_CHOOSING_ROUNDS = 5
# Each phase so often in turn, some 20 ms each time.
_LEARNING_ROUNDS, _LEARNING_RUNS = 7, 24

Values = dict[str, dict[str, list[float]]]


@dataclass(frozen=True)
class Round:
    """One run of the program, by phase and setting: values as the phase has them, and parcels a message."""

    values: Mapping[str, Mapping[str, float]]
    parcels: Mapping[str, Mapping[str, float]]


def run_messages(
    root: Path,
    programs: Path,
    is_smoke: bool,
    rounds: int,
    minutes: float,
    report_progress: Callable[[str], None],
) -> dict[str, Any]:
    """Results of both transports."""
    program = root / "build" / "release" / "rooms" / "parcels" / "coalescing_bench"
    if not program.exists():
        raise BenchError(f"{program}: expected the program there; ./x bench builds it")
    return measure_all(
        tuple(TRANSPORTS),
        lambda transport: f"messages: {TRANSPORTS[transport]}",
        lambda transport, patience, seed: _measure(program, transport, is_smoke, rounds, patience, seed),
        is_smoke=is_smoke,
        minutes=minutes,
        report_progress=report_progress,
    )


def _measure(
    program: Path, transport: str, is_smoke: bool, rounds: int, patience: Patience, seed: int
) -> dict[str, Any]:
    patience.next_case()
    collected = _Rounds(program, transport, patience, seed)
    few = (ADAPTIVE, ALONE, "64:100:0", "64:100:1")
    choosing = collected.run(1 if is_smoke else _CHOOSING_ROUNDS, few if is_smoke else ())
    chosen = {phase: choose(by_setting) for phase, by_setting in gathered(choosing).items()}
    settings = {ADAPTIVE, ALONE} | {name for pair in chosen.values() for name in pair.values()}
    compared = collected.run(rounds, sorted(settings))
    learning = collected.learn(1 if is_smoke else _LEARNING_ROUNDS, 2 if is_smoke else _LEARNING_RUNS)
    return {
        "name": transport,
        "rounds": rounds,
        "others_share": collected.others_share,
        "run_again": collected.run_again,
        "chosen": chosen,
        "phases": gathered(compared),
        "parcels_a_message": {
            phase: {name: round(statistics.median(values), 1) for name, values in by_setting.items()}
            for phase, by_setting in gathered(compared, "parcels").items()
        },
        "learning": learning,
    }


class _Rounds:
    """Runs of the program, anew where others took the CPUs."""

    def __init__(self, program: Path, transport: str, patience: Patience, seed: int) -> None:
        self._program, self._transport, self._patience = program, transport, patience
        self._seed = 1000 * (seed + 1)
        self.others_share: list[float] = []
        self.run_again = 0

    def run(self, count: int, settings: Sequence[str]) -> list[Round]:
        """So many rounds; no settings: adaptive and the grid."""
        rounds: list[Round] = []
        watch = Watch()
        while len(rounds) < count:
            self._seed += 1
            watch.again()
            began = time.monotonic()
            command = [str(self._program), self._transport, "1", str(self._seed), *settings]
            result = read_round(finished(command, _TIMEOUT_S))
            others = watch.others()
            if self._patience.bears(others, time.monotonic() - began):
                self.run_again += 1
                continue
            self.others_share.append(round(others or 0.0, 4))
            rounds.append(result)
        return rounds

    def learn(self, count: int, runs: int) -> dict[str, dict[str, list[float]]]:
        """So many pairs with and without tuning: by phase, medians of the first and of the second half of its runs."""
        result: dict[str, dict[str, list[float]]] = {}
        for _ in range(count):
            self._seed += 1
            order = ("tuned", "steady") if self._seed % 2 else ("steady", "tuned")
            for way in order:
                command = [str(self._program), self._transport, "1", str(self._seed), f"{way}:{runs}"]
                for phase, values in read_runs(finished(command, _TIMEOUT_S)).items():
                    half = len(values) // 2
                    by_way = result.setdefault(phase, {})
                    by_way.setdefault(f"{way} first", []).append(round(statistics.median(values[:half]), 1))
                    by_way.setdefault(f"{way} then", []).append(round(statistics.median(values[half:]), 1))
        return result


def read_runs(printed: str) -> dict[str, list[float]]:
    """Read what the program prints of runs one after the other: values by phase.

    Raises:
        BenchError: a line is not as expected.
    """
    values: dict[str, list[float]] = {}
    for line in printed.splitlines():
        with _told(line):
            entry = json.loads(line)
            values.setdefault(entry["phase"], []).append(float(entry["value"]))
    return values


@contextlib.contextmanager
def _told(line: str) -> Iterator[None]:
    """What goes wrong while the line is read is an error that shows it."""
    try:
        yield
    except (ValueError, KeyError, TypeError) as error:
        raise BenchError(f"coalescing_bench: expected a line of JSON, found {line[:200]!r}") from error


def read_round(printed: str) -> Round:
    """Read what one run of the program has printed.

    Raises:
        BenchError: a line is not as expected.
    """
    values: dict[str, dict[str, float]] = {}
    parcels: dict[str, dict[str, float]] = {}
    for line in printed.splitlines():
        with _told(line):
            entry = json.loads(line)
            values.setdefault(entry["phase"], {})[entry["setting"]] = float(entry["value"])
            parcels.setdefault(entry["phase"], {})[entry["setting"]] = entry["parcels"] / max(
                entry["messages"], 1
            )
    return Round(values, parcels)


def gathered(rounds: Sequence[Round], which: str = "values") -> Values:
    """By phase and setting, one value a round."""
    result: Values = {}
    for entry in rounds:
        for phase, by_setting in getattr(entry, which).items():
            for name, value in by_setting.items():
                result.setdefault(phase, {}).setdefault(name, []).append(round(value, 1))
    return result


def is_strict(setting: str) -> bool:
    """Whether a queue is sent only when its count or its time is reached."""
    return setting.endswith(":0")


def choose(by_setting: Mapping[str, Sequence[float]]) -> dict[str, str]:
    """The setting with the least median, of the strict ones and of those that send before they wait.

    Example:
        >>> choose({"adaptive": [1], "1:20:0": [5], "4:20:0": [4, 6, 4], "4:20:1": [3]})
        {'strict': '4:20:0', 'before': '4:20:1'}
    """

    def least(names: list[str]) -> str:
        return min(names, key=lambda name: statistics.median(by_setting[name]))

    static = [name for name in by_setting if name != ADAPTIVE]
    return {
        "strict": least([name for name in static if is_strict(name)]),
        "before": least([name for name in static if not is_strict(name)]),
    }
