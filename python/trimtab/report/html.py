"""A report as one HTML page: the page that viewer/ builds, with the report's JSON inside."""

from __future__ import annotations

import errno
import json
import math
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from trimtab.escapes import printable
from trimtab.model.report import Report
from trimtab.model.report_json import as_json
from trimtab.report.lane_page import LanePage
from trimtab.whole_files import write_whole

_PAGE = Path(__file__).with_name("page.html")
_PLACE = "@@REPORT@@"
# Between the report and the script that reads it.
_BEHIND_REPORT = "</script>"
# A page with the figures of every lane of every region could have tens of megabytes: the largest regions come first.
_MOST_LANES = 50_000
# So could one with what each of hundreds of processes did over time: those with most CPU time have it.
_MOST_PROCESSES = 16
_DIGITS = 7
# Inside <script> nothing but "</script" and "<!--" means something to HTML; JSON can do without these characters.
_HTML = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}


def page(
    report: Report,
    lanes: LanePage | None = None,
    *,
    is_served: bool = False,
    compared_with: Report | None = None,
) -> str:
    """The whole page, with `lanes` over time if there are any; the same report gives the same bytes.

    Args:
        compared_with: the second of two runs (B), of which the page shows verdict, lanes and concurrency only.
        is_served: it may ask its server, and nobody else, for tiles.

    Raises:
        FileNotFoundError: the page was not built with this installation.
    """
    if not _PAGE.is_file():
        raise FileNotFoundError(
            errno.ENOENT, "the report page was not built: run ./x build, or npm in viewer/", str(_PAGE)
        )
    before, place, after = _PAGE.read_text(encoding="utf-8").partition(_PLACE)
    if not place:
        raise OSError(errno.EINVAL, f"expected {_PLACE} in the built page, found none", str(_PAGE))
    if is_served:
        before = before.replace("default-src 'none'", "default-src 'none'; connect-src 'self'", 1)
    end, behind, rest = after.partition(_BEHIND_REPORT)
    return before + _json(as_json(_bounded(report))) + end + behind + _elements(lanes, compared_with) + rest


def _elements(lanes: LanePage | None, compared_with: Report | None) -> str:
    """Further data as elements; base64 holds nothing that means something to HTML."""
    second = "" if compared_with is None else _element("report-b", _json(as_json(_bounded(compared_with))))
    if lanes is None:
        return second
    tiles = "".join(
        f'\n<script type="text/plain" id="tile-{name}">{text}</script>' for name, text in lanes.tiles.items()
    )
    return second + _element("lanes", _json(lanes.head)) + tiles


def _element(name: str, text: str) -> str:
    return f'\n<script type="application/json" id="{name}">{text}</script>'


def _json(value: Any) -> str:
    """ASCII: names of programs may hold anything, lone surrogates of undecodable bytes included."""
    text = json.dumps(_rounded(value), separators=(",", ":"), allow_nan=False)
    for character, escaped in _HTML.items():
        text = text.replace(character, escaped)
    return text


def _bounded(report: Report) -> Report:
    """`report` with lanes for its first regions only, and figures over time for some processes, as far as there is room."""
    room, regions = _MOST_LANES, []
    for region in report.regions:
        room -= len(region.lanes)
        regions.append(region if room >= 0 else replace(region, lanes=(), lanes_omitted=True))
    return replace(report, regions=tuple(regions), **_over_time(report))


def _over_time(report: Report) -> dict[str, Any]:
    """Timelines and counters of the processes that used most CPU time."""
    order = sorted(report.processes, key=lambda process: -process.cpu_s)
    kept = {process.id for process in order[:_MOST_PROCESSES]}
    if len(kept) == len(order):
        return {}
    return {
        "processes": tuple(
            process if process.id in kept else replace(process, timeline=None) for process in report.processes
        ),
        "counters": tuple(counter for counter in report.counters if counter.process in kept),
    }


def _rounded(value: Any) -> Any:
    """`value` with figures as exact as a page needs them, None for what JSON has no number for, and texts as they are shown."""
    if isinstance(value, dict):
        return {printable(key): _rounded(element) for key, element in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(element) for element in value]
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, float):
        return float(f"{value:.{_DIGITS}g}") if math.isfinite(value) else None
    return value


def write_html(
    report: Report, path: Path, lanes: LanePage | None = None, compared_with: Report | None = None
) -> None:
    """Write the page to `path`, whole or not at all."""
    write_whole(path, page(report, lanes, compared_with=compared_with).encode())
