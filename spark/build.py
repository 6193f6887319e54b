"""Compiles the sources of the Spark plug-in into one jar, against the jars inside pyspark: `python spark/build.py [--jar FILE] [--pyspark FOLDER]`.

Needs a JDK of version 17 or later and pyspark, and nothing else; no build tool for Java. The jar has nothing of Spark in
it. What differs between minor versions of Spark is chosen when the jar is loaded (`SparkVersion`), so one jar serves all.
The same sources give the same bytes.

Exit code: 0: the jar is there; 3: there is no JDK or no pyspark, so there is no jar, which one line says; 1: the compiler's.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
JAR = HERE.parent / "build" / "spark" / "trimtab-spark.jar"
NOT_POSSIBLE = 3
# "options": that Java 8 is old.
_WARNINGS = ["-Xlint:all,-classfile,-path,-processing,-options", "-Werror", "-proc:none"]
_FIRST_DATE = (1980, 1, 1, 0, 0, 0)


def main() -> int:
    parser = argparse.ArgumentParser(description="Compile the Spark plug-in.")
    parser.add_argument("--jar", type=Path, default=JAR, help="the file to write")
    parser.add_argument(
        "--pyspark", type=Path, help="folder of pyspark or of Spark; default: the installed pyspark"
    )
    chosen = parser.parse_args()
    spark, compiler = chosen.pyspark or installed_pyspark(), java_compiler()
    if missing := "pyspark" if spark is None else "a JDK (javac)" if compiler is None else "":
        print(f"no Spark plug-in was built: {missing} was not found")
        return NOT_POSSIBLE
    assert spark is not None and compiler is not None
    return build(spark / "jars", compiler, chosen.jar)


def installed_pyspark() -> Path | None:
    """The folder of pyspark in this Python."""
    found = importlib.util.find_spec("pyspark")
    return Path(found.origin).parent if found is not None and found.origin else None


def java_compiler() -> str | None:
    """javac of JAVA_HOME, or the first in PATH."""
    home = os.environ.get("JAVA_HOME")
    beside = shutil.which("javac", path=os.path.join(home, "bin")) if home else None
    return beside or shutil.which("javac")


def build(jars: Path, compiler: str, jar: Path) -> int:
    """Compile all sources and write the jar.

    Args:
        jars: Folder of Spark's own jars.
        compiler: Path of javac.
        jar: The file to write.
    """
    spark35 = HERE / "spark35"
    # What has the signatures of Spark 3.5 hides Spark's own classes of the same names.
    stubs = ["-Xprefer:source", "-implicit:none", "-sourcepath", str(spark35 / "stubs")]
    with tempfile.TemporaryDirectory() as classes:
        steps: list[tuple[str, list[Path], list[str]]] = [
            ("17", [HERE / "src", HERE / "java8"], []),
            # Once more, for Java 8: what Spark itself loads by name.
            ("8", [HERE / "java8"], []),
            ("17", [spark35 / "src"], stubs),
        ]
        for release, folders, options in steps:
            sources = sorted(str(path) for folder in folders for path in folder.rglob("*.java"))
            command = [compiler, "--release", release, *_WARNINGS, *options]
            command += ["-cp", f"{classes}{os.pathsep}{jars}/*", "-d", classes, *sources]
            if subprocess.run(command, stdin=subprocess.DEVNULL).returncode != 0:
                return 1
        jar.parent.mkdir(parents=True, exist_ok=True)
        write_jar(Path(classes), jar)
    return 0


def write_jar(classes: Path, jar: Path) -> None:
    """All class files under `classes`, in order of their names and without dates."""
    unfinished = jar.with_suffix(".new")
    with zipfile.ZipFile(unfinished, "w", zipfile.ZIP_DEFLATED) as file:
        manifest = "Manifest-Version: 1.0\r\n\r\n"
        file.writestr(zipfile.ZipInfo("META-INF/MANIFEST.MF", _FIRST_DATE), manifest)
        for path in sorted(classes.rglob("*.class")):
            entry = zipfile.ZipInfo(str(path.relative_to(classes)), _FIRST_DATE)
            entry.compress_type = zipfile.ZIP_DEFLATED
            file.writestr(entry, path.read_bytes())
    unfinished.replace(jar)


if __name__ == "__main__":
    sys.exit(main())
