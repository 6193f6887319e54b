"""Traces of other tools as run directories, which every command then reads."""

from __future__ import annotations

import os
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path

from trimtab.files import FileKind, open_regular
from trimtab.whole_files import whole_folder

__all__ = ["ImportFailure", "Imported", "anchor_of", "import_archive"]


class ImportFailure(Exception):
    """An archive that cannot be read: says the file, what was expected and what was found."""


@dataclass(frozen=True)
class Imported:
    """A new run directory, and what it does not have."""

    run: Path
    notes: list[str]


_MOST_ANCHOR_BYTES = 1 << 20
_MOST_BYTES = 1 << 44
_ANCHOR = FileKind("an OTF2 archive", _MOST_ANCHOR_BYTES, ImportFailure, follows_links=True)
_PART = FileKind("a file of an OTF2 archive", _MOST_BYTES, ImportFailure)
_ENDINGS = (".def", ".evt", ".snap", ".marker", ".thumb")


def anchor_of(path: Path) -> Path:
    """The file NAME.otf2 that the user means: this one, or the only one in this folder.

    Raises:
        ImportFailure: there is none, or several.
    """
    if not path.is_dir():
        return path
    found = sorted(path.glob("*.otf2"))
    if len(found) != 1:
        raise ImportFailure(f"{path}: expected one file NAME.otf2 in this folder, found {len(found)}")
    return found[0]


def import_archive(anchor: Path, run: Path) -> Imported:
    """Write the run directory `run`, which is not there yet.

    The library of OTF2 was not made for archives of strangers: it runs in a process of its own, which may end in any way.

    Raises:
        ImportFailure: the archive cannot be read.
        OSError: the run cannot be written.
    """
    _check_files(anchor)
    if os.path.lexists(run):
        raise ImportFailure(f"{run}: expected nothing of that name, found something: choose another -o")
    with whole_folder(run, "run.json") as folder:
        context = get_context("spawn")
        ours, theirs = context.Pipe(duplex=False)
        worker = context.Process(target=_convert, args=(theirs, anchor.absolute(), folder), daemon=True)
        worker.start()
        theirs.close()
        try:
            is_done, texts = ours.recv()
        except EOFError:
            is_done, texts = False, []
        worker.join()
        if not is_done:
            how = f"the library of OTF2 ended with code {worker.exitcode} while it read it"
            raise ImportFailure(
                f"{anchor}: expected an OTF2 archive that is whole: {texts[0] if texts else how}"
            )
    return Imported(run, texts)


def _check_files(anchor: Path) -> None:
    """The library opens files by their names: there must be nothing in them that it waits for, or that leads elsewhere."""
    open_regular(anchor, _ANCHOR).close()
    beside = [anchor.with_suffix(ending) for ending in _ENDINGS]
    folder = anchor.with_suffix("")
    inside = sorted(folder.iterdir()) if folder.is_dir() else []
    for path in [*beside, *inside]:
        if os.path.lexists(path):
            open_regular(path, _PART).close()


def _name_of(anchor: Path) -> str:
    """Score-P calls every archive the same, in a folder that says which one it is."""
    return anchor.parent.name if anchor.stem == "traces" else anchor.stem


def _convert(results: Connection, anchor: Path, folder: Path) -> None:
    """In a process of its own: reads the archive, writes the run, and says how that went."""
    from trimtab.importing.convert import convert
    from trimtab.otf2 import Failure, load
    from trimtab.otf2.reading import read

    try:
        notes = convert(read(load(), anchor), folder, _name_of(anchor))
    except Failure as error:
        results.send((False, [str(error)]))
    except OSError as error:
        results.send((False, [f"{error.filename or folder}: {error.strerror or error}"]))
    except MemoryError:
        results.send((False, ["it needs more memory than there is"]))
    else:
        results.send((True, notes))
