"""What a run is started with: frozen runs as the last tuned one was, tuned ones as things are; never over the user."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from trimtab.history import Entry, History
from trimtab.tuning import Prepared, StartValue, Tuning, online, prepare, remember, start

QUOTA = StartValue("OMP_NUM_THREADS", "1", "the control group may use 0.5 of 2 CPUs")
SHORT_SPIN = StartValue("GOMP_SPINCOUNT", "1000", "2 threads of other programs want a CPU")


class Runs:
    """Runs of one program, which is not started; `chosen`: what they choose as things are."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.history, self.program = History(folder / "history.sqlite"), folder / "app"
        self.program.write_text("#!/bin/sh\n")
        self.chosen: list[StartValue] = []
        self.asked: dict[str, str] = {}
        monkeypatch.setattr(online, "start_values", self._values)

    def _values(self, environment: dict[str, str]) -> list[StartValue]:
        self.asked = environment
        return list(self.chosen)

    def prepared(self, mode: str, environment: dict[str, str] | None = None) -> Prepared:
        return prepare(Tuning(mode, self.history.path), self.program, (), environment or {})

    def started(self, mode: str, environment: dict[str, str] | None = None) -> dict[str, str]:
        return self.prepared(mode, environment).steering.environment

    def tuned(self, *chosen: StartValue, decisions: tuple[dict[str, Any], ...] = ()) -> None:
        self.chosen = list(chosen)
        report = {"decisions": list(decisions), "started_real_ns": 0, "program": "app"}
        assert remember(self.prepared("on"), report, Path("run")) == ""


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Runs:
    return Runs(tmp_path, monkeypatch)


def waiting(to: str, outcome: str) -> dict[str, Any]:
    change = {"knob": "blocktime", "from": "200", "to": to}
    return {"key": "", "outcome": outcome, "changes": [change], "reason": "who spins takes CPUs", "notes": {}}


def test_a_frozen_run_is_started_as_the_last_tuned_one(runs: Runs) -> None:
    assert runs.started("frozen") == {}
    runs.tuned(QUOTA, SHORT_SPIN)
    runs.chosen = []
    assert runs.started("frozen") == {"OMP_NUM_THREADS": "1", "GOMP_SPINCOUNT": "1000"}
    assert set(runs.prepared("frozen").steering.reasons.values()) == {"as the last run with --tune"}
    assert runs.prepared("frozen").steering.settings is None, "nothing of it is a loop's"
    runs.tuned(QUOTA)
    assert runs.started("frozen") == {"OMP_NUM_THREADS": "1"}


def test_a_tuned_run_looks_for_itself(runs: Runs) -> None:
    runs.tuned(SHORT_SPIN)
    runs.chosen = []
    assert runs.started("on") == {}
    runs.tuned()
    assert runs.history.entries() == [], "the last one was started with nothing"
    assert runs.started("frozen") == {}


@pytest.mark.parametrize(
    "name", ["OMP_NUM_THREADS", "OMP_THREAD_LIMIT", "OMP_DYNAMIC", "GOMP_SPINCOUNT", "OMP_WAIT_POLICY"]
)
def test_what_the_user_sets_is_left(runs: Runs, name: str) -> None:
    runs.tuned(QUOTA, SHORT_SPIN)
    left = "GOMP_SPINCOUNT" if name.startswith(("OMP_N", "OMP_T", "OMP_D")) else "OMP_NUM_THREADS"
    assert list(runs.started("frozen", {name: "2"})) == [left]


def test_what_was_proved_comes_first(runs: Runs) -> None:
    runs.tuned(QUOTA, SHORT_SPIN)
    (then,) = runs.history.entries()
    proved = Entry(
        **{**vars(replace(then, id=0)), "subject": online.START, "settings": {"OMP_WAIT_POLICY": "passive"}}
    )
    runs.history.remember([proved])
    assert runs.started("frozen") == {"OMP_WAIT_POLICY": "passive", "OMP_NUM_THREADS": "1"}
    runs.started("on")
    assert runs.asked == {"OMP_WAIT_POLICY": "passive"}, "the rest is looked for beside it"


def test_threads_that_slept_soon_at_the_end_and_were_no_slower_do_so_again(runs: Runs) -> None:
    runs.tuned(decisions=(waiting("1", "trial"), waiting("200", "undone")))
    assert runs.started("frozen") == {}
    runs.tuned(decisions=(waiting("1", "trial"), waiting("1", "kept")))
    assert runs.started("frozen") == {"KMP_BLOCKTIME": "1"}
    assert runs.started("frozen", {"OMP_WAIT_POLICY": "active"}) == {}
    runs.tuned(decisions=(waiting("1", "kept"), waiting("200", "set"), waiting("1", "trial")))
    assert runs.started("frozen") == {}


@pytest.mark.parametrize(
    ("running", "others"),
    [([1], 0.0), ([3], 2.0), ([3] * 8 + [1], 0.0), ([3] * 8 + [2], 1.0)],
    ids=["nobody", "two that stay", "two that end", "one of two ends"],
)
def test_others_are_those_who_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, running: list[int], others: float
) -> None:
    looks = iter(running)

    def show(_: float = 0) -> None:
        if (count := next(looks, None)) is not None:
            (tmp_path / "stat").write_text(f"cpu 1 2 3\nprocs_running {count}\n")

    monkeypatch.setattr(start.time, "sleep", show)
    show()
    assert start.runnable_others(tmp_path) == others
