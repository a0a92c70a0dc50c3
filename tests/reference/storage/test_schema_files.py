"""Schema files: the producer's bytes and hashes, what else is read, and what is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdcwire.core.errors import EncodeError
from cdcwire.core.strict_json import Number
from cdcwire.model.events import NOWHERE, SchemaChange, Table
from cdcwire.model.kinds import BitType, Column, EnumType, IntType, TextType, TimestampType
from cdcwire.storage import (
    PathLayout,
    SchemaColumn,
    SchemaFile,
    SchemaPath,
    change_of,
    check_checksum,
    parse_path,
    read_schema_file,
    schema_checksum,
    schema_file_of,
    schema_path_of,
    shipped_checksum,
    table_of,
    write_schema_file,
)

DATA = Path(__file__).parent / "data"
FILES = [
    (path.relative_to(DATA / root).as_posix(), path)
    for root in ("bucket-csv", "schema")
    for path in sorted((DATA / root).rglob("schema_*.json"))
]
DATABASE = SchemaFile("", "schema1", 1, 100, "CREATE DATABASE `schema1`", 1, None, 0)
TABLE = SchemaFile(
    "table1",
    "schema1",
    1,
    100,
    "",
    0,
    (
        SchemaColumn("Id", "INT", Number("10"), "11", None, False, True),
        SchemaColumn("LastName", "VARCHAR", "Default LastName", "128", None, False),
        SchemaColumn("FirstName", "VARCHAR", "Default FirstName", "64"),
        SchemaColumn("Birthday", "DATETIME", Number("12345678")),
    ),
    4,
)


def table_with(*columns: SchemaColumn) -> SchemaFile:
    return replace(TABLE, columns=columns, total=len(columns))


@pytest.mark.parametrize(("name", "path"), FILES)
def test_file_of_the_producer_comes_back_byte_for_byte(name: str, path: Path) -> None:
    value = path.read_bytes()
    file = read_schema_file(value)
    assert write_schema_file(file) == value
    expected = parse_path(name, PathLayout())
    assert schema_path_of(file) == expected
    assert isinstance(expected, SchemaPath)
    assert file.checksum_as_read == shipped_checksum(file) == expected.checksum
    assert file.tolerated == ()


@pytest.mark.parametrize(("name", "path"), FILES)
def test_file_through_the_model_comes_back(name: str, path: Path) -> None:
    file = read_schema_file(path.read_bytes())
    change = change_of(file)
    assert change is not None
    assert change.position.commit_ts == file.table_version
    assert schema_file_of(table_of(file), change, file.table_version) == file


def test_hash_known_answers_of_the_producer() -> None:
    """Source: unit tests of pingcap/tiflow@c7b2588."""
    assert schema_checksum(DATABASE) == 3233644819
    assert schema_checksum(TABLE) == 3752767265
    columns = (
        SchemaColumn("col1", "INT", precision="11"),
        SchemaColumn("col2", "VARCHAR", precision="5"),
    )
    file = SchemaFile("table1", "test", 1, 100, "", 0, columns, 2)
    assert schema_checksum(file) == 4192708364


def test_hash_leaves_query_type_and_table_version_out() -> None:
    other = replace(TABLE, query="DROP TABLE t", type=4, table_version=7)
    assert schema_checksum(other) == schema_checksum(TABLE)


def test_hash_takes_columns_by_name_and_the_file_does_not() -> None:
    assert TABLE.columns is not None
    turned = replace(TABLE, columns=TABLE.columns[::-1])
    assert schema_checksum(turned) == schema_checksum(TABLE)
    assert write_schema_file(turned) != write_schema_file(TABLE)


@pytest.mark.parametrize(
    "column",
    [
        SchemaColumn("Id", "INT", precision="11", id="1"),
        SchemaColumn("Id", "INT", precision="10"),
        SchemaColumn("Id", "INT", "", "11"),
        SchemaColumn("Id", "INT", None, "11", is_nullable=False),
        SchemaColumn("Id", "ENUM", elements=("a",)),
    ],
    ids=str,
)
def test_hash_has_every_member_of_a_column(column: SchemaColumn) -> None:
    plain = SchemaColumn("Id", "INT", precision="11")
    assert schema_checksum(table_with(column)) != schema_checksum(table_with(plain))


def test_text_has_the_members_in_their_order_and_no_line_end() -> None:
    column = SchemaColumn("c", "ENUM", "a", "1", "2", False, True, "7", ("a", "b,\n"))
    file = replace(table_with(column), query="<&>\u2028\x7f\x00\b\f\n/é")
    assert write_schema_file(file).decode() == (
        "{\n"
        '    "Table": "table1",\n'
        '    "Schema": "schema1",\n'
        '    "Version": 1,\n'
        '    "TableVersion": 100,\n'
        '    "Query": "\\u003c\\u0026\\u003e\\u2028\x7f\\u0000\\b\\f\\n/é",\n'
        '    "Type": 0,\n'
        '    "TableColumns": [\n'
        "        {\n"
        '            "ColumnId": "7",\n'
        '            "ColumnName": "c",\n'
        '            "ColumnType": "ENUM",\n'
        '            "ColumnDefault": "a",\n'
        '            "ColumnPrecision": "1",\n'
        '            "ColumnScale": "2",\n'
        '            "ColumnNullable": "false",\n'
        '            "ColumnIsPk": "true",\n'
        '            "ColumnElems": [\n'
        '                "a",\n'
        '                "b,\\n"\n'
        "            ]\n"
        "        }\n"
        "    ],\n"
        '    "TableColumnsTotal": 1\n'
        "}"
    )
    assert read_schema_file(write_schema_file(file)) == file


def test_hash_of_a_default_that_was_no_utf8_keeps_the_escape() -> None:
    file = table_with(SchemaColumn("b", "BIT UNSIGNED", "\udcff", "8"))
    value = write_schema_file(file)
    assert b'"ColumnDefault": "\\ufffd"' in value
    read = read_schema_file(value)
    assert read == file
    assert write_schema_file(read) == value
    checksum = schema_checksum(file)
    assert read.checksum_as_read == checksum
    assert check_checksum(read, checksum) == "equal"
    # tiflow's own consumer hashes a real U+FFFD, and stops.
    literal = table_with(SchemaColumn("b", "BIT UNSIGNED", "\ufffd", "8"))
    assert shipped_checksum(read) == schema_checksum(literal) != checksum
    assert b"\\ufffd" not in write_schema_file(literal)
    assert read_schema_file(write_schema_file(literal)) == literal


def test_text_with_escaped_backslash_before_ufffd_is_not_an_escape() -> None:
    file = replace(TABLE, query="\\ufffd \ufffd \udcff \\")
    assert read_schema_file(write_schema_file(file)) == file


def test_hash_of_an_older_go_is_accepted() -> None:
    file = table_with(SchemaColumn("c", "VARCHAR", "\b\f\0", "5"))
    old = write_schema_file(file).replace(b"\\b\\f", b"\\u0008\\u000c")
    read = read_schema_file(old)
    assert read == file
    assert read.checksum_as_read is not None
    assert read.checksum_as_read != schema_checksum(file)
    assert check_checksum(read, read.checksum_as_read) == "equal"
    assert check_checksum(read, schema_checksum(file)) == "equal"
    plain = table_with(SchemaColumn("c", "VARCHAR", "\b\f", "5"))
    plain_read = read_schema_file(write_schema_file(plain))
    older = read_schema_file(
        write_schema_file(plain).replace(b"\\b\\f", b"\\u0008\\u000c")
    ).checksum_as_read
    assert older is not None
    assert check_checksum(plain_read, older) == "equal"


def test_hash_that_differs_is_reported_unless_the_file_is_odd() -> None:
    assert check_checksum(TABLE, 1) == "differs"
    odd = read_schema_file(write_schema_file(TABLE).replace(b"ColumnPrecision", b"ColumnLength"))
    assert check_checksum(odd, 1) == "not checkable"


@pytest.mark.parametrize(
    ("old", "new", "tolerated"),
    [
        ('"ColumnPrecision": "64"', '"ColumnLength": "64"', "ColumnLength"),
        (
            '"TableColumnsTotal": 4',
            '"TableColumnsTotal": "4"',
            "TableColumnsTotal as a string",
        ),
        (
            '"ColumnType": "DATETIME"',
            '"ColumnType": "DATETIME", "ColumnNullable": "true"',
            "ColumnNullable 'true'",
        ),
        (
            '"ColumnType": "DATETIME"',
            '"ColumnType": "DATETIME", "ColumnIsPk": "false"',
            "ColumnIsPk 'false'",
        ),
        ('"Query": ""', '"Query": "", "Later": [{}]', "Later"),
    ],
)
def test_reader_takes_what_documents_show(old: str, new: str, tolerated: str) -> None:
    text = write_schema_file(TABLE).decode()
    assert text.count(old) == 1
    file = read_schema_file(text.replace(old, new).encode())
    assert file == TABLE
    assert file.tolerated == (tolerated,)


def test_reader_takes_an_empty_array_and_a_total_as_text_in_a_database() -> None:
    text = write_schema_file(DATABASE).decode()
    text = text.replace("null", "[]").replace('Total": 0', 'Total": "0"')
    file = read_schema_file(text.encode())
    assert file == DATABASE
    assert schema_checksum(file) == 3233644819


def test_reader_takes_any_order_and_white_space() -> None:
    members = json.loads(write_schema_file(TABLE))
    turned = json.dumps(dict(reversed(members.items())), indent=1).encode()
    assert read_schema_file(turned) == TABLE
    assert read_schema_file(turned).checksum_as_read == 3752767265


@pytest.mark.parametrize(
    "file",
    [
        replace(DATABASE, columns=()),
        replace(TABLE, columns=None, total=0),
        replace(TABLE, total=3),
        replace(TABLE, version=2),
        replace(TABLE, table_version=-1),
        replace(TABLE, type=256),
        replace(TABLE, schema=""),
        replace(TABLE, table="a/b"),
        replace(TABLE, query="\ud800"),
    ],
)
def test_writer_refuses_what_the_producer_cannot_write(file: SchemaFile) -> None:
    with pytest.raises(EncodeError):
        write_schema_file(file)


TEXTS = st.text(
    st.characters(exclude_categories=["Cs"]) | st.sampled_from('\udcff\ufffd\\"<\u2028\b\f'),
    max_size=12,
)
NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="/\0"), min_size=1)
COLUMNS = st.builds(
    SchemaColumn,
    NAMES,
    st.sampled_from(["INT", "VARCHAR", "BIT UNSIGNED", "SET", "odd <type>"]),
    st.none() | TEXTS | st.booleans() | st.integers().map(lambda n: Number(str(n))),
    st.none() | st.integers(0, 4294967295).map(str),
    st.none() | st.integers(0, 30).map(str),
    st.booleans(),
    st.booleans(),
    st.none() | st.integers(1, 2**63 - 1).map(str),
    st.none() | st.lists(TEXTS, min_size=1, max_size=3).map(tuple),
)


@given(
    NAMES.filter(lambda name: name not in (".", "..")),
    st.integers(0, 2**64 - 1),
    TEXTS,
    st.integers(0, 255),
    st.lists(COLUMNS, max_size=4, unique_by=lambda column: column.name),
)
def test_file_written_is_read_back(
    name: str, version: int, query: str, code: int, columns: list[SchemaColumn]
) -> None:
    """read(write(f)) == f, its hash is that of its bytes, and the model never fails on it."""
    file = SchemaFile(name, name, 1, version, query, code, tuple(columns), len(columns))
    read = read_schema_file(write_schema_file(file))
    assert read == file
    assert read.tolerated == ()
    assert read.checksum_as_read == schema_checksum(file)
    assert check_checksum(read, schema_checksum(file)) == "equal"
    assert len(table_of(read).columns or ()) == len(columns)
    change_of(read)


def test_database_is_a_table_without_name() -> None:
    assert table_of(DATABASE) == Table(None, "schema1", version=100)
    assert schema_file_of(Table(None, "schema1"), change_of(DATABASE), 100) == DATABASE


def test_change_of_a_file_that_only_describes_is_none() -> None:
    assert change_of(TABLE) is None
    assert change_of(replace(TABLE, type=3)) is not None


def test_table_takes_zone_and_elements_from_the_caller_or_the_file() -> None:
    file = table_with(
        SchemaColumn("t", "TIMESTAMP", scale="3"),
        SchemaColumn("e", "ENUM", elements=("a", "b")),
        SchemaColumn("f", "ENUM"),
        SchemaColumn("g", "ENUM"),
    )
    columns = table_of(file, "+02:00", {"f": ("x",)}).columns or ()
    assert [column.type for column in columns] == [
        TimestampType(3, zone="+02:00"),
        EnumType(("a", "b")),
        EnumType(("x",)),
        EnumType(),
    ]


def test_table_never_has_the_mark_of_ill_formed_bytes() -> None:
    file = replace(
        table_with(SchemaColumn("b", "BIT UNSIGNED", "\udcff", "8")), query="x\udcff", type=5
    )
    change = change_of(file)
    assert change is not None
    assert change.query == "x\ufffd"
    assert table_of(file).columns == (
        Column("b", BitType(8), "bit(8)", True, "\ufffd", frozenset()),
    )


CHANGE = SchemaChange("alter", "ALTER …", 5, None, NOWHERE)


@pytest.mark.parametrize(
    ("table", "change", "clause"),
    [
        (Table("t"), CHANGE, "storage: schema files"),
        (Table("t", "s"), CHANGE, "storage: schema files"),
        (Table("t", "s", columns=()), replace(CHANGE, code=None), "storage: ddl types"),
        (Table("t", "s", columns=()), replace(CHANGE, code=256), "storage: ddl types"),
        (Table("..", "s", columns=()), CHANGE, "storage: names"),
    ],
)
def test_schema_file_of_too_little_is_refused(
    table: Table, change: SchemaChange, clause: str
) -> None:
    with pytest.raises(EncodeError) as caught:
        schema_file_of(table, change, 5)
    assert caught.value.clause == clause


def test_schema_file_with_ids_and_elements_on_demand() -> None:
    columns = (
        Column("i", IntType(32), id=7),
        Column("e", EnumType(("a",)), id=8),
        Column("v", TextType(), "varchar", id=9),
    )
    table = Table("t", "s", columns=columns)
    plain = schema_file_of(table, None, 5)
    assert plain.columns == (
        SchemaColumn("i", "INT", precision="11"),
        SchemaColumn("e", "ENUM"),
        SchemaColumn("v", "VARCHAR"),
    )
    full = schema_file_of(table, None, 5, with_ids=True, with_elements=True)
    assert full.columns == (
        SchemaColumn("i", "INT", precision="11", id="7"),
        SchemaColumn("e", "ENUM", id="8", elements=("a",)),
        SchemaColumn("v", "VARCHAR", id="9"),
    )
    bare = Table("t", "s", columns=(Column("i", IntType(32)),))
    with pytest.raises(EncodeError) as caught:
        schema_file_of(bare, None, 5, with_ids=True)
    assert caught.value.path == ("columns", 0)
