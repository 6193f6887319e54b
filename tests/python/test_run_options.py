"""What `trimtab run` refuses before the program starts: it tells the option, what was found and what was expected."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from trimtab.cli.main import main


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--with", "cpu,speed"), "'speed' is no probe; expected threads, switches, cpu"),
        (("--with", "+hwcounter"), "'+hwcounter' is no probe"),
        (("--html", "no-such-folder/page.html"), "there is no folder no-such-folder"),
        (("--html", "."), ".: is a folder"),
        (("--search", "random"), "--search needs --tune or --frozen"),
        (("--budget", "0"), "--budget needs --tune or --frozen"),
        (("--seed", "0"), "--seed needs --tune or --frozen"),
        (("--input-class", "small"), "--input-class needs --tune or --frozen"),
        (("--history", "known.sqlite", "--threads", "fit"), "--history needs --tune or --frozen"),
        (("--virtual-threads",), "--virtual-threads needs --tune or --frozen"),
    ],
)
def test_options_that_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], told: str
) -> None:
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(main, ["run", *options, "--", "touch", "started"])
    assert done.exit_code == 2
    assert told in done.output
    assert list(tmp_path.iterdir()) == []


def test_page_that_cannot_be_written_is_named_as_the_user_did(tmp_path: Path) -> None:
    from trimtab.report import html

    if not html._PAGE.is_file():
        pytest.skip("the page was not built")
    target = tmp_path / "away" / "page.html"
    with pytest.raises(FileNotFoundError) as caught:
        html.write_html({"regions": []}, target)
    assert caught.value.filename == str(target)
