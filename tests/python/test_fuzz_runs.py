"""Whatever is in a run directory: a result, or our own error that names the file. No traceback, no hang, no memory without bound.

TRIMTAB_FUZZ=1000000 looks at that many cases, from another seed each time (TRIMTAB_FUZZ_SEED repeats one).
"""

from __future__ import annotations

import io
import json
import os
import random
import resource
import signal
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from mutated_runs import Mutated, bases
from reports import build, typed
from synthetic import LaneFile, ProcessFiles, subject, team_of, write_run
from trimtab.analysis.compare import compare
from trimtab.cli.compare import compare_runs
from trimtab.cli.main import list_runs
from trimtab.export import export
from trimtab.model import RunError
from trimtab.readers import open_run
from trimtab.readers.run import read_info
from trimtab.report.html import page
from trimtab.text.tables import tables
from trimtab.text.verdict import verdict

LONG = int(os.environ.get("TRIMTAB_FUZZ", "0"))
CASES = LONG or 20_000
SEED = int(os.environ.get("TRIMTAB_FUZZ_SEED", str(time.time_ns() if LONG else 20261125)))
# What a case may need at most. The machine's load does not count, and a case takes some 10 ms.
CPU_S = 20
MEMORY = 3 << 30
MOST_SHOWN = 12


class _TooLong(Exception):
    """A case that does not come to an end."""


@pytest.fixture
def bounded() -> Iterator[None]:
    """Memory and time of a case have a bound; waiting for something does, too."""
    with open("/proc/self/statm", encoding="ascii") as file:
        used = int(file.read().split()[0]) * resource.getpagesize()
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, before[1]))
    handlers = [(entry, signal.signal(entry, _too_long)) for entry in (signal.SIGVTALRM, signal.SIGALRM)]
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
        for number, handler in handlers:
            signal.signal(number, handler)


def _too_long(number: int, _: object) -> None:
    raise _TooLong(signal.Signals(number).name)


def as_strict_json(value: Any) -> None:
    json.loads(json.dumps(value, allow_nan=False))


def shown(text: str) -> None:
    """Nothing that a terminal obeys."""
    bad = sorted({entry for entry in text if entry != "\n" and not entry.isprintable()})
    assert not bad, f"printed: {bad}"


def a_report(run: Path, _: Path) -> None:
    as_strict_json(build(open_run(run)))


def read(run: Path, _: Path) -> None:
    open_run(run)


def only_info(run: Path, _: Path) -> None:
    as_strict_json(read_info(run))


def on_a_terminal(run: Path, _: Path) -> None:
    report = build(open_run(run))
    target = io.StringIO()
    verdict(typed(report), run, target)
    shown(target.getvalue())
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("sys.stdout", io.StringIO())
        tables(typed(report), run)
        import sys

        shown(sys.stdout.getvalue())  # type: ignore[attr-defined]


def a_page(run: Path, _: Path) -> None:
    shown(page(typed(build(open_run(run)))).partition("@@")[0][-100:])


def exported(to: str) -> Callable[[Path, Path], None]:
    def go(run: Path, scratch: Path) -> None:
        for file in export(open_run(run), to, scratch / f"out-{to}").files:
            content = file.read_bytes()
            if to in ("csv", "chrome"):
                content.decode()
            if to == "chrome":
                json.loads(content, parse_constant=_no_constant)

    go.__name__ = to
    return go


def _no_constant(name: str) -> None:
    raise AssertionError(f"{name} is no JSON")


def compared(run: Path, scratch: Path) -> None:
    good = build(open_run(scratch / "all" / "good-1"))
    as_strict_json(compare([typed(good)], [typed(build(open_run(run)))]))


def listed(run: Path, scratch: Path) -> None:
    """One bad run hides no other."""
    link = scratch / "all" / "bad"
    link.unlink(missing_ok=True)
    link.symlink_to(run)
    completed = CliRunner().invoke(list_runs, [str(scratch / "all"), "--json"])
    assert completed.exit_code == 0, completed.output
    names = [Path(load["run"]).name for load in json.loads(completed.stdout)]
    assert {"good-1", "good-2"} <= set(names)
    shown(completed.output)
    completed = CliRunner().invoke(list_runs, [str(scratch / "all")])
    assert completed.exit_code == 0
    shown(completed.output)


def compared_by_command(run: Path, scratch: Path) -> None:
    completed = CliRunner().invoke(compare_runs, [str(scratch / "all" / "good-1"), str(run)])
    if completed.exception is not None and not isinstance(completed.exception, SystemExit):
        raise completed.exception
    shown(completed.output)


# With how many of a thousand cases each is tried.
LOOKS: list[tuple[Callable[[Path, Path], None], int]] = [
    *((read, 600), (a_report, 170), (only_info, 150), (on_a_terminal, 20), (a_page, 8), (listed, 15)),
    *((compared, 8), (compared_by_command, 4)),
    *((exported("csv"), 8), (exported("chrome"), 8), (exported("perfetto"), 7), (exported("parquet"), 2)),
]


@pytest.mark.timeout(0 if LONG else 900)
@pytest.mark.usefixtures("bounded")
def test_a_result_or_an_error_that_names_the_file(tmp_path: Path) -> None:
    runs = [Mutated(base) for base in bases(tmp_path / "bases")]
    good = ProcessFiles([LaneFile(team_of(1, 1.0, [1.0]))], [subject(1)], parallel=1.0)
    for name in ("good-1", "good-2"):
        write_run(tmp_path / "all" / name, good)
    failures: dict[str, str] = {}
    counts: Counter[str] = Counter()
    for number in range(CASES):
        chance = random.Random(f"{SEED}/{number}")
        run = chance.choice(runs)
        look = chance.choices([one_look for one_look, _ in LOOKS], [weight for _, weight in LOOKS])[0]
        run.mutate(chance)
        try:
            signal.setitimer(signal.ITIMER_VIRTUAL, CPU_S)
            signal.setitimer(signal.ITIMER_REAL, 30 * CPU_S)
            look(run.run, tmp_path)
            counts["results"] += 1
        except RunError as error:
            counts["errors"] += 1
            if str(run.run) not in str(error):
                failures.setdefault(f"names no file: {error}"[:60], f"case {number}, {run.did}: {error}")
        except (Exception, pytest.fail.Exception) as error:
            place = traceback.extract_tb(error.__traceback__)[-1]
            reported = f"seed {SEED}, case {number}, {run.run.name}, {look.__name__}, {run.did}:\n" + "".join(
                traceback.format_exception(error)[-6:]
            )
            failures.setdefault(f"{type(error).__name__} {place.filename}:{place.lineno}", reported)
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
            signal.setitimer(signal.ITIMER_REAL, 0)
            run.restore()
    assert not failures, f"{len(failures)} kinds:\n" + "\n".join(list(failures.values())[:MOST_SHOWN])
    # Both happen often: neither is all damage refused at the door, nor does none of it matter.
    assert counts["results"] > CASES / 5
    assert counts["errors"] > CASES / 5
