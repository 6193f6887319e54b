"""What messages between processes of this machine cost, with and without communication servers: measured now."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from trimtab.paths import network_program, user_data_folder

_PATIENCE_S = 300


class NetworkError(Exception):
    """Nothing could be measured; the text says why."""


@dataclass(frozen=True)
class Point:
    """Messages of so many bytes a second, from `senders` threads that send rows of `in_flight` messages."""

    bytes: int
    senders: int
    in_flight: int
    servers: int
    messages_per_s: float


@dataclass(frozen=True)
class ServedSizes:
    """So many servers for messages longer than those of the entry before, up to `largest_bytes`, in rows of so many."""

    largest_bytes: int
    servers: int
    least_messages: int


@dataclass(frozen=True)
class Choice:
    """What a job chooses that has so many CPUs which no worker uses."""

    free_cpus: int
    servers: int
    selection: list[ServedSizes]


@dataclass(frozen=True)
class Saturation:
    """What was measured of one transport, and what jobs choose by it."""

    transport: str
    points: list[Point]
    choices: list[Choice]

    def as_json(self) -> dict[str, Any]:
        """As `trimtab doctor --network --json` has it."""
        return asdict(self)


def curve_folder() -> Path:
    """Where jobs look for what was measured."""
    named = os.environ.get("TRIMTAB_NETWORK_FOLDER")
    return Path(named) if named else user_data_folder()


def measure(*, is_short: bool = False) -> tuple[list[Saturation], str]:
    """Measures each transport, and keeps what later jobs need. Also returns what has failed; "": nothing.

    Raises:
        NetworkError: Nothing was measured.
    """
    command = [str(network_program()), str(curve_folder()), *(["--short"] if is_short else [])]
    try:
        ended = subprocess.run(command, capture_output=True, text=True, timeout=_PATIENCE_S, check=False)
    except OSError as error:
        raise NetworkError(f"{command[0]}: {error.strerror}") from error
    except subprocess.TimeoutExpired as error:
        raise NetworkError(f"{command[0]} did not end within {_PATIENCE_S} seconds") from error
    measured = _parsed(ended.stdout.splitlines())
    problem = ended.stderr.strip()
    if not measured:
        raise NetworkError(
            problem or f"{command[0]} ended with status {ended.returncode} and printed nothing"
        )
    return measured, problem


def _parsed(lines: Iterable[str]) -> list[Saturation]:
    made = []
    for line in lines:
        fields = json.loads(line)
        points = [Point(**point) for point in fields["points"]]
        made.append(
            Saturation(fields["transport"], points, [_choice(choice) for choice in fields["choices"]])
        )
    return made


def _choice(fields: dict[str, Any]) -> Choice:
    selection = [ServedSizes(**sizes) for sizes in fields["selection"]]
    return Choice(fields["free_cpus"], fields["servers"], selection)
