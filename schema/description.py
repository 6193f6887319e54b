"""The words that the schema is written in: enumerations with their values, records with their fields."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

# Bytes of the types that fields and enumerations have. "char" is a byte of text.
BYTES = {"u16": 2, "u32": 4, "u64": 8, "i64": 8, "f64": 8, "char": 1}


@dataclass(frozen=True)
class Value:
    """One value of an enumeration.

    Attributes:
        label: what reports call it, where that is not `name`; None: they do not name it.
    """

    number: int
    name: str
    meaning: str = ""
    label: str | None = ""

    @property
    def word(self) -> str:
        """What people read for it."""
        return self.label or self.name


@dataclass(frozen=True)
class EventKind(Value):
    """A kind of event: what its fields `arg`, `a` and `b` mean. Empty: always 0."""

    arg: str = ""
    a: str = ""
    b: str = ""


@dataclass(frozen=True)
class RowField(Value):
    """One of the fields of a profile row's `x`; its number is its place there."""

    unit: str = ""

    @property
    def text(self) -> str:
        """All that is to be said about it, in one line."""
        return f"{self.meaning}, {self.unit}" if self.unit else self.meaning


@dataclass(frozen=True)
class Metric(Value):
    """A metric of profile rows; `meaning` says what the ticks of such a row are.

    Attributes:
        fields: the row's `x`, by name. A place without a name is 0.
        flags: the enumeration that the row's `flags` are of; empty: 0.
    """

    fields: tuple[RowField, ...] = ()
    flags: str = ""


@dataclass(frozen=True)
class Enumeration:
    """A list of values. Numbers are part of the format: they are never given a new meaning.

    Attributes:
        name: in C++; `python` is the class in Python.
        type: of the field that it is stored in; empty: it is never stored.
        labels: name of the Python table from number to label; empty: there is none.
        is_flags: values are bits that may be combined.
        header: what the names begin with in the C header trimtab.h; empty: they are not in it.
        typescript: what the type is called in TypeScript; empty: the page does not know it.
        is_text: reports have the labels; the class in Python is of texts.
        is_written: C++ writes the labels into runs (words.hpp).
    """

    name: str
    python: str
    type: str
    meaning: str
    values: tuple[Value, ...]
    labels: str = ""
    is_flags: bool = False
    header: str = ""
    typescript: str = ""
    is_text: bool = False
    is_written: bool = False


@dataclass(frozen=True)
class Field:
    """One field of a record.

    Attributes:
        type: a key of BYTES, or an enumeration's name; with `[N]` behind it, N of them.
        unit: of the number, one of the schema's units; empty: it has none, or `meaning` says it.
        unknown: the value that stands for "not known", and what it means.
    """

    name: str
    type: str
    meaning: str = ""
    unit: str = ""
    unknown: str = ""

    @property
    def element(self) -> str:
        """The type of one element."""
        return self.type.partition("[")[0]

    @property
    def count(self) -> int:
        """How many elements it has."""
        return int(self.type.partition("[")[2].rstrip("]") or 1)

    @property
    def text(self) -> str:
        """All that is to be said about it, in one line."""
        measured = ", ".join(part for part in (self.meaning, self.unit) if part)
        return "; ".join(part for part in (measured, self.unknown) if part)


@dataclass(frozen=True)
class Record:
    """A structure of fixed size; fields follow each other without gaps.

    Attributes:
        name: in C++; `python` is the numpy type (or the name of the tuple) in Python.
        start: where it begins in its file or, for records that repeat, 0.
        strings: what follows it, each text ended by a NUL byte (records of names.tt).
        tag: of a record of names.tt.
    """

    name: str
    python: str
    meaning: str
    fields: tuple[Field, ...]
    start: int = 0
    strings: tuple[str, ...] = ()
    tag: int = 0


@dataclass(frozen=True)
class Constant:
    """A number that C++ and Python share."""

    name: str
    python: str
    type: str
    value: int
    meaning: str


