"""The parts of a key that are the same for all subjects of a run."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from elftools.common.exceptions import ELFError

from trimtab.symbols import Binary


def build_of(program: Path) -> str:
    """The program's build id; of files that have none (scripts), a hash of the content; "" for what cannot be read."""
    try:
        with program.open("rb") as stream:
            digest = hashlib.sha256()
            is_elf = stream.read(4) == b"\x7fELF"
            stream.seek(0)
            while block := stream.read(1 << 20):
                digest.update(block)
        found = _build_id(program) if is_elf else ""
    except OSError:
        return ""
    return found or "sha256:" + digest.hexdigest()[:40]


def _build_id(program: Path) -> str:
    try:
        with contextlib.closing(Binary(program)) as binary:
            return binary.build_id()
    except (ELFError, ValueError, KeyError):
        return ""


def input_class_of(arguments: Sequence[str], named: str | None = None) -> str:
    """What the user calls the input; otherwise the arguments themselves: others may want other settings."""
    return named if named is not None else "\0".join(arguments)


def machine_of(described: Mapping[str, Any]) -> str:
    """The kind of machine, from `machine` of run.json: settings hold for all of a kind, whatever their names."""
    return f"{described.get('model') or 'unknown'}, {described.get('cpus_online') or '?'} CPUs"
