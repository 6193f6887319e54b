"""The program stays itself under `trimtab run`, whatever happens; and the run can be read."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
Compiled = Callable[..., Path]

BUSY = """
#include <math.h>
#include <omp.h>
#include <unistd.h>
volatile double sink;
int main(void) { alarm(60); for (;;) {
#pragma omp parallel for schedule(dynamic,4)
for (int i = 0; i < 2000; i++) sink = sin(i);
} }
"""
SHARES = {"work", "barrier_wait", "arrival", "serial", "starved", "run_delay", "runtime", "unattributed"}


@pytest.mark.parametrize("name", ["mandelbrot", "triangular", "hotspot3d", "lavamd", "sph", "tasktree"])
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("options", [(), ("--trace",)])
def test_workloads(
    run: Run, workload: Callable[[str], Path], name: str, compiler: str, options: tuple[str, ...]
) -> None:
    watched = run(workload(f"{name}-{compiler}"), options=options)
    assert watched.done.returncode == 0
    assert "right" in watched.done.stdout and "trimtab" not in watched.done.stdout
    report = watched.report()
    assert report["complete"] and report["exit"] == {"code": 0, "signal": None}
    assert set(report["time"]) == SHARES
    assert sum(report["time"].values()) == pytest.approx(1.0)
    assert all(share >= 0 for share in report["time"].values())
    assert report["regions"][0]["file"].endswith(f"{name}.c") and report["regions"][0]["line"] > 0
    assert report["regions"][0]["function"] == "main"
    assert report["overhead"]["dropped"] == 0


@pytest.mark.alone
def test_imbalance_is_found_and_named(run: Run, workload: Callable[[str], Path]) -> None:
    for _ in range(5):
        report = run(workload("triangular-clang"), env={**os.environ, "OMP_NUM_THREADS": "2"}).report()
        # Other programs' load may be a finding too, where the tests share the machine.
        result = [finding for finding in report["findings"] if finding["cause"] == "imbalance"]
        # Iteration i costs i: the second half has three quarters of the work.
        # 1.5; less or more where other programs take CPU time from one of the two: then once more.
        if result and 1.1 < report["regions"][0]["imbalance"] < 1.9:
            break
    assert len(result) == 1
    assert "triangular.c" in result[0]["subject"] and 0 < result[0]["gain_s"] < report["wall_s"]
    assert 1.1 < report["regions"][0]["imbalance"] < 1.9


def test_a_run_is_the_users_alone(run: Run, workload: Callable[[str], Path]) -> None:
    directory = run(workload("mandelbrot-gcc"), options=("--with", "threads")).directory
    result = [directory, *directory.rglob("*")]
    assert {entry.suffix for entry in result} >= {".tt", ".json", ".events", ".profile"}
    assert [entry for entry in result if entry.stat().st_mode & 0o077] == []


@pytest.mark.parametrize("code", [0, 1, 7, 255])
def test_exit_codes(run: Run, code: int) -> None:
    watched = run("sh", "-c", f"exit {code}")
    assert watched.done.returncode == code
    assert watched.report()["exit"] == {"code": code, "signal": None}


@pytest.mark.parametrize("name", ["SIGKILL", "SIGSEGV", "SIGABRT", "SIGTERM"])
def test_deaths_by_signal(run: Run, name: str) -> None:
    watched = run("sh", "-c", f"kill -{name[3:]} $$")
    assert watched.done.returncode == -signal.Signals[name]
    reported = f"the program was killed by signal {int(signal.Signals[name])} ({name})"
    assert reported in watched.done.stderr
    report = watched.report()
    assert report["exit"] == {"code": None, "signal": name} and not report["complete"]


def test_death_by_a_signal_that_has_no_name(run: Run) -> None:
    watched = run("bash", "-c", "kill -37 $$")
    assert watched.done.returncode == -37
    assert "the program was killed by signal 37\n" in watched.done.stderr
    assert watched.report()["exit"] == {"code": None, "signal": "signal 37"}


def test_input_output_and_folder_are_the_programs(run: Run, tmp_path: Path) -> None:
    watched = run("sh", "-c", "cat; pwd; echo err >&2", input="hello\n", cwd=tmp_path)
    assert watched.done.stdout == f"hello\n{tmp_path}\n"
    assert watched.done.stderr.startswith("err\n")


def test_what_cannot_be_started(run: Run, tmp_path: Path) -> None:
    assert run("no-such-program-anywhere").done.returncode == 127
    plain = tmp_path / "plain"
    plain.write_text("x")
    assert run(str(plain)).done.returncode == 126
    plain.chmod(0o700)
    for content, code, reported in (
        (b"#!/nowhere/shell -x\n", 127, "plain: the interpreter /nowhere/shell is missing"),
        (b"\x7fELF\0 of another machine", 126, "plain: expected a program for this machine or a script"),
    ):
        plain.write_bytes(content)
        watched = run(str(plain))
        assert watched.done.returncode == code and reported in watched.done.stderr
        assert watched.done.stderr.count("\n") == 1
        assert not watched.directory.exists(), "what did not run leaves no run behind"


def test_a_script_without_an_interpreter_is_the_shells(run: Run, tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text('echo "$0 has $*"\nexit 7\n')
    script.chmod(0o700)
    watched = run(str(script), "a b", "c")
    assert watched.done.returncode == 7 and watched.done.stdout == f"{script} has a b c\n"


@pytest.mark.parametrize("closed", [">&-", "2>&-", "2>/dev/full", "<&-", "2> >(exit 0)"])
def test_streams_that_nobody_reads_change_no_exit_code(trimtab: str, tmp_path: Path, closed: str) -> None:
    completed = subprocess.run(
        ["bash", "-c", f"'{trimtab}' run --tune --history h -- bash -c 'exit 3' {closed}"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    assert completed.returncode == 3, completed.stderr
    assert "Traceback" not in completed.stderr and completed.stdout == ""


def test_a_folder_that_was_removed(trimtab: str, tmp_path: Path) -> None:
    script = f"mkdir gone; cd gone; rmdir ../gone; '{trimtab}' run -- bash -c 'echo on; exit 3'"
    environment = {**os.environ, "XDG_STATE_HOME": str(tmp_path / "state")}
    completed = subprocess.run(
        ["bash", "-c", script], capture_output=True, text=True, cwd=tmp_path, env=environment, check=False
    )
    assert (completed.returncode, completed.stdout) == (3, "on\n"), completed.stderr
    assert len(list((tmp_path / "state/trimtab").iterdir())) == 1, "its run is kept elsewhere"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signals_sent_to_the_group_reach_the_program(trimtab: str, tmp_path: Path, number: int) -> None:
    script = "trap 'echo got; exit 5' TERM INT; echo ready; while :; do sleep 0.05; done"
    process = subprocess.Popen(
        [trimtab, "run", "-q", "-o", str(tmp_path / "r"), "--", "sh", "-c", script],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None and process.stdout.readline() == "ready\n"
    if number == signal.SIGTERM:
        os.kill(process.pid, number)  # to trimtab alone: passed on
    else:
        os.killpg(process.pid, number)  # as a terminal does
    assert process.communicate(timeout=60)[0] == "got\n"
    assert process.returncode == 5


@pytest.mark.parametrize("options", [(), ("--trace",)])
@pytest.mark.parametrize("number", ["SIGKILL", "SIGSEGV", "SIGABRT"])
def test_killed_at_a_random_instant(
    trimtab: str, compiled: Compiled, tmp_path: Path, number: str, options: tuple[str, ...]
) -> None:
    seed = random.randrange(1 << 30)
    chance = random.Random(seed)
    program = compiled(BUSY)
    for attempt in range(4):
        directory = tmp_path / f"r{attempt}"
        process = subprocess.Popen(
            [trimtab, "run", "-q", *options, "-o", str(directory), "--", str(program)], preexec_fn=_no_core
        )
        deadline = time.monotonic() + 50
        while not list(directory.glob("*/lane-0000.events")) and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(chance.uniform(0, 0.2))
        pid = int(next(directory.glob("*-0")).name.split("-")[-2])
        os.kill(pid, signal.Signals[number])
        assert process.wait(60) == -signal.Signals[number], f"seed {seed}"
        out = subprocess.run(
            [trimtab, "report", str(directory), "--json"], capture_output=True, text=True, check=False
        )
        assert out.returncode == 0, f"seed {seed}: {out.stderr}"
        report = json.loads(out.stdout)
        assert not report["complete"] and report["exit"]["signal"] == number
        assert sum(report["time"].values()) == pytest.approx(1.0)


def _no_core() -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


@pytest.mark.parametrize("end", ["_exit(3)", "quick_exit(3)", "exit(3)"])
def test_other_ways_to_end(run: Run, compiled: Compiled, end: str) -> None:
    source = (
        "#include <stdlib.h>\n#include <unistd.h>\nvolatile double sink;\nint main(void) {\n"
        # The last ones are short, and such are accounted later.
        f"for (int i = 0; i < 301; i++)\n#pragma omp parallel num_threads(2)\nsink = 1;\n{end}; }}\n"
    )
    watched = run(compiled(source))
    assert watched.done.returncode == 3
    report = watched.report()
    assert report["complete"] and report["regions"][0]["calls"] == 301


def test_exec_and_fork_are_followed(run: Run, compiled: Compiled) -> None:
    source = (
        "#include <sys/wait.h>\n#include <unistd.h>\nvolatile double sink;\nstatic void work(void) {\n"
        "#pragma omp parallel num_threads(2)\nsink = 1;\n}\n"
        "int main(int n, char** v) { if (n > 1) { work(); return 0; }\n"
        'if (fork() == 0) { work(); _exit(0); }\nwait(0);\nexecl(v[0], v[0], "again", (char*)0); }\n'
    )
    watched = run(compiled(source))
    assert watched.done.returncode == 0
    calls = [process["calls"] for process in watched.report()["processes"]]
    assert sorted(calls) == [0, 1, 1]  # before exec, the forked child, after exec


EXECS = {
    "execl": 'execl(v[0], v[0], "again", (char*)0)',
    "execle": 'execle(v[0], v[0], "again", (char*)0, environ)',
    "execlp": 'execlp(v[0], v[0], "again", (char*)0)',
    "execv": "execv(v[0], a)",
    "execve": "execve(v[0], a, environ)",
    "execvp": "execvp(v[0], a)",
    "execvpe": "execvpe(v[0], a, environ)",
    "fexecve": "fexecve(open(v[0], O_RDONLY), a, environ)",
}


@pytest.mark.parametrize("call", EXECS.values(), ids=EXECS)
def test_every_exec_ends_its_process_in_order(run: Run, compiled: Compiled, call: str) -> None:
    source = (
        "#define _GNU_SOURCE\n#include <fcntl.h>\n#include <stdio.h>\n#include <unistd.h>\n"
        "volatile double sink;\nint main(int n, char** v) {\n"
        "for (int i = 0; i < 300; i++)\n#pragma omp parallel num_threads(2)\nsink = 1;\n"
        'if (n > 1) { printf("%d %s\\n", n, v[1]); return 0; }\n'
        'char* a[] = {v[0], "again", 0};\n'
        f'if (execl("/nowhere", "x", (char*)0) != -1) return 1;\n{call}; return 2; }}\n'
    )
    watched = run(compiled(source))
    assert watched.done.returncode == 0 and watched.done.stdout == "2 again\n"
    processes = watched.report()["processes"]
    assert [(process["calls"], process["complete"]) for process in processes] == [(300, True), (300, True)]


def test_no_follow(run: Run, compiled: Compiled) -> None:
    watched = run("sh", "-c", "sh -c 'env' ; true", options=("--no-follow",))
    assert "TRIMTAB_RUN" not in watched.done.stdout and "LD_PRELOAD" not in watched.done.stdout
    assert len(watched.report()["processes"]) == 1


def test_an_unwritable_run_directory(run: Run, trimtab: str, workload: Callable[[str], Path]) -> None:
    completed = subprocess.run(
        [trimtab, "run", "-o", "/proc/none/run", "--", str(workload("tasktree-gcc"))],
        capture_output=True,
        text=True,
        check=False,
    )
    assert completed.returncode == 0 and "right" in completed.stdout
    assert [line for line in completed.stderr.splitlines() if "trimtab" in line] == [
        "trimtab: not recorded: /proc/none/run: No such file or directory"
    ]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a small file system")
def test_a_full_disk(trimtab: str, tmp_path: Path, workload: Callable[[str], Path]) -> None:
    mount = tmp_path / "small"
    mount.mkdir()
    if (
        subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=256k", "none", str(mount)], check=False
        ).returncode
        != 0
    ):
        pytest.skip("mounting is not allowed here")
    try:
        completed = subprocess.run(
            [trimtab, "run", "--trace", "-o", str(mount / "r"), "--", str(workload("sph-gcc"))],
            capture_output=True,
            text=True,
            check=False,
        )
        assert completed.returncode == 0 and "right" in completed.stdout
        assert "trimtab" in completed.stderr
        completed = subprocess.run(
            [trimtab, "run", "-o", str(mount / "s"), "--", str(workload("sph-gcc"))],
            capture_output=True,
            text=True,
            check=False,
        )
        assert completed.returncode == 0 and "right" in completed.stdout
        assert "No space left" in completed.stderr or "no room is left" in completed.stderr, completed.stderr
        assert "static runtime" not in completed.stderr, "that is not why there are no regions"
        assert not list(mount.glob("*/.run.json.part")), "nothing is half-written"
    finally:
        subprocess.run(["umount", str(mount)], check=True)


def test_many_short_processes(run: Run) -> None:
    watched = run("sh", "-c", "i=0; while [ $i -lt 1000 ]; do /bin/true; i=$((i+1)); done; echo done")
    assert watched.done.stdout == "done\n"
    assert len(watched.report()["processes"]) == 1001


@pytest.mark.parametrize("compiler", ["gcc", "clang-19"])
def test_five_hundred_threads(run: Run, compiled: Compiled, compiler: str) -> None:
    source = "double sink;\nint main(void) {\nfor (int r = 0; r < 2; r++) {\n#pragma omp parallel num_threads(500)\n{\n#pragma omp atomic\nsink += 1;\n}\n}\nreturn sink != 1000; }\n"
    watched = run(compiled(source, compiler))
    assert watched.done.returncode == 0
    region = watched.report()["regions"][0]
    assert region["threads"] == 500 and len(region["lanes"]) == 500


def test_two_runs_at_once(trimtab: str, tmp_path: Path, workload: Callable[[str], Path]) -> None:
    pair = [
        subprocess.Popen(
            [trimtab, "run", "-q", "-o", str(tmp_path / name), "--", str(workload("lavamd-gcc"))],
            stdout=subprocess.PIPE,
        )
        for name in ("a", "b")
    ]
    assert [process.wait(60) for process in pair] == [0, 0]
    for name in ("a", "b"):
        assert (
            subprocess.run(
                [trimtab, "report", str(tmp_path / name)], capture_output=True, check=False
            ).returncode
            == 0
        )


def test_a_static_program(run: Run, compiled: Compiled) -> None:
    watched = run(compiled("int main(void) { return 4; }\n", "gcc", "-static"))
    assert watched.done.returncode == 4
    assert "statically linked" in watched.done.stderr
    report = watched.report()
    assert report["regions"] == []
    reasons = [entry["why"] for entry in report["unavailable"] if entry["what"] == "OpenMP regions"]
    assert len(reasons) == 1 and "statically" in reasons[0]
    assert "operating system:" in watched.done.stderr and " of CPU time" in watched.done.stderr


def test_two_runtimes_in_one_process_are_kept_apart(run: Run, compiled: Compiled, tmp_path: Path) -> None:
    library = tmp_path / "libother.so"
    (tmp_path / "other.c").write_text(
        "double other(void) { double s = 0;\n#pragma omp parallel for reduction(+:s) num_threads(2)\n"
        "for (int i = 0; i < 1000; i++) s += i;\nreturn s; }\n"
    )
    subprocess.run(
        [
            "clang-19",
            "-g",
            "-O2",
            "-fopenmp",
            "-shared",
            "-fPIC",
            str(tmp_path / "other.c"),
            "-o",
            str(library),
        ],
        check=True,
    )
    source = (
        "#include <stdio.h>\ndouble other(void);\nint main(void) { double s = 0;\n"
        "#pragma omp parallel for reduction(+:s) num_threads(2) schedule(dynamic,1)\nfor (int i = 0; i < 1000; i++) s += i;\n"
        'printf("%g %g\\n", s, other()); return 0; }\n'
    )
    watched = run(compiled(source, "gcc", str(library), f"-Wl,-rpath,{tmp_path}"))
    assert watched.done.stdout == "499500 499500\n"
    report = watched.report()
    assert sorted(region["runtime"] for region in report["regions"]) == ["libgomp", "libomp"]
    assert any("two OpenMP runtimes" in entry["why"] for entry in report["unavailable"])


def test_libraries_that_come_and_go(run: Run, compiled: Compiled, tmp_path: Path) -> None:
    """What is loaded where another library stood is another; what comes back is the same again."""
    for name, times in (("one", 2), ("two", 3)):
        (tmp_path / f"{name}.c").write_text(
            f"volatile double sink;\nvoid work(void) {{ for (int i = 0; i < {times}; i++)\n"
            "#pragma omp parallel num_threads(2)\nsink = 1;\n}\n"
        )
        library = ["-shared", "-fPIC", "-g", "-O2", "-fopenmp", str(tmp_path / f"{name}.c")]
        subprocess.run(["gcc", *library, "-o", str(tmp_path / f"lib{name}.so")], check=True)
    source = (
        "#include <dlfcn.h>\n#include <stdio.h>\nint main(int n, char** v) { for (int i = 0; i < 10; i++) {\n"
        "void* h = dlopen(v[1 + i % 2], RTLD_NOW); if (!h) { puts(dlerror()); return 1; }\n"
        'void* at = dlsym(h, "work"); ((void (*)(void))at)(); dlclose(h); printf("%p\\n", at); }\n'
        "return 0; }\n"
    )
    watched = run(compiled(source), tmp_path / "libone.so", tmp_path / "libtwo.so")
    assert watched.done.returncode == 0, watched.done.stdout
    assert len(set(watched.done.stdout.split())) < 10  # addresses do come again
    regions = {Path(region["file"]).name: region["calls"] for region in watched.report()["regions"]}
    assert regions == {"one.c": 10, "two.c": 15}


def test_scikit_learn(run: Run, tmp_path: Path) -> None:
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    script = tmp_path / "fit.py"
    script.write_text(
        "import numpy as np\nfrom sklearn.cluster import KMeans\nx = np.random.default_rng(0).normal(size=(5000, 8))\n"
        "print(KMeans(n_clusters=4, n_init=2, random_state=0, max_iter=20).fit(x).n_iter_ > 0)\n"
    )
    watched = run(sys.executable, script)
    assert watched.done.stdout == "True\n"
    report = watched.report()
    assert report["regions"] and sum(region["calls"] for region in report["regions"]) > 10
    assert all("libgomp" in region["runtime"] for region in report["regions"])


def test_a_program_with_subjects_of_its_own(run: Run, compiled: Compiled) -> None:
    from trimtab.paths import include_dir

    source = (
        '#include "trimtab.h"\nint main(void) { uint32_t s = trimtab_subject("solve");\n'
        "for (int i = 0; i < 5000; i++) { trimtab_begin(s); trimtab_end(s); }\n"
        'uint32_t c = trimtab_counter("residual", "1"); trimtab_set(c, 0.5); return 0; }\n'
    )
    program = compiled(source, "gcc", f"-I{include_dir()}")
    assert subprocess.run([program], check=False).returncode == 0  # not attached: nothing happens
    report = run(program).report()
    (scope,) = report["scopes"]
    assert (scope["name"], scope["count"]) == ("solve", 5000)
    assert any(counter["name"] == "residual" and counter["values"] == [0.5] for counter in report["counters"])


def test_a_damaged_run_is_a_clear_error(run: Run, trimtab: str, workload: Callable[[str], Path]) -> None:
    watched = run(workload("tasktree-gcc"))
    files = sorted(path for path in watched.directory.rglob("*") if path.is_file())
    seed = int(os.environ.get("TRIMTAB_FUZZ", "20261121"))
    chance = random.Random(seed)
    from reports import build
    from trimtab.model import RunError
    from trimtab.readers import open_run

    for path in files:
        whole = path.read_bytes()
        for _ in range(12):
            damaged = bytearray(whole)
            if chance.random() < 0.5:
                del damaged[chance.randrange(len(damaged)) :]
            else:
                for _ in range(chance.randrange(1, 30)):
                    damaged[chance.randrange(min(len(damaged), 6000))] = chance.randrange(256)
            path.write_bytes(damaged)
            try:
                build(open_run(watched.directory))
            except RunError as error:
                assert str(watched.directory) in str(error), f"seed {seed}"
        path.write_bytes(whole)
    files[0].parent.joinpath("run.json").unlink(missing_ok=True)
    (watched.directory / "run.json").unlink(missing_ok=True)
    completed = subprocess.run(
        [trimtab, "report", str(watched.directory)], capture_output=True, text=True, check=False
    )
    assert (
        completed.returncode == 2 and "run.json" in completed.stderr and "Traceback" not in completed.stderr
    )


def test_page_is_whole_and_loads_nothing(run: Run, workload: Callable[[str], Path], tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    run(workload("mandelbrot-gcc"), options=("--trace", "--html", str(page)))
    text = page.read_text()
    assert text.startswith("<!doctype html>") and text.rstrip().endswith("</html>")
    assert (
        "mandelbrot.c:" in text and "http://" not in text and "https://" not in text and " src=" not in text
    )


def test_list_and_last(trimtab: str, tmp_path: Path) -> None:
    completed = subprocess.run([trimtab, "run", "-q", "--", "true"], cwd=tmp_path, check=False)
    assert completed.returncode == 0
    listed = json.loads(
        subprocess.run([trimtab, "list", "--json"], cwd=tmp_path, capture_output=True, check=True).stdout
    )
    assert [entry["program"] for entry in listed] == ["true"]
    assert (
        subprocess.run([trimtab, "report", "last"], cwd=tmp_path, capture_output=True, check=False).returncode
        == 0
    )
