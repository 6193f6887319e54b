"""trimtab spark: where the time of a Spark application went, from its event log."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from trimtab.cli.common import NewFile, echo, echo_json, fail

if TYPE_CHECKING:
    from trimtab.model.report import Report
    from trimtab.spark.logs import Log


@click.command("spark")
@click.argument("log", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON; of several logs, a list.")
@click.option("--html", type=NewFile(), help="Write a page that opens without a server.")
def run_spark(log: Path, as_json: bool, html: Path | None) -> None:
    """Show where the time of a Spark application's cores went, from its event log alone.

    LOG is an event log, the folder of a rolling log, or a folder with several logs: plain or compressed (zstd, lz4, snappy,
    gz), also while it is still being written. `trimtab compare` and `trimtab export` take event logs, too.
    """
    from trimtab.model import RunError
    from trimtab.spark.logs import logs_at

    try:
        logs = logs_at(log)
        if html is not None and len(logs) > 1:
            fail(f"{log}: has {len(logs)} event logs; --html needs one of them")
        _show(logs, as_json, html)
    except RunError as error:
        fail(str(error))
    except BrokenPipeError:
        sys.stderr.close()
    except OSError as error:
        fail(f"{error.filename or log}: {error.strerror or error}")


def _show(logs: list[Log], as_json: bool, html: Path | None) -> None:
    from trimtab.model import RunError
    from trimtab.model.report_json import as_json as plain
    from trimtab.text.spark import spark_tables

    reports = []
    for entry in logs:
        try:
            report = build_from_log(entry)
        except RunError as error:
            if len(logs) == 1:
                raise
            echo(f"trimtab: {error}; left out", err=True)
            continue
        if html is not None:
            _write_page(report, entry, html)
            echo(f"trimtab: report page: {html}", err=True)
        elif as_json:
            reports.append(plain(report))
        else:
            spark_tables(report, entry.path)
    if as_json and html is None:
        echo_json(reports[0] if len(logs) == 1 else reports)


def build_from_log(log: Log) -> Report:
    """The report of one log, with progress by the bytes that are read."""
    from trimtab.spark.report import build_spark
    from trimtab.text.progress import progress

    with progress(f"reading {log.path.name}", log.bytes_on_disk) as advance:
        return build_spark(log, advance)


def _write_page(report: Report, log: Log, html: Path) -> None:
    """With the lanes, which are read once more."""
    from trimtab.cli.sources import Source
    from trimtab.report import lane_page, write_html
    from trimtab.text.progress import progress

    with progress("drawing the lanes"):
        lanes = lane_page(Source(log.path, log).run())
    write_html(report, html, lanes)
