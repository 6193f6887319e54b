"""Latencies of calls on files: what is measured, that nothing is left, and what is advised."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner
from trimtab.cli import main
from trimtab.doctor.storage import FolderStorage, Latency, measure_storage, storage_advice
from trimtab.launcher.spark import local_directories
from trimtab.machine_files import Machine

GIB = 1 << 30


def folder(name: str, open_us: float, *, is_in_memory: bool = False, free: int = 100 * GIB) -> FolderStorage:
    latency = Latency(open_us, open_us * 2, 400)
    kind = "tmpfs" if is_in_memory else "lustre"
    return FolderStorage(name, "--folder", kind, is_in_memory, free, latency, latency, latency)


def test_measures_each_folder_once_and_leaves_nothing(tmp_path: Path) -> None:
    storage = measure_storage([(tmp_path, "--folder"), (tmp_path, "spark.local.dir")])
    assert len(storage.folders) == 1
    measured = storage.folders[0]
    assert (measured.source, measured.problem) == ("--folder", "")
    for latency in (measured.open, measured.read, measured.write):
        assert latency is not None and latency.samples >= 2
        assert 0 < latency.p50_us <= latency.p99_us
    assert measured.free_bytes > 0 and measured.file_system
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("call", ["pwrite", "fsync", "pread", "posix_fadvise"])
def test_a_full_folder_is_told_and_left_clean(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, call, fail)
    storage = measure_storage([(tmp_path, "--folder")])
    assert storage.folders[0].problem == "No space left on device"
    assert storage.advice == []
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_missing_is_a_line_and_exit_code_1(tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["doctor", "--storage", "--folder", str(tmp_path / "missing")])
    assert result.exit_code == 1
    assert f"{tmp_path / 'missing'}: No such file or directory" in result.output
    assert CliRunner().invoke(main, ["doctor", "--folder", str(tmp_path)]).exit_code == 2


def test_json_has_all_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_LOCAL_DIRS", str(tmp_path / "a"))
    (tmp_path / "a").mkdir()
    result = CliRunner().invoke(main, ["doctor", "--storage", "--json", "--folder", str(tmp_path)])
    assert result.exit_code == 0, result.output
    rows = json.loads(result.output)["folders"]
    assert [row["source"] for row in rows] == ["--folder", "SPARK_LOCAL_DIRS", "temporary files", "memory"]


def test_the_type_is_that_of_the_innermost_mount(tmp_path: Path) -> None:
    info = (
        "1 0 0:1 / / rw - ext4 disk rw\n"
        f"2 1 0:2 / {tmp_path} rw shared:1 - tmpfs tmpfs rw\n"
        f"3 1 0:3 / {tmp_path}x rw - xfs disk rw\n"
    )
    root = tmp_path / "root"
    (root / "proc/self").mkdir(parents=True)
    (root / "proc/self/mountinfo").write_text(info)
    (root / "proc/meminfo").write_text("MemTotal: 9 kB\nMemAvailable:   2048 kB\n")
    storage = measure_storage([(root, "--folder")], Machine(root))
    assert (storage.folders[0].file_system, storage.folders[0].is_in_memory) == ("tmpfs", True)
    assert storage.available_memory_bytes == 2 << 20


def test_slow_opens_are_moved_to_memory_as_far_as_there_is_memory() -> None:
    folders = [folder("/lustre", 542), folder("/shm", 23, is_in_memory=True)]
    advice = storage_advice(folders, 60 * GIB)
    assert [entry.folder for entry in advice] == ["/lustre"]
    assert "spark.local.dir=/shm for jobs that write less than 30.0 GiB" in advice[0].action
    assert "loop device" in advice[0].action and "--spark-pooled" in advice[0].action


def test_without_faster_memory_one_file_for_each_node_is_advised() -> None:
    for memory in ([], [folder("/shm", 400, is_in_memory=True)]):
        (entry,) = storage_advice([folder("/lustre", 542), *memory], 60 * GIB)
        assert entry.action.startswith("a file system in one file for each node")


def test_fast_opens_need_no_move() -> None:
    (entry,) = storage_advice([folder("/disk", 20), folder("/shm", 2, is_in_memory=True)], 60 * GIB)
    assert entry.action == "leave shuffle directories there"


def test_local_directories_are_those_that_spark_would_use(tmp_path: Path) -> None:
    assert local_directories({}) == [(Path("/tmp"), "spark.local.dir (default)")]
    (tmp_path / "spark-defaults.conf").write_text("spark.local.dir /a,/b\n")
    file = {"SPARK_CONF_DIR": str(tmp_path)}
    assert [path for path, _ in local_directories(file)] == [Path("/a"), Path("/b")]
    options = {**file, "PYSPARK_SUBMIT_ARGS": "--conf spark.local.dir=/c pyspark-shell"}
    assert local_directories(options) == [(Path("/c"), "spark.local.dir")]
    assert local_directories({**options, "SPARK_LOCAL_DIRS": "/d"}) == [(Path("/d"), "SPARK_LOCAL_DIRS")]
