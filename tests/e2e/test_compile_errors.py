"""What does not compile says what to write instead."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

_HEAD = "#include <trimtab/tasks.hpp>\nusing namespace trimtab;\n"
_WRONG = {
    "named task": (
        "task<int> one() { co_return 1; }\ntask<int> two() { auto named = one(); co_return co_await {}; }\n",
        "named",
        "std::move(named)",
        "write co_await std::move(task)",
    ),
    "dataflow": (
        "int add(int a, int b) { return a + b; }\n"
        "auto sum(future<int> a, future<int> b) { return dataflow({}, std::move(a), std::move(b)); }\n",
        "add",
        "unwrapping(add)",
        "write dataflow(unwrapping(f), ...)",
    ),
    "then": (
        "int next(int a) { return a + 1; }\nauto after(future<int> a) { return a.then({}); }\n",
        "next",
        "unwrapping(next)",
        "write then(unwrapping(f))",
    ),
}


def _compile(include: Path, source: str) -> subprocess.CompletedProcess[str]:
    command = ["g++", "-std=c++20", "-fsyntax-only", "-I", str(include), "-x", "c++", "-"]
    return subprocess.run(
        command, input=_HEAD + source, capture_output=True, text=True, check=False, timeout=120
    )


@pytest.mark.parametrize("case", _WRONG)
def test_the_message_tells_the_remedy(trimtab: str, case: str) -> None:
    requested = subprocess.run([trimtab, "--cmake-dir"], capture_output=True, text=True, check=True)
    include = Path(requested.stdout.strip()).parent / "include"
    program, wrong, right, message = _WRONG[case]
    rejected = _compile(include, program.replace("{}", wrong))
    assert rejected.returncode != 0 and message in rejected.stderr, rejected.stderr[:3000]
    accepted = _compile(include, program.replace("{}", right))
    assert accepted.returncode == 0, accepted.stderr[:3000]
