"""Where in the source a subject is: module and offset to function, file and line.

From DWARF or symbol tables of the module, or of its separate debug file; kept in the run directory, so that
later reports do not need the program any more.
"""

from __future__ import annotations

import bisect
import contextlib
import ctypes
import functools
import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trimtab.files import FileKind, open_regular, read_json
from trimtab.model import Module, Process, Subject
from trimtab.whole_files import write_private

# What compilers call the functions they outline: the user's function stands before.
_OUTLINED = re.compile(
    r"^(?P<function>.+?)(\._omp_fn\.\d+|\.omp_outlined.*|_omp_outlined.*|\.omp_task_entry.*|\.cold.*"
    r"|\.constprop.*|\.isra.*|\.part\.\d+)$"
)
_MAY_HOLD_FUNCTIONS = {
    f"DW_TAG_{suffix}"
    for suffix in ("subprogram", "lexical_block", "namespace", "class_type", "structure_type")
}
# What gfortran calls a procedure of a module.
_FORTRAN = re.compile(r"__(?P<module>[a-z]\w*?)_MOD_(?P<procedure>[a-z]\w*)")
_FORTRAN_SOURCE = re.compile(r"\.(f|for|ftn|f\d\d)$", re.IGNORECASE)
_DEBUG_ROOT = Path("/usr/lib/debug")
_CACHE = "symbols.json"
_MOST_LINES = 1 << 31
_MOST_DEBUG_BYTES = 2 << 30
# Of zlib, which sections of the older kind (.zdebug) are compressed by without saying how far.
_MOST_EXPANSION = 1032


class _NoFile(Exception):
    """A cache or a program that is none."""


_CACHE_FILE = FileKind("a cache of symbols", 64 << 20, _NoFile)
# The run says where programs are: what is no regular file is not opened. A link is as good as what it leads to.
_PROGRAM = FileKind("a program or library", 16 << 30, _NoFile, follows_links=True)
# Headers whose templates are compiled into the program: a task that begins there is known by the user's first line in it.
_TEMPLATES = re.compile(r"/trimtab/(tasks|session)/[\w/]+\.hpp$|/include/c\+\+/")


@dataclass(frozen=True)
class Place:
    """Where a subject is; empty strings and line 0 for what is not known."""

    function: str = ""
    file: str = ""
    line: int = 0


