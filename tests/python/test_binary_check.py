"""The check of outlined functions: what depends on its threads' numbers is never found fit, whatever the compiler makes of it."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from trimtab.binary_check import Outlined, check_file, check_program

SOURCES = Path(__file__).parent / "binary_check"
LEVELS = ("-O0", "-O1", "-O2", "-O3 -march=native")

Compile = Callable[[Path, str], Path]


@pytest.fixture
def library(tmp_path: Path) -> Compile:
    def compiled(source: Path, options: str) -> Path:
        compiler = {".c": "gcc", ".cpp": "g++", ".f90": "gfortran"}[source.suffix]
        if shutil.which(compiler) is None:
            pytest.skip(f"no {compiler}")
        out = tmp_path / f"{source.stem}.so"
        command = [
            compiler,
            *options.split(),
            "-w",
            "-fopenmp",
            "-shared",
            "-fPIC",
            str(source),
            "-o",
            str(out),
            "-lm",
        ]
        subprocess.run(command, check=True)
        return out

    return compiled


def outcomes(path: Path) -> dict[str, str]:
    return {entry.name.split(".")[0]: entry.why for entry in check_file(path)}


def written_in(source: Path) -> set[str]:
    """The functions with a region, by their definitions."""
    names = set()
    name = ""
    for line in source.read_text(encoding="utf-8").splitlines():
        if line[:1].isalpha() and "(" in line and line.endswith("{"):
            name = line.split("(")[0].split()[-1].lstrip("*")
        elif "#pragma omp parallel" in line:
            names.add(name)
    return names


@pytest.mark.parametrize("level", LEVELS)
def test_static_loops_are_found_fit(library: Compile, level: str) -> None:
    result = outcomes(library(SOURCES / "fit.c", level))
    assert {name: reason for name, reason in result.items() if reason} == {}
    assert set(result) == written_in(SOURCES / "fit.c")


@pytest.mark.parametrize("level", ["-O1", "-O2", "-O3 -march=native"])
def test_static_loops_in_templates_are_found_fit(library: Compile, level: str) -> None:
    result = outcomes(library(SOURCES / "fit.cpp", level))
    assert len(result) == 4 and not any(result.values()), result


@pytest.mark.parametrize(
    "level", [*LEVELS, "-O2 -fno-plt", "-O2 -fstack-protector-all", "-Os", "-O2 -funroll-loops"]
)
@pytest.mark.parametrize("source", ["unfit.c", "unfit_reductions.c", "unfit.cpp", "unfit.f90"])
def test_what_depends_on_its_threads_is_never_fit(library: Compile, source: str, level: str) -> None:
    result = check_file(library(SOURCES / source, level))
    assert [entry.name for entry in result if not entry.why] == []
    assert result


# Logical operations end a loop's work early, and GCC asks for the last value (lastprivate) of no iterations as well.
# Of `simd` loops each thread adds up what its lanes have gathered.
NEVER_SERVED = {"all_hold", "any_holds", "with_last", "with_simd"}
# The largest of integers as SSE2 has it: by masks.
BY_MASKS = {"largest_int", "smallest_int", "product_of_ints"}
# The iterations that vectors leave over are no loop, so what each counts is not told from what each thread counts.
LEFT_OVER = {"counted"}


@pytest.mark.parametrize(
    ("level", "refused"),
    [
        ("-O1", set()),
        ("-O2", set()),
        ("-O3", BY_MASKS | LEFT_OVER),
        ("-O3 -mavx2", LEFT_OVER),
        ("-Ofast -mavx2", LEFT_OVER | {"collapsed"}),  # its first iteration is taken for the neutral element
        ("-Os", set()),
        ("-O2 -fno-plt -fstack-protector-all", {"forces"}),  # an array beside a guard
    ],
)
def test_loops_with_reductions_are_found_fit(library: Compile, level: str, refused: set[str]) -> None:
    result = outcomes(library(SOURCES / "reductions.c", level))
    assert set(result) == written_in(SOURCES / "reductions.c")
    assert {name for name, reason in result.items() if reason} == NEVER_SERVED | refused


def test_simple_reductions_are_found_fit_without_optimization(library: Compile) -> None:
    result = outcomes(library(SOURCES / "reductions.c", "-O0"))
    simple = {
        "sum_of_ints",
        "sum_of_doubles",
        "triangular_sum",
        "product_of_doubles",
        "two_loops",
        "with_simd",
    }
    assert {name for name in simple if result[name]} == set()


@pytest.mark.parametrize("level", ["-O2", "-Os", "-O2 -fno-plt"])
def test_reductions_of_cpp_are_found_fit(library: Compile, level: str) -> None:
    result = outcomes(library(SOURCES / "reductions.cpp", level))
    refused = {name for name, reason in result.items() if reason}
    assert len(result) == 7
    assert refused == ({"_Z8farthestPKdi"} if level == "-Os" else set()), result


@pytest.mark.parametrize("level", ["-O1", "-O2", "-Ofast"])
def test_reductions_of_fortran_are_found_fit(library: Compile, level: str) -> None:
    result = outcomes(library(SOURCES / "reductions.f90", level))
    assert len(result) == 5
    assert {name for name, reason in result.items() if reason} == (
        {"counted_"} if level == "-Ofast" else set()
    )


@pytest.mark.parametrize("level", ["-O2 -fno-plt", "-O2 -fstack-protector-all", "-Os", "-O2 -funroll-loops"])
def test_other_ways_to_compile_are_understood(library: Compile, level: str) -> None:
    result = outcomes(library(SOURCES / "fit.c", level))
    assert {name: reason for name, reason in result.items() if reason} == {}


def test_fortran_is_understood(library: Compile) -> None:
    result = outcomes(library(SOURCES / "fit.f90", "-O2"))
    assert result and not any(result.values()), result


def test_a_stripped_file_is_checked_as_well(library: Compile) -> None:
    path = library(SOURCES / "fit.c", "-O2")
    before = {entry.address for entry in check_file(path) if not entry.why}
    subprocess.run(["strip", str(path)], check=True)
    assert {entry.address for entry in check_file(path) if not entry.why} == before


def test_without_a_build_id_nothing_is_fit(library: Compile) -> None:
    result = check_file(library(SOURCES / "fit.c", "-O2 -Wl,--build-id=none"))
    assert [entry.why for entry in result] == ["its file has no build id by which it could be known again"]


def test_a_file_that_is_no_program_has_no_functions(tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text("#!/bin/sh\n", encoding="utf-8")
    assert check_program(script) == []


def test_libraries_that_a_program_is_linked_with_are_checked(library: Compile, tmp_path: Path) -> None:
    path = library(SOURCES / "fit.c", "-O2")
    source = tmp_path / "main.c"
    source.write_text(
        "void axpy(double*, const double*, int); int main(void) { axpy(0, 0, 0); }", encoding="utf-8"
    )
    program = tmp_path / "main"
    subprocess.run(["gcc", str(source), "-o", str(program), str(path), f"-Wl,-rpath,{tmp_path}"], check=True)
    result: list[Outlined] = check_program(program)
    assert path.resolve() in {entry.path for entry in result if not entry.why}


@pytest.mark.parametrize("machine", ["aarch64", "riscv64"])
def test_other_machines_are_told(library: Compile, machine: str) -> None:
    path = library(SOURCES / "fit.c", "-O2")
    data = bytearray(path.read_bytes())
    data[18:20] = {"aarch64": 183, "riscv64": 243}[machine].to_bytes(2, "little")
    path.write_bytes(data)
    assert [entry.why for entry in check_file(path)] == ["only code for x86-64 can be checked"]
