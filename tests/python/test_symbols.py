"""Source places from what gcc and clang write, at the directive's line."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection
from reports import build
from synthetic import ProcessFiles, module, subject, write_run
from trimtab import symbols as symbols_module
from trimtab.model import Process
from trimtab.readers import open_run
from trimtab.symbols import Binary, Place, Symbols, label, readable, user_function

SOURCE = """\
int printf(const char *, ...);
double solve(double *a, int n) {
  double s = 0;
#pragma omp parallel for schedule(dynamic) reduction(+ : s)
  for (int i = 0; i < n; i++)
    s += a[i] * a[i];
  return s;
}
int main(int argc, char **argv) {
  double a[64];
#pragma omp parallel
  a[argc % 64] = argc;
  printf("%g\\n", solve(a, 64));
  return 0;
}
"""
DIRECTIVES = {"solve": 4, "main": 11}


def build_program(folder: Path, compiler: str, *flags: str) -> Path:
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    source = folder / "app.c"
    source.write_text(SOURCE)
    program = folder / "app"
    # Linked as a library, so that clang needs no OpenMP runtime here.
    subprocess.run(
        [
            compiler,
            "-fopenmp",
            "-shared",
            "-fPIC",
            "-nostdlib",
            "-Wl,--build-id",
            *flags,
            str(source),
            "-o",
            str(program),
        ],
        check=True,
    )
    return program


def outlined(program: Path) -> dict[str, int]:
    """Address of the outlined function of each user's function."""
    with program.open("rb") as stream:
        table = ELFFile(stream).get_section_by_name(".symtab")
        assert isinstance(table, SymbolTableSection)
        return {
            user_function(symbol_entry.name): symbol_entry["st_value"]
            for symbol_entry in table.iter_symbols()
            if ("omp_fn" in symbol_entry.name or symbol_entry.name.endswith("omp_outlined"))
            and symbol_entry["st_size"]
        }


def process_of(folder: Path, program: Path, offsets: dict[str, int], build_id: str | None = None) -> Process:
    if build_id is None:
        binary = Binary(program)
        build_id = binary.build_id()
        binary.close()
    names = [module(1, str(program), build_id)]
    names += [subject(at, offset=offset, module_number=1) for at, offset in enumerate(offsets.values(), 1)]
    return open_run(write_run(folder / "run", ProcessFiles(names=names))).processes[0]


@pytest.mark.parametrize("level", ["-O0", "-O2"])
@pytest.mark.parametrize("dwarf", ["-gdwarf-4", "-gdwarf-5"])
@pytest.mark.parametrize("compiler", ["gcc", "clang-19"])
def test_regions_are_named_by_the_line_of_their_directive(
    tmp_path: Path, compiler: str, dwarf: str, level: str
) -> None:
    program = build_program(tmp_path, compiler, dwarf, level)
    offsets = outlined(program)
    assert set(offsets) == set(DIRECTIVES)
    process = process_of(tmp_path, program, offsets)
    with Symbols() as symbols:
        for number, function in enumerate(offsets, 1):
            place = symbols.place(process, process.subjects[number])
            # Optimised, clang's outlined function begins with the statement. It matters little: with -g clang
            # passes the directive's line to the runtime, which is what is taken first.
            late = int(compiler == "clang-19" and level == "-O2" and function == "main")
            line = DIRECTIVES[function] + late
            assert place == Place(function, str(tmp_path / "app.c"), line)
            assert label(process, process.subjects[number], place) == f"app.c:{line} ({function})"


@pytest.mark.parametrize("dwarf", ["-gdwarf-4", "-gdwarf-5"])
@pytest.mark.parametrize("compiler", ["g++", "clang++-19"])
def test_a_task_that_begins_in_our_header_has_the_users_line(
    tmp_path: Path, compiler: str, dwarf: str
) -> None:
    header = tmp_path / "include/trimtab/tasks/core/task.hpp"
    header.parent.mkdir(parents=True)
    header.write_text(
        "inline volatile int begun;\n"
        "template <class function> [[gnu::noinline]] int run_it(const function& f) {\n"
        "  begun = 1;\n"
        "  return f();\n"
        "}\n"
    )
    source = tmp_path / "user.cpp"
    source.write_text(
        "#include <trimtab/tasks/core/task.hpp>\n"
        "int main(int argc, char**) {\n"
        "  return run_it([argc] {\n"
        "    begun = argc + 7;\n"
        "    return 0;\n"
        "  });\n"
        "}\n"
    )
    program = tmp_path / "app"
    flags = ["-std=c++17", "-O2", dwarf, "-I", str(tmp_path / "include")]
    subprocess.run([compiler, *flags, str(source), "-o", str(program)], check=True)
    with program.open("rb") as stream:
        table = ELFFile(stream).get_section_by_name(".symtab")
        assert isinstance(table, SymbolTableSection)
        offset = next(
            symbol_entry["st_value"] for symbol_entry in table.iter_symbols() if "run_it" in symbol_entry.name
        )
    process = process_of(tmp_path, program, {"task": offset})
    with Symbols() as symbols:
        place = symbols.place(process, process.subjects[1])
    assert place.file == str(source) and place.line in (
        3,
        4,
    )  # where the closure begins, or its first statement


def test_without_debug_information_the_function_is_known(tmp_path: Path) -> None:
    program = build_program(tmp_path, "gcc", "-O2")
    offsets = outlined(program)
    process = process_of(tmp_path, program, offsets)
    with Symbols() as symbols:
        place = symbols.place(process, process.subjects[1])
    assert place == Place(next(iter(offsets)))


