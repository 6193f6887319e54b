"""A program of tasks, as its author sees it. Times in nanoseconds."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Task:
    """A task makes its children one after another, and then computes.

    Attributes:
        kind: its function.
        time: what it computes after it has made its children.
        children: tasks that it makes, by number.
        making: what it computes before it makes each child.
        inputs: tasks that have to end before it can start.
        home: the worker in whose queue it is put; None: that of who makes it ready.
        waits: it is suspended until its children have ended, and goes on with `time` then.
        sends: of a job, letters at its end: for each the locality, and the task there that it is for.
        letters: that have to come before it can start.
    """

    kind: str
    time: int
    children: tuple[int, ...] = ()
    making: int = 0
    inputs: tuple[int, ...] = ()
    home: int | None = None
    waits: bool = False
    sends: tuple[tuple[int, int], ...] = ()
    letters: int = 0


@dataclass(frozen=True)
class TaskProgram:
    """Task 0 is where it begins: the first thread hands it to the runtime, and waits until all have ended.

    Attributes:
        steals: a worker without a task takes one from the queue of another.
        before, after: what the first thread computes before and after, nanoseconds.
    """

    workers: int
    tasks: tuple[Task, ...]
    steals: bool = True
    before: int = 0
    after: int = 0

    @property
    def work_ns(self) -> int:
        """All that it has to compute."""
        return (
            sum(task.time + task.making * len(task.children) for task in self.tasks)
            + self.before
            + self.after
        )
