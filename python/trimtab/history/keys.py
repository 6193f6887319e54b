"""The parts of a key that are the same for all subjects of a run."""

from __future__ import annotations

import hashlib
import re
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from trimtab.files import FileKind, open_regular

# /usr/include/elf.h
_ELF64_LITTLE = b"\x7fELF\x02\x01"
_HEAD_BYTES = 64
_SEGMENT = struct.Struct("<IIQQQQQQ")  # Elf64_Phdr
_NOTE = struct.Struct("<III")
_PT_NOTE, _NT_GNU_BUILD_ID = 4, 3
_MOST_NOTES = 1 << 16
# A byte that is no text, as `storable` writes it.
_ESCAPED_BYTE = re.compile(r"\\u(dc[89a-f][0-9a-f])")
_PROGRAM = FileKind("a program", 64 << 30, OSError, follows_links=True)


def build_of(program: Path) -> str:
    """The program's build id; of files that have none (scripts), a hash of the content; "" for what cannot be read."""
    try:
        with open_regular(program, _PROGRAM) as stream:
            build_id = _build_id(stream)
            if build_id:
                return build_id
            stream.seek(0)
            digest = hashlib.sha256()
            while block := stream.read(1 << 20):
                digest.update(block)
            return "sha256:" + digest.hexdigest()[:40]
    except OSError:
        return ""


def _build_id(stream: BinaryIO) -> str:
    """In hex, as the notes of a 64-bit ELF file say; "" where they do not. Without a library: a program waits for it."""
    head = stream.read(_HEAD_BYTES)
    if len(head) < _HEAD_BYTES or not head.startswith(_ELF64_LITTLE):
        return ""
    (at,), (size, count) = struct.unpack_from("<Q", head, 32), struct.unpack_from("<HH", head, 54)
    if size < _SEGMENT.size:
        return ""
    stream.seek(at)
    table = stream.read(size * count)
    for start in range(0, len(table) - size + 1, size):
        kind, _, offset, _, _, length, _, alignment = _SEGMENT.unpack_from(table, start)
        if kind != _PT_NOTE:
            continue
        stream.seek(offset)
        if build_id := _build_id_among(stream.read(min(length, _MOST_NOTES)), 8 if alignment == 8 else 4):
            return build_id
    return ""


def _build_id_among(notes: bytes, alignment: int) -> str:
    at = 0
    while at + _NOTE.size <= len(notes):
        name_size, size, kind = _NOTE.unpack_from(notes, at)
        name = at + _NOTE.size
        begin = name + -(-name_size // 4) * 4
        end = begin + size
        if kind == _NT_GNU_BUILD_ID and notes[name : name + name_size] == b"GNU\0" and end <= len(notes):
            return notes[begin:end].hex()
        at = begin + -(-size // alignment) * alignment
    return ""


def input_class_of(arguments: Sequence[str], named: str | None = None) -> str:
    """What the user calls the input; otherwise the arguments themselves: others may want other settings."""
    return storable(named if named is not None else "\0".join(arguments))


def storable(text: str) -> str:
    """As a database can keep it: bytes of an argument that are no text, which Python carries along, are written as \\udcNN."""
    return text.encode("utf-8", "backslashreplace").decode()


def restored(text: str) -> str:
    """The text that `storable` wrote like this."""
    return _ESCAPED_BYTE.sub(lambda escape: chr(int(escape[1], 16)), text)


def machine_of(described: Mapping[str, Any]) -> str:
    """The kind of machine, from `machine` of run.json: settings hold for all of a kind, whatever their names."""
    return f"{described.get('model') or 'unknown'}, {described.get('cpus_online') or '?'} CPUs"
