"""The launcher. The program keeps its output, input, signals, exit code, folder and environment.

It runs in our process group and with our terminal: what the terminal sends (Ctrl-C, Ctrl-Z), or anybody else to the
whole group, reaches it directly; what is sent to us alone is passed on.

Whatever goes wrong before the program starts is a NotPrepared: whoever gets it runs the program without us.
"""

from __future__ import annotations

import contextlib
import errno
import os
import resource
import shutil
import signal
import stat
import sys
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from trimtab import __version__, machine
from trimtab.bare import IGNORED_BY_PYTHON, NotPrepared, reason_of, users_environment
from trimtab.cgroup import quota_of_cpus
from trimtab.launcher.inspect_library import library_problem
from trimtab.launcher.inspect_program import inspect, no_regions
from trimtab.launcher.job import Job
from trimtab.launcher.job_folder import JobFolder, enter_job
from trimtab.launcher.perf_events import perf_events_kept_ready
from trimtab.launcher.run_folder import RunFolder
from trimtab.launcher.spark import Consent, SparkStart, spark_start
from trimtab.launcher.witness import GroupWitness, group_witness
from trimtab.options import checked_environment, library_option
from trimtab.paths import current_folder, preload_library
from trimtab.programs import NotStarted, find_program, not_started, signal_name, started

_PASSED_ON = (
    signal.SIGTERM,
    signal.SIGHUP,
    signal.SIGUSR1,
    signal.SIGUSR2,
    signal.SIGALRM,
    signal.SIGWINCH,
)
# The terminal sends these to the program, too; where we cannot tell (no witness) we take them for the terminal's. We leave
# what they do to the program. That it was stopped we see, and stop.
_FROM_TERMINAL = (signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP)
# Of reading and writing in the background: about us, not about the program.
_IGNORED = (signal.SIGTTIN, signal.SIGTTOU)


# A thread's files take less; where so little is left, some may have found no room.
_LEAST_ROOM_BYTES = 1 << 20
_SETTINGS = "settings.txt"
_VIRTUAL_THREADS = "virtual-threads.txt"
_PRELOAD = "LD_PRELOAD"


@dataclass(frozen=True)
class Steering:
    """How the program is changed while it runs.

    Attributes:
        mode: a value of TRIMTAB_TUNE.
        settings: what earlier runs found, in the library's form; None: nothing.
        environment: variables that the program is started with, and
        reasons: why, by their names.
        of_program_alone: names of those that programs which it starts do not get.
        threads: who fits the number of threads; None: it is the program's.
        is_even_if_fixed: also where the program says the number itself.
        virtual_threads: functions that may be run by them, as the library names places; None: no consent.
        max_memory_bytes: that a process may have because freed memory stays with it; None: the library's own limit.
        unavailable: what of all this cannot be had, for the run's list.
    """

    mode: str
    settings: str | None = None
    search: str | None = None
    policy: str | None = None
    budget_percent: int | None = None
    seed: int | None = None
    environment: dict[str, str] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
    threads: str | None = None
    is_even_if_fixed: bool = False
    virtual_threads: tuple[str, ...] | None = None
    max_memory_bytes: int | None = None
    unavailable: list[dict[str, str]] = field(default_factory=list)
    of_program_alone: tuple[str, ...] = ()


@dataclass(frozen=True)
class Options:
    """How to observe, and whether to change anything.

    Attributes:
        directory: of the run; the ranks of a job share it.
        job: of which this launcher starts a rank; None: of none.
        has_scheduler: record what the operating system's scheduler does, too.
        spark_consents: to what the user consents in programs of Spark.
    """

    directory: Path
    level: str = "profile"
    max_trace_bytes: int | None = None
    keep: str = "first"
    probes: str | None = None
    is_follow: bool = True
    steering: Steering | None = None
    has_snapshots: bool = False
    job: Job | None = None
    has_scheduler: bool = False
    spark_consents: tuple[Consent, ...] = ()


@dataclass(frozen=True)
class Launch:
    """How the program ended, and where the run is (None: its end could not be recorded, for `why`)."""

    code: int | None
    signal: int | None
    directory: Path | None
    why: str = ""
    unavailable: list[dict[str, str]] = field(default_factory=list)
    job: JobFolder | None = None

    def is_reporter(self) -> bool:
        """Whether this launcher reports on the run: of those of a job, only the last does."""
        return self.job is None or self.job.is_reporter()


