"""Levels of detail of lanes: each adds up to the same, exactly; and tiles say what the stretches say."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_givers import job_of, main_thread, workers
from test_intervals import OTHER_TASK, TASK, fork, instant, lane, part, state, task, trace_of, wait
from trimtab.analysis.charge_classes import WAIT
from trimtab.analysis.diagnosis import diagnosis_of, diagnosis_of_job
from trimtab.analysis.lane_levels import MOST_KINDS, STEP, Level, coarsest_shift, levels_of
from trimtab.analysis.stretches import (
    OTHERS,
    STATE_NAMES,
    LaneClass,
    LaneState,
    Stretches,
    _class_of,
    stretches_of,
)
from trimtab.model import NO_SUBJECT
from trimtab.model.enumerations import BlameCause, EventKind, WorkerState
from trimtab.report.columns import packed
from trimtab.report.lane_tiles import TILE_BUCKETS, LaneTiles, subjects_of, tiles_of
from trimtab.traces import Trace
from trimtab.traces.intervals import NO_LANE, Doing, Group, Kind

CLASSES = (
    *(LaneClass(LaneState.WORK, "works in", subject) for subject in range(12)),
    LaneClass(LaneState.BARRIER, "waits", 0, BlameCause.IMBALANCE, 0),
    *OTHERS,
)


def stretches(seed: int, lanes: int = 3, count: int = 400, longest: int = 3000) -> Stretches:
    """Random ones, with gaps."""
    random = np.random.default_rng(seed)
    tables = []
    for _ in range(lanes):
        own = int(random.integers(0, count))
        length = random.integers(1, longest, own)
        gap = np.where(random.random(own) < 0.3, random.integers(0, longest, own), 0)
        end = np.cumsum(length + gap)
        tables.append((end - length, end, random.integers(0, 13, own)))
    sizes = [len(table[0]) for table in tables]
    begin, end, kind = (np.concatenate([table[at] for table in tables]) for at in range(3))
    lane_column = np.repeat(np.arange(lanes), sizes)
    first = np.concatenate([[0], np.cumsum(sizes)])
    giver = np.full(len(begin), NO_LANE, np.uint32)
    return Stretches(
        begin.astype(np.int64),
        end.astype(np.int64),
        lane_column.astype(np.int32),
        giver,
        kind.astype(np.int32),
        first,
        CLASSES,
        tuple(range(lanes)),
    )


def sums(lane_of: Any, kind: Any, ns: Any) -> dict[tuple[int, int], int]:
    """Time of each lane by state."""
    result: dict[tuple[int, int], int] = {}
    for at, number, length in zip(lane_of, kind, ns, strict=True):
        key = (int(at), int(CLASSES[number].state))
        result[key] = result.get(key, 0) + int(length)
    return result


def lanes_of(level: Level) -> Any:
    return np.repeat(np.arange(len(level.first) - 1), np.diff(level.first))


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 1 << 30), st.sampled_from([3, 300, 100_000]))
def test_every_level_adds_up_to_the_same(seed: int, longest: int) -> None:
    whole = stretches(seed, longest=longest)
    expected = sums(whole.lane, whole.kind, whole.end_ns - whole.begin_ns)
    levels = levels_of(whole, 1_000_000)
    assert [level.shift for level in levels] == sorted((level.shift for level in levels), reverse=True)
    for level in levels:
        assert sums(lanes_of(level), level.kind, level.ns) == expected
        # A bucket holds no more time than it is long, and few kinds.
        place = lanes_of(level) << 40 | level.bucket
        keys, inverse, counts = np.unique(place, return_inverse=True, return_counts=True)
        assert not len(keys) or np.bincount(inverse, weights=level.ns).max() <= 1 << level.shift
        assert not len(keys) or counts.max() <= MOST_KINDS + len(LaneState)


@pytest.mark.parametrize("span", [1, 2047, 2048, 2049, 10**6, 10**12])
def test_the_coarsest_level_fits_a_screen(span: int) -> None:
    shift = coarsest_shift(span)
    assert (span - 1) >> shift < 2048 and (shift == 0 or (span - 1) >> (shift - STEP) >= 2048)


def unpacked(content: bytes) -> list[list[int]]:
    """As viewer/src/lane_view/columns.ts reads them."""
    data = zlib.decompress(content)
    count = struct.unpack_from("<I", data)[0]
    place, columns = 8 * (count + 1), []
    for at in range(1, count + 1):
        length, width = struct.unpack_from("<II", data, 8 * at)
        planes = [data[place + plane * length : place + (plane + 1) * length] for plane in range(width)]
        columns.append(
            [sum(plane[row] << 8 * byte for byte, plane in enumerate(planes)) for row in range(length)]
        )
        place += length * width
    assert place == len(data)
    return columns


@given(st.lists(st.lists(st.integers(0, (1 << 53) - 1)), max_size=5))
def test_columns_come_out_as_they_went_in(columns: list[list[int]]) -> None:
    assert unpacked(packed([np.array(column, np.int64) for column in columns])) == columns


@pytest.mark.parametrize("number", [-1, 1 << 53])
def test_numbers_that_a_page_cannot_hold_are_refused(number: int) -> None:
    with pytest.raises(ValueError, match=f"expected numbers from 0 to .*, found .*{number}"):
        packed([np.array([0, number])])


@pytest.fixture
def traced(tmp_path: Path) -> LaneTiles:
    trace = trace_of(tmp_path, lane(fork(2, 8), part(2.5, 4)), lane(part(3, 7)))
    (tiles,) = tiles_of([trace])
    return tiles


def test_stretches_are_charged_as_the_diagnosis_says(traced: LaneTiles) -> None:
    whole, diagnosis = traced.stretches, diagnosis_of(traced.trace)
    assert diagnosis is not None
    charged: dict[tuple[BlameCause, int], float] = {}
    for begin, end, number in zip(whole.begin_ns, whole.end_ns, whole.kind, strict=True):
        own = whole.classes[number]
        if own.cause is not None:
            key = (own.cause, own.blamed)
            charged[key] = charged.get(key, 0.0) + (end - begin) * 1e-9
    expected: dict[tuple[BlameCause, int], float] = {}
    for charge in diagnosis.charges:
        key = (charge.cause, charge.subject)
        expected[key] = expected.get(key, 0.0) + charge.seconds
    assert charged == pytest.approx(expected)


def test_a_wait_is_charged_to_what_its_giver_does(traced: LaneTiles) -> None:
    whole = traced.stretches
    waits = [whole.classes[kind] for kind in whole.kind if whole.classes[kind].state is LaneState.BARRIER]
    assert waits and all(each.cause is not None and each.blamed != NO_SUBJECT for each in waits)
    works = [whole.classes[kind] for kind in whole.kind if whole.classes[kind].state is LaneState.WORK]
    assert works and all(each.cause is None for each in works)
    assert (whole.end_ns > whole.begin_ns).all()
    for at in range(len(whole.lanes)):
        rows = slice(int(whole.first[at]), int(whole.first[at + 1]))
        assert (whole.begin_ns[rows][1:] >= whole.end_ns[rows][:-1]).all()


def job(tmp_path: Path, begin: float = 1.0) -> tuple[Trace, ...]:
    """Rank 0 has a main thread and a worker, which sends a parcel at 4 s; the worker of rank 1 gets it at 5 s, and runs its task."""
    sender = [task(0, 9, 1), instant(4, EventKind.PARCEL_SENT, 9, arg=1), state(9, WorkerState.IDLE)]
    receiver = [
        state(0, WorkerState.IDLE),
        instant(5 - begin, EventKind.TASK_CREATED, 7),
        instant(5 - begin, EventKind.PARCEL_RECEIVED, 7, 9),
        state(5 - begin, WorkerState.RUNS),
        task(5 - begin, 8 - begin, 7, OTHER_TASK),
    ]
    return job_of(
        tmp_path,
        [main_thread(0), *workers(sender)],
        [main_thread(), *workers(receiver)],
        begins=(0.0, begin),
    )


@pytest.mark.parametrize("begin", [0.0, 1.0])
def test_who_waits_for_a_message_waits_for_a_lane_of_its_sender(tmp_path: Path, begin: float) -> None:
    traces = job(tmp_path, begin)
    sending, receiving = tiles_of(traces, lanes_before=10)
    # Of rank 0 the main thread and the worker come before.
    assert (sending.first_lane, receiving.first_lane) == (10, 12)
    whole = receiving.stretches
    (wait_at,) = [at for at, giver in enumerate(whole.giver.tolist()) if giver == 1]
    assert (whole.begin_ns[wait_at], whole.end_ns[wait_at]) == (0, round((4 - begin) * 1e9))
    of_wait = whole.classes[whole.kind[wait_at]]
    assert of_wait.subjects == ((1, NO_SUBJECT), (0, TASK))
    assert of_wait.cause is BlameCause.DEPENDENCE_CHAIN
    transit = whole.classes[whole.kind[wait_at + 1]]
    assert (transit.cause, transit.words) == (
        BlameCause.LATE_MESSAGE,
        "has no task: a message is on its way",
    )
    assert whole.end_ns[wait_at + 1] == round((5 - begin) * 1e9)
    giver = unpacked(receiving.stretch_tile(0))[5]
    assert giver[wait_at] == 10 + 1 + 1


def test_stretches_of_a_job_are_charged_as_its_diagnosis_says(tmp_path: Path) -> None:
    traces = job(tmp_path)
    diagnosis = diagnosis_of_job(traces)
    assert diagnosis is not None
    charged: dict[tuple[BlameCause, int, int], float] = {}
    for whole in (tiles.stretches for tiles in tiles_of(traces)):
        for begin, end, number in zip(whole.begin_ns, whole.end_ns, whole.kind, strict=True):
            own = whole.classes[number]
            if own.cause is not None:
                key = (own.cause, own.blamed_process, own.blamed)
                charged[key] = charged.get(key, 0.0) + (end - begin) * 1e-9
    expected: dict[tuple[BlameCause, int, int], float] = {}
    for charge in diagnosis.charges:
        key = (charge.cause, charge.process, charge.subject)
        expected[key] = expected.get(key, 0.0) + charge.seconds
    assert charged == pytest.approx(expected)


def test_a_process_without_all_events_leaves_the_others_as_they_are(tmp_path: Path) -> None:
    traces = job(tmp_path)
    object.__setattr__(traces[0].process.lanes[0], "events_dropped", 1)
    (receiving,) = tiles_of(traces)
    assert receiving.first_lane == 0
    assert {process for process, _ in subjects_of(receiving.stretches)} == {1}


def test_tiles_of_stretches_hold_all_of_them(traced: LaneTiles) -> None:
    whole = traced.stretches
    counts, first, gap, length, kind, giver, *links = unpacked(traced.stretch_tile(0))
    assert len(traced.bounds) == 2 and sum(counts) == len(whole) and len(links) == 4
    now, row = 0, 0
    for at, count in enumerate(counts):
        now = first[at]
        for _ in range(count):
            now += gap[row]
            assert (now, now + length[row]) == (whole.begin_ns[row], whole.end_ns[row])
            assert kind[row] == whole.kind[row]
            assert giver[row] == (0 if whole.giver[row] == NO_LANE else whole.giver[row] + 1)
            now += length[row]
            row += 1


def test_tiles_of_levels_hold_all_entries(traced: LaneTiles) -> None:
    for number, level in enumerate(traced.levels):
        time = 0
        for tile in range(traced.tiles_of(number)):
            counts, steps, kind, ns = unpacked(traced.level_tile(number, tile))
            assert sum(counts) == len(steps) == len(kind) == len(ns)
            time += sum(ns)
            row = 0
            for count in counts:
                bucket = np.cumsum(steps[row : row + count])
                assert not count or 0 <= bucket.min() <= bucket.max() < TILE_BUCKETS
                row += count
        assert time == int(level.ns.sum())


def test_stretches_of_a_trace_that_is_not_whole_are_none(tmp_path: Path) -> None:
    trace = trace_of(tmp_path, lane(fork(1, 9), part(1, 4), wait(4, 9)), lane(part(2, 9)))
    object.__setattr__(trace.process.lanes[0], "events_dropped", 1)
    assert stretches_of(trace) is None


def test_whatever_lanes_do_has_words() -> None:
    for doing in Doing:
        for kind in Kind:
            groups = (Group(doing), Group(Doing.WORK, 3))
            for key in (int(kind), WAIT | 1 << 4 | int(kind)):
                made = _class_of(groups, key, (0, 1))
                assert made.words and made.state in STATE_NAMES
