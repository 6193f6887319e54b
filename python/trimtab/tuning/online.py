"""Tuning within one run: the history before it, the history after it."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trimtab import machine
from trimtab.doctor.cgroup import find_quota
from trimtab.doctor.check import Machine
from trimtab.history import (
    Entry,
    History,
    HistoryError,
    Key,
    build_of,
    default_path,
    entries_of,
    input_class_of,
    machine_of,
    settings_text,
)
from trimtab.launcher import Steering
from trimtab.tuning.across import Pairs, Start
from trimtab.tuning.start import StartValue, start_values
from trimtab.tuning.virtual import find_fit

# The subject of what a program is started with: no key of a loop.
START = "start"


@dataclass(frozen=True)
class Tuning:
    """What the user wants.

    Attributes:
        mode: on, frozen (what the history says, and no search) or shuffle (every knob at random).
        history: its file; None: the user's.
        input_class: what the input is called in the history; None: the arguments.
        search, policy, budget_percent, seed: of the search; None: the library's own.
        is_virtual: GCC's static loops may be run by virtual threads.
    """

    mode: str
    history: Path | None = None
    input_class: str | None = None
    search: str | None = None
    policy: str | None = None
    budget_percent: int | None = None
    seed: int | None = None
    is_virtual: bool = False


@dataclass(frozen=True)
class Prepared:
    """What a run is started with. `why`: what of the history could not be used."""

    steering: Steering
    history: History
    key: Key
    why: str = ""


def history_in(file: Path | None) -> History:
    """The history in that file; None: the user's."""
    return History(file if file is not None else default_path())


def key_of(program: Path, arguments: Sequence[str], input_class: str | None) -> Key:
    """What must be the same for a setting to be used again: this program with these arguments, here."""
    about = machine.describe() | {"cpus_online": os.cpu_count()}
    return Key(
        build_of(program), f"{available_cpus():g}", input_class_of(arguments, input_class), machine_of(about)
    )


def prepare(
    tuning: Tuning, program: Path, arguments: Sequence[str], environment: Mapping[str, str] | None = None
) -> Prepared:
    """Look up what is known of `program` with these arguments, on this machine.

    Args:
        tuning: what is wanted.
        program: its file.
        arguments: without the program.
        environment: that it is to be started with; what is set there is left. None: this process's.
    """
    environment = os.environ if environment is None else environment
    history = history_in(tuning.history)
    key = key_of(program, arguments, tuning.input_class)
    settings, why = None, ""
    starts: list[StartValue] = []
    if tuning.mode in ("on", "frozen"):
        try:
            known = history.recall(key)
            loops = [each for each in known if each.subject != START]
            settings = settings_text(loops) if loops else None
            starts = [
                StartValue(name, value, "found by earlier runs")
                for each in known
                if each.subject == START
                for name, value in each.settings.items()
                if name not in environment
            ]
        except HistoryError as error:
            why = str(error)
    if tuning.mode == "on":
        starts += start_values({**environment, **{each.name: each.value for each in starts}})
    fit = find_fit(program) if tuning.is_virtual else None
    steering = Steering(
        tuning.mode,
        settings,
        tuning.search,
        tuning.policy,
        tuning.budget_percent,
        tuning.seed,
        {each.name: each.value for each in starts},
        {each.name: each.reason for each in starts},
        virtual_threads=None if fit is None else fit.functions,
        unavailable=[] if fit is None else fit.unavailable,
    )
    return Prepared(steering, history, key, why)


def remember(prepared: Prepared, report: dict[str, Any], run: Path) -> str:
    """Keep what the run found. Returns why it could not, or nothing."""
    if prepared.steering.mode != "on":
        return ""
    entries = [each for each in entries_of(report, prepared.key, str(run)) if each.policy != "history"]
    if not entries:
        return ""
    try:
        prepared.history.remember(entries)
    except HistoryError as error:
        return str(error)
    return ""


def start_entry(key: Key, program: Path, start: Start, pairs: Pairs) -> Entry:
    """What a program is to be started with, for the history."""
    return Entry(
        key,
        START,
        "start",
        str(program),
        dict(start.environment),
        "tune",
        start.reason,
        pairs.gain,
        pairs.spread,
        len(pairs.ratios),
        time.time(),
        "",
    )


def available_cpus() -> float:
    """The CPUs that a program may use: those of its mask, or its quota where that is less."""
    allowed = float(len(os.sched_getaffinity(0)))
    quota = find_quota(Machine(Path("/")))
    return min(allowed, quota.cpus) if quota is not None and quota.cpus is not None else allowed
