"""Real programs bare, watched and tuned: `.venv/bin/python -m benchmarks.real_programs FOLDER`, and docs/programs/README.md.

FOLDER, outside the project, has the sources: a clone of each repository, and for Python's packages an environment `venv`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

from benchmarks.docs import write
from benchmarks.machine import describe
from benchmarks.program_picture import picture
from benchmarks.running import BenchError, clean_environment

ROOT = Path(__file__).resolve().parent.parent
LIST = ROOT / "docs" / "programs" / "list.toml"
PAGE = ROOT / "docs" / "programs" / "README.md"
RESULTS_PAGE = ROOT / "docs" / "results" / "README.md"
PICTURE = ROOT / "docs" / "results" / "real-programs.svg"
WORD = "real-programs"
FOLDER_VARIABLE = "TRIMTAB_PROGRAMS"
KEPT = ROOT / "benchmarks" / "real-programs-results.json"
_INPUTS = Path(__file__).with_name("program_inputs.py")
_NOTHING_PRINTED = "nothing is printed"
_DIFFERENT = "different"
# Answers that differ only by chance differ in some of so many further bare runs, too.
_MORE_BARE_RUNS = 15
# A program that is not slower has a paired interval that is not wholly above this.
MOST_OF_BARE = 1.03
# And one that is faster has a median of at most this.
MOST_OF_FASTER = 0.95
_MOST_MINUTES = 60
PAIRS = 5
_TIMEOUT_S = 600


@dataclass(frozen=True)
class Program:
    """A row of the list; the fields are described at its head."""

    name: str
    field: str
    origin: str
    source: str
    compiler: str
    command: str
    build: str = ""
    input: str = ""
    varies: str = ""
    output: str = ""

    def folder(self, sources: Path) -> Path:
        """Where it is built and run."""
        return sources / self.source.rpartition("/")[2] if self.origin == "github" else sources / "inputs"

    def argv(self, sources: Path) -> list[str]:
        """The command, its program by a whole path."""
        words = shlex.split(self.command.replace("{python}", str(sources / "venv/bin/python")))
        path = self.folder(sources) / words[0]
        return [str(path) if "/" in words[0] else words[0], *words[1:]]


def read_list(path: Path = LIST) -> list[Program]:
    """All programs, in order."""
    rows = tomllib.loads(path.read_text(encoding="utf-8"))["program"]
    return [Program(source=row.pop("from"), **row) for row in rows]


def why_missing(program: Program, sources: Path) -> str:
    """What is not there; empty: it can be measured."""
    if program.origin == "github" and not program.folder(sources).is_dir():
        return f"{program.folder(sources)}: not there"
    if program.origin == "pypi" and not (sources / "venv/bin/python").exists():
        return f"{sources / 'venv'}: not there"
    name = program.argv(sources)[0]
    is_there = Path(name).exists() if "/" in name else shutil.which(name) is not None
    return "" if is_there else f"{name}: not there"


def prepare(program: Program, sources: Path) -> None:
    """Build it, and make its input.

    Raises:
        subprocess.CalledProcessError: a command failed.
    """
    inputs = sources / "inputs"
    inputs.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(_INPUTS, sources / "inputs.py")
    if program.build and program.folder(sources).is_dir():
        _shell(program.build, program.folder(sources))
    if program.input:
        _shell(program.input, inputs)


def _shell(command: str, folder: Path) -> None:
    subprocess.run(["bash", "-c", command], cwd=folder, check=True, stdout=subprocess.DEVNULL)


def measure(program: Program, sources: Path, pairs: int) -> dict[str, Any]:
    """Tune it, then run it bare, watched and with what was kept, in turn; a row of the results."""
    history = sources / f"history-{_word(program.name)}.sqlite"
    history.unlink(missing_ok=True)
    folder, argv = program.folder(sources), program.argv(sources)
    trimtab = [sys.executable, "-m", "trimtab"]
    options = ["--history", str(history)]
    tuned = _run([*trimtab, "tune", "--runs", "1", "--json", *options, "--", *argv], folder)
    outcome = json.loads(tuned.text)
    run = sources / "run"
    ways: dict[str, list[str]] = {
        "bare": argv,
        "run": [*trimtab, "run", "-q", "--tune=off", "-o", str(run), "--", *argv],
        "tuned": [*trimtab, "run", "-q", "--frozen", *options, "-o", str(run), "--", *argv],
    }
    seconds: dict[str, list[float]] = {way: [] for way in ways}
    texts: dict[str, list[str]] = {way: [] for way in ways}
    for number in range(pairs):
        for way in list(ways)[:: 1 if number % 2 == 0 else -1]:
            shutil.rmtree(run, ignore_errors=True)
            finished = _run(ways[way], folder)
            # The launcher itself, about 0.3 s, is no part of the program.
            seconds[way].append(finished.seconds if way == "bare" else _program_s(run))
            texts[way].append(_digest(program, folder, finished.text))
    others = [*texts["run"], *texts["tuned"]]
    if answers(texts["bare"], others) == _DIFFERENT:
        texts["bare"] += [_digest(program, folder, _run(argv, folder).text) for _ in range(_MORE_BARE_RUNS)]
    return {
        "name": program.name,
        "seconds": seconds,
        "tune_s": tuned.seconds,
        "kept": outcome["export"].removeprefix("export ") if outcome["proved"] else "",
        "limit": outcome["limit"],
        "answers": answers(texts["bare"], others),
    }


@dataclass(frozen=True)
class _Finished:
    text: str
    seconds: float


def _run(argv: list[str], folder: Path) -> _Finished:
    """To files: a reader at the other end of a pipe would want a CPU, too."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        began = time.monotonic()
        process = subprocess.Popen(argv, cwd=folder, stdin=subprocess.DEVNULL, stdout=output, stderr=errors)
        # Not wait(timeout): that looks only every 50 ms whether the program has ended.
        alarm = threading.Timer(_TIMEOUT_S, process.kill)
        alarm.start()
        code = process.wait()
        seconds = time.monotonic() - began
        alarm.cancel()
        output.seek(0)
        errors.seek(0)
        if code != 0:
            text = errors.read().decode(errors="replace")
            raise subprocess.CalledProcessError(code, argv, stderr=text)
        return _Finished(output.read().decode("latin-1"), seconds)


