"""A job of several processes in steps, as its author sees it: tasks, and then letters to other processes. Times in nanoseconds."""

from __future__ import annotations

from dataclasses import dataclass

from simulated.task_program import Task, TaskProgram

# A task that only lets others begin takes some time, too.
_GATE_NS = 500


@dataclass(frozen=True)
class JobProgram:
    """In each step every locality runs tasks, packs what it has computed, and sends it to others; the next step begins when their letters are there.

    Attributes:
        workers: of each locality.
        times: by step and locality, what each task computes.
        partners: of each locality, to whom it sends a letter after each step.
        packing: by locality, what the task computes that sends the letters of a step.
        wire_ns: a message takes so long from one locality to another.
        wait_ns: so long a letter waits for others in the queue of its sender.
    """

    workers: int
    times: tuple[tuple[tuple[int, ...], ...], ...]
    partners: tuple[tuple[int, ...], ...]
    packing: tuple[int, ...]
    wire_ns: int = 3_000
    wait_ns: int = 0

    @property
    def localities(self) -> int:
        """How many there are."""
        return len(self.partners)

    @property
    def work_ns(self) -> int:
        """All that it has to compute."""
        steps = len(self.times)
        return sum(sum(sum(times) for times in step) for step in self.times) + steps * (
            sum(self.packing) + _GATE_NS * self.localities
        )

    def of_locality(self, locality: int) -> TaskProgram:
        """What one locality runs."""
        tasks = [Task("root", 0)]
        gate = 0
        for times in self.times:
            inputs = (gate,) if gate else ()
            first = len(tasks)
            tasks += [Task("step", time, inputs=inputs) for time in times[locality]]
            packed = len(tasks)
            # The gate of a step has the same number in every locality.
            gate = packed + 1
            sends = tuple((receiver, gate) for receiver in self.partners[locality])
            tasks.append(
                Task("pack", self.packing[locality], inputs=tuple(range(first, packed)), sends=sends)
            )
            letters = sum(locality in partners for partners in self.partners)
            tasks.append(Task("gate", _GATE_NS, inputs=(packed,), letters=letters))
        tasks[0] = Task("root", 0, tuple(range(1, len(tasks))), waits=True)
        return TaskProgram(self.workers, tuple(tasks))
