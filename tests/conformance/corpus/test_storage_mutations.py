"""What is changed in files of a storage prefix, at spans that were written by hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from cdcwire.core.errors import Path
from cdcwire.core.options import OptionValue
from cdcwire.core.reader import Span
from cdcwire_conformance.corpus.mutations.rules import Change, FormatRules
from cdcwire_conformance.formats.canal_json import mutations as canal_json
from cdcwire_conformance.formats.csv import mutations as csv

OPTIONS: Mapping[str, OptionValue] = {
    "quote": '"',
    "delimiter": ",",
    "terminator": "\r\n",
    "null": "\\N",
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


def test_csv_file_may_end_behind_a_record_only() -> None:
    raw = RECORD + RECORD
    second = [
        Span(("records", 1, *s.path[2:]), s.start + 11, s.end + 11, s.text, s.clause)
        for s in csv_spans()
    ]
    legal = csv.legal_sizes(raw, [*csv_spans(), *second])
    assert [size for size in range(len(raw)) if size in legal] == [0, len(RECORD)]


@pytest.mark.parametrize("rules", [csv.RULES, canal_json.RULES], ids=["csv", "canal-json"])
def test_other_file_may_lose_the_white_space_at_its_end(rules: FormatRules) -> None:
    raw = b"CDC000001.csv\n"
    legal = rules.legal_sizes(raw, [Span((), 0, len(raw), "", "storage: index files")])
    assert [size for size in range(len(raw)) if size in legal] == [13]


def test_csv_quotes_fields_and_operation_are_changed() -> None:
    assert by_name(list(csv.changes(RECORD, csv_spans(), OPTIONS))) == {
        "quote:0": b'I,1,"x"\r\n',
        "tag:0=X": b'"X",1,"x"\r\n',
        "field:0-1": b'1,"x"\r\n',
        "field:0+1": b'"I","I",1,"x"\r\n',
        "quote:4": b'"I","1","x"\r\n',
        "field:4-1": b'"I","x"\r\n',
        "field:4+1": b'"I",1,1,"x"\r\n',
        "quote:6": b'"I",1,x\r\n',
    }


@pytest.mark.parametrize("text", ["\\N", "a,b", 'a""b', "a\r\nb", "a,"])
def test_csv_text_that_needs_its_quotes_keeps_them(text: str) -> None:
    field = f'"{text}"\r\n'.encode()
    raw = b'"I",1,' + field
    names = by_name(list(csv.changes(raw, csv_spans(raw, field), OPTIONS)))
    assert "quote:6" not in names
    assert "quote:4" in names


def test_csv_without_quotes_has_no_quotes_to_change() -> None:
    raw = b"I,1,x\r\n"
    spans = [
        span(raw, b"I,", ("records", 0, "op"), "csv: operations"),
        span(raw, b"1,", ("records", 0, "columns", "id"), "csv: integer values"),
        span(raw, b"x\r\n", ("records", 0, "columns", "v"), "csv: text values"),
    ]
    names = by_name(list(csv.changes(raw, spans, {**OPTIONS, "quote": ""})))
    assert set(names) == {"tag:0=X", "field:0-1", "field:0+1", "field:2-1", "field:2+1"}


ROW = b'{"database":"d","type":"INSERT","data":[{"a":"1","b":"null"}]}'


def row_spans(row: Path = ()) -> list[Span]:
    return [
        span(ROW, b'"database":"d"', (*row, "database"), "", "'d'"),
        span(ROW, b',"type":"INSERT"', (*row, "type"), "", "'INSERT'", "INSERT"),
        span(ROW, b',"data":[', (*row, "data"), "", "1 rows"),
        span(ROW, b'"a":"1"', (*row, "data", 0, "a"), "", "1"),
        span(ROW, b',"b":"null"', (*row, "data", 0, "b"), "", "'null'"),
        Span((*row, "data"), len(ROW) - 2, len(ROW) - 1, "end", ""),
    ]


@pytest.mark.parametrize("row", [(), ("rows", 0)], ids=["message", "file"])
def test_canal_json_members_types_and_quotes_are_changed(row: Path) -> None:
    assert by_name(list(canal_json.changes(ROW, row_spans(row), {}))) == {
        "member:1-1": b'{,"type":"INSERT","data":[{"a":"1","b":"null"}]}',
        "member:15-1": b'{"database":"d","data":[{"a":"1","b":"null"}]}',
        "tag:15=UPSERT": b'{"database":"d","type":"UPSERT","data":[{"a":"1","b":"null"}]}',
        "member:31-1": b'{"database":"d","type":"INSERT"}',
        "quote:41": b'{"database":"d","type":"INSERT","data":[{"a":1,"b":"null"}]}',
    }


def test_canal_json_other_types_are_left_alone() -> None:
    spans = [
        replace(s, text="'ALTER'", value="ALTER") if s.path == ("type",) else s for s in row_spans()
    ]
    assert list(canal_json.changes(ROW, spans, {})) == []


def test_canal_json_file_may_end_behind_a_row_or_in_its_terminator() -> None:
    raw = ROW + b"\r\n" + ROW + b"\r\n"
    end = len(ROW)
    spans = [
        Span(("rows", 0, "terminator"), end, end + 2, "", ""),
        Span(("rows", 1, "terminator"), 2 * end + 2, 2 * end + 4, "", ""),
    ]
    legal = canal_json.legal_sizes(raw, spans)
    expected = [0, end, end + 1, end + 2, 2 * end + 2, 2 * end + 3]
    assert [size for size in range(len(raw)) if size in legal] == expected
