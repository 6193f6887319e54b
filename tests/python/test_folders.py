"""Folders of a room include only those below them."""

from __future__ import annotations

from pathlib import Path

import pytest

from lint.layers import FOLDERS, ROOT, wrong_includes


@pytest.fixture
def room(tmp_path: Path) -> Path:
    """The source of a room whose folders include what they may."""
    source = tmp_path / "rooms/openmp/src"
    for folder, known_values in FOLDERS["openmp"].items():
        (source / folder / "inner").mkdir(parents=True)
        lines = [f'#include "{other}/some.hpp"\n' for other in (folder, *known_values)]
        (source / folder / "inner/file.cpp").write_text("".join(lines))
    return source


def test_the_rooms_keep_their_arrows() -> None:
    assert list(wrong_includes(ROOT)) == []


def test_what_is_below_may_be_included(room: Path, tmp_path: Path) -> None:
    assert list(wrong_includes(tmp_path)) == []


@pytest.mark.parametrize("folder", ["hooks", "accounting", "runtimes"])
def test_recording_may_not_include_steering(room: Path, tmp_path: Path, folder: str) -> None:
    (room / folder / "new.hpp").write_text('#pragma once\n#include "steering/watching.hpp"\n')
    assert list(wrong_includes(tmp_path)) == [
        f"rooms/openmp/src/{folder}/new.hpp:2: {folder} may not include steering"
    ]


def test_a_folder_that_is_gone_is_noticed(room: Path, tmp_path: Path) -> None:
    (room / "runtimes/inner/file.cpp").unlink()
    assert list(wrong_includes(tmp_path)) == [
        "rooms/openmp/src/runtimes: no such folder, but layers.py has it"
    ]
