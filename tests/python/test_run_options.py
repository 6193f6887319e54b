"""What `trimtab run` refuses before the program starts: it tells the option, what was found and what was expected."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from reports import typed
from trimtab.cli.main import main

ROOT = Path(__file__).parent.parent.parent


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--with", "cpu,speed"), "unknown probe 'speed'; choose from threads, states, switches, cpu"),
        (("--with", "+hwcounter"), "unknown probe 'hwcounter'; choose from"),
        (("--html", "no-such-folder/page.html"), "folder no-such-folder does not exist"),
        (("--html", "."), ".: is a folder"),
        (("--search", "random"), "--search needs --tune or --frozen"),
        (("--budget", "0"), "--budget needs --tune or --frozen"),
        (("--seed", "0"), "--seed needs --tune or --frozen"),
        (("--tune=off", "--input-class", "small"), "--input-class needs --tune or --frozen"),
        (
            ("--tune=off", "--history", "known.sqlite", "--threads", "fit"),
            "--history needs --tune or --frozen",
        ),
        (
            ("--threads", "asat-v3"),
            "expected one of fit, regions, asat-v1, asat-v2, asat-v1-timed, asat-v2-reset, found 'asat-v3'",
        ),
        (
            ("--threads", "asat-v2:bad_tirg=1"),
            "'bad_tirg=1': expected a tunable of asat-v2: eval_time_s, bad_",
        ),
        (("--threads", "asat-v2:bad_trig=1.5"), "'bad_trig=1.5': expected a whole number above 0"),
        (("--threads", "asat-v2:nice=20"), "'nice=20': expected a whole number from 0 to 19"),
        (("--threads", "asat-v2:dip_below=1"), "'dip_below=1': expected bad_time or eval_time"),
        (
            ("--threads", "asat-v1:eval_time_s=1"),
            "'eval_time_s=1': expected a tunable of asat-v1: bad_spread, bad_",
        ),
        (("--threads", "fit:calm_s=-1"), "'calm_s=-1': expected a number above 0"),
        (("--threads", "asat-v2:flag=0"), "'flag=0': expected on or off"),
        (("--threads", "regions:flag=off"), "'flag=off': expected a tunable of regions: none"),
        (("--threads", "regions:calm_s=1"), "'calm_s=1': expected a tunable of regions: none"),
        (("--virtual-threads",), "--virtual-threads needs --tune or --frozen"),
    ],
)
def test_options_that_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], told: str
) -> None:
    monkeypatch.chdir(tmp_path)
    completed = CliRunner().invoke(main, ["run", *options, "--", "touch", "started"])
    assert completed.exit_code == 2
    assert told in completed.output
    assert list(tmp_path.iterdir()) == []


def test_page_that_cannot_be_written_is_named_as_the_user_did(tmp_path: Path) -> None:
    from trimtab.report import html

    if not html._PAGE.is_file():
        pytest.skip("the page was not built")
    target = tmp_path / "away" / "page.html"
    with pytest.raises(FileNotFoundError) as caught:
        html.write_html(typed({}), target)
    assert caught.value.filename == str(target)


def test_every_option_is_in_a_page() -> None:
    context = click.Context(main)
    result = [main.get_command(context, command) for command in main.list_commands(context)]
    commands = [main, *(entry for entry in result if entry is not None)]
    commands += [
        command for entry in result if isinstance(entry, click.Group) for command in entry.commands.values()
    ]
    # But for the page that is made from the options.
    pages = [*ROOT.glob("*.md"), *(page for page in ROOT.glob("docs/**/*.md") if page.name != "cli.md")]
    assert len(pages) > 40
    named = "".join(page.read_text() for page in pages)
    options = [
        param
        for command in commands
        for param in command.params
        if isinstance(param, click.Option) and not param.hidden
    ]
    assert len(options) > 50
    for option in options:
        ways = {*option.opts, *option.secondary_opts}
        # What has a short form is told by that, and what is the default by its contrary.
        is_reported = any(re.search(rf"(?<![\w-]){way}(?![\w-])", named) for way in ways)
        assert is_reported or "--version" in ways, ways


def test_what_starts_a_program_keeps_it_waiting_for_no_large_library() -> None:
    """Numpy's threads besides: they spin for some 40 ms, on CPUs that the program wants."""
    large = ("numpy", "elftools", "capstone", "rich", "subprocess", "trimtab.cli.sweep")
    check = f"import sys; print([each for each in {large!r} if each in sys.modules])"
    for modules in ("trimtab.cli, trimtab.launcher", "trimtab.cli, trimtab.launcher, trimtab.tuning"):
        result = subprocess.run(
            [sys.executable, "-c", f"import {modules}; {check}"], capture_output=True, text=True, check=True
        )
        assert result.stdout.strip() == "[]", modules