def _variables(options: Options) -> dict[str, str]:
    """What the library is told, by variable.

    Raises:
        ValueError: it would not understand one of them.
    """
    settings = {
        "TRIMTAB_RUN": str(options.directory),
        "TRIMTAB_LEVEL": options.level,
        "TRIMTAB_KEEP": options.keep,
        "TRIMTAB_MAX_TRACE": None if options.max_trace_bytes is None else str(options.max_trace_bytes),
        "TRIMTAB_PROBES": options.probes,
        "TRIMTAB_FOLLOW": None if options.is_follow else "0",
        "TRIMTAB_RECORD_SNAPSHOTS": "1" if options.has_snapshots else None,
    }
    steering = options.steering
    if steering is not None:
        settings |= {
            "TRIMTAB_TUNE": steering.mode,
            "TRIMTAB_SETTINGS": None if steering.settings is None else str(options.directory / _SETTINGS),
            "TRIMTAB_VIRTUAL_THREADS": str(options.directory / _VIRTUAL_THREADS)
            if steering.virtual_threads
            else None,
            "TRIMTAB_SEARCH": steering.search,
            "TRIMTAB_STEER_POLICY": steering.policy,
            "TRIMTAB_BUDGET": None if steering.budget_percent is None else str(steering.budget_percent),
            "TRIMTAB_SEED": None if steering.seed is None else str(steering.seed),
            "TRIMTAB_MAX_MEMORY": None
            if steering.max_memory_bytes is None
            else str(steering.max_memory_bytes),
            "TRIMTAB_THREADS": steering.threads,
            "TRIMTAB_THREADS_EVEN_IF_FIXED": "1" if steering.is_even_if_fixed else None,
        }
    return checked_environment(settings)


def _environment(options: Options, libraries: tuple[Path, ...]) -> dict[str, str]:
    environment = users_environment()
    users = dict(environment)
    starts = {} if options.steering is None else options.steering.environment
    environment.update(starts)
    # An allocator stands behind our library, whose hooks come first. Where the user loads one, none is chosen.
    environment[_PRELOAD] = _joined(*libraries, environment.get(_PRELOAD))
    if options.steering is not None:
        if options.is_follow:
            users[_PRELOAD] = _joined(*libraries, users.get(_PRELOAD))
        environment.update(_users_values(options.steering.of_program_alone, users))
    environment.update(_variables(options))
    return environment


def _joined(*libraries: Path | str | None) -> str:
    return ":".join(map(str, filter(None, libraries)))


def _users_values(names: Iterable[str], users: Mapping[str, str]) -> dict[str, str]:
    """The variable by which the library gives the user's own values to programs that the program starts.

    >>> _users_values(["OMP_PLACES", "GLIBC_TUNABLES"], {"GLIBC_TUNABLES": "a=1"})
    {'TRIMTAB_USERS_VALUES': 'OMP_PLACES\nGLIBC_TUNABLES=a=1'}
    """
    lines = [f"{name}={users[name]}" if name in users else name for name in names]
    usable = [line for line in lines if "\n" not in line]
    return {"TRIMTAB_USERS_VALUES": "\n".join(usable)} if usable else {}


def _describe(steering: Steering | None) -> dict[str, Any] | None:
    if steering is None:
        return None
    starts = [
        {"name": name, "value": value, "reason": steering.reasons.get(name, "")}
        for name, value in steering.environment.items()
    ]
    known_count = 0 if steering.settings is None else max(steering.settings.count("\n") - 1, 0)
    described = {
        "mode": steering.mode,
        "known_settings": known_count,
        "start_values": starts,
        "threads": steering.threads,
    }
    if steering.virtual_threads is not None:
        described["virtual_threads"] = len(steering.virtual_threads)
    return described


def _policy_beside(
    steering: Steering | None, directory: Path | None
) -> contextlib.AbstractContextManager[None]:
    """The user's own policy, where there is one: only then the program waits for what starts it."""
    policy = None if steering is None or steering.mode != "on" else steering.policy
    if policy is None or directory is None or not policy.endswith(".py"):
        return contextlib.nullcontext()
    from trimtab.launcher.outside import policy_beside

    return policy_beside(policy, directory)


@dataclass
class _Prepared:
    """What a program is started with, and what run.json says of that."""

    directory: Path
    folder: RunFolder
    argv: list[str]
    environment: dict[str, str]
    info: dict[str, Any]
    job: JobFolder | None

    def undo(self) -> None:
        """There was no run."""
        if self.job is not None:
            self.job.leave()
        else:
            shutil.rmtree(self.directory, ignore_errors=True)


