"""Data files to records and back: fields, records, the header line, and what is refused."""

from __future__ import annotations

from contextlib import suppress
from itertools import product

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from cdcwire.core.errors import DecodeError, EncodeError, TruncatedError
from cdcwire.core.options import OptionError
from cdcwire.formats.csv import Field, File, Record, Settings, decode, encode, read_records
from cdcwire.formats.csv.records import field_of, text_of
from cdcwire.formats.csv.wire import read_file, write_file

NO_QUOTE = Settings(quote=b"")
FULL = Settings(include_commit_ts=True, output_old_value=True, output_handle_key=True)
HEADER = Settings(output_field_header=True)
OLD = Settings(output_old_value=True)

# settings, bytes, offset, path behind records[0], clause
REFUSED: dict[str, tuple[Settings, bytes, int, tuple[str | int, ...], str]] = {
    "operation not known": (Settings(), b'"X","t","s",1\r\n', 0, ("op",), "csv: operations"),
    "operation in lower case": (Settings(), b'"i","t","s",1\r\n', 0, ("op",), "csv: operations"),
    "bare operation": (Settings(), b'I,"t","s",1\r\n', 0, ("op",), "csv: kinds of fields"),
    "bare table": (Settings(), b'"I",t,"s",1\r\n', 4, ("table",), "csv: kinds of fields"),
    "schema not UTF-8": (Settings(), b'"I","t","\xff",1\r\n', 8, ("schema",), "csv: record"),
    "three fields": (Settings(), b'"I","t","s"\r\n', 11, (), "csv: record"),
    "two fields": (Settings(), b'"I","t"\r\n', 7, ("schema",), "csv: record"),
    "empty record": (Settings(), b"\r\n", 0, ("op",), "csv: kinds of fields"),
    "behind the quote": (
        Settings(),
        b'"I","t","s","a"b\r\n',
        15,
        ("columns", 0),
        "csv: quoted fields",
    ),
    "lone CR": (Settings(), b'"I","t","s","a"\r"\n', 15, ("columns", 0), "csv: quoted fields"),
    "LF for CRLF": (Settings(), b'"I","t","s","a"\n', 15, ("columns", 0), "csv: quoted fields"),
    "commit-ts quoted": (
        Settings(include_commit_ts=True),
        b'"I","t","s","1",1\r\n',
        12,
        ("commit_ts",),
        "csv: commit-ts",
    ),
    "commit-ts of 65 bits": (
        Settings(include_commit_ts=True),
        b'"I","t","s",18446744073709551616,1\r\n',
        12,
        ("commit_ts",),
        "csv: commit-ts",
    ),
    "commit-ts with a zero in front": (
        Settings(include_commit_ts=True),
        b'"I","t","s",01,1\r\n',
        12,
        ("commit_ts",),
        "csv: commit-ts",
    ),
    "is-update a number": (OLD, b'"I","t","s",1,1\r\n', 12, ("is_update",), "csv: old value"),
    "is-update quoted": (OLD, b'"I","t","s","true",1\r\n', 12, ("is_update",), "csv: old value"),
    "U with old values": (OLD, b'"U","t","s",true,1\r\n', 12, ("is_update",), "csv: old value"),
    "handle key bare": (
        Settings(output_handle_key=True),
        b'"I","t","s",1,1\r\n',
        12,
        ("handle_key",),
        "csv: handle key",
    ),
    "handle key of 64 bits without sign": (
        Settings(output_handle_key=True),
        b'"I","t","s","9223372036854775808",1\r\n',
        12,
        ("handle_key",),
        "csv: handle key",
    ),
    "raw LF in a bare field": (NO_QUOTE, b"I,t,s,a\nb\r\n", 7, ("columns", 0), "csv: bare fields"),
    "raw CR in a bare field": (NO_QUOTE, b"I,t,s,a\rb\r\n", 7, ("columns", 0), "csv: bare fields"),
    "lone backslash": (NO_QUOTE, b"I,t,s,a\\\r\n", 7, ("columns", 0), "csv: bare fields"),
}


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED)
def test_broken_record_is_refused_at_its_place(
    case: tuple[Settings, bytes, int, tuple[str | int, ...], str],
) -> None:
    settings, value, offset, path, clause = case
    with pytest.raises(DecodeError) as caught:
        read_file(value, settings)
    assert (caught.value.offset, caught.value.path) == (offset, ("records", 0, *path))
    assert caught.value.clause == clause


