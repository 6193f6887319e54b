"""What was changed while the program ran, why, and what became of it."""

from __future__ import annotations

import math
from typing import Any

from trimtab.analysis.regions import Places
from trimtab.model import OUTCOMES, Process


def decisions(process: Process, places: Places) -> list[dict[str, Any]]:
    """One entry a decision, in order of time; a decision may turn several knobs of its subject."""
    found: list[dict[str, Any]] = []
    if process.decisions is None:
        return found
    for record in process.decisions:
        knob = process.knobs.get(int(record["knob"]))
        if knob is None:
            continue  # its name found no room
        first, last = int(record["from"]), int(record["to"])
        change = {"knob": knob.name, "from": knob.text_of(first), "to": knob.text_of(last)}
        number = int(record["number"])
        if found and found[-1]["number"] == number:
            found[-1]["changes"].append(change)
            continue
        subject = int(record["subject"])
        reason, evidence = _texts(bytes(record["text"]))
        pairs = int(record["pairs"])
        gain, uncertainty = float(record["gain"]), float(record["uncertainty"])
        if not (math.isfinite(gain) and math.isfinite(uncertainty)):
            pairs = 0  # damaged: as if nothing had been measured
        found.append(
            {
                "number": number,
                "time_s": (int(record["ticks"]) - int(process.header["start_ticks"]))
                * process.ns_per_tick
                * 1e-9,
                "subject": places[subject][0] if subject in places else f"subject {subject}",
                "key": knob.key,
                "notes": _notes(process, knob.key),
                "changes": [change],
                "outcome": OUTCOMES.get(int(record["outcome"]), f"outcome {record['outcome']}"),
                "policy": process.policies.get(int(record["policy"])),
                "reason": reason,
                "evidence": evidence,
                "gain": gain if pairs else None,
                "uncertainty": uncertainty if pairs else None,
                "pairs": pairs,
            }
        )
    return found


def _notes(process: Process, key: str) -> dict[str, str]:
    """What there is to remember besides the knobs' values, by name; names have a dot (settings.hpp of rooms/steer)."""
    found = {}
    for fact, value in process.facts.items():
        name, _, its_key = fact.partition(" ")
        if key and its_key == key and "." in name:
            found[name] = value
    return found


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