def _scheduler_beside(options: Options, info: dict[str, Any]) -> contextlib.AbstractContextManager[None]:
    """The recorder of the operating system's scheduler, where it was asked for."""
    if not options.has_scheduler:
        return contextlib.nullcontext()
    from trimtab.launcher.scheduler import scheduler_beside

    event_bytes = (
        (options.max_trace_bytes or int(library_option("TRIMTAB_MAX_TRACE").default))
        if options.level == "trace"
        else 0
    )
    return scheduler_beside(options.directory, event_bytes, info["unavailable"])


def launch(argv: list[str], options: Options) -> Launch:
    """Run argv to its end.

    Raises:
        NotStarted: there is no such program, or it may not be run.
        NotPrepared: it was not started, since it could not be recorded.
    """
    program = find_program(argv[0])
    with contextlib.ExitStack() as companions:
        try:
            prepared = _prepare(program, argv, options)
            directory = prepared.directory
            companions.enter_context(perf_events_kept_ready())
            companions.enter_context(_policy_beside(options.steering, directory))
            # It ends before the run is described for the last time, so that what it could not write is in there.
            scheduler = contextlib.ExitStack()
            companions.enter_context(scheduler)
            scheduler.enter_context(_scheduler_beside(options, prepared.info))
            witness = companions.enter_context(group_witness())
        except NotPrepared:
            raise
        except Exception as error:
            raise NotPrepared(reason_of(error)) from error
        began = time.monotonic_ns()
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        try:
            status = _run(program, prepared.argv, prepared.environment, witness)
        except (NotStarted, NotPrepared):
            prepared.undo()
            raise
        ended = time.monotonic_ns()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        scheduler.close()
    result = Launch(
        os.WEXITSTATUS(status) if os.WIFEXITED(status) else None,
        os.WTERMSIG(status) if os.WIFSIGNALED(status) else None,
        options.directory,
        unavailable=prepared.info["unavailable"],
        job=prepared.job,
    )
    prepared.info["ended"] = {
        "mono_ns": ended,
        "real_ns": time.time_ns(),
        "code": result.code,
        "signal": signal_name(result.signal) if result.signal is not None else None,
        "wall_s": (ended - began) * 1e-9,
        "rusage": {
            "user_s": after.ru_utime - before.ru_utime,
            "system_s": after.ru_stime - before.ru_stime,
            "voluntary": after.ru_nvcsw - before.ru_nvcsw,
            "involuntary": after.ru_nivcsw - before.ru_nivcsw,
            "max_rss_kb": after.ru_maxrss,
        },
    }
    try:
        prepared.info["unavailable"] = [*_without_room(directory), *result.unavailable]
        prepared.folder.write_info(prepared.info)
    except Exception as error:
        return replace(result, directory=None, why=f"{directory}/run.json: {reason_of(error)}")
    finally:
        prepared.folder.close()
    return result


def _prepare(program: str, argv: list[str], options: Options) -> _Prepared:
    """Everything that must be there before the program starts.

    Raises:
        NotPrepared, or anything else: it cannot be.
    """
    library = preload_library()
    if problem := library_problem(library):
        raise NotPrepared(problem)
    _variables(options)  # refuses what the library would not understand, before anything is made
    steering = options.steering
    info: dict[str, Any] = {
        "format": 1,
        "trimtab": __version__,
        "program": argv[0],
        "argv": argv,
        "cwd": str(current_folder() or ""),
        "stdin": _input_kind(),
        "level": options.level,
        "started_real_ns": time.time_ns(),
        "started_mono_ns": time.monotonic_ns(),
        "ended": None,
        "machine": machine.describe()
        | {
            "cpus_online": os.cpu_count(),
            "cpus_affinity": len(os.sched_getaffinity(0)),
            "cpus_quota": quota_of_cpus(),
        },
        "unavailable": inspect(Path(program)) + ([] if steering is None else steering.unavailable),
        "steering": _describe(steering),
    }
    try:
        return _begin(options, library, info)
    except OSError as error:
        raise NotPrepared(f"{options.directory}: {error.strerror}") from error


def _input_kind() -> str:
    """What standard input is; a program that is started again without it may do something else."""
    try:
        mode = os.fstat(0).st_mode
    except OSError:
        return "none"
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode):
        return "pipe"
    return "terminal" if os.isatty(0) else "none"


