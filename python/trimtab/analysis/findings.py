"""Causes of lost core time, each with evidence, an action and the time it could give back.

A finding's gain_s is wall time of the program, by the formula in its function (docs/reference/metrics.md, "Findings").
"""

from __future__ import annotations

from collections.abc import Sequence

from trimtab.analysis.account import Account
from trimtab.analysis.advice import SELF_SCHEDULED, balance_advice, ordered_advice
from trimtab.counted import counted
from trimtab.model import WAITS
from trimtab.model.enumerations import Cause, WaitKind
from trimtab.model.report import Finding, Region

# Of the wall time: a thread that is off its CPU for less waits for what nobody can avoid.
_MUCH_BLOCKED = 0.05
# Below these a cause is noise: share of the program's wall time, and imbalance as slowest over mean.
_LEAST_GAIN_SHARE = 0.01
_IMBALANCE = 1.10
_SMALL_REGION_S = 20e-6
# One more chunk, where two threads ask: `./x bench --only chunk`, column "bare" at two threads. LLVM's runtimes steal
# chunks from each other's share under a lock.
_DISPATCH_S = {"libgomp": 0.05e-6}
_DISPATCH_BY_STEALING_S = 0.5e-6


def findings(
    account: Account,
    regions: list[Region],
    threads: int,
    throttled_s: float | None,
    quota: float,
    of_tasks: Sequence[Finding] = (),
) -> list[Finding]:
    """All that apply and would give back at least 1 % of the wall time, largest gain first.

    `of_tasks`: those of task runtimes, messages and memory.
    """
    throttled = throttled_s or 0.0
    findings = [
        *_imbalance(regions, account.run_delay_s),
        *_too_small(regions),
        *_locks(regions),
        *ordered_findings(regions),
        *_oversubscribed(account, threads, quota, bool(regions)),
        *_other_load(account, threads, throttled),
        *_throttled(account, threads, throttled, quota),
        *_spinning(account, threads),
        *_small_chunks(regions),
        *_serial(account, regions),
        *_serial_input(account, regions),
        *_few_threads(account, regions),
        *of_tasks,
    ]
    least_gain_s = _LEAST_GAIN_SHARE * account.wall_s
    return sorted(
        (finding for finding in findings if finding.gain_s >= least_gain_s),
        key=lambda finding: -finding.gain_s,
    )


def finding(cause: Cause, subject: str | None, evidence: str, action: str, gain_s: float) -> Finding:
    """One finding; whose it is comes with the whole job (`job_findings`)."""
    return Finding(cause, subject, evidence, action, gain_s, (), 0.0, gain_s, (), None)


def _imbalance(regions: list[Region], run_delay_s: float) -> list[Finding]:
    """gain = sum over instances of (slowest lane's work - mean work): what a perfect balance would save.

    Not what waiting for a CPU explains: work is wall time, and who waits looks slow. But it explains only what was
    another lane's turn each time, not that the same lane has more to do in all.
    """
    findings = []
    inside_s = sum(region.wall_s for region in regions if not region.nested)
    for region in regions:
        ratio = region.imbalance
        if ratio is None or ratio < _IMBALANCE or region.threads < 2 or not region.lanes:
            continue
        gain = region.critical_path_s - region.mean_work_s
        delay_s = run_delay_s * min(region.wall_s / inside_s, 1.0) if inside_s > 0 else 0.0
        busy = sorted(lane.work_s for lane in region.lanes)
        steady = min(busy[-1] - sum(busy) / max(len(busy), region.threads), gain)
        delayed = min(delay_s * (1 - 1 / region.threads), gain - steady)
        findings.append(
            finding(
                Cause.IMBALANCE,
                region.name,
                f"the slowest thread works {ratio:.2f} times as long as the mean "
                f"({busy[0]:.3g} s to {busy[-1]:.3g} s over {region.calls} calls)"
                + (f", schedule {region.schedule}" if region.schedule else "")
                + (f"; {delayed:.3g} s of it may be waits for a CPU" if delayed >= 0.05 * gain else ""),
                balance_advice(region),
                gain - delayed,
            )
        )
    return findings


def _too_small(regions: list[Region]) -> list[Finding]:
    """gain = wall - work / threads: what forking, joining and waiting took."""
    findings = []
    for region in regions:
        mean = region.wall_s / max(region.calls, 1)
        if region.threads < 2 or mean > _SMALL_REGION_S:
            continue
        gain = region.wall_s - region.work_s / region.threads
        findings.append(
            finding(
                Cause.SMALL_REGIONS,
                region.name,
                f"{region.calls} calls of {mean * 1e6:.1f} us; forking and joining takes "
                f"{gain / max(region.wall_s, 1e-12):.0%} of it",
                "move the parallel region out of the loop around it, or add if(n > LIMIT) to the directive",
                gain,
            )
        )
    return findings


