"""Order and look-up of long columns, against numpy's own slow ways."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from trimtab.traces.columns import Groups, Places, different, numbered, ordered, small

NUMBERS = st.integers(-(2**62), 2**62 - 1) | st.integers(-3, 3)
COLUMNS = st.lists(st.tuples(NUMBERS, NUMBERS, st.integers(0, 2)), max_size=40)


def columns_of(rows: list[tuple[int, int, int]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    major, minor, further = np.array(rows, np.int64).reshape(-1, 3).T
    return major, minor, further


@given(COLUMNS)
def test_rows_are_ordered_as_lexsort_orders_them(rows: list[tuple[int, int, int]]) -> None:
    major, minor, further = columns_of(rows)
    assert np.array_equal(ordered(major, minor), np.lexsort((minor, major)))
    assert np.array_equal(ordered(major, minor, further), np.lexsort((further, minor, major)))


def test_small_numbers_are_not_cut_off() -> None:
    lane, time = np.array([3, 1, 3, 1], np.int32), np.array([7, 1 << 40, 5, 9])
    assert ordered(lane, time).tolist() == [3, 1, 2, 0]


@given(st.lists(NUMBERS, max_size=40))
def test_different_values_and_their_places(values: list[int]) -> None:
    column = np.array(values, np.int64)
    expected, places = np.unique(column, return_inverse=True)
    assert np.array_equal(different(column), expected)
    found, at = numbered(column)
    assert np.array_equal(found, expected) and np.array_equal(at, places)


@given(st.lists(NUMBERS, max_size=40), st.lists(NUMBERS, max_size=40))
def test_numbers_that_are_not_there_have_no_place(values: list[int], wanted: list[int]) -> None:
    numbers = different(np.array(values, np.int64))
    there = numbers.tolist()
    expected = [there.index(number) if number in there else -1 for number in wanted]
    assert Places(numbers).of(np.array(wanted, np.int64)).tolist() == expected


@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 9)), max_size=60),
    st.lists(st.tuples(st.integers(-1, 5), st.integers(-1, 10)), max_size=20),
)
def test_the_latest_and_the_earliest_row_of_a_group(
    rows: list[tuple[int, int]], asked: list[tuple[int, int]]
) -> None:
    number, time = np.array(sorted(rows), np.int64).reshape(-1, 2).T
    wanted, moment = np.array(asked, np.int64).reshape(-1, 2).T
    groups = Groups.of(number, time)
    latest, earliest = groups.latest(wanted, moment), groups.earliest(wanted, moment)
    for at, (group, then) in enumerate(asked):
        own = [row for row in range(len(rows)) if number[row] == group]
        assert latest[at] == max((row for row in own if time[row] <= then), default=-1)
        assert earliest[at] == min((row for row in own if time[row] >= then), default=-1)


def test_places_take_four_bytes_where_that_is_enough() -> None:
    places = np.array([-1, 0, 7])
    assert small(places, 8).dtype == np.int32
    assert small(places, 1 << 31).dtype == np.int64


@pytest.mark.parametrize("seed", range(8))
def test_many_rows_are_ordered_as_lexsort_orders_them(seed: int) -> None:
    """Spread evenly, nearly in order, and with many equal ones."""
    random = np.random.default_rng(seed)
    count = int(random.integers(1000, 20_000))
    major = random.integers(0, (count, 3)[seed % 2], count)
    minor = np.arange(count) * 100 + random.integers(0, 1000, count)
    if seed % 4 > 1:
        minor //= 100_000
        minor[random.integers(0, count)] = 1 << 40  # all others share few buckets
    further = random.integers(0, 5, count)
    assert np.array_equal(ordered(major, minor), np.lexsort((minor, major)))
    assert np.array_equal(ordered(major, minor, further), np.lexsort((further, minor, major)))
