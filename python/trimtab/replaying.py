"""Decisions of a recorded run, made again from what its engines were told, and compared with what they were."""

from __future__ import annotations

import json
import subprocess
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from trimtab.files import FileKind, open_regular
from trimtab.model import OUTCOMES, Process, RunError
from trimtab.paths import replay_program
from trimtab.readers.files import open_file

SNAPSHOTS = "snapshots*.txt"
# As much as the program that replays it reads.
_RECORDING = FileKind("a recording of snapshots", 4 << 30, RunError)
_NOBODY = 0xFFFFFFFF


@dataclass(frozen=True)
class Decision:
    """What is compared: all that the run's record has of one, but for when it was written down."""

    number: int
    subject: int
    policy: str | None
    outcome: str
    changes: tuple[tuple[str, int, int], ...]
    gain: float
    uncertainty: float
    pairs: int
    reason: str
    evidence: str

    def text(self, process: Process) -> str:
        """One line."""
        known_subject = process.subjects.get(self.subject)
        changes = ", ".join(f"{knob} {first} -> {last}" for knob, first, last in self.changes)
        line = f"{self.policy or 'nobody'}: {self.outcome} on {known_subject.name if known_subject else f'subject {self.subject}'}: {changes}"
        line += f": {self.reason}" if self.reason else ""
        line += f" ({self.evidence})" if self.evidence else ""
        return line + (f"; gain {self.gain!r} +- {self.uncertainty!r}" if self.pairs else "")


@dataclass(frozen=True)
class Difference:
    """The first decision that is another: None where one side has none of that number."""

    number: int
    recorded: Decision | None
    replayed: Decision | None


@dataclass(frozen=True)
class Replayed:
    """One engine's decisions.

    Attributes:
        process: name of its folder in the run.
        file: what it was told.
        snapshots: how many were.
        decisions: that are as recorded, those that could not be applied included.
        unapplied: these.
        is_whole: the snapshots go on to the engine's end.
        end_s: when the last of them was, seconds of the engine's time.
        not_compared: decisions on either side behind the last snapshot's beginning, where it is not whole.
        difference: the first; None: there is none.
    """

    process: str
    file: str
    snapshots: int
    decisions: int
    unapplied: int
    is_whole: bool
    end_s: float
    not_compared: int
    difference: Difference | None

    def as_json(self) -> dict[str, Any]:
        """All of it."""
        return asdict(self)


def replay(process: Process, file: Path) -> Replayed:
    """Make the decisions of `file`, one of the process's recordings, again.

    Raises:
        RunError: it cannot be read, or not be replayed.
    """
    program = replay_program()
    if not program.exists():
        raise RunError(f"{program} is missing: install trimtab anew")
    open_regular(file, _RECORDING).close()
    completed = subprocess.run([program, file], capture_output=True, check=False)
    if completed.returncode not in (0, 1):
        message = completed.stderr.decode("utf-8", "replace").strip()
        raise RunError(message or f"{file}: {program.name} ended with {completed.returncode}")
    *lines, summary = (json.loads(line) for line in completed.stdout.decode("utf-8", "replace").splitlines())
    return _compared(process, file, lines, summary)


def _compared(process: Process, file: Path, lines: list[dict[str, Any]], summary: dict[str, Any]) -> Replayed:
    first = int(summary["first"])
    recorded = {
        number: decision for number, decision in _recorded(process).items() if number >> 32 == first >> 32
    }
    # Of a subject that the run's table of names had no room for nothing is recorded.
    replayed = {int(line["number"]): _of_line(line) for line in lines if line["subject"] != _NOBODY}
    not_applied = {int(line["number"]) for line in lines if not line["is_applied"]}
    until, is_whole = first + int(summary["recorded_until"]), bool(summary["is_whole"])
    # Where there was no room for a decision, there was none for those after it.
    is_cut = not is_whole or _has_dropped(process)
    equal = not_compared = 0
    difference = None
    for number in sorted(recorded.keys() | replayed.keys()):
        replayed_decision, recorded_decision = replayed.get(number), recorded.get(number)
        if replayed_decision is not None and (
            replayed_decision == recorded_decision or (recorded_decision is None and number in not_applied)
        ):
            equal += 1
        elif is_cut and _is_behind_the_cut(number, replayed_decision, max(recorded, default=first), until):
            not_compared += 1
        else:
            difference = Difference(number, recorded_decision, replayed_decision)
            break
    return Replayed(
        process.directory.name,
        file.name,
        int(summary["snapshots"]),
        equal,
        len(not_applied),
        is_whole,
        float(summary["end_s"]),
        not_compared,
        difference,
    )


def _is_behind_the_cut(number: int, replayed_decision: Decision | None, latest: int, until: int) -> bool:
    """Of a program that was killed: decided, but not written down any more; or written down, and of no snapshot."""
    return latest < number <= until if replayed_decision is not None else number > until


def _has_dropped(process: Process) -> bool:
    path = process.directory / "decisions.tt"
    return path.exists() and bool(open_file(path, "decisions").header["dropped"])


def _of_line(line: dict[str, Any]) -> Decision:
    return Decision(
        int(line["number"]),
        int(line["subject"]),
        line["policy"] or None,
        OUTCOMES.get(int(line["outcome"]), str(line["outcome"])),
        tuple((change["knob"], int(change["from"]), int(change["to"])) for change in line["changes"]),
        float(line["gain"]),
        float(line["uncertainty"]),
        int(line["pairs"]),
        line["reason"],
        line["evidence"],
    )


def _recorded(process: Process) -> dict[int, Decision]:
    decisions: dict[int, Decision] = {}
    for record in process.decisions if process.decisions is not None else ():
        number = int(record["number"])
        knob = process.knobs.get(int(record["knob"]))
        name = f"knob {record['knob']}" if knob is None else knob.name
        before = decisions[number].changes if number in decisions else ()
        reason, evidence = (
            part.decode("utf-8", "replace") for part in bytes(record["text"]).split(b"\0")[:2]
        )
        decisions[number] = Decision(
            number,
            int(record["subject"]),
            process.policies.get(int(record["policy"])),
            OUTCOMES.get(int(record["outcome"]), str(record["outcome"])),
            (*before, (name, int(record["from"]), int(record["to"]))),
            float(record["gain"]),
            float(record["uncertainty"]),
            int(record["pairs"]),
            reason,
            evidence,
        )
    return decisions
