"""A report as one HTML page. Static: every figure is in the markup, nothing is loaded, no script runs."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from pathlib import Path
from typing import Any

_SHARES = {
    "work": ("work", "lanes doing the program's own work"),
    "barrier_wait": (
        "barrier wait",
        "lanes waiting for others: barriers, locks, taskwait, the end of a region",
    ),
    "arrival": ("arrival", "from the fork until a lane starts its part"),
    "serial": ("serial", "cores for which the program had no thread in a parallel region"),
    "run_delay": ("run delay", "lanes that wanted a CPU and got none"),
    "runtime": ("runtime and tool", "forking, joining and handing out work"),
    "unattributed": ("unattributed", "the rest: blocked, or not seen"),
}
_MOST_REGIONS = 200
_MOST_LANES = 64

_STYLE = """
:root { --fg:#1b1f24; --soft:#5b6570; --bg:#fff; --card:#f5f7f9; --line:#d8dee4; --c0:#2f7d4f; --c1:#c4622d; --c2:#d9a441;
  --c3:#8a94a0; --c4:#a33b5c; --c5:#5b6fb0; --c6:#c9d0d8; --c7:#3a8fa3; --c8:#7a5ea8; --c9:#b58a4c; --c10:#5f8f3f; --c11:#a06060; }
@media (prefers-color-scheme: dark) { :root { --fg:#e6e9ec; --soft:#9aa4ae; --bg:#14171a; --card:#1e2226; --line:#333a41;
  --c6:#4a525a; } }
* { box-sizing:border-box } body { margin:0 auto; max-width:1100px; padding:24px; font:15px/1.5 system-ui,sans-serif;
  color:var(--fg); background:var(--bg) } h1 { font-size:20px; margin:0 0 4px; overflow-wrap:anywhere } h2 { font-size:16px; margin:32px 0 8px }
.soft { color:var(--soft) } .big { font-size:44px; font-weight:650; line-height:1.1 } .bar { display:flex; height:26px; border-radius:5px;
  overflow:hidden; background:var(--c6) } .bar i { display:block; height:100% } .legend { display:flex; flex-wrap:wrap; gap:4px 18px; margin:8px 0 }
.legend b { display:inline-block; width:11px; height:11px; border-radius:2px; margin-right:6px } .card { background:var(--card); border-left:4px solid
  var(--c1); border-radius:5px; padding:10px 14px; margin:10px 0 } table { border-collapse:collapse; width:100%; font-variant-numeric:tabular-nums }
th { text-align:left; font-weight:600; color:var(--soft); font-size:13px } th,td { padding:5px 10px 5px 0; border-bottom:1px solid var(--line);
  vertical-align:top } td.n, th.n { text-align:right } .wide { overflow-x:auto } svg { width:100%; height:auto; background:var(--card); border-radius:5px }
summary { cursor:pointer } .lane { display:grid; grid-template-columns:70px 1fr; gap:8px; align-items:center; margin:3px 0 } .lane .bar { height:14px }
@media print { details { display:block } body { max-width:none } }
"""


def _s(value: float | None) -> str:
    if value is None:
        return "not available"
    if abs(value) >= 1:
        return f"{value:.3g} s"
    return f"{value * 1e3:.3g} ms" if abs(value) >= 1e-3 else f"{value * 1e6:.3g} us"


def _bar(parts: Iterable[tuple[float, str, str]]) -> str:
    cells = "".join(
        f'<i style="width:{max(share, 0) * 100:.3f}%;background:var(--c{colour})" title="{escape(title)}"></i>'
        for share, colour, title in parts
    )
    return f'<div class="bar">{cells}</div>'


def _verdict(report: dict[str, Any]) -> str:
    if report["time"] is None:
        return f"<p>{escape(report['unavailable'][0]['why'])}</p>"
    shares = list(report["time"].items())
    bar = _bar(
        (share, str(at), f"{_SHARES[name][0]} {share:.1%}: {_SHARES[name][1]}")
        for at, (name, share) in enumerate(shares)
    )
    legend = "".join(
        f'<span title="{escape(_SHARES[name][1])}"><b style="background:var(--c{at})"></b>{_SHARES[name][0]} {share:.1%}</span>'
        for at, (name, share) in enumerate(shares)
    )
    return (
        f'<p><span class="big">{report["efficiency"]:.0%}</span> of the time of {report["cpus_available"]:g} CPUs '
        f'over {_s(report["observed_s"])} was work ({report["threads"]} threads).</p>{bar}<div class="legend">{legend}</div>'
    )


def _findings(report: dict[str, Any]) -> str:
    if not report["findings"]:
        return "<p>Nothing found that would give back 1 % of the time or more.</p>"
    return "".join(
        f'<div class="card"><b>{escape(each["cause"])}</b> {escape(each["subject"] or "")} '
        f'<span class="soft">up to {_s(each["gain_s"])}</span><br>{escape(each["evidence"])}<br>&rarr; {escape(each["action"])}</div>'
        for each in report["findings"]
    )


def _timeline(report: dict[str, Any]) -> str:
    line = report["timeline"]
    if not line or not line["series"]:
        return "<p class=soft>Not recorded: no region was seen, or its events were not kept (record with --trace).</p>"
    width, height = 1000, 220
    bins = len(line["series"][0]["lanes"])
    top = max(
        max((sum(values) for values in zip(*(s["lanes"] for s in line["series"]), strict=True)), default=1.0),
        1.0,
    )
    below = [0.0] * bins
    shapes, legend = [], []
    for at, series in enumerate(line["series"]):
        above = [low + value for low, value in zip(below, series["lanes"], strict=True)]
        forth = " ".join(
            f"{x * width / bins:.1f},{height - v / top * (height - 10):.1f}" for x, v in enumerate(above)
        )
        back = " ".join(
            f"{x * width / bins:.1f},{height - v / top * (height - 10):.1f}"
            for x, v in reversed(list(enumerate(below)))
        )
        colour = f"var(--c{at % 12})"
        shapes.append(
            f'<polygon points="{forth} {back}" fill="{colour}"><title>{escape(series["name"])}</title></polygon>'
        )
        legend.append(f'<span><b style="background:{colour}"></b>{escape(series["name"])}</span>')
        below = above
    note = ""
    if line["source"] != "all events":
        note = f'<p class="soft">From the flight recorder: complete from {_s(line["from_s"])} on. Record with --trace for all of it.</p>'
    return (
        f'<svg viewBox="0 0 {width} {height + 22}" role="img" aria-label="lanes at work over time">{"".join(shapes)}'
        f'<text x="4" y="14" font-size="12" fill="currentColor">{top:.3g} lanes at work</text>'
        f'<text x="4" y="{height + 16}" font-size="12" fill="currentColor">0 s</text>'
        f'<text x="{width - 4}" y="{height + 16}" font-size="12" text-anchor="end" fill="currentColor">'
        f"{_s(line['dt_s'] * bins)}</text></svg><div class=legend>{''.join(legend)}</div>{note}"
    )


def _region(region: dict[str, Any]) -> str:
    cells = [
        region["calls"],
        region["threads"],
        _s(region["wall_s"]),
        _s(region["work_s"]),
        _s(region["wait_s"]),
        f"{region['imbalance']:.2f}" if region["imbalance"] else "",
        " ".join(str(part) for part in (region["schedule"], region["chunk"]) if part),
        region["iterations"] if region["iterations"] is not None else "",
    ]
    longest = (
        max((lane["work_s"] + lane["wait_s"] + lane["arrival_s"] for lane in region["lanes"]), default=0) or 1
    )
    lanes = "".join(
        f'<div class="lane"><span>lane {lane["lane"]}</span>'
        + _bar(
            (lane[key] / longest, colour, f"{name} {_s(lane[key])}")
            for key, colour, name in (
                ("work_s", "0", "work"),
                ("wait_s", "1", "wait"),
                ("arrival_s", "2", "arrival"),
            )
        )
        + "</div>"
        for lane in region["lanes"][:_MOST_LANES]
    )
    more = len(region["lanes"]) - _MOST_LANES
    rest = f'<p class="soft">and {more} more lanes</p>' if more > 0 else ""
    return (
        f"<tr><td><details><summary>{escape(region['name'][:300])}</summary>{lanes}{rest}</details></td>"
        + "".join(f'<td class="n">{escape(str(cell))}</td>' for cell in cells)
        + "</tr>"
    )


def _regions(report: dict[str, Any]) -> str:
    if not report["regions"]:
        return "<p class=soft>No parallel region was seen.</p>"
    heads = ("calls", "threads", "wall", "work", "wait", "imbalance", "schedule", "iterations")
    rows = "".join(_region(region) for region in report["regions"][:_MOST_REGIONS])
    more = len(report["regions"]) - _MOST_REGIONS
    rest = f"<p class=soft>and {more} more regions, with less time each</p>" if more > 0 else ""
    return (
        "<div class=wide><table><tr><th>region</th>"
        + "".join(f'<th class="n">{head}</th>' for head in heads)
        + f"</tr>{rows}</table></div>{rest}"
    )


def _load(report: dict[str, Any]) -> str:
    os = report["os"]
    rows = [
        ("run delay", _s(os["run_delay_s"])),
        ("switches, voluntary", os["switches_voluntary"]),
        ("switches, involuntary", os["switches_involuntary"]),
        ("preemptions", os["preemptions"]),
        ("migrations", os["migrations"]),
        ("CPU time of the process", _s(os["cpu_s"])),
    ]
    own = report["overhead"]
    rows.append(
        (
            "own cost of trimtab",
            f"{own['share']:.2%} of core time, {own['events']} events, {own['dropped']} dropped",
        )
    )
    return (
        "<table>"
        + "".join(
            f"<tr><td>{name}</td><td>{escape(str('not available' if value is None else value))}</td></tr>"
            for name, value in rows
        )
        + "</table>"
    )


def page(report: dict[str, Any]) -> str:
    """The whole page; the same report gives the same bytes."""
    missing = "".join(
        f"<li>{escape(each['what'])}: {escape(each['why'])}. <i>{escape(each['remedy'])}</i></li>"
        for each in report["unavailable"]
    )
    machine = ", ".join(
        f"{escape(str(key))} {escape(str(value))}" for key, value in report["machine"].items()
    )
    end = report["exit"]
    how = f"killed by {end['signal']}" if end["signal"] else f"exit code {end['code']}"
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        '<meta name="viewport" content="width=device-width">'
        f"<title>trimtab: {escape(str(report['program']))}</title><style>{_STYLE}</style></head><body>"
        f"<h1>{escape(' '.join(report['command']))}</h1><p class=soft>{_s(report['wall_s'])}, {how}, level {escape(report['level'])}</p>"
        f"{_verdict(report)}<h2>Findings</h2>{_findings(report)}<h2>Lanes at work over time</h2>{_timeline(report)}"
        f"<h2>Regions</h2>{_regions(report)}<h2>System and own cost</h2>{_load(report)}"
        f"<h2>Not available</h2><ul>{missing or '<li>nothing is missing</li>'}</ul>"
        f"<h2>Machine</h2><p class=soft>{machine}</p></body></html>\n"
    )


def write_html(report: dict[str, Any], path: Path) -> None:
    """Write the page to `path`, whole or not at all."""
    part = path.with_name(path.name + ".part")
    part.write_text(page(report), encoding="utf-8")
    part.replace(path)
