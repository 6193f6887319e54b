"""Limits that a program runs under (ulimit) are its own: it gets on under trimtab wherever it does without."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from reports import build
from trimtab.paths import preload_library
from trimtab.readers import open_run

Compiled = Callable[..., Path]

WORK = """
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
int main(int n, char** v) { double s = 0;
for (int r = 0; r < atoi(v[1]); r++) {
#pragma omp parallel for schedule(dynamic,4) reduction(+:s) num_threads(2)
for (int i = 0; i < 2000; i++) s += sin(i);
}
printf("%.6f\\n", s); return 0; }
"""
ROUNDS = "40"
KB = 1024
MB = 1024 * KB
# What the library itself and the files of a few lanes need.
OWN_MB = 8


@pytest.fixture(autouse=True, scope="module")
def threads_that_wait_sleep() -> Iterator[None]:
    """Those that spin take a CPU from each other where the tests share the machine, for a slice of the scheduler's at a time."""
    with pytest.MonkeyPatch.context() as changed:
        changed.setenv("OMP_WAIT_POLICY", "passive")
        yield


def limited(
    command: list[str], limits: dict[int, int], timeout: float = 120, **overrides: object
) -> subprocess.CompletedProcess[str]:
    def set_limits() -> None:
        for chosen, limit in limits.items():
            resource.setrlimit(chosen, (limit, limit))

    return subprocess.run(
        command,
        preexec_fn=set_limits,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
        **overrides,  # type: ignore[call-overload]
    )


def with_library(directory: Path, level: str = "profile") -> dict[str, str]:
    """The environment of a program that is watched without the launcher, which needs more than the program does."""
    directory.mkdir()
    return {
        **os.environ,
        "LD_PRELOAD": str(preload_library()),
        "TRIMTAB_RUN": str(directory),
        "TRIMTAB_LEVEL": level,
    }


@pytest.fixture(scope="module")
def least_address_space(compiled_once: Path) -> int:
    """With how much of it the program just runs, within 0.5 MB."""
    fails, runs = 1 * MB, 512 * MB
    while runs - fails > MB // 2:
        middle = (fails + runs) // 2
        completed = limited([str(compiled_once), "1"], {resource.RLIMIT_AS: middle})
        fails, runs = (fails, middle) if completed.returncode == 0 else (middle, runs)
    return runs


@pytest.fixture(scope="module")
def compiled_once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("limits")
    (folder / "work.c").write_text(WORK)
    subprocess.run(
        ["gcc", "-g", "-O2", "-fopenmp", str(folder / "work.c"), "-o", str(folder / "work"), "-lm"],
        check=True,
    )
    yield folder / "work"


@pytest.mark.parametrize("level", ["profile", "trace"])
@pytest.mark.parametrize("more", [OWN_MB, 16, 64, 512, 2048])
def test_address_space(
    compiled_once: Path, least_address_space: int, tmp_path: Path, more: int, level: str
) -> None:
    """`ulimit -v`: an endless loop up to 2 GB, once."""
    directory = tmp_path / "run"
    completed = limited(
        [str(compiled_once), ROUNDS],
        {resource.RLIMIT_AS: least_address_space + more * MB},
        env=with_library(directory, level),
    )
    bare = subprocess.run([compiled_once, ROUNDS], capture_output=True, text=True, check=True)
    assert (completed.returncode, completed.stdout, completed.stderr) == (0, bare.stdout, "")
    (directory / "run.json").write_text('{"format": 1}')
    report = build(open_run(directory))
    (region,) = report["regions"]
    assert region["calls"] == int(ROUNDS)


@pytest.mark.parametrize("limit", [24 * MB, 100 * MB, 500 * MB, 2048 * MB])
def test_address_space_of_the_launcher(compiled_once: Path, trimtab: str, tmp_path: Path, limit: int) -> None:
    completed = limited(
        [trimtab, "run", "-o", str(tmp_path / "run"), "--", str(compiled_once), "7"],
        {resource.RLIMIT_AS: limit},
    )
    bare = subprocess.run([compiled_once, "7"], capture_output=True, text=True, check=True)
    assert (completed.returncode, completed.stdout) == (0, bare.stdout), completed.stderr
    assert "Traceback" not in completed.stderr


