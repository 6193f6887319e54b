"""One JVM that runs a shuffle with one setting of Spark after another: a line of JSON with settings in, a line with seconds out.

python benchmarks/shuffle_session.py PROGRAM PRESET MASTER
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from pyspark import SparkContext
from pyspark.sql import SparkSession

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "workloads" / "spark"))
import shuffles  # type: ignore[import-not-found]


def seconds(program: str, size: shuffles.Size, master: str, settings: dict[str, str]) -> float:
    """How long the program takes in a session of its own, whose start is not counted."""
    builder = SparkSession.builder.master(master).config("spark.sql.shuffle.partitions", str(size.reduces))
    for key, value in settings.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    try:
        spark.range(0, 100, 1, 2).count()
        start = time.monotonic()
        shuffles.PROGRAMS[program](spark, size)
        return time.monotonic() - start
    finally:
        spark.stop()


def main() -> None:
    program, preset, master = sys.argv[1:]
    # A JVM that the first session starts keeps that session's settings as defaults of all others.
    SparkContext._ensure_initialized()
    for line in sys.stdin:
        print(json.dumps(seconds(program, shuffles.SIZES[preset], master, json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