@pytest.mark.parametrize(
    ("count", "offset"), [(1, 14), (3, 17)], ids=["one too many", "one too few"]
)
def test_other_number_of_columns_is_refused(count: int, offset: int) -> None:
    names = ["a", "b", "c"][:count]
    with pytest.raises(DecodeError) as caught:
        decode(b'"I","t","s",1,222\r\n', columns=names)
    assert (caught.value.offset, caught.value.path) == (offset, ("records", 0))
    assert caught.value.clause == "csv: record"
    assert "virtual" in caught.value.problem or count == 1
    assert str(count) in caught.value.problem


def test_records_of_unknown_columns_must_agree() -> None:
    with pytest.raises(DecodeError) as caught:
        decode(b'"I","t","s",1\r\n"I","t","s",1,2\r\n')
    assert (caught.value.offset, caught.value.path) == (29, ("records", 1))


def test_columns_have_a_limit() -> None:
    value = b'"I","t","s",' + b",".join([b"1"] * 4096) + b"\r\n"
    assert len(decode(value).records[0].fields) == 4096
    with pytest.raises(DecodeError) as caught:
        decode(value[:-2] + b",1\r\n")
    assert caught.value.clause == "csv: limits"


def test_empty_file_has_no_records() -> None:
    assert decode(b"") == read_file(b"", HEADER) == File(())
    assert encode(File(())) == write_file(File(()), HEADER) == b""


def test_records_before_a_fault_are_given() -> None:
    found = []
    with pytest.raises(TruncatedError) as caught:  # noqa: PT012  (what comes first is looked at)
        for located in read_records(b'"I","t","s",1\r\n"I","t","s",2', Settings()):
            found.append(located.record.fields)
    assert found == [(Field(b"1", False),)]
    assert caught.value.path == ("records", 1, "columns", 0)
    assert (caught.value.offset, caught.value.clause) == (28, "csv: terminator")


def test_text_keeps_raw_bytes_and_quotes() -> None:
    value = b'"I","t","s","a""\r\n\0\xff",\\N,"\\N",""\r\n'
    (record,) = decode(value).records
    assert record.fields == (
        Field(b'a""\r\n\0\xff', True),
        Field(b"\\N", False),
        Field(b"\\N", True),
        Field(b"", True),
    )
    assert encode(File((record,))) == value


def test_terminator_may_begin_the_delimiter() -> None:
    settings = Settings(delimiter=b";;", terminator=b";")
    (first, second) = read_file(b'"I";;"t";;"s";;1;;"x";"D";;"t";;"s";;2;;\\N;', settings).records
    assert (first.op, first.fields) == ("I", (Field(b"1", False), Field(b"x", True)))
    assert (second.op, second.fields) == ("D", (Field(b"2", False), Field(b"\\N", False)))


def test_header_line_is_compared_not_split() -> None:
    names = ["a,b", 'c"', "d\r\ne"]
    line = b'ticdc-meta$operation,ticdc-meta$table,ticdc-meta$schema,a,b,c",d\r\ne'
    value = line + b'\r\n"I","t","s",1,2,3\r\n'
    file = read_file(value, HEADER, names)
    assert (file.header, len(file.records)) == (line, 1)
    assert write_file(file, HEADER) == value


def test_header_line_tells_the_columns_that_are_missing() -> None:
    value = b'ticdc-meta$operation,ticdc-meta$table,ticdc-meta$schema,a,c\r\n"I","t","s",1,2\r\n'
    assert len(read_file(value, HEADER, ["a", "b", "c"]).records[0].fields) == 2


