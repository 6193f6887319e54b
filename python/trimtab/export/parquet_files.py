"""Tables as Parquet, through pyarrow: row groups of some hundred thousand rows, words as dictionaries."""

from __future__ import annotations

from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from trimtab.export.source import BLOCK
from trimtab.export.tables import Table

_MOST_BATCHES = 500

_TYPES = {
    "int": pa.int64(),
    "uint": pa.uint64(),
    "float": pa.float64(),
    "str": pa.string(),
    "word": pa.dictionary(pa.int32(), pa.string()),
}


def write_parquet(table: Table, stream: IO[bytes]) -> None:
    """Writes a whole table."""
    schema = pa.schema([(name, _TYPES[kind]) for name, kind in table.columns.items()])
    with pq.ParquetWriter(stream, schema, compression="zstd") as writer:
        waiting: list[Any] = []
        for block in table.blocks:
            columns = [_array(kind, block[name]) for name, kind in table.columns.items()]
            waiting.append(pa.record_batch(columns, schema=schema))
            # Short lanes by the thousand would be as many groups, each with a price of its own.
            if sum(batch.num_rows for batch in waiting) >= BLOCK or len(waiting) == _MOST_BATCHES:
                _write(writer, waiting)
        _write(writer, waiting)


def _write(writer: Any, waiting: list[Any]) -> None:
    """One row group of all that waits."""
    if waiting:
        writer.write_table(pa.Table.from_batches(waiting).unify_dictionaries())
        waiting.clear()


def _array(kind: str, column: Any) -> Any:
    if kind == "word":
        words, word_numbers = column
        # A word that is not known is a missing value, and no entry of the dictionary.
        known_words = [at for at, word in enumerate(words) if word is not None]
        new = np.full(len(words), -1, np.int32)
        new[known_words] = np.arange(len(known_words), dtype=np.int32)
        numbers = new[word_numbers]
        return pa.DictionaryArray.from_arrays(
            pa.array(numbers, pa.int32(), mask=numbers < 0),
            pa.array([words[at] for at in known_words], pa.string()),
        )
    if isinstance(column, list):
        return pa.array(column, _TYPES[kind])
    mask = np.ma.getmaskarray(column) if isinstance(column, np.ma.MaskedArray) else None
    return pa.array(np.ma.getdata(column).astype(_TYPES[kind].to_pandas_dtype()), mask=mask)
