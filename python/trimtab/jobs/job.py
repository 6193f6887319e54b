"""The processes of a job: started together, told signals together, ended together.

Each locality has a session of its own. So what the terminal sends (Ctrl-C) reaches the launcher alone, which passes it on, and
everything that a locality has started can be ended by its process group.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from trimtab.bare import users_environment
from trimtab.jobs.arrivals import Arrivals
from trimtab.jobs.guardian import Guardian
from trimtab.jobs.labels import Labels
from trimtab.jobs.locality_process import LocalityProcess, Surroundings, end_in_words
from trimtab.jobs.meeting import Meeting, opened_meeting
from trimtab.programs import find_program

_PASSED_ON = {
    signal.SIGINT,
    signal.SIGTERM,
    signal.SIGHUP,
    signal.SIGQUIT,
    signal.SIGUSR1,
    signal.SIGUSR2,
    signal.SIGALRM,
}
# The exit statuses of a locality that has lost another one, or that could not join because another one was lost; and how
# long its end may come before that of the lost one.
_LOST_ANOTHER = 1
_COULD_NOT_JOIN = 2
_SETTLING_S = 0.5
# How long the others have to end by themselves when one has failed; and again, after SIGTERM.
_GRACE_S = 2.0
# Of a job that the launcher is part of itself.
_PLACE = ("TRIMTAB_JOB_PATH", "TRIMTAB_JOB_MEETING", "TRIMTAB_JOB_SOCKET", "TRIMTAB_JOB_ARRIVALS")
# A locality has ended in order, and others wait for it: how long until it counts as absent. What it has started may come.
_ABSENT_S = 1.0
_ABSENT_LOOK_S = 0.2


@dataclass(frozen=True)
class JobOptions:
    """How a job is started.

    Attributes:
        size: number of localities.
        transport: `shm` or `tcp`.
        has_labels: each line of output begins with the number of its locality.
        say: where messages go, a line each.
    """

    size: int
    transport: str
    has_labels: bool
    say: Callable[[str], None]


def run_job(argv: Sequence[str], options: JobOptions) -> int:
    """Run argv `size` times, as one job, to its end: the exit status of the first that failed, 0 if none did.

    Raises:
        NotStarted: there is no such program, or it may not be run.
        OSError: there is no memory file or socket to be had, or no process.
    """
    program = find_program(argv[0])
    watched = {number for number in _PASSED_ON if signal.getsignal(number) != signal.SIG_IGN}
    watched |= {signal.SIGCHLD, signal.SIGTSTP}
    # They are taken one by one, by sigtimedwait: no handler interrupts anything.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, watched)
    try:
        with Guardian() as guardian, opened_meeting(options.transport) as meeting, Arrivals() as arrivals:
            job = _Job(options, guardian, arrivals)
            try:
                job.start(program, argv, meeting, before)
                return job.wait(watched)
            finally:
                job.kill()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class _Job:
    def __init__(self, options: JobOptions, guardian: Guardian, arrivals: Arrivals) -> None:
        self._options, self._guardian, self._arrivals = options, guardian, arrivals
        self._running: list[LocalityProcess] = []
        self._labels = Labels()
        # Ended in order without having come, and when.
        self._absent: list[tuple[LocalityProcess, float]] = []
        self._passed_on: signal.Signals | None = None
        self._status = 0
        # When what is next is done to those that have not ended; and what that is.
        self._deadline: float | None = None
        self._next_signal = signal.SIGTERM

    def start(self, program: str, argv: Sequence[str], meeting: Meeting, mask: Collection[int]) -> None:
        inherited = {name: value for name, value in users_environment().items() if name not in _PLACE}
        size = str(self._options.size)
        for rank in range(self._options.size):
            place = {
                "TRIMTAB_JOB_RANK": str(rank),
                "TRIMTAB_JOB_SIZE": size,
                "TRIMTAB_JOB_LOCAL_SIZE": size,
            }
            environment = {**inherited, **meeting.variables_of(rank), **self._arrivals.variables, **place}
            descriptors = (*meeting.descriptors_of(rank), self._arrivals.descriptor)
            surroundings = Surroundings(environment, descriptors, self._options.has_labels, mask)
            self._running.append(LocalityProcess(rank, program, argv, surroundings))
            self._guardian.watch(self._running[-1].pid)
        meeting.all_started()
        if self._options.has_labels:
            self._copy_output()

    def _copy_output(self) -> None:
        for locality in self._running:
            for source, target in ((locality.process.stdout, 1), (locality.process.stderr, 2)):
                assert source is not None
                self._labels.copy(locality.rank, source, target)

    def wait(self, watched: Collection[int]) -> int:
        """Until all have ended; the job's exit status."""
        while self._running:
            received = signal.sigtimedwait(watched, self._patience_s())
            if received is not None and received.si_signo != signal.SIGCHLD:
                self._pass_on(signal.Signals(received.si_signo))
            self._take_ends()
            self._look_for_absent()
            if self._deadline is not None and time.monotonic() >= self._deadline:
                self._escalate()
        self._labels.finish()
        return self._status

    def _patience_s(self) -> float:
        """How long to wait for a signal."""
        if self._deadline is not None:
            return max(self._deadline - time.monotonic(), 0)
        return _ABSENT_LOOK_S if self._absent else 3600.0

    def _pass_on(self, number: signal.Signals) -> None:
        if number == signal.SIGTSTP:
            # Groups without a terminal ignore SIGTSTP.
            self._send(signal.SIGSTOP)
            os.kill(os.getpid(), signal.SIGSTOP)
            self._send(signal.SIGCONT)
            return
        self._passed_on = number
        self._send(number)

    def _send(self, number: int) -> None:
        for locality in self._running:
            locality.send(number)

    def _take_ends(self) -> None:
        """Those that have ended are running no more. If one has failed, the others have little time."""
        codes = [(locality, locality.code()) for locality in self._running]
        ended = [(locality, code) for locality, code in codes if code is not None]
        for locality, code in ended:
            self._remove(locality, code)
        failed = [(locality, code) for locality, code in ended if code != 0]
        if failed and self._deadline is None:
            # Of several at once, one that was killed is the cause: the others have seen its end.
            locality, code = min(failed, key=lambda end: end[1] > 0)
            may_follow = code in {_LOST_ANOTHER, _COULD_NOT_JOIN}
            self._fail(*((self._killed_soon() if may_follow else None) or (locality, code)))

    def _look_for_absent(self) -> None:
        """One has ended in order before it came, and others wait for it: they would do so until their patience is over."""
        if self._deadline is not None:
            return
        for locality, ended_at in self._absent:
            if self._arrivals.has_come(locality.rank) or time.monotonic() < ended_at + _ABSENT_S:
                continue
            waiting = sorted(self._arrivals.waiting() & {one.rank for one in self._running})
            if waiting:
                self._options.say(
                    f"locality {locality.rank} (process {locality.pid}) has ended with exit status 0 and has not joined the "
                    f"job, for which {', '.join(map(str, waiting))} wait{'s' if len(waiting) == 1 else ''}"
                )
                self._status = _LOST_ANOTHER
                self._deadline = time.monotonic()
                return

    def _killed_soon(self) -> tuple[LocalityProcess, int] | None:
        """One that was killed: others may see its closed connections before it is reported as ended."""
        deadline = time.monotonic() + _SETTLING_S
        while time.monotonic() < deadline:
            for locality in self._running:
                code = locality.code()
                if code is not None and code < 0:
                    return locality, code
            time.sleep(0.01)
        return None

    def _remove(self, locality: LocalityProcess, code: int) -> None:
        self._running.remove(locality)
        if code == 0 and self._running and not self._arrivals.has_come(locality.rank):
            self._absent.append((locality, time.monotonic()))
        if code != 0 or self._deadline is not None:
            # What it has started, if it was a shell.
            locality.send(signal.SIGKILL)
        # Before its number is free for others.
        self._guardian.forget(locality.pid)
        locality.release()

    def _fail(self, locality: LocalityProcess, code: int) -> None:
        self._status = code if code > 0 else 128 - code
        self._deadline = time.monotonic() + _GRACE_S
        if self._passed_on is not None and code == -self._passed_on:
            self._options.say(f"the job was ended by {self._passed_on.name}")
        else:
            self._options.say(f"locality {locality.rank} (process {locality.pid}) {end_in_words(code)}")

    def _escalate(self) -> None:
        """Those that have not ended in time are ended."""
        ranks = ", ".join(str(locality.rank) for locality in self._running)
        self._options.say(f"not ended in time: {ranks}; sending {self._next_signal.name}")
        self._send(self._next_signal)
        self._send(signal.SIGCONT)  # a stopped process would not see it
        self._next_signal = signal.SIGKILL
        self._deadline = time.monotonic() + _GRACE_S

    def kill(self) -> None:
        """Those that are left, where the launcher cannot go on."""
        self._send(signal.SIGKILL)
        for locality in self._running:
            locality.release()