FILE_SIZES = [0, 1 * KB, 4 * KB, 8 * KB, 20 * KB, 64 * KB, 150 * KB, 1 * MB]


@pytest.mark.parametrize("level", ["profile", "trace"])
@pytest.mark.parametrize("limit", FILE_SIZES)
def test_size_of_files(compiled_once: Path, trimtab: str, tmp_path: Path, limit: int, level: str) -> None:
    """`ulimit -f`: the signal for a file that is too large came from ours, once."""
    completed = limited(
        [
            trimtab,
            "run",
            "-q",
            "--level",
            level,
            "-o",
            str(tmp_path / "run"),
            "--",
            str(compiled_once),
            "100",
        ],
        {resource.RLIMIT_FSIZE: limit},
    )
    bare = subprocess.run([compiled_once, "100"], capture_output=True, text=True, check=True)
    assert (completed.returncode, completed.stdout) == (0, bare.stdout), completed.stderr


LOWERED = """
#include <omp.h>
#include <stdio.h>
#include <sys/resource.h>
volatile double sink;
int main(void) {
#pragma omp parallel num_threads(2)
sink = 1;
struct rlimit none = {1, 1};
if (setrlimit(RLIMIT_FSIZE, &none)) return 1;
for (int r = 0; r < 300; r++) {
#pragma omp parallel num_threads(2)
for (int i = 0; i < 1000; i++) {
#pragma omp critical
sink = i;
} }
#pragma omp parallel num_threads(8)
sink = 2;
return 0; }
"""


@pytest.mark.parametrize("options", [(), ("--trace",)], ids=["profile", "trace"])
def test_size_of_files_lowered_by_the_program(
    compiled: Compiled, trimtab: str, tmp_path: Path, options: tuple[str, ...]
) -> None:
    directory = tmp_path / "run"
    completed = limited(
        [trimtab, "run", "-q", *options, "-o", str(directory), "--", str(compiled(LOWERED))], {}
    )
    assert completed.returncode == 0, completed.stderr
    whys = [entry["why"] for entry in build(open_run(directory))["unavailable"]]
    assert any("limit on the size of files" in reason for reason in whys)


def test_the_programs_own_large_file_still_ends_it(trimtab: str, tmp_path: Path) -> None:
    command = [
        trimtab,
        "run",
        "-q",
        "-o",
        str(tmp_path / "run"),
        "--",
        "bash",
        "-c",
        "exec head -c 2M /dev/zero > big",
    ]
    completed = limited(command, {resource.RLIMIT_FSIZE: MB}, cwd=tmp_path)
    assert completed.returncode == -signal.SIGXFSZ


@pytest.mark.parametrize("files", [3, 4, 5, 6, 8, 12, 64])
def test_open_files(compiled_once: Path, tmp_path: Path, files: int) -> None:
    bare = limited([str(compiled_once), ROUNDS], {resource.RLIMIT_NOFILE: files})
    completed = limited(
        [str(compiled_once), ROUNDS], {resource.RLIMIT_NOFILE: files}, env=with_library(tmp_path / "run")
    )
    assert bare.returncode == completed.returncode
    assert bare.stdout == completed.stdout
    if files >= 6:
        (tmp_path / "run" / "run.json").write_text('{"format": 1}')
        assert build(open_run(tmp_path / "run"))["regions"][0]["calls"] == int(ROUNDS)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may become a user of whom nothing else runs")
def test_no_further_thread_and_no_locked_memory(compiled: Compiled, tmp_path: Path) -> None:
    """The sampler's thread is refused, and each ring of context switches."""
    program = compiled(
        '#include <stdio.h>\nint main(void) {\n#pragma omp parallel num_threads(1)\nputs("one"); return 0; }\n'
    )
    directory = tmp_path / "run"
    environment = with_library(directory)
    for path in (tmp_path, *tmp_path.parents):
        if path.owner() == "root" and path != Path("/"):
            path.chmod(path.stat().st_mode | 0o755)
    program.parent.chmod(0o755)
    os.chown(directory, 54321, 54321)
    completed = subprocess.run(
        ["bash", "-c", 'ulimit -u 1 -l 0; exec "$0"', str(program)],
        env=environment,
        user=54321,
        group=54321,
        extra_groups=[],
        capture_output=True,
        text=True,
        check=False,
    )
    if completed.returncode in (126, 127):
        pytest.skip(f"another user cannot run it here: {completed.stderr}")
    assert (completed.returncode, completed.stdout) == (0, "one\n"), completed.stderr
    (directory / "run.json").write_text('{"format": 1}')
    whats = {entry["what"] for entry in build(open_run(directory))["unavailable"]}
    assert "figures over time" in whats


