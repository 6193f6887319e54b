"""Settings of the allocator: what is tried, what the user has set, what is kept and used again."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from reports import typed
from trimtab.history import History
from trimtab.machine_files import Machine
from trimtab.tuning.memory_starts import memory_starts, offers_huge_pages
from trimtab.tuning.multi_run import Start
from trimtab.tuning.single_run import Tuning, entries_of_start, key_of, prepare
from trimtab.tuning.start_situation import Situation
from trimtab.tuning.tunables import VARIABLE, tunables_of, with_variables

MMAP, TRIM, HUGE = "glibc.malloc.mmap_threshold", "glibc.malloc.trim_threshold", "glibc.malloc.hugetlb"
CACHES = "glibc.malloc.tcache_count"


HUGE_FILE = "sys/kernel/mm/transparent_hugepage/enabled"


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """One that offers huge pages."""
    (tmp_path / HUGE_FILE).parent.mkdir(parents=True)
    (tmp_path / HUGE_FILE).write_text("always [madvise] never\n")
    return Machine(tmp_path)


def tried(
    machine: Machine,
    *causes: str,
    environment: Mapping[str, str] | None = None,
    wide: bool = False,
    peak_kb: int = 1000,
) -> list[set[str]]:
    """The names of the settings of each start."""
    findings = [
        {"cause": cause, "subject": None, "evidence": "seen", "action": "", "gain_s": 1.0} for cause in causes
    ]
    situation = Situation(
        typed({"findings": findings, "os": {"max_rss_kb": peak_kb}}),
        environment or {},
        2,
        machine,
        is_wide=wide,
    )
    return [set(tunables_of(start.environment[VARIABLE])) for start in memory_starts(situation)]


RETURNED, SMALL = "memory given back and taken again", "small pages"
CONTENTION = "allocator contention"


def test_much_memory_is_a_reason_for_huge_pages_without_a_finding(machine: Machine) -> None:
    assert tried(machine, peak_kb=63_000) == []
    assert tried(machine, peak_kb=250_000) == [{HUGE}]
    assert tried(machine, peak_kb=250_000, environment={VARIABLE: f"{HUGE}=0"}) == []
    machine.path(f"/{HUGE_FILE}").write_text("[always] madvise never")  # they are huge already
    assert tried(machine, peak_kb=250_000) == []


def test_what_is_tried_follows_from_what_was_seen(machine: Machine) -> None:
    assert tried(machine) == []
    assert tried(machine, "imbalance") == []
    assert tried(machine, RETURNED) == [{MMAP, TRIM}, {HUGE}]
    assert tried(machine, SMALL) == [{HUGE}]
    assert tried(machine, CONTENTION) == [{MMAP, TRIM}, {CACHES}]
    assert tried(machine, wide=True) == [{MMAP, TRIM}, {CACHES}, {HUGE}]
    machine.path(f"/{HUGE_FILE}").write_text("[never]")
    assert tried(machine, RETURNED, SMALL) == [{MMAP, TRIM}]


def test_what_the_user_has_set_is_left(machine: Machine) -> None:
    assert tried(machine, RETURNED, environment={VARIABLE: f"{HUGE}=2"}) == [{MMAP, TRIM}]
    assert tried(machine, RETURNED, environment={VARIABLE: f"{MMAP}=1000:{HUGE}=0"}) == [{TRIM}]
    assert tried(machine, RETURNED, environment={VARIABLE: "glibc.malloc.arena_max=1"}) == [
        {MMAP, TRIM},
        {HUGE},
    ]
    assert tried(machine, RETURNED, environment={"MALLOC_TRIM_THRESHOLD_": "1"}) == []


@pytest.mark.parametrize(
    ("text", "has"),
    [
        ("always [madvise] never\n", True),
        ("[always] madvise never\n", True),
        ("always madvise [never]\n", False),
    ],
)
def test_whether_the_machine_offers_huge_pages(tmp_path: Path, text: str, has: bool) -> None:
    assert not offers_huge_pages(Machine(tmp_path))
    folder = tmp_path / "sys/kernel/mm/transparent_hugepage"
    folder.mkdir(parents=True)
    (folder / "enabled").write_text(text)
    assert offers_huge_pages(Machine(tmp_path)) is has


def test_two_settings_of_the_library_are_one_variable() -> None:
    kept = Start({VARIABLE: f"{MMAP}=1"}, "a reason")
    both = Start({VARIABLE: f"{HUGE}=1"}, "another").on_top_of(kept)
    assert both.environment == {VARIABLE: f"{MMAP}=1:{HUGE}=1"}
    assert Start({VARIABLE: f"{MMAP}=2"}, "").on_top_of(both).environment == {VARIABLE: f"{MMAP}=2:{HUGE}=1"}


def test_the_users_own_settings_win() -> None:
    assert with_variables({VARIABLE: f"{MMAP}=5:x"}, {VARIABLE: f"{MMAP}=1:{TRIM}=2"}) == {
        VARIABLE: f"{MMAP}=5:{TRIM}=2"
    }
    assert with_variables({VARIABLE: "a=1"}, {}) == {VARIABLE: "a=1"}
    assert with_variables({}, {VARIABLE: "a=1"}) == {VARIABLE: "a=1"}


@pytest.mark.parametrize(
    ("users", "used"),
    [
        (None, f"{MMAP}=1:{TRIM}=2"),
        ("glibc.malloc.arena_max=1", f"glibc.malloc.arena_max=1:{MMAP}=1:{TRIM}=2"),
        (f"{MMAP}=7", f"{MMAP}=7:{TRIM}=2"),
        (f"{MMAP}=7:{TRIM}=8", None),
    ],
)
def test_a_frozen_run_starts_with_what_was_kept(tmp_path: Path, users: str | None, used: str | None) -> None:
    program = Path("/bin/true")
    key = key_of(program, [], None)
    file = tmp_path / "history.sqlite"
    History(file).remember(
        entries_of_start(key, program, Start({VARIABLE: f"{MMAP}=1:{TRIM}=2"}, "it was seen"))
    )
    environment = {} if users is None else {VARIABLE: users}
    prepared = prepare(Tuning("frozen", file), program, [], environment)
    assert prepared.steering.environment.get(VARIABLE) == used
