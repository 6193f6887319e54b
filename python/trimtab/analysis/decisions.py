"""What was changed while the program ran, why, and what became of it."""

from __future__ import annotations

import math
from itertools import groupby
from typing import Any

from trimtab.analysis.regions import Places
from trimtab.model import OUTCOMES, Knob, Process
from trimtab.model.report import Change, Decision


def decisions(process: Process, process_id: str, places: Places) -> list[Decision]:
    """One entry a decision, in order of time; a decision may turn several knobs of its subject."""
    if process.decisions is None:
        return []
    # A knob is missing where its name found no room.
    records = [
        (record, knob)
        for record in process.decisions
        if (knob := process.knobs.get(int(record["knob"]))) is not None
    ]
    return [
        _decision(process, process_id, places, list(decision_records))
        for _, decision_records in groupby(records, key=lambda pair: int(pair[0]["number"]))
    ]


def _decision(process: Process, process_id: str, places: Places, records: list[tuple[Any, Knob]]) -> Decision:
    first, knob = records[0]
    subject = int(first["subject"])
    reason, evidence = _texts(bytes(first["text"]))
    gain, uncertainty, pairs = _gain(first)
    return Decision(
        process=process_id,
        number=int(first["number"]),
        time_s=(int(first["ticks"]) - int(process.header["start_ticks"])) * process.ns_per_tick * 1e-9,
        subject=places[subject][0] if subject in places else f"subject {subject}",
        key=knob.key,
        notes=_notes(process, knob.key),
        changes=tuple(_change(record, knob) for record, knob in records),
        outcome=OUTCOMES.get(int(first["outcome"]), f"outcome {first['outcome']}"),
        policy=process.policies.get(int(first["policy"])),
        reason=reason,
        evidence=evidence,
        gain=gain,
        uncertainty=uncertainty,
        pairs=pairs,
    )


def _gain(record: Any) -> tuple[float | None, float | None, int]:
    """Gain, its uncertainty, and the pairs of measurements that both rest on."""
    pairs, gain, uncertainty = int(record["pairs"]), float(record["gain"]), float(record["uncertainty"])
    is_damaged = not (math.isfinite(gain) and math.isfinite(uncertainty))
    # A damaged record is read as if nothing had been measured.
    return (None, None, 0) if is_damaged or not pairs else (gain, uncertainty, pairs)


def _change(record: Any, knob: Knob) -> Change:
    return Change(knob.name, knob.text_of(int(record["from"])), knob.text_of(int(record["to"])))


def _notes(process: Process, key: str) -> dict[str, str]:
    """What there is to remember besides the knobs' values, by name; names have a dot (settings.hpp of rooms/steer)."""
    by_subject = {}
    for fact, value in process.facts.items():
        name, _, its_key = fact.partition(" ")
        if key and its_key == key and "." in name:
            by_subject[name] = value
    return by_subject


def _texts(raw: bytes) -> tuple[str, dict[str, float]]:
    """Reason, and the figures that are its evidence, as far as they were not cut off."""
    reason, _, rest = raw.partition(b"\0")
    evidence = {}
    for word in rest.split(b"\0", 1)[0].decode("utf-8", "replace").split():
        name, equals, value = word.rpartition("=")
        try:
            figure = float(value)
        except ValueError:
            continue
        if equals and math.isfinite(figure):
            evidence[name] = figure
    return reason.decode("utf-8", "replace"), evidence
