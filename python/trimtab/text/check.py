"""What `trimtab check` found, as a table and a verdict."""

from __future__ import annotations

from typing import Any

from rich.markup import escape

from trimtab.counted import counted
from trimtab.text.console import output, table
from trimtab.text.units import seconds


def check_table(answers: dict[str, Any]) -> None:
    """On standard output; what a script reads is the exit code, or the JSON."""
    console = output()
    plain, tuned = answers["plain"], answers["tuned"]
    rows = table("", "plain", "tuned", "", title=f"{plain['runs']} plain and {tuned['runs']} tuned runs")
    for item in answers["items"]:
        rows.add_row(
            escape(item["what"]), escape(item["plain"]), escape(item["tuned"]), escape(_verdict(item))
        )
    rows.add_row("time", seconds(plain["wall_s"]), seconds(tuned["wall_s"]), "not compared")
    console.print(rows)
    for item in answers["items"]:
        for line in _differences(item):
            console.print(escape(line), soft_wrap=True)
    for note in answers["notes"]:
        console.print(escape(note.removeprefix("trimtab: ")), soft_wrap=True)
    console.print(escape(_changes(tuned)), soft_wrap=True)
    console.print(f"[bold]{_conclusion(answers)}[/]", soft_wrap=True)


def _verdict(item: dict[str, Any]) -> str:
    if item["verdict"] == "differs":
        place = item["places"][0]
        return f"DIFFERS at {place['unit']} {place['number']}"
    if item["verdict"] == "within tolerance":
        return f"within tolerance, largest difference {item['largest_difference']['relative']:.2g}"
    if item["verdict"] == "differs by itself":
        if item["is_unchecked"]:
            return "differs by itself: not compared"
        parts = item["by_itself"]
        first = "" if item["first_by_itself"] is None else f" (first: {item['first_by_itself']})"
        return f"same but for {counted(parts, 'place')} where plain runs differ, too{first}"
    return "same"


def _differences(item: dict[str, Any]) -> list[str]:
    if item["verdict"] != "differs":
        return []
    lines = [f"{item['what']}: differs in {item['differing_runs']} of {item['tuned_runs']} tuned runs"]
    for place in item["places"]:
        lines.append(f"  {place['unit']} {place['number']}: expected {_shown(place['expected'])}")
        lines.append(
            f"{'found':>{len(lines[-1]) - len(_shown(place['expected'])) - 1}} {_shown(place['found'])}"
        )
    further = item["differences"] - len(item["places"])
    if further > 0:
        lines.append(f"  and {further} more")
    if item["hint"]:
        lines.append(f"  -> {item['hint']}")
    return lines


def _shown(text: str | None) -> str:
    return "(nothing)" if text is None else text


def _changes(tuned: dict[str, Any]) -> str:
    if not tuned["recorded"]:
        return "no tuned run could be recorded, so that nothing was changed: this proves nothing"
    if not tuned["kept"] and not tuned["tried"]:
        return "nothing was changed in the tuned runs: this proves little; run longer or use --budget"
    return (
        f"{counted(tuned['kept'], 'change')} kept in {tuned['recorded']} tuned runs, {tuned['tried']} tried"
    )


def _conclusion(answers: dict[str, Any]) -> str:
    return (
        "the tuned runs do the same" if answers["is_same"] else "DIFFERS: the tuned runs do not do the same"
    )
