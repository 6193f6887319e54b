"""Start values of OpenMP's runtimes: how threads wait, how many there are, and where they run."""

from __future__ import annotations

from trimtab.analysis.thread_scaling import reason_for_fewer_threads
from trimtab.model.enumerations import BlameCause, Cause
from trimtab.tuning.multi_run import Start
from trimtab.tuning.start import PLACEMENT_VARIABLES, THREAD_VARIABLES, WAITING_VARIABLES
from trimtab.tuning.start_situation import WIDE, Situation

# Of the core time: from here on waiting for a CPU, waking threads and starting regions are worth a trial.
_MUCH_DELAY = 0.03
_MUCH_WAKING = 0.02
_MUCH_MANAGING = 0.1
_MUCH_WAITING = 0.3
# Threads for each CPU, offered to a program that asks for a share of them.
_MOST_OFFERED = 4
# A second and thread: the kernel balances its queues a few times a second whatever a program does.
_MANY_MIGRATIONS = 10.0
# Shorter than the standard of both runtimes, by runtime: threads spin through short gaps and sleep in long ones. For
# libgomp, about 15 us; for the others, milliseconds.
_SHORT_SPIN = {
    "libgomp": {"GOMP_SPINCOUNT": "1000"},
    "libomp": {"KMP_BLOCKTIME": "1"},
    "libiomp5": {"KMP_BLOCKTIME": "1"},
}


def waiting_starts(situation: Situation) -> list[Start]:
    """Sleep at once, sleep soon, or never."""
    if not (_has_regions(situation) and situation.is_open(*WAITING_VARIABLES)):
        return []
    starts = []
    if sleeping := _reason_to_sleep(situation):
        starts.append(Start({"OMP_WAIT_POLICY": "passive"}, sleeping))
        starts += [Start(values, sleeping) for values in _short_spins(situation)]
    if spinning := _reason_to_spin(situation):
        starts.append(Start({"OMP_WAIT_POLICY": "active"}, spinning))
    return starts


def thread_count_starts(situation: Situation) -> list[Start]:
    """Fewer threads, or one for each CPU."""
    if not (_has_regions(situation) and situation.is_open(*THREAD_VARIABLES)):
        return []
    threads = situation.report.threads or 0
    reasons: dict[int, str] = {}
    for count, reason in _thread_counts(situation, threads):
        if count >= 1 and count != threads:
            reasons.setdefault(count, reason)
    return [Start({"OMP_NUM_THREADS": str(count)}, reason) for count, reason in reasons.items()]


def placement_starts(situation: Situation) -> list[Start]:
    """Each thread on a place of its own, where it stays."""
    report = situation.report
    threads = report.threads or 0
    if not (_has_regions(situation) and situation.is_open(*PLACEMENT_VARIABLES)) or threads < 2:
        return []
    reason = _reason_to_bind(situation, threads)
    if not reason:
        return []
    if threads >= int(situation.cpus):
        return [_bound("true", "threads", reason)]
    # Some CPUs are free: a core, its caches and its share of the memory's bandwidth for each thread, or neighbours.
    return [_bound("spread", "cores", reason), _bound("close", "cores", reason)]


def _bound(policy: str, places: str, reason: str) -> Start:
    return Start({"OMP_PROC_BIND": policy, "OMP_PLACES": places}, reason)


def _has_regions(situation: Situation) -> bool:
    """To a program of tasks alone, or of Spark, whose regions are stages, OpenMP's variables are nothing."""
    report = situation.report
    return report.spark is None and (bool(report.regions) or not report.workers)


def _short_spins(situation: Situation) -> list[dict[str, str]]:
    runtimes = {region.runtime for region in situation.report.regions}
    unique = {tuple(values.items()): values for runtime, values in _SHORT_SPIN.items() if runtime in runtimes}
    return list(unique.values())


def _reason_to_sleep(situation: Situation) -> str:
    delay = situation.share("run_delay")
    if delay > _MUCH_DELAY:
        return _delayed(delay)
    finding = situation.finding_of(Cause.WAIT_POLICY, Cause.OVERSUBSCRIPTION)
    if finding is not None:
        return finding.evidence
    return WIDE if situation.is_wide else ""


def _reason_to_spin(situation: Situation) -> str:
    managing = situation.share("runtime") + situation.share("arrival")
    waking = situation.blamed_share(BlameCause.WAKEUP_LATENCY)
    if managing > _MUCH_MANAGING:
        return f"starting regions took {managing:.0%} of the time"
    if waking > _MUCH_WAKING:
        return f"threads took {waking:.0%} of the time to wake up"
    finding = situation.finding_of(Cause.LATE_WAKE_UPS, Cause.SMALL_REGIONS)
    if finding is not None:
        return finding.evidence
    return WIDE if situation.is_wide else ""


def _thread_counts(situation: Situation, threads: int) -> list[tuple[int, str]]:
    counts: list[tuple[int, str]] = []
    cpus, delay = max(1, int(situation.cpus)), situation.share("run_delay")
    lost = situation.share("runtime") + situation.share("arrival") + situation.share("barrier_wait")
    few = situation.finding_of(Cause.FEW_THREADS)
    if threads > situation.cpus:
        counts.append((cpus, f"{threads} threads for {situation.cpus:g} CPUs"))
    elif few is not None and 1 <= threads < cpus:
        # Runtimes offer a thread for each CPU, and the program asks for fewer: for all but some, or, as ImageMagick does, for a
        # share that depends on the size of its data. If it is offered more, it asks for as many as there are CPUs.
        of_share = min(cpus * cpus // threads, _MOST_OFFERED * cpus)
        counts += [(2 * cpus - threads, few.evidence), (of_share, few.evidence)]
    if delay > _MUCH_DELAY:
        counts.append((threads - 1, _delayed(delay)))
    if situation.fewer is not None and (
        shared := reason_for_fewer_threads(situation.report, situation.fewer)
    ):
        counts.append((situation.fewer.threads or 1, shared))
    if lost > _MUCH_WAITING or situation.is_wide:
        reason = f"waiting and starting regions took {lost:.0%} of the time"
        counts += [(threads // 2, reason), (1, reason)]
    return counts


def _reason_to_bind(situation: Situation, threads: int) -> str:
    system, seconds = situation.report.os, situation.report.observed_s
    if situation.is_wide:
        return WIDE
    # Several processes that each bind their threads to the first CPUs get in each other's way.
    taking_part = [process for process in situation.report.processes if process.takes_part]
    if len(taking_part) > 1 or threads > situation.cpus or not system.migrations or seconds <= 0:
        return ""
    rate = system.migrations / seconds / threads
    return (
        f"each thread changed its CPU {rate:.3g} times a second, {system.migrations} times in all"
        if rate > _MANY_MIGRATIONS
        else ""
    )


def _delayed(share: float) -> str:
    return f"threads waited for a CPU {share:.0%} of the time"
