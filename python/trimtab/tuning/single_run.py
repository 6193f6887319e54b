"""Tuning within one run: the history before it, the history after it."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from trimtab import machine
from trimtab.cgroup import available_cpus
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
from trimtab.model import LASTING
from trimtab.model.enumerations import PolicyName
from trimtab.model.report import Report
from trimtab.tuning.multi_run import Pairs, Start
from trimtab.tuning.start import PRELOAD_VARIABLE, StartValue, is_left_open, start_values
from trimtab.tuning.tunables import sets_anything_new, with_variables
from trimtab.tuning.virtual import find_fit

# The subject of what a program is started with: no key of a loop.
START = "start"
# And of what the last run with --tune was started with as things were then (quota, other programs): only frozen runs take it
# up, to be the same; others look for themselves.
START_THEN = "start-then"
_STARTS = (START, START_THEN)
# Beside the variables of a start: programs that the program starts get them, too.
INHERIT = "inherit"
# A library that is loaded into the program changes more than its speed: a run must be told to use what was found (--frozen).
_NOT_UNASKED = {PRELOAD_VARIABLE}


@dataclass(frozen=True)
class Tuning:
    """What the user wants.

    Attributes:
        mode: on, frozen (what the history says, and no search), known (the same, where it has something that was proved)
            or shuffle (every knob at random).
        history: its file; None: the user's.
        input_class: what the input is called in the history; None: the arguments.
        search, policy, budget_percent, seed: of the search; None: the library's own.
        is_virtual: GCC's static loops may be run by virtual threads.
        max_memory: bytes that a process may have because freed memory stays with it; None: the library's own limit.
    """

    mode: str
    history: Path | None = None
    input_class: str | None = None
    search: str | None = None
    policy: str | None = None
    budget_percent: int | None = None
    seed: int | None = None
    is_virtual: bool = False
    max_memory: int | None = None


@dataclass(frozen=True)
class Prepared:
    """What a run is started with.

    Attributes:
        chosen: of its start values those that this run chose itself.
        then: entries of the history with those of an earlier run.
        why: what of the history could not be used.
        outdated: number of settings that are not used because an older version measured them in another way.
    """

    steering: Steering
    history: History
    key: Key
    program: Path
    chosen: tuple[StartValue, ...] = ()
    then: tuple[int, ...] = ()
    why: str = ""
    outdated: int = 0

    @property
    def has_something(self) -> bool:
        """Whether the program is changed at all, if nothing is searched."""
        return self.steering.settings is not None or bool(self.steering.environment)


def history_in(file: Path | None) -> History:
    """The history in that file; None: the user's."""
    return History(file if file is not None else default_path())


