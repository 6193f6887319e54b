"""Runs of a program for `trimtab tune`: bare, learning, frozen; the program's own output goes nowhere."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from trimtab.analysis import build
from trimtab.readers import open_run
from trimtab.tuning.across import RunFailed

_COMMAND = (sys.executable, "-c", "from trimtab.cli.main import main; main()")


@dataclass
class ProgramRunner:
    """Runs `command`, whose first run says how it ends when all is well.

    Attributes:
        command: program and arguments.
        folder: of the runs made; exists.
        history: what the learning runs find, and the frozen ones use.
        options: further ones of `trimtab run`.
        input: file for the program's standard input; None: nothing.
        environment: the user's.
    """

    command: Sequence[str]
    folder: Path
    history: Path
    options: Sequence[str] = ()
    input: Path | None = None
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    _count: int = 0
    _expected: int | None = None

    def bare(self) -> float:
        """Seconds from start to end."""
        began = time.monotonic()
        code = self._run(self.command, self.environment)
        took = time.monotonic() - began
        self._check(code, "as you start it")
        return took

    def learn(self, environment: Mapping[str, str]) -> dict[str, Any]:
        """A run with search; its report."""
        return build(open_run(self._watched("--tune", environment)))

    def frozen(self, environment: Mapping[str, str]) -> float:
        """Seconds from start to end with what was found, and no search."""
        directory = self._watched("--frozen", environment)
        info = json.loads((directory / "run.json").read_text(encoding="utf-8"))
        return float(info["ended"]["wall_s"])

    def _watched(self, how: str, environment: Mapping[str, str]) -> Path:
        self._count += 1
        directory = self.folder / f"{self._count:03d}"
        watched = [
            *_COMMAND,
            "run",
            "-q",
            how,
            "--history",
            str(self.history),
            *self.options,
            "-o",
            str(directory),
        ]
        code = self._run([*watched, "--", *self.command], {**self.environment, **environment})
        with_what = " ".join(f"{name}={value}" for name, value in environment.items())
        self._check(code, f"with {how} {with_what}".rstrip())
        return directory

    def _run(self, command: Sequence[str], environment: Mapping[str, str]) -> int:
        stream: IO[bytes] | None = None
        try:
            stream = None if self.input is None else self.input.open("rb")
            done = subprocess.run(
                list(command),
                stdin=subprocess.DEVNULL if stream is None else stream,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=dict(environment),
                check=False,
            )
        except OSError as error:
            raise RunFailed(f"{command[0]}: {error.strerror}") from error
        finally:
            if stream is not None:
                stream.close()
        return done.returncode

    def _check(self, code: int, how: str) -> None:
        if self._expected is None:
            self._expected = code
        if code != self._expected:
            raise RunFailed(f"{self.command[0]} ended with {code} {how}, before with {self._expected}")
        if code != 0:
            raise RunFailed(
                f"{self.command[0]} ends with {code} {how}: see what it says without trimtab tune"
            )
