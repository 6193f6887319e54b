"""What the power meters of a run's machines counted."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from trimtab.analysis.process_report import ProcessReport
from trimtab.analysis.samples import samples_of, seconds_of
from trimtab.model.report import Energy

# A package has meters of its parts, too; `psys` counts the packages again, and more.
_WHOLE_MACHINES = (r"energy package-\d+", r"energy psys", r"energy simulated")


def energy_of(processes: Sequence[ProcessReport]) -> Energy | None:
    """Of every host that of the process that counted longest: they all read the same meters."""
    by_host: dict[str | None, tuple[float, float, tuple[str, ...]]] = {}
    for process in processes:
        seconds, joules, meters = _of_process(process)
        host = process.trace.host
        if meters and seconds >= by_host.get(host, (0.0, 0.0, ()))[0]:
            by_host[host] = (seconds, joules, meters)
    if not by_host:
        return None
    longest = max(seconds for seconds, _, _ in by_host.values())
    total = sum(joules for _, joules, _ in by_host.values())
    return Energy(
        meters=tuple(dict.fromkeys(meter for _, _, meters in by_host.values() for meter in meters)),
        seconds=longest,
        joules=total,
        watts=total / longest if longest > 0 else None,
        joule_seconds=total * longest,
    )


def _of_process(process: ProcessReport) -> tuple[float, float, tuple[str, ...]]:
    """Seconds, joules and names of its meters; no names: it could read none."""
    records = process.process
    numbers = _meters([(number, counter.name) for number, counter in records.counters.items()])
    seconds, joules, names = 0.0, 0.0, []
    for number in numbers:
        samples = samples_of(records, [number])
        if len(samples):
            seconds = max(seconds, float(seconds_of(records, samples["ticks"]).max()))
            joules += float(samples["value"].max())
            names.append(records.counters[number].name)
    return seconds, joules, tuple(names)


def _meters(counters: Iterable[tuple[int, str]]) -> list[int]:
    known = list(counters)
    for pattern in _WHOLE_MACHINES:
        numbers = [number for number, name in known if re.fullmatch(pattern, name)]
        if numbers:
            return numbers
    return []
