"""What the page needs to show lanes over time: the processes, their lanes and classes, and as many tiles as there is room for."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from string import ascii_uppercase
from typing import Any

from trimtab.analysis.kept_intervals import KeptIntervals
from trimtab.analysis.keys import keys_of
from trimtab.analysis.lane_words import STATE_NAMES
from trimtab.analysis.regions import Places, places_of
from trimtab.model import Run
from trimtab.report.lane_tiles import LaneTiles, subjects_of, tiles_of
from trimtab.symbols import Symbols
from trimtab.traces import Trace, traces_of

# Of the tiles inside a page, as base64: with the rest of it, it stays below 30 MB.
PAGE_BYTES = 24 << 20
# Of these for levels of detail.
_LEVEL_BYTES = 10 << 20


@dataclass(frozen=True)
class LanePage:
    """Lanes over time of one run.

    Attributes:
        head: what there is, for JSON.
        tiles: by name what is inside the page, base64.
        processes: where further tiles come from, by the processes' order in `head`.
    """

    head: dict[str, Any]
    tiles: dict[str, str]
    processes: Sequence[LaneTiles] = field(default=(), compare=False)

    def tile(self, name: str) -> bytes:
        """A tile by its name, `PROCESS.LEVEL.TILE`; level `s`: of single stretches.

        Raises:
            KeyError: there is none of that name.
        """
        parts = name.split(".")
        if len(parts) != 3 or not all(
            part.isascii() and part.isdigit() and len(part) < 9 for part in (parts[0], parts[2])
        ):
            raise KeyError(name)
        process, level, tile = int(parts[0]), parts[1], int(parts[2])
        if process >= len(self.processes):
            raise KeyError(name)
        of_process = self.processes[process]
        if level == "s" and tile < len(of_process.bounds) - 1:
            return of_process.stretch_tile(tile)
        is_level = (
            level.isascii() and level.isdigit() and len(level) < 3 and int(level) < len(of_process.levels)
        )
        if not is_level or tile >= of_process.tiles_of(int(level)):
            raise KeyError(name)
        return of_process.level_tile(int(level), tile)


def lane_page(*runs: Run, is_served: bool = False, kept: Sequence[KeptIntervals] = ()) -> LanePage | None:
    """Lanes of a run, or of several, which all begin at the same time on the page; processes of the first are named A, and so on.

    None where no process of any run has all of its events. Served, only the coarsest level is inside the page.

    Args:
        kept: intervals of each run, from the report of it; without, they are found out.
    """
    drawn: list[LaneTiles] = []
    processes: list[dict[str, Any]] = []
    left_out = 0
    all_kept: Sequence[KeptIntervals | None] = kept or [None] * len(runs)
    for letter, run, own_kept in zip(ascii_uppercase, runs, all_kept, strict=False):
        traces = traces_of(run)
        own = tiles_of(
            traces,
            max((tiles.first_lane + len(tiles.stretches.lanes) for tiles in drawn), default=0),
            own_kept,
        )
        left_out += sum(_lacks_events(trace) for trace in traces)
        drawn += own
        prefix = f"{letter}: " if len(runs) > 1 else ""
        with Symbols(run.directory) as symbols:
            names = _Names(traces, symbols)
            processes += [_process(tiles, names, prefix, run.lead_ns) for tiles in own]
    if not drawn:
        return None
    head = {
        "processes": processes,
        "states": list(STATE_NAMES.values()),
        "served": is_served,
        "left_out": left_out,
    }
    room = 0 if is_served else PAGE_BYTES
    return LanePage(head, _within(drawn, room, 0 if is_served else _LEVEL_BYTES), drawn)


def _lacks_events(trace: Trace) -> bool:
    """Of a process that recorded nothing, such as a shell, nothing is missing."""
    return any(
        lane.events_written > len(lane.events) or lane.events_dropped > 0 for lane in trace.process.lanes
    )


class _Names:
    """Names and keys of the subjects of a run's processes."""

    def __init__(self, traces: Sequence[Trace], symbols: Symbols) -> None:
        self._traces, self._symbols = traces, symbols
        self._known: dict[int, tuple[Places, dict[int, str]]] = {}

    def of(self, subject: tuple[int, int]) -> dict[str, str]:
        """Of a process's number."""
        process, number = subject
        if process not in self._known:
            recorded = self._traces[process].process
            self._known[process] = places_of(recorded, self._symbols), keys_of(recorded)
        places, keys = self._known[process]
        return {"name": places[number][0], "key": keys[number]}