class Binary:
    """One ELF file, opened as long as this object lives."""

    def __init__(self, path: Path) -> None:
        # Here, as a report whose places are all known needs no ELF reader.
        from elftools.elf.elffile import ELFFile

        self._stream = open_regular(path, _PROGRAM)
        self.elf = ELFFile(self._stream)
        self._symbols: tuple[list[int], list[tuple[int, str]]] | None = None
        self._has_lines: bool | None = None
        self._units: list[tuple[int, int, Any]] | None = None
        self._lines: dict[int, tuple[list[int], list[tuple[str, int]]]] = {}

    def close(self) -> None:
        """Close the file."""
        self._stream.close()

    def build_id(self) -> str:
        """In hex; "" if there is none."""
        for section in self.elf.iter_sections():
            if hasattr(section, "iter_notes"):
                for note in section.iter_notes():
                    if note["n_type"] == "NT_GNU_BUILD_ID":
                        return str(note["n_desc"])
        return ""

    def has_lines(self) -> bool:
        """Whether there is debug information in this file itself, of a size that can be read."""
        if self._has_lines is None:
            has_dwarf = bool(self.elf.has_dwarf_info(strict=True))
            self._has_lines = has_dwarf and self._debug_bytes() <= _MOST_DEBUG_BYTES
        return self._has_lines

    def _debug_bytes(self) -> int:
        """What the debug information takes in memory: a compressed section may say far more than the file has."""
        return sum(
            section["sh_size"] * _MOST_EXPANSION if section.name.startswith(".zdebug") else section.data_size
            for section in self.elf.iter_sections()
            if section.name.startswith((".debug", ".zdebug"))
        )

    def function_at(self, address: int) -> str:
        """The symbol that covers `address`, or ""."""
        start, size, name = self._symbol_before(address)
        return name if address < start + max(size, 1) else ""

    def _end_of(self, address: int) -> int:
        """Behind the function that covers `address`."""
        start, size, _ = self._symbol_before(address)
        return max(start + size, address)

    def _symbol_before(self, address: int) -> tuple[int, int, str]:
        """Start, size and name of the last symbol at `address` or before it; nothing at 0 if there is none."""
        if self._symbols is None:
            self._symbols = self._read_symbols()
        starts, entries = self._symbols
        at = bisect.bisect_right(starts, address) - 1
        return (starts[at], *entries[at]) if at >= 0 else (0, 0, "")

    def _read_symbols(self) -> tuple[list[int], list[tuple[int, str]]]:
        line_by_address: dict[int, tuple[int, str]] = {}
        for name in (".dynsym", ".symtab"):
            section = self.elf.get_section_by_name(name)
            if section is None or not hasattr(section, "iter_symbols"):
                continue
            for symbol in section.iter_symbols():
                if symbol["st_info"]["type"] == "STT_FUNC" and symbol["st_value"]:
                    line_by_address[symbol["st_value"]] = (symbol["st_size"], symbol.name)
        starts = sorted(line_by_address)
        return starts, [line_by_address[start] for start in starts]

    def line_at(self, address: int, is_entry: bool) -> tuple[str, int]:
        """File and line of the code at `address`; ("", 0) when there is none.

        At the entry of an outlined function several rows may share the address: the first is the directive's,
        the later ones are of code that was moved there.
        """
        if not self.has_lines():
            return "", 0
        dwarf = self.elf.get_dwarf_info()
        if self._units is None:
            self._units = [
                (low, high, unit)
                for unit in dwarf.iter_CUs()
                for low, high in _ranges_of(dwarf, unit, unit.get_top_DIE())
            ]
        for low, high, unit in self._units:
            if low <= address < high:
                addresses, places = self._rows(dwarf, unit)
                at = bisect.bisect_right(addresses, address) - 1
                if is_entry and at >= 0:
                    at = bisect.bisect_left(addresses, addresses[at])
                if at >= 0 and is_entry and _TEMPLATES.search(places[at][0]):
                    end = bisect.bisect_left(addresses, self._end_of(address))
                    users = (place for place in places[at:end] if not _TEMPLATES.search(place[0]))
                    return next(users, places[at])
                if at >= 0 and _TEMPLATES.search(places[at][0]):
                    # A loop over iterators begins with code of the C++ library: the loop is where that was called.
                    return _call_site(dwarf, unit, addresses[at]) or places[at]
                if at >= 0:
                    return places[at]
        return "", 0

    def _rows(self, dwarf: Any, unit: Any) -> tuple[list[int], list[tuple[str, int]]]:
        if unit.cu_offset not in self._lines:
            rows: list[tuple[int, tuple[str, int]]] = []
            program = dwarf.line_program_for_CU(unit)
            names: dict[int, str] = {}
            for entry in program.get_entries() if program is not None else ():
                state = entry.state
                if state is None or state.end_sequence or not state.line:
                    continue
                if state.file not in names:
                    names[state.file] = _file_name(unit, program, state.file)
                rows.append((state.address, (names[state.file], state.line)))
            rows.sort(key=lambda row: row[0])
            self._lines[unit.cu_offset] = ([row[0] for row in rows], [row[1] for row in rows])
        return self._lines[unit.cu_offset]


def _call_site(dwarf: Any, unit: Any, address: int) -> tuple[str, int] | None:
    """Where the function that has the code at `address` calls what was inlined there; None if nothing was."""

    def at_address(die: Any) -> bool:
        return any(low <= address < high for low, high in _ranges_of(dwarf, unit, die))

    def functions(die: Any) -> Iterator[Any]:
        """GCC describes an outlined function inside the function it was written in."""
        for child in die.iter_children():
            if child.tag in _MAY_HOLD_FUNCTIONS:
                yield child
                yield from functions(child)

    functions_here = (die for die in functions(unit.get_top_DIE()) if die.tag == "DW_TAG_subprogram")
    die = next((function_die for function_die in functions_here if at_address(function_die)), None)
    while die is not None:
        blocks = (
            child
            for child in die.iter_children()
            if child.tag in ("DW_TAG_inlined_subroutine", "DW_TAG_lexical_block") and at_address(child)
        )
        die = next(blocks, None)
        if die is not None and die.tag == "DW_TAG_inlined_subroutine":
            line = die.attributes.get("DW_AT_call_line")
            file = die.attributes.get("DW_AT_call_file")
            if line is None or file is None:
                return None
            return _file_name(unit, dwarf.line_program_for_CU(unit), file.value), line.value
    return None


