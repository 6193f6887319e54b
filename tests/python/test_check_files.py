"""Files of both sides: handed out, taken away, put back; compared as bytes and as arrays of numbers."""

from __future__ import annotations

import math
import os
from pathlib import Path

import numpy as np
import pytest
from trimtab.answer_check.binaries import compare_arrays, compare_bytes
from trimtab.answer_check.compare import DIFFERS, ITSELF, SAME, WITHIN, Rules
from trimtab.answer_check.outputs import Outputs, Pattern


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def files(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*") if path.is_file()
    }


def test_each_run_begins_with_what_was_there(here: Path, tmp_path: Path) -> None:
    Path("state").write_text("first")
    os.utime("state", (1, 1))
    os.chmod("state", 0o640)
    patterns = [Pattern("state"), Pattern("out*/*.dat"), Pattern("never"), Pattern("./state", "f64")]
    with Outputs(patterns, tmp_path / "own") as outputs:
        for number in range(2):
            assert files(here) == {"state": "first"} and list(here.iterdir()) == [here / "state"]
            Path("out1").mkdir()
            Path("out1/a.dat").write_text(f"a{number}")
            Path("out1/other").write_text("not named")
            Path("state").write_text(f"state{number}")
            result = outputs.collect(tmp_path / f"run{number}")
            assert {name: entry.path.read_text() for name, entry in result.items()} == {
                "out1/a.dat": f"a{number}",
                "state": f"state{number}",
            }
            assert [entry.kind for entry in result.values()] == [None, "f64"]
            # What nobody named stays, and with it its folder.
            assert files(here) == {"state": "first", "out1/other": "not named"}
            Path("out1/other").unlink()
            Path("out1").rmdir()
        Path("state").unlink()
        Path("out2").mkdir()
        Path("out2/b.dat").write_text("left by a run that was interrupted")
    assert files(here) == {"state": "first"} and not Path("out2").exists()
    assert Path("state").stat().st_mtime == 1 and Path("state").stat().st_mode & 0o777 == 0o640
    assert outputs.unseen == ["never"]


def test_a_folder_stands_for_all_that_is_in_it(here: Path, tmp_path: Path) -> None:
    with Outputs([Pattern("out")], tmp_path / "own") as outputs:
        for number in range(2):
            os.makedirs("out/deep")  # fails where the last run's is left
            Path("out/deep/a").write_text("a")
            Path("out/b").symlink_to("deep/a")
            result = outputs.collect(tmp_path / f"run{number}")
            assert {name: entry.path.read_text() for name, entry in result.items()} == {
                "out/b": "a",
                "out/deep/a": "a",
            }
            assert not any(here.iterdir())


def test_names_with_the_characters_of_patterns_and_outside(here: Path, tmp_path: Path) -> None:
    Path("a[1].txt").write_text("original")
    outer = tmp_path / "outside.txt"
    patterns = [Pattern("a[1].txt"), Pattern(str(outer)), Pattern("../up.txt")]
    with Outputs(patterns, tmp_path / "own") as outputs:
        outer.write_text("o")
        (tmp_path / "up.txt").write_text("u")
        result = outputs.collect(tmp_path / "run")
    assert list(result) == ["../up.txt", str(outer), "a[1].txt"]
    assert all(
        tmp_path / "run" in entry.path.parents and ".." not in entry.path.parts for entry in result.values()
    )
    assert not outer.exists() and not (tmp_path / "up.txt").exists()
    assert files(here) == {"a[1].txt": "original"}


def test_the_check_does_not_collect_what_it_keeps(here: Path) -> None:
    (here / "kept").mkdir()
    with Outputs([Pattern(".")], here / "kept") as outputs:
        for number in range(2):
            Path("out").write_text("o")
            (here / f"kept/log{number}").write_text("the check's own")
            assert list(outputs.collect(here / f"kept/{number}")) == ["out"]
    assert sorted(files(here)) == ["kept/0/out", "kept/1/out", "kept/log0", "kept/log1"]


