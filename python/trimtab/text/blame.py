"""What idle core time is charged to, in lines and tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.markup import escape

from trimtab.analysis.plain_threads import LOOKS
from trimtab.model.report import Blamed, Report, RunPhase
from trimtab.text.console import table
from trimtab.text.names import short_name
from trimtab.text.units import percent, seconds

if TYPE_CHECKING:
    from rich.table import Table

_MOST_NAMED, _MOST_ROWS = 3, 12
# Of the core time: less is not worth a word at the end of a run.
_LEAST_SHARE = 0.02
# The basis of what lacks nothing.
_EVENTS = "events"


def blame_lines(report: Report) -> Iterator[str]:
    """The greatest parts, for the end of a run; nothing where only sums by region are known, which findings say as well."""
    named = [blamed for blamed in report.blame if blamed.share >= _LEAST_SHARE][:_MOST_NAMED]
    if named and any(blamed.basis != "profile" for blamed in report.blame):
        yield f"idle because of {', '.join(_words(blamed) for blamed in named)}"
    for number, phase in enumerate(report.phases, 1):
        yield f"phase {number}, {seconds(phase.begin_s)} to {seconds(phase.end_s)}: work {percent(phase.work)}{_mostly(phase)}"


def _mostly(phase: RunPhase) -> str:
    """What most time was lost to."""
    if phase.cause is None or phase.lost < _LEAST_SHARE:
        return ""
    at = f" at {phase.subject}" if phase.subject is not None else ""
    return f", most lost to {phase.cause}{at} {percent(phase.lost)}"


def _words(blamed: Blamed) -> str:
    at = f" at {blamed.subject}" if blamed.subject is not None else ""
    if blamed.basis == LOOKS and blamed.reason is not None:
        at = f" ({blamed.reason})"
    return f"{blamed.cause}{at} {percent(blamed.share)}"


def blame_table(report: Report) -> Table | None:
    """All idle core time by cause and place."""
    if not report.blame:
        return None
    rows = table(
        "idle because of", "at", "core time", "share", "known from", title="who is to blame for idle cores"
    )
    for blamed in report.blame[:_MOST_ROWS]:
        rows.add_row(
            blamed.cause,
            escape(short_name(blamed.subject or blamed.reason or "")),
            seconds(blamed.lane_time_s),
            percent(blamed.share),
            blamed.basis,
        )
    rest = report.blame[_MOST_ROWS:]
    if rest:
        time_s, share = sum(blamed.lane_time_s for blamed in rest), sum(blamed.share for blamed in rest)
        rows.add_row(f"{len(rest)} others", "", seconds(time_s), percent(share), "")
    return rows


def _lacking(basis: str) -> str | None:
    """What the events lack behind a table; None: nothing."""
    return None if basis == _EVENTS else f"from {basis}"


def path_table(report: Report) -> Table | None:
    """The critical path by what it was."""
    if not report.critical_path:
        return None
    rows = table("critical path", "at", "time", "share", title=_lacking(report.critical_path[0].basis))
    for part in report.critical_path[:_MOST_ROWS]:
        rows.add_row(
            part.cause or "work",
            escape(short_name(part.subject or part.reason or "")),
            seconds(part.time_s),
            percent(part.share),
        )
    return rows


def pop_lines(report: Report) -> Iterator[str]:
    """Efficiencies of the lanes."""
    pop = report.pop
    if pop is None:
        return
    serialization = "" if pop.serialization is None else f"serialization {percent(pop.serialization)} x "
    yield (
        f"parallel efficiency of {pop.lanes} lanes {percent(pop.parallel_efficiency)} = {serialization}load balance "
        f"{percent(pop.load_balance)} x scheduling {percent(pop.scheduling)}"
    )
    if pop.communication is not None:
        yield f"communication efficiency {percent(pop.communication)}"


def what_if_table(report: Report) -> Table | None:
    """What the run would take with changes, by replay."""
    if len(report.what_if) < 2:
        return None
    lacking = _lacking(report.what_if[0].basis)
    title = "what if" if lacking is None else f"what if, {lacking}"
    rows = table("if", "it would take", "between", "instead of", title=title)
    for change in report.what_if[1 : _MOST_ROWS + 1]:
        rows.add_row(
            escape(short_name(change.change)),
            seconds(change.predicted_s),
            f"{seconds(change.predicted_low_s)} and {seconds(change.predicted_high_s)}",
            seconds(change.predicted_s + change.gain_s),
        )
    return rows


def limit_lines(report: Report) -> Iterator[str]:
    """What blame, critical path and replays rest on where processes did not say when they ended."""
    without_end = [process for process in report.processes if process.takes_part and not process.complete]
    if without_end and report.blame:
        named = ", ".join(
            f"{process.pid} at {seconds(process.wall_s)}" for process in without_end[:_MOST_NAMED]
        )
        others = f" and {len(without_end) - _MOST_NAMED} others" if len(without_end) > _MOST_NAMED else ""
        yield f"no end is recorded (killed, or it still runs) of {named}{others}: what was open is counted until then"


def what_if_lines(report: Report) -> Iterator[str]:
    """How well the replay of the unchanged run fits, which says what the other replays are worth."""
    if report.what_if:
        error = report.what_if[0].replay_error
        unproven = "" if len(report.what_if) > 1 else ", too much to predict anything"
        yield f"a replay of the unchanged run is {abs(error):.1%} {'longer' if error >= 0 else 'shorter'} than the run{unproven}"
