"""What a sweep has found: its records, and which of them count."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from trimtab.experiments.factors import key_of
from trimtab.experiments.plan import samples_of
from trimtab.experiments.results import Record, Results
from trimtab.experiments.spec import Configuration, Experiment


@dataclass(frozen=True)
class Swept:
    """All that is known of an experiment: its configurations in the file's order, its records, what is to be told."""

    experiment: Experiment
    directory: Path
    configurations: list[Configuration]
    records: list[Record]
    planned: int
    is_stopped: bool
    notes: list[str]

    @property
    def runs(self) -> list[Record]:
        """The record that counts of each run: of several attempts the least disturbed one that is right."""
        chosen: dict[tuple[str, int], Record] = {}
        for record in self.records:
            other = chosen.get(record.key)
            if record.sample > 0 and (other is None or _rank(record) <= _rank(other)):
                chosen[record.key] = record
        return list(chosen.values())

    @property
    def failed(self) -> list[Record]:
        """Of these, the ones that failed."""
        return [run for run in self.runs if run.failure is not None]

    def counts(self) -> dict[str, int]:
        """What was run: nothing is left out unsaid."""
        runs = self.runs
        return {
            # An earlier call may have asked for more samples.
            "planned": max(self.planned, len(runs)),
            "done": len(runs),
            "failed": len(self.failed),
            "repeated": sum(record.attempt > 0 for record in self.records),
            "disturbed": sum(run.is_disturbed for run in runs),
            "warm_up": sum(record.sample < 1 for record in self.records),
        }


def _rank(record: Record) -> tuple[bool, bool, float]:
    """Smaller is better; of equals, the later counts. How fast a run was does not matter."""
    disturbance = (record.others or 0.0) + (record.steal or 0.0)
    return record.failure is not None, record.is_disturbed, disturbance if record.is_disturbed else 0.0


def gathered(
    experiment: Experiment, results: Results, chosen: list[Configuration], is_stopped: bool = False
) -> Swept:
    """What the results say of these configurations; others' records are left out, and counted."""
    keys = {key_of(chosen_row) for chosen_row in chosen}
    chosen_records = [record for record in results.records if key_of(record.configuration) in keys]
    notes = list(results.notes)
    if len(chosen_records) < len(results.records):
        notes.append(
            f"{len(results.records) - len(chosen_records)} recorded runs of configurations that the file no longer has are left out"
        )
    return Swept(
        experiment,
        results.directory,
        chosen,
        chosen_records,
        sum(samples_of(experiment, configuration) for configuration in chosen),
        is_stopped,
        notes,
    )
