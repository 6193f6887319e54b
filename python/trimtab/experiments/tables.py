"""The tables as files: CSV always, Parquet where pyarrow is installed."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from trimtab.experiments.fields import as_word
from trimtab.experiments.run_groups import Run, averages, outliers, runs_of
from trimtab.experiments.spec import AverageSpec, BestSpec, OutlierSpec
from trimtab.experiments.summary import Best, Summary, columns, values_of
from trimtab.experiments.swept import Swept
from trimtab.whole_files import write_whole

Cell = str | int | float | bool | None
NO_PARQUET = "no .parquet tables: pyarrow is not installed (pip install 'trimtab[parquet]'); the .csv tables have the same"


@dataclass(frozen=True)
class Table:
    """Rows of cells under names; None is what has no value."""

    name: str
    columns: list[str]
    rows: list[list[Cell]]


def tables_of(swept: Swept, summary: Summary) -> list[Table]:
    """`table`: a row a configuration; `runs`: a row for each finished run, whether it counts or not; `best`; means and outliers that are asked for."""
    runs = runs_of(swept)
    return [
        _summary_table(summary),
        _runs_table(swept),
        *_best_tables(summary),
        *_numbered("average", [average_table(spec, runs) for spec in swept.experiment.averages]),
        *_numbered("outliers", [outlier_table(spec, runs) for spec in swept.experiment.outliers]),
    ]


def _numbered(name: str, contents: Sequence[tuple[list[str], list[list[Cell]]]]) -> list[Table]:
    return [
        Table(name if at == 1 else f"{name}-{at}", names, rows)
        for at, (names, rows) in enumerate(contents, 1)
    ]


def average_table(spec: AverageSpec, runs: Sequence[Run]) -> tuple[list[str], list[list[Cell]]]:
    """Columns and rows of a table of means."""
    rows: list[list[Cell]] = [
        [*row.group.values(), row.runs, *(row.means.get(metric) for metric in spec.metrics)]
        for row in averages(spec, runs)
    ]
    return [*spec.per, "runs", *spec.metrics], rows


def outlier_table(spec: OutlierSpec, runs: Sequence[Run]) -> tuple[list[str], list[list[Cell]]]:
    """Columns and rows of a list of outliers: which run, and how far it is from the others."""
    factors = list(runs[0].record.configuration) if runs else []
    names = [*factors, "sample", "started", "metric", "value", "q1", "q3", "iqrs_away"]
    rows: list[list[Cell]] = [
        [
            *far.record.configuration.values(),
            far.record.sample,
            far.record.started,
            far.metric,
            far.value,
            far.quarter,
            far.three_quarters,
            # Where all others are equal there is no unit to count in.
            far.distance if math.isfinite(far.distance) else None,
        ]
        for far in outliers(spec, runs)
    ]
    return names, rows


def _summary_table(summary: Summary) -> Table:
    factors = list(summary.rows[0].configuration) if summary.rows else []
    # A metric that no run has, such as cache misses on a machine without counters, has no column.
    present = [
        one_metric.name
        for one_metric in summary.metrics
        if any(one_metric.name in row.spreads for row in summary.rows)
    ]
    names = [*factors, "runs", "failed", "disturbed"]
    for metric in present:
        names += [metric, *(f"{metric}_{part_name}" for part_name in ("iqr", "q1", "q3", "min", "n"))]
    rows: list[list[Cell]] = []
    for row in summary.rows:
        cells: list[Cell] = [*row.configuration.values(), row.runs, row.failed, row.disturbed]
        for metric in present:
            spread = row.spreads.get(metric)
            cells += (
                [None] * 5 + [0]
                if spread is None
                else [
                    spread.median,
                    spread.iqr,
                    spread.quarter,
                    spread.three_quarters,
                    spread.least,
                    spread.count,
                ]
            )
        rows.append(cells)
    return Table("table", names, rows)


def _runs_table(swept: Swept) -> Table:
    metrics = columns(swept.experiment, swept.records)
    values = [values_of(swept.experiment, metrics, record) for record in swept.records]
    present = [
        metric.name for metric in metrics if any(metric.name in record_values for record_values in values)
    ]
    factors = [factor.name for factor in swept.experiment.factors]
    chosen = set(map(id, swept.runs))
    description = [
        "sample",
        "attempt",
        "counts",
        "started",
        "failure",
        "code",
        "signal",
        "others",
        "steal",
        "is_disturbed",
    ]
    rows: list[list[Cell]] = [
        [
            *(record.configuration[name] for name in factors),
            record.sample,
            record.attempt,
            id(record) in chosen and record.failure is None,
            *(getattr(record, name) for name in description[3:]),
            *(record_values.get(name) for name in present),
        ]
        for record, record_values in zip(swept.records, values, strict=True)
    ]
    return Table("runs", [*factors, *description, *present], rows)


def _best_tables(summary: Summary) -> list[Table]:
    table_rows = []
    for at, (spec, groups) in enumerate(summary.best, 1):
        names, rows = best_rows(spec, groups)
        table_rows.append(Table("best" if at == 1 else f"best-{at}", names, rows))
    return table_rows


def best_rows(spec: BestSpec, groups: Sequence[Best]) -> tuple[list[str], list[list[Cell]]]:
    """Columns and rows of a table of best configurations: group, figure with spread, then what is to be shown."""
    factors = list(groups[0].row.configuration) if groups else list(spec.per)
    rest = [name for name in factors if name not in spec.per]
    shown = [name for name in spec.show if name not in factors]
    names = [*spec.per, *rest, spec.metric, f"{spec.metric}_iqr", f"{spec.metric}_min", f"{spec.metric}_n"]
    rows: list[list[Cell]] = []
    for group in groups:
        medians = [group.row.spreads[name].median if name in group.row.spreads else None for name in shown]
        rows.append(
            [
                *group.group.values(),
                *(group.row.configuration[name] for name in rest),
                *(group.spread.median, group.spread.iqr, group.spread.least, group.spread.count),
                *medians,
                group.as_good,
            ]
        )
    return [*names, *shown, "as_good"], rows


def write_tables(tables: Sequence[Table], directory: Path) -> tuple[list[Path], list[str]]:
    """Writes each table; the files, and what is missing."""
    files = []
    for table in tables:
        files.append(write_whole(directory / f"{table.name}.csv", _csv(table)))
    try:
        from trimtab.experiments.parquet import parquet
    except ImportError:
        return files, [NO_PARQUET]
    for table in tables:
        files.append(write_whole(directory / f"{table.name}.parquet", parquet(table)))
    return files, []


def _csv(table: Table) -> bytes:
    """RFC 4180, empty where there is no value."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table.columns)
    writer.writerows([[_cell(cell) for cell in row] for row in table.rows])
    return text.getvalue().encode()


def _cell(value: Cell) -> Cell:
    return as_word(value) if isinstance(value, bool) else value
