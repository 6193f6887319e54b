"""Tables as Parquet, through pyarrow: a row group for each block, words as dictionaries."""

from __future__ import annotations

from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from trimtab.export.tables import Table

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
        for block in table.blocks:
            columns = [_array(kind, block[name]) for name, kind in table.columns.items()]
            writer.write_batch(pa.record_batch(columns, schema=schema))


def _array(kind: str, column: Any) -> Any:
    if kind == "word":
        words, which = column
        # A word that is not known is a missing value, and no entry of the dictionary.
        known = [at for at, word in enumerate(words) if word is not None]
        new = np.full(len(words), -1, np.int32)
        new[known] = np.arange(len(known), dtype=np.int32)
        numbers = new[which]
        return pa.DictionaryArray.from_arrays(
            pa.array(numbers, pa.int32(), mask=numbers < 0),
            pa.array([words[at] for at in known], pa.string()),
        )
    if isinstance(column, list):
        return pa.array(column, _TYPES[kind])
    mask = np.ma.getmaskarray(column) if isinstance(column, np.ma.MaskedArray) else None
    return pa.array(np.ma.getdata(column).astype(_TYPES[kind].to_pandas_dtype()), mask=mask)
