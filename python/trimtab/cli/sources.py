"""What a user names where a run is expected: a run directory, or an event log of Spark."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trimtab.analysis.kept_intervals import KeptIntervals
    from trimtab.model import Run
    from trimtab.model.report import Report
    from trimtab.spark.logs import Log


@dataclass(frozen=True)
class Source:
    """One run: recorded by us, or, with `log`, by Spark."""

    path: Path
    log: Log | None = None

    def report(self, kept: KeptIntervals | None = None) -> Report:
        """Its report.

        Args:
            kept: where the intervals of a recorded run are put, for `lane_page`.

        Raises:
            RunError: it cannot be read.
        """
        if self.log is not None:
            from trimtab.spark.report import build_spark

            return build_spark(self.log)
        from trimtab.analysis.report import build
        from trimtab.spark.with_run import build_spark_run, event_log_of

        run = self.run()
        log = event_log_of(run.directory)
        return build(run, kept) if log is None else build_spark_run(run, log)

    def run(self) -> Run:
        """The run itself; errors as of `report`."""
        if self.log is not None:
            from trimtab.spark.reading import read
            from trimtab.spark.run_model import run_of
            from trimtab.spark.slots import slots_of

            application = read(self.log)
            return run_of(application, slots_of(application), self.path)
        from trimtab.readers import open_run

        return open_run(self.path)


def sources_at(path: Path) -> list[Source]:
    """A run directory, or the event logs at `path`; what is neither is taken for a run, whose reader says what is wrong."""
    from trimtab.spark.logs import is_event_log, logs_at

    if os.path.lexists(path / "run.json") or not is_event_log(path):
        return [Source(path)]
    return [Source(log.path, log) for log in logs_at(path)]


def source_at(path: Path) -> Source:
    """The only one at `path`.

    Raises:
        RunError: there are several event logs.
    """
    from trimtab.model import RunError

    sources = sources_at(path)
    if len(sources) > 1:
        raise RunError(f"{path}: has {len(sources)} event logs; expected one of them")
    return sources[0]
