"""Chrome's trace events as JSON (chrome://tracing, ui.perfetto.dev, speedscope): one event a line.

Slices are two events each, begin and end: viewers add up begin and duration in floating point, and slices that end together
would overlap by the last bit.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import IO, Any

import numpy as np

from trimtab.export.arrow_items import ArrowItems
from trimtab.export.cpus import HostTracks
from trimtab.export.labels import CATEGORIES, FIGURES, Namer, figure_of, has_figures
from trimtab.export.source import BLOCK, Advance, Integers, View
from trimtab.model import Lane
from trimtab.traces.arrows import FIRST_PARCEL, Flows
from trimtab.traces.lock_turns import ByEntry, lock_entries
from trimtab.traces.slices import Role, Slices

# Tracks of a lane's CPU times lie beside the threads, which have numbers below this. Viewers keep 32 bits of a number.
_CPU_TRACK = 1 << 31


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=True)


class Chrome:
    """Writes a trace to `stream`, process by process; `close` ends it."""

    def __init__(self, stream: IO[bytes], notes: list[str]) -> None:
        self._stream = stream
        self._arrow_base = 0
        self._locks_left: dict[int, ByEntry] = {}
        self._entered = np.empty(0, np.int64)
        self._earliest = np.empty(0, np.int64)
        self._touched = ArrowItems.none()
        metadata = _json({"tool": "trimtab", "notes": notes})
        stream.write(f'{{"displayTimeUnit":"ns","otherData":{metadata},"traceEvents":[\n'.encode())
        self._is_first = True

    def _lines(self, lines: Iterable[str]) -> None:
        text = ",\n".join(lines)
        if text:
            self._stream.write((text if self._is_first else ",\n" + text).encode())
            self._is_first = False

    def close(self) -> None:
        """End the list."""
        self._stream.write(b"\n]}\n")

    def process(self, view: View, advance: Advance) -> None:
        """All of one process."""
        pid = view.number
        self._locks_left = lock_entries(view.process).ticks_left()
        self._entered = _times_entered(view)
        self._lines([_metadata(pid, 0, "process_name", name=view.name)])
        for lane in view.process.lanes:
            tid = view.number_of(lane)
            self._lines(
                [
                    _metadata(pid, tid, "thread_name", name=view.lane_name(lane)),
                    _metadata(pid, tid, "thread_sort_index", sort_index=2 * lane.id),
                ]
            )
            slices, namer = view.slices(lane), Namer(view.places)
            self._earliest, self._touched = _latest_changes(slices), ArrowItems.of(slices)
            for low in range(0, len(slices), BLOCK):
                high = min(low + BLOCK, len(slices))
                self._lines(self._block(view, lane, slices, low, high, namer))
                advance((high - low) * len(lane.events) // len(slices))
            self._lines(_on_cpu(view, lane))
        self._lines(_counters(view))
        self._arrow_base += view.arrows.count

    def host(self, host: HostTracks) -> None:
        """The CPUs of a host."""
        self._lines([_metadata(host.number, 0, "process_name", name=host.name)])
        for track in host.cpus:
            tid = track.cpu + 1
            self._lines(
                [
                    _metadata(host.number, tid, "thread_name", name=f"CPU {track.cpu}"),
                    _metadata(host.number, tid, "thread_sort_index", sort_index=tid),
                ]
            )
            names = [_json(name) for name in track.names]
            for low in range(0, len(track.name), BLOCK):
                part = slice(low, low + BLOCK)
                quoted = [names[number] for number in track.name[part].tolist()]
                self._lines(_cpu_slices(host.number, tid, track.begins[part], track.ends[part], quoted))

    def _block(
        self, view: View, lane: Lane, slices: Slices, low: int, high: int, namer: Namer
    ) -> Iterator[str]:
        pid, tid = view.number, view.number_of(lane)
        change = slices.change[low:high]
        ends = np.flatnonzero(change) + low
        opens = slices.change[ends] == 1
        # What ends is told by name, which some viewers go by.
        begins = np.where(opens, ends, slices.partner[ends])
        names = namer.numbers(slices, lane.events, begins)
        quoted = [_json(name) for name in namer.names]
        role = slices.role[begins]
        arguments = iter(_arguments(view, lane, role[opens], slices.source[begins[opens]]))
        head = f'"pid":{pid},"tid":{tid},"ts":'
        for time_us, is_begin, number, text in zip(
            view.ns(slices.ticks[ends]).tolist(), opens.tolist(), names.tolist(), role.tolist(), strict=True
        ):
            mark, extra = ("B", next(arguments)) if is_begin else ("E", "")
            yield (
                f'{{"ph":"{mark}",{head}{_microseconds(time_us)},"cat":"{CATEGORIES[Role(text)]}","name":{quoted[number]}{extra}}}'
            )
        instants = np.flatnonzero(change == 0) + low
        names = namer.numbers(slices, lane.events, instants)
        at, source, role = view.ns(slices.ticks[instants]), slices.source[instants], slices.role[instants]
        quoted = [_json(name) for name in namer.names]
        for number, start, text, args in zip(
            names.tolist(), at.tolist(), role.tolist(), _arguments(view, lane, role, source), strict=True
        ):
            yield (
                f'{{"ph":"i","s":"t","pid":{pid},"tid":{tid},"ts":{_microseconds(start)},'
                f'"cat":"{CATEGORIES[Role(text)]}","name":{quoted[number]}{args}}}'
            )
        if view.arrows.leaving or view.arrows.entering:
            yield from self._arrows(view, lane, slices, low, high)

    def _arrows(self, view: View, lane: Lane, slices: Slices, low: int, high: int) -> Iterator[str]:
        leaving, entering = view.arrows.leaving.get(lane.id), view.arrows.entering.get(lane.id)
        if leaving is not None:
            items = np.flatnonzero(self._touched.leaving[low:high]) + low
            starts = view.ns(slices.ticks[items])
            # An arrow leaves a task where it ends: its last nanosecond still is inside.
            partner = slices.partner[items]
            ends = np.where(partner < 0, starts, np.maximum(view.ns(slices.ticks[partner]) - 1, starts))
            locks = np.flatnonzero(slices.role[items] == Role.LOCK)
            if len(locks):
                entries = slices.source[items[locks]]
                left = view.ns_of(self._locks_left[lane.id].of(entries).astype(np.uint64)) - 1
                ends[locks] = np.minimum(ends[locks], np.maximum(left, starts[locks]))
            placed = slices.source[items], view.ns(self._earliest[items]), ends
            yield from self._ends_of_arrows(view, lane, "s", placed, leaving)
        if entering is not None:
            items = np.flatnonzero(self._touched.entering[low:high]) + low
            had = view.ns(slices.ticks[items])
            # The slice of a lock begins with the wait for it, but the arrow comes when it is had.
            locks = np.flatnonzero(slices.role[items] == Role.LOCK)
            had[locks] = view.ns_of(lane.events["ticks"][slices.source[items[locks]]])
            placed = slices.source[items], had, had
            yield from self._ends_of_arrows(view, lane, "f", placed, entering)

    def _ends_of_arrows(
        self, view: View, lane: Lane, phase: str, items: tuple[Integers, Integers, Integers], flows: Flows
    ) -> Iterator[str]:
        """`items`: of slices and instants the event that they are of, since when the same slice lasts, and where arrows touch it."""
        places, earliest, at = items
        counts, numbers = flows.at(places)
        bind_point = ',"bp":"e"' if phase == "f" else ""
        times = np.repeat(at, counts)
        if phase == "s":
            # What a task gave may have been taken before that was recorded; viewers drop arrows that end before they begin.
            own = np.flatnonzero(numbers < FIRST_PARCEL)
            entered = self._entered[numbers[own].astype(np.int64)] - 1
            times[own] = np.minimum(times[own], np.maximum(entered, np.repeat(earliest, counts)[own]))
        for number, time_us in zip(numbers.tolist(), times.tolist(), strict=True):
            if number >= FIRST_PARCEL:
                name, arrow = "parcel", number
            else:
                name = "goes on" if number >= view.arrows.first_going_on else "before"
                arrow = number + self._arrow_base
            yield (
                f'{{"ph":"{phase}","pid":{view.number},"tid":{view.number_of(lane)},"ts":{_microseconds(time_us)},'
                f'"id":{arrow},"cat":"task","name":"{name}"{bind_point}}}'
            )


def _latest_changes(slices: Slices) -> Integers:
    """Of a slice its begin, of an instant when the slice around it began or the last one inside that ended, in ticks."""
    latest: Integers = np.maximum.accumulate(np.where(slices.change != 0, slices.ticks, 0))
    return latest


def _times_entered(view: View) -> Integers:
    """When each arrow of a process ends, by its number."""
    entered: Integers = np.full(view.arrows.count + 1, np.iinfo(np.int64).max)
    for lane in view.process.lanes:
        flows = view.arrows.entering.get(lane.id)
        if flows is not None:
            own = flows.numbers < FIRST_PARCEL
            entered[flows.numbers[own].astype(np.int64)] = view.ns_of(lane.events["ticks"][flows.places[own]])
    return entered


def _microseconds(ns: int) -> str:
    """Microseconds with all digits: a float would lose the nanoseconds of long runs."""
    return f"{ns // 1000}.{ns % 1000:03}"


def _metadata(pid: int, tid: int, text: str, **values: Any) -> str:
    return _json({"ph": "M", "pid": pid, "tid": tid, "name": text, "args": values})


def _arguments(view: View, lane: Lane, role: Any, source: Integers) -> list[str]:
    """The figures of each item, as a member of its object."""
    texts = [""] * len(source)
    for role_of_figures, figures in FIGURES.items():
        with_role = np.flatnonzero(role == role_of_figures)
        with_role = with_role[has_figures(lane.events, role_of_figures, source[with_role])]
        columns = []
        for name, field, is_signed in figures:
            values = figure_of(lane.events, name, field, source[with_role], view.process.ns_per_tick)
            columns.append((values.view(np.int64) if is_signed else values).tolist())
        for at, *row in zip(with_role.tolist(), *columns, strict=True):
            text = ",".join(f'"{figure[0]}":{value}' for figure, value in zip(figures, row, strict=True))
            texts[at] = f',"args":{{{text}}}'
    return texts


def _on_cpu(view: View, lane: Lane) -> Iterator[str]:
    begins, ends, names = view.times_on_cpu(lane)
    if not names:
        return
    pid, tid = view.number, _CPU_TRACK + view.number_of(lane)
    yield _metadata(pid, tid, "thread_name", name=f"{view.lane_name(lane)}, CPU")
    yield _metadata(pid, tid, "thread_sort_index", sort_index=2 * lane.id + 1)
    yield from _cpu_slices(pid, tid, begins, ends, [f'"{name}"' for name in names])


def _cpu_slices(pid: int, tid: int, begins: Integers, ends: Integers, quoted: list[str]) -> Iterator[str]:
    """Slices of category cpu, whose names are JSON already."""
    for low, high, name in zip(begins.tolist(), ends.tolist(), quoted, strict=True):
        head = f'"pid":{pid},"tid":{tid},"ts":'
        yield f'{{"ph":"B",{head}{_microseconds(low)},"cat":"cpu","name":{name}}}'
        yield f'{{"ph":"E",{head}{_microseconds(high)},"cat":"cpu","name":{name}}}'


def _counters(view: View) -> Iterator[str]:
    for series in view.series():
        name = series.name if series.lane is None else f"{series.name}, lane {series.lane}"
        head = f'{{"ph":"C","pid":{view.number},"name":{_json(name)},"ts":'
        unit = _json(series.unit or "value")
        for at, value in zip(series.ns.tolist(), series.values.tolist(), strict=True):
            if np.isfinite(value):
                yield f'{head}{_microseconds(at)},"args":{{{unit}:{value!r}}}}}'
