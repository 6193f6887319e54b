"""Start values that `trimtab tune` has kept: who gets them, and who does not; and what the command says about its duration."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from conftest import finished
from trimtab.history import Entry, History
from trimtab.tuning.multi_run import Start
from trimtab.tuning.single_run import entries_of_start, key_of
from trimtab.tuning.tunables import VARIABLE

Compiled = Callable[..., Path]
SOURCE = (Path(__file__).parent / "children.c").read_text(encoding="utf-8")
ENVIRONMENT = {
    name: value
    for name, value in os.environ.items()
    if not name.startswith(("OMP_", "GOMP_", "KMP_", "GLIBC_"))
}
KEPT = {"OMP_PLACES": "cores", "OMP_PROC_BIND": "close", VARIABLE: "glibc.malloc.arena_max=3"}
WAYS = 13


class Kept:
    """A history in which these start values are kept for a program."""

    def __init__(self, trimtab: str, folder: Path, program: Path) -> None:
        self._trimtab, self._folder, self._program = trimtab, folder, program
        self.file = folder / "history.sqlite"

    def keep(self, variables: Mapping[str, str], *arguments: str, is_inherited: bool = False) -> None:
        key = key_of(self._program, arguments, None)
        start = Start(variables, "it was seen")
        History(self.file).remember(entries_of_start(key, self._program, start, is_inherited=is_inherited))

    def run(self, *arguments: str, options: tuple[str, ...] = (), **variables: str) -> Any:
        run = self._folder / "run"
        shutil.rmtree(run, ignore_errors=True)
        command = [self._trimtab, "run", "--frozen", "--history", str(self.file), "-o", str(run), *options]
        return finished([*command, "--", str(self._program), *arguments], env={**ENVIRONMENT, **variables})


@pytest.fixture
def kept(trimtab: str, compiled: Compiled, tmp_path: Path) -> Kept:
    return Kept(trimtab, tmp_path, compiled(SOURCE, "gcc"))


def shown(output: str) -> tuple[str, set[str]]:
    """OMP_PLACES of the program itself, and what the programs that it started had."""
    lines = output.splitlines()
    children = [line.partition(": ")[2].strip() for line in lines[1:-1]]
    assert lines[-1] == "codes: 0 0 7 1", output
    assert len(children) == WAYS, output
    return lines[0], set(children)


NOTHING = "OMP_PLACES=unset OMP_PROC_BIND=unset OMP_NUM_THREADS=unset GLIBC_TUNABLES=unset TRIMTAB_USERS_VALUES=unset"


@pytest.mark.parametrize("options", [(), ("--no-follow",)])
def test_programs_that_it_starts_have_what_the_user_had(kept: Kept, options: tuple[str, ...]) -> None:
    kept.keep(KEPT)
    completed = kept.run(options=options)
    assert completed.returncode == 0, completed.stderr
    assert shown(completed.stdout) == ("itself: OMP_PLACES=cores", {NOTHING})
    assert "started with OMP_PLACES=cores: found by earlier runs: it was seen" in completed.stderr


def test_the_users_own_values_are_theirs(kept: Kept) -> None:
    kept.keep(KEPT)
    completed = kept.run(**{VARIABLE: "glibc.malloc.perturb=1", "OMP_NUM_THREADS": "2"})
    itself, children = shown(completed.stdout)
    assert itself == "itself: OMP_PLACES=cores"
    expected = NOTHING.replace("OMP_NUM_THREADS=unset", "OMP_NUM_THREADS=2")
    assert children == {expected.replace(f"{VARIABLE}=unset", f"{VARIABLE}=glibc.malloc.perturb=1")}


def test_what_the_program_sets_for_them_stays(kept: Kept) -> None:
    kept.keep(KEPT, "own")
    itself, children = shown(kept.run("own").stdout)
    assert itself == "itself: OMP_PLACES=sockets"
    assert children == {NOTHING.replace("OMP_PLACES=unset", "OMP_PLACES=sockets")}


def test_a_program_that_replaces_itself_is_still_the_program(kept: Kept) -> None:
    kept.keep(KEPT, "again")
    itself, children = shown(kept.run("again").stdout)
    assert (itself, children) == ("itself: OMP_PLACES=cores", {NOTHING})


def test_they_inherit_what_is_asked_for(kept: Kept) -> None:
    kept.keep(KEPT, is_inherited=True)
    itself, children = shown(kept.run().stdout)
    assert itself == "itself: OMP_PLACES=cores"
    (environment,) = children
    assert "OMP_PLACES=cores OMP_PROC_BIND=close" in environment
    assert "GLIBC_TUNABLES=glibc.malloc.arena_max=3" in environment


def test_an_allocator_is_loaded_by_the_program_alone_and_only_when_told(
    kept: Kept, compiled: Compiled, trimtab: str, tmp_path: Path
) -> None:
    """Any library does: here one that says that it is there."""
    library = tmp_path / "liballocator.so"
    (tmp_path / "a.c").write_text(
        '#include <stdio.h>\n__attribute__((constructor)) static void is_here(void) { fputs("loaded\\n", stderr); }\n'
    )
    finished(["gcc", "-shared", "-fPIC", "-o", str(library), str(tmp_path / "a.c")])
    kept.keep({"LD_PRELOAD": str(library)})
    completed = kept.run()
    assert shown(completed.stdout) == ("itself: OMP_PLACES=unset", {NOTHING})
    # By the shells of system (three times) and popen, too, which are started by the C library, but by no program of theirs.
    assert completed.stderr.count("loaded\n") == 1 + 4
    key = key_of(kept._program, (), None)
    proved = [Entry(**{**vars(entry), "gain": 0.5, "pairs": 5}) for entry in History(kept.file).recall(key)]
    History(kept.file).remember(proved)
    unasked = finished(
        [trimtab, "run", "--history", str(kept.file), "-o", str(tmp_path / "r"), "--", str(kept._program)],
        env=ENVIRONMENT,
    )
    assert unasked.returncode == 0 and "loaded\n" not in unasked.stderr
    library.unlink()
    assert "loaded\n" not in kept.run().stderr and "preload" not in kept.run().stderr


def test_pages_from_all_nodes(kept: Kept) -> None:
    """On a machine with one node it changes nothing; the kernel may refuse it."""
    kept.keep({"TRIMTAB_INTERLEAVE": "1"})
    completed = kept.run()
    assert completed.returncode == 0 and shown(completed.stdout)[0] == "itself: OMP_PLACES=unset"


SLOW_WITHOUT = """#include <stdlib.h>
#include <string.h>
#include <time.h>
int main(void) {
  const char* const places = getenv("OMP_NUM_THREADS");
  const double seconds = places != NULL && strcmp(places, "1") == 0 ? 0.05 : 0.25;
  struct timespec begin, now;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  volatile double sum = 0;
  do {
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < 1000; ++i) sum += i;
    clock_gettime(CLOCK_MONOTONIC, &now);
  } while ((double)(now.tv_sec - begin.tv_sec) + 1e-9 * (double)(now.tv_nsec - begin.tv_nsec) < seconds);
}"""


def test_tune_says_how_long_and_ends_with_a_line_for_a_job_script(
    trimtab: str, compiled: Compiled, tmp_path: Path
) -> None:
    """The program looks at the variable that is tried, and ends sooner: so it is sure to be proved."""
    program = compiled(SLOW_WITHOUT, "gcc")
    history = tmp_path / "history.sqlite"
    # Only the number of threads is left open, so that it does not take long.
    mine = {"OMP_WAIT_POLICY": "passive", "OMP_PROC_BIND": "false", "MALLOC_TRIM_THRESHOLD_": "100000"}
    command = [trimtab, "tune", "--runs", "1", "--wide", "--history", str(history), "--", str(program)]
    tuned = finished(command, env={**ENVIRONMENT, **mine}, timeout=600)
    assert tuned.returncode == 0, tuned.stderr
    first = tuned.stderr.splitlines()[0]
    assert re.search(r"as it is; tuning takes \d+ (s|min) at most", first)
    assert re.search(
        r"1 setting to try at the start; \d+ s at most\ntrimtab: +OMP_NUM_THREADS=1: ", tuned.stderr
    )
    assert "OMP_NUM_THREADS=1" in tuned.stdout and "better" in tuned.stdout
    last = tuned.stderr.splitlines()[-1]
    assert last == "the start-up settings without Trimtab: export OMP_NUM_THREADS=1"


def test_a_setting_of_the_user_is_never_tried(trimtab: str, compiled: Compiled, tmp_path: Path) -> None:
    program = compiled(SLOW_WITHOUT, "gcc")
    mine = {"OMP_NUM_THREADS": "2", "OMP_PROC_BIND": "false", "OMP_WAIT_POLICY": "passive"}
    command = [trimtab, "tune", "--runs", "1", "--wide", "--history", str(tmp_path / "h"), "--json", "--"]
    tuned = finished([*command, str(program)], env={**ENVIRONMENT, **mine}, timeout=600)
    assert tuned.returncode == 0, tuned.stderr
    tried = " ".join(row["after"] for row in json.loads(tuned.stdout)["rows"])
    assert not re.search(r"OMP_|GOMP_|KMP_", tried)
    assert json.loads(tuned.stdout)["limit"]
