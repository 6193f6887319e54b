"""The code of an ELF file: instructions at an address, names of what it calls, functions that it may give to GOMP_parallel."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import capstone
from elftools.common.exceptions import ELFError
from elftools.elf.dynamic import DynamicSegment
from elftools.elf.elffile import ELFFile
from elftools.elf.relocation import RelocationSection
from elftools.elf.sections import NoteSection, SymbolTableSection

# What GCC calls for a region whose static loops it has inlined.
FORK = "GOMP_parallel"
_ASKED_FUNCTION = "omp_get_thread_num"
_TAKES = re.compile(r"\[rip ([+-]) (0x[0-9a-f]+|\d+)\]")
_LONGEST = 15
# R_X86_64_GLOB_DAT and R_X86_64_JUMP_SLOT: written by the loader only, unlike a pointer that the program may change.
_FUNCTION_SLOTS = (6, 7)


class Code:
    """One file, read whole; instructions are decoded once."""

    def __init__(self, path: Path) -> None:
        """Read the file.

        Raises:
            OSError: it cannot be read.
            ValueError: it is no ELF file for this kind of machine.
        """
        self.path = path
        try:
            with path.open("rb") as stream:
                elf = ELFFile(stream)
                self.is_supported = elf.header["e_machine"] == "EM_X86_64"
                self._segments = [
                    (segment["p_vaddr"], bool(segment["p_flags"] & 1), segment.data())
                    for segment in elf.iter_segments()
                    if segment["p_type"] == "PT_LOAD"
                ]
                self._places = [
                    (segment["p_vaddr"], bool(segment["p_flags"] & 2), segment.data())
                    for segment in elf.iter_segments()
                    if segment["p_type"] == "PT_LOAD"
                ]
                self.needed, self.run_paths = _needed(elf)
                self.build_id = _build_id(elf)
                self._slots = _slots(elf)
                self.names = _names(elf)
        except (ELFError, KeyError, UnicodeDecodeError) as error:
            raise ValueError(f"{path}: no ELF file that can be read: {error}") from error
        self._decoder = capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64)
        self._decoder.detail = True
        self._decoded: dict[int, Any] = {}
        self._stubs: dict[int, str | None] = {}

    @property
    def forks(self) -> bool:
        """Whether it has regions of GCC's."""
        return FORK in self._slots.values()

    def at(self, address: int) -> Any | None:
        """The instruction there; None: there is none."""
        if address not in self._decoded:
            self._decoded[address] = next(
                self._decoder.disasm(self._bytes(address, _LONGEST), address, 1), None
            )
        return self._decoded[address]

    def is_code(self, address: int) -> bool:
        """Whether it may be executed."""
        return any(
            executable and begin <= address < begin + len(data) for begin, executable, data in self._segments
        )

    def read_only(self, address: int, size: int) -> bytes | None:
        """Bytes that nothing changes while the program runs; None: they may change, or are not there."""
        for begin, is_writable, data in self._places:
            if begin <= address and address + size <= begin + len(data):
                return None if is_writable else bytes(data[address - begin : address - begin + size])
        return None

    def imported(self, slot: int) -> str | None:
        """The name of the function whose address the loader writes there."""
        return self._slots.get(slot)

    def stub_of(self, address: int) -> str | None:
        """The name that a jump through the procedure linkage table at this address ends at; None: it is no such."""
        if address not in self._stubs:
            self._stubs[address] = self._find_stub(address)
        return self._stubs[address]

    def _find_stub(self, address: int) -> str | None:
        for _ in range(2):
            instruction = self.at(address)
            if instruction is None:
                return None
            if instruction.mnemonic.endswith("jmp"):
                match = _TAKES.search(instruction.op_str)
                return None if match is None else self.imported(_target(instruction, match))
            if instruction.mnemonic != "endbr64":
                return None
            address += instruction.size
        return None

    def candidates(self) -> list[int]:
        """Functions of the file that may be outlined ones: by name, or because somebody takes their address."""
        functions, calls = set(self.names), []
        lite = capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64)
        lite.skipdata = True
        for begin, executable, data in self._segments:
            if not executable:
                continue
            for address, size, mnemonic, operands in lite.disasm_lite(data, begin):
                if mnemonic == "lea" and (match := _TAKES.search(operands)):
                    functions.add(_place(address + size, match))
                elif mnemonic == "mov" and (match := re.fullmatch(r"[er][a-z0-9]+, (0x[0-9a-f]+)", operands)):
                    functions.add(int(match[1], 16))
                elif mnemonic in ("call", "jmp") and self._asks(address + size, operands):
                    calls.append(address)
        # Only those that ask for their number: the nearest before each such call, and what has that name.
        starts = sorted(start for start in functions if self.is_code(start))
        asking = {max((start for start in starts if start <= call), default=0) for call in calls}
        return sorted(asking - {0})

    def _asks(self, after: int, operands: str) -> bool:
        """Whether a call with these operands asks for the number of the thread."""
        if re.fullmatch(r"0x[0-9a-f]+", operands):
            return self.stub_of(int(operands, 16)) == _ASKED_FUNCTION
        match = _TAKES.search(operands)
        return match is not None and self.imported(_place(after, match)) == _ASKED_FUNCTION

    def _bytes(self, address: int, count: int) -> bytes:
        for begin, executable, data in self._segments:
            if executable and begin <= address < begin + len(data):
                return bytes(data[address - begin : address - begin + count])
        return b""


def _place(after: int, match: re.Match[str]) -> int:
    return after + int(match[2], 0) * (1 if match[1] == "+" else -1)


def _target(instruction: Any, match: re.Match[str]) -> int:
    return _place(instruction.address + instruction.size, match)


def _build_id(elf: ELFFile) -> str:
    for section in elf.iter_sections():
        if isinstance(section, NoteSection):
            for note in section.iter_notes():
                if note["n_type"] == "NT_GNU_BUILD_ID":
                    return str(note["n_desc"])
    return ""


def _slots(elf: ELFFile) -> dict[int, str]:
    functions = {}
    for section in elf.iter_sections():
        if not isinstance(section, RelocationSection):
            continue
        names = elf.get_section(section["sh_link"])
        if not isinstance(names, SymbolTableSection):
            continue
        for relocation in section.iter_relocations():
            if relocation["r_info_sym"] and relocation["r_info_type"] in _FUNCTION_SLOTS:
                functions[relocation["r_offset"]] = names.get_symbol(relocation["r_info_sym"]).name
    return functions


def _names(elf: ELFFile) -> dict[int, str]:
    """The outlined functions that have names."""
    table = elf.get_section_by_name(".symtab")
    if not isinstance(table, SymbolTableSection):
        return {}
    named = ((symbol_entry["st_value"], symbol_entry.name) for symbol_entry in table.iter_symbols())
    return {address: name for address, name in named if address and "._omp_fn." in name}


def _needed(elf: ELFFile) -> tuple[list[str], list[str]]:
    """The libraries that it is linked with, and where it looks for them."""
    values: dict[str, list[str]] = {"needed": [], "runpath": [], "rpath": []}
    for segment in elf.iter_segments():
        if isinstance(segment, DynamicSegment):
            for tag in segment.iter_tags():
                kind = str(tag.entry.d_tag).removeprefix("DT_").lower()
                if kind in values:
                    values[kind].append(str(getattr(tag, kind)))
    paths = [word for text in values["rpath"] + values["runpath"] for word in text.split(":")]
    return values["needed"], paths
