"""A signal may reach the launcher when the program runs already, but before the launcher knows its number."""

from __future__ import annotations

import os
import signal
from typing import Any

import pytest
from trimtab.launcher.launch import _run


@pytest.fixture(autouse=True)
def told_at_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    start, send = os.posix_spawn, os.kill

    def start_and_be_told(*arguments: Any, **overrides: Any) -> int:
        child = start(*arguments, **overrides)
        send(os.getpid(), signal.SIGTERM)
        return child

    monkeypatch.setattr(os, "posix_spawn", start_and_be_told)


def test_they_are_passed_on() -> None:
    status = _run("/bin/sleep", ["sleep", "30"], dict(os.environ))
    assert os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGTERM


def test_a_program_that_is_another_users_by_now_gets_none(monkeypatch: pytest.MonkeyPatch) -> None:
    send = os.kill

    def refuse(number: int, item_name: int) -> None:
        if number != os.getpid():
            raise PermissionError(1, "Operation not permitted")
        send(number, item_name)

    monkeypatch.setattr(os, "kill", refuse)
    assert os.WEXITSTATUS(_run("/bin/sh", ["sh", "-c", "exit 3"], dict(os.environ))) == 3