def _ranges_of(dwarf: Any, unit: Any, die: Any) -> list[tuple[int, int]]:
    """Addresses of the code of a unit, function or block, each from low to below high."""
    low = die.attributes.get("DW_AT_low_pc")
    high = die.attributes.get("DW_AT_high_pc")
    if low is not None and high is not None:
        end = high.value if high.form == "DW_FORM_addr" else low.value + high.value
        return [(low.value, end)]
    ranges = die.attributes.get("DW_AT_ranges")
    lists = dwarf.range_lists()
    if ranges is None or lists is None:
        return []
    base = unit.get_top_DIE().attributes.get("DW_AT_low_pc")
    base = base.value if base is not None else 0
    names = []
    for entry in lists.get_range_list_at_offset(ranges.value, cu=unit):
        if hasattr(entry, "base_address"):
            base = entry.base_address
        elif getattr(entry, "is_absolute", False):
            names.append((entry.begin_offset, entry.end_offset))
        else:
            names.append((base + entry.begin_offset, base + entry.end_offset))
    return names


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _file_name(unit: Any, program: Any, number: int) -> str:
    version = program.header.version
    entries = program.header.file_entry
    at = number if version >= 5 else number - 1
    if not 0 <= at < len(entries):
        return ""
    entry = entries[at]
    folders = program.header.include_directory
    folder_at = entry.dir_index if version >= 5 else entry.dir_index - 1
    folder = Path(_text(folders[folder_at])) if 0 <= folder_at < len(folders) else Path()
    compiled_in = unit.get_top_DIE().attributes.get("DW_AT_comp_dir")
    base = Path(_text(compiled_in.value)) if compiled_in is not None else Path()
    return os.path.normpath(base / folder / _text(entry.name))


def user_function(symbol: str) -> str:
    """The user's function behind a symbol of the compiler's making.

    >>> user_function("main._omp_fn.0"), user_function("solve.omp_outlined"), user_function("f")
    ('main', 'solve', 'f')
    """
    match = _OUTLINED.match(symbol)
    if match:
        return user_function(match["function"])
    return "" if symbol.startswith(".omp_") else symbol


@functools.cache
def _demangler() -> Any:
    """The C++ runtime's own, or None where there is none."""
    try:
        library = ctypes.CDLL("libstdc++.so.6")
        demangle_function = library.__cxa_demangle
        demangle_function.restype = ctypes.c_void_p
        demangle_function.argtypes = [
            ctypes.c_char_p,
            ctypes.c_void_p,
            ctypes.c_void_p,
            ctypes.POINTER(ctypes.c_int),
        ]
        free = ctypes.CDLL(None).free
        free.argtypes = [ctypes.c_void_p]
    except (OSError, AttributeError):
        return None

    def demangle(name: str) -> str:
        status = ctypes.c_int(-1)
        text = demangle_function(name.encode(), None, None, ctypes.byref(status))
        if not text:
            return name
        try:
            return ctypes.string_at(text).decode("utf-8", "replace")
        finally:
            free(text)

    return demangle


def readable(symbol: str) -> str:
    """A C++ or Fortran function's name as it is written, without its parameters; a closure's without its call operator.

    >>> readable("_ZN4heat5solveEPdi"), readable("solve"), readable("_ZZ4mainENKUlvE0_clEv")
    ('heat::solve', 'solve', 'main::{lambda#2}')
    >>> readable("_ZN4heat3fibEi.resume"), readable("_ZN4heat3fibEPZNS_3fibEiE20_ZN4heat3fibEi.Frame.actor")
    ('heat::fib', 'heat::fib')
    >>> readable("__physics_MOD_solve"), readable("MAIN__")
    ('physics::solve', 'main program')
    """
    if fortran := _FORTRAN.fullmatch(symbol):
        return "::".join(part for part in fortran.group("module", "procedure") if part)
    if symbol == "MAIN__":
        return "main program"
    demangle = _demangler()
    if not symbol.startswith("_Z") or demangle is None:
        return symbol
    name = str(demangle(symbol))
    if name == symbol:
        return symbol
    # Parts that compilers make of a function: of a coroutine, what resumes it.
    name = re.sub(r"( \[clone [^\]]*\])+$", "", name)
    name = re.sub(r"\boperator\(\)", "operator@", name)
    # From the inside out; what has no name keeps its parentheses.
    name = name.replace("(anonymous namespace)", "@anonymous@")
    before = ""
    while name != before:
        before, name = name, re.sub(r"\([^()]*\)( const)?", "", name)
    name = re.sub(r"(\{lambda#\d+\})::operator@(<.*>)?$", r"\1", name).replace("operator@", "operator()")
    return name.replace("@anonymous@", "(anonymous)").strip() or symbol


