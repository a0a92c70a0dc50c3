"""Schema files that are none: what the reader refuses, with byte, path and clause."""

from __future__ import annotations

import pytest

from cdcwire.core.errors import DecodeError, TruncatedError
from cdcwire.storage import SchemaColumn, SchemaFile, read_schema_file, write_schema_file

COLUMN = '{"ColumnName":"a","ColumnType":"INT"}'


def text_with(column: str) -> bytes:
    """A schema file of the table `t` with one column, given as its JSON."""
    return (
        '{"Table":"t","Schema":"s","Version":1,"TableVersion":5,"Query":"","Type":0,'
        f'"TableColumns":[{column}],"TableColumnsTotal":1}}'
    ).encode()


@pytest.mark.parametrize(
    ("value", "path", "clause"),
    [
        (b"[]", (), "storage: schema files"),
        (b"{}", (), "storage: schema files"),
        (text_with(COLUMN).replace(b'"s"', b'""'), ("Schema",), "storage: schema files"),
        (
            text_with(COLUMN).replace(b'Version":1', b'Version":2'),
            ("Version",),
            "storage: schema files",
        ),
        (
            text_with(COLUMN).replace(b'Version":5', b'Version":"5"'),
            ("TableVersion",),
            "storage: schema files",
        ),
        (
            text_with(COLUMN).replace(b'Version":5', b'Version":5.0'),
            ("TableVersion",),
            "storage: schema files",
        ),
        (
            text_with(COLUMN).replace(b'Version":5', b'Version":18446744073709551616'),
            ("TableVersion",),
            "storage: schema files",
        ),
        (text_with(COLUMN).replace(b'Type":0', b'Type":256'), ("Type",), "storage: schema files"),
        (text_with(COLUMN).replace(b'Type":0', b'Type":-1'), ("Type",), "storage: schema files"),
        (text_with(COLUMN).replace(b'"t"', b"null"), ("Table",), "storage: schema files"),
        (text_with(COLUMN).replace(b'"t"', b'""'), ("TableColumns",), "storage: schema files"),
        (
            text_with(COLUMN).replace(b'Total":1', b'Total":2'),
            ("TableColumnsTotal",),
            "storage: schema files",
        ),
        (
            text_with(COLUMN).replace(b'Total":1', b'Total":" 1"'),
            ("TableColumnsTotal",),
            "storage: schema files",
        ),
        (
            text_with(f"{COLUMN},{COLUMN}").replace(b'Total":1', b'Total":2'),
            ("TableColumns", 1),
            "storage: schema columns",
        ),
        (text_with("1"), ("TableColumns", 0), "storage: schema columns"),
        (text_with("{}"), ("TableColumns", 0), "storage: schema columns"),
        (text_with(COLUMN + COLUMN), ("TableColumns",), "storage: schema text"),
        (
            text_with('{"ColumnName":"","ColumnType":"INT"}'),
            ("TableColumns", 0, "ColumnName"),
            "storage: schema columns",
        ),
        (
            text_with('{"ColumnName":"a","ColumnType":3}'),
            ("TableColumns", 0, "ColumnType"),
            "storage: schema columns",
        ),
        (
            text_with('{"ColumnName":"a","ColumnName":"b","ColumnType":"INT"}'),
            ("TableColumns", 0, "ColumnName"),
            "storage: schema text",
        ),
        (
            text_with('{"ColumnName":"a","ColumnType":"INT","ColumnPrecision":"x"}'),
            ("TableColumns", 0, "ColumnPrecision"),
            "storage: schema columns",
        ),
        (
            text_with('{"ColumnName":"a","ColumnType":"INT","ColumnPrecision":11}'),
            ("TableColumns", 0, "ColumnPrecision"),
            "storage: schema columns",
        ),
        (
            text_with(
                '{"ColumnName":"a","ColumnType":"INT","ColumnPrecision":"1","ColumnLength":"1"}'
            ),
            ("TableColumns", 0, "ColumnLength"),
            "storage: schema columns",
        ),
        (
            text_with('{"ColumnName":"a","ColumnType":"INT","ColumnNullable":false}'),
            ("TableColumns", 0, "ColumnNullable"),
            "storage: schema columns",
        ),
        (
            text_with('{"ColumnName":"a","ColumnType":"INT","ColumnIsPk":"yes"}'),
            ("TableColumns", 0, "ColumnIsPk"),
            "storage: schema columns",
        ),
        (
            text_with('{"ColumnName":"a","ColumnType":"INT","ColumnDefault":[]}'),
            ("TableColumns", 0, "ColumnDefault"),
            "storage: schema columns",
        ),
        (
            text_with('{"ColumnName":"a","ColumnType":"SET","ColumnElems":["x",1]}'),
            ("TableColumns", 0, "ColumnElems", 1),
            "storage: schema columns",
        ),
        (
            text_with('{"ColumnName":"a","ColumnType":"SET","ColumnElems":"x"}'),
            ("TableColumns", 0, "ColumnElems"),
            "storage: schema columns",
        ),
        (
            text_with('{"ColumnName":"\xff","ColumnType":"INT"}').replace(b"\xc3\xbf", b"\xff"),
            ("TableColumns", 0, "ColumnName"),
            "storage: schema text",
        ),
        (
            text_with('{"ColumnName":"\\ud800","ColumnType":"INT"}'),
            ("TableColumns", 0, "ColumnName"),
            "storage: schema text",
        ),
    ],
)
def test_reader_refuses_other_files_than_schemas(
    value: bytes, path: tuple[str | int, ...], clause: str
) -> None:
    with pytest.raises(DecodeError) as caught:
        read_schema_file(value)
    error = caught.value
    assert (error.path, error.clause) == (path, clause)
    assert 0 <= error.offset <= len(value)


def test_reader_tells_the_byte() -> None:
    value = text_with('{"ColumnName":"a","ColumnType":"INT","ColumnPrecision":"x"}')
    with pytest.raises(DecodeError) as caught:
        read_schema_file(value)
    assert value[caught.value.offset :].startswith(b'"x"')


def test_reader_limits_nesting() -> None:
    value = text_with(COLUMN).replace(b'"Query":""', b'"Query":"","x":' + b"[" * 100000)
    with pytest.raises(DecodeError) as caught:
        read_schema_file(value)
    assert caught.value.clause == "storage: limits"


def test_reader_every_truncation_is_reported_at_its_end() -> None:
    columns = (SchemaColumn("é", "ENUM", "\b", elements=("a",)),)
    value = write_schema_file(SchemaFile("t", "s", 1, 5, "", 0, columns, 1))
    for cut in range(len(value)):
        with pytest.raises(TruncatedError) as caught:
            read_schema_file(value[:cut])
        assert caught.value.offset == cut
