"""trimtab check, the command: programs that are deterministic, noisy, or wrong when they are tuned."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from stopping import told_to_stop
from synthetic import LaneFile, ProcessFiles, decision, knob, policy, subject, team_of, write_run
from trimtab.answer_check.compare import Rules
from trimtab.answer_check.outcome import judge
from trimtab.answer_check.sides import Changes, Ran, changes_of
from trimtab.cli import main
from trimtab.readers import open_run
from trimtab.text.check import check_table

# What a program sees of being tuned.
TUNED = '[ -n "$TRIMTAB_RUN" ]'


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TRIMTAB_RUN", raising=False)
    return tmp_path


def check(script: str, *options: str, runs: int = 1) -> Result:
    """Of a script for the shell, with nothing tuned: what differs is what the script does about being watched."""
    command = ["check", "--with-options", "", "--runs", str(runs), *options, "--", "sh", "-c", script]
    return CliRunner().invoke(main, command)


def told(script: str, *options: str, runs: int = 1, code: int = 1) -> dict[str, Any]:
    result = check(script, *options, "--json", runs=runs)
    assert result.exit_code == code, result.output
    one_result: dict[str, Any] = json.loads(result.stdout)
    assert one_result["is_same"] == (code == 0)
    return one_result


def item(result: dict[str, Any], item_name: str) -> dict[str, Any]:
    return next(one_item for one_item in result["items"] if one_item["what"] == item_name)


def test_what_does_the_same_is_same(here: Path) -> None:
    result = check("echo answer 5; echo more >&2; exit 3", runs=2)
    assert result.exit_code == 0, result.output
    for row in ("end", "standard output", "standard error"):
        assert any(row in line and "same" in line for line in result.output.splitlines()), result.output
    assert "exit code 3" in result.output
    assert "2 plain and 2 tuned runs" in result.output
    assert "nothing was changed in the tuned runs: this proves little" in result.output
    assert "the tuned runs do the same" in result.output
    assert not any(here.iterdir()), "nothing is left behind"


def test_a_wrong_answer_is_told_with_its_place() -> None:
    result = check(f"echo head; if {TUNED}; then echo E = 220000; else echo E = 37000; fi", runs=2)
    assert result.exit_code == 1
    assert "DIFFERS at line 2" in result.output
    assert "line 2: expected E = 37000\n" in result.output
    assert "found E = 220000\n" in result.output
    assert "differs in 2 of 2 tuned runs" in result.output
    assert "4 plain and 2 tuned runs" in result.output, "the plain side is asked again"


def test_tolerance() -> None:
    script = f"if {TUNED}; then echo 1.00000000001; else echo 1.0; fi"
    result = told(script)
    assert "--tolerance" in item(result, "standard output")["hint"]
    result = told(script, "--tolerance", "1e-9", code=0)
    assert item(result, "standard output")["verdict"] == "within tolerance"
    assert item(result, "standard output")["largest_difference"]["relative"] == pytest.approx(1e-11, rel=1e-3)
    assert told(script, "--absolute", "1e-10", code=0)["is_same"]


def test_what_differs_by_itself_is_not_charged() -> None:
    result = told("echo answer 5; echo took $(date +%N) ns, process $$", runs=2, code=0)
    assert item(result, "standard output")["verdict"] == "differs by itself"
    assert item(result, "standard output")["first_by_itself"] == 2
    result = told("echo 1 > log.$$; echo 2 > out", "--file", "log.*", "--file", "out", runs=2, code=0)
    assert [one_item["verdict"] for one_item in result["items"] if one_item["what"].startswith("log")] == [
        "differs by itself"
    ] * 4
    assert item(result, "out")["verdict"] == "same"
    told(f"echo 1 > log.$$; {TUNED} || echo 2 > out", "--file", "log.*", "--file", "out", runs=2)


def test_what_differs_by_itself_only_now_and_then_is_found_by_asking_again(here: Path) -> None:
    # Of the plain runs only the second, which is made because the tuned one differs, prints in another order.
    script = "echo x >> count; if [ $(wc -l < count) = 1 ]; then echo a; echo b; else echo b; echo a; fi"
    result = told(script, code=0)
    assert result["plain"]["runs"] == 2 and (here / "count").read_text() == "x\n" * 3


@pytest.mark.parametrize(
    ("script", "what", "expected", "seen"),
    [
        ("exit 4", "end", "exit code 0", "exit code 4"),
        ("kill -SEGV $$", "end", "exit code 0", "killed by SIGSEGV"),
        ("echo trouble >&2", "standard error", None, "trouble"),
        ("printf '\\000'", "standard output", None, "0x00"),
        ("echo 1 > out", "out", "not written", "written"),
    ],
)
def test_all_that_may_differ(script: str, what: str, expected: str | None, seen: str) -> None:
    result = told(f"if {TUNED}; then {script}; fi", "--file", "out")
    assert item(result, what)["verdict"] == "differs"
    assert item(result, what)["places"][0]["expected"] == expected
    assert item(result, what)["places"][0]["found"] == seen
    assert [one_item["verdict"] for one_item in result["items"]].count("differs") == 1


def test_files_that_are_missing_or_other(here: Path) -> None:
    (here / "state").write_text("0\n")
    script = f"echo 1 >> state; seq 5 > out.1; {TUNED} || echo 7 > out.2"
    result = told(script, "--file", "out.*", "--file", "state", "--file", "never", "--no-stderr")
    assert [one_item["what"] for one_item in result["items"]] == [
        "end",
        "standard output",
        "out.1",
        "out.2",
        "state",
    ]
    assert item(result, "out.1")["verdict"] == item(result, "state")["verdict"] == "same"
    assert item(result, "out.2")["places"][0]["found"] == "not written"
    assert item(result, "state")["plain"] == "4 bytes", "each run begins with what was there"
    assert result["notes"] == ["never: no run has written it"]
    assert [path.name for path in here.iterdir()] == ["state"] and (here / "state").read_text() == "0\n"


def test_binary_files_have_their_tolerance() -> None:
    write = "import array, os; array.array('d', [1.0, 2.0 + 1e-12 * ('TRIMTAB_RUN' in os.environ)]).tofile(open('out', 'wb'))"
    script = f"{shlex.quote(sys.executable)} -c {shlex.quote(write)}"
    assert item(told(script, "--file", "out"), "out")["places"][0]["unit"] == "byte"
    assert item(told(script, "--binary", "f64", "out"), "out")["places"][0]["unit"] == "number"
    result = told(script, "--binary", "f64", "out", "--tolerance", "1e-9", code=0)
    assert item(result, "out")["verdict"] == "within tolerance"


def test_lines_to_ignore_and_any_order() -> None:
    script = f"if {TUNED}; then echo t $$; echo b; echo a; else echo a; echo b; fi"
    assert "--any-order" not in (item(told(script), "standard output")["hint"] or "")
    assert "--any-order" in item(told(script, "--ignore", "^t "), "standard output")["hint"]
    assert told(script, "--ignore", "^t ", "--any-order", code=0)["is_same"]


def test_input_is_read_anew_by_each_run(here: Path) -> None:
    (here / "in").write_text("3 4\n")
    assert item(told("cat; echo .", "--input", "in", code=0), "standard output")["plain"] == "6 bytes"
    assert item(told("cat; echo .", code=0), "standard output")["plain"] == "2 bytes"


def test_what_hangs_when_tuned() -> None:
    # As written it must be done in this time, on a loaded machine too.
    result = told(f"if {TUNED}; then sleep 600; fi", "--timeout", "10")
    assert item(result, "end")["tuned"] == "timed out after 10 s"


def test_everything_is_kept_where_asked(here: Path) -> None:
    told("echo hello; echo 1 > out", "--file", "out", "-o", "kept", code=0)
    assert (here / "kept/tuned-1/stdout").read_text() == "hello\n"
    assert (here / "kept/plain-1/files/out").read_text() == "1\n"
    assert open_run(here / "kept/tuned-1/run").info["argv"][0] == "sh"
    refused = check("true", "-o", "kept")
    assert refused.exit_code == 2 and "--output kept" in refused.output


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            ("--with-options", "", "--ignore", "(", "--", "true"),
            ["--ignore '('", "expected a regular expression"],
        ),
        (("--with-options", "--no-such", "--", "true"), ["--with-options '--no-such'", "No such option"]),
        (("--with-options", "'", "--", "true"), ["--with-options ''", "No closing quotation"]),
        (("--with-options", "", "--", "./no-such-program"), ["./no-such-program", "No such file"]),
        (
            ("--with-options", "", "--timeout", "0.2", "--", "sleep", "60"),
            ["timed out after 0.2 s", "--timeout"],
        ),
        (("--input", "no-such-file", "--", "true"), ["--input", "no-such-file"]),
        (("--tolerance", "-1", "--", "true"), ["--tolerance", "-1"]),
        (("--binary", "f16", "out", "--", "true"), ["--binary", "f16"]),
        (("--runs", "0", "--", "true"), ["--runs", "0"]),
        ((), ["PROGRAM"]),
    ],
)
def test_what_cannot_be_checked(options: tuple[str, ...], words: list[str]) -> None:
    result = CliRunner().invoke(main, ["check", *options])
    assert result.exit_code == 2, result.output
    assert all(word in result.output for word in words), result.output


def test_told_to_stop_it_ends_the_program_and_puts_the_files_back(here: Path) -> None:
    (here / "state").write_text("0")
    command = [sys.executable, "-c", "from trimtab.cli import main; main()", "check", "--with-options", ""]
    assert "stopped" in told_to_stop([*command, "--file", "state"], here, first="echo 1 > state")
    assert (here / "state").read_text() == "0"


def test_decisions_of_tuned_runs_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = [subject(1, name="mandel.c:48"), knob(1, 1, "threads"), policy(1, "tuner")]
    created = [decision(at, at, 1, 1, (4, 3), outcome, b"") for at, outcome in enumerate((1, 1, 2, 3, 4), 1)]
    lanes = [LaneFile(team_of(1, 4.0, [3.0, 2.0]), run_s=3.0), LaneFile(run_s=2.0)]
    run = write_run(tmp_path / "run", ProcessFiles(lanes, names, parallel=4.0, decisions=created))
    assert changes_of(open_run(run)) == Changes(kept=2, tried=2)


def ran(folder: Path, name: str, end: str, is_killed: bool = False) -> Ran:
    path = folder / name
    path.write_text("")
    return Ran(end, is_killed, 1.0, path, path, {})


@pytest.mark.parametrize(
    ("plain", "tuned", "verdict"),
    [
        (["exit code 0"] * 2, "exit code 1", "differs"),
        (["exit code 0", "exit code 1"], "exit code 1", "differs by itself"),
        (["exit code 0", "exit code 1"], "exit code 2", "differs by itself"),
        (["exit code 0", "exit code 1"], "killed by SIGSEGV", "differs"),
        (["exit code 0", "killed by SIGSEGV"], "killed by SIGSEGV", "differs by itself"),
    ],
)
def test_programs_that_end_now_so_now_so(tmp_path: Path, plain: list[str], tuned: str, verdict: str) -> None:
    runs = [ran(tmp_path, f"p{number}", end) for number, end in enumerate(plain)]
    end = judge(runs, [ran(tmp_path, "t", tuned, tuned.startswith("killed"))], Rules(), True)[0]
    assert end.compared.verdict == verdict


@pytest.mark.parametrize(
    ("recorded", "kept", "tried", "words"),
    [
        (0, 0, 0, "this proves nothing"),
        (3, 0, 0, "run longer or use --budget"),
        (3, 0, 5, "0 changes kept in 3 tuned runs, 5 tried"),
        (3, 1, 5, "1 change kept in 3 tuned runs, 5 tried"),
    ],
)
def test_how_much_it_proves(
    capsys: pytest.CaptureFixture[str], recorded: int, kept: int, tried: int, words: str
) -> None:
    tuned = {"runs": 3, "wall_s": 1.0, "recorded": recorded, "kept": kept, "tried": tried}
    check_table(
        {"plain": {"runs": 3, "wall_s": 1.0}, "tuned": tuned, "items": [], "notes": [], "is_same": True}
    )
    assert words in capsys.readouterr().out
