"""The tables of options: one meaning for each variable, and the command takes the values that the library takes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from trimtab import options
from trimtab.bare import NotPrepared
from trimtab.cli.main import main
from trimtab.launcher import Options, launch
from trimtab.options import checked_environment, job_option, library_option, runtime_option

ROOT = Path(__file__).parent.parent.parent
WRITE_TABLES = ROOT / "rooms/options/write_tables.py"
PROGRAM = ROOT / "build/wheel/rooms/session/trimtab-options"
EXPORT = json.loads((ROOT / "python/trimtab/options.json").read_text())
TABLES = ("library", "runtime", "job")
VARIABLES = [entry["variable"] for table in TABLES for entry in EXPORT[table]]


def test_generated_tables_are_those_of_the_sources() -> None:
    completed = subprocess.run(
        [sys.executable, WRITE_TABLES, "--check"], capture_output=True, text=True, check=False
    )
    assert (completed.returncode, completed.stdout) == (0, ""), completed.stdout + completed.stderr


def test_each_variable_has_one_meaning() -> None:
    assert len(VARIABLES) > 25
    assert len(set(VARIABLES)) == len(VARIABLES)


def option(variable: str) -> options.Option:
    look_up = {"library": library_option, "runtime": runtime_option, "job": job_option}
    return next(look_up[table](variable) for table in TABLES if variable in _names(table))


def _names(table: str) -> list[str]:
    return [entry["variable"] for entry in EXPORT[table]]


def test_every_default_is_allowed() -> None:
    for variable in VARIABLES:
        default = option(variable).default
        assert default == "" or option(variable).problem(default) is None, variable


def values_to_try(of: options.Option) -> list[str]:
    """Allowed ones and their neighbours."""
    tried = [
        "",
        "0",
        "1",
        "2",
        "00",
        "01",
        "-1",
        "+1",
        "1.5",
        "yes",
        " 1",
        "1 ",
        "٣",
        "99999999999999999999",
        "mine.py",
    ]
    tried += [str(entry) for entry in (of.least - 1, of.least, of.most, of.most + 1)]
    tried += [
        *of.words,
        ",".join(of.words),
        *(f"{word}x" for word in of.words),
        *(f"{word}:" for word in of.words),
    ]
    tried += [
        "a/b.py",
        ".py",
        "mine.pyc",
        *(f"{word}," for word in of.words),
        *(f",{word}" for word in of.words),
    ]
    return tried


def test_the_command_allows_what_the_library_allows() -> None:
    # What a selection may be is checked by the command alone; the library reports words that it does not know.
    names = [variable for variable in VARIABLES if option(variable).kind != "selection"]
    cases = [(name, value) for name in names for value in values_to_try(option(name)) if "\n" not in value]
    lines = "".join(f"{name}={value}\n" for name, value in cases)
    completed = subprocess.run([PROGRAM, "check"], input=lines, capture_output=True, text=True, check=True)
    answers = completed.stdout.split()
    assert len(answers) == len(cases) > 300 and {"allowed", "refused"} == set(answers)
    different = [
        (name, value, answer)
        for (name, value), answer in zip(cases, answers, strict=True)
        if (option(name).problem(value) is None) != (answer == "allowed")
    ]
    assert different == []


def test_tunables_are_checked_behind_their_policy() -> None:
    threads = library_option("TRIMTAB_THREADS")
    assert threads.problem("asat-v2:bad_trig=1,flag=off") is None
    assert threads.problem("asat-v2:bad_trig=0") is not None
    assert threads.problem("regions:bad_trig=1") is not None


def test_what_the_library_would_not_understand_is_not_started() -> None:
    with pytest.raises(
        ValueError, match="TRIMTAB_LEVEL: expected one of off, idle, profile, trace, found 'all'"
    ):
        checked_environment({"TRIMTAB_LEVEL": "all"})
    with pytest.raises(KeyError):
        checked_environment({"TRIMTAB_LEVLE": "trace"})
    assert checked_environment({"TRIMTAB_LEVEL": "trace", "TRIMTAB_SEED": None}) == {"TRIMTAB_LEVEL": "trace"}


def test_a_program_is_not_started_with_a_wrong_option(tmp_path: Path) -> None:
    with pytest.raises(NotPrepared, match="TRIMTAB_KEEP: expected one of first, last, found 'newest'"):
        launch(["touch", str(tmp_path / "started")], Options(tmp_path / "run", keep="newest"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (("--tune", "--seed", str(1 << 64)), "is not in the range 0<=x<=18446744073709551615"),
        (("--max-trace", "65T"), "65T: expected a number from 1 to 70368744177664"),
        (("--max-trace", "0"), "0: expected a number from 1 to"),
        (("--tune=known",), "'known' is not one of 'off', 'on', 'shuffle'"),
        (
            ("--tune", "--search", "genetic"),
            "'genetic' is not one of 'exhaustive', 'random', 'hill-climbing'",
        ),
        (
            ("--tune", "--policy", "arcs"),
            "expected tuner, arcs-online, arcs-offline or a file FILE.py, found 'arcs'",
        ),
    ],
)
def test_the_command_refuses_what_the_library_would(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: tuple[str, ...], told: str
) -> None:
    monkeypatch.chdir(tmp_path)
    completed = CliRunner().invoke(main, ["run", *given, "--", "touch", "started"])
    assert (completed.exit_code, list(tmp_path.iterdir())) == (2, [])
    assert told in completed.output
