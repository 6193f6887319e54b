"""What tuning over whole runs makes small: time, energy, or their product."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar, get_args

Objective = Literal["time", "energy", "energy-time"]
OBJECTIVES: tuple[str, ...] = get_args(Objective)
_UNITS = {"time": "s", "energy": "J", "energy-time": "J s"}
_Result = TypeVar("_Result")


@dataclass(frozen=True)
class Cost:
    """What a run took.

    Attributes:
        seconds: from start to end.
        value: what is to become small; `seconds` unless energy is the objective.
        unit: of `value`.
        is_stopped: it took so long that it was ended.
    """

    seconds: float
    value: float
    unit: str = "s"
    is_stopped: bool = False

    @classmethod
    def of_time(cls, seconds: float) -> Cost:
        """Where time is the objective."""
        return cls(seconds, seconds)

    @property
    def text(self) -> str:
        """`value` with its unit."""
        return f"{self.value:.3g} {self.unit}"


class MeterMissing(Exception):
    """Energy is the objective, and there is no power meter that may be read: says why and what helps."""


class Meter:
    """Measures the cost of runs, one after the other.

    The energy is that of all packages (powercap), whoever runs on them meanwhile.
    """

    def __init__(self, objective: Objective, root: Path = Path("/")) -> None:
        """`root`: where /sys is.

        Raises:
            MeterMissing: energy is asked for, and cannot be measured.
        """
        self.objective = objective
        self._packages = [] if objective == "time" else _packages(root)

    def measure(self, run: Callable[[], tuple[_Result, float]]) -> tuple[_Result, Cost]:
        """Calls `run`, which returns its result and how many seconds the program took."""
        before = [_number(package / "energy_uj") for package in self._packages]
        result, seconds = run()
        return result, self._cost(seconds, before)

    def _cost(self, seconds: float, before: list[int]) -> Cost:
        if self.objective == "time":
            return Cost.of_time(seconds)
        joules = sum(
            _used(start, _number(package / "energy_uj"), package)
            for start, package in zip(before, self._packages, strict=True)
        )
        value = joules if self.objective == "energy" else joules * seconds
        return Cost(seconds, value, _UNITS[self.objective])


def _packages(root: Path) -> list[Path]:
    """Folders of the packages' meters; parts of packages lie in further ones."""
    folders = sorted((root / "sys/class/powercap").glob("intel-rapl:[0-9]*"))
    packages = [
        folder
        for folder in folders
        if folder.name.count(":") == 1 and _text(folder / "name").startswith("package")
    ]
    if not packages:
        raise MeterMissing(
            f"{root / 'sys/class/powercap'}: expected a power meter of a package, found none; run on the bare machine, "
            "with the module intel_rapl_msr"
        )
    for package in packages:
        try:
            _number(package / "energy_uj")
        except PermissionError as error:
            raise MeterMissing(
                f"{package / 'energy_uj'}: {error.strerror}; as root: chmod a+r /sys/class/powercap/*/energy_uj"
            ) from error
    return packages


def _text(file: Path) -> str:
    try:
        return file.read_text().strip()
    except OSError:
        return ""


def _number(file: Path) -> int:
    return int(file.read_text())


def _used(before: int, now: int, package: Path) -> float:
    """Joules. A meter begins anew at its range: once in a run at most, since that takes minutes at full power."""
    micro = now - before if now >= before else now - before + _number(package / "max_energy_range_uj")
    return micro * 1e-6
