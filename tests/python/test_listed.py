"""Processes that have a page in HOST.processes and no folder: read as processes with folders are, damaged pages named."""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Callable
from pathlib import Path

import pytest
from reports import build, typed
from trimtab.model import NO_LANE, Process, RunError
from trimtab.model.enumerations import FileKind, NameTag, ProcessState
from trimtab.readers import layout, open_run
from trimtab.readers.listed import pages_of
from trimtab.text.processes import grouped

PAGE = layout.HEADER_BYTES
ROOM = PAGE - layout.FILE_HEADER.itemsize - layout.PROCESS_HEADER.itemsize


def name(tag: NameTag, fields: bytes = b"", *texts: str) -> bytes:
    body = fields + b"".join(text.encode() + b"\0" for text in texts)
    body += bytes(-len(body) % 8)
    return struct.pack("<IHH", 8 + len(body), tag, 0) + body


FACT = name(NameTag.FACT, b"", "host", "node1")
COUNTER = name(NameTag.COUNTER, struct.pack("<II", 1, 1), "minor page faults", "1", "getrusage")
SAMPLE = name(NameTag.SAMPLE, struct.pack("<QIId", 2_000, 1, NO_LANE, 42.0))


def page(
    pid: int,
    start: int = 1_000,
    names: bytes = FACT + COUNTER + SAMPLE,
    command: bytes = b"sh\0-c\0:\0",
    **fields: float,
) -> bytes:
    import numpy as np

    head = np.zeros(1, layout.FILE_HEADER)
    head["magic"], head["version"], head["header_size"] = layout.MAGIC, layout.VERSION, PAGE
    head["kind"], head["capacity"], head["written"] = FileKind.PROCESS, ROOM, len(names)
    own = np.zeros(1, layout.PROCESS_HEADER)
    own["pid"], own["ns_per_tick"], own["cpus_available"], own["state"] = pid, 1.0, 2, ProcessState.EXITED
    own["start_ticks"], own["last_ticks"], own["end_ticks"] = start, start + 5_000, start + 5_000
    own["user_ns"], own["command"] = 3_000, command
    for field, value in fields.items():
        own[field] = value
    return (head.tobytes() + own.tobytes() + names).ljust(PAGE, b"\0")


def write_folder(run: Path, whole: bytes, image: int) -> Path:
    """The folder that the process of a page would have had."""
    begin = PAGE - ROOM
    pid = int.from_bytes(whole[64:68], "little")
    folder = run / f"node1-{pid}-{image}"
    folder.mkdir()
    written = struct.unpack_from("<Q", whole, layout.offset_of(layout.FILE_HEADER, "written"))[0]
    (folder / "process.tt").write_bytes(whole[:begin].ljust(PAGE, b"\0"))
    head = bytearray(whole[:64].ljust(PAGE, b"\0"))
    struct.pack_into("<I", head, layout.offset_of(layout.FILE_HEADER, "kind"), FileKind.NAMES)
    struct.pack_into("<Q", head, layout.offset_of(layout.FILE_HEADER, "capacity"), written)
    (folder / "names.tt").write_bytes(bytes(head) + whole[begin : begin + written])
    return folder


@pytest.fixture
def listed(tmp_path: Path) -> Callable[..., Path]:
    def write(*pages: bytes) -> Path:
        (tmp_path / "run.json").write_text('{"format": 1, "program": "sh", "argv": ["sh"]}')
        (tmp_path / "node1.processes").write_bytes(b"".join(pages))
        return tmp_path

    return write


def figures(process: Process) -> tuple[object, ...]:
    return (process.header, process.command, process.facts, process.counters, process.samples.tolist())


def test_a_page_reads_as_the_folder_would(listed: Callable[..., Path]) -> None:
    run = listed(page(7))
    (process,) = open_run(run).processes
    assert process.directory == run / "node1-7-0" and process.pid == 7 and process.host == "node1"
    assert process.command == ("sh", "-c", ":")
    assert process.samples["value"].tolist() == [42.0]
    (run / "node1.processes").unlink()
    write_folder(run, page(7), 0)
    (other,) = open_run(run).processes
    assert {**process.header, "command": 0} == {**other.header, "command": 0}
    assert figures(process) == figures(other)


def test_images_of_a_process_are_counted_on(listed: Callable[..., Path]) -> None:
    run = listed(page(7, 1_000), page(9), page(7, 2_000), page(7, 4_000))
    write_folder(run, page(7, 3_000), 0)
    processes = open_run(run).processes
    assert [process.directory.name for process in processes] == [
        "node1-7-0",
        "node1-7-1",
        "node1-7-2",
        "node1-7-3",
        "node1-9-0",
    ]
    assert [process.header["start_ticks"] for process in processes] == [3_000, 1_000, 2_000, 4_000, 1_000]


