"""trimtab explain: why a run lost core time, finding by finding."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from trimtab.cli.common import echo_json, fail, find_run
from trimtab.cli.sources import source_at

if TYPE_CHECKING:
    from trimtab.model.report import Finding, Report


@click.command("explain")
@click.argument("run_directory", metavar="RUN")
@click.argument("wanted", metavar="[FINDING]", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
def explain_run(run_directory: str, wanted: str | None, as_json: bool) -> None:
    """Explain the findings of a run, with the chain of waits behind them.

    RUN is a run directory, `last`, or an event log of Spark. FINDING is a number of the list that is printed without it, or a
    cause, for example `imbalance`.
    """
    from trimtab.model import RunError
    from trimtab.model.report_json import as_json as plain
    from trimtab.text.explanation import explanation, finding_list

    try:
        report = source_at(find_run(run_directory)).report()
    except RunError as error:
        fail(str(error))
    except OSError as error:
        fail(f"{error.filename}: {error.strerror}")
    chosen = chosen_findings(report, wanted)
    if as_json:
        echo_json([plain(report.findings[at]) for at in chosen])
    elif wanted is None:
        finding_list(report)
    else:
        for at in chosen:
            explanation(report, at)


def chosen_findings(report: Report, wanted: str | None) -> list[int]:
    """Places of the findings that are asked for: a number from 1 on, a cause, or None for all."""
    findings = report.findings
    if wanted is None:
        return list(range(len(findings)))
    if wanted.isdecimal():
        if not 1 <= int(wanted) <= len(findings):
            fail(f"FINDING: expected a number from 1 to {len(findings)}, found {wanted}")
        return [int(wanted) - 1]
    chosen = [at for at, finding in enumerate(findings) if _is_named(finding, wanted)]
    if not chosen:
        causes = ", ".join(dict.fromkeys(str(finding.cause) for finding in findings)) or "none"
        fail(f"FINDING: no finding has the cause {wanted!r}; this run has: {causes}")
    return chosen


def _is_named(finding: Finding, wanted: str) -> bool:
    return str(finding.cause).casefold() == wanted.casefold()
