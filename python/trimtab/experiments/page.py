"""index.html: all figures and tables of a sweep on one page that opens without a server or network."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from html import escape as html_escape

from trimtab.escapes import printable
from trimtab.experiments.columns import labelled
from trimtab.experiments.factors import titled
from trimtab.experiments.fields import as_word
from trimtab.experiments.run_groups import runs_of
from trimtab.experiments.spec import Experiment
from trimtab.experiments.summary import Summary
from trimtab.experiments.swept import Swept
from trimtab.experiments.tables import Cell, average_table, best_rows, outlier_table
from trimtab.figures import Figure, Violins

_STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 75rem; padding: 0 1rem; color: #222;
  background: #fff }
h1 { font-size: 1.5rem } h2 { font-size: 1.15rem; margin-top: 2.2rem }
figure { margin: 1.2rem 0 } figure img { max-width: 100%; height: auto }
.wide { overflow-x: auto } table { border-collapse: collapse; font-variant-numeric: tabular-nums }
th, td { padding: .2rem .7rem; text-align: right; border-bottom: 1px solid #ddd; white-space: nowrap }
th { border-bottom: 2px solid #888 } td.word, th.word { text-align: left }
pre { background: #f5f5f5; padding: .6rem; overflow-x: auto } .note { color: #7a4a00 }
"""
_MOST_FAILURES = 50


def escape(text: str) -> str:
    """A text of others as the page shows it: neither a tag, nor what changes the direction of what follows."""
    return html_escape(printable(text))


def page(
    swept: Swept, summary: Summary, figures: Sequence[tuple[Figure | Violins, bytes]], notes: Sequence[str]
) -> str:
    """The whole page. `figures` come with their SVG; the same data gives the same page."""
    experiment = swept.experiment
    parts = [f"<h1>{escape(experiment.title)}</h1>", f"<p>{escape(told(swept))}</p>"]
    parts += [f'<p class="note">{escape(note)}</p>' for note in notes]
    for spec, groups in summary.best:
        parts += [
            f"<h2>{escape(spec.title)}</h2>",
            _table(*best_rows(spec, groups), _heads(experiment, summary)),
        ]
    runs = runs_of(swept)
    contents = [(spec.title, average_table(spec, runs)) for spec in experiment.averages]
    contents += [(spec.title, outlier_table(spec, runs)) for spec in experiment.outliers]
    for title, (names, rows) in contents:
        parts += [f"<h2>{escape(title)}</h2>", _table(names, rows, _heads(experiment, summary))]
    if figures:
        parts.append("<h2>Figures</h2>")
        note = "Medians; bars reach from the first to the third quartile."
        parts.append(
            f"<p>{note}</p>" if any(figure.has_errors for figure, _ in figures) else "<p>Medians.</p>"
        )
        parts += [_figure(figure, svg) for figure, svg in figures]
    parts += ["<h2>Configurations</h2>", _table(*_short(summary), _heads(experiment, summary))]
    parts += _failures(swept)
    parts += [
        "<h2>Command</h2>",
        f"<pre>{escape(' '.join(experiment.command))}</pre>",
        _fixed_text(experiment),
    ]
    body = "\n".join(parts)
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width"><title>{escape(experiment.title)}</title>'
        f"<style>{_STYLE}</style></head>\n<body>\n{body}\n</body></html>\n"
    )


def told(swept: Swept) -> str:
    """What was run, in a sentence."""
    counts = swept.counts()
    text = f"{counts['done']} of {counts['planned']} runs of {len(swept.configurations)} configurations"
    for name in ("failed", "repeated", "disturbed", "warm_up"):
        if counts[name]:
            text += f", {counts[name]} {name.replace('_', '-')}"
    return text


def _heads(experiment: Experiment, summary: Summary) -> dict[str, str]:
    heads = {"as_good": "others as good", "iqrs_away": "interquartile ranges away"}
    for metric in summary.metrics:
        heads[metric.name] = labelled(metric.title, metric.unit)
        heads |= {
            f"{metric.name}_{part_name}": word
            for part_name, word in (("iqr", "IQR"), ("min", "min"), ("n", "n"))
        }
    return {**heads, **{factor.name: labelled(factor.title, factor.unit) for factor in experiment.factors}}


def _short(summary: Summary) -> tuple[list[str], list[list[Cell]]]:
    """Medians with their spread; table.csv has the rest."""
    metrics = [
        metric.name for metric in summary.metrics if any(metric.name in row.spreads for row in summary.rows)
    ]
    factors = list(summary.rows[0].configuration) if summary.rows else []
    rows: list[list[Cell]] = []
    for row in summary.rows:
        cells: list[Cell] = [*row.configuration.values(), row.runs]
        for name in metrics:
            spread = row.spreads.get(name)
            cells += [None, None] if spread is None else [spread.median, spread.iqr]
        rows.append(cells)
    return [*factors, "runs", *(part for name in metrics for part in (name, f"{name}_iqr"))], rows


def _table(names: Sequence[str], rows: Sequence[Sequence[Cell]], heads: Mapping[str, str]) -> str:
    words = {at for at in range(len(names)) if any(isinstance(row[at], str) for row in rows)}

    def line(cells: Sequence[str], kind: str) -> str:
        inner = "".join(
            f"<{kind}{' class=word' if at in words else ''}>{escape(cell)}</{kind}>"
            for at, cell in enumerate(cells)
        )
        return f"<tr>{inner}</tr>"

    body = "\n".join(line([written(element) for element in row], "td") for row in rows)
    return f'<div class="wide"><table>{line([heads.get(name, name) for name in names], "th")}\n{body}</table></div>'


def written(cell: Cell) -> str:
    """A cell with four digits, which is more than a median of some samples is good for.

    Example:
        >>> written(0.123456), written(1234567), written(None)
        ('0.1235', '1234567', '')
    """
    if cell is None:
        return ""
    if isinstance(cell, float):
        return f"{cell:.0f}" if 1000 <= abs(cell) < 1e7 else f"{cell:.4g}"
    return as_word(cell)


def _figure(figure: Figure | Violins, svg: bytes) -> str:
    # As an image, so that ids inside one SVG do not meet those of another.
    data = base64.b64encode(svg).decode("ascii")
    alt = f"{figure.title}: {figure.y_label} over {figure.x_label}"
    return f'<figure><img alt="{escape(alt)}" src="data:image/svg+xml;base64,{data}"></figure>'


def _failures(swept: Swept) -> list[str]:
    failed = swept.failed
    if not failed:
        return []
    parts = [f"<h2>Failed runs: {len(failed)}</h2>"]
    for element in failed[:_MOST_FAILURES]:
        text = "\n".join(
            [f"{titled(element.configuration)} (sample {element.sample}): {element.failure}", *element.stderr]
        )
        parts.append(f"<pre>{escape(text)}</pre>")
    return parts


def _fixed_text(experiment: Experiment) -> str:
    fixed_values = {**experiment.fixed, **experiment.environment}
    return (
        _table(["name", "value"], [[name, as_word(value)] for name, value in fixed_values.items()], {})
        if fixed_values
        else ""
    )
