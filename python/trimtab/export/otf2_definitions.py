"""The definitions of an OTF2 archive: they are collected while events are written, and written behind them."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from trimtab.otf2 import numbers
from trimtab.otf2.library import Library

_NONE = numbers.NO_UINT32


@dataclass(frozen=True)
class Clock:
    """When the first event was, how long the events last, nanoseconds; and the time of day when the run began."""

    length_ns: int
    real_ns: int
    nanoseconds_per_second: int = 1_000_000_000


@dataclass
class Definitions:
    """Definitions by number, in the order in which readers want them: each names only those before it."""

    _texts: dict[str, int] = field(default_factory=dict)
    _regions: dict[tuple[Any, ...], int] = field(default_factory=dict)
    _attributes: dict[tuple[str, int], int] = field(default_factory=dict)
    _parameters: dict[str, int] = field(default_factory=dict)
    _calls: list[tuple[str, tuple[Any, ...]]] = field(default_factory=list)
    _late: list[tuple[str, tuple[Any, ...]]] = field(default_factory=list)
    """What names locations, whose numbers of events are known last."""
    _kept: list[Any] = field(default_factory=list)
    _counts: dict[str, int] = field(default_factory=dict)

    def text(self, value: str) -> int:
        """The number of a string."""
        return self._texts.setdefault(value.replace("\0", "\ufffd"), len(self._texts))

    def attribute(self, name: str, kind: numbers.Type) -> int:
        """A value that belongs to events."""
        return self._attributes.setdefault((name, int(kind)), len(self._attributes))

    def parameter(self, name: str) -> int:
        """A value that has a moment of its own."""
        return self._parameters.setdefault(name, len(self._parameters))

    def region(
        self, name: str, role: numbers.Role, paradigm: numbers.Paradigm, place: tuple[str, int], about: str
    ) -> int:
        """What can be entered and left; `place` is its file and line."""
        return self._regions.setdefault((name, int(role), int(paradigm), place, about), len(self._regions))

    def _add(self, kind: str, *arguments: Any) -> None:
        self._calls.append((f"GlobalDefWriter_Write{kind}", arguments))

    def _next(self, kind: str) -> int:
        number = self._counts.get(kind, 0)
        self._counts[kind] = number + 1
        return number

    def paradigm(self, paradigm: numbers.Paradigm, name: str, paradigm_class: int) -> None:
        """A model of programming that events are of."""
        self._add("Paradigm", paradigm, self.text(name), paradigm_class)

    def node(self, name: str, kind: str, parent: int | None) -> int:
        """A node of the system tree: the machine without a parent, hosts with shared memory below it."""
        number = self._next("node")
        self._add(
            "SystemTreeNode",
            number,
            self.text(name),
            self.text(kind),
            _NONE if parent is None else parent,
        )
        if parent is not None:
            self._add("SystemTreeNodeDomain", number, numbers.SHARED_MEMORY)
        return number

    def location_group(self, name: str, node: int) -> int:
        """A process."""
        number = self._next("location group")
        self._add("LocationGroup", number, self.text(name), numbers.PROCESS_GROUP, node, _NONE)
        return number

    def location(
        self, number: int, name: str, kind: numbers.LocationType, events: int, location_group: int
    ) -> None:
        """A lane, or the counters of a process."""
        self._add("Location", number, self.text(name), kind, events, location_group)

    def _group(
        self, name: str, kind: numbers.GroupType, paradigm: numbers.Paradigm, members: Sequence[int]
    ) -> int:
        number = self._next("group")
        array = (ctypes.c_uint64 * len(members))(*members)
        self._kept.append(array)
        self._add("Group", number, self.text(name), kind, paradigm, 0, len(members), ctypes.addressof(array))
        return number

    def communicators(
        self, paradigm: numbers.Paradigm, locations: Sequence[int], parts: Iterable[tuple[str, Sequence[int]]]
    ) -> list[int]:
        """One for each part, whose members are given by their places in `locations`."""
        self._group("", numbers.GroupType.COMM_LOCATIONS, paradigm, locations)
        result = []
        for name, members in parts:
            group = self._group(name, numbers.GroupType.COMM_GROUP, paradigm, members)
            result.append(self._next("comm"))
            self._add("Comm", result[-1], self.text(name), group, _NONE, 0)
        return result

    def metric(self, name: str, unit: str, is_cumulative: bool) -> int:
        """The class of one counter's values."""
        member, number = self._next("member"), self._next("metric")
        mode = numbers.ACCUMULATED_START if is_cumulative else numbers.ABSOLUTE_POINT
        self._add(
            "MetricMember",
            member,
            self.text(name),
            self.text(""),
            numbers.OTHER_METRIC,
            mode,
            numbers.Type.DOUBLE,
            numbers.DECIMAL,
            0,
            self.text(unit),
        )
        members = (ctypes.c_uint32 * 1)(member)
        self._kept.append(members)
        self._add(
            "MetricClass",
            number,
            1,
            ctypes.addressof(members),
            numbers.ASYNCHRONOUS,
            numbers.ABSTRACT_RECORDER,
        )
        return number

    def metric_of(self, metric: int, recorder: int, scope: numbers.Scope, about: int) -> int:
        """The values of a counter that a location records of a lane or a process."""
        number = self._next("metric")
        self._late.append(("GlobalDefWriter_WriteMetricInstance", (number, metric, recorder, scope, about)))
        return number

    def write(self, library: Library, writer: int, clock: Clock) -> None:
        """All of them."""
        regions = [
            (
                number,
                self.text(name),
                self.text(name),
                self.text(about),
                role,
                paradigm,
                0,
                self.text(file) if file else _NONE,
                line,
                line,
            )
            for (name, role, paradigm, (file, line), about), number in self._regions.items()
        ]
        attributes = [
            (number, self.text(name), self.text(""), kind)
            for (name, kind), number in self._attributes.items()
        ]
        parameters = [
            (number, self.text(name), numbers.UNSIGNED_PARAMETER) for name, number in self._parameters.items()
        ]
        library.call(
            "GlobalDefWriter_WriteClockProperties",
            writer,
            clock.nanoseconds_per_second,
            0,
            clock.length_ns,
            clock.real_ns,
        )
        for text, number in self._texts.items():
            library.call("GlobalDefWriter_WriteString", writer, number, text.encode("utf-8", "replace"))
        for kind, rows in (("Attribute", attributes), ("Region", regions), ("Parameter", parameters)):
            for row in rows:
                library.call(f"GlobalDefWriter_Write{kind}", writer, *row)
        for name, arguments in (*self._calls, *self._late):
            library.call(name, writer, *arguments)