def test_no_further_process(trimtab: str, tmp_path: Path) -> None:
    """There is none for the program beside the launcher: then the program is run in its place."""
    code = (
        "import os, sys\n"
        "from trimtab.cli import main\n"
        "def refuse(*_, **__): raise BlockingIOError(11, 'Resource temporarily unavailable')\n"
        "os.posix_spawn = os.fork = refuse\n"
        f"main(['run', '-o', {str(tmp_path / 'run')!r}, '--', 'sh', '-c', 'echo on; exit 7'])\n"
    )
    completed = subprocess.run(
        [Path(trimtab).parent / "python", "-c", code], capture_output=True, text=True, check=False
    )
    assert (completed.returncode, completed.stdout) == (7, "on\n"), completed.stderr
    assert completed.stderr.splitlines() == [
        "trimtab: not recorded: no further process could be made: Resource temporarily unavailable"
    ]
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("size", ["4k", "16k", "40k", "100k", "300k", "2m"])
def test_small_file_systems(
    compiled_once: Path, trimtab: str, small_file_system: Callable[[str], Path], size: str
) -> None:
    mount = small_file_system(size)
    for level in ("profile", "trace"):
        began = time.process_time()
        completed = limited(
            [
                trimtab,
                "run",
                "-q",
                "--level",
                level,
                "-o",
                str(mount / level),
                "--",
                str(compiled_once),
                ROUNDS,
            ],
            {},
        )
        bare = subprocess.run([compiled_once, ROUNDS], capture_output=True, text=True, check=True)
        assert (completed.returncode, completed.stdout) == (0, bare.stdout), completed.stderr
        assert time.process_time() - began < 10
        if (mount / level / "run.json").exists():
            build(open_run(mount / level))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a folder once more")
def test_a_run_folder_that_becomes_read_only(compiled_once: Path, tmp_path: Path) -> None:
    directory = tmp_path / "run"
    environment = with_library(directory)
    if (
        subprocess.run(
            ["mount", "--bind", str(directory), str(directory)], check=False, capture_output=True
        ).returncode
        != 0
    ):
        pytest.skip("mounting is not allowed here")
    try:
        subprocess.run(["mount", "-o", "remount,ro,bind", str(directory)], check=True)
        completed = limited([str(compiled_once), "7"], {}, env=environment)
        bare = subprocess.run([compiled_once, "7"], capture_output=True, text=True, check=True)
        assert (completed.returncode, completed.stdout, completed.stderr) == (0, bare.stdout, "")
    finally:
        subprocess.run(["umount", str(directory)], check=True)


@pytest.mark.parametrize("hidden", ["/proc", "/sys", "/dev"])
def test_without_what_the_system_tells(
    compiled_once: Path, trimtab: str, tmp_path: Path, hidden: str
) -> None:
    hide = ["unshare", "-m", "sh", "-c", f'mount -t tmpfs none {hidden} && exec "$@"', "sh"]
    if subprocess.run([*hide, "true"], check=False, capture_output=True).returncode != 0:
        pytest.skip("mounting is not allowed here")
    completed = limited(
        [*hide, trimtab, "run", "-o", str(tmp_path / "run"), "--", str(compiled_once), "7"], {}
    )
    bare = subprocess.run([compiled_once, "7"], capture_output=True, text=True, check=True)
    assert (completed.returncode, completed.stdout) == (0, bare.stdout), completed.stderr
    assert "Traceback" not in completed.stderr
    assert build(open_run(tmp_path / "run"))["regions"][0]["calls"] == 7
