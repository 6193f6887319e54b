"""The programs of the benchmark of predicted gains: each with a planted fault, and with the fault taken out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from trimtab.model.enumerations import Cause

from benchmarks.running import BenchError

THREADS = 2
# So many times fewer steps, to show only that they work.
_SMOKE = 10
_UNITS = {"straggler": " times more", "input": " us"}


@dataclass(frozen=True)
class PlantedProgram:
    """A program with a fault, and how it is started without.

    Attributes:
        causes: the findings that name the fault; the first one that the report has is the prediction.
        severity: of the fault, as the program takes it, or for people.
        repaired: the same program, with the fault taken out.
        hog_percent: the share of one CPU that another program takes, which is the fault; 0: no such program.
        is_traced: recorded with `--trace`; else a profile.
    """

    name: str
    causes: tuple[Cause, ...]
    severity: str
    command: tuple[str, ...]
    repaired: tuple[str, ...]
    hog_percent: int = 0
    is_traced: bool = True

    @property
    def title(self) -> str:
        """For progress and errors."""
        return f"{self.name}, {self.severity}"


def planted_programs(root: Path, is_smoke: bool) -> list[PlantedProgram]:
    """All; most with a moderate and a strong fault.

    Raises:
        BenchError: they are not built.
    """
    folder = root / "build" / "workloads"
    shorter = _SMOKE if is_smoke else 1
    programs = [
        *_of_regions(folder, shorter),
        *_of_memory(folder, shorter),
        *_of_tasks(folder, shorter),
        *_of_job(folder, shorter),
    ]
    for program in programs:
        missing = [
            word for word in program.command if word.startswith(str(folder)) and not Path(word).exists()
        ]
        if missing:
            raise BenchError(f"{missing[0]}: expected a program, found none: ./x build makes it")
    return programs


def _of_regions(folder: Path, shorter: int) -> Iterator[PlantedProgram]:
    def command(compiler: str, fault: str, severity: int, steps: int, size: int = 20_000) -> tuple[str, ...]:
        numbers = {"--severity": severity, "--steps": steps // shorter, "--size": size}
        words = [word for name, value in numbers.items() for word in (name, str(value))]
        return (str(folder / f"planted-{compiler}"), fault, *words, "--no-check")

    def planted(
        name: str, cause: Cause, severity: int, *sizes: int, fault: str, compiler: str = "gcc"
    ) -> PlantedProgram:
        unit = _UNITS.get(fault, " %")
        return PlantedProgram(
            name,
            (cause,),
            f"{severity}{unit}",
            command(compiler, fault, severity, *sizes),
            command(compiler, fault, 0, *sizes),
        )

    for severity, compiler in ((50, "gcc"), (90, "clang")):
        name = f"imbalance, {compiler}"
        yield planted(name, Cause.IMBALANCE, severity, 600, fault="imbalance", compiler=compiler)
    for severity, compiler in ((3, "gcc"), (8, "clang")):
        name = f"straggler, {compiler}"
        yield planted(name, Cause.STRAGGLER, severity, 400, fault="straggler", compiler=compiler)
    for severity, compiler in ((70, "gcc"),):
        name = f"serial part, {compiler}"
        yield planted(name, Cause.SERIAL_PART, severity, 600, fault="serial", compiler=compiler)
    for severity, compiler in ((70, "gcc"), (95, "clang")):
        name = f"lock, {compiler}"
        yield planted(name, Cause.LOCK_CONTENTION, severity, 600, fault="lock", compiler=compiler)
    for severity, compiler in ((60, "gcc"), (100, "clang")):
        name = f"reduction by one thread, {compiler}"
        yield planted(name, Cause.IMBALANCE, severity, 800, 2000, fault="reduction", compiler=compiler)
    for severity, compiler in ((80, "gcc"), (100, "clang")):
        name = f"chain of OpenMP tasks, {compiler}"
        yield planted(name, Cause.TASK_CHAIN, severity, 600, fault="chain", compiler=compiler)
    # The rest of the time, 0.46 s, is longer than the input: only then can it hide all of it.
    for severity, compiler in ((250, "gcc"), (500, "clang")):
        name = f"serial input, {compiler}"
        yield planted(name, Cause.SERIAL_INPUT, severity, 600, fault="input", compiler=compiler)
    for percent in (100,):
        alone = command("gcc", "imbalance", 0, 1200)
        yield PlantedProgram(
            "hog on one CPU, gcc", (Cause.CPU_CONTENTION,), f"{percent} %", alone, alone, hog_percent=percent
        )


def _of_memory(folder: Path, shorter: int) -> Iterator[PlantedProgram]:
    def planted(
        name: str, cause: Cause, severity: int, unit: str, steps: int, fault: str, compiler: str
    ) -> PlantedProgram:
        program = str(folder / f"planted_memory-{compiler}")
        numbers = ("--severity", str(severity), "--steps", str(max(steps // shorter, 1)), "--no-check")
        command = (program, fault, *numbers)
        return PlantedProgram(
            f"{name}, {compiler}", (cause,), f"{severity}{unit}", command, (*command, "--repaired")
        )

    for severity, compiler in ((50, "gcc"), (90, "clang")):
        yield planted(
            "one arena of malloc", Cause.ALLOCATOR_CONTENTION, severity, " %", 600, "arenas", compiler
        )
    for severity, compiler in ((4, "gcc"), (16, "clang")):
        yield planted(
            "memory given back", Cause.RETURNED_MEMORY, severity, " MB a step", 300, "returned", compiler
        )
    for severity, compiler in ((500, "gcc"), (2000, "clang")):
        yield planted("small pages", Cause.SMALL_PAGES, severity, " MB", 300, "pages", compiler)


def _of_tasks(folder: Path, shorter: int) -> Iterator[PlantedProgram]:
    def command(fault: str, severity: int, blocks: int, size: int, workers: int = THREADS) -> tuple[str, ...]:
        numbers = {"--severity": severity, "--blocks": blocks // shorter, "--size": size}
        words = [word for name, value in numbers.items() for word in (name, str(value))]
        program = str(folder / "planted_tasks")
        return (program, "--fault", fault, *words, "--no-check", f"--trimtab:workers={workers}")

    def planted(
        name: str, cause: Cause, severity: int, unit: str, *sizes: int, fault: str, is_traced: bool = True
    ) -> PlantedProgram:
        return PlantedProgram(
            name,
            (cause,),
            f"{severity}{unit}",
            command(fault, severity, *sizes),
            command(fault, 0, *sizes),
            is_traced=is_traced,
        )

    for severity in (60, 100):
        yield planted("chain of tasks", Cause.TASK_CHAIN, severity, " %", 3000, 100_000, fault="chain")
    for severity in (70, 95):
        yield planted(
            "tasks with a mutex", Cause.SUSPENDED_TASKS, severity, " %", 3000, 100_000, fault="lock"
        )
    for severity in (75, 90):
        yield planted("one task makes all", Cause.ONE_PRODUCER, severity, " %", 3000, 100_000, fault="spawn")
    for severity in (190, 380):
        unit = " times more"
        yield planted("long task", Cause.STRAGGLER, severity, unit, 1024, 100_000, fault="straggler")
    for severity in (1024, 2048):
        unit = " tasks each"
        yield planted(
            "tasks too small", Cause.SMALL_TASKS, severity, unit, 3000, 20_480, fault="small", is_traced=False
        )
    alone, both = (command("chain", 0, 3000, 100_000, workers) for workers in (1, THREADS))
    yield PlantedProgram("one worker too few", (Cause.FEW_WORKERS,), "1 worker", alone, both)


def _of_job(folder: Path, shorter: int) -> Iterator[PlantedProgram]:
    def command(severity: int) -> tuple[str, ...]:
        launch = ("trimtab", "launch", "-n", str(THREADS), "--")
        numbers = ("--severity", str(severity), "--steps", str(800 // shorter))
        return (*launch, str(folder / "job_planted"), *numbers, "--no-check", "--trimtab:workers=1")

    causes = (Cause.LATE_LOCALITY, Cause.PROCESS_IMBALANCE)
    for severity in (50, 90):
        yield PlantedProgram("late locality", causes, f"{severity} %", command(severity), command(0))