def test_who_is_in_both_counts_once(listed: Callable[..., Path]) -> None:
    run = listed(page(7))
    folder = write_folder(run, page(7), 0)
    assert len(open_run(run).processes) == 1
    # It died while it made its folder: the page has all.
    (folder / "names.tt").write_bytes(bytes(PAGE))
    read = open_run(run)
    assert len(read.processes) == 1 and not read.left_out
    (folder / "process.tt").unlink()
    assert len(open_run(run).processes) == 1


def test_short_processes_have_the_quota_of_the_others_on_their_host(listed: Callable[..., Path]) -> None:
    elsewhere = name(NameTag.FACT, b"", "host", "node2")
    run = listed(
        page(7, cpus_online=8, cpus_affinity=4, cpus_quota=1.5, cpus_available=1.5),
        page(8, cpus_affinity=4, cpus_available=4),
        page(9, cpus_affinity=1, cpus_available=1),
        page(10, names=elsewhere, cpus_affinity=4, cpus_available=4),
        page(11, cpus_online=8, cpus_affinity=4, cpus_available=4),
    )
    limits = {
        process.pid: (process.header["cpus_quota"], process.header["cpus_available"])
        for process in open_run(run).processes
    }
    assert limits == {7: (1.5, 1.5), 8: (1.5, 1.5), 9: (1.5, 1.0), 10: (0.0, 4.0), 11: (0.0, 4.0)}


@pytest.mark.parametrize(
    ("hostname", "quota", "limits"),
    [
        ("node1", 1.5, {8: (1.5, 1.5), 9: (1.5, 1.0)}),
        ("node2", 1.5, {8: (0.0, 4.0), 9: (0.0, 1.0)}),  # of another host
        ("node1", None, {8: (0.0, 4.0), 9: (0.0, 1.0)}),
        ("node1", 1e-300, {8: (0.0, 4.0), 9: (0.0, 1.0)}),  # damaged
    ],
)
def test_where_no_process_has_read_its_quota_it_is_the_launchers(
    listed: Callable[..., Path], hostname: str, quota: float | None, limits: dict[int, tuple[float, float]]
) -> None:
    run = listed(page(8, cpus_affinity=4, cpus_available=4), page(9, cpus_affinity=1, cpus_available=1))
    info = json.loads((run / "run.json").read_text())
    info["machine"] = {"hostname": hostname, "cpus_quota": quota}
    (run / "run.json").write_text(json.dumps(info))
    assert {
        process.pid: (process.header["cpus_quota"], process.header["cpus_available"])
        for process in open_run(run).processes
    } == limits


def test_what_is_withdrawn_or_cut_off_is_none(listed: Callable[..., Path]) -> None:
    withdrawn = bytes(8) + page(8)[8:]
    run = open_run(listed(page(7), withdrawn, page(9), page(10)[:100]))
    assert [process.pid for process in run.processes] == [7, 9]
    assert not run.left_out


@pytest.mark.parametrize(
    ("offset", "content", "says"),
    [
        (0, b"X", "byte 0: expected"),
        (8, b"\x09", "byte 8: format version 9, this trimtab reads 1"),
        (16, b"\x05", "expected a file of process"),
        (32, b"\xff\xff", f"expected at most {ROOM} bytes of names, found 65"),
        (112, b"\xff" * 8, "byte 112: expected ns_per_tick from 0.001 to 1e+06, found nan"),
        (PAGE - ROOM, b"\0\0\0\0", "byte 4096: a record of 0 bytes"),
    ],
)
def test_a_damaged_page_is_named_and_the_others_are_read(
    listed: Callable[..., Path], offset: int, content: bytes, says: str
) -> None:
    damaged = bytearray(page(8))
    damaged[offset : offset + len(content)] = content
    run = open_run(listed(page(7), bytes(damaged), page(9)))
    assert [process.pid for process in run.processes] == [7, 9]
    (entry,) = run.left_out
    assert entry.what == "process of page 1 of node1.processes" and says in entry.why
    build(run)


def test_a_list_that_is_no_file_is_named(listed: Callable[..., Path]) -> None:
    run = listed(page(7))
    os.mkfifo(run / "node2.processes")
    (run / "node3.processes").symlink_to("node1.processes")
    read = open_run(run)
    assert len(read.processes) == 1
    assert [entry.what for entry in read.left_out] == [
        "processes in node2.processes",
        "processes in node3.processes",
    ]
    with pytest.raises(RunError, match="named pipe"):
        list(pages_of(run / "node2.processes"))


def test_equal_commands_are_one_row(listed: Callable[..., Path]) -> None:
    run = listed(*(page(pid, command=b"awk\0") for pid in range(10, 16)), page(20), page(21))
    rows = grouped(typed(build(open_run(run))).processes)
    assert sorted(len(row) for row in rows) == [1, 1, 6]
