"""trimtab doctor: what this machine allows."""

from __future__ import annotations

import sys

import click

from trimtab.cli.common import echo_json, fail


@click.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@click.option(
    "--network",
    "is_network",
    is_flag=True,
    help="Measure messages between processes of this machine instead, with and without communication servers. Later jobs"
    " choose their servers by that. Takes seconds, on many CPUs half a minute; nothing else should run meanwhile.",
)
def run_doctor(as_json: bool, is_network: bool) -> None:
    """Say what can be observed on this machine, what is missing, and how to get it.

    Exits with 0, or with 1 if no program can be observed at all, or with --network if something could not be measured.
    """
    if is_network:
        sys.exit(_measure_network(as_json))
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


def _measure_network(as_json: bool) -> int:
    from trimtab.doctor.network import NetworkError, measure
    from trimtab.text.progress import progress
    from trimtab.text.saturation import problem_line, saturation

    try:
        with progress("measuring"):
            measured, problem = measure()
    except NetworkError as error:
        fail(str(error), 1)
    if as_json:
        echo_json({"network": [one.as_json() for one in measured], "problem": problem})
    else:
        for one in measured:
            saturation(one.transport, one.points, one.choices)
        if problem:
            problem_line(problem)
    return 1 if problem else 0
