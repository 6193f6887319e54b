"""An OTF2 archive as the files of a run directory."""

from __future__ import annotations

import math
import re
import struct
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from trimtab.importing.lanes import Instance, LaneReader, Teams, forks_of, subject_kind, team_rows
from trimtab.importing.messages import At, Ranks, Waits, waits_of
from trimtab.importing.write_run import (
    FIRST_TICK,
    ProcessRecords,
    name_record,
    samples_of,
    write_info,
    write_process,
)
from trimtab.model import NO_SUBJECT
from trimtab.model.enumerations import NameTag, SubjectKind
from trimtab.otf2 import numbers
from trimtab.otf2.library import Failure
from trimtab.otf2.numbers import LocationType
from trimtab.otf2.reading import Archive, Kind

_NO_MODULE = 0xFFFFFFFF
_NANOSECONDS = 1_000_000_000
# Two years: what says more is damaged.
_LONGEST_NS = 1 << 56
_MOST_LANES = 16_384


@dataclass(frozen=True)
class _Read:
    """A process whose lanes have been read."""

    group: int
    lanes: list[LaneReader]
    instances: list[Instance]


def convert(archive: Archive, folder: Path, name: str) -> list[str]:
    """Write the run into `folder`; returns what it does not have.

    Raises:
        Failure: the archive says what cannot be.
    """
    end = _scale_times(archive)
    processes = _lanes_by_process(archive)
    read = [_read_process(archive, group, lanes, end) for group, lanes in processes.items()]
    ranks = Ranks(archive, {process.group: place for place, process in enumerate(read)})
    names = {number: region.name for number, region in archive.regions.items()}
    found = [
        At(message, place, lane)
        for place, process in enumerate(read)
        for lane, reader in enumerate(process.lanes)
        for message in reader.messages
    ]
    waits = waits_of(found, ranks, names)
    real_ns = 0 if archive.real_ns == numbers.NO_UINT64 else archive.real_ns
    for place, process in enumerate(read):
        records = _records(archive, process, ranks, place, waits, end)
        write_process(folder, records, real_ns)
    write_info(folder, name, real_ns, end - FIRST_TICK)
    return _notes(archive, read, waits)


def _scale_times(archive: Archive) -> int:
    """Make times of all events ticks of a nanosecond since the first one; returns when the last was."""
    timed = [rows[:, 1] for rows in archive.events.values() if len(rows)]
    if not timed:
        raise Failure("there are no events in it")
    first = min(int(times.min()) for times in timed)
    end = FIRST_TICK
    for number, rows in archive.events.items():
        if not len(rows):
            continue
        ns = (rows[:, 1] - np.uint64(first)).astype(np.float64) * (_NANOSECONDS / archive.resolution)
        if float(ns.max()) >= _LONGEST_NS:
            raise Failure(f"location {number}: its events last longer than two years")
        ticks = ns.astype(np.uint64) + np.uint64(FIRST_TICK)
        if np.any(ticks[1:] < ticks[:-1]):
            raise Failure(f"location {number}: its events are not in order of time")
        scaled = rows.copy()
        scaled[:, 1] = ticks
        archive.events[number] = scaled
        end = max(end, int(ticks[-1]))
    return end


def _lanes_by_process(archive: Archive) -> dict[int, list[int]]:
    """The locations of each process that are no recorders of counters."""
    result: dict[int, list[int]] = defaultdict(list)
    for number, location in sorted(archive.locations.items()):
        if location.group not in archive.groups:
            raise Failure(f"location {number}: expected a process, found the number {location.group} of none")
        result.setdefault(location.group, [])
        if location.kind != LocationType.METRIC:
            result[location.group].append(number)
    if any(len(lanes) > _MOST_LANES for lanes in result.values()):
        raise Failure(f"expected at most {_MOST_LANES} locations in a process, found more")
    return result


def _read_process(archive: Archive, group: int, lanes: list[int], end: int) -> _Read:
    instances: list[Instance] = []
    for lane, location in enumerate(lanes):
        first = len(instances) + 1
        instances += forks_of(lane, archive.events[location], archive.regions, end, first)
    instances = sorted(
        (instance for instance in instances if instance.subject != NO_SUBJECT), key=lambda one: one.begin
    )
    has_parts = any(np.any(archive.events[location][:, 0] == Kind.TEAM_BEGIN) for location in lanes)
    teams = Teams(instances, has_parts)
    readers = []
    for lane, location in enumerate(lanes):
        reader = LaneReader(lane, archive.locations[location].name, archive.regions, teams)
        reader.read(archive.events[location], end)
        readers.append(reader)
    return _Read(group, readers, instances)


def _records(
    archive: Archive, process: _Read, ranks: Ranks, place: int, waits: Waits, end: int
) -> ProcessRecords:
    rank = ranks.of_process.get(place)
    name, node = archive.groups[process.group]
    records = ProcessRecords(
        _host(archive, node),
        process.group + 1,
        rank,
        ranks.size,
        archive.text(name),
        end,
        sum(reader.inside - reader.waits for reader in process.lanes),
        _parallel(process.instances),
    )
    records.names.append(
        name_record(
            NameTag.UNAVAILABLE,
            (),
            "CPU times",
            "an OTF2 archive has none: time in functions and not in waits is taken for it",
            "trimtab run measures them",
        )
    )
    subjects = _Subjects(archive)
    for process_place, lane, text, ticks in waits.waits:
        if process_place == place:
            process.lanes[lane].add_scope(subjects.own(text), ticks)
            records.cpu_ns -= ticks
    records.cpu_ns = max(records.cpu_ns, 0)
    records.names += subjects.records
    parts = [part for reader in process.lanes for part in reader.parts]
    records.lanes = [reader.records(team_rows(lane, parts)) for lane, reader in enumerate(process.lanes)]
    _add_counters(archive, process, records, waits, rank)
    return records


