"""trimtab import: traces of other tools as run directories."""

from __future__ import annotations

from pathlib import Path

import click

from trimtab.cli.common import echo, fail


@click.command("import")
@click.argument("archive", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="Run directory to write. Default: named after the archive, in this folder.",
)
def import_archive(archive: Path, output: Path | None) -> None:
    """Read an OTF2 archive of another tool, such as Score-P, into a run directory.

    ARCHIVE is a file NAME.otf2 or its folder. All commands read the run: report, compare, export.
    """
    from trimtab.importing import ImportFailure, anchor_of
    from trimtab.importing import import_archive as write_run
    from trimtab.otf2 import MissingPackage, load

    try:
        load()
        anchor = anchor_of(archive)
        folder = archive if archive.is_dir() else archive.absolute().parent
        run = output if output is not None else Path(f"{folder.resolve().name}-run")
        imported = write_run(anchor, run)
    except (ImportFailure, MissingPackage) as error:
        fail(str(error))
    except OSError as error:
        fail(f"{error.filename or archive}: {error.strerror or error}")
    for note in imported.notes:
        echo(f"trimtab: {note}", err=True)
    echo(f"trimtab: run: {imported.run}", err=True)
