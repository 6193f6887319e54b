"""The schema, what is generated from it, and the search for numbers that are written by hand."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from trimtab.model import enumerations
from trimtab.policies import policy
from trimtab.readers import layout

from schema.__main__ import generated, main, stale, with_blocks
from schema.description import EventKind, Field, Metric, Record
from schema.handwritten import found_in, in_cpp, in_python, in_typescript
from schema.records import SCHEMA

ROOT = Path(__file__).parents[2]
TYPES = {record.name: getattr(layout, record.python) for record in SCHEMA.records}


def test_generated_files_are_up_to_date_and_no_number_is_by_hand() -> None:
    assert stale(ROOT) == []
    assert found_in(ROOT, SCHEMA) == []
    assert main(["--check"]) == 0


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """The generated files alone."""
    for name in generated(ROOT):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


@pytest.mark.parametrize("name", generated(ROOT))
def test_a_changed_file_is_found(copied: Path, name: str) -> None:
    assert stale(copied) == []
    text = (copied / name).read_text()
    for word in ("max_rss_kb", "MEAN_WORK", "unattributed", "CAUSE_SLOT", "time throttled"):
        text = text.replace(word, "other")
    (copied / name).write_text(text)
    assert stale(copied) == [name]


def test_a_missing_file_is_found(copied: Path) -> None:
    (copied / "viewer/src/enumerations.ts").unlink()
    assert stale(copied) == ["viewer/src/enumerations.ts"]


def test_the_check_says_what_to_do_and_writing_does_it(
    copied: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("schema.__main__.ROOT", copied)
    (copied / "viewer/src/enumerations.ts").write_text("")
    (copied / "python/trimtab/new.py").write_text('row["x"][2]\n')
    assert main(["--check"]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "viewer/src/enumerations.ts: not what schema/ says; run ./x schema",
        "python/trimtab/new.py:1: a field of x by its number; schema/ has a name for it",
    ]
    assert main([]) == 0
    assert capsys.readouterr().out == "wrote viewer/src/enumerations.ts\n"
    assert stale(copied) == []


def test_a_place_for_a_table_is_there_once() -> None:
    text = "a\n<!-- schema: t -->\nold\n<!-- end -->\nb\n<!-- end -->\n"
    assert with_blocks("f", text, {"t": "new\n"}, "<!-- {} -->") == text.replace("old", "new")
    for wrong in ("", text + text):
        with pytest.raises(ValueError, match="f: expected one place for t, found"):
            with_blocks("f", wrong, {"t": ""}, "<!-- {} -->")
    with pytest.raises(ValueError, match="has no end"):
        with_blocks("f", "<!-- schema: t -->\n", {"t": ""}, "<!-- {} -->")


@pytest.mark.parametrize("name", TYPES)
def test_records_have_no_gaps_and_numpy_lays_them_out_alike(name: str) -> None:
    record, dtype = SCHEMA.record(name), TYPES[name]
    assert [dtype.fields[field.name][1] for field in record.fields] == SCHEMA.offsets(record)
    assert dtype.itemsize == SCHEMA.bytes_of(record)
    assert record.start + dtype.itemsize <= layout.HEADER_BYTES


def test_a_gap_is_refused() -> None:
    record = Record("r", "R", "", (Field("a", "u32"), Field("b", "u64")))
    with pytest.raises(ValueError, match=r"r\.b: byte 4 is no multiple of 8"):
        SCHEMA.offsets(record)


@pytest.mark.parametrize("record", SCHEMA.names, ids=lambda record: record.name)
def test_records_of_names_end_at_a_multiple_of_eight(record: Record) -> None:
    size = layout.NAME_HEAD.size + SCHEMA.bytes_of(record)
    assert layout.NAME_LAYOUTS[enumerations.NameTag(record.tag)].fields.size == size
    assert size % 8 == 0 and layout.NAME_HEAD.size == SCHEMA.bytes_of(SCHEMA.record("name_record"))


@pytest.mark.parametrize("each", SCHEMA.enumerations, ids=lambda entry: entry.name)
def test_numbers_and_names_are_given_once(each: object) -> None:
    values = SCHEMA.by_name[each.name].values  # type: ignore[attr-defined]
    assert len({value.number for value in values}) == len({value.name for value in values}) == len(values)
    if SCHEMA.by_name[each.name].is_flags:  # type: ignore[attr-defined]
        assert all(value.number.bit_count() == 1 for value in values)


def test_units_are_described() -> None:
    fields = [field for record in (*SCHEMA.records, *SCHEMA.names) for field in record.fields]
    used = {
        field.unit for field in (*fields, *(field for metric in SCHEMA.metrics() for field in metric.fields))
    }
    assert used - {""} == set(SCHEMA.units)


def test_policies_have_the_outcomes_of_decisions() -> None:
    assert get_args(policy.Outcome) == tuple(enumerations.OUTCOMES.values())


def test_what_is_referred_to_is_there() -> None:
    for metric in SCHEMA.metrics():
        assert isinstance(metric, Metric)
        assert metric.flags in ("", *SCHEMA.by_name)
        assert [field.number for field in metric.fields] == list(range(len(metric.fields)))
        assert len(metric.fields) <= SCHEMA.record("profile_row").fields[-2].count
    stored = {name for name, entry in SCHEMA.by_name.items() if entry.type}
    for record in (*SCHEMA.records, *SCHEMA.names):
        assert all(
            SCHEMA.stored(field.element) in ("char", *["u16", "u32", "u64", "i64", "f64"])
            for field in record.fields
        )
    kinds = [value for value in SCHEMA.by_name["event_kind"].values if isinstance(value, EventKind)]
    assert {"schedule", "wait_kind", "wait_cause", "worker_state"} <= {kind.arg for kind in kinds} & stored


def test_python_has_the_numbers_of_the_schema() -> None:
    for enumeration in SCHEMA.enumerations:
        if enumeration.type:
            result = {value.name.lower(): int(value) for value in getattr(enumerations, enumeration.python)}
            assert result == {value.name: value.number for value in enumeration.values}
    assert enumerations.SHARE_LABELS["starved"] == "no task ready"


def test_a_row_has_its_fields_where_the_schema_says() -> None:
    row = np.zeros(1, layout.ROW)
    row["x"] = [[10, 11, 12, 13]]
    assert row["x"][0, enumerations.RegionFields.MEAN_WORK] == 13
    assert row["x"][:, enumerations.TeamFields.ARRIVAL].tolist() == [11]


BY_HAND = [
    ('row["x"][2]', "a field of x"),
    ('rows["x"][rows["flags"] == flag, 0]', "a field of x"),
    ('rows["x"][mask][:, 3]', "a field of x"),
    ("row.x[1]", "a field of x"),
    ("row.x[:2]", "a field of x"),
    ('events["kind"] == 48', "a comparison"),
    ('events["kind"][places] != 5', "a comparison"),
    ('row["what"] in (1, 2)', "a comparison"),
    ("kind == 17", "a comparison"),
    ('row["flags"] == 2', "a comparison"),
    ('(row["count"], row["what"]) == (7, 2)', "a comparison"),
    ('np.isin(events["kind"], (16, 17))', "an argument"),
    ("_SWITCH_OUT = 48", "a constant"),
    ("_REGION_BEGIN, _WORK_END = 1, 4", "a constant"),
    ("event(5, 3 if late else 4, 1)", "an argument"),
    ("row(1, 2, 7)", "an argument"),
    ("subject(1, kind=2)", "an argument"),
    ("{2: 'looks', 3: 'idle'}", "a table"),
]


@pytest.mark.parametrize(("source", "what"), BY_HAND)
def test_numbers_by_hand_are_found(source: str, what: str) -> None:
    ((line, result),) = in_python(f"\n{source}\n", SCHEMA, "python/trimtab/export/new.py")
    assert line == 2 and what in result


@pytest.mark.parametrize(
    "source",
    [
        'row["x"][TeamFields.ARRIVAL]',
        'rows["x"][0, WorkerFields.SINCE]',
        'events["kind"] == EventKind.SWITCH_OUT',
        'rows["flags"] == 0',
        '(row["count"], row["what"]) == (7, Metric.TEAM)',
        'events["arg"] == 1',
        'outcome["kept"] == 0',
        'entry["kind"] == "loop"',
        "_BLOCK = 1 << 16",
        "event(5, EventKind.MARK, 1)",
        "subject(1)",
        "points[0]",
    ],
)
def test_other_numbers_are_not(source: str) -> None:
    assert list(in_python(source, SCHEMA, "python/trimtab/export/new.py")) == []


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ('const all = ["work",\n  "serial",\n  "arrival",\n];', 1),
        ('type Outcome = "kept" | "undone" | "set" | "other";', 1),
        ('const two = ["kept", "set"]; const other = ["a", "b", "c", "kept"];', 0),
    ],
)
def test_lists_by_hand_are_found_in_typescript(source: str, count: int) -> None:
    result = list(in_typescript("\n" + source, SCHEMA))
    assert result == [(2, "the words of an enumeration")] * count


def test_texts_that_are_recognized_are_found() -> None:
    source = 'cause == "tasks too small"'
    assert list(in_python(source, SCHEMA, "python/trimtab/new.py")) == [(1, "a text that is recognized")]
    assert list(in_python(source, SCHEMA, "tests/new.py")) == []
    line = 'out.push_back(propose(it, "no better"));'
    assert list(in_cpp(line, SCHEMA, is_source=True)) == ["a text that readers recognize"]
    assert list(in_cpp(line, SCHEMA, is_source=False)) == []


def test_a_field_of_x_by_its_number_is_found_in_cpp(tmp_path: Path) -> None:
    path = tmp_path / "rooms/openmp/src/new.cpp"
    path.parent.mkdir(parents=True)
    path.write_text("row->x[team_fields::arrival] += 1;\nrow->x[1] += 1;\n")
    assert found_in(tmp_path, SCHEMA) == ["rooms/openmp/src/new.cpp:2: a field of x by its number"]
