"""OTF2 archives as the Python layer of the package otf2 reads and writes them, which shares no code with ours above the C library."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import otf2
from otf2.enums import LocationType, Paradigm, RegionRole
from otf2.events import Enter, Leave, MpiRecv, MpiSend


@dataclass
class Found:
    """What is in an archive."""

    count: Counter[type] = field(default_factory=Counter)
    inside_ns: int = 0
    """Sum of the lengths of all regions."""
    tasks: list[tuple[int, int]] = field(default_factory=list)
    """Lane and task of each Enter with a task, in the order of time."""
    messages: Counter[tuple[int, int]] = field(default_factory=Counter)
    """When they were sent and received."""
    regions: Counter[str] = field(default_factory=Counter)
    """Lengths by name, nanoseconds."""
    values: list[tuple[str, int, float]] = field(default_factory=list)
    """Metric, time and value."""


def open_archive(folder: Path) -> Found:
    """Everything of the archive in a folder; each Leave is of what was entered last, and times do not go back."""
    found = Found()
    opened: dict[Any, list[tuple[Any, int]]] = defaultdict(list)
    latest: dict[Any, int] = defaultdict(int)
    sent: dict[Any, list[int]] = defaultdict(list)
    received: dict[Any, list[int]] = defaultdict(list)
    with otf2.reader.open(str(folder / "traces.otf2")) as trace:
        ranks = _ranks(trace.definitions)
        for location, event in trace.events:
            found.count[type(event)] += 1
            assert event.time >= latest[location]
            latest[location] = event.time
            if isinstance(event, Enter):
                opened[location].append((event.region, event.time))
                tasks = {a.name: value for a, value in (event.attributes or {}).items()}
                if "task" in tasks and event.region.region_role == RegionRole.TASK:
                    found.tasks.append((int(location.name.split()[1].rstrip(":")), tasks["task"]))
            elif isinstance(event, Leave):
                region, begin = opened[location].pop()
                assert region is event.region
                found.inside_ns += event.time - begin
                found.regions[region.name] += event.time - begin
            elif isinstance(event, MpiSend):
                key = ranks[location.group], event.receiver, event.communicator, event.msg_tag
                sent[key].append(event.time)
            elif isinstance(event, MpiRecv):
                key = event.sender, ranks[location.group], event.communicator, event.msg_tag
                received[key].append(event.time)
            elif location.type == LocationType.METRIC:
                found.values.append((event.metric.metric_class.members[0].name, event.time, event.values[0]))
        assert not any(opened.values()), "regions are left open"
        assert [location.number_of_events for location in trace.definitions.locations]
    assert sent.keys() == received.keys()
    for key, times in sent.items():
        found.messages.update(zip(times, received[key], strict=True))
    return found


def _ranks(definitions: Any) -> dict[Any, int]:
    groups = [group for group in definitions.groups if group.paradigm == Paradigm.MPI]
    return {location.group: rank for group in groups[:1] for rank, location in enumerate(group.members)}
