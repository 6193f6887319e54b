"""Where the native parts are, in an installed wheel."""

from __future__ import annotations

import os
from pathlib import Path

_NATIVE = Path(__file__).resolve().parent / "native"


def preload_library() -> Path:
    """The library that is loaded into watched programs; may not exist in a source tree that was not built."""
    return _NATIVE / "lib" / "libtrimtab_preload.so"


def diagnosis_library() -> Path:
    """The compiled part of the diagnosis."""
    return _NATIVE / "lib" / "libtrimtab_diagnosis.so"


def storage_library() -> Path:
    """The library that counts calls on files; it is loaded into JVMs of Spark."""
    return _NATIVE / "lib" / "libtrimtab_storage_hooks.so"


def spark_plugin() -> Path:
    """The jar of the Spark plug-in; does not exist where the wheel was built without a JDK."""
    return _NATIVE / "spark" / "trimtab-spark.jar"


def replay_program() -> Path:
    """The program that makes a recorded run's decisions again."""
    return _NATIVE / "bin" / "trimtab-replay"


def network_program() -> Path:
    """The program that measures messages between processes of this machine."""
    return _NATIVE / "bin" / "trimtab-network"


def scheduler_recorder() -> Path:
    """The program that records what the operating system's scheduler does."""
    return _NATIVE / "bin" / "trimtab-kernel"


def spark_event_logs(run: Path) -> Path:
    """The folder in a run directory that Spark writes its event log to."""
    return run / "spark-events"


def user_data_folder() -> Path:
    """Where the history and other things are that later runs use; may not exist."""
    return Path(os.environ.get("XDG_DATA_HOME") or user_home() / ".local" / "share") / "trimtab"


def cmake_dir() -> Path:
    """What to give CMake as trimtab_DIR."""
    return _NATIVE / "cmake"


def include_dir() -> Path:
    """The folder that holds trimtab.h."""
    return _NATIVE / "include"


def user_home() -> Path:
    """The user's folder; the root, as containers have it, for a user that has none: what cannot be written there is reported."""
    try:
        return Path.home()
    except RuntimeError:
        return Path("/")


def current_folder() -> Path | None:
    """None where it was removed."""
    try:
        return Path.cwd()
    except OSError:
        return None


def run_folders() -> list[Path]:
    """Where runs go that the user gives no directory for: the first of these in which only this user can write.

    Beside the user, or in the user's state folder, or in the folder for temporary files.
    """
    folders = [
        Path(os.environ.get("XDG_STATE_HOME") or user_home() / ".local/state") / "trimtab",
        Path(os.environ.get("TMPDIR", "/tmp")) / f"trimtab-{os.getuid()}",
    ]
    folder = current_folder()
    return folders if folder is None else [folder / "trimtab-runs", *folders]
