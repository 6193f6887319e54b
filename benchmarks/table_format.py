"""The experiment of docs/developer/table-format.md: one table of events in several formats, the same questions to each.

    pip install numpy numba polars pyarrow
    python benchmarks/table_format.py --rows 100000000 --folder DIR

Each question is asked in a process of its own, after the table's files have left the page cache. The answers must be equal.
Prints a table: seconds, and the most memory of the process that is not a file's.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

LANES, REGIONS, BINS = 16, 200, 1000
BLOCK = 1 << 20
PART_BEGIN, PART_END, LOOP, WAIT = 3, 4, 16, 17
TICKS = 40
COLUMNS = {"ticks": "<u8", "subject": "<u4", "kind": "<u2", "arg": "<u2", "a": "<u8", "b": "<u8"}
EVENT = np.dtype(list(COLUMNS.items()))
Block = dict[str, Any]


def made(rows: int, lane: int) -> Iterator[Any]:
    """The events of a lane, in order of time: a part of a region, in it a loop and a wait."""
    rng = np.random.default_rng(lane)
    for low in range(0, rows // LANES, BLOCK):
        at = np.arange(low, min(low + BLOCK, rows // LANES))
        events = np.zeros(len(at), EVENT)
        events["ticks"] = at * TICKS + rng.integers(0, TICKS, len(at))
        events["subject"] = at // 4 % REGIONS
        events["kind"] = np.array([PART_BEGIN, LOOP, WAIT, PART_END], np.uint16)[at % 4]
        events["a"] = rng.integers(1, 1000, len(at))
        events["b"] = at // 4
        yield events


class Rows:
    """A file of records for each lane: as the recorder leaves them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, rows: int) -> None:
        for lane in range(LANES):
            with (self.folder / f"{lane}.rows").open("wb") as stream:
                for events in made(rows, lane):
                    events.tofile(stream)

    def column(self, lane: int, name: str) -> Any:
        return np.memmap(self.folder / f"{lane}.rows", EVENT, "r")[name]

    def waits(self) -> Any:
        """By region and lane: the sum of all waits."""
        sums = np.zeros((REGIONS, LANES))
        for lane in range(LANES):
            kind, subject, a = (self.column(lane, name) for name in ("kind", "subject", "a"))
            for low in range(0, len(kind), BLOCK):
                is_wait = kind[low : low + BLOCK] == WAIT
                chosen = subject[low : low + BLOCK][is_wait]
                sums[:, lane] += np.bincount(chosen, a[low : low + BLOCK][is_wait], REGIONS)
        return sums

    def order(self) -> Any:
        """All events of all lanes by time: every ten thousandth time."""
        ticks = np.concatenate([self.column(lane, "ticks") for lane in range(LANES)])
        return ticks[np.argsort(ticks, kind="stable")][::10000]

    def inside(self) -> Any:
        """By bin of time: how many lanes were in a part when it began."""
        edges = np.linspace(0, self.end(), BINS, endpoint=False)
        change = np.zeros(BINS + 1)
        for lane in range(LANES):
            kind, ticks = self.column(lane, "kind"), self.column(lane, "ticks")
            for low in range(0, len(kind), BLOCK):
                kinds, at = kind[low : low + BLOCK], ticks[low : low + BLOCK]
                for event_kind, sign in ((PART_BEGIN, 1), (PART_END, -1)):
                    place = np.searchsorted(edges, at[kinds == event_kind])
                    change += sign * np.bincount(place, minlength=BINS + 1)
        return np.cumsum(change)[:BINS]

    def window(self) -> Any:
        """In a hundredth of the time: the mean of `a` of all events."""
        begin, end = self.end() // 2, self.end() // 2 + self.end() // 100
        total = count = 0
        for lane in range(LANES):
            low, high = np.searchsorted(self.column(lane, "ticks"), np.array([begin, end], np.uint64))
            total += int(self.column(lane, "a")[low:high].sum())
            count += int(high - low)
        return np.array([total / count])

    def end(self) -> int:
        return int(self.column(0, "ticks").shape[0]) * TICKS