def written(folder: Path, name: str, content: bytes) -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def test_bytes(tmp_path: Path) -> None:
    first, equal, other, longer = (
        written(tmp_path, name, content)
        for name, content in (("a", b"\0abc"), ("b", b"\0abc"), ("c", b"\0abd"), ("d", b"\0abcd"))
    )
    assert compare_bytes([first, equal], equal).verdict == SAME
    result = compare_bytes([first, equal], other)
    assert result.verdict == DIFFERS
    assert [vars(place) for place in result.places] == [
        {"unit": "byte", "number": 4, "expected": "0x63", "found": "0x64"}
    ]
    assert compare_bytes([first], longer).places[0].expected is None
    itself = compare_bytes([first, longer], other)
    assert itself.verdict == ITSELF and itself.is_unchecked
    assert compare_bytes([first, longer], longer).verdict == SAME


def test_large_files_differ_at_their_end(tmp_path: Path) -> None:
    content = bytes(3 << 20)
    first, other = written(tmp_path, "a", content + b"1"), written(tmp_path, "b", content + b"2")
    assert compare_bytes([first], other).places[0].number == (3 << 20) + 1


@pytest.fixture(params=["f32", "f64"])
def kind(request: pytest.FixtureRequest) -> str:
    result: str = request.param
    return result


def array(folder: Path, name: str, values: list[float], kind: str) -> Path:
    return written(
        folder, name, np.array(values, dtype=np.float32 if kind == "f32" else np.float64).tobytes()
    )


def test_arrays(tmp_path: Path, kind: str) -> None:
    values = [1.0, math.nan, math.inf, 0.0, -2.5]
    plain = [array(tmp_path, f"p{number}", values, kind) for number in range(2)]

    def verdict(changed: list[float], rules: Rules) -> str:
        return compare_arrays(plain, array(tmp_path, "t", changed, kind), kind, rules).verdict

    nearby = [1.0 + 2**-20, *values[1:]]
    assert verdict(values, Rules()) == SAME
    assert verdict(nearby, Rules()) == DIFFERS
    assert verdict(nearby, Rules(relative=1e-5)) == verdict(nearby, Rules(absolute=1e-5)) == WITHIN
    assert verdict(nearby, Rules(relative=1e-7)) == DIFFERS
    for index, wrong in ((1, 0.0), (2, -math.inf), (0, math.nan)):
        assert verdict([*values[:index], wrong, *values[index + 1 :]], Rules(relative=0.5)) == DIFFERS
    assert verdict(values[:-1], Rules(relative=0.5)) == DIFFERS, "another length"


def test_where_arrays_differ(tmp_path: Path, kind: str) -> None:
    count = (1 << 20) + 10
    values = np.arange(count, dtype=np.float32 if kind == "f32" else np.float64)
    plain = [written(tmp_path, "p", values.tobytes())]
    values[count - 2] += 1
    result = compare_arrays(plain, written(tmp_path, "t", values.tobytes()), kind, Rules())
    assert result.differences == 1 and result.places[0].number == count - 1
    assert result.places[0].expected == f"{count - 2}.0" and result.places[0].found == f"{count - 1}.0"
    assert "--tolerance 1e-6 " in result.hint


def test_arrays_that_differ_by_themselves(tmp_path: Path) -> None:
    plain = [array(tmp_path, f"p{n}", [1.0 + n * 2**-52, 5.0 + n, 7.0], "f64") for n in range(3)]
    nearby = 7.0 + 2**-48

    def verdict(*changed: float) -> str:
        return compare_arrays(plain, array(tmp_path, "t", list(changed), "f64"), "f64", Rules()).verdict

    assert verdict(1.0 + 2**-50, 90.0, 7.0) == verdict(1.0, 90.0, nearby) == ITSELF
    assert verdict(1.1, 90.0, 7.0) == DIFFERS
    assert verdict(1.0, 5.0, 7.5) == DIFFERS
    assert compare_arrays(
        [array(tmp_path, "x", [1.0], "f64"), array(tmp_path, "y", [math.nan], "f64")],
        array(tmp_path, "z", [3.0], "f64"),
        "f64",
        Rules(),
    ).is_unchecked