def _begin(options: Options, library: Path, info: dict[str, Any]) -> _Prepared:
    """The run directory, with what the library is told.

    Raises:
        OSError: it cannot be made, and is not there.
    """
    if options.job is None:
        job, folder = None, RunFolder(options.directory)
    else:
        job = enter_job(options.directory, options.job, info, _files_of(options.steering))
        folder = job.rank
        options = replace(options, directory=job.rank_path, steering=_as_in_job(job, info, options.steering))
        info = {**info, "rank": job.job.rank, "steering": _describe(options.steering)}
    prepared = _Prepared(options.directory, folder, info["argv"], {}, info, job)
    try:
        spark = None if job is not None else _spark_start(options, info)
        before = () if spark is None else spark.libraries
        prepared.environment.update(_environment(options, (*before, library)))
        if spark is not None:
            prepared.argv = spark.argv
            prepared.environment.update(spark.environment)
            info["unavailable"] += spark.unavailable
        for name, text in _files_of(options.steering).items():
            folder.write(name, text)
        folder.write_info(info)
    except BaseException:
        folder.close()
        # Made here, just now: what could not be written leaves no half of a run.
        prepared.undo()
        raise
    return prepared


def _spark_start(options: Options, info: dict[str, Any]) -> SparkStart | None:
    """How to start a program of Spark; for any other program, says that what only Spark has was not set."""
    values = {} if options.steering is None else options.steering.environment
    environment = {**users_environment(), **values}
    argv, directory = info["argv"], options.directory
    spark = spark_start(argv, directory, environment, options.spark_consents) if options.is_follow else None
    if spark is None:
        why = "this is no program of Spark, as far as can be told"
        info["unavailable"] += [consent.refused(why) for consent in options.spark_consents]
    return spark


def _files_of(steering: Steering | None) -> dict[str, str]:
    """What the library is told in files, by name."""
    files = {}
    if steering is not None and steering.settings is not None:
        files[_SETTINGS] = steering.settings
    if steering is not None and steering.virtual_threads:
        files[_VIRTUAL_THREADS] = "".join(
            f"{virtual_thread}\n" for virtual_thread in steering.virtual_threads
        )
    return files


def _as_in_job(job: JobFolder, info: dict[str, Any], steering: Steering | None) -> Steering | None:
    """How this rank is changed: with the settings and start values of the rank that came first, if both run the same command.

    The history may have changed between the two, or be another on another host.
    """
    first = job.info.get("steering")
    if job.info.get("argv") != info["argv"]:
        return steering
    if first is None:
        return None if steering is None or steering.mode == "known" else steering
    values = {start_value["name"]: start_value for start_value in first["start_values"]}
    return replace(
        steering or Steering(first["mode"]),
        settings=job.text_of(_SETTINGS),
        environment={name: start["value"] for name, start in values.items()},
        reasons={name: start["reason"] for name, start in values.items()},
    )


def _without_room(directory: Path) -> list[dict[str, str]]:
    """Why a run on a full disk may have no regions: the library cannot write that, either."""
    try:
        left = os.statvfs(directory)
    except OSError:
        return []
    if left.f_bavail * left.f_frsize >= _LEAST_ROOM_BYTES:
        return []
    reason = f"no room is left for {directory}: what found none is missing"
    remedy = "free space, or give a directory elsewhere with -o"
    return [no_regions(reason, remedy)]


