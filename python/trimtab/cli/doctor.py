"""trimtab doctor: what this machine allows."""

from __future__ import annotations

import sys

import click

from trimtab.cli.common import echo_json


@click.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def run_doctor(as_json: bool) -> None:
    """Say what can be observed on this machine, what is missing, and how to get it.

    Exits with 0, or with 1 if no program can be observed at all.
    """
    from trimtab.doctor.diagnosis import diagnose
    from trimtab.text.diagnosis import diagnosis
    from trimtab.text.progress import progress

    with progress("looking"):
        checks = diagnose()
    if as_json:
        parts = {
            "observes": checks.observes,
            "checks": [check.as_json() for check in checks.checks],
            "runtimes": [runtime.as_json() for runtime in checks.runtimes],
        }
        echo_json(parts)
    else:
        diagnosis(checks.checks)
    sys.exit(0 if checks.observes else 1)
