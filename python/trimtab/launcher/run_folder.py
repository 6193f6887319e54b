"""The folder of the run that begins: made here, this user's alone, and held open until the run is over.

What is written through the descriptor reaches the folder that was made, whatever somebody has put under its name meanwhile.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from trimtab.launcher.run_name import new_name
from trimtab.paths import run_folders
from trimtab.whole_files import ensure_private_folder, make_folder_in, make_private_folder, write_in

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class RunFolder:
    """A new run directory. Close it when the run is over."""

    def __init__(self, path: Path, parent_folder: int | None = None) -> None:
        """Make it; with `above`, in that open folder.

        Raises:
            OSError: there is something of that name, or it cannot be made.
        """
        if parent_folder is None:
            make_private_folder(path)
            self.descriptor = os.open(path, _FOLDER)
        else:
            self.descriptor = make_folder_in(parent_folder, str(path))

    def close(self) -> None:
        """Nothing is written any more."""
        os.close(self.descriptor)

    def write(self, name: str, text: str) -> None:
        """A file, whole or not at all. Arguments of programs may be undecodable bytes: they stay these bytes.

        Raises:
            OSError: it cannot be written.
        """
        write_in(self.descriptor, name, text.encode("utf-8", "surrogateescape"))

    def write_info(self, info: dict[str, Any]) -> None:
        """run.json.

        Raises:
            OSError: it cannot be written.
        """
        self.write("run.json", json.dumps(info, indent=1))


def default_directory(program: str) -> Path:
    """A new name below the user's folder for runs."""
    return below_runs(new_name(program))


def below_runs(name: str) -> Path:
    """`name` below the first folder for runs that is the user's alone; see `run_folders`."""
    bases = run_folders()
    for base in bases:
        try:
            ensure_private_folder(base)
            if os.access(base, os.W_OK | os.X_OK):
                return base / name
        except OSError:
            continue
    return bases[0] / name
