"""Independent calls that several threads make: of compiled code and of long arrays, which do not hold the interpreter's lock."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from typing import Generic, TypeVar

from trimtab.cgroup import available_cpus

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")
# Of short arrays, calls are over before another thread has begun.
_MANY_ROWS = 1 << 18


class _Inside(threading.local):
    """Whether this thread makes one of several calls: then the other threads have calls of their own."""

    is_call = False


_inside = _Inside()
# What several threads do at a time takes memory several times.
_limit = 4


def usable_threads() -> int:
    """As many as this process may use CPUs, but few."""
    return max(min(_cpus(), _limit), 1)


@cache
def _cpus() -> int:
    return int(available_cpus())


def use_one_thread() -> None:
    """From now on, beside a program that wants the CPUs."""
    global _limit
    _limit = 1


def of_each(function: Callable[[_Item], _Result], items: Iterable[_Item], rows: int) -> list[_Result]:
    """What a function makes of each item; `rows`: of all items together. Several threads make more of it than one only where these are many."""
    is_alone = rows >= _MANY_ROWS and not _inside.is_call
    threads = usable_threads() if is_alone else 1
    return Calls(partial(function, item) for item in items).begun(threads).results()


def give_memory_back() -> None:
    """What threads have used and freed, which glibc keeps for them: some hundred MB beside what comes next.

    For the end of a large part: what is needed again at once takes longer.
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


class Calls(Generic[_Result]):
    """Calls that do not depend on each other, and their results in the order of the calls, whoever made them.

    Each thread takes the next call when it has made one. The calls come from an iterator, which runs in one thread at a time.

    Example:
        >>> Calls([lambda: 1, lambda: 2]).begun(threads=2).results()
        [1, 2]
    """

    def __init__(self, calls: Iterable[Callable[[], _Result]]) -> None:
        self._calls: Iterator[Callable[[], _Result]] = iter(calls)
        self._lock = threading.Lock()
        self._results: dict[int, _Result] = {}
        self._errors: dict[int, BaseException] = {}
        self._taken = 0
        self._is_stopped = False
        self._threads: list[threading.Thread] = []

    def begun(self, threads: int) -> Calls[_Result]:
        """Begins in further threads; `threads`: how many there may be with the one that asks for the results.

        With one thread all calls are made before this returns.
        """
        if threads == 1:
            self._make()
        # A program that is stopped does not wait for them.
        self._threads = [threading.Thread(target=self._make, daemon=True) for _ in range(threads - 1)]
        for thread in self._threads:
            thread.start()
        return self

    def results(self) -> list[_Result]:
        """Makes calls, too, until there are none left.

        Raises:
            what a call has raised; of several the first one.
        """
        self._make()
        for thread in self._threads:
            thread.join()
        if self._errors:
            raise self._errors[min(self._errors)]
        return [self._results[number] for number in range(len(self._results))]

    def stop(self) -> None:
        """No further call is made: nobody wants the results."""
        self._is_stopped = True

    def _make(self) -> None:
        was_inside, _inside.is_call = _inside.is_call, bool(self._threads)
        try:
            while (taken := self._take()) is not None:
                number, call = taken
                try:
                    self._results[number] = call()
                except Exception as error:
                    self._errors[number] = error
                del taken, call  # it may hold much memory
        finally:
            _inside.is_call = was_inside

    def _take(self) -> tuple[int, Callable[[], _Result]] | None:
        """The next call; None: there is none, or one has failed."""
        with self._lock:
            number = self._taken
            if self._errors or self._is_stopped:
                return None
            try:
                call = next(self._calls, None)
            except Exception as error:
                self._errors[number] = error
                return None
            self._taken += 1
        return None if call is None else (number, call)
