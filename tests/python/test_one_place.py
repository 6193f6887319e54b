"""Files are opened, and texts are printed, in one place: whoever does it elsewhere says here why that is right."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

import pytest
import trimtab

SOURCES = Path(trimtab.__file__).parent

# Names of functions and methods that open, make or move files. `open` is the builtin and every method of that name.
OPENING = {
    *("open", "read_text", "read_bytes", "write_text", "write_bytes", "mkdir", "makedirs", "touch", "fdopen"),
    *("fromfile", "memmap", "loadtxt", "genfromtxt", "mkstemp", "mkdtemp", "mkfifo", "TemporaryFile"),
    *("NamedTemporaryFile", "copy", "copy2", "copyfile", "copytree", "move", "truncate", "link", "symlink"),
}
OWN_SYSTEM = "files of /proc, /sys and the system's own folders"
NAMED_PROGRAM = "the program that the user starts, or the system's libraries"
OWN_OUTPUTS = "outputs of the user's own program, in a folder of ours"
ALLOWED = {
    "files.py": ({"open", "fdopen"}, "the place itself"),
    "whole_files.py": ({"open", "fdopen", "mkdir"}, "the place itself"),
    "readers/files.py": ({"memmap"}, "of a stream that the place itself has opened"),
    "machine.py": ({"read_text"}, OWN_SYSTEM),
    "machine_files.py": ({"read_text", "read_bytes"}, OWN_SYSTEM),
    "doctor/runtimes.py": ({"open"}, NAMED_PROGRAM),
    "doctor/storage.py": (
        {"open", "mkdtemp"},
        "files of a new folder with a random name, to time calls on them",
    ),
    "programs.py": ({"open"}, NAMED_PROGRAM),
    "launcher/inspect_program.py": ({"open"}, NAMED_PROGRAM),
    "binary_check/code.py": ({"open"}, NAMED_PROGRAM),
    "launcher/spark.py": ({"mkdir"}, "in the new folder of the run"),
    "launcher/run_folder.py": ({"open"}, "the new folder, to hold it"),
    "jobs/guardian.py": ({"open", "fdopen"}, "a pipe of its own, and /dev/null"),
    "jobs/meeting.py": ({"fdopen"}, "memory without a name"),
    "history/store.py": ({"open"}, "makes the file with O_EXCL; SQLite opens it by its name"),
    "report/html.py": ({"read_text"}, "our own page"),
    "cli/view.py": ({"open"}, "the user's browser, at our own address"),
    "cli/counters.py": ({"read_text"}, "our own table"),
    "cli/top.py": ({"open"}, "/dev/null"),
    "cli/standard_output.py": ({"open"}, "/dev/null"),
    "live/targets.py": ({"read_bytes"}, OWN_SYSTEM),
    "live/knobs.py": (
        {"open"},
        "of a regular file of this user, as whole_files has it, to write into what is mapped",
    ),
    "live/screen.py": ({"truncate"}, "a line of text, no file"),
    "live/background.py": (
        {"copytree"},
        "a random name in the folder for temporary files, for this user only",
    ),
    "options.py": ({"read_text"}, "our own table"),
    "experiments/results.py": ({"mkdir", "read_text"}, f"the folder that the user named; {OWN_SYSTEM}"),
    "bare.py": ({"read_bytes"}, OWN_SYSTEM),
    "launcher/job.py": ({"read_bytes"}, OWN_SYSTEM),
    "launcher/inspect_library.py": ({"open"}, "our own library"),
    "experiments/topology.py": ({"read_text"}, OWN_SYSTEM),
    "experiments/execute.py": ({"TemporaryFile"}, "files without a name"),
    "experiments/run.py": ({"mkdir", "mkdtemp"}, "a random name in the folder of the sweep"),
    "experiments/cluster.py": ({"mkdir"}, "the folder that the user named"),
    "experiments/node_job.py": ({"mkdir"}, "in the folder that the user named"),
    "experiments/outputs.py": ({"mkdir"}, "in the folder that the user named"),
    "importing/write_run.py": ({"mkdir"}, "in a new folder of ours"),
    "cli/check.py": ({"mkdir"}, "the folder that the user named"),
    "answer_check/outputs.py": ({"mkdir", "copy2", "copyfile", "move"}, OWN_OUTPUTS),
    "answer_check/sides.py": ({"mkdir", "open", "read_bytes", "write_bytes"}, OWN_OUTPUTS),
    "answer_check/outcome.py": ({"open", "read_bytes"}, OWN_OUTPUTS),
    "answer_check/binaries.py": ({"open", "fromfile"}, OWN_OUTPUTS),
    "tuning/objective.py": ({"read_text"}, OWN_SYSTEM),
    "tuning/runner.py": ({"open"}, "the input that the user named"),
}
# Who may speak to a terminal without cleaning what it says.
PRINTING = {
    "cli/common.py": "click.echo, of what was cleaned",
    "text/console.py": "rich's console, which it derives from",
}


def sources() -> dict[str, ast.Module]:
    return {
        str(path.relative_to(SOURCES)): ast.parse(path.read_text(encoding="utf-8"))
        for path in sorted(SOURCES.rglob("*.py"))
    }


def called(tree: ast.Module) -> set[str]:
    """Names of all methods that are called, and of builtins; other functions are those of the one place."""
    result = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            function = node.func
            if isinstance(function, ast.Attribute):
                result.add(function.attr)
            elif isinstance(function, ast.Name) and function.id == "open":
                result.add("open")
    return result


def test_files_are_opened_in_one_place() -> None:
    result = defaultdict(set)
    for name, tree in sources().items():
        for entry in called(tree) & OPENING:
            result[name].add(entry)
    # text/ and figures/ have a `copy` of other things; dictionaries have one, too.
    own_value = {name: names - {"copy"} for name, names in result.items() if names - {"copy"}}
    assert own_value == {name: names for name, (names, _) in ALLOWED.items()}


def test_texts_are_printed_in_one_place() -> None:
    result = set()
    for name, tree in sources().items():
        for node in ast.walk(tree):
            is_echo = isinstance(node, ast.Attribute) and node.attr in ("echo", "secho", "echo_via_pager")
            is_print = (
                isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
            )
            is_console = isinstance(node, ast.ImportFrom) and (
                node.module == "rich.console"
                or (node.module == "rich" and "console" in {n.name for n in node.names})
            )
            is_stream = (
                isinstance(node, ast.Attribute)
                and node.attr in ("write", "writelines")
                and isinstance(node.value, ast.Attribute)
                and node.value.attr in ("stdout", "stderr")
            )
            if is_echo or is_print or is_console or is_stream:
                result.add(name)
    assert result == set(PRINTING)


@pytest.mark.parametrize("name", ["open", "memmap"])
def test_the_scan_sees_what_it_looks_for(name: str) -> None:
    assert name in called(ast.parse(f"import numpy as np\nnp.{name}('x')\n")) & OPENING
