"""The results of several hosts, or of parts of an experiment, put together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from trimtab.experiments.factors import configurations, key_of
from trimtab.experiments.plan import samples_of
from trimtab.experiments.results import Record, recorded
from trimtab.experiments.spec import HOST, Experiment, ExperimentError
from trimtab.experiments.swept import Swept


def gathered_from(experiment: Experiment, folders: Sequence[Path], directory: Path) -> Swept:
    """The runs in all `folders` as one sweep, whose tables and figures belong into `directory`.

    A factor that is the host's name has the names that are in the results, in their order.

    Raises:
        ExperimentError: a folder holds other results, or none; or two folders hold the same run.
    """
    records: list[Record] = []
    origin: dict[tuple[str, int], Path] = {}
    for folder in folders:
        found = recorded(folder, experiment)
        for record in found:
            if origin.setdefault(record.key, folder) != folder:
                raise ExperimentError(
                    f"{folder}: expected runs that no other folder has, found sample {record.sample} of "
                    f"{key_of(record.configuration)}, which {origin[record.key]} has too"
                )
        records += found
    whole = _with_hosts(experiment, records)
    chosen = configurations(whole)
    keys = {key_of(configuration) for configuration in chosen}
    kept = [record for record in records if key_of(record.configuration) in keys]
    notes = [f"put together from {len(folders)} folders"]
    if len(kept) < len(records):
        notes.append(f"{len(records) - len(kept)} recorded runs of other configurations are left out")
    return Swept(
        whole,
        directory,
        chosen,
        kept,
        sum(samples_of(whole, configuration) for configuration in chosen),
        False,
        notes,
    )


def _with_hosts(experiment: Experiment, records: Sequence[Record]) -> Experiment:
    factors = []
    for factor in experiment.factors:
        if factor.kind == HOST:
            names = dict.fromkeys(
                record.configuration[factor.name] for record in records if factor.name in record.configuration
            )
            factor = replace(factor, values=tuple(names) or factor.values)
        factors.append(factor)
    return replace(experiment, factors=tuple(factors))