def test_stripped_program_leaves_module_and_offset(tmp_path: Path) -> None:
    program = build_program(tmp_path, "gcc", "-O2", "-g")
    offsets = outlined(program)
    subprocess.run(["strip", str(program)], check=True)
    process = process_of(tmp_path, program, offsets)
    with Symbols() as symbols:
        place = symbols.place(process, process.subjects[1])
    assert place == Place()
    assert label(process, process.subjects[1], place) == f"app+0x{next(iter(offsets.values())):x}"


def test_separate_debug_file_is_found_by_build_id(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = build_program(tmp_path, "gcc", "-O2", "-g")
    offsets = outlined(program)
    process = process_of(tmp_path, program, offsets)
    build_id = process.modules[0].build_id
    apart = tmp_path / "debug" / ".build-id" / build_id[:2] / f"{build_id[2:]}.debug"
    apart.parent.mkdir(parents=True)
    subprocess.run(["objcopy", "--only-keep-debug", str(program), str(apart)], check=True)
    subprocess.run(["strip", str(program)], check=True)
    monkeypatch.setattr(symbols_module, "_DEBUG_ROOT", tmp_path / "debug")
    with Symbols() as symbols:
        for number, function in enumerate(offsets, 1):
            assert symbols.place(process, process.subjects[number]).line == DIRECTIVES[function]


def test_another_build_is_not_looked_into_and_told(tmp_path: Path) -> None:
    program = build_program(tmp_path, "gcc", "-O2", "-g")
    process_of(tmp_path, program, outlined(program), build_id="00ff")
    report = build(open_run(tmp_path / "run"))
    reported = [entry for entry in report["unavailable"] if entry["what"] == "source places"]
    assert len(reported) == 1
    assert str(program) in reported[0]["why"]
    assert not (tmp_path / "run" / "symbols.json").exists()


def test_places_stay_when_the_program_is_gone(tmp_path: Path) -> None:
    program = build_program(tmp_path, "gcc", "-O2", "-g")
    offsets = outlined(program)
    process = process_of(tmp_path, program, offsets)
    build(open_run(tmp_path / "run"))
    program.unlink()
    with Symbols(tmp_path / "run") as symbols:
        function = next(iter(offsets))
        assert symbols.place(process, process.subjects[1]).line == DIRECTIVES[function]


@pytest.mark.parametrize(
    "content", ["", "[]", '{"format": 1}', '{"format": 1, "places": {"a": 3}}', "[" * 100_000]
)
def test_damaged_cache_is_made_anew(tmp_path: Path, content: str) -> None:
    program = build_program(tmp_path, "gcc", "-O2", "-g")
    process = process_of(tmp_path, program, outlined(program))
    cache = tmp_path / "symbols.json"
    cache.write_text(content)
    with Symbols(tmp_path) as symbols:
        assert symbols.place(process, process.subjects[1]).line
    assert '"places"' in cache.read_text()
    assert "app.c" in cache.read_text()


@pytest.mark.parametrize("most", [1 << 30, 100])
def test_compressed_debug_information_is_read_up_to_a_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    program = build_program(tmp_path, "gcc", "-O2", "-g", "-gz=zlib")
    process = process_of(tmp_path, program, outlined(program))
    monkeypatch.setattr("trimtab.symbols._MOST_DEBUG_BYTES", most)
    with Symbols() as symbols:
        place = symbols.place(process, process.subjects[1])
    assert place.function
    assert bool(place.line) == (most > 100)


def test_a_program_that_is_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    program = tmp_path / "app"
    os.mkfifo(program)
    process = process_of(tmp_path, program, {"f": 0x40}, "ab12")
    with Symbols() as symbols:
        assert symbols.place(process, process.subjects[1]) == Place()


@pytest.mark.parametrize("size", [0, 3, 64, 200, 1000, 5000])
def test_damaged_program_costs_the_place_only(tmp_path: Path, size: int) -> None:
    program = build_program(tmp_path, "gcc", "-O2", "-g")
    process = process_of(tmp_path, program, outlined(program))
    program.write_bytes(program.read_bytes()[:size])
    with Symbols() as symbols:
        assert symbols.place(process, process.subjects[1]) == Place()


def test_device_as_module_is_not_read(tmp_path: Path) -> None:
    process = process_of(tmp_path, Path("/dev/zero"), {"x": 16}, build_id="")
    with Symbols() as symbols:
        assert symbols.place(process, process.subjects[1]) == Place()


@pytest.mark.parametrize(
    ("symbol", "function"),
    [
        ("main._omp_fn.0", "main"),
        ("solve.omp_outlined", "solve"),
        ("solve.omp_outlined.3", "solve"),
        (".omp_outlined.", ""),
        ("kernel._omp_fn.2.constprop.0", "kernel"),
        ("f.omp_outlined_debug__", "f"),
        ("_Z1fv", "_Z1fv"),
    ],
)
def test_user_function(symbol: str, function: str) -> None:
    assert user_function(symbol) == function


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("solve", "solve"),
        ("_ZN4heat5solveEPdi", "heat::solve"),
        ("_ZNK4heat4ringclEi", "heat::ring::operator()"),
        ("_ZZN12_GLOBAL__N_16workerEjjlENKUlvE_clEv", "(anonymous)::worker::{lambda#1}"),
        ("_ZNSt6vectorIiSaIiEE9push_backERKi", "std::vector<int, std::allocator<int> >::push_back"),
        ("_Znot_one", "_Znot_one"),
        ("__physics_MOD_solve", "physics::solve"),
        ("MAIN__", "main program"),
    ],
)
def test_names_are_readable(symbol: str, name: str) -> None:
    assert readable(symbol) == name
