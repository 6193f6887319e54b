"""The screen of `trimtab top`: what is shown of a look, in the terminal's size. Pure, but for `Console`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rich.cells import cell_len
from rich.text import Text

from trimtab.escapes import printable
from trimtab.live.model import LaneLook, Look, Shares
from trimtab.text.units import percent, seconds

SORTS = ("lane", "busy", "waiting", "name")
WORDS = {
    "busy": "busy",
    "cpu_wait": "waits for a CPU",
    "barrier": "barrier",
    "join": "join",
    "lock": "lock",
    "tasks": "waits for tasks",
    "blocked": "blocked",
    "idle": "idle",
    "capped": "capped",
}
# Letters of a bar, in the order of the shares.
_LETTERS = "#cbjltx.-"
_STYLES = dict(
    zip(
        WORDS,
        ("green", "red", "yellow", "yellow", "magenta", "cyan", "blue", "dim", "dim"),
        strict=True,
    )
)
_WIDE = 110
_KEYS = (
    "q quit  p pause  s sort  / filter  f findings  k knobs  c counters  + - interval  e set  u undo  h help"
)
HELP = (
    "q       quit                       p, blank  pause, and go on",
    "s       next order of lanes: number, busy, waiting, name",
    "/       show only lines with a text; an empty text shows all",
    "f k c d findings, knobs, counters, decisions: show or hide",
    "+ -     longer, shorter interval",
    "up down, page up, page down        scroll the lanes",
    "e       set a knob: REGION/KNOB=VALUE; u: undo what was set by hand: REGION/KNOB",
    "bars:   # busy  c no CPU  b barrier  j join  l lock  t tasks  x blocked  . idle  - capped",
)


@dataclass(frozen=True)
class View:
    """What the user wants to see."""

    sort: str = "lane"
    text: str = ""
    top: int = 0
    is_paused: bool = False
    has_help: bool = False
    parts: frozenset[str] = frozenset({"findings", "knobs", "decisions"})
    prompt: str | None = None
    message: str = ""
    interval_s: float = 1.0

    def with_toggled(self, part: str) -> View:
        """A part shown or hidden."""
        return replace(self, parts=self.parts ^ {part})


def shown_lanes(lanes: Sequence[LaneLook], view: View) -> list[LaneLook]:
    """Those with the view's text, in its order."""
    found = [lane for lane in lanes if matches(view.text, lane.name, lane.subject, WORDS.get(lane.state))]

    def key(lane: LaneLook) -> tuple[object, ...]:
        place = (lane.process, lane.lane)
        busy = lane.shares.busy if lane.shares else 0.0
        orders: dict[str, tuple[object, ...]] = {
            "busy": (-busy, *place),
            "waiting": (busy, *place),
            "name": (lane.name, *place),
        }
        return orders.get(view.sort, place)

    return sorted(found, key=key)


def matches(text: str, *candidates: str | None) -> bool:
    """Whether one of them has the text, in small or large letters."""
    return not text or any(text.casefold() in candidate.casefold() for candidate in candidates if candidate)


def bar(shares: Shares | None, width: int) -> Text:
    """The shares as letters, each of its size; what is too small for a letter is left to its neighbours."""
    if shares is None:
        return Text("?" * width, style="dim")
    result = Text()
    filled = 0.0
    for letter, (name, word) in zip(_LETTERS, WORDS.items(), strict=True):
        begin = round(filled * width)
        filled += getattr(shares, name)
        result.append(letter * (round(filled * width) - begin), style=_STYLES[name] if word else "")
    result.append(" " * (width - len(result)))
    return result


