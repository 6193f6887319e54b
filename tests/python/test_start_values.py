"""What a run is started with: frozen runs as the last tuned one was, tuned ones as things are; never over the user."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from reports import typed
from trimtab.history import Entry, History
from trimtab.machine_files import Machine
from trimtab.tuning import Prepared, StartValue, Tuning, prepare, remember, single_run, start, start_values

QUOTA = StartValue("OMP_NUM_THREADS", "1", "the control group may use 0.5 of 2 CPUs")
SHORT_SPIN = StartValue("GOMP_SPINCOUNT", "1000", "other programs keep all its CPUs busy")


class Runs:
    """Runs of one program, which is not started; `chosen`: what they choose as things are."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.history, self.program = History(folder / "history.sqlite"), folder / "app"
        self.program.write_text("#!/bin/sh\n")
        self.chosen: list[StartValue] = []
        self.asked: dict[str, str] = {}
        monkeypatch.setattr(single_run, "start_values", self._values)

    def _values(self, environment: dict[str, str]) -> list[StartValue]:
        self.asked = environment
        return list(self.chosen)

    def prepared(self, mode: str, environment: dict[str, str] | None = None) -> Prepared:
        return prepare(Tuning(mode, self.history.path), self.program, (), environment or {})

    def started(self, mode: str, environment: dict[str, str] | None = None) -> dict[str, str]:
        return self.prepared(mode, environment).steering.environment

    def tuned(self, *chosen: StartValue, decisions: tuple[dict[str, Any], ...] = ()) -> None:
        self.chosen = list(chosen)
        report = typed({"decisions": list(decisions), "program": "app"})
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
    (later,) = runs.history.entries()
    proved = Entry(
        **{
            **vars(replace(later, id=0)),
            "subject": single_run.START,
            "settings": {"OMP_WAIT_POLICY": "passive"},
        }
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


class Clock:
    """A machine with two CPUs whose /proc/stat goes on while somebody sleeps."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, uses: list[dict[str, float]]) -> None:
        self.at, self.file, self.uses = 0.0, folder / "stat", uses
        self.ticks = [{"user": 0.0, "nice": 0.0, "system": 0.0} for _ in range(2)]
        monkeypatch.setattr(start.time, "sleep", self.sleep)
        monkeypatch.setattr(start.time, "monotonic", lambda: self.at)
        self.sleep(0)

    def sleep(self, seconds: float) -> None:
        self.at += seconds
        for ticks, use in zip(self.ticks, self.uses, strict=True):
            for kind in ticks:
                ticks[kind] += use.get(kind, 0.0) * seconds * 100
        rows = [
            f"cpu{number} {ticks['user']:.0f} {ticks['nice']:.0f} {ticks['system']:.0f} 5 0 0 0 7 0 0"
            for number, ticks in enumerate(self.ticks)
        ]
        self.file.write_text("\n".join(["cpu  1 2 3 4 5 6 7 8 9 0", *rows, "procs_running 9", ""]))


@pytest.mark.parametrize(
    ("first", "second", "nice", "taken"),
    [
        ({}, {}, 0, False),
        ({"user": 1}, {}, 0, False),
        ({"user": 1}, {"user": 1}, 0, True),
        ({"user": 0.6, "system": 0.35}, {"user": 1}, 0, True),
        ({"user": 0.6}, {"user": 1}, 0, False),
        ({"user": 1}, {"nice": 1}, 0, False),
        ({"user": 1}, {"nice": 1}, 5, True),
    ],
    ids=["nobody", "one", "two", "a kernel's work", "now and then", "one gives way", "gives way itself"],
)
def test_cpus_are_taken_by_who_does_not_give_way(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    first: dict[str, float],
    second: dict[str, float],
    nice: int,
    taken: bool,
) -> None:
    Clock(tmp_path, monkeypatch, [first, second])
    assert start.cpus_are_taken(tmp_path, cpus=(0, 1), nice=nice) is taken


def uses_from(clock: Clock, at_s: float, use: dict[str, float], monkeypatch: pytest.MonkeyPatch) -> None:
    """What the second CPU is used for from then on."""
    sleep = clock.sleep

    def ends(seconds: float) -> None:
        sleep(seconds)
        if clock.at > at_s:
            clock.uses[1] = use

    monkeypatch.setattr(start.time, "sleep", ends)


def test_who_has_just_ended_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(tmp_path, monkeypatch, [{"user": 1}, {"user": 1}])
    uses_from(clock, 0.1, {}, monkeypatch)
    assert not start.cpus_are_taken(tmp_path, cpus=(0, 1), nice=0)
    assert clock.at < 0.2


def test_who_leaves_at_the_end_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(tmp_path, monkeypatch, [{"user": 1}, {"user": 1}])
    uses_from(clock, 0.11, {"user": 0.2}, monkeypatch)
    assert not start.cpus_are_taken(tmp_path, cpus=(0, 1), nice=0), "although it had four fifths of the time"


def test_where_nobody_is_one_look_is_enough(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(tmp_path, monkeypatch, [{}, {"user": 1}])
    assert not start.cpus_are_taken(tmp_path, cpus=(0, 1), nice=0)
    assert clock.at == pytest.approx(0.04)


@pytest.mark.parametrize("text", ["", "cpu0 1 2\n", "cpu0 a b c d e f g h\n", "cpu 1 2 3 4 5 6 7 8\n"])
def test_what_the_kernel_does_not_tell_is_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setattr(start.time, "sleep", lambda _: None)
    (tmp_path / "stat").write_text(text)
    monkeypatch.setattr(start.time, "monotonic", iter(range(99)).__next__)
    assert not start.cpus_are_taken(tmp_path, cpus=(0,), nice=0)
    assert not start.cpus_are_taken(tmp_path / "missing", cpus=(0,), nice=0)


def test_a_quota_is_what_the_program_is_started_with(tmp_path: Path) -> None:
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/mountinfo").write_text("30 20 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n")
    (tmp_path / "proc/self/cgroup").write_text("0::/job\n")
    (tmp_path / "sys/fs/cgroup/job").mkdir(parents=True)
    (tmp_path / "sys/fs/cgroup/job/cpu.max").write_text("250000 100000\n")
    machine = Machine(tmp_path)

    def values(environment: dict[str, str], are_taken: bool = False, cpus: int = 8) -> dict[str, str]:
        result = start_values(environment, machine=machine, cpus=cpus, are_cpus_taken=lambda: are_taken)
        assert all(entry.reason for entry in result)
        return {entry.name: entry.value for entry in result}

    assert values({}) == {"OMP_NUM_THREADS": "2"}
    assert values({}, cpus=2) == {}, "as many as there are"
    assert values({"OMP_NUM_THREADS": "8"}) == {}, "the user's"
    assert values({"OMP_DYNAMIC": "true"}) == {}
    assert values({}, are_taken=True) == {"OMP_NUM_THREADS": "2", "GOMP_SPINCOUNT": "1000"}
    assert values({"OMP_WAIT_POLICY": "active"}, are_taken=True) == {"OMP_NUM_THREADS": "2"}
    (tmp_path / "sys/fs/cgroup/job/cpu.max").write_text("50000 100000\n")
    assert values({}) == {"OMP_NUM_THREADS": "1"}
    (tmp_path / "sys/fs/cgroup/job/cpu.max").write_text("max 100000\n")
    assert values({}, are_taken=True, cpus=2) == {"GOMP_SPINCOUNT": "1000"}