def _program_s(run: Path) -> float:
    return float(json.loads((run / "run.json").read_text())["ended"]["wall_s"])


def _digest(program: Program, folder: Path, text: str) -> str:
    """Of the lines that are the same in all runs, and of the file that it writes; empty: there is nothing to compare."""
    kept = _without(program.varies, text)
    if program.output:
        kept += (folder / program.output).read_text(encoding="latin-1")
    return hashlib.sha256(kept.encode()).hexdigest() if kept else ""


def _without(varies: str, text: str) -> str:
    if not varies:
        return text
    return "\n".join(line for line in text.splitlines() if re.search(varies, line) is None)


def answers(bare: list[str], others: list[str]) -> str:
    """Whether what the program writes is the same without Trimtab and with it."""
    if not any((*bare, *others)):
        return _NOTHING_PRINTED
    if len(set(bare)) > 1:
        return "bare runs differ by themselves"
    return "same" if set(others) == set(bare) else _DIFFERENT


def _word(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def ratio(row: dict[str, Any], way: str) -> tuple[float, float, float]:
    """Of pairs with bare runs: the median, and the interval that they span (94 % for five pairs, more for more)."""
    ratios = [
        with_it / bare for with_it, bare in zip(row["seconds"][way], row["seconds"]["bare"], strict=True)
    ]
    return statistics.median(ratios), min(ratios), max(ratios)


def table(programs: list[Program], results: dict[str, Any]) -> str:
    """A row for every program of the list, measured or not, and what they come to."""
    rows = {row["name"]: row for row in results["cases"]}
    lines = [
        "| program | field | compiler | command | bare, s | `run` / bare | tuned / bare | kept, or what limits it | answers |",
        "|---|---|---|---|--:|--:|--:|---|---|",
    ]
    lines += [_line(program, rows.get(program.name)) for program in programs]
    return "\n".join([*lines, "", summary(programs, results), ""])


def _line(program: Program, row: dict[str, Any] | None) -> str:
    head = f"| {program.name} | {program.field} | {program.compiler} | `{program.command}` |"
    if row is None:
        return f"{head} | | | not measured yet | |"
    reason = _words_of_kept(row) if row["kept"] or not row["limit"] else row["limit"]
    times = f"{statistics.median(row['seconds']['bare']):.2f} | {_ratio_text(row, 'run')} | {_ratio_text(row, 'tuned')}"
    return f"{head} {times} | {_cell(reason)} | {row['answers']} |"


def _ratio_text(row: dict[str, Any], way: str) -> str:
    middle, low, high = ratio(row, way)
    return f"{middle:.2f} ({low:.2f}-{high:.2f})"


def is_faster(row: dict[str, Any], most: float) -> bool:
    """Whether something was kept, every pair was faster, and the median is at most `most` of the time without it.

    Where nothing was kept, both ways are the same program.
    """
    middle, _, high = ratio(row, "tuned")
    return bool(row["kept"] or not row["limit"]) and high <= 1 and middle <= most


def summary(programs: list[Program], results: dict[str, Any]) -> str:
    """How many of the measured ones gained how much, and which were slower."""
    five, twenty = (sum(is_faster(row, most) for row in results["cases"]) for most in (MOST_OF_FASTER, 0.80))
    slower = [
        row["name"]
        for row in results["cases"]
        if max(ratio(row, way)[1] for way in ("run", "tuned")) > MOST_OF_BARE
    ]
    return (
        f"Measured: {len(results['cases'])} of {len(programs)}. Faster by 5 % or more: {five}; by 20 % or more: {twenty}. "
        f"Slower (interval wholly above {MOST_OF_BARE}): {', '.join(slower) or 'none'}."
    )


def tables(results: dict[str, Any]) -> str:
    """The block of the page: the machine, and the table."""
    return f"{_machine_line(results['machine'])}\n\n{table(read_list(), results)}"


def headline(results: dict[str, Any]) -> str:
    """The block of the page of results: what it comes to, the largest gains, and what limits the others."""
    cases = sorted(results["cases"], key=lambda row: ratio(row, "tuned")[0])
    faster = [row for row in cases if is_faster(row, MOST_OF_FASTER)]
    others = [row for row in cases if row not in faster]
    lines = [summary(read_list(), results), ""]
    lines += [_gain_line(row) for row in faster]
    if others:
        lines += ["", "| gain below 5 % | what limits it |", "|---|---|"]
        lines += [
            f"| {row['name']} | {_cell(row['limit'] or f'kept: {_words_of_kept(row)}')} |" for row in others
        ]
    return "\n".join([*lines, "", _machine_line(results["machine"]), ""])


def _gain_line(row: dict[str, Any]) -> str:
    before = statistics.median(row["seconds"]["bare"])
    middle, low, high = ratio(row, "tuned")
    return (
        f"- **{row['name']}**: {before:.2f} s become {before * middle:.2f} s ({1 - high:.0%} to {1 - low:.0%} less) "
        f"with {_words_of_kept(row)}"
    )


def _words_of_kept(row: dict[str, Any]) -> str:
    return f"`{row['kept']}`" if row["kept"] else "settings of its loops"


def _cell(text: str) -> str:
    return text.replace("|", "/")


def write_page(results: dict[str, Any]) -> None:
    """Put table and picture into the pages, and keep the results."""
    write(PAGE, results, {"programs": tables})
    write(RESULTS_PAGE, results, {WORD: headline})
    KEPT.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    keep_picture(results)


def keep_picture(results: dict[str, Any]) -> None:
    """Draw what the page of results shows."""
    rows = [(row["name"], *ratio(row, "tuned")) for row in results["cases"]]
    PICTURE.write_bytes(picture(rows))


def run_real_programs(
    root: Path,
    programs: Path,
    is_smoke: bool,
    rounds: int,
    wait_minutes: float,
    report_progress: Callable[[str], None],
) -> dict[str, Any]:
    """All of the list, from the folder that the variable TRIMTAB_PROGRAMS names; without it nothing is measured."""
    folder = os.environ.get(FOLDER_VARIABLE)
    if not folder:
        report_progress(
            f"{WORD}: left out, because {FOLDER_VARIABLE} names no folder of programs (docs/programs)"
        )
        return {"machine": _machine(), "cases": []}
    results: dict[str, Any] = {"machine": _machine(), "cases": []}
    _find_programs()
    run_all(read_list(), Path(folder).resolve(), rounds, _MOST_MINUTES * 60, results["cases"].append)
    return results


def write_suite(results: dict[str, Any]) -> None:
    """What `./x bench --write-docs` keeps beside the table.

    Raises:
        BenchError: nothing was measured, and what is there would be lost.
    """
    if not results["cases"]:
        raise BenchError(f"{WORD}: nothing was measured, so nothing is written")
    write(RESULTS_PAGE, results, {WORD: headline})
    keep_picture(results)


def _find_programs() -> None:
    # Before what this project's environment has by the same name.
    os.environ["PATH"] = f"/usr/bin:{os.environ['PATH']}"


def _machine_line(machine: dict[str, Any]) -> str:
    return "Machine: " + ", ".join(f"{name} {value}" for name, value in machine.items() if value) + "."


def _machine() -> dict[str, Any]:
    described = describe()
    return {
        name: described.get(name) for name in ("date", "commit", "cpu", "cpus", "kernel") if name in described
    }


def run_all(
    programs: list[Program], sources: Path, pairs: int, limit_s: float, keep: Callable[[dict[str, Any]], None]
) -> None:
    """Measure one after the other until the time is over; `keep` gets each row."""
    began = time.monotonic()
    for program in programs:
        if time.monotonic() - began > limit_s:
            print(f"{program.name}: no time is left", file=sys.stderr)
            continue
        if missing := why_missing(program, sources):
            print(f"{program.name}: not measured: {missing}", file=sys.stderr)
            continue
        try:
            row = measure(program, sources, pairs)
        except (subprocess.SubprocessError, OSError, ValueError) as error:
            print(
                f"{program.name}: not measured: {error}\n{getattr(error, 'stderr', '') or ''}",
                file=sys.stderr,
            )
            continue
        keep(row)
        print(
            f"{program.name}: {_ratio_text(row, 'tuned')} of {row['seconds']['bare'][0]:.2f} s",
            file=sys.stderr,
        )


def main() -> int:
    """Builds and measures, or only one of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sources", type=Path, metavar="FOLDER", help="with the sources; outside the project")
    parser.add_argument("--only", help="a regular expression for the names of programs")
    parser.add_argument(
        "--prepare", action="store_true", help="build them and make their inputs; measure nothing"
    )
    parser.add_argument("--pairs", type=int, default=PAIRS, help=f"runs of each way; {PAIRS}")
    parser.add_argument(
        "--minutes",
        type=float,
        default=_MOST_MINUTES,
        help=f"begin no further program after this time; {_MOST_MINUTES}",
    )
    parser.add_argument(
        "--results", type=Path, help="where the results are, and rows are added; default: in FOLDER"
    )
    parser.add_argument(
        "--write-docs", action="store_true", help="put the table into docs/programs; measure nothing"
    )
    arguments = parser.parse_args()
    sources: Path = arguments.sources.resolve()
    programs = read_list()
    file: Path = arguments.results or sources / "results.json"
    results: dict[str, Any] = (
        json.loads(file.read_text()) if file.exists() else {"machine": _machine(), "cases": []}
    )
    if arguments.write_docs:
        write_page(results)
        return 0
    chosen = [program for program in programs if re.search(arguments.only or "", program.name)]
    clean_environment()
    _find_programs()
    if arguments.prepare:
        return _prepare_all(chosen, sources)

    results["machine"] = _machine()

    def keep(row: dict[str, Any]) -> None:
        results["cases"] = [case for case in results["cases"] if case["name"] != row["name"]] + [row]
        file.write_text(json.dumps(results, indent=1))

    run_all(chosen, sources, arguments.pairs, arguments.minutes * 60, keep)
    return 0


def _prepare_all(programs: list[Program], sources: Path) -> int:
    failed = 0
    for program in programs:
        try:
            prepare(program, sources)
        except subprocess.CalledProcessError as error:
            print(f"{program.name}: {error}", file=sys.stderr)
            failed += 1
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main())