def _process(tiles: LaneTiles, names: _Names, prefix: str, lead_ns: int) -> dict[str, Any]:
    stretches, trace = tiles.stretches, tiles.trace
    subjects = subjects_of(stretches)
    place = {subject: at for at, subject in enumerate(subjects)}
    return {
        "id": trace.id,
        "name": prefix + _label(trace),
        "begin_ns": round(trace.begin_ns) + lead_ns,
        "span_ns": stretches.span_ns,
        "first_lane": tiles.first_lane,
        "lanes": [_lane_name(trace, number) for number in stretches.lanes],
        "subjects": [names.of(subject) for subject in subjects],
        "classes": [
            {
                "state": int(entry.state),
                "words": entry.words,
                "subject": place.get(entry.subjects[0], -1),
                "cause": None if entry.cause is None else entry.cause.value,
                "blamed": place.get(entry.subjects[1], -1),
            }
            for entry in stretches.classes
        ],
        "levels": [
            {"shift": level.shift, "tiles": tiles.tiles_of(at)} for at, level in enumerate(tiles.levels)
        ],
        "bounds": tiles.bounds,
        "longest": tiles.longest,
    }


def _label(trace: Trace) -> str:
    which = f"process {trace.pid}" if trace.rank is None else f"rank {trace.rank}"
    return f"{which} ({trace.name})" if trace.name else which


def _lane_name(trace: Trace, number: int) -> str:
    lane = next(each for each in trace.process.lanes if each.id == number)
    what = "worker" if lane.header["worker_of"] else "thread" if lane.is_thread else lane.kind
    # Threads that nobody named have the program's name, and workers are named by their runtime.
    has_own_name = lane.name and lane.name != trace.name[:15] and not lane.header["worker_of"]
    return f"{what} {number}" + (f" {lane.name}" if has_own_name else "")


def _within(drawn: Sequence[LaneTiles], room: int, level_room: int) -> dict[str, str]:
    """Levels from coarse to fine, then single stretches: all, or those around the longest waits."""
    tiles: dict[str, str] = {}
    used = 0
    for level in range(max(len(each.levels) for each in drawn)):
        added = {
            f"{at}.{level}.{tile}": _text(each.level_tile(level, tile))
            for at, each in enumerate(drawn)
            if level < len(each.levels)
            for tile in range(each.tiles_of(level))
        }
        size = sum(map(len, added.values()))
        if level and used + size > level_room:
            break
        tiles |= added
        used += size
    for at, tile in _most_wanted(drawn):
        if used >= room:
            break
        text = _text(drawn[at].stretch_tile(tile))
        if used + len(text) > room:
            break
        tiles[f"{at}.s.{tile}"] = text
        used += len(text)
    return tiles


def _most_wanted(drawn: Sequence[LaneTiles]) -> Iterable[tuple[int, int]]:
    """Process and number of tiles of single stretches: those with the longest waits first, then all others."""
    wanted: dict[tuple[int, int], int] = {}
    for at, each in enumerate(drawn):
        for tile in range(len(each.bounds) - 1):
            wanted[at, tile] = 0
        classes = each.stretches.classes
        for _, begin, end, kind in each.longest:
            if classes[kind].cause is not None:
                for tile in range(len(each.bounds) - 1):
                    if each.bounds[tile] < end and begin < each.bounds[tile + 1]:
                        wanted[at, tile] = max(wanted[at, tile], end - begin)
    return sorted(wanted, key=lambda key: (-wanted[key], key))


def _text(tile: bytes) -> str:
    return base64.b64encode(tile).decode("ascii")