class Columns(Rows):
    """A file for each column of each lane."""

    def write(self, rows: int) -> None:
        for lane in range(LANES):
            streams = {name: (self.folder / f"{lane}.{name}").open("wb") for name in COLUMNS}
            for events in made(rows, lane):
                for name, stream in streams.items():
                    np.ascontiguousarray(events[name]).tofile(stream)
            for stream in streams.values():
                stream.close()

    def column(self, lane: int, name: str) -> Any:
        return np.memmap(self.folder / f"{lane}.{name}", COLUMNS[name], "r")


class Compiled(Columns):
    """The same files, read by functions that numba compiles (the compilation, 1 to 2 s, is not counted)."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        import numba

        @numba.njit(nogil=True)
        def add_waits(kind, subject, a, sums):  # type: ignore[no-untyped-def]
            for i in range(len(kind)):
                if kind[i] == WAIT:
                    sums[subject[i]] += a[i]

        @numba.njit(nogil=True)
        def add_changes(kind, ticks, width, change):  # type: ignore[no-untyped-def]
            for i in range(len(kind)):
                if kind[i] == PART_BEGIN or kind[i] == PART_END:
                    place = min(int(np.ceil(ticks[i] / width)), BINS)
                    change[place] += 1 if kind[i] == PART_BEGIN else -1

        empty_row = {name: np.zeros(1, dtype) for name, dtype in COLUMNS.items()}
        for column in empty_row.values():
            column.flags.writeable = False
        add_waits(empty_row["kind"], empty_row["subject"], empty_row["a"], np.zeros(REGIONS))
        add_changes(empty_row["kind"], empty_row["ticks"], 1.0, np.zeros(BINS + 1))
        self._add_waits, self._add_changes = add_waits, add_changes

    def waits(self) -> Any:
        sums = np.zeros((LANES, REGIONS))
        for lane in range(LANES):
            columns = [np.asarray(self.column(lane, name)) for name in ("kind", "subject", "a")]
            self._add_waits(*columns, sums[lane])
        return sums.T

    def inside(self) -> Any:
        change = np.zeros(BINS + 1)
        for lane in range(LANES):
            columns = [np.asarray(self.column(lane, name)) for name in ("kind", "ticks")]
            self._add_changes(*columns, self.end() / BINS, change)
        return np.cumsum(change)[:BINS]


class Arrow:
    """One Arrow file, mapped; polars asks the questions, out of core."""

    ending = "arrow"

    def __init__(self, folder: Path) -> None:
        self.path = folder / f"events.{self.ending}"

    def write(self, rows: int) -> None:
        import pyarrow as pa

        with self.open(
            pa.schema(
                [("lane", pa.uint32())] + [(n, pa.from_numpy_dtype(np.dtype(t))) for n, t in COLUMNS.items()]
            )
        ) as file:
            for lane in range(LANES):
                for events in made(rows, lane):
                    columns = {n: np.ascontiguousarray(events[n]) for n in COLUMNS}
                    file.write(pa.record_batch({"lane": np.full(len(events), lane, np.uint32), **columns}))

    def open(self, schema: Any) -> Any:
        import pyarrow as pa

        return pa.ipc.new_file(str(self.path), schema)

    def scan(self) -> Any:
        import polars as pl

        return pl.scan_ipc(self.path)

    def collect(self, frame: Any) -> Any:
        return frame.collect(engine="streaming")

    def waits(self) -> Any:
        import polars as pl

        sums = self.collect(
            self.scan().filter(pl.col("kind") == WAIT).group_by("subject", "lane").agg(pl.col("a").sum())
        )
        result = np.zeros((REGIONS, LANES))
        result[sums["subject"].to_numpy(), sums["lane"].to_numpy()] = sums["a"].to_numpy()
        return result

    def order(self) -> Any:
        return self.collect(self.scan().select("ticks").sort("ticks"))["ticks"].to_numpy()[::10000]

    def inside(self) -> Any:
        import polars as pl

        width = self.end() / BINS
        parts = self.scan().filter(pl.col("kind").is_in([PART_BEGIN, PART_END]))
        places = parts.select(
            (pl.col("ticks") / width).ceil().clip(0, BINS).cast(pl.Int64).alias("place"),
            pl.when(pl.col("kind") == PART_BEGIN).then(1).otherwise(-1).alias("sign"),
        )
        sums = self.collect(places.group_by("place").agg(pl.col("sign").sum()))
        change = np.zeros(BINS + 1)
        change[sums["place"].to_numpy()] = sums["sign"].to_numpy()
        return np.cumsum(change)[:BINS]

    def window(self) -> Any:
        import polars as pl

        begin, end = self.end() // 2, self.end() // 2 + self.end() // 100
        chosen = self.scan().filter((pl.col("ticks") >= begin) & (pl.col("ticks") < end))
        return self.collect(chosen.select(pl.col("a").mean()))["a"].to_numpy()

    def end(self) -> int:
        import polars as pl

        rows = self.scan().select(pl.len()).collect().item()
        return int(rows) // LANES * TICKS


class Parquet(Arrow):
    """One Parquet file (zstd), read by polars, out of core."""

    ending = "parquet"

    def open(self, schema: Any) -> Any:
        import pyarrow.parquet as pq

        return pq.ParquetWriter(str(self.path), schema, compression="zstd")

    def scan(self) -> Any:
        import polars as pl

        return pl.scan_parquet(self.path)


FORMATS: dict[str, Callable[[Path], Any]] = {
    "rows": Rows,
    "columns": Columns,
    "columns-numba": Compiled,
    "arrow": Arrow,
    "parquet": Parquet,
}
FILES_OF = {"columns-numba": "columns"}
QUESTIONS = ("waits", "inside", "order", "window")


def forget(folder: Path) -> None:
    """Takes the files out of the page cache."""
    for path in folder.iterdir():
        with path.open("rb") as stream:
            os.fsync(stream.fileno())
            os.posix_fadvise(stream.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


class Memory(threading.Thread):
    """Watches the memory of this process that is not a file's."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.most_kb = 0

    def run(self) -> None:
        while True:
            status = Path("/proc/self/status").read_text()
            self.most_kb = max(self.most_kb, int(status.partition("RssAnon:")[2].split()[0]))
            time.sleep(0.02)


