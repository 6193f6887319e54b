"""Calls that several threads make: results in order, errors of the first, none made twice."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest
from trimtab.threads import Calls

COUNT = 100


def numbered_calls(numbers: list[int]) -> Iterator[Callable[[], int]]:
    for number in range(COUNT):
        yield lambda number=number: numbers.append(number) or number  # type: ignore[misc]


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_results_come_in_the_order_of_the_calls(threads: int) -> None:
    numbers: list[int] = []
    assert Calls(numbered_calls(numbers)).begun(threads).results() == list(range(COUNT))
    assert sorted(numbers) == list(range(COUNT))


def test_two_threads_work_at_a_time() -> None:
    both = threading.Barrier(2, timeout=60)
    assert Calls([both.wait, both.wait]).begun(2).results() in ([0, 1], [1, 0])


def test_one_thread_makes_all_calls_itself() -> None:
    names = Calls([lambda: threading.get_ident() for _ in range(3)]).begun(1).results()
    assert names == [threading.get_ident()] * 3


@pytest.mark.parametrize("threads", [1, 2])
def test_the_first_error_is_raised_and_no_further_call_is_made(threads: int) -> None:
    numbers: list[int] = []

    def calls() -> Iterator[Callable[[], int]]:
        for number, call in enumerate(numbered_calls(numbers)):
            yield call if number != COUNT // 2 else fail

    def fail() -> int:
        raise ValueError("no result")

    with pytest.raises(ValueError, match="no result"):
        Calls(calls()).begun(threads).results()
    if threads == 1:
        assert len(numbers) == COUNT // 2


@pytest.mark.parametrize("threads", [1, 2])
def test_an_error_of_the_iterator_is_raised(threads: int) -> None:
    def calls() -> Iterator[Callable[[], int]]:
        yield lambda: 1
        raise ValueError("no further call")

    with pytest.raises(ValueError, match="no further call"):
        Calls(calls()).begun(threads).results()