def _locks(regions: list[Region]) -> list[Finding]:
    """gain = time waited for locks / threads."""
    findings = []
    for region in regions:
        if region.lock_wait_s <= 0 or region.threads < 2:
            continue
        findings.append(
            finding(
                Cause.LOCK_CONTENTION,
                region.name,
                f"threads waited {region.lock_wait_s:.3g} s for critical sections, "
                f"which were held {region.lock_held_s:.3g} s",
                "use a reduction or an atomic, or a private copy merged once per thread",
                region.lock_wait_s / region.threads,
            )
        )
    return findings


def ordered_findings(regions: list[Region]) -> list[Finding]:
    """gain = time waited for one's turn in ordered parts / threads."""
    findings = []
    for region in regions:
        waited_s = region.waits.get(WAITS[WaitKind.ORDERED], 0.0)
        if waited_s <= 0 or region.threads < 2:
            continue
        findings.append(
            finding(
                Cause.ORDERED,
                region.name,
                f"threads waited {waited_s:.3g} s for their turn in the ordered part of the loop",
                ordered_advice(region),
                waited_s / region.threads,
            )
        )
    return findings


def _oversubscribed(account: Account, threads: int, quota: float, has_regions: bool) -> list[Finding]:
    """gain = (run delay + barrier wait + arrival) share of the wall time, with more threads than CPUs."""
    if not _is_crowded(account, threads):
        return []
    limit = f"a quota of {counted(quota, 'CPU')}" if quota else counted(account.cpus, "CPU")
    action = f"give the runtime {max(int(account.cpus), 1)} workers"
    threads_text = f"{threads} threads"
    if has_regions and threads > account.cpus + 0.5:
        action = (
            f"set OMP_NUM_THREADS={max(int(account.cpus), 1)}, or OMP_WAIT_POLICY=passive "
            "if the threads must stay"
        )
    elif has_regions:
        threads_text = (
            f"regions within or beside each other, {account.lanes:.1f} threads at a time in the mean,"
        )
        action = (
            "give regions that are entered at the same time fewer threads each: OMP_MAX_ACTIVE_LEVELS=1 "
            "if they are nested, or OMP_NUM_THREADS with a number for each level"
        )
    share = account.shares["run_delay"] + account.shares["barrier_wait"] + account.shares["arrival"]
    return [
        finding(
            Cause.OVERSUBSCRIPTION,
            None,
            f"{threads_text} share {limit}: {account.run_delay_s:.3g} s waited for a CPU, "
            f"{account.shares['barrier_wait']:.0%} of the core time at barriers",
            action,
            share * account.wall_s,
        )
    ]


def _is_crowded(account: Account, threads: int) -> bool:
    """More threads than CPUs: in one team, or in teams within and beside each other, on average."""
    return max(float(threads), account.lanes) > account.cpus + 0.5


def _throttled(account: Account, threads: int, throttled_s: float, quota: float) -> list[Finding]:
    """gain = time throttled / threads, at most the run delay share of the wall time."""
    if throttled_s <= 0 or not quota:
        return []
    return [
        finding(
            Cause.THROTTLING,
            None,
            f"the control group's quota of {counted(quota, 'CPU')} held its threads back for {throttled_s:.3g} s",
            f"raise the quota (docker --cpus, limits.cpu), or use {counted(max(int(quota), 1), 'thread')}",
            min(throttled_s / max(threads, 1), account.shares["run_delay"] * account.wall_s),
        )
    ]


def _spinning(account: Account, threads: int) -> list[Finding]:
    """gain = min(CPU time of idle threads between regions, run delay) / CPUs: what others' turns cost."""
    lost = min(account.spinning_s, account.run_delay_s) / account.cpus
    if threads < 2 or account.spinning_s < 0.05 * account.wall_s:
        return []
    return [
        finding(
            Cause.WAIT_POLICY,
            None,
            f"threads without work kept CPUs busy between regions for {account.spinning_s:.3g} s, "
            f"while threads with work waited {account.run_delay_s:.3g} s for a CPU",
            "set OMP_WAIT_POLICY=passive, or GOMP_SPINCOUNT or KMP_BLOCKTIME to a small value",
            lost,
        )
    ]


def _small_chunks(regions: list[Region]) -> list[Finding]:
    """gain = chunks * cost of handing one out / threads, at most the region's wall time."""
    findings = []
    for region in regions:
        dispatch_s = _DISPATCH_S.get(region.runtime or "", _DISPATCH_BY_STEALING_S)
        for loop in region.loops:
            if loop.schedule not in SELF_SCHEDULED or not loop.chunks:
                continue
            chunk_size = loop.executed / loop.chunks
            findings.append(
                finding(
                    Cause.SMALL_CHUNKS,
                    region.name,
                    f"{loop.chunks} chunks of {chunk_size:.1f} iterations were handed out at {loop.name}, "
                    f"{region.work_s / loop.chunks * 1e6:.2g} us of work each",
                    f"write schedule({loop.schedule}, {max(int(chunk_size * 16), 16)}): "
                    "a chunk should be worth 10 us and more",
                    min(loop.chunks * dispatch_s / region.threads, region.wall_s),
                )
            )
    return findings


