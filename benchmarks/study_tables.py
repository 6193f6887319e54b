"""Results of the studies as tables, and their figures."""

from __future__ import annotations

from statistics import geometric_mean
from typing import Any

from benchmarks.tables import Results, machine, markdown

_NEAR = 1.1
# Of threads that fit: ideal / work done.
_WORK = "over_ideal"


def _of(results: Results, **wanted: Any) -> list[dict[str, Any]]:
    """Cases whose configurations have these values."""
    return [
        case
        for case in results["cases"]
        if all(case["configuration"][name] == value for name, value in wanted.items())
    ]


def _values(results: Results, factor: str) -> list[Any]:
    """In the experiment's order."""
    return list(dict.fromkeys(case["configuration"][factor] for case in results["cases"]))


def _median(case: dict[str, Any], metric: str) -> float:
    return float(case["metrics"][metric][0])


def _spread(case: dict[str, Any], metric: str, digits: int = 2) -> str:
    median, quarter, three_quarters = case["metrics"][metric]
    return f"{median:.{digits}f} ({quarter:.{digits}f}-{three_quarters:.{digits}f})"


def _size(count: float) -> str:
    """160, 16 k, 5 M.

    Example:
        >>> _size(160), _size(50_596), _size(1_600_000)
        ('160', '51 k', '1.6 M')
    """
    for unit, letter in ((1_000_000, " M"), (1_000, " k")):
        if count >= unit:
            return f"{count / unit:.2g}{letter}" if count < 100 * unit else f"{count / unit:.0f}{letter}"
    return f"{count:g}"


def study_run(results: Results) -> str:
    """How it was run."""
    runs, fixed = results["runs"], results["fixed"]
    fixed_text = ", ".join(f"{name} = {_size(value)}" for name, value in fixed.items())
    repeated = f", {runs['repeated']} made again because others disturbed them" if runs["repeated"] else ""
    variant = f" --variant {results['variant']}" if results["variant"] else ""
    completed = (
        f"{runs['done']} of {runs['planned']}" if runs["done"] < runs["planned"] else str(runs["done"])
    )
    still = f", {runs['disturbed']} still disturbed" if runs["disturbed"] else ""
    return "\n".join(
        [
            f"    trimtab sweep docs/experiments/{results['file']}{variant}",
            "",
            machine(results),
            f"- {len(results['cases'])} configurations, {results['samples']} samples each, in random order: {completed}"
            f" runs{repeated}{still}{'; ' if fixed_text else ''}{fixed_text}",
        ]
    )


def study_figures(results: Results) -> str:
    """All of them; of what could not be measured it says so."""
    parts = []
    for figure in results["figures"]:
        if figure["file"]:
            parts.append(f"![{figure['title']}: {figure['what']}](figures/{figure['file']})")
        else:
            reason = (
                ": this processor's counters cannot be read here" if figure["y"] == "cache_misses" else ""
            )
            parts.append(f"*{figure['title']}*: not available{reason}.")
    return "\n\n".join(parts)


def _best(results: Results, workers: int, policy: str) -> dict[str, Any]:
    return min(_of(results, workers=workers, policy=policy), key=lambda case: _median(case, "time_s"))


def grain_best(results: Results) -> str:
    """The best time of each policy, with what the runtime's counters say there."""
    as_good = {str(entry["configuration"]): entry["as_good"] for entry in results["best"]}
    rows = []
    for workers in _values(results, "workers"):
        result = [_best(results, workers, policy) for policy in _values(results, "policy")]
        smallest = min(_median(case, "time_s") for case in result)
        for case in result:
            at = case["configuration"]
            rows.append(
                [
                    str(workers),
                    at["policy"],
                    _size(at["partition"]),
                    _spread(case, "time_s", 3),
                    f"{_median(case, 'time_s') / smallest:.2f}",
                    f"{_median(case, 'idle_rate'):.1%}",
                    f"{_median(case, 'phase_duration_us'):.4g}",
                    f"{_median(case, 'task_length_us'):.4g}",
                    f"{_median(case, 'lups') / 1e6:.0f}",
                    str(as_good.get(str(at), "")),
                ]
            )
    head = [
        "workers",
        "policy",
        "grain",
        "time, s (quartiles)",
        "/ best policy",
        "idle rate",
        "phase, us",
        "task, us",
    ]
    return markdown([*head, "M updates/s", "grains as good"], rows)


def _around(grains: list[int], times: dict[int, float], smallest: float) -> list[int]:
    """The grains beside the best one, at both sides, up to the first that is slower by a tenth."""
    at = next(place for place, grain in enumerate(grains) if times[grain] == smallest)
    low = high = at
    while low > 0 and times[grains[low - 1]] <= _NEAR * smallest:
        low -= 1
    while high + 1 < len(grains) and times[grains[high + 1]] <= _NEAR * smallest:
        high += 1
    return grains[low : high + 1]