def ask(name: str, folder: Path, question: str) -> None:
    """In a process of its own."""
    table = FORMATS[name](folder)
    watch = Memory()
    watch.start()
    begin, cpu, read = time.perf_counter(), time.process_time(), bytes_read()
    answer = np.asarray(getattr(table, question)(), float)
    result = {"wall_s": time.perf_counter() - begin, "cpu_s": time.process_time() - cpu}
    checks = [float(answer.sum()), float((answer.ravel() * np.arange(answer.size)).sum())]
    result |= {"read_mb": (bytes_read() - read) / 1e6, "memory_mb": watch.most_kb / 1024}
    print(json.dumps({**result, "answer": checks}))


def bytes_read() -> int:
    """From the disk, by this process."""
    return int(Path("/proc/self/io").read_text().partition("\nread_bytes:")[2].split()[0])


def measure(name: str, folder: Path, question: str) -> dict[str, Any]:
    forget(folder)
    command = [sys.executable, __file__, "--ask", name, question, "--folder", str(folder)]
    return dict(json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=100_000_000)
    parser.add_argument("--folder", type=Path, required=True, help="new; needs about 130 bytes a row")
    parser.add_argument("--ask", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.ask:
        return ask(options.ask[0], options.folder, options.ask[1])
    answers: dict[str, Any] = {}
    print("| format | question | wall, s | CPU, s | read, MB | memory, MB |\n|---|---|---|---|---|---|")
    for name in FORMATS:
        folder = options.folder / FILES_OF.get(name, name)
        write(name, folder, options.rows)
        for question in QUESTIONS:
            result = measure(name, folder, question)
            figures = (result["wall_s"], result["cpu_s"], result["read_mb"], result["memory_mb"])
            print(
                f"| {name} | {question} | " + " | ".join(f"{figure:.4g}" for figure in figures) + " |",
                flush=True,
            )
            if not np.allclose(answers.setdefault(question, result["answer"]), result["answer"], rtol=1e-9):
                raise SystemExit(f"{name}: another answer to {question}: {result['answer']}")


def write(name: str, folder: Path, rows: int) -> None:
    if folder.exists():
        return
    folder.mkdir(parents=True)
    begin, cpu = time.perf_counter(), time.process_time()
    FORMATS[name](folder).write(rows)
    figures = (time.perf_counter() - begin, time.process_time() - cpu)
    size = sum(path.stat().st_size for path in folder.iterdir()) / 1e6
    print(f"| {name} ({size:.0f} MB) | written | {figures[0]:.4g} | {figures[1]:.4g} | | |", flush=True)


if __name__ == "__main__":
    main()
