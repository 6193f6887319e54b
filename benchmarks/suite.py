"""What is measured: which program, with what arguments, at which levels."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from benchmarks.running import LEVELS, PROMISED

COMPILERS = ("gcc", "clang")
# COUNT of a batch; batches of 0.1 to 5 ms, so that a switch to another program spoils one of them at most.
_CONSTRUCTS = {
    "region": 1000,
    "loop": 2000,
    "chunk": 2000,
    "barrier": 2000,
    "critical": 5000,
    "single": 2000,
    "task": 2000,
}
# Sizes for about a second on two cores. The second hotspot3d is the hard case: regions of about 100 us.
_PROGRAMS = {
    "mandelbrot": ["mandelbrot", "--steps", "12"],
    "lavamd": ["lavamd", "--steps", "66"],
    "hotspot3d": ["hotspot3d", "--steps", "4000"],
    "hotspot3d, small": ["hotspot3d", "--size", "124", "--steps", "9200"],
    "sph": ["sph", "--steps", "12"],
    "triangular": ["triangular", "--steps", "36"],
    "tasktree": ["tasktree", "--steps", "400"],
}
# What is promised to the nanosecond or paid once, and takes little time: this many times the rounds.
_OFTEN = 3
_SHORT_PROGRAMS = ("hotspot3d", "tasktree")


@dataclass(frozen=True)
class Case:
    """One row: a program that is run at every level in turn."""

    group: str  # start, scope, construct, once or program
    name: str
    compiler: str
    threads: int
    argv: tuple[str, ...]

    @property
    def is_whole(self) -> bool:
        """Of what is told of whole programs. Their threads are bound to CPUs: where the system happens to put them
        makes a tenth of the time of a run."""
        return self.group in ("once", "program")

    @property
    def levels(self) -> tuple[str, ...]:
        """At which it is run."""
        return PROMISED if self.is_whole else LEVELS

    @property
    def occurrences(self) -> int:
        """How often what is timed happens in a run, on each thread: COUNT in each batch and in the first one."""
        if self.group not in ("scope", "construct"):
            return 1
        count, batches = self.argv[-2:]
        return int(count) * (int(batches) + 1)

    def rounds(self, size: Size) -> int:
        """How often each level is run."""
        if size.is_smoke:
            return size.rounds
        return size.rounds * (_OFTEN if self.group in ("scope", "once") or self.name == "region" else 1)

    @property
    def title(self) -> str:
        """For progress and errors."""
        return f"{self.group} {self.name}, {self.compiler}, {self.threads} thread{'s'[: self.threads > 1]}"


@dataclass(frozen=True)
class Size:
    """How much of everything."""

    rounds: int
    batches: int
    trace_events: int
    trace_rounds: int
    is_smoke: bool


FULL = Size(15, 101, 10_000_000, 5, False)
SMOKE = Size(2, 5, 100_000, 1, True)


def cases(size: Size, programs: Path, threads: int) -> list[Case]:
    """Every case but whole programs, the quick ones first."""
    batches = str(size.batches)
    result = [
        Case(
            "start",
            "a program that does nothing",
            "gcc",
            1,
            (str(programs / "constructs-gcc"), "nothing", "1", "1"),
        )
    ]
    result += [
        Case("scope", "begin + end", compiler, 1, (str(programs / f"scope-{compiler}"), "100000", batches))
        for compiler in COMPILERS
    ]
    for name, count in _CONSTRUCTS.items():
        for compiler in COMPILERS:
            argv = (str(programs / f"constructs-{compiler}"), name, str(count), batches)
            result += [Case("construct", name, compiler, team, argv) for team in sorted({1, threads})]
    return result


def program_cases(size: Size, programs: Path, workloads: Path, threads: int) -> list[Case]:
    """Whole programs, after those that do next to nothing: they show what is paid once."""
    result = [
        Case(
            "once",
            "one region",
            compiler,
            threads,
            (str(programs / f"constructs-{compiler}"), "region", "1", "1"),
        )
        for compiler in COMPILERS
    ]
    for name, (program, *arguments) in _PROGRAMS.items():
        if size.is_smoke and name not in _SHORT_PROGRAMS:
            continue
        for compiler in COMPILERS:
            command = (
                str(workloads / f"{program}-{compiler}"),
                "--no-check",
                *([] if size.is_smoke else arguments),
            )
            result.append(Case("program", name, compiler, threads, command))
    return result
