"""What a check says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Status = Literal["ok", "info", "lacks", "broken"]


@dataclass(frozen=True)
class Check:
    """One finding: `costs` says what a lack costs, `remedy` what to do about it."""

    what: str
    status: Status
    found: str
    costs: str = ""
    remedy: str = ""

    def as_json(self) -> dict[str, str]:
        """As `trimtab doctor --json` has it."""
        return {
            "what": self.what,
            "status": self.status,
            "found": self.found,
            "costs": self.costs,
            "remedy": self.remedy,
        }