def _other_load(account: Account, threads: int, throttled_s: float) -> list[Finding]:
    """gain = run delay share of the wall time, when the program alone would have had CPUs enough."""
    if _is_crowded(account, threads) or throttled_s > 0.5 * account.run_delay_s:
        return []
    return [
        finding(
            Cause.CPU_CONTENTION,
            None,
            f"threads were ready to run but had no CPU for {account.run_delay_s:.3g} s, {_their_cpus(account, threads)}",
            "run when the machine is free, or give this program CPUs of its own (taskset, cpuset), "
            "or fewer threads than CPUs",
            account.shares["run_delay"] * account.wall_s,
        )
    ]


def _their_cpus(account: Account, threads: int) -> str:
    cpus = counted(account.cpus, "CPU")
    if account.others_s > 0 and account.parallel_s <= 0:
        return f"on {cpus}; how many of its threads wanted one at a time is not known"
    return f"although {counted(threads, 'thread')} {'has' if threads == 1 else 'have'} {cpus}"


def _serial(account: Account, regions: list[Region]) -> list[Finding]:
    """What lies outside of the regions."""
    if not regions or account.cpus <= 1:
        return []
    return [
        serial_part(
            account,
            "lie outside parallel regions, with one thread at most at work"
            if account.others_s <= 0
            else f"lie outside parallel regions; threads that entered none used {account.others_s:.3g} s CPU time meanwhile",
            "parallelise what runs between the regions (input, set-up, output), or overlap it with tasks",
        )
    ]


def _serial_input_s(account: Account) -> float:
    """How long the first thread waited outside of regions; 0 where that is little."""
    is_much = account.cpus > 1 and account.blocked_outside_s >= _MUCH_BLOCKED * account.wall_s
    return account.blocked_outside_s if is_much else 0.0


def _serial_input(account: Account, regions: list[Region]) -> list[Finding]:
    """gain = time blocked outside of regions, at most all other time: what can go on beside it."""
    blocked_s = _serial_input_s(account)
    if not regions or blocked_s <= 0:
        return []
    return [
        finding(
            Cause.SERIAL_INPUT,
            None,
            f"the first thread waited {blocked_s:.3g} s of {account.wall_s:.3g} s outside parallel regions, with no need of a CPU: "
            "for files, pipes, messages or other programs; the other threads had no work",
            "read ahead and write behind on another thread, or in larger pieces",
            min(blocked_s, account.wall_s - blocked_s),
        )
    ]


def serial_part(account: Account, place: str, action: str) -> Finding:
    """gain = serial wall time * (1 - 1 / CPUs): Amdahl's bound if all of it were parallel; less what other threads did.

    Without the time in which the first thread waited for files, which is a finding of its own, or for other processes.
    """
    outside_s = account.wall_s - account.parallel_s - _serial_input_s(account) - account.remote_wait_s
    share = outside_s / max(account.wall_s, 1e-12)
    return finding(
        Cause.SERIAL_PART,
        None,
        f"{outside_s:.3g} s of {account.wall_s:.3g} s ({share:.0%}) {place}",
        action,
        outside_s * (1 - 1 / account.cpus) - account.others_s / account.cpus,
    )


def _few_threads(account: Account, regions: list[Region]) -> list[Finding]:
    """gain = wall * (1 - threads / CPUs) of regions that have fewer threads than there are CPUs.

    At most what CPUs without a thread could do: regions of several host threads are beside each other.
    """
    findings = []
    # The number of threads that other regions have is open to this one, too, but for its own clauses.
    has_own_limit = any(region.threads + 0.5 > account.cpus for region in regions)
    outside_s = (account.cpus - 1) * (account.wall_s - account.parallel_s)
    idle_s = max(account.shares["serial"] * account.cpus * account.wall_s - outside_s, 0.0) / account.cpus
    for region in regions:
        mean_s = region.wall_s / max(region.calls, 1)
        # What is this short more threads do not make faster.
        if region.nested or region.threads + 0.5 > account.cpus or mean_s <= _SMALL_REGION_S:
            continue
        findings.append(
            finding(
                Cause.FEW_THREADS,
                region.name,
                f"{counted(region.threads, 'thread')} on {counted(account.cpus, 'CPU')}, "
                f"{counted(region.calls, 'call')} of {mean_s * 1e6:.3g} us",
                "raise or remove its num_threads clause, or an if clause that is false: OMP_NUM_THREADS is not what limits it, since "
                "other regions have more threads; a library may decide by the size of its data: give it more at a time"
                if has_own_limit
                else "raise OMP_NUM_THREADS or the num_threads clause, or remove an if clause that is false; a library may have a "
                "setting of its own, or decide by the size of its data: give it more at a time",
                min(region.wall_s * (1 - region.threads / account.cpus), idle_s),
            )
        )
    return findings
