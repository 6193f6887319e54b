"""Where Spark is, and a home for runs that leave nothing in it."""

from __future__ import annotations

import importlib.util
from pathlib import Path

# Where the workers of `local-cluster` write: always below SPARK_HOME, whatever SPARK_WORKER_DIR says.
_WORK = "work"


def spark_home() -> Path:
    """The folder of the installed pyspark."""
    spec = importlib.util.find_spec("pyspark")
    assert spec is not None and spec.origin is not None
    return Path(spec.origin).parent


def linked_home(folder: Path) -> Path:
    """A folder for SPARK_HOME with links to all of pyspark: what executors write stays in it, and not among the installed packages."""
    home = folder / "spark-home"
    home.mkdir()
    for path in spark_home().iterdir():
        if path.name != _WORK:
            (home / path.name).symlink_to(path)
    return home