def grain_ends(results: Results) -> str:
    """What the smallest and the largest partitions cost, and how wide the range between is."""
    rows = []
    grains = _values(results, "partition")
    for workers in _values(results, "workers"):
        for policy in _values(results, "policy"):
            times = {
                case["configuration"]["partition"]: _median(case, "time_s")
                for case in _of(results, workers=workers, policy=policy)
            }
            smallest = min(times.values())
            nearby = _around(grains, times, smallest)
            ends = [_of(results, workers=workers, policy=policy, partition=grains[at])[0] for at in (0, -1)]
            rows.append(
                [
                    str(workers),
                    policy,
                    *(
                        text
                        for end in ends
                        for text in (
                            f"{_median(end, 'time_s') / smallest:.2f}",
                            f"{_median(end, 'idle_rate'):.1%}",
                        )
                    ),
                    f"{_size(nearby[0])} to {_size(nearby[-1])}",
                ]
            )
    small, large = _size(grains[0]), _size(grains[-1])
    head = ["workers", "policy", f"time at {small} / best", f"idle rate at {small}"]
    return markdown(
        [*head, f"time at {large} / best", f"idle rate at {large}", "within 10 % of the best"], rows
    )


def _situation(at: dict[str, Any]) -> str:
    if at["copies"] > 1:
        return f"copies: {at['copies']}"
    return {"none": "alone", "serial": "beside a serial job", "changing": "beside changing load"}[
        at["beside"]
    ]


def _groups(results: Results) -> dict[tuple[str, str, str], dict[str, dict[str, Any]]]:
    """Cases that differ in their threads alone: situation, how threads wait, grain."""
    result: dict[tuple[str, str, str], dict[str, dict[str, Any]]] = {}
    order = sorted(
        results["cases"],
        key=lambda case: (
            case["configuration"]["copies"],
            ["none", "serial", "changing"].index(case["configuration"]["beside"]),
        ),
    )
    for case in order:
        at = case["configuration"]
        key = (_situation(at), {"ACTIVE": "spin", "PASSIVE": "sleep"}[at["wait"]], _size(at["grain"]))
        result.setdefault(key, {})[at["threads"]] = case
    return result


def _by_threads(results: Results, metric: str) -> str:
    policies = _values(results, "threads")
    rows = []
    for key, cases in _groups(results).items():
        # A sweep that was stopped has some of them.
        measured = {policy: case for policy, case in cases.items() if metric in case["metrics"]}
        if not measured:
            continue
        smallest = min(_median(case, metric) for case in measured.values())
        cells = []
        for policy in policies:
            text = _spread(measured[policy], metric) if policy in measured else ""
            is_best = policy in measured and _median(measured[policy], metric) <= 1.02 * smallest
            cells.append(f"{text} *" if is_best else text)
        rows.append([*key, *cells])
    return markdown(["", "threads", "grain", *policies], rows)


def threads_means(results: Results) -> str:
    """Geometric means over the lines of a situation, of lines that all kinds of threads have: ideal / work done, and the job's."""
    policies = _values(results, "threads")
    rows = []
    for metric, name in ((_WORK, "{}"), ("job_slowdown", "{}: the job"), ("cpu_time_ratio", "{}: CPU time")):
        result: dict[tuple[str, str], list[list[float]]] = {}
        for (situation, wait, _), cases in _groups(results).items():
            if all(policy in cases and metric in cases[policy]["metrics"] for policy in policies):
                line = [_median(cases[policy], metric) for policy in policies]
                title = name.format(situation.partition(":")[0])
                result.setdefault((title, wait), []).append(line)
                result.setdefault((name.format("in all"), ""), []).append(line)
        result = dict(sorted(result.items(), key=lambda entry: entry[0][1] == ""))
        for (title, wait), lines in result.items():
            means = [f"{geometric_mean(column):.2f}" for column in zip(*lines, strict=True)]
            rows.append([title, wait, str(len(lines)), *means])
    return markdown(["", "threads", "lines", *policies], rows)


def threads_work(results: Results) -> str:
    """Ideal / work done, for each kind of threads."""
    return _by_threads(results, _WORK)


def threads_job(results: Results) -> str:
    """What becomes of the serial job."""
    return _by_threads(results, "job_slowdown")


def threads_cpu(results: Results) -> str:
    """What the same work takes of CPU time, compared with one thread alone."""
    is_measured = any("cpu_time_ratio" in case["metrics"] for case in results["cases"])
    return _by_threads(results, "cpu_time_ratio") if is_measured else "Not measured in this run."


def threads_copies(results: Results) -> str:
    """Copies, against as many single-threaded ones."""
    policies = [value for value in _values(results, "threads") if value != "one"]
    rows = []
    for key, cases in _groups(results).items():
        completed = {
            policy: _median(case, _WORK) for policy, case in cases.items() if _WORK in case["metrics"]
        }
        if "copies" in key[0] and "one" in completed:
            ratios = [
                f"{completed[policy] / completed['one']:.2f}" if policy in completed else ""
                for policy in policies
            ]
            rows.append([*key, *ratios])
    return markdown(["", "threads", "grain", *(f"{policy} / one" for policy in policies)], rows)


GRAIN_BLOCKS = {
    "study-run": study_run,
    "grain-best": grain_best,
    "grain-ends": grain_ends,
    "study-figures": study_figures,
}
THREADS_BLOCKS = {
    "study-run": study_run,
    "threads-means": threads_means,
    "threads-work": threads_work,
    "threads-job": threads_job,
    "threads-cpu": threads_cpu,
    "threads-copies": threads_copies,
    "study-figures": study_figures,
}
