"""Documents whose commands are run, and whose promises of output are compared with what comes.

Blocks marked `console`: a line that begins with `$ ` is a command for bash, the lines below it are what it shows on both
outputs, in this order but not without gaps; `…` stands for anything, `[exit N]` says how it ends. A block of C++ is the
source own.cpp of the commands after it; a block of C or TOML with a name is that file, one without is a piece of a file.
"""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parent.parent
_BLOCK = re.compile(r"^```(\S*)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass
class Step:
    """A command and what is promised of it."""

    command: str
    shows: list[str] = field(default_factory=list)
    code: int = 0


@dataclass
class Source:
    """A file that the commands after it use; without a name, only a piece of one."""

    name: str | None
    text: str


def sections_of(name: str) -> list[tuple[str, str]]:
    """Title and text of each section of a document."""
    text = (ROOT / name).read_text(encoding="utf-8")
    parts = [part.partition("\n") for part in re.split(r"^## ", text, flags=re.M)[1:]]
    return [(title, body) for title, _, body in parts]


def steps_of(text: str) -> list[Step | Source]:
    """The commands, and sources, in order."""
    result: list[Step | Source] = []
    for kind, name, body in _BLOCK.findall(text):
        assert kind in ("console", "c", "c++", "toml"), f"a block of kind {kind!r} is not checked"
        if kind != "console":
            result.append(Source("own.cpp" if kind == "c++" else name or None, body))
            continue
        for line in body.splitlines():
            if line.startswith("$ "):
                result.append(Step(line[2:]))
                continue
            step = result[-1]
            assert isinstance(step, Step), "output before the first command"
            if match := re.fullmatch(r"\[exit (\d+)\]", line):
                step.code = int(match[1])
            else:
                step.shows.append(line)
    return result


def check(step: Step, output: str, code: int) -> None:
    """Every promised line is there, in order."""
    assert code == step.code, f"$ {step.command}\n{output}"
    rest = [" ".join(line.split()) for line in output.splitlines()]
    for promise in step.shows:
        words = " ".join(promise.split())
        pattern = "".join(".*" if part == "…" else re.escape(part) for part in re.split(r"(…)", words))
        pattern = pattern.replace(r"\ .*\ ", ".*").replace(r".*\ ", ".*").replace(r"\ .*", ".*")
        at = next((at for at, line in enumerate(rest) if re.fullmatch(pattern, line)), None)
        assert at is not None, f"$ {step.command}\npromised: {promise}\nshown:\n{output}"
        del rest[: at + 1]


def any_numbers(line: str) -> str:
    """A promised line whose numbers, and the units of its times, may be others.

    Example:
        >>> any_numbers("  work 67 %, barrier wait 31.5 % of 951 ms")
        '  work … %, barrier wait … % of …'
    """
    return re.sub(r"(?:\b\d[\d.,]*\d\b|\b\d\b)(?: (?:us|ms|s)\b)?", "…", line)


class Reader:
    """One folder for all sections of a document, as a reader would have: what one leaves, the next finds."""

    def __init__(self, folder: Path, trimtab: str) -> None:
        self.folder = folder
        self._exported: list[str] = []
        self._environment = {
            **os.environ,
            "PATH": f"{Path(trimtab).parent}:{os.environ['PATH']}",
            "HOME": str(folder),
            "COLUMNS": "200",
        }

    def follow(self, step: Step | Source) -> None:
        """Runs the command, and compares; or writes the file."""
        if isinstance(step, Source):
            if step.name is not None:
                (self.folder / step.name).write_text(step.text, encoding="utf-8")
            return
        completed = subprocess.run(
            ["bash", "-c", "\n".join([*self._exported, step.command])],
            cwd=self.folder,
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=600,
        )
        check(step, completed.stdout, completed.returncode)
        if step.command.startswith("export "):
            self._exported.append(step.command)
