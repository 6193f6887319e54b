"""What one process sent to other localities: the samples of its counters of messages (docs/reference/run-directory.md, "Messages")."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from trimtab.analysis.samples import samples_of, seconds_of
from trimtab.analysis.saturation import saturated_times
from trimtab.model import Process

_INSTANCE = re.compile(
    r"/(?P<object>parcels|messages|servers)\{locality#(?P<from>\d{1,9})(?:/to#(?P<to>\d{1,9}))?"
    r"(?:/subject#(?P<subject>\d{1,9})|/action#(?P<action>.*)|/server#(?P<server>\d{1,9})|/total)?\}/(?P<name>[^{}]+)",
    re.DOTALL,
)
_PHASE = re.compile(r"/phase\{locality#\d{1,9}/name#(?P<name>.*)\}/count/begun", re.DOTALL)
_SIZES = "sizes/below-"
# What has come before this part of a total is no part of "most of it".
_BEFORE = 0.1
# What has no subject in the source.
_UNKNOWN_FUNCTION = "unknown function"


@dataclass
class Sent:
    """Parcels of one action to one locality; `sizes` by the bytes that they are shorter than."""

    count: int = 0
    bytes: int = 0
    sizes: dict[int, int] = field(default_factory=dict)

    def add(self, other: Sent) -> None:
        """Parcels of another time."""
        self.count += other.count
        self.bytes += other.bytes
        for below, count in other.sizes.items():
            self.sizes[below] = self.sizes.get(below, 0) + count


@dataclass
class Destination:
    """Everything to one locality; actions by label and key."""

    messages: int = 0
    message_bytes: int = 0
    queued_wait_s: float = 0.0
    actions: dict[tuple[str, str | None], Sent] = field(default_factory=dict)

    def add(self, other: Destination) -> None:
        """What went there at another time."""
        self.messages += other.messages
        self.message_bytes += other.message_bytes
        self.queued_wait_s += other.queued_wait_s
        for action, added in other.actions.items():
            self.actions.setdefault(action, Sent()).add(added)


@dataclass
class Traffic:
    """What one locality sent, and what it counted in all, by the counter's path without instance.

    `servers`: the last values of each communication server, by the counter's path without instance; `saturated_s`: for how
    long each sent without a pause while senders were refused.
    """

    locality: int
    destinations: dict[int, Destination] = field(default_factory=dict)
    totals: dict[str, float] = field(default_factory=dict)
    servers: dict[int, dict[str, float]] = field(default_factory=dict)
    saturated_s: dict[int, float] = field(default_factory=dict)

    def add(self, other: Traffic) -> None:
        """What the same locality sent at another time, to each destination."""
        for to, added in other.destinations.items():
            self.destinations.setdefault(to, Destination()).add(added)

    @property
    def parcels(self) -> int:
        """That it sent."""
        return sum(sent.count for to in self.destinations.values() for sent in to.actions.values())

    @property
    def messages(self) -> int:
        """That it sent, with parcels."""
        return sum(to.messages for to in self.destinations.values())

    @property
    def queued_wait_s(self) -> float:
        """Its workers had nothing to do while parcels of theirs waited in queues."""
        return sum(to.queued_wait_s for to in self.destinations.values())


def is_of_flow(name: str) -> bool:
    """Whether a counter is of one flow, one communication server or one phase: the report has these elsewhere."""
    if phase_name(name) is not None:
        return True
    match = _INSTANCE.fullmatch(name)
    return match is not None and (match["to"] is not None or match["server"] is not None)


def phase_name(counter: str) -> str | None:
    """The phase whose begins a counter counts; None: it is another counter.

    >>> phase_name("/phase{locality#0/name#rotation}/count/begun")
    'rotation'
    """
    match = _PHASE.fullmatch(counter)
    return match["name"] if match is not None else None


def traffic_of(process: Process, places: Mapping[int, Any], keys: Mapping[int, str]) -> Traffic | None:
    """The traffic of a process; None where it recorded none."""
    traffic = traffic_from(_last_values(process), places, keys)
    if traffic is not None and traffic.servers:
        traffic.saturated_s = saturated_times(process, traffic.locality, traffic.servers)
    return traffic


def traffic_from(
    values: Iterable[tuple[re.Match[str], float]], places: Mapping[int, Any], keys: Mapping[int, str]
) -> Traffic | None:
    """The traffic that these counters count; None without any."""
    traffic: Traffic | None = None
    for match, value in values:
        if traffic is None:
            traffic = Traffic(int(match["from"]))
        name = match["name"]
        if match["server"] is not None:
            traffic.servers.setdefault(int(match["server"]), {})[f"/{match['object']}/{name}"] = value
            continue
        if match["to"] is None:
            traffic.totals[f"/{match['object']}/{name}"] = value
            continue
        to = traffic.destinations.setdefault(int(match["to"]), Destination())
        if match["subject"] is None and match["action"] is None:
            _add_to_destination(to, match["object"], name, value)
        else:
            sent = to.actions.setdefault(_action(match, places, keys), Sent())
            _add_to_action(sent, name, value)
    return traffic


def waited_since(process: Process, path: str) -> float | None:
    """Since when a counter of the whole locality has grown by the last 90 % of its value, in seconds of the process.

    None: it has not grown between two samples.
    """
    numbers = [
        number
        for number, match in _counters(process).items()
        if match["to"] is None and match["server"] is None and f"/{match['object']}/{match['name']}" == path
    ]
    samples = samples_of(process, numbers)
    if len(samples) < 2:
        return None
    samples = samples[np.argsort(samples["ticks"], kind="stable")]
    before = np.flatnonzero(samples["value"] <= _BEFORE * samples["value"][-1])
    if not len(before):
        return None
    return max(float(seconds_of(process, samples["ticks"][before[-1]])), 0.0)


def flow_counters(process: Process) -> dict[int, re.Match[str]]:
    """The counters of single flows, by number."""
    return {number: match for number, match in _counters(process).items() if match["to"] is not None}


def _counters(process: Process) -> dict[int, re.Match[str]]:
    return {
        number: match
        for number, counter in process.counters.items()
        if (match := _INSTANCE.fullmatch(counter.name)) is not None
    }


def _last_values(process: Process) -> Iterator[tuple[re.Match[str], float]]:
    """The counters of messages with their last samples, negative ones left out: a file may be damaged."""
    matches = _counters(process)
    samples = samples_of(process, list(matches))
    numbers, last_places = np.unique(samples["counter"][::-1], return_index=True)
    for number, place in zip(numbers, last_places, strict=True):
        value = float(samples["value"][len(samples) - 1 - place])
        if value >= 0:
            yield matches[int(number)], value


def _action(
    match: re.Match[str], places: Mapping[int, Any], keys: Mapping[int, str]
) -> tuple[str, str | None]:
    if match["action"] is not None:
        return match["action"], None
    number = int(match["subject"])
    return (places[number][0], keys[number]) if number in places else (_UNKNOWN_FUNCTION, None)


def _add_to_destination(to: Destination, kind: str, name: str, value: float) -> None:
    if (kind, name) == ("messages", "count/sent"):
        to.messages += int(value)
    elif (kind, name) == ("messages", "bytes/sent"):
        to.message_bytes += int(value)
    elif (kind, name) == ("parcels", "time/queued-wait"):
        to.queued_wait_s += value


def _add_to_action(sent: Sent, name: str, value: float) -> None:
    if name == "count/sent":
        sent.count += int(value)
    elif name == "bytes/sent":
        sent.bytes += int(value)
    elif name.startswith(_SIZES) and name.removeprefix(_SIZES).isdecimal() and len(name) < 40:
        below = int(name.removeprefix(_SIZES))
        sent.sizes[below] = sent.sizes.get(below, 0) + int(value)
