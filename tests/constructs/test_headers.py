"""The headers of the task runtime, which g++ builds, are taken by clang as well."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOMS = Path(__file__).parent.parent.parent / "rooms"
INCLUDES = [f"-I{ROOMS / room / 'include'}" for room in ("base", "observe", "tasks")]


@pytest.mark.skipif(shutil.which("clang++-19") is None, reason="no clang++-19")
@pytest.mark.parametrize("is_reversed", [False, True])
def test_clang_takes_all_headers_in_any_order(tmp_path: Path, is_reversed: bool) -> None:
    root = ROOMS / "tasks" / "include"
    headers = sorted((str(path.relative_to(root)) for path in root.rglob("*.hpp")), reverse=is_reversed)
    assert len(headers) > 30
    source = tmp_path / "all.cpp"
    source.write_text("".join(f'#include "{header}"\n' for header in headers))
    warnings = ["-Wall", "-Wextra", "-Wshadow", "-Wconversion", "-Werror"]
    completed = subprocess.run(
        ["clang++-19", "-fsyntax-only", "-std=c++20", *warnings, *INCLUDES, source],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert completed.returncode == 0, completed.stderr
