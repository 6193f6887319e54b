"""Runs of the program: plain ones, and tuned ones under `trimtab run`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from trimtab.analysis.decisions import decisions
from trimtab.analysis.regions import Places
from trimtab.answer_check.outputs import Outputs, Pattern, Written
from trimtab.model import LASTING, OUTCOMES, Run, RunError
from trimtab.model.enumerations import Outcome
from trimtab.readers import open_run
from trimtab.running import recording_command, run_to_end

# What the command and the library say of themselves, never of the program.
_OWN = b"trimtab: "


class CheckError(Exception):
    """Nothing can be compared: says why."""


@dataclass(frozen=True)
class Options:
    """What is run, how often, and what is looked at."""

    argv: Sequence[str]
    runs: int = 3
    tuning: Sequence[str] = ("--tune",)
    patterns: Sequence[Pattern] = ()
    stdin: Path = Path("/dev/null")
    timeout_s: float | None = None
    is_stderr: bool = True


@dataclass(frozen=True)
class Changes:
    """What Trimtab changed in the program while it ran."""

    kept: int
    tried: int


@dataclass(frozen=True)
class Ran:
    """One run, and where its outputs are; `said` is what Trimtab said of itself, `changes` None if it was not recorded."""

    end: str
    is_killed: bool
    wall_s: float
    stdout: Path
    stderr: Path
    files: dict[str, Written]
    said: tuple[str, ...] = ()
    changes: Changes | None = None


def run_plain(options: Options, outputs: Outputs, target: Path) -> Ran:
    """The bare program.

    Raises:
        CheckError: it cannot be started, or does not come to its end in time.
    """
    ran = _run(options.argv, options, outputs, target)
    if ran.end.startswith("timed out"):
        raise CheckError(f"{options.argv[0]}: {ran.end} without Trimtab, too: give it more with --timeout")
    return ran


def run_tuned(options: Options, outputs: Outputs, target: Path, plain: Ran) -> Ran:
    """The program as `trimtab run` with the options of tuning runs it."""
    directory = target / "run"
    ran = _run(recording_command(directory, options.tuning, options.argv), options, outputs, target)
    expected = set(plain.stderr.read_bytes().splitlines())
    lines = ran.stderr.read_bytes().splitlines(keepends=True)
    own_lines = [line for line in lines if line.startswith(_OWN) and line.rstrip() not in expected]
    if own_lines:
        ran.stderr.write_bytes(b"".join(line for line in lines if line not in own_lines))
    messages = tuple(line.decode("utf-8", "replace").strip() for line in own_lines)
    try:
        recorded = open_run(directory)
    except (RunError, OSError):
        return replace(ran, said=messages)
    ended = recorded.info.get("ended") or {}
    return replace(ran, said=messages, changes=changes_of(recorded), wall_s=ended.get("wall_s", ran.wall_s))


def changes_of(recorded: Run) -> Changes:
    """Of all processes of a run."""
    outcomes = [
        decision.outcome for process in recorded.processes for decision in decisions(process, "", Places())
    ]
    return Changes(sum(outcome in LASTING for outcome in outcomes), outcomes.count(OUTCOMES[Outcome.TRIAL]))


def _run(argv: Sequence[str], options: Options, outputs: Outputs, target: Path) -> Ran:
    target.mkdir(parents=True)
    stdout, stderr = target / "stdout", target / "stderr"
    try:
        with options.stdin.open("rb") as stdin, stdout.open("wb") as output, stderr.open("wb") as errors:
            ended = run_to_end(argv, options.timeout_s, stdin=stdin, stdout=output, stderr=errors)
    except OSError as error:
        raise CheckError(f"{error.filename or argv[0]}: {error.strerror}") from None
    if ended.is_timed_out:
        end = f"timed out after {options.timeout_s:g} s"
    else:
        end = f"exit code {ended.code}" if ended.signal is None else f"killed by {ended.signal}"
    is_killed = ended.signal is not None
    return Ran(end, is_killed, ended.wall_s, stdout, stderr, outputs.collect(target / "files"))
