"""The findings of a report on a copy of what was recorded so far, made by a process of its own with the lowest priority."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import msgspec

from trimtab.live.model import FindingLook

# A larger run is not copied: that would take the disk from the program.
MOST_BYTES = 256 << 20
_COMMAND = "import sys; sys.path[0] or sys.path.pop(0); from trimtab.live.background import analyse; analyse(sys.argv[1])"


@dataclass(frozen=True)
class Findings:
    """Of one analysis, and when it began."""

    at_s: float
    findings: tuple[FindingLook, ...]


class Analysis:
    """Starts an analysis every so often, and has the latest result."""

    def __init__(self, directory: Path, every_s: float) -> None:
        self._directory, self._every_s = directory, every_s
        self._process: subprocess.Popen[bytes] | None = None
        self._began = 0.0
        self._began_real = 0.0
        self._latest: Findings | None = None

    def latest(self, now: float) -> Findings | None:
        """The latest result; None: there is none yet. `now`: of the monotonic clock."""
        if self._process is not None and self._process.poll() is not None:
            self._take(self._process)
            self._process = None
        if self._process is None and (not self._began or now - self._began >= self._every_s):
            self._began, self._began_real = now, time.time()
            self._process = subprocess.Popen(
                [sys.executable, "-c", _COMMAND, os.fspath(self._directory)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
                start_new_session=True,
            )
        return self._latest

    def close(self) -> None:
        """End an analysis that is under way."""
        if self._process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            self._process.terminate()
        self._process.communicate()

    def _take(self, process: subprocess.Popen[bytes]) -> None:
        out, _ = process.communicate()
        if process.returncode == 0:
            with contextlib.suppress(msgspec.DecodeError):
                found = msgspec.json.decode(out, type=tuple[FindingLook, ...])
                self._latest = Findings(self._began_real, found)


def analyse(directory: str) -> None:
    """Print the findings of a run as JSON; the work of the process of its own."""
    import signal

    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    os.nice(19)
    from trimtab.analysis.report import build
    from trimtab.readers import open_run
    from trimtab.threads import use_one_thread

    use_one_thread()
    with tempfile.TemporaryDirectory(prefix="trimtab-top-") as place:
        copy = copied(Path(directory), Path(place) / "run")
        report = build(open_run(copy))
    found = tuple(
        FindingLook(finding.cause, finding.subject, finding.evidence, finding.action, finding.gain_s)
        for finding in report.findings
    )
    sys.stdout.buffer.write(msgspec.json.encode(found))


def copied(run: Path, to: Path) -> Path:
    """A copy of what a run has now, for this user only, without what no analysis of it needs.

    Raises:
        OSError: it cannot be copied, or is too large.
    """
    sizes = [path.lstat().st_size for path in run.rglob("*") if path.is_file() and not path.is_symlink()]
    if sum(sizes) > MOST_BYTES:
        raise OSError(f"{run}: more than {MOST_BYTES} bytes")

    def left_out(folder: str, names: list[str]) -> set[str]:
        return {
            name
            for name in names
            if (
                not name.endswith((".tt", ".json", ".events", ".profile"))
                and not os.path.isdir(os.path.join(folder, name))
            )
            or os.path.islink(os.path.join(folder, name))
        }

    shutil.copytree(run, to, ignore=left_out)
    return to
