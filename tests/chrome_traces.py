"""Chrome's trace events as tests look at them: with one entry for each slice."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any


def chrome_events(path: Path) -> list[dict[str, Any]]:
    """All events of a file; a begin and its end are one of phase X, which lasts `dur`, at the begin's place.

    On each track they come in order of time and properly nested, and an end has its begin's name, as all viewers want it.
    """
    parsed = json.loads(path.read_text(encoding="utf-8"))
    assert parsed["displayTimeUnit"] == "ns"
    result: list[dict[str, Any]] = []
    opened: dict[tuple[int, int], list[dict[str, Any]]] = defaultdict(list)
    latest: dict[tuple[int, int], float] = {}
    for event in parsed["traceEvents"]:
        if event["ph"] not in "BE":
            result.append(event)
            continue
        track = event["pid"], event["tid"]
        assert event["ts"] >= latest.get(track, event["ts"])
        latest[track] = event["ts"]
        if event["ph"] == "B":
            event["ph"] = "X"
            result.append(event)
            opened[track].append(event)
        else:
            begin = opened[track].pop()
            assert begin["name"] == event["name"] and begin["cat"] == event["cat"]
            begin["dur"] = round(event["ts"] - begin["ts"], 3)
    assert not any(opened.values())
    return result
