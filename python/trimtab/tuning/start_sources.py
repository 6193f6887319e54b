"""All sources of start values: a source is a function and a row of the table.

A source looks at a run and says what the program could be started with; it tries nothing. `trimtab tune` tries each of its
values in pairs, on top of those that have proved to be better.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from trimtab.model.report import Report
from trimtab.tuning.allocator_starts import allocator_starts
from trimtab.tuning.blas_starts import blas_starts
from trimtab.tuning.memory_starts import memory_starts
from trimtab.tuning.multi_run import Start
from trimtab.tuning.node_starts import node_starts
from trimtab.tuning.openmp_starts import placement_starts, thread_count_starts, waiting_starts
from trimtab.tuning.scheduler_starts import scheduler_starts
from trimtab.tuning.spark_starts import spark_starts
from trimtab.tuning.start_situation import Situation


@dataclass(frozen=True)
class Source:
    """Proposes start values, the likeliest first.

    Attributes:
        propose: None of what the user has set.
        most: How many it proposes at most; of more, the first count.
    """

    propose: Callable[[Situation], list[Start]]
    most: int


SOURCES = (
    Source(spark_starts, 8),
    Source(memory_starts, 3),
    Source(allocator_starts, 3),
    Source(scheduler_starts, 8),
    Source(waiting_starts, 4),
    Source(thread_count_starts, 6),
    Source(blas_starts, 2),
    Source(placement_starts, 2),
    Source(node_starts, 1),
)


def proposed_starts(situation: Situation) -> list[Start]:
    """What is worth trying at the start, after what a run has shown."""
    return [start for source in SOURCES for start in source.propose(situation)[: source.most]]


def most_starts(may_preload: bool) -> int:
    """How many there can be, whatever a run shows."""
    return sum(source.most for source in SOURCES if may_preload or source.propose is not allocator_starts)


def works_in_children(report: Report) -> bool:
    """Whether all that takes part are programs that the first process of the run has started."""
    if not report.processes:
        return False
    first = min(report.processes, key=lambda process: (process.begin_s, process.image))
    taking_part = [process for process in report.processes if process.takes_part]
    return bool(taking_part) and all(
        process.pid != first.pid and process.forked_from is None for process in taking_part
    )