@dataclass(frozen=True)
class File:
    """A file of a run directory.

    Attributes:
        record: what it consists of behind its header; empty: it is text.
    """

    path: str
    content: str
    record: str = ""


@dataclass(frozen=True)
class Schema:
    """Everything that is generated from."""

    enumerations: tuple[Enumeration, ...]
    records: tuple[Record, ...]
    names: tuple[Record, ...]
    constants: tuple[Constant, ...]
    files: tuple[File, ...]
    units: dict[str, str]

    @cached_property
    def by_name(self) -> dict[str, Enumeration]:
        """The enumerations."""
        return {enumeration.name: enumeration for enumeration in self.enumerations}

    def metrics(self) -> tuple[Metric, ...]:
        """The metrics of profile rows."""
        return tuple(value for value in self.by_name["metric"].values if isinstance(value, Metric))

    def record(self, name: str) -> Record:
        """The record of that name."""
        return next(each for each in (*self.records, *self.names) if each.name == name)

    def stored(self, element: str) -> str:
        """The plain type of a field's elements: an enumeration is stored as its number."""
        return self.by_name[element].type if element in self.by_name else element

    def size(self, field: Field) -> int:
        """Bytes of a field."""
        return BYTES[self.stored(field.element)] * field.count

    def offsets(self, record: Record) -> list[int]:
        """Where each field begins, from the record's own begin.

        Raises:
            ValueError: a C++ compiler would put a gap there.
        """
        found, at = [], 0
        for field in record.fields:
            step = BYTES[self.stored(field.element)]
            if at % step:
                raise ValueError(f"{record.name}.{field.name}: byte {at} is no multiple of {step}")
            found.append(at)
            at += self.size(field)
        return found

    def bytes_of(self, record: Record) -> int:
        """Bytes of a record."""
        return sum(self.size(field) for field in record.fields)


@dataclass(frozen=True)
class ReportField:
    """One field of a type of the report.

    Attributes:
        type: text, flag, integer, number, any, or the name of a report type or enumeration; behind it `[]`: a list of these,
            `{}`: a map from names to these, `{share}`: from all values of that enumeration; `?`: it may be null.
        unit: of the number, one of the schema's units; empty: it has none, or `meaning` says it.
        unknown: what null means.
        is_optional: it may be missing.
        default: of an enumeration, the value that Python code may leave out.
    """

    name: str
    type: str
    meaning: str
    unit: str = ""
    unknown: str = ""
    is_optional: bool = False
    default: str = ""

    @property
    def element(self) -> str:
        """The type of one element."""
        return self.type.rstrip("?").partition("[")[0].partition("{")[0]

    @property
    def is_list(self) -> bool:
        """Whether it is a list of elements."""
        return "[]" in self.type

    @property
    def is_map(self) -> bool:
        """Whether it is a map from names to elements."""
        return "{" in self.type

    @property
    def keys(self) -> str:
        """Of a map: the enumeration whose values are its keys; empty: any."""
        return self.type.partition("{")[2].partition("}")[0]

    @property
    def is_nullable(self) -> bool:
        """Whether it may be null."""
        return self.type.endswith("?")

    @property
    def text(self) -> str:
        """All that is to be said about it, in one line."""
        measured = ", ".join(part for part in (self.meaning, self.unit) if part)
        return "; ".join(part for part in (measured, self.unknown and f"null: {self.unknown}") if part)


@dataclass(frozen=True)
class ReportType:
    """An object of the report."""

    name: str
    meaning: str
    fields: tuple[ReportField, ...]


@dataclass(frozen=True)
class ReportSchema:
    """The report: its types, the whole one first, and the units of their numbers."""

    types: tuple[ReportType, ...]
    units: dict[str, str]

    @cached_property
    def by_name(self) -> dict[str, ReportType]:
        """The types."""
        return {each.name: each for each in self.types}
