"""Placements of threads: words of an experiment file as CPUs of described machines."""

from __future__ import annotations

import doctest
import importlib
import os
from dataclasses import replace
from pathlib import Path

import pytest
from sweep_samples import write
from trimtab.experiments import ExperimentError, load, sweep
from trimtab.experiments.placement import (
    Placement,
    PlacementError,
    bound,
    placement_of,
    replaced_environment,
    wish_of,
)
from trimtab.experiments.topology import Cpu, topology

TWO = (Cpu(0, core=0), Cpu(1, core=1))
# As Linux numbers most servers: even CPUs on one socket, odd ones on the other.
TWO_SOCKETS = tuple(Cpu(number, socket=number % 2, core=number // 2) for number in range(20))
# Four fast cores of two threads each, then four slow ones.
HYBRID = (
    *(Cpu(number, core=number // 2, thread=number % 2) for number in range(8)),
    *(Cpu(number, core=number, capacity=512) for number in range(8, 12)),
)


@pytest.mark.parametrize(
    ("cpus", "words", "expected"),
    [
        (TWO, "all free", (0, 1)),
        (TWO, "80 % pinned", (0,)),
        (TWO, "50 % pinned on one socket", (0,)),
        (TWO, "1 % free", (0,)),
        (TWO_SOCKETS, "all pinned", tuple(range(20))),
        (TWO_SOCKETS, "80 % pinned", tuple(range(16))),
        (TWO_SOCKETS, "50 % pinned on one socket", tuple(range(0, 20, 2))),
        (TWO_SOCKETS, "all free on one socket", tuple(range(0, 20, 2))),
        (TWO_SOCKETS, "25% free", (0, 1, 2, 3, 4)),
        (HYBRID, "50 % pinned", (0, 2, 4, 6, 8, 9)),
        (HYBRID, "75 % pinned", (0, 1, 2, 4, 6, 8, 9, 10, 11)),
    ],
)
def test_words_as_cpus(cpus: tuple[Cpu, ...], words: str, expected: tuple[int, ...]) -> None:
    assert placement_of(words, cpus) == Placement(expected, "pinned" in words)


def test_a_socket_that_is_too_small() -> None:
    with pytest.raises(PlacementError, match=r"a socket with 16 CPUs .* found at most 10 in one"):
        placement_of("80 % pinned on one socket", TWO_SOCKETS)


@pytest.mark.parametrize("words", ["", "all", "pinned", "0 % free", "101 % free", "80 pinned", "all pinned "])
def test_other_words_are_errors(words: str) -> None:
    with pytest.raises(PlacementError, match="'all free', 'all pinned'"):
        wish_of(words)


def test_environment_of_an_openmp_program() -> None:
    callers = {"HOME": "/", "EMPTY": "", "OMP_PLACES": "cores"}
    pinned = replaced_environment(callers, Placement((0, 2), True))
    assert pinned == {**callers, "OMP_NUM_THREADS": "2", "OMP_PLACES": "{0},{2}", "OMP_PROC_BIND": "true"}
    free = replaced_environment(callers, Placement((0, 2), False))
    assert free == {"HOME": "/", "EMPTY": "", "OMP_NUM_THREADS": "2", "OMP_PROC_BIND": "false"}
    assert replaced_environment(callers, None) == callers


def described(root: Path, cpus: tuple[Cpu, ...]) -> None:
    for cpu in cpus:
        folder = root / f"sys/devices/system/cpu/cpu{cpu.number}/topology"
        folder.mkdir(parents=True)
        (folder / "physical_package_id").write_text(f"{cpu.socket}\n")
        (folder / "core_id").write_text(f"{cpu.core}\n")


@pytest.mark.parametrize("cpus", [TWO, TWO_SOCKETS], ids=["two CPUs", "two sockets"])
def test_a_machine_as_sys_describes_it(tmp_path: Path, cpus: tuple[Cpu, ...]) -> None:
    described(tmp_path, cpus)
    assert topology(tmp_path, range(len(cpus))) == cpus


def test_a_hybrid_machine(tmp_path: Path) -> None:
    described(tmp_path, HYBRID)
    (tmp_path / "sys/devices/cpu_atom").mkdir()
    (tmp_path / "sys/devices/cpu_atom/cpus").write_text("8-11\n")
    assert topology(tmp_path, range(12)) == HYBRID


def test_a_container_has_the_cpus_of_its_cpuset(tmp_path: Path) -> None:
    described(tmp_path, TWO_SOCKETS)
    cpus = topology(tmp_path, {3, 4, 5, 7})
    assert [(cpu.number, cpu.socket) for cpu in cpus] == [(3, 1), (4, 0), (5, 1), (7, 1)]
    assert placement_of("50 % pinned on one socket", cpus).cpus == (3, 5)
    assert placement_of("50 % pinned", cpus).cpus == (3, 4)


def test_a_machine_without_a_description(tmp_path: Path) -> None:
    assert topology(tmp_path, [4, 2]) == (Cpu(2, core=2), Cpu(4, core=4))


def test_only_threads_that_are_not_pinned_need_an_affinity() -> None:
    before = os.sched_getaffinity(0)
    one = (min(before),)
    with bound(Placement(one, False)):
        assert os.sched_getaffinity(0) == set(one)
    assert os.sched_getaffinity(0) == before
    with bound(Placement(one, True)):
        assert os.sched_getaffinity(0) == before


PROGRAM = """
import os
names = "OMP_NUM_THREADS", "OMP_PLACES", "OMP_PROC_BIND"
with open("seen.txt", "a") as log:
    print(*(os.environ.get(name) for name in names), len(os.sched_getaffinity(0)), file=log)
"""


def placed(folder: Path, cpus: str, overrides: str = "") -> Path:
    (folder / "program.py").write_text(PROGRAM)
    path = write(folder, overrides, command='["python3", "program.py"]', expect="'^'", order='"given"')
    kept = path.read_text().split("[factors]")[0]
    path.write_text(f"{kept}\n{overrides}\n[factors]\nplaced = {{cpus = {cpus}}}\n")
    return path


def test_a_sweep_places_the_threads(tmp_path: Path) -> None:
    experiment = replace(load(placed(tmp_path, '["all pinned", "1 % free"]')), samples=1)
    swept = sweep(experiment, tmp_path / "out")
    assert [record.failure for record in swept.records] == [None, None]
    cpus = sorted(os.sched_getaffinity(0))
    places = ",".join(f"{{{cpu}}}" for cpu in cpus)
    assert (tmp_path / "seen.txt").read_text().splitlines() == [
        f"{len(cpus)} {places} true {len(cpus)}",
        "1 None false 1",
    ]
    assert load(experiment.file, {"placed": "all free"}).factors[0].kind == "cpus"


def test_mistakes_in_a_file(tmp_path: Path) -> None:
    with pytest.raises(ExperimentError, match=r"'factors.placed.cpus': expected 'all free', .* found 'half'"):
        load(placed(tmp_path, '["half"]'))
    path = placed(tmp_path, '["all free"]', "[environment]\nOMP_NUM_THREADS = 2")
    with pytest.raises(ExperimentError, match=r"no variable that the factor 'placed' .cpus. sets"):
        load(path)
    path.write_text(placed(tmp_path, '["all free"]').read_text() + 'again = {cpus = ["all free"]}\n')
    with pytest.raises(ExperimentError, match="one factor of `cpus` at most"):
        load(path)


def test_the_host_is_a_label(tmp_path: Path) -> None:
    path = write(tmp_path)
    path.write_text(path.read_text().replace("[factors]", "[factors]\nnode = {host = true}"))
    assert load(path).factors[0].values == (os.uname().nodename,)
    assert load(path, {"node": ["a", "b"]}).factors[0].values == ("a", "b")


@pytest.mark.parametrize("module", ["placement", "topology"])
def test_examples(module: str) -> None:
    result = doctest.testmod(importlib.import_module(f"trimtab.experiments.{module}"))
    assert result.attempted > 0 and result.failed == 0
