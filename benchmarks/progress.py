"""Cases that are done, in a file: a benchmark of many minutes need not begin anew when it is stopped."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchmarks.machine import describe


class Progress:
    """The results so far of one benchmark at one commit. Results of another commit, or with another number of rounds, are ignored."""

    def __init__(self, file: Path, rounds: int, is_smoke: bool) -> None:
        self._file = file
        self._about = {"commit": describe()["commit"], "rounds": rounds, "is_smoke": is_smoke}
        self._cases: dict[str, dict[str, Any]] = {}
        if file.exists():
            result = json.loads(file.read_text(encoding="utf-8"))
            if result.get("about") == self._about:
                self._cases = result["cases"]

    def done(self, title: str) -> dict[str, Any] | None:
        """The result of that case, if it was measured before the benchmark was stopped."""
        return self._cases.get(title)

    def add(self, title: str, case: dict[str, Any]) -> dict[str, Any]:
        """Keeps the result; gives it back."""
        self._cases[title] = case
        self._file.parent.mkdir(parents=True, exist_ok=True)
        self._file.write_text(json.dumps({"about": self._about, "cases": self._cases}), encoding="utf-8")
        return case

    def end(self) -> None:
        """All cases are measured: the next benchmark begins anew."""
        self._file.unlink(missing_ok=True)
