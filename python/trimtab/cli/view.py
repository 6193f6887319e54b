"""trimtab view: the report page of a run of any size, served to this machine alone."""

from __future__ import annotations

import webbrowser

import click

from trimtab.cli.common import Stopped, echo, fail, find_run, stopped_by_signals


@click.command("view")
@click.argument("run_directory", metavar="RUN")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, metavar="NUMBER", help="Default: any free one."
)
@click.option("--no-browser", is_flag=True, help="Only print the address.")
def view_run(run_directory: str, port: int, no_browser: bool) -> None:
    """Show the report page of a run with all of its events, however many. RUN is a run directory, or `last`.

    The page is served at a secret address of this machine until Ctrl-C: nobody who does not know the address sees it.
    """
    from trimtab.analysis.kept_intervals import KeptIntervals
    from trimtab.analysis.report import build
    from trimtab.heap import prepare_for_long_arrays
    from trimtab.model import RunError
    from trimtab.readers import open_run
    from trimtab.report import lane_page, page
    from trimtab.report.server import PageServer
    from trimtab.text.progress import progress

    directory = find_run(run_directory)
    try:
        run = open_run(directory)
        prepare_for_long_arrays()
        with progress("reading the run"):
            kept = KeptIntervals()
            report = build(run, kept)
            lanes = lane_page(run, is_served=True, kept=(kept,))
        server = PageServer(page(report, lanes, is_served=True).encode(), lanes, port)
    except RunError as error:
        fail(str(error))
    except OSError as error:
        fail(f"{error.filename or f'port {port}'}: {error.strerror}")
    with server, stopped_by_signals(is_background=True):
        try:
            echo(f"trimtab: {directory} at {server.address}")
            echo("trimtab: Ctrl-C ends it", err=True)
            if not no_browser:
                webbrowser.open(server.address)
            server.serve_forever()
        except Stopped:
            pass
