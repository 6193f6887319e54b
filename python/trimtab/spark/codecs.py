"""The bytes of an event log, as Spark's codecs have compressed them.

The kind is read from the first bytes, not from the file's name. A file that is still being written may end in the middle
of a block: what can be read of it is read.
"""

from __future__ import annotations

import importlib
import struct
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from trimtab.files import FileKind, open_regular
from trimtab.model import RunError

_CHUNK = 1 << 20
# Larger blocks are damage: Spark's are of 32 KiB unless somebody has set another size.
_MOST_BLOCK = 64 << 20
# Of a zstd frame; whoever announces more wants our memory.
_MOST_WINDOW = 1 << 27
_ZSTD, _GZIP, _LZ4, _SNAPPY, _LZF = b"\x28\xb5\x2f\xfd", b"\x1f\x8b", b"LZ4Block", b"\x82SNAPPY\0", b"ZV"
_LZ4_RAW, _LZ4_COMPRESSED = 0x10, 0x20
EVENT_LOG = FileKind("an event log of Spark", 1 << 44, RunError, follows_links=True)


class Damaged(Exception):
    """The compressed bytes cannot be read from here on."""


def chunks(path: Path, advance: Callable[[int], None] = lambda _: None) -> Iterator[bytes]:
    """The uncompressed bytes of `path`, in pieces; `advance` is called with bytes read from the disk.

    Raises:
        RunError: it is no file, or the library for its codec is not installed.
        Damaged: in the middle, what came before is good.
    """
    with open_regular(path, EVENT_LOG) as stream:
        head = stream.read(len(_LZ4))
        stream.seek(0)
        for magic, unpack in _UNPACKERS.items():
            if head.startswith(magic):
                yield from unpack(path, stream, advance)
                return
        yield from _read(stream, advance)


def _read(stream: BinaryIO, advance: Callable[[int], None]) -> Iterator[bytes]:
    while chunk := stream.read(_CHUNK):
        advance(len(chunk))
        yield chunk


def _library(path: Path, name: str, codec: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise RunError(
            f"{path}: is compressed with {codec}, which needs the package {name}: pip install 'trimtab[spark]'"
        ) from error


def _gzip(_: Path, stream: BinaryIO, advance: Callable[[int], None]) -> Iterator[bytes]:
    unpacker = zlib.decompressobj(wbits=31)
    for chunk in _read(stream, advance):
        waiting = chunk
        while waiting:
            try:
                yield unpacker.decompress(waiting, _CHUNK)
            except zlib.error as error:
                raise Damaged(str(error)) from error
            waiting = unpacker.unconsumed_tail
            if unpacker.eof:
                waiting, unpacker = unpacker.unused_data, zlib.decompressobj(wbits=31)


def _zstd(path: Path, stream: BinaryIO, advance: Callable[[int], None]) -> Iterator[bytes]:
    library = _library(path, "zstandard", "zstd")
    unpacker = library.ZstdDecompressor(max_window_size=_MOST_WINDOW)
    reader = unpacker.stream_reader(stream, read_size=_CHUNK, read_across_frames=True)
    before = 0
    while True:
        try:
            chunk = reader.read(_CHUNK)
        except library.ZstdError as error:
            raise Damaged(str(error)) from error
        advance(stream.tell() - before)
        before = stream.tell()
        if not chunk:
            return
        yield chunk


def _lz4(path: Path, stream: BinaryIO, advance: Callable[[int], None]) -> Iterator[bytes]:
    """LZ4BlockOutputStream of lz4-java: magic, token, compressed and original size, checksum, block."""
    unpack = _library(path, "cramjam", "lz4").lz4.decompress_block
    head = struct.Struct("<8sBiii")
    while len(record := stream.read(head.size)) == head.size:
        magic, token, packed_bytes, plain_bytes, _ = head.unpack(record)
        if magic != _LZ4 or not 0 <= packed_bytes <= _MOST_BLOCK or not 0 <= plain_bytes <= _MOST_BLOCK:
            raise Damaged(f"expected the head of an lz4 block before byte {stream.tell()}")
        if plain_bytes == 0:  # the end of one stream; another one may follow
            continue
        block = stream.read(packed_bytes)
        advance(head.size + len(block))
        if len(block) < packed_bytes:
            return
        if token & 0xF0 == _LZ4_RAW:
            yield block
        elif token & 0xF0 == _LZ4_COMPRESSED:
            yield _unpacked(partial(unpack, output_len=plain_bytes), block, stream)
        else:
            raise Damaged(f"expected an lz4 block, found method {token & 0xF0:#x}")


def _snappy(path: Path, stream: BinaryIO, advance: Callable[[int], None]) -> Iterator[bytes]:
    """SnappyOutputStream of snappy-java: a head of 16 bytes, then blocks with their size before them."""
    library = _library(path, "cramjam", "snappy")
    while len(size_bytes := stream.read(4)) == 4:
        if size_bytes == _SNAPPY[:4]:  # the head, also where another stream follows
            stream.read(12)
            continue
        size = int.from_bytes(size_bytes, "big")
        if size > _MOST_BLOCK:
            raise Damaged(f"expected the size of a snappy block before byte {stream.tell()}, found {size}")
        block = stream.read(size)
        advance(4 + len(block))
        if len(block) < size:
            return
        if _snappy_size(block) > _MOST_BLOCK:
            raise Damaged(f"a snappy block before byte {stream.tell()} says that it is too large")
        yield _unpacked(library.snappy.decompress_raw, block, stream)


def _snappy_size(block: bytes) -> int:
    """The size that a raw block announces: seven bits a byte, the lowest first."""
    size = 0
    for at, byte in enumerate(block[:5]):
        size |= (byte & 0x7F) << 7 * at
        if byte < 0x80:
            break
    return size


def _unpacked(unpack: Callable[[bytes], Any], block: bytes, stream: BinaryIO) -> bytes:
    try:
        return bytes(unpack(block))
    except Exception as error:  # the library raises errors of its own
        raise Damaged(f"the block before byte {stream.tell()} cannot be unpacked: {error}") from error


def _lzf(path: Path, _: BinaryIO, __: Callable[[int], None]) -> Iterator[bytes]:
    raise RunError(
        f"{path}: is compressed with lzf, which is not supported; set spark.eventLog.compression.codec to zstd"
    )


_UNPACKERS: dict[bytes, Callable[[Path, BinaryIO, Callable[[int], None]], Iterator[bytes]]] = {
    _ZSTD: _zstd,
    _GZIP: _gzip,
    _LZ4: _lz4,
    _SNAPPY: _snappy,
    _LZF: _lzf,
}
