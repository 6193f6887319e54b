"""What a sweep leaves in its folder beside the results: tables, figures, one page that shows all."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from trimtab.experiments.drawings import figures_of
from trimtab.experiments.page import page
from trimtab.experiments.summary import Summary
from trimtab.experiments.swept import Swept
from trimtab.experiments.tables import tables_of, write_tables
from trimtab.experiments.violins import violins_of
from trimtab.figures import Figure, MissingMatplotlib, Violins, draw
from trimtab.whole_files import write_whole


@dataclass(frozen=True)
class Outputs:
    """The files, and what could not be made."""

    tables: list[Path]
    figures: list[Path]
    page: Path
    notes: list[str]


def write_outputs(swept: Swept, summary: Summary) -> Outputs:
    """Writes all of it; each file whole or not at all.

    Raises:
        OSError: a file cannot be written.
    """
    swept.directory.mkdir(parents=True, exist_ok=True)
    tables, notes = write_tables(tables_of(swept, summary), swept.directory)
    figures, missing = figures_of(swept.experiment, summary)
    violins, missing_rows = violins_of(swept, summary)
    missing += missing_rows
    drawn: list[tuple[Figure | Violins, bytes]] = []
    files: list[Path] = []
    folder = swept.directory / "figures"
    try:
        wanted: list[Figure | Violins] = [*figures, *violins]
        for figure in wanted:
            svg, png = draw(figure)
            folder.mkdir(exist_ok=True)
            files += [
                write_whole(folder / f"{figure.name}.svg", svg),
                write_whole(folder / f"{figure.name}.png", png),
            ]
            drawn.append((figure, svg))
    except MissingMatplotlib as error:
        missing = [str(error)]
    notes += missing
    text = page(swept, summary, drawn, [*swept.notes, *missing])
    return Outputs(tables, files, write_whole(swept.directory / "index.html", text.encode()), notes)
