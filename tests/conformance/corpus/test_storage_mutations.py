"""What is changed in files of a storage prefix, at spans that were written by hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from cdcwire.core.options import OptionValue
from cdcwire.core.reader import Span
from cdcwire.model.events import Path
from cdcwire_conformance.formats.canal_json import suite as canal_json
from cdcwire_conformance.formats.csv import suite as csv
from cdcwire_conformance.mutations import Change, FormatRules

OPTIONS: Mapping[str, OptionValue] = {
    "quote": '"',
    "delimiter": ",",
    "terminator": "\r\n",
}
RECORD = b'"I",1,"x"\r\n'


def span(
    raw: bytes, part: bytes, path: Path, clause: str, text: str = "", value: object = None
) -> Span:
    start = raw.index(part)
    return Span(path, start, start + len(part), text, clause, value=value)


def csv_spans(record: bytes = RECORD, text: bytes = b'"x"\r\n') -> list[Span]:
    return [
        span(record, b'"I",', ("records", 0, "op"), "csv: operations"),
        span(record, b"1,", ("records", 0, "columns", "id"), "csv: integer values"),
        span(record, text, ("records", 0, "columns", "v"), "csv: text values"),
    ]


def by_name(changes: list[Change]) -> dict[str, bytes]:
    assert all(change.is_certain for change in changes)
    return {change.name: change.raw for change in changes}


def test_csv_file_may_end_after_a_record_or_within_its_terminator() -> None:
    raw = RECORD + RECORD
    second = [
        Span(("records", 1, *s.path[2:]), s.start + 11, s.end + 11, s.text, s.clause)
        for s in csv_spans()
    ]
    legal = csv.legal_sizes(raw, [*csv_spans(), *second])
    assert [size for size in range(len(raw)) if size in legal] == [
        *(0, len(RECORD) - 1, len(RECORD), len(raw) - 1),
    ]


@pytest.mark.parametrize("rules", [csv.RULES, canal_json.RULES], ids=["csv", "canal-json"])
def test_other_file_may_lose_the_white_space_at_its_end(rules: FormatRules) -> None:
    raw = b'{"checkpoint-ts":5}\n'
    legal = rules.legal_sizes(raw, [Span((), 0, len(raw), "", "storage: metadata")])
    assert [size for size in range(len(raw)) if size in legal] == [len(raw) - 1]


@pytest.mark.parametrize("rules", [csv.RULES, canal_json.RULES], ids=["csv", "canal-json"])
def test_index_file_is_left_alone(rules: FormatRules) -> None:
    assert not rules.is_read([Span((), 0, 14, "", "storage: index files")])
    assert rules.is_read([Span((), 0, 14, "", "storage: metadata")])


def test_csv_fields_and_operation_are_changed_and_quotes_are_not() -> None:
    assert by_name(list(csv.changes(RECORD, csv_spans(), OPTIONS))) == {
        "tag:0=X": b'"X",1,"x"\r\n',
        "field:0-1": b'1,"x"\r\n',
        "field:0+1": b'"I","I",1,"x"\r\n',
        "field:4-1": b'"I","x"\r\n',
        "field:4+1": b'"I",1,1,"x"\r\n',
    }


ROW = b'{"database":"d","type":"INSERT","data":[{"a":"x","b":"null"}]}'


def row_spans(row: Path = ()) -> list[Span]:
    return [
        span(ROW, b'"database":"d"', (*row, "database"), "", "'d'"),
        span(ROW, b',"type":"INSERT"', (*row, "type"), "", "'INSERT'", "INSERT"),
        span(ROW, b',"data":[', (*row, "data"), "", "1 rows"),
        span(ROW, b'"a":"x"', (*row, "data", 0, "a"), "", "x"),
        span(ROW, b',"b":"null"', (*row, "data", 0, "b"), "", "'null'"),
        Span((*row, "data"), len(ROW) - 2, len(ROW) - 1, "end", ""),
    ]


@pytest.mark.parametrize("row", [(), ("rows", 0)], ids=["message", "file"])
def test_canal_json_members_types_and_quotes_are_changed(row: Path) -> None:
    assert by_name(list(canal_json.changes(ROW, row_spans(row), {}))) == {
        "member:1-1": b'{,"type":"INSERT","data":[{"a":"x","b":"null"}]}',
        "member:15-1": b'{"database":"d","data":[{"a":"x","b":"null"}]}',
        "tag:15=UPSERT": b'{"database":"d","type":"UPSERT","data":[{"a":"x","b":"null"}]}',
        "member:31-1": b'{"database":"d","type":"INSERT"}',
        "quote:41": b'{"database":"d","type":"INSERT","data":[{"a":x,"b":"null"}]}',
    }


@pytest.mark.parametrize("value", ["1", "-1.5", "true", "null"])
def test_canal_json_value_that_is_json_without_quotes_keeps_them(value: str) -> None:
    raw = ROW.replace(b'"x"', f'"{value}"'.encode())
    spans = [
        replace(s, end=s.end + len(value) - 1) if s.path == ("data", 0, "a") else s
        for s in row_spans()[:4]
    ]
    assert not [c.name for c in canal_json.changes(raw, spans, {}) if c.kind == "quote"]


def test_canal_json_other_types_are_left_alone() -> None:
    spans = [
        replace(s, text="'ALTER'", value="ALTER") if s.path == ("type",) else s for s in row_spans()
    ]
    assert list(canal_json.changes(ROW, spans, {})) == []


def test_canal_json_file_may_end_after_a_row_or_in_its_terminator() -> None:
    raw = ROW + b"\r\n" + ROW + b"\r\n"
    end = len(ROW)
    spans = [
        Span(("rows", 0, "terminator"), end, end + 2, "", ""),
        Span(("rows", 1, "terminator"), 2 * end + 2, 2 * end + 4, "", ""),
    ]
    legal = canal_json.legal_sizes(raw, spans)
    expected = [0, end, end + 1, end + 2, 2 * end + 2, 2 * end + 3]
    assert [size for size in range(len(raw)) if size in legal] == expected
