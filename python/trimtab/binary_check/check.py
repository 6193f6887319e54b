"""Which outlined functions of a program may be run by virtual threads."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from trimtab.binary_check.code import Code
from trimtab.binary_check.state import Refused
from trimtab.binary_check.walk import Walk

_STANDARD = (
    "/lib/x86_64-linux-gnu",
    "/usr/lib/x86_64-linux-gnu",
    "/lib64",
    "/usr/lib64",
    "/lib",
    "/usr/lib",
    "/usr/local/lib",
)


@dataclass(frozen=True)
class Outlined:
    """One function that asks for the number of its thread.

    Attributes:
        path: its file.
        build_id: of that.
        address: in it, as the file counts.
        name: by its symbol table; "" if there is none.
        why: why it is left alone; "": it is fit.
    """

    path: Path
    build_id: str
    address: int
    name: str
    why: str

    @property
    def key(self) -> str:
        """As the library in the program names places."""
        return f"{self.build_id}+0x{self.address:x}"


def check_function(code: Code, address: int) -> str:
    """Why the function may not be run by virtual threads; "": it may."""
    try:
        Walk(code, address).run()
    except Refused as refused:
        return str(refused)
    return ""


def check_file(path: Path) -> list[Outlined]:
    """All outlined functions of an ELF file.

    Raises:
        OSError, ValueError: it cannot be read.
    """
    code = Code(path)
    if not code.forks:
        return []
    reason = ""
    if not code.is_supported:
        reason = "only code for x86-64 can be checked"
    elif not code.build_id:
        reason = "its file has no build id by which it could be known again"
    if reason:
        return [Outlined(path, code.build_id, 0, "all its functions", reason)]
    return [
        Outlined(
            path, code.build_id, candidate, code.names.get(candidate, ""), check_function(code, candidate)
        )
        for candidate in code.candidates()
    ]


def check_program(program: Path, library_path: str = "") -> list[Outlined]:
    """The same of a program and all libraries that it is linked with.

    Args:
        program: its file.
        library_path: as LD_LIBRARY_PATH.
    """
    return [function for path in _files(program, library_path) for function in check_file(path)]


def _files(program: Path, library_path: str) -> Iterator[Path]:
    given_folders = [Path(word) for word in library_path.split(os.pathsep) if word]
    pending, seen_files = [program.resolve()], {program.resolve()}
    while pending:
        path = pending.pop(0)
        try:
            code = Code(path)
        except (OSError, ValueError):
            continue
        yield path
        own_folders = [
            Path(run_path.replace("$ORIGIN", str(path.parent)).replace("${ORIGIN}", str(path.parent)))
            for run_path in code.run_paths
        ]
        for name in code.needed:
            library = _find(name, [*own_folders, *given_folders, *map(Path, _STANDARD)])
            if library is not None and library not in seen_files:
                seen_files.add(library)
                pending.append(library)


def _find(name: str, folders: Sequence[Path]) -> Path | None:
    candidates = [Path(name)] if "/" in name else [folder / name for folder in folders]
    return next((candidate.resolve() for candidate in candidates if candidate.is_file()), None)