def key_of(program: Path, arguments: Sequence[str], input_class: str | None) -> Key:
    """What must be the same for a setting to be used again: this program with these arguments, here."""
    machine_info = machine.describe() | {"cpus_online": os.cpu_count()}
    return Key(
        build_of(program),
        f"{available_cpus():g}",
        input_class_of(arguments, input_class),
        machine_of(machine_info),
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
    known_entries: list[Entry] = []
    outdated = 0
    reason = ""
    if tuning.mode != "shuffle":
        try:
            known_entries = history.recall(key)
            outdated = len(history.outdated(key))
            # A run that is to be learnt from makes it.
            if tuning.mode != "on" and tuning.history is not None and not tuning.history.exists():
                reason = f"no history yet at {tuning.history}"
        except HistoryError as error:
            reason = str(error)
    if tuning.mode == "known":
        known_entries = [_without_consent(entry) for entry in known_entries if _needs_no_word(entry)]
    loops = [entry for entry in known_entries if entry.subject not in _STARTS]
    starts = _reason_with_history(known_entries, START, "found by earlier runs", environment)
    of_program_alone = tuple(start.name for start in starts) if not _is_inherited(known_entries) else ()
    variables = {**environment, **{start.name: start.value for start in starts}}
    chosen: list[StartValue] = []
    if tuning.mode == "on":
        chosen = start_values(variables)
    elif tuning.mode == "frozen":
        starts += _reason_with_history(known_entries, START_THEN, "as the last run with --tune", variables)
    starts += chosen
    fit = find_fit(program) if tuning.is_virtual else None
    steering = Steering(
        tuning.mode,
        settings_text(loops) if loops else None,
        tuning.search,
        tuning.policy,
        tuning.budget_percent,
        tuning.seed,
        {start.name: start.value for start in starts},
        {start.name: start.reason for start in starts},
        of_program_alone=of_program_alone,
        virtual_threads=None if fit is None else fit.functions,
        max_memory_bytes=tuning.max_memory,
        unavailable=[] if fit is None else fit.unavailable,
    )
    start_ids = tuple(entry.id for entry in known_entries if entry.subject == START_THEN)
    return Prepared(steering, history, key, program, tuple(chosen), start_ids, reason, outdated)


# Of GCC's static loops, and of regions: each run must be told that they may be changed (--virtual-threads, --threads regions).
_AGREED_TO = {"blocks", "threads"}


def _needs_no_word(entry: Entry) -> bool:
    """Whether a run that was not told to use it may: it was proved, and turns nothing that the user must agree to."""
    is_proved = entry.gain is not None and entry.gain > 0
    return is_proved and entry.subject != START_THEN and not _AGREED_TO & entry.settings.keys()


def _without_consent(entry: Entry) -> Entry:
    settings = {name: value for name, value in entry.settings.items() if name not in _NOT_UNASKED}
    return replace(entry, settings=settings) if entry.subject == START else entry


def _is_inherited(known_entries: Sequence[Entry]) -> bool:
    return any(entry.subject == START and INHERIT in entry.settings for entry in known_entries)


def start_of(known_entries: Sequence[Entry]) -> Start:
    """What earlier runs start the program with, but for what they did as things were."""
    settings = next((entry.settings for entry in known_entries if entry.subject == START), {})
    return Start({name: value for name, value in settings.items() if name != INHERIT}, "")


def _reason_with_history(
    known_entries: Sequence[Entry], subject: str, reason: str, environment: Mapping[str, str]
) -> list[StartValue]:
    """What earlier runs say under `subject`, but for what `environment` has something to say about."""
    return [
        StartValue(name, with_variables(environment, {name: value})[name], _explained(reason, entry))
        for entry in known_entries
        if entry.subject == subject
        for name, value in entry.settings.items()
        if name != INHERIT and _is_open(name, value, environment)
    ]


def _explained(reason: str, entry: Entry) -> str:
    return f"{reason}: {entry.reason}" if entry.subject == START and entry.reason else reason


def _is_open(name: str, value: str, environment: Mapping[str, str]) -> bool:
    """Whether the user has not said all of it already."""
    if name == PRELOAD_VARIABLE and not Path(value).is_file():
        return False  # it is not installed any more
    is_new = sets_anything_new(name, value, environment)
    return is_left_open(name, environment) if is_new is None else is_new


def remember(prepared: Prepared, report: Report, run: Path) -> str:
    """Keep what the run found, and what it was started with. Returns why it could not, or nothing."""
    if prepared.steering.mode != "on":
        return ""
    entries = [
        entry for entry in entries_of(report, prepared.key, str(run)) if entry.policy != PolicyName.HISTORY
    ]
    start_entries = _entries_of_start(prepared, report, run)
    try:
        if entries or start_entries:
            prepared.history.remember([*entries, *start_entries])
        if prepared.then and not start_entries:
            prepared.history.forget(prepared.then)
    except HistoryError as error:
        return str(error)
    return ""


def _entries_of_start(prepared: Prepared, report: Report, run: Path) -> list[Entry]:
    """What a frozen run is to be started with to be as this one: one entry, or none."""
    values = {value.name: value.value for value in prepared.chosen}
    reasons = [value.reason for value in prepared.chosen]
    for decision in report.decisions:
        changed = {change.knob: change.to for change in decision.changes}
        if "blocktime" not in changed or decision.outcome not in LASTING:
            continue
        # As the threads waited at the end: as the rule has found no slower (wait_policy.cpp), or else the program's own way.
        values.pop("KMP_BLOCKTIME", None)
        if changed["blocktime"] == "1":
            values["KMP_BLOCKTIME"] = "1"
            reasons.append(decision.reason)
    if not values:
        return []
    key, program = prepared.key, str(prepared.program)
    name, reason = "start, as things were", "; ".join(dict.fromkeys(reasons))
    return [
        Entry(key, START_THEN, name, program, values, "start", reason, None, None, 0, time.time(), str(run))
    ]


def entries_of_start(
    key: Key, program: Path, start: Start, pairs: Pairs | None = None, *, is_inherited: bool = False
) -> list[Entry]:
    """What a program is to be started with, for the history.

    Args:
        key, program: that it is of.
        start: variables and settings.
        pairs: that proved it.
        is_inherited: programs that it starts get the variables, too.
    """
    results: list[tuple[str, str, Mapping[str, str]]] = [
        (subject, start.subject, settings) for subject, settings in start.settings.items()
    ]
    if start.environment:
        inherited = {INHERIT: "1"} if is_inherited else {}
        results.append((START, "start", {**start.environment, **inherited}))
    gain, spread, count = (None, None, 0) if pairs is None else (pairs.gain, pairs.spread, len(pairs.ratios))
    return [
        Entry(
            key,
            subject,
            name,
            str(program),
            dict(settings),
            "tune",
            start.reason,
            gain,
            spread,
            count,
            time.time(),
            "",
        )
        for subject, name, settings in results
    ]