def _host(archive: Archive, node: int) -> str:
    """The name of the nearest node above a process, as a part of a folder's name."""
    text = archive.text(archive.nodes[node][0]) if node in archive.nodes else ""
    return re.sub(r"[^\w.+]", "_", text, flags=re.ASCII)[:64] or "host"


def _parallel(instances: list[Instance]) -> int:
    """Ticks in which at least one region was under way."""
    total, covered = 0, 0
    for instance in instances:
        total += max(instance.end - max(instance.begin, covered), 0)
        covered = max(covered, instance.end)
    return total


class _Subjects:
    """Names of all regions of an archive, and of what is found out besides."""

    def __init__(self, archive: Archive) -> None:
        self.records = [
            name_record(
                NameTag.SUBJECT,
                (number, subject_kind(region), 0, _NO_MODULE, region.line, 0, NO_SUBJECT, 0),
                region.name,
                region.file,
                "",
            )
            for number, region in archive.regions.items()
        ]
        self._next = max(archive.regions, default=0) + 1
        self._own: dict[str, int] = {}

    def own(self, text: str) -> int:
        """A scope of ours."""
        if text not in self._own:
            self._own[text] = self._next
            fields = (self._next, SubjectKind.SCOPE, 0, _NO_MODULE, 0, 0, NO_SUBJECT, 0)
            self.records.append(name_record(NameTag.SUBJECT, fields, text, "", ""))
            self._next += 1
        return self._own[text]


def _add_counters(
    archive: Archive, process: _Read, records: ProcessRecords, waits: Waits, rank: int | None
) -> None:
    """Metrics, and what was sent to other ranks, as our own library counts it."""
    columns: list[tuple[int, int, int | None, float]] = []
    numbers_of: dict[tuple[str, str, bool], int] = {}

    def counter(name: str, unit: str, is_cumulative: bool) -> int:
        key = (name, unit, is_cumulative)
        if key not in numbers_of:
            numbers_of[key] = len(numbers_of) + 1
            fields = (numbers_of[key], int(is_cumulative))
            records.names.append(name_record(NameTag.COUNTER, fields, name, unit, "OTF2"))
        return numbers_of[key]

    columns += _values(archive, process, counter_of=counter)
    for (sender, receiver), flow in sorted(waits.flows.items()):
        if sender != rank:
            continue
        to = f"locality#{sender}/to#{receiver}"
        totals = sum(flow.counts.values()), sum(flow.bytes.values())
        for name, total in zip(("count", "bytes"), totals, strict=True):
            columns.append((records.end, counter(f"/messages{{{to}}}/{name}/sent", "", True), None, total))
        for function, count in flow.counts.items():
            region = archive.regions.get(function)
            action = f"{to}/action#{region.name if region else 'outside of functions'}"
            for name, total in (("count", count), ("bytes", flow.bytes[function])):
                number = counter(f"/parcels{{{action}}}/{name}/sent", "", True)
                columns.append((records.end, number, None, total))
    columns.sort(key=lambda column: column[0])
    records.samples = samples_of(columns)


def _values(
    archive: Archive, process: _Read, counter_of: Callable[[str, str, bool], int]
) -> list[tuple[int, int, int | None, float]]:
    """The values of metrics that are about this process, or lanes of it."""
    lanes = _locations_of(archive, process.group)
    columns: list[tuple[int, int, int | None, float]] = []
    for location, rows in archive.events.items():
        for _, tick, metric, member, bits in rows[rows[:, 0] == Kind.VALUE].tolist():
            own_class, scope, about = archive.metric_instances.get(
                metric, (metric, numbers.Scope.LOCATION, location)
            )
            if scope == numbers.Scope.LOCATION:
                is_own, lane = about in lanes, lanes.get(about)
            else:
                is_own, lane = archive.locations[location].group == process.group, None
            members = archive.metric_classes.get(own_class, [])
            if not is_own or member >= len(members):
                continue
            name, unit, mode = archive.metric_members.get(
                members[member], (numbers.NO_UINT32, numbers.NO_UINT32, 0)
            )
            is_cumulative = mode == numbers.ACCUMULATED_START
            number = counter_of(archive.text(name) or f"metric {metric}", archive.text(unit), is_cumulative)
            value = struct.unpack("<d", struct.pack("<Q", bits))[0]
            if math.isfinite(value):
                columns.append((tick, number, lane, value))
    return columns


def _locations_of(archive: Archive, group: int) -> dict[int, int | None]:
    """The lane of each location of a process; None: it records counters only."""
    own = sorted(number for number, location in archive.locations.items() if location.group == group)
    lanes = [number for number in own if archive.locations[number].kind != LocationType.METRIC]
    return {number: lanes.index(number) if number in lanes else None for number in own}


def _notes(archive: Archive, read: list[_Read], waits: Waits) -> list[str]:
    notes = []
    unmatched = sum(reader.unmatched for process in read for reader in process.lanes)
    if unmatched:
        notes.append(f"{unmatched:,} functions were left that had not been entered: these are left out")
    if waits.unmatched:
        notes.append(
            f"{waits.unmatched:,} messages have no partner in the archive: no waits are known of them"
        )
    return notes
