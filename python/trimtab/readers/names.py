"""names.tt: modules, subjects, counters, what was unavailable."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

from trimtab.model import NO_SUBJECT, SUBJECT_KINDS, Counter, Knob, Module, RunError, Subject, Unavailable
from trimtab.readers import layout
from trimtab.readers.files import File


@dataclass
class Names:
    """Everything of names.tt."""

    modules: dict[int, Module] = field(default_factory=dict)
    subjects: dict[int, Subject] = field(default_factory=dict)
    counters: dict[int, Counter] = field(default_factory=dict)
    runtimes: dict[int, tuple[str, str]] = field(default_factory=dict)
    unavailable: list[Unavailable] = field(default_factory=list)
    facts: dict[str, str] = field(default_factory=dict)
    knobs: dict[int, Knob] = field(default_factory=dict)
    policies: dict[int, str] = field(default_factory=dict)


def _or_none(value: int) -> int | None:
    return None if value == NO_SUBJECT else value


def read_names(file: File) -> Names:
    """Parse the records; a record that does not fit is an error that names its byte."""
    names = Names()
    capacity, written = int(file.header["capacity"]), int(file.header["written"])
    if layout.HEADER_BYTES + capacity > file.size:
        raise RunError(
            f"{file.path}: byte 24: room for {capacity} bytes announced, expected a file of "
            f"{layout.HEADER_BYTES + capacity} bytes, found {file.size}: it was cut off"
        )
    body = bytes(file.data[layout.HEADER_BYTES :][:written])
    if len(body) < written:
        raise RunError(f"{file.path}: byte 32: {written} bytes of names announced, {len(body)} there")
    at = 0
    while at < len(body):
        place = layout.HEADER_BYTES + at
        if at + 8 > len(body):
            raise RunError(f"{file.path}: byte {place}: expected a record, found {len(body) - at} bytes")
        size, tag = struct.unpack_from("<IH", body, at)
        if size < 8 or size % 8 or at + size > len(body):
            raise RunError(f"{file.path}: byte {place}: a record of {size} bytes cannot be")
        try:
            _read_record(names, tag, body[at : at + size])
        except (struct.error, IndexError, ValueError) as error:
            raise RunError(f"{file.path}: byte {place}: record of tag {tag}: {error}") from error
        at += size
    return names


def _strings(record: bytes, fixed: int, count: int) -> list[str]:
    parts = record[fixed:].split(b"\0")
    if len(parts) <= count:
        raise ValueError(f"expected {count} strings, found {len(parts) - 1}")
    return [part.decode("utf-8", "replace") for part in parts[:count]]


def _read_record(names: Names, tag: int, record: bytes) -> None:
    if tag == 1:
        number, _, base, end = struct.unpack_from("<IIQQ", record, 8)
        path, build_id = _strings(record, 32, 2)
        names.modules[number] = Module(number, path, build_id, base, end)
    elif tag == 2:
        number, kind, runtime, module, line, offset, parent, is_call = struct.unpack_from(
            "<IHHIIQII", record, 8
        )
        name, file, function = _strings(record, 40, 3)
        names.subjects[number] = Subject(
            number,
            SUBJECT_KINDS.get(kind, f"kind {kind}"),
            runtime,
            _or_none(module),
            offset,
            bool(is_call),
            _or_none(parent),
            name,
            file,
            function,
            line,
        )
    elif tag == 3:
        number, is_cumulative = struct.unpack_from("<II", record, 8)
        name, unit, source = _strings(record, 16, 3)
        names.counters[number] = Counter(number, name, unit, source, bool(is_cumulative))
    elif tag == 4:
        names.unavailable.append(Unavailable(*_strings(record, 8, 3)))
    elif tag == 5:
        (number,) = struct.unpack_from("<H", record, 8)
        name, path, _ = _strings(record, 16, 3)
        names.runtimes[number] = (name, path)
    elif tag == 6:
        key, value = _strings(record, 8, 2)
        names.facts[key] = value
    elif tag == 7:
        number, on = struct.unpack_from("<II", record, 8)
        name, key, values = _strings(record, 16, 3)
        names.knobs[number] = Knob(
            number, _or_none(on), name, key, tuple(values.split(",")) if values else ()
        )
    elif tag == 8:
        (number,) = struct.unpack_from("<H", record, 8)
        names.policies[number] = _strings(record, 16, 1)[0]
