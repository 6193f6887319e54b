"""OpenMP runtimes on this machine: of the system, and of wheels in the active Python."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from trimtab.doctor.check import Check

_NAME = re.compile(r"lib(gomp|omp|iomp)\d*(-[0-9a-f]+)?\.so[.\d]*")
_FOLDERS = (
    "usr/lib/llvm-*/lib",
    "usr/lib/*-linux-gnu",
    "usr/lib64",
    "usr/local/lib",
    "opt/intel/oneapi/compiler/*/lib",
)
# Where wheels put libraries, below site-packages.
_IN_WHEELS = ("*.libs", "*/lib", "*/.libs", "*/*.libs")


@dataclass(frozen=True)
class Runtime:
    """A library that runs OpenMP programs."""

    path: str
    kind: str
    has_ompt: bool

    def as_json(self) -> dict[str, str | bool]:
        """As `trimtab doctor --json` has it."""
        return {"path": self.path, "kind": self.kind, "ompt": self.has_ompt}


def look_at(path: Path) -> Runtime | None:
    """What a library is by what it defines; None if it is no OpenMP runtime."""
    try:
        with path.open("rb") as stream:
            section = ELFFile(stream).get_section_by_name(".dynsym")
            if not isinstance(section, SymbolTableSection):
                return None
            names = {symbol.name for symbol in section.iter_symbols() if symbol["st_shndx"] != "SHN_UNDEF"}
    except Exception:  # the ELF reader raises whatever it stumbles on
        return None
    if "__kmpc_fork_call" in names:
        return Runtime(str(path), "libiomp5" if "iomp" in path.name else "libomp", "ompt_start_tool" in names)
    if "GOMP_parallel" in names:
        return Runtime(str(path), "libgomp", "ompt_start_tool" in names)
    return None


def find(root: Path, cache: str, pythons: Iterable[tuple[Path, Path]]) -> list[Runtime]:
    """Runtimes below `root`, in the loader's cache (what `ldconfig -p` prints), and in (site-packages, prefix)."""
    folders = [Path(line.rsplit(" => ", 1)[1]) for line in cache.splitlines() if " => " in line]
    for pattern in _FOLDERS:
        folders += [
            file for folder in sorted(root.glob(pattern)) for file in sorted(folder.glob("lib*omp*.so*"))
        ]
    for site, prefix in pythons:
        for pattern in _IN_WHEELS:
            folders += [
                file for folder in sorted(site.glob(pattern)) for file in sorted(folder.glob("lib*omp*.so*"))
            ]
        folders += sorted((prefix / "lib").glob("lib*omp*.so*"))
    runtimes: dict[Path, Runtime] = {}
    for path in folders:
        if not _NAME.fullmatch(path.name):
            continue
        real = path.resolve()
        if real not in runtimes and (runtime := look_at(real)) is not None:
            runtimes[real] = runtime
    return list(runtimes.values())


def loader_cache() -> str:
    """What the loader knows; empty where that cannot be had (musl)."""
    command = shutil.which("ldconfig") or "/sbin/ldconfig"
    try:
        completed = subprocess.run([command, "-p"], capture_output=True, text=True, check=False, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return completed.stdout


def active_pythons() -> list[tuple[Path, Path]]:
    """site-packages and prefix of the Python that runs this, and of the one that `python3` starts."""
    environments = [(sysconfig.get_path("platlib"), sys.prefix)]
    code = "import sys, sysconfig; print(sysconfig.get_path('platlib'), sys.prefix, sep='\\n')"
    python = shutil.which("python3")
    if python is not None:
        try:
            completed = subprocess.run(
                [python, "-c", code], capture_output=True, text=True, check=False, timeout=20
            )
        except (OSError, subprocess.TimeoutExpired):
            completed = subprocess.CompletedProcess([], 1, "", "")
        lines = completed.stdout.splitlines()
        if completed.returncode == 0 and len(lines) == 2:
            environments.append((lines[0], lines[1]))
    return [(Path(site), Path(prefix)) for site, prefix in dict.fromkeys(environments)]


def checks(runtimes: list[Runtime]) -> list[Check]:
    """One for each, or one that says that there is none."""
    if not runtimes:
        return [
            Check(
                "OpenMP runtime",
                "info",
                "none found where the loader and Python's packages look",
                "programs that bring their own are watched all the same",
            )
        ]
    return [_check(runtime) for runtime in runtimes]


def _check(runtime: Runtime) -> Check:
    if runtime.has_ompt:
        return Check("OpenMP runtime", "ok", f"{runtime.kind} with OMPT: {runtime.path}")
    if runtime.kind == "libgomp":
        # Nothing to remedy: it never had any.
        return Check(
            "OpenMP runtime", "ok", f"libgomp: {runtime.path}", "has no OMPT: no dependences between tasks"
        )
    return Check(
        "OpenMP runtime",
        "info",
        f"{runtime.kind} built without OMPT: {runtime.path}",
        "no dependences between tasks",
        "use a build with LIBOMP_OMPT_SUPPORT",
    )
