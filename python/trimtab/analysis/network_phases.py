"""The messages of a job by phase: as the program declares phases, else in parts of equal length of the run.

Counters of flows are samples of totals. A phase begins with samples of all counters that have changed (docs/reference/run-directory.md,
"Messages"), so its growth is exact. Between other samples, totals are taken to grow evenly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from trimtab.analysis.network import flows_of
from trimtab.analysis.samples import Floats, over_time, samples_of, seconds_of
from trimtab.analysis.traffic import Traffic, flow_counters, phase_name, traffic_from
from trimtab.model import Process
from trimtab.model.report import Flow, NetworkPhase

# Parts of a run without phases; fewer where this would be more flows than a report has room for.
_PARTS = 10
_LEAST_PARTS = 2
_MOST_FLOWS = 5000

Interval = tuple[str | None, float, float]


@dataclass(frozen=True)
class Sender:
    """One locality: its records, and when it lived, in seconds since the first process of the job began."""

    process: Process
    places: Mapping[int, Any]
    keys: Mapping[int, str]
    begin_s: float
    end_s: float


def network_phases(senders: Sequence[Sender]) -> list[NetworkPhase]:
    """In the order in which they began; empty without messages, or if the flows are too many."""
    declared = {at: _declared(sender) for at, sender in enumerate(senders)}
    if any(declared.values()):
        return _phases(senders, declared)
    parts = _number_of_parts(senders)
    if parts < _LEAST_PARTS:
        return []
    edges = np.linspace(
        min(sender.begin_s for sender in senders), max(sender.end_s for sender in senders), parts + 1
    )
    intervals: list[Interval] = [(None, low, high) for low, high in pairwise(edges)]
    by_sender = [_traffic_in(sender, intervals, is_exact=False) for sender in senders]
    return [
        NetworkPhase(None, float(low), float(high), _flows([own[at] for own in by_sender]))
        for at, (_, low, high) in enumerate(intervals)
    ]


def _number_of_parts(senders: Sequence[Sender]) -> int:
    actions = {
        (at, match["to"], match["subject"], match["action"])
        for at, sender in enumerate(senders)
        for match in flow_counters(sender.process).values()
    }
    return min(_PARTS, _MOST_FLOWS // len(actions)) if actions else 0


def _declared(sender: Sender) -> list[Interval]:
    """The phases of one locality, one after another; what was before the first has no name."""
    process = sender.process
    names = {
        number: name
        for number, counter in process.counters.items()
        if (name := phase_name(counter.name)) is not None
    }
    if not names:
        return []
    samples = samples_of(process, list(names))
    samples = samples[np.argsort(samples["ticks"], kind="stable")]
    begins = [sender.begin_s, *(sender.begin_s + seconds_of(process, samples["ticks"]))]
    titles = [None, *(names[int(number)] for number in samples["counter"])]
    ends = [*begins[1:], max(sender.end_s, begins[-1])]
    return list(zip(titles, begins, ends, strict=True))


def _phases(senders: Sequence[Sender], declared: Mapping[int, list[Interval]]) -> list[NetworkPhase]:
    """A locality that declares none has sent everything in the one without a name."""
    spans: dict[str | None, tuple[float, float]] = {}
    traffics: dict[str | None, list[Traffic]] = {}
    for at, sender in enumerate(senders):
        intervals = declared[at] or [(None, sender.begin_s, sender.end_s)]
        for (name, low, high), traffic in zip(
            intervals, _traffic_in(sender, intervals, is_exact=True), strict=True
        ):
            begin, end = spans.get(name, (low, high))
            spans[name] = (min(begin, low), max(end, high))
            if traffic is not None:
                traffics.setdefault(name, []).append(traffic)
    phases = [
        NetworkPhase(name, float(begin), float(end), _flows(traffics.get(name, [])))
        for name, (begin, end) in spans.items()
    ]
    return sorted(
        (phase for phase in phases if phase.flows or phase.name is not None),
        key=lambda phase: (phase.begin_s, phase.name is not None),
    )


def _flows(traffics: Sequence[Traffic | None]) -> tuple[Flow, ...]:
    """Those with parcels; what one locality sent in a phase that it began several times is one flow."""
    senders: dict[int, Traffic] = {}
    for traffic in traffics:
        if traffic is not None:
            senders.setdefault(traffic.locality, Traffic(traffic.locality)).add(traffic)
    return tuple(flow for flow in flows_of(senders.values()) if flow.count)


def _traffic_in(sender: Sender, intervals: Sequence[Interval], *, is_exact: bool) -> list[Traffic | None]:
    """What a locality sent in each of these intervals, which follow one another."""
    edges = np.array([intervals[0][1], *(high for _, _, high in intervals)]) - sender.begin_s
    grown = [
        (match, _growth(sender.process, number, edges, is_exact=is_exact))
        for number, match in flow_counters(sender.process).items()
    ]
    return [
        traffic_from(
            ((match, float(growth[at])) for match, growth in grown if growth[at] > 0),
            sender.places,
            sender.keys,
        )
        for at in range(len(intervals))
    ]


def _growth(process: Process, number: int, edges: Floats, *, is_exact: bool) -> Floats:
    """From each edge to the next. Whole numbers stay whole, and their sum is the last value."""
    times, values = over_time(process, number)
    times, values = times[values >= 0], np.maximum.accumulate(values[values >= 0])
    if is_exact:
        totals = values[np.searchsorted(times, edges, side="right") - 1]
    else:
        totals = np.interp(edges, times, values)
        if (values == np.floor(values)).all():
            totals = np.floor(totals)
    totals[0], totals[-1] = 0.0, values[-1]  # edges are the whole life, but for rounding
    return np.maximum(np.diff(totals), 0.0)
