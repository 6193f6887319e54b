"""Programs that cannot be watched: why is told before they start, and what the operating system saw of them."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest
from reports import build, typed
from synthetic import write_run
from trimtab.launcher.inspect_program import inspect
from trimtab.readers import open_run
from trimtab.text.tables import tables
from trimtab.text.verdict import verdict

RUSAGE = {"user_s": 1.5, "system_s": 0.5, "voluntary": 3, "involuntary": 4, "max_rss_kb": 5000}


def with_status(monkeypatch: pytest.MonkeyPatch, path: Path, **status: int) -> None:
    """As if the file had another mode or owner, which only root could give it."""
    real = path.stat()
    values = list(real)
    for name, value in status.items():
        values[("st_mode", "st_ino", "st_dev", "st_nlink", "st_uid", "st_gid").index(name)] = value
    monkeypatch.setattr(Path, "stat", lambda self: os.stat_result(values))


@pytest.mark.parametrize(
    ("mode", "other_user", "other_group", "is_told"),
    [
        (0o4755, 1, 0, True),
        (0o4755, 0, 1, False),
        (0o2755, 0, 1, True),
        (0o2755, 1, 0, False),
        (0o755, 1, 1, False),
    ],
)
def test_who_would_run_as_another_is_told(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    mode: int,
    other_user: int,
    other_group: int,
    is_told: bool,
) -> None:
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\n")
    owner = {"st_uid": os.getuid() + other_user, "st_gid": os.getgid() + other_group}
    with_status(monkeypatch, program, st_mode=0o100000 | mode, **owner)
    reported = [entry["why"] for entry in inspect(program)]
    assert reported == ([f"{program} is setuid or setgid: the loader ignores LD_PRELOAD"] if is_told else [])


@pytest.mark.parametrize("reason", ["app is statically linked", None])
def test_one_reason_and_what_the_operating_system_saw(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], reason: str | None
) -> None:
    known_values = [{"what": "tuning", "why": "no history", "remedy": "none"}]
    if reason is not None:
        known_values.append(
            {"what": "OpenMP regions", "why": reason, "remedy": "link it dynamically", "kind": "regions"}
        )
    ended = {"code": 0, "signal": None, "wall_s": 1.0, "rusage": RUSAGE}
    info = {"ended": ended, "unavailable": known_values, "steering": {"mode": "on"}}
    report = build(open_run(write_run(tmp_path / "run", info=info)))
    regions = [entry["why"] for entry in report["unavailable"] if entry["what"] == "OpenMP regions"]
    assert regions == [reason or "the library could not be loaded into the program"]
    stream = io.StringIO()
    verdict(typed(report), Path("run"), stream)
    assert f"trimtab: 1 s; {regions[0]}\n" in stream.getvalue()
    assert "  steering: nothing was changed\n" in stream.getvalue()
    tables(typed(report), Path("run"))
    line = "operating system: 2 s of CPU time (2.00 CPUs on average), 3 voluntary and 4 involuntary context switches\n"
    assert line in stream.getvalue()
    assert line in capsys.readouterr().out