def _run(
    program: str, argv: list[str], environment: dict[str, str], witness: GroupWitness | None = None
) -> int:
    """Start it, pass signals on, stop and go on with it; its wait status."""
    child = 0
    early: list[int] = []  # that came before there was a child
    waiting: list[int] = []
    is_passing_on = False

    def pass_on(number: int, _: Any = None) -> None:
        # One handler may interrupt another, which waits for an answer about its own signal.
        nonlocal is_passing_on
        (waiting if child else early).append(number)
        if is_passing_on:
            return
        # Outer loop: another may have come after the inner one's last look.
        while waiting:
            is_passing_on = True
            while waiting:
                received = waiting.pop(0)
                if not is_of_group(received):
                    send(received)
            is_passing_on = False

    def is_of_group(number: int) -> bool:
        if witness is None or not witness.has_received(number):
            return False
        # Of several in quick succession, the witness may have got one (the kernel merges those that are pending) and we each.
        while witness.has_received(number) or number in waiting:
            while number in waiting:
                waiting.remove(number)
        return True

    def send(number: int) -> None:
        # It may be over, or another user's by now (set-uid).
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(child, number)

    # Signals that were ignored when we were started stay ignored for the program (nohup).
    handled = (*_PASSED_ON, *_FROM_TERMINAL, *_IGNORED)
    previous = {number: signal.getsignal(number) for number in handled}
    passed_on = _PASSED_ON if witness is None else (*_PASSED_ON, *_FROM_TERMINAL)
    caught = [number for number in passed_on if previous[number] != signal.SIG_IGN]
    for number in handled:
        if number in caught:
            signal.signal(number, pass_on)
        elif number not in passed_on:
            signal.signal(number, signal.SIG_IGN)
    changes = None
    try:
        changes = _Changes()
        defaults = [
            number for number in (*IGNORED_BY_PYTHON, *handled) if previous.get(number) != signal.SIG_IGN
        ]
        # What comes while it starts waits: it is in our process group from then on, so that the witness can tell.
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, caught)
        try:
            while received := signal.sigtimedwait(caught, 0):
                early.append(received.si_signo)
            child = _start(program, argv, environment, defaults, mask)
            for early_signal in early:
                if witness is not None:
                    witness.has_received(early_signal)  # from now on it tells of later ones only
                send(early_signal)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        status = changes.wait(child)
        while os.WIFSTOPPED(status):
            if os.WSTOPSIG(status) == signal.SIGSTOP:
                # No terminal does this. Whoever stops processes so, each by itself (batch systems), lets each go on as well.
                status = changes.wait(child)
                continue
            # The program was stopped: so are we, for the shell's job control.
            os.kill(os.getpid(), signal.SIGSTOP)
            # Whoever lets us go on may have let it go on as well, and it may have been stopped again since.
            changed, status = os.waitpid(child, os.WUNTRACED | os.WCONTINUED | os.WNOHANG)
            if not changed:
                os.kill(child, signal.SIGCONT)
            if not changed or os.WIFCONTINUED(status):
                status = changes.wait(child)
        return status
    finally:
        if changes is not None:
            changes.close()
        for number, handler in previous.items():
            signal.signal(number, handler)


class _Changes:
    """Waits for a child without missing a signal.

    Python runs handlers between two of its instructions. Of a signal that comes after the last of them and before a call that
    waits in the kernel, the handler would run only after that call. Here each signal leaves a byte, which ends the wait.
    """

    def __init__(self) -> None:
        self._reads, self._writes = os.pipe()
        os.set_blocking(self._writes, False)
        self._before = signal.set_wakeup_fd(self._writes, warn_on_full_buffer=False)
        # Only a signal with a handler leaves its byte.
        self._of_children = signal.signal(signal.SIGCHLD, lambda *_: None)

    def wait(self, child: int) -> int:
        """The child's status when it has ended or was stopped."""
        while True:
            changed, status = os.waitpid(child, os.WUNTRACED | os.WNOHANG)
            if changed:
                return status
            os.read(self._reads, 4096)

    def close(self) -> None:
        """From now on signals leave nothing."""
        signal.signal(signal.SIGCHLD, self._of_children)
        signal.set_wakeup_fd(self._before)
        os.close(self._reads)
        os.close(self._writes)


def _start(
    program: str,
    argv: list[str],
    environment: dict[str, str],
    defaults: list[signal.Signals],
    blocked: set[int],
) -> int:
    """The number of the started program's process.

    Args:
        program: Its file.
        argv: Its arguments, the first is its name.
        environment: All variables that it has.
        defaults: Signals for which it begins with the system's action.
        blocked: Signals that are blocked when it begins.

    Raises:
        NotPrepared: There is no room for another process.
    """
    try:
        return started(
            lambda file, arguments: os.posix_spawn(
                file, list(arguments), environment, setsigdef=defaults, setsigmask=blocked
            ),
            program,
            argv,
        )
    except OSError as error:
        if error.errno in (errno.EAGAIN, errno.ENOMEM):
            # For a process beside ours. In our place it needs none.
            raise NotPrepared(f"no further process could be made: {error.strerror}") from error
        raise not_started(program, error) from error


def end_like(result: Launch) -> None:
    """End this process as the program ended: same exit code, or killed by the same signal."""
    for stream in (sys.stdout, sys.stderr):
        # Closed, a pipe that nobody reads, a full disk: no reason to end in another way.
        with contextlib.suppress(AttributeError, OSError, ValueError):
            stream.flush()
    if result.signal is None:
        os._exit(result.code if result.code is not None else 1)
    # No second core file for the same death.
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if result.signal not in (signal.SIGKILL, signal.SIGSTOP):
        signal.signal(result.signal, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [result.signal])
    os.kill(os.getpid(), result.signal)
    os._exit(128 + result.signal)
