"""Perfetto's protobuf trace (opens in ui.perfetto.dev): a track for each lane, its CPU, and each counter.

Every packet of a lane is one of a few templates with its numbers filled in, so that a block of events becomes
bytes without a Python step for each. Field numbers are those of perfetto/protos/trace.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from trimtab.export import wire
from trimtab.export.arrow_items import ArrowItems
from trimtab.export.cpus import HostTracks
from trimtab.export.labels import CATEGORIES, FIGURES, Namer, figure_of, has_figures
from trimtab.export.source import BLOCK, Advance, Integers, Series, View
from trimtab.model import Lane
from trimtab.traces.arrows import FIRST_PARCEL
from trimtab.traces.slices import Role, Slices

_BEGIN, _END, _INSTANT, _COUNTER = 1, 2, 3, 4
_CLEARED, _NEEDS_STATE = 1, 2
# Bytes that a number has in a row: 8 of 7 bits are two years of nanoseconds, 4 are 268 million.
_TIME, _NAME, _VALUE = 8, 4, 10
_CATEGORY_IIDS = {name: at + 1 for at, name in enumerate(sorted({*CATEGORIES.values(), "cpu"}))}
_FIGURE_IIDS = {
    name: at + 1
    for at, name in enumerate(sorted({figure[0] for figures in FIGURES.values() for figure in figures}))
}


def _packet(sequence: int, *parts: bytes) -> bytes:
    return wire.message(1, *parts, wire.number(10, sequence))


class _Template:
    """One packet's bytes, and where in them the numbers go."""

    def __init__(
        self, sequence: int, kind: int, role: Role | None, is_figured: bool, leaving: int, entering: int
    ):
        figures = FIGURES.get(role, ()) if role is not None and is_figured and kind != _END else ()
        event = [wire.number(9, kind)]
        marks: list[bytes] = []
        if kind != _END and role is not None:
            event += [wire.number(3, _CATEGORY_IIDS[CATEGORIES[role]])]
            event += [wire.varint(10 << 3) + self._mark(marks, _NAME)]
            for name, _, is_signed in figures:
                value = wire.varint((4 if is_signed else 3) << 3) + self._mark(marks, _VALUE)
                event += [wire.message(4, wire.number(1, _FIGURE_IIDS[name]), value)]
        for field, count in ((47, leaving), (48, entering)):
            for _ in range(count):
                event += [wire.varint(field << 3 | 1) + self._mark(marks, 8)]
        time = wire.varint(8 << 3) + self._mark(marks, _TIME)
        whole = _packet(sequence, time, wire.number(13, _NEEDS_STATE), wire.message(11, *event))
        self.figures = figures
        self.is_named = kind != _END and role is not None
        # A mark is a run of one byte that nothing else has: found again, it tells the place.
        self.time = whole.index(marks[-1])
        self.places = [whole.index(mark) for mark in marks[:-1]]
        self.bytes = np.frombuffer(whole, np.uint8)

    @staticmethod
    def _mark(marks: list[bytes], width: int) -> bytes:
        # Numbered from 0x80 on: 64 marks may be told apart, and longer lists of arrows are cut (see _MOST_ARROWS).
        marks.append(bytes([0x80 + len(marks)]) * width)
        return marks[-1]


# Of one task in one direction; a viewer cannot show more.
_MOST_ARROWS = 24


