"""names.tt: modules, subjects, counters, what was unavailable."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from trimtab.model import NO_SUBJECT, SUBJECT_KINDS, Counter, Knob, Module, RunError, Subject, Unavailable
from trimtab.model.enumerations import Missing, NameTag
from trimtab.readers import layout
from trimtab.readers.files import File, byte_of

Fields: TypeAlias = tuple[Any, ...]


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
    samples: list[tuple[int, int, int, float]] = field(default_factory=list)  # ticks, counter, lane, value


def _none_if_zero(value: int) -> int | None:
    return None if value == NO_SUBJECT else value


def read_names(file: File) -> Names:
    """Parse the records; a record that does not fit is an error that names its byte."""
    names = Names()
    capacity, written = int(file.header["capacity"]), int(file.header["written"])
    if layout.HEADER_BYTES + capacity > file.size:
        raise RunError(
            f"{file.path}: {byte_of('capacity')}: room for {capacity} bytes announced, expected a file of "
            f"{layout.HEADER_BYTES + capacity} bytes, found {file.size}: it was cut off"
        )
    body = bytes(file.data[layout.HEADER_BYTES :][:written])
    if len(body) < written:
        raise RunError(
            f"{file.path}: {byte_of('written')}: {written} bytes of names announced, {len(body)} there"
        )
    add_names(names, body, file.path)
    return names


def add_names(names: Names, body: bytes, path: Path, begin: int = 0) -> None:
    """Parse `body`, whole records, which stand from byte `begin` of the file's records on.

    Raises:
        RunError: a record does not fit.
    """
    at = 0
    while at < len(body):
        place = layout.HEADER_BYTES + begin + at
        if at + layout.NAME_HEAD.size > len(body):
            raise RunError(f"{path}: byte {place}: expected a record, found {len(body) - at} bytes")
        size, tag = layout.NAME_HEAD.unpack_from(body, at)
        if size < layout.NAME_HEAD.size or size % 8 or at + size > len(body):
            raise RunError(f"{path}: byte {place}: a record of {size} bytes cannot be")
        try:
            _read_record(names, tag, body[at : at + size])
        except (struct.error, IndexError, ValueError) as error:
            raise RunError(f"{path}: byte {place}: record of tag {tag}: {error}") from error
        at += size


def _texts(record: bytes, form: layout.NameLayout) -> list[str]:
    parts = record[form.fields.size :].split(b"\0")
    if len(parts) <= form.texts:
        raise ValueError(f"expected {form.texts} strings, found {len(parts) - 1}")
    return [part.decode("utf-8", "replace") for part in parts[: form.texts]]


def _read_record(names: Names, tag: int, record: bytes) -> None:
    """Add what it names; records of tags that are not known are passed over."""
    form = layout.NAME_LAYOUTS.get(tag)
    if form is not None:
        _READERS[tag](names, form.fields.unpack_from(record), _texts(record, form))


def _module(names: Names, fields: Fields, texts: list[str]) -> None:
    record = layout.NameModule(*fields)
    path, build_id = texts
    names.modules[record.id] = Module(record.id, path, build_id, record.base, record.end)


def _subject(names: Names, fields: Fields, texts: list[str]) -> None:
    record = layout.NameSubject(*fields)
    name, file, function = texts
    names.subjects[record.id] = Subject(
        record.id,
        SUBJECT_KINDS.get(record.kind, f"kind {record.kind}"),
        record.runtime,
        _none_if_zero(record.module),
        record.offset,
        bool(record.is_call),
        _none_if_zero(record.parent),
        name,
        file,
        function,
        record.line,
    )


def _counter(names: Names, fields: Fields, texts: list[str]) -> None:
    record = layout.NameCounter(*fields)
    name, unit, source = texts
    names.counters[record.id] = Counter(record.id, name, unit, source, bool(record.is_cumulative))


# What the library reports begins with the word of its kind.
_WRITTEN_KINDS = (Missing.POLICY, Missing.VIRTUAL_THREADS)


def _unavailable(names: Names, fields: Fields, texts: list[str]) -> None:
    subject_text, reason, remedy = texts
    kind = next(
        (
            written_kind
            for written_kind in _WRITTEN_KINDS
            if f"{subject_text} ".startswith(f"{written_kind} ")
        ),
        Missing.OTHER,
    )
    names.unavailable.append(Unavailable(subject_text, reason, remedy, kind))


def _runtime(names: Names, fields: Fields, texts: list[str]) -> None:
    name, path, _ = texts
    names.runtimes[layout.NameRuntime(*fields).id] = (name, path)


def _fact(names: Names, fields: Fields, texts: list[str]) -> None:
    key, value = texts
    names.facts[key] = value


def _knob(names: Names, fields: Fields, texts: list[str]) -> None:
    record = layout.NameKnob(*fields)
    name, key, values = texts
    of_values = tuple(values.split(",")) if values else ()
    names.knobs[record.id] = Knob(record.id, _none_if_zero(record.subject), name, key, of_values)


def _policy(names: Names, fields: Fields, texts: list[str]) -> None:
    (names.policies[layout.NamePolicy(*fields).id],) = texts


def _sample(names: Names, fields: Fields, texts: list[str]) -> None:
    record = layout.NameSample(*fields)
    names.samples.append((record.ticks, record.counter, record.lane, record.value))


_READERS: dict[int, Callable[[Names, Fields, list[str]], None]] = {
    NameTag.MODULE: _module,
    NameTag.SUBJECT: _subject,
    NameTag.COUNTER: _counter,
    NameTag.UNAVAILABLE: _unavailable,
    NameTag.RUNTIME: _runtime,
    NameTag.FACT: _fact,
    NameTag.KNOB: _knob,
    NameTag.POLICY: _policy,
    NameTag.SAMPLE: _sample,
}
