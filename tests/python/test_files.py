"""The one place where files are opened: what is no regular file, too long, or not what it should be is refused by name."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from trimtab import files
from trimtab.files import FileKind, is_missing, open_regular, read_bytes, read_json, read_text


class AnError(Exception):
    """What the kind of file says is raised."""


SMALL = FileKind("a small file", 100, AnError)
NAMED = FileKind("a small file", 100, AnError, follows_links=True)


def a_pipe(path: Path) -> None:
    os.mkfifo(path)


def a_link(path: Path) -> None:
    path.with_name("target").write_text("of somebody else")
    path.symlink_to("target")


def a_socket(path: Path) -> None:
    # The name of a socket is short: it is given from within its folder.
    before = Path.cwd()
    os.chdir(path.parent)
    try:
        with socket.socket(socket.AF_UNIX) as created:
            created.bind(path.name)
    finally:
        os.chdir(before)


@pytest.mark.parametrize(
    ("make", "found"),
    [
        (a_pipe, "found a named pipe"),
        (a_link, "found a symbolic link"),
        (a_socket, ""),  # the system refuses to open it
        (lambda path: path.mkdir(), "found a folder"),
        (lambda path: path.write_bytes(bytes(101)), "of at most 100 bytes, found 101"),
        (lambda path: None, "No such file"),
    ],
)
def test_what_is_no_such_file_is_refused_by_name(
    tmp_path: Path, make: Callable[[Path], None], found: str
) -> None:
    path = tmp_path / "file"
    make(path)
    with pytest.raises(AnError) as error:
        read_bytes(path, SMALL)
    assert str(error.value).startswith(f"{path}: expected a small file")
    assert found in str(error.value)
    assert is_missing(error.value) == (not os.path.lexists(path))


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/null", "/dev/tty"])
def test_a_device_is_refused_where_links_are_followed(tmp_path: Path, device: str) -> None:
    (tmp_path / "file").symlink_to(device)
    with pytest.raises(AnError, match=r"expected a small file(, found a device|: No such device)"):
        read_bytes(tmp_path / "file", NAMED)


def test_a_link_that_the_user_named_is_followed(tmp_path: Path) -> None:
    a_link(tmp_path / "file")
    assert read_text(tmp_path / "file", NAMED) == "of somebody else"


def test_a_name_with_a_nul_is_refused(tmp_path: Path) -> None:
    with pytest.raises(AnError, match="null byte"):
        read_bytes(Path(f"{tmp_path}/a\0b"), SMALL)


def test_a_file_that_grows_while_it_is_read_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    path.write_bytes(bytes(90))
    opened = files.open_regular

    def grown(*given_values: object) -> object:
        stream = opened(*given_values)  # type: ignore[arg-type]
        with path.open("ab") as overrides:
            overrides.write(bytes(1 << 20))
        return stream

    monkeypatch.setattr(files, "open_regular", grown)
    with pytest.raises(AnError, match="of at most 100 bytes"):
        read_bytes(path, SMALL)


def test_no_descriptor_is_left_open(tmp_path: Path) -> None:
    a_pipe(tmp_path / "pipe")
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(10):
        with pytest.raises(AnError):
            open_regular(tmp_path / "pipe", SMALL)
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_sparse_file_does_not_fill_the_memory(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with path.open("wb") as stream:
        stream.truncate(1 << 30)
    files.check_is_stored(path, path.stat(), 64 << 20, SMALL)
    with pytest.raises(AnError, match=r"found 1073741824 bytes announced, but only \d+ on the disk"):
        files.check_is_stored(path, path.stat(), 1 << 30, SMALL)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"\xff", "byte 0: expected UTF-8"),
        (b"[" * 100, "not JSON"),
        (b'{"a": NaN}', "not JSON: NaN is no JSON number"),
        (b"[-Infinity]", "not JSON: -Infinity is no JSON number"),
        (b'{"a": 1, "b": 2, "a": 3}', "not JSON: the key 'a' is there twice"),
        (b'"\\', "not JSON"),
        (b"", "not JSON"),
    ],
)
def test_hostile_json_is_refused_by_name(tmp_path: Path, content: bytes, says: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(AnError) as error:
        read_json(path, SMALL)
    assert str(path) in str(error.value)
    assert says in str(error.value)


@pytest.mark.parametrize("content", ["[" * 1_000_000, "1" * 10_000, '{"a":' * 200_000])
def test_json_that_is_only_deep_or_long(tmp_path: Path, content: str) -> None:
    path = tmp_path / "file"
    path.write_text(content)
    with pytest.raises(AnError, match="not JSON"):
        read_json(path, FileKind("a file", 1 << 21, AnError))


def test_many_keys_of_which_the_last_is_there_twice_take_no_long_time(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("{" + ",".join(f'"{n}":0' for n in [*range(100_000), 99_999]) + "}")
    with pytest.raises(AnError, match="the key '99999' is there twice"):
        read_json(path, FileKind("a file", 1 << 21, AnError))