@pytest.mark.parametrize(
    ("value", "offset"),
    [
        (b'"I","t","s",1\r\n', 0),
        (b"ticdc-meta$operation,ticdc-meta$schema,ticdc-meta$table,a,b\r\n", 32),
        (b"ticdc-meta$operation,ticdc-meta$table,ticdc-meta$schema,b,a\r\n", 56),
        (b"ticdc-meta$operation,ticdc-meta$table,ticdc-meta$schema,a,x\r\n", 58),
        (b"ticdc-meta$operation,ticdc-meta$table,ticdc-meta$schema,a,b,c\r\n", 59),
        (b"ticdc-meta$operation,ticdc-meta$table,ticdc-meta$schema\r\n", 55),
        (
            b"ticdc-meta$operation,ticdc-meta$table,ticdc-meta$schema,ticdc-meta$commit-ts,a,b\r\n",
            56,
        ),
    ],
)
def test_other_header_line_is_refused(value: bytes, offset: int) -> None:
    with pytest.raises(DecodeError) as caught:
        read_file(value, HEADER, ["a", "b"])
    assert (caught.value.offset, caught.value.path) == (offset, ("header",))
    assert caught.value.clause == "csv: header line"


def test_header_line_that_is_cut_is_truncated() -> None:
    with pytest.raises(TruncatedError) as caught:
        read_file(b"ticdc-meta$operation,ticdc-meta$table", HEADER, ["a"])
    assert (caught.value.offset, caught.value.path) == (37, ("header",))


RECORD = Record("I", "t", "s", 1, False, 1, (Field(b"1", False),))


@pytest.mark.parametrize(
    ("record", "name"),
    [
        (Record("I", "t", "s", None, False, 1, RECORD.fields), "commit_ts"),
        (Record("I", "t", "s", 1, None, 1, RECORD.fields), "is_update"),
        (Record("I", "t", "s", 1, False, None, RECORD.fields), "handle_key"),
    ],
)
def test_record_that_the_settings_do_not_fit_is_refused(record: Record, name: str) -> None:
    assert write_file(File((RECORD,)), FULL) == b'"I","t","s",1,false,"1",1\r\n'
    for settings, odd in ((FULL, record), (Settings(), RECORD)):
        with pytest.raises(EncodeError) as caught:
            write_file(File((odd,)), settings)
        assert caught.value.path[:2] == ("records", 0)
    with pytest.raises(EncodeError) as caught:
        write_file(File((record,)), FULL)
    assert caught.value.path == ("records", 0, name)


@pytest.mark.parametrize("header", [None, b"x"])
def test_header_that_the_settings_do_not_fit_is_refused(header: bytes | None) -> None:
    file = File((Record("I", "t", "s", None, None, None, RECORD.fields),), header)
    with pytest.raises(EncodeError):
        write_file(file, HEADER if header is None else Settings())


def allowed_settings() -> list[Settings]:
    """Return settings of few characters, which meet those of the texts; none that are refused."""
    found = []
    for delimiter, quote, null, terminator in product(
        ("|", ",", ";", ";;", "**", "***", "|+|", "+|", "a;", "1|", "*a*", "ab", ".,"),
        ("", '"', "'", "*"),
        ("\\N", "", "NULL", "|+", "\\|", "a", "x*", "1a"),
        ("\r\n", "\n", "\r", ";", "ab;", "+|", "|*|"),
    ):
        with suppress(OptionError):
            texts = (delimiter.encode(), quote.encode(), null.encode())
            found.append(Settings(*texts, terminator=terminator.encode()))
    return found


ALLOWED = allowed_settings()


@hypothesis_settings(max_examples=300, deadline=None)
@given(st.data())
def test_every_text_comes_back_from_every_allowed_setting(data: st.DataObject) -> None:
    settings = data.draw(st.sampled_from(ALLOWED))
    texts = st.text(alphabet="|+*,;ab1.\\N\r\n\"'", max_size=6).map(str.encode)
    bare = st.sampled_from([Field(raw, False) for raw in (b"1", b"-0.5", b"1e+20", settings.null)])
    strings = texts.map(lambda text: field_of(text, settings))
    fields = data.draw(st.lists(st.one_of(bare, strings), min_size=2, max_size=2))
    names = data.draw(st.tuples(texts, texts))
    record = Record("I", names[0].decode(), names[1].decode(), None, None, None, tuple(fields))
    value = write_file(File((record, record)), settings)
    found = read_file(value, settings)
    assert found == File((record, record))
    assert write_file(found, settings) == value
    for field in fields:
        text_of(field, settings)
