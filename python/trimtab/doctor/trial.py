"""Whether observation works here: a small program, run as a user's would be, and its run read back."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

from trimtab import paths
from trimtab.doctor.check import Check
from trimtab.model import RunError, Unavailable
from trimtab.readers import open_run

_NAME = "trimtab doctor"
# Reports a scope of its own through trimtab.h's one symbol, and waits for the sampler to begin.
_PROGRAM = f"""
import ctypes, time
number, name = ctypes.c_uint32, ctypes.c_char_p
class Api(ctypes.Structure):
    _fields_ = [("bytes", number), ("subject", ctypes.CFUNCTYPE(number, name, name, number)),
                ("begin", ctypes.CFUNCTYPE(None, number)), ("end", ctypes.CFUNCTYPE(None, number))]
get = ctypes.CDLL(None).trimtab_get_api
get.restype, get.argtypes = ctypes.POINTER(Api), [number]
api = get(1)[0]
scope = api.subject({_NAME.encode()!r}, b"", 0)
api.begin(scope)
time.sleep(0.2)
api.end(scope)
"""
_COMMAND = "from trimtab.cli import main; main()"
# What the probes call what a check calls otherwise.
_CHECKS = {
    "run time and run delay of threads": "run delay",
    "preemptions and their CPUs": "context switches",
    "preemptions of some lanes": "context switches",
    "migrations between CPUs": "migrations",
    "pressure stall information": "pressure",
    "throttling by the CPU quota": "CPU quota",
}


@dataclass(frozen=True)
class Trial:
    """How it went, and what the library itself says it cannot measure."""

    check: Check
    unavailable: tuple[Unavailable, ...] = ()


def run_trial() -> Trial:
    """Watches a program of a fifth of a second."""
    library = paths.preload_library()
    if not library.exists():
        return Trial(
            _broken(f"{library} is missing", "install trimtab anew: pip install --force-reinstall trimtab")
        )
    try:
        with tempfile.TemporaryDirectory(prefix="trimtab-doctor-") as folder:
            return _watched(library, Path(folder) / "run")
    except OSError as error:
        return Trial(
            _broken(f"there is no room for temporary files: {error}", "set TMPDIR to a folder that has")
        )


def _watched(library: Path, directory: Path) -> Trial:
    trimtab = [sys.executable, "-c", _COMMAND, "run", "-q", "-o", str(directory), "--with", "+hwcounters"]
    try:
        completed = subprocess.run(
            [*trimtab, "--", sys.executable, "-S", "-c", _PROGRAM],
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
    except subprocess.TimeoutExpired as error:
        return Trial(
            _broken(
                f"a program was not at its end after a minute: {error}", "run it by hand: trimtab run -- true"
            )
        )
    if completed.returncode != 0:
        message_lines = completed.stderr.strip().splitlines() or [f"exit code {completed.returncode}"]
        loader = next((line for line in message_lines if "ld.so" in line), message_lines[-1])
        remedy = (
            "its file system must not be mounted noexec, and the loader not be static or of another C library"
        )
        return Trial(_broken(f"{library} does not load: {loader}", remedy))
    return _read(directory)


def _read(directory: Path) -> Trial:
    try:
        run = open_run(directory)
    except RunError as error:
        return Trial(_broken(f"nothing was recorded: {error}", "give temporary files room (TMPDIR)"))
    for process in run.processes:
        if any(subject.name == _NAME for subject in process.subjects.values()):
            return Trial(
                Check("observation", "ok", "a program was run and its work recorded"), process.unavailable
            )
    return Trial(_broken("the library was loaded and recorded nothing", "give temporary files room (TMPDIR)"))


def _broken(problem: str, remedy: str) -> Check:
    return Check("observation", "broken", problem, "no program's work can be seen", remedy)


def merged(checks: list[Check], unavailable: tuple[Unavailable, ...]) -> list[Check]:
    """The checks, corrected by what the probes found when they tried: that is what counts."""
    all_checks = list(checks)
    for entry in unavailable:
        name = _CHECKS.get(entry.what, entry.what)
        at = next((at for at, check in enumerate(all_checks) if check.what == name), None)
        if at is None:
            all_checks.append(Check(name, "lacks", entry.why, "not in reports", entry.remedy))
        elif all_checks[at].status == "ok":
            all_checks[at] = replace(
                all_checks[at], status="lacks", found=entry.why, costs="not in reports", remedy=entry.remedy
            )
    return all_checks
