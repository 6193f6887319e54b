"""The files in which the system says what this machine is."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Machine:
    """The files of a machine below `root` (/ for this one), and the CPUs that this process may use."""

    root: Path = Path("/")
    affinity: int | None = None

    def path(self, name: str) -> Path:
        """Where the file of that absolute name is."""
        return self.root / name.lstrip("/")

    def read(self, name: str) -> str | None:
        """A file's text without the white space at its ends; None if it cannot be read."""
        try:
            return self.path(name).read_text(encoding="utf-8", errors="replace").strip()
        except OSError:
            return None

    def is_refused(self, name: str) -> bool:
        """Whether a file is there and this user may not read it."""
        try:
            self.path(name).read_bytes()
        except PermissionError:
            return True
        except OSError:
            pass
        return False

    def glob(self, pattern: str) -> list[str]:
        """Absolute names of what is there, in order."""
        return sorted("/" + str(path.relative_to(self.root)) for path in self.root.glob(pattern.lstrip("/")))