def lines_of(look: Look, view: View, width: int, height: int) -> list[Text]:
    """The whole screen: at most `height` lines of at most `width` columns."""
    head = _head(look, view, width)
    foot = _foot(view)
    room = height - len(head) - len(foot)
    if view.has_help:
        middle = [Text(line) for line in HELP]
    else:
        parts = _parts(look, view)
        lanes = shown_lanes(look.lanes, view)
        # Lanes have what the other parts leave, and these leave a third at least.
        for_lanes = max(min(len(lanes) + 1, room - sum(map(len, parts))), room // 3, 2)
        middle = _lane_lines(look, lanes, view, width, for_lanes)
        for part in parts:
            left = room - len(middle)
            middle += part[:left] if left > 1 else []
    lines = head + middle[:room] + [Text()] * (room - len(middle)) + foot
    return [_fitted(line, width) for line in lines[:height]]


def _fitted(line: Text, width: int) -> Text:
    line.truncate(width, overflow="ellipsis")
    return line


def _plain(text: str, style: str = "") -> Text:
    return Text(printable(text), style=style)


def _head(look: Look, view: View, width: int) -> list[Text]:
    lines = []
    for process in look.processes[:4]:
        busy = "" if process.busy is None else f", {process.busy:.1f} busy lanes of {process.cpus:g} CPUs"
        rank = "" if process.rank is None else f"rank {process.rank} "
        line = f"{rank}{process.command}, process {process.pid}, {process.state} for {seconds(process.seconds)}{busy}"
        lines.append(_plain(line, "bold"))
    if len(look.processes) > 4:
        lines.append(_plain(f"and {len(look.processes) - 4} processes more"))
    own = "" if look.own_cpu_share is None else f", this command takes {percent(look.own_cpu_share)} of a CPU"
    paused = "paused, " if view.is_paused else ""
    shown = f"{paused}by {view.sort}" + (f", with '{view.text}'" if view.text else "")
    lines.append(_plain(f"{shown}, every {view.interval_s:g} s{own}"))
    lines += [_plain(problem, "red") for problem in look.problems[:2]]
    return lines


def _foot(view: View) -> list[Text]:
    if view.prompt is not None:
        return [_plain(f"{view.prompt}_", "bold")]
    lines = [_plain(view.message, "bold")] if view.message else []
    return [*lines, Text(_KEYS, style="dim")]


def _lane_lines(look: Look, lanes: list[LaneLook], view: View, width: int, most: int) -> list[Text]:
    is_wide = width >= _WIDE
    bar_width = 40 if is_wide else 20
    has_many = len({lane.process for lane in look.lanes}) > 1
    name_width = 24 if is_wide else 12
    title = f"{'lane':<{name_width}} {'share of the interval':<{bar_width}} {'busy':>5}  state"
    lines = [_plain(title, "underline")]
    top = min(view.top, max(len(lanes) - 1, 0))
    room = most - 1
    shown = lanes[top : top + room]
    left = len(lanes) - len(shown)
    if left and len(shown) == room:
        shown = shown[:-1]
        left += 1
    ranks = {
        process.id: process.rank if process.rank is not None else process.pid for process in look.processes
    }
    for lane in shown:
        place = f"{ranks.get(lane.process, '')}:" if has_many else ""
        name = _cut(printable(f"{place}{lane.lane} {lane.name}"), name_width)
        busy = "" if lane.shares is None else f"{lane.shares.busy * 100:.0f} %"
        line = Text(name + " " * (name_width - cell_len(name) + 1))
        line.append_text(bar(lane.shares, bar_width))
        line.append(f" {busy:>5}  ")
        line.append(WORDS.get(lane.state, lane.state), style=_STYLES.get(lane.state, ""))
        if lane.waits_for:
            line.append(f", for {', '.join(map(str, lane.waits_for))}")
        if lane.subject:
            line.append(f"  {printable(lane.subject)}")
        lines.append(line)
    if left:
        lines.append(_plain(f"{left} lanes more", "dim"))
    return lines


def _cut(text: str, width: int) -> str:
    cut = Text(text)
    cut.truncate(width)
    return cut.plain


def _parts(look: Look, view: View) -> list[list[Text]]:
    parts = [_subject_lines(look, view)]
    if "decisions" in view.parts:
        parts.append(_titled("decisions", [decision.text for decision in look.decisions[-5:]]))
    if "findings" in view.parts:
        parts.append(_finding_lines(look))
    if "knobs" in view.parts:
        names = [
            f"{knob.name} = {knob.value}{' (by hand)' if knob.is_by_hand else ' (on trial)' if knob.is_on_trial else ''}"
            for knob in look.knobs
            if knob.is_settable and matches(view.text, knob.name)
        ]
        parts.append(_titled("knobs", names))
    if "counters" in view.parts:
        parts.append(
            _titled(
                "counters",
                [
                    f"{counter.counter}  {counter.value:g} {counter.unit}"
                    + ("" if counter.per_s is None else f"  {counter.per_s:g} per second")
                    for counter in look.counters
                    if matches(view.text, counter.counter)
                ],
            )
        )
    return [part for part in parts if part]


def _titled(title: str, lines: list[str]) -> list[Text]:
    return [_plain(title, "underline"), *map(_plain, lines)] if lines else []


def _subject_lines(look: Look, view: View) -> list[Text]:
    shown = [
        subject for subject in look.subjects if subject.kind != "loop" and matches(view.text, subject.subject)
    ]
    lines = [
        f"{subject.seconds:8.3f} s  {subject.per_s:10.1f}  {subject.kind:<6}  {subject.subject}"
        for subject in shown[:6]
    ]
    return _titled(f"{'in a second':>10}  {'per second':>10}  what", lines)


def _finding_lines(look: Look) -> list[Text]:
    if look.findings is None:
        return []
    lines = []
    for finding in look.findings[:3]:
        place = f" at {finding.subject}" if finding.subject else ""
        lines.append(f"{finding.cause}{place} (up to {seconds(finding.gain_s)}): {finding.evidence}")
    return _titled("findings until now", lines or ["none"])


def plain_lines(look: Look, view: View) -> list[str]:
    """A look as lines for a pipe: whole, in no terminal's size."""
    lines = []
    for process in look.processes:
        busy = "" if process.busy is None else f"  {process.busy:.1f} busy"
        lines.append(f"{process.id}  {process.state}  {process.seconds:.1f} s{busy}  {process.command}")
    for lane in shown_lanes(look.lanes, view):
        shares = ""
        if lane.shares is not None:
            named = [(WORDS[name], getattr(lane.shares, name)) for name in WORDS]
            shares = ", ".join(f"{word} {percent(share)}" for word, share in named if share >= 0.005)
        waits_for = f" for {', '.join(map(str, lane.waits_for))}" if lane.waits_for else ""
        lines.append(
            f"{lane.process} lane {lane.lane} {lane.name}: {WORDS.get(lane.state, lane.state)}{waits_for}"
            f"{f' in {lane.subject}' if lane.subject else ''}{f' ({shares})' if shares else ''}"
        )
    for part in _parts(look, replace(view, parts=frozenset({"decisions", "findings", "knobs"}))):
        lines += [line.plain for line in part]
    return [*lines, *look.problems]