class Symbols:
    """Looks subjects up; keeps opened files and what it found. Use as a context manager.

    What it found is kept in `run_directory`, if that is this user's and nobody else may write in it: a run of somebody
    else is left as it is.

    Attributes:
        changed: paths of modules that are not the build that ran any more; nothing is looked up in them.
    """

    def __init__(self, run_directory: Path | None = None) -> None:
        self._run_directory = run_directory
        self._known: dict[str, list[Any]] = _read_cache(run_directory)
        self._is_new = False
        self._binaries: dict[tuple[str, str], tuple[Binary, ...]] = {}
        self.changed: set[str] = set()

    def __enter__(self) -> Symbols:
        return self

    def __exit__(self, *_: object) -> None:
        for binaries in self._binaries.values():
            for binary in binaries:
                binary.close()
        if self._run_directory is not None and self._is_new:
            _write_cache(self._run_directory, self._known)

    def _open(self, module: Module) -> tuple[Binary, ...]:
        """The module's file and, where that has no debug information, its debug file."""
        key = (module.path, module.build_id)
        if key not in self._binaries:
            self._binaries[key] = ()
            # A damaged program must not cost the report, and the ELF reader raises whatever it stumbled on.
            try:
                binary = Binary(Path(module.path))
            except Exception:
                return ()
            self._binaries[key] = (binary,)
            try:
                if module.build_id and binary.build_id() != module.build_id:
                    # Another build than the one that ran would give wrong places, which is worse than none.
                    self.changed.add(module.path)
                    binary.close()
                    self._binaries[key] = ()
                elif not binary.has_lines() and len(module.build_id) > 2:
                    name = f"{module.build_id[:2]}/{module.build_id[2:]}.debug"
                    self._binaries[key] = (binary, Binary(_DEBUG_ROOT / ".build-id" / name))
            except Exception:
                pass
        return self._binaries[key]

    def place(self, process: Process, subject: Subject) -> Place:
        """Where `subject` is, from what its runtime said, debug information, or symbols, in this order."""
        module = process.modules_by_id.get(subject.module)
        if module is None:
            return Place(subject.function, subject.file, subject.line)
        if subject.line and subject.file and subject.function:
            return Place(subject.function, subject.file, subject.line)  # clang tells all of it
        key = f"{module.path}|{module.build_id}|{subject.offset:x}|{int(subject.is_call)}"
        if key not in self._known:
            source_place = self._look_up(module, subject)
            if source_place == Place():
                return Place(subject.function, subject.file, subject.line)
            self._known[key] = [source_place.function, source_place.file, source_place.line]
            self._is_new = True
        function, file, line = self._known[key]
        if _FORTRAN_SOURCE.search(file):
            function = function.removesuffix("_")  # that every Fortran compiler on Linux adds
        if subject.line:
            return Place(subject.function or function, subject.file or file, subject.line)
        return Place(function, file, line)

    def _look_up(self, module: Module, subject: Subject) -> Place:
        address = subject.offset - 1 if subject.is_call else subject.offset
        function, file, line = "", "", 0
        for binary in self._open(module):
            try:
                function = readable(user_function(binary.function_at(address))) or function
                if not line:
                    file, line = binary.line_at(address, is_entry=not subject.is_call)
            except Exception:
                continue
        return Place(function, file, line)


def _read_cache(run_directory: Path | None) -> dict[str, list[Any]]:
    """What an earlier report found; nothing if that cannot be read, or is not what this program writes."""
    if run_directory is None:
        return {}
    try:
        cache = read_json(run_directory / _CACHE, _CACHE_FILE)
    except _NoFile:
        return {}
    places = cache.get("places") if isinstance(cache, dict) and cache.get("format") == 1 else None
    if not isinstance(places, dict) or not all(map(_is_place, places.values())):
        return {}
    return places


def _is_place(value: Any) -> bool:
    """Function, file and line."""
    return (
        isinstance(value, list)
        and [type(field) for field in value] == [str, str, int]
        and 0 <= value[2] < _MOST_LINES
    )


def _write_cache(run_directory: Path, entries: dict[str, list[Any]]) -> None:
    """A run directory that is not ours alone, or may not be written, stays without."""
    text = json.dumps({"format": 1, "places": entries}, indent=0, sort_keys=True)
    with contextlib.suppress(OSError):
        write_private(run_directory, _CACHE, text.encode())


def label(process: Process, subject: Subject, place: Place) -> str:
    """A short name for people: `file.c:12 (function)`, or the function, or module+offset."""
    if subject.name:
        return subject.name
    if place.line:
        line_text = f"{Path(place.file).name}:{place.line}"
        return f"{line_text} ({place.function})" if place.function else line_text
    module = process.modules_by_id.get(subject.module)
    line_text = f"0x{subject.offset:x}"
    if module is not None:
        line_text = f"{Path(module.path).name}+{line_text}"
    return f"{place.function} [{line_text}]" if place.function else line_text
