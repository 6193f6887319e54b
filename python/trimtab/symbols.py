"""Where in the source a subject is: module and offset to function, file and line, by DWARF or symbol tables."""

from __future__ import annotations

import bisect
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from elftools.common.exceptions import DWARFError, ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import NoteSection, SymbolTableSection

from trimtab.model import Module, Process, Subject

# What compilers call the functions they outline: the user's function stands before.
_OUTLINED = re.compile(
    r"^(?P<function>.+?)(\._omp_fn\.\d+|\.omp_outlined.*|\.omp_task_entry.*|\.cold|\.constprop.*)$"
)


@dataclass(frozen=True)
class Place:
    """Where a subject is; empty strings and line 0 for what is not known."""

    function: str = ""
    file: str = ""
    line: int = 0


class _Binary:
    """One ELF file, opened as long as this object lives."""

    def __init__(self, path: Path) -> None:
        self._stream = path.open("rb")
        self.elf = ELFFile(self._stream)
        self._symbols: tuple[list[int], list[tuple[int, str]]] | None = None
        self._units: list[tuple[int, int, Any]] | None = None
        self._lines: dict[int, list[tuple[int, str, int]]] = {}

    def close(self) -> None:
        self._stream.close()

    def build_id(self) -> str:
        for section in self.elf.iter_sections():
            if isinstance(section, NoteSection):
                for note in section.iter_notes():
                    if note["n_type"] == "NT_GNU_BUILD_ID":
                        return str(note["n_desc"])
        return ""

    def function_at(self, address: int) -> str:
        if self._symbols is None:
            found: dict[int, tuple[int, str]] = {}
            for name in (".dynsym", ".symtab"):
                section = self.elf.get_section_by_name(name)
                if not isinstance(section, SymbolTableSection):
                    continue
                for symbol in section.iter_symbols():
                    if symbol["st_info"]["type"] == "STT_FUNC" and symbol["st_value"]:
                        found[symbol["st_value"]] = (symbol["st_size"], symbol.name)
            starts = sorted(found)
            self._symbols = (starts, [found[start] for start in starts])
        starts, entries = self._symbols
        at = bisect.bisect_right(starts, address) - 1
        if at < 0:
            return ""
        size, name = entries[at]
        return name if address < starts[at] + max(size, 1) else ""

    def line_at(self, address: int) -> tuple[str, int]:
        """File and line of the row that covers `address`; ("", 0) when there is none."""
        if not self.elf.has_dwarf_info():
            return "", 0
        dwarf = self.elf.get_dwarf_info()
        if self._units is None:
            self._units = [
                (low, high, unit) for unit in dwarf.iter_CUs() for low, high in _ranges_of(dwarf, unit)
            ]
        for low, high, unit in self._units:
            if low <= address < high:
                rows = self._rows(dwarf, unit)
                at = bisect.bisect_right(rows, (address, "\U0010ffff", 1 << 60)) - 1
                if at >= 0:
                    return rows[at][1], rows[at][2]
        return "", 0

    def _rows(self, dwarf: Any, unit: Any) -> list[tuple[int, str, int]]:
        if unit.cu_offset not in self._lines:
            rows: list[tuple[int, str, int]] = []
            program = dwarf.line_program_for_CU(unit)
            for entry in program.get_entries() if program is not None else ():
                state = entry.state
                if state is not None and not state.end_sequence and state.line:
                    rows.append((state.address, _file_name(program, state.file), state.line))
            rows.sort()
            self._lines[unit.cu_offset] = rows
        return self._lines[unit.cu_offset]


def _ranges_of(dwarf: Any, unit: Any) -> list[tuple[int, int]]:
    top = unit.get_top_DIE()
    low = top.attributes.get("DW_AT_low_pc")
    high = top.attributes.get("DW_AT_high_pc")
    if low is not None and high is not None:
        end = high.value if high.form == "DW_FORM_addr" else low.value + high.value
        return [(low.value, end)]
    ranges = top.attributes.get("DW_AT_ranges")
    lists = dwarf.range_lists()
    if ranges is None or lists is None:
        return []
    base = low.value if low is not None else 0
    found = []
    entries = lists.get_range_list_at_offset(ranges.value, cu=unit)
    for entry in entries:
        if hasattr(entry, "base_address"):
            base = entry.base_address
        elif getattr(entry, "is_absolute", False):
            found.append((entry.begin_offset, entry.end_offset))
        else:
            found.append((base + entry.begin_offset, base + entry.end_offset))
    return found


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _file_name(program: Any, number: int) -> str:
    version = program.header.version
    entries = program.header.file_entry
    at = number if version >= 5 else number - 1
    if not 0 <= at < len(entries):
        return ""
    entry = entries[at]
    name = _text(entry.name)
    folders = program.header.include_directory
    folder_at = entry.dir_index if version >= 5 else entry.dir_index - 1
    if name.startswith("/") or not 0 <= folder_at < len(folders):
        return name
    return str(Path(_text(folders[folder_at])) / name)


def user_function(symbol: str) -> str:
    """The user's function behind a symbol of the compiler's making.

    >>> user_function("main._omp_fn.0"), user_function("solve.omp_outlined"), user_function("f")
    ('main', 'solve', 'f')
    """
    match = _OUTLINED.match(symbol)
    return match["function"] if match else symbol


class Symbols:
    """Looks subjects up; keeps opened files between calls. Use as a context manager."""

    def __init__(self) -> None:
        self._binaries: dict[str, _Binary | None] = {}

    def __enter__(self) -> Symbols:
        return self

    def __exit__(self, *_: object) -> None:
        for binary in self._binaries.values():
            if binary is not None:
                binary.close()

    def _binary(self, module: Module) -> _Binary | None:
        if module.path not in self._binaries:
            opened: _Binary | None = None
            try:
                opened = _Binary(Path(module.path))
                # Another build than the one that ran would give wrong places, which is worse than none.
                if module.build_id and opened.build_id() != module.build_id:
                    opened.close()
                    opened = None
            except (OSError, ELFError):
                opened = None
            self._binaries[module.path] = opened
        return self._binaries[module.path]

    def place(self, process: Process, subject: Subject) -> Place:
        """Where `subject` is, from what its runtime said, debug information, or symbols, in this order."""
        if subject.module is None:
            return Place(subject.function, subject.file, subject.line)
        module = next((each for each in process.modules if each.id == subject.module), None)
        binary = self._binary(module) if module is not None else None
        function, file, line = "", "", 0
        if binary is not None:
            address = subject.offset - 1 if subject.is_call else subject.offset
            function = user_function(binary.function_at(address))
            try:
                file, line = binary.line_at(address)
            except (DWARFError, ELFError, KeyError, AttributeError, ValueError, IndexError):
                file, line = "", 0
        if subject.line:
            return Place(subject.function or function, subject.file, subject.line)
        return Place(function, file, line)


def label(process: Process, subject: Subject, place: Place) -> str:
    """A short name for people: `file.c:12 (function)`, or the function, or module+offset."""
    if subject.name:
        return subject.name
    if place.line:
        where = f"{Path(place.file).name}:{place.line}"
        return f"{where} ({place.function})" if place.function else where
    module = next((each for each in process.modules if each.id == subject.module), None)
    where = (
        f"{Path(module.path).name}+0x{subject.offset:x}" if module is not None else f"0x{subject.offset:x}"
    )
    return f"{place.function} [{where}]" if place.function else where
