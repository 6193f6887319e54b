"""One thing known: what it is about, and what was found."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from trimtab.history.method import current_method


class HistoryError(Exception):
    """A history that cannot be used: says the file, what was expected and what was found. The program runs untuned."""


@dataclass(frozen=True)
class Key:
    """What must be the same for a setting to be used again; besides the subject."""

    build: str
    cpus: str
    input_class: str
    machine: str


@dataclass(frozen=True)
class Entry:
    """A setting of one subject, and how it was found.

    Attributes:
        subject: names the subject the same in every run of the same build.
        settings: value by knob, as text.
        gain: share of the subject's time that it saves; None where it was not measured.
        spread: half the width of the gain's 95 % interval.
        at: when it was found, seconds since 1970.
        id: in the history; 0 before it is there.
        method: how it was measured (method.py); None before it is in the history, which enters the current one.
    """

    key: Key
    subject: str
    name: str
    program: str
    settings: dict[str, str]
    policy: str
    reason: str
    gain: float | None
    spread: float | None
    pairs: int
    at: float
    run: str
    id: int = field(default=0)
    method: int | None = None

    @property
    def is_usable(self) -> bool:
        """Whether it was measured as settings of its knobs are measured today."""
        return self.method in (None, current_method(self.settings))

    def as_json(self) -> dict[str, Any]:
        """Everything, the key's parts among the rest."""
        whole = asdict(self)
        return {"id": whole.pop("id"), **whole.pop("key"), **whole}
