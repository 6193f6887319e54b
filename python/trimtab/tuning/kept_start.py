"""What is kept of the start values that were tried, and the line that has their effect without Trimtab."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from trimtab.history import Entry, Key
from trimtab.launcher.spark import SETTINGS_VARIABLE, settings_of
from trimtab.tuning.multi_run import Outcome
from trimtab.tuning.single_run import INHERIT, START, START_THEN, entries_of_start, start_of
from trimtab.tuning.start import INTERLEAVE_VARIABLE, is_left_open
from trimtab.tuning.tunables import holds_several, with_variables


def kept_entries(
    outcome: Outcome, entries: Sequence[Entry], key: Key, program: Path, *, is_inherited: bool = False
) -> list[Entry]:
    """`entries`, which the runs found, with what is better at the start. All variables are one entry."""
    kept = {entry.subject: entry for entry in entries}
    whole, reasons = start_of(entries), _reasons(kept)
    for start, pairs in outcome.starts:
        if pairs.verdict != "better":
            continue
        whole = start.on_top_of(whole)
        if start.environment:
            reasons[start.reason] = None
        # The settings of this one alone, or all variables.
        added = replace(
            start,
            environment=whole.environment if start.environment else {},
            reason="; ".join(reasons) if start.environment else start.reason,
        )
        added_entries = entries_of_start(key, program, added, pairs, is_inherited=is_inherited)
        kept |= {entry.subject: entry for entry in added_entries}
    return list(kept.values())


def _reasons(kept: Mapping[str, Entry]) -> dict[str, None]:
    """In order, without doubles."""
    return dict.fromkeys([kept[START].reason] if START in kept and kept[START].reason else [])


def export_line(entries: Sequence[Entry], environment: Mapping[str, str]) -> str:
    """For a job script: all variables that a frozen run sets; empty: none.

    >>> export_line([], {"OMP_NUM_THREADS": "2"})
    ''
    """
    variables: dict[str, str] = {}
    for subject in (START, START_THEN):
        for entry in entries:
            if entry.subject == subject:
                variables |= _added(entry.settings, {**environment, **variables})
    variables.pop(SETTINGS_VARIABLE, None)
    words = [f"{name}={shlex.quote(value)}" for name, value in variables.items()]
    return "export " + " ".join(words) if words else ""


def _added(settings: Mapping[str, str], environment: Mapping[str, str]) -> dict[str, str]:
    return {
        name: with_variables(environment, {name: value})[name]
        for name, value in settings.items()
        if name not in (INHERIT, INTERLEAVE_VARIABLE)
        and (holds_several(name) or is_left_open(name, environment))
    }


def spark_options(entries: Sequence[Entry]) -> str:
    """For spark-submit: all settings of Spark that a frozen run sets; empty: none.

    >>> spark_options([])
    ''
    """
    settings: dict[str, str] = {}
    for subject in (START, START_THEN):
        for entry in entries:
            if entry.subject == subject:
                settings |= settings_of(entry.settings.get(SETTINGS_VARIABLE, ""))
    return shlex.join([word for name, value in settings.items() for word in ("--conf", f"{name}={value}")])


def is_interleaved(entries: Sequence[Entry]) -> bool:
    """Whether pages come from all nodes: that is no variable without Trimtab, but a command in front of the program's."""
    return any(entry.subject == START and INTERLEAVE_VARIABLE in entry.settings for entry in entries)