class Perfetto:
    """Writes a trace to `stream`, process by process."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._sequence = 1
        self._arrow_base = 0
        self._touched = ArrowItems.none()
        self._uuid = 0

    def _next_uuid(self) -> int:
        self._uuid += 1
        return self._uuid

    def _write(self, *parts: bytes) -> None:
        self._stream.write(_packet(self._sequence, *parts))

    def process(self, view: View, advance: Advance) -> None:
        """All of one process."""
        process = self._next_uuid()
        names = b"".join(wire.text(2, part) for part in view.process.command[:64])
        described = wire.number(1, view.number) + names + wire.text(6, view.name)
        self._write(wire.message(60, wire.number(1, process), wire.message(3, described)))
        lanes = {lane.id: self._lane(view, lane, advance) for lane in view.process.lanes}
        for series in view.series():
            self._counter(series, lanes.get(-1 if series.lane is None else series.lane, process))
        self._arrow_base += view.arrows.count

    def host(self, host: HostTracks) -> None:
        """The CPUs of a host, as threads of a process."""
        described = wire.number(1, host.number) + wire.text(6, host.name)
        self._write(wire.message(60, wire.number(1, self._next_uuid()), wire.message(3, described)))
        for track in host.cpus:
            uuid = self._next_uuid()
            self._sequence += 1
            thread = (
                wire.number(1, host.number),
                wire.number(2, track.cpu + 1),
                wire.text(5, f"CPU {track.cpu}"),
            )
            self._write(wire.message(60, wire.number(1, uuid), wire.message(4, *thread)))
            self._cpu_slices(uuid, track.begins, track.ends, track.name, track.names)

    def _lane(self, view: View, lane: Lane, advance: Advance) -> int:
        track = self._next_uuid()
        self._sequence += 1
        thread = (
            wire.number(1, view.number),
            wire.number(2, view.number_of(lane)),
            wire.text(5, view.lane_name(lane)),
        )
        self._write(wire.message(60, wire.number(1, track), wire.message(4, *thread)))
        self._begin_sequence(track)
        namer = Namer(view.places)
        slices = view.slices(lane)
        self._touched = ArrowItems.of(slices).entering_after_waits(slices)
        already_interned = 0
        if view.is_cut(lane) and len(slices):
            self._gap(view, slices)
        for low in range(0, len(slices), BLOCK):
            high = min(low + BLOCK, len(slices))
            named = np.flatnonzero(slices.change[low:high] != -1) + low
            numbers = np.zeros(high - low, np.int64)
            numbers[named - low] = namer.numbers(slices, lane.events, named) + 1
            self._intern(namer.names, already_interned)
            already_interned = len(namer.names)
            self._stream.write(self._block(view, lane, slices, low, high, numbers))
            advance((high - low) * len(lane.events) // len(slices))
        self._on_cpu(view, lane, track)
        return track

    def _begin_sequence(self, track: int) -> None:
        categories = (
            wire.message(1, wire.number(1, iid), wire.text(2, name)) for name, iid in _CATEGORY_IIDS.items()
        )
        figures = (
            wire.message(3, wire.number(1, iid), wire.text(2, name)) for name, iid in _FIGURE_IIDS.items()
        )
        self._write(
            wire.number(13, _CLEARED),
            wire.message(59, wire.message(11, wire.number(11, track))),
            wire.message(12, *categories, *figures),
        )

    def _intern(self, names: list[str], already_interned: int) -> None:
        if len(names) > already_interned:
            new = (
                wire.message(2, wire.number(1, at + 1), wire.text(2, names[at]))
                for at in range(already_interned, len(names))
            )
            self._write(wire.number(13, _NEEDS_STATE), wire.message(12, *new))

    def _gap(self, view: View, slices: Slices) -> None:
        """What is missing before the first event is said on the track itself."""
        at = int(view.ns(slices.ticks[:1])[0])
        note = (
            wire.number(9, _INSTANT),
            wire.text(23, "recorded from here on: older events were overwritten"),
        )
        self._write(wire.number(8, max(at, 0)), wire.number(13, _NEEDS_STATE), wire.message(11, *note))

    def _block(self, view: View, lane: Lane, slices: Slices, low: int, high: int, names: Integers) -> bytes:
        """The packets of a block of slices, in their order."""
        time = wire.padded(view.ns(slices.ticks[low:high]), _TIME)
        change, source = slices.change[low:high], slices.source[low:high]
        role = slices.role[low:high]
        leaving, entering = _arrows_at(
            view, lane, (low, slices.source[low:high]), self._touched, base=self._arrow_base
        )
        shown = _Shown(view, lane, source, names, leaving, entering)
        figured = np.ones(high - low, np.bool_)
        work = np.flatnonzero(role == Role.WORK)
        figured[work] = has_figures(lane.events, Role.WORK, source[work])
        kind = np.array([_INSTANT, _BEGIN, _END])[change]  # 0, 1, -1: from the end
        # Ends are all alike, whatever they end.
        keys = (kind << 24) | (role.astype(np.int64) << 16) | (figured << 12)
        keys = np.where(kind == _END, _END << 24, keys) + leaving.counts * 32 + entering.counts
        distinct, inverse = np.unique(keys, return_inverse=True)
        templates = [
            _Template(self._sequence, k >> 24, Role((k >> 16) & 0xFF), bool(k >> 12 & 1), k >> 5 & 31, k & 31)
            for k in distinct.tolist()
        ]
        sizes = np.array([len(template.bytes) for template in templates])[inverse]
        ends = np.cumsum(sizes)
        out = np.empty(int(ends[-1]), np.uint8)
        for at, template in enumerate(templates):
            items_of_template = np.flatnonzero(inverse == at)
            rows = np.tile(template.bytes, (len(items_of_template), 1))
            rows[:, template.time : template.time + _TIME] = time[items_of_template]
            for place, width, values in shown.numbers(template, items_of_template):
                rows[:, place : place + width] = values
            out[(ends[items_of_template] - sizes[items_of_template])[:, None] + np.arange(rows.shape[1])] = (
                rows
            )
        return out.tobytes()

    def _on_cpu(self, view: View, lane: Lane, track: int) -> None:
        begins, ends, names = view.times_on_cpu(lane)
        if not names:
            return
        child_track = self._next_uuid()
        self._sequence += 1
        self._write(
            wire.message(
                60,
                wire.number(1, child_track),
                wire.text(2, f"{view.lane_name(lane)}, CPU"),
                wire.number(5, track),
            )
        )
        sorted_names = sorted(set(names))
        numbers = np.searchsorted(np.array(sorted_names), np.array(names))
        self._cpu_slices(child_track, begins, ends, numbers, sorted_names)

    def _cpu_slices(
        self, track: int, begins: Integers, ends: Integers, name: Integers, names: list[str]
    ) -> None:
        """Slices of category cpu on a track, as a sequence of their own; the i-th is called `names[name[i]]`."""
        self._begin_sequence(track)
        self._intern(names, 0)
        state, marks = wire.number(13, _NEEDS_STATE), [bytes([byte]) * _TIME for byte in (0xFD, 0xFE, 0xFF)]
        category = wire.number(3, _CATEGORY_IIDS["cpu"])
        begin = wire.message(11, wire.number(9, _BEGIN), category, wire.varint(10 << 3), marks[1])
        end = wire.message(11, wire.number(9, _END))
        # Begin and end of each time in one row.
        template = _packet(self._sequence, wire.varint(8 << 3) + marks[0], state, begin) + _packet(
            self._sequence, wire.varint(8 << 3) + marks[2], state, end
        )
        for low in range(0, len(begins), BLOCK):
            part = slice(low, low + BLOCK)
            values = (begins[part], name[part] + 1, ends[part])
            self._rows(template, list(zip(marks, (wire.padded(each, _TIME) for each in values), strict=True)))

    def _rows(self, template: bytes, numbers: list[tuple[bytes, wire.Bytes]]) -> None:
        """The same bytes again and again, with numbers in place of their marks."""
        rows = np.tile(np.frombuffer(template, np.uint8), (len(numbers[0][1]), 1))
        for mark, values in numbers:
            place = template.index(mark)
            rows[:, place : place + len(mark)] = values
        self._stream.write(rows.tobytes())

    def _counter(self, series: Series, parent: int) -> None:
        track = self._next_uuid()
        self._sequence += 1
        unit = wire.message(8, wire.text(6, series.unit))
        self._write(
            wire.message(60, wire.number(1, track), wire.text(2, series.name), wire.number(5, parent), unit)
        )
        event = wire.number(9, _COUNTER) + wire.number(11, track) + wire.varint(44 << 3 | 1)
        time, value = b"\xfe" * _TIME, b"\xff" * 8
        packet = _packet(self._sequence, wire.varint(8 << 3) + time, wire.message(11, event, value))
        self._rows(
            packet, [(time, wire.padded(series.ns, _TIME)), (value, wire.little_endian(series.values))]
        )


class _Touching:
    """How many arrows leave or enter each item of a block, and which."""

    def __init__(self, size: int) -> None:
        self.counts = np.zeros(size, np.int64)
        self.first = np.zeros(size, np.int64)
        self.numbers: NDArray[np.uint64] = np.empty(0, np.uint64)

    def add(self, items: Integers, counts: Integers, numbers: NDArray[np.uint64]) -> None:
        """Arrows `numbers`, `counts` of them for each of `items` in turn."""
        self.first[items] = len(self.numbers) + np.cumsum(counts) - counts
        self.counts[items] = np.minimum(counts, _MOST_ARROWS)
        self.numbers = np.concatenate([self.numbers, numbers])


@dataclass(frozen=True)
class _Shown:
    """The items of a block: the events that they come from, their names, and the arrows that touch them."""

    view: View
    lane: Lane
    source: Integers
    names: Integers
    leaving: _Touching
    entering: _Touching

    def numbers(self, template: _Template, items_of_template: Integers) -> Iterator[tuple[int, int, Any]]:
        """Place, width and bytes of the numbers of a template, for `items_of_template`."""
        places = iter(template.places)
        if template.is_named:
            yield next(places), _NAME, wire.padded(self.names[items_of_template], _NAME)
        for name, field, _ in template.figures:
            values = figure_of(
                self.lane.events, name, field, self.source[items_of_template], self.view.process.ns_per_tick
            )
            yield next(places), _VALUE, wire.padded(values, _VALUE)
        for touching in (self.leaving, self.entering):
            for nth in range(int(touching.counts[items_of_template[0]])):
                yield (
                    next(places),
                    8,
                    wire.little_endian(touching.numbers[touching.first[items_of_template] + nth]),
                )


def _arrows_at(
    view: View, lane: Lane, block: tuple[int, Integers], touched: ArrowItems, *, base: int
) -> tuple[_Touching, _Touching]:
    """Of a block, which begins at an item and shows these events. Numbers of arrows are unique in the whole trace: `base` are
    those of the processes before."""
    low, source = block
    high = low + len(source)
    leaving, entering = _Touching(len(source)), _Touching(len(source))
    for touching, is_touched, flows in (
        (leaving, touched.leaving, view.arrows.leaving.get(lane.id)),
        (entering, touched.entering, view.arrows.entering.get(lane.id)),
    ):
        if flows is not None:
            items = np.flatnonzero(is_touched[low:high])
            counts, numbers = flows.at(source[items])
            touching.add(items, counts, np.where(numbers < FIRST_PARCEL, numbers + np.uint64(base), numbers))
    return leaving, entering
