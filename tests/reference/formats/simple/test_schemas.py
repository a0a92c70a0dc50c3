"""Table schemas of a feed: the schema of a row, and the messages before rows."""

from __future__ import annotations

import pytest

from cdcwire.core.context import Context
from cdcwire.core.errors import DecodeError, EncodeError
from cdcwire.core.message import KafkaMessage
from cdcwire.formats.simple import FORMAT, Bootstrap, Dml, decode
from cdcwire.model.events import Event, Image, Position, RowChange, Table
from cdcwire.model.kinds import Column, EnumType, IntType, TextType

SCHEMA = (
    '{"version":1,"type":"BOOTSTRAP","commitTs":0,"buildTs":5,"tableSchema":{"schema":"d",'
    '"table":"t","tableID":7,"version":9,"columns":[{"name":"id","dataType":{"mysqlType":"int",'
    '"charset":"binary","collate":"binary","length":11},"nullable":false,"default":null},'
    '{"name":"v","dataType":{"mysqlType":"varchar","charset":"utf8mb4",'
    '"collate":"utf8mb4_bin","length":20},"nullable":true,"default":null}],'
    '"indexes":[{"name":"primary","unique":true,"primary":true,"nullable":false,"columns":["id"]}]}}'
)
ROW = (
    '{"version":1,"database":"d","table":"t","tableID":7,"type":"INSERT","commitTs":4,"buildTs":5,'
    '"schemaVersion":9,"data":{"id":"1","v":"x"}}'
)
TABLE = Table("t", "d", columns=(Column("id", IntType(32)), Column("v", TextType())), key=("id",))


def events_of(*texts: str, tables: tuple[Table, ...] = ()) -> list[Event]:
    messages = [KafkaMessage(None, text.encode()) for text in texts]
    context = FORMAT.prepared(messages, Context(tables=tables))
    return [e for message in messages for e in FORMAT.to_events(message, context=context)]


def test_row_is_read_by_the_schema_of_its_version_wherever_it_is() -> None:
    [change] = events_of(ROW, SCHEMA)
    assert isinstance(change, RowChange)
    assert (change.table.key, change.table.version) == (("id",), 9)
    assert change.after is not None
    assert change.after.values == (1, "x")


def test_missing_schema_names_the_version_and_its_place() -> None:
    with pytest.raises(DecodeError) as caught:
        events_of(SCHEMA, ROW.replace('"schemaVersion":9', '"schemaVersion":8'))
    assert caught.value.offset == ROW.index('"schemaVersion":') + len('"schemaVersion":')
    assert caught.value.path == ("schemaVersion",)
    assert caught.value.clause == "simple: schema versions"
    assert "version 8; known: 9" in caught.value.problem


def test_definition_without_version_serves_every_version() -> None:
    [change] = events_of(ROW, tables=(TABLE,))
    assert isinstance(change, RowChange)
    assert change.after is not None
    assert change.after.values == (1, "x")


def test_schema_of_the_feed_goes_before_a_definition() -> None:
    other = Table("t", "d", columns=(Column("id", TextType()), Column("v", TextType())), version=9)
    [change] = events_of(SCHEMA, ROW, tables=(other,))
    assert isinstance(change, RowChange)
    assert change.after is not None
    assert change.after["id"] == 1


def test_broken_schema_is_reported_where_it_is_decoded() -> None:
    broken = SCHEMA.replace('"indexes":[', '"indexes":[1,')
    messages = [KafkaMessage(None, broken.encode())]
    assert FORMAT.prepared(messages, Context()).tables == ()
    with pytest.raises(DecodeError) as caught:
        events_of(broken)
    assert caught.value.path == ("tableSchema", "indexes", 0)


def test_columns_are_in_the_order_of_the_table_and_sorted_in_messages() -> None:
    columns = (Column("z", IntType(32)), Column("a", IntType(32)))
    change = RowChange(
        Table("t", "d", key=()), "insert", None, Image(columns, (1, 2)), Position(commit_ts=4)
    )
    schema, row = (decode(m.value) for m in FORMAT.from_events([change]))
    assert isinstance(schema, Bootstrap)
    assert [column.name for column in schema.table_schema.columns] == ["z", "a"]
    assert isinstance(row, Dml)
    assert [cell.name for cell in row.data or ()] == ["a", "z"]


def test_schema_is_sent_once_for_the_rows_of_a_table() -> None:
    image = Image((Column("id", IntType(32)),), (1,))
    change = RowChange(Table("t", "d", key=("id",)), "insert", None, image, Position(commit_ts=4))
    kinds = [type(decode(m.value)) for m in FORMAT.from_events([change, change])]
    assert kinds == [Bootstrap, Dml, Dml]


def test_schema_is_sent_once_for_rows_whose_values_differ_in_form() -> None:
    zoned = SCHEMA.replace(
        '"varchar","charset":"utf8mb4","collate":"utf8mb4_bin","length":20',
        '"timestamp","charset":"binary","collate":"binary","length":19',
    )
    value = '{"location":"UTC","value":"2020-02-29 12:34:56"}'
    zero = value.replace("2020-02-29 12:34:56", "0000-00-00 00:00:00")
    rows = [ROW.replace('"x"', each) for each in (value, zero, value)]
    messages = list(FORMAT.from_events(events_of(zoned, *rows)))
    assert [type(decode(m.value)) for m in messages] == [Bootstrap, Dml, Dml, Dml]


@pytest.mark.parametrize(("base", "length"), [("float", 7), ("float", 12), ("double", 10)])
def test_length_of_a_float_comes_back(base: str, length: int) -> None:
    schema = SCHEMA.replace(
        '"varchar","charset":"utf8mb4","collate":"utf8mb4_bin","length":20',
        f'"{base}","charset":"binary","collate":"binary","length":{length}',
    )
    events = events_of(schema, ROW.replace('"x"', '"1.5"'))
    (first, _) = FORMAT.from_events(events)
    assert isinstance(first, KafkaMessage)
    assert first.value == schema.encode()


def test_labels_of_a_definition_do_not_change_that_values_are_numbers() -> None:
    table = Table("t", "d", columns=(Column("id", EnumType(("a", "b"), "label")),))
    [change] = events_of(ROW.replace(',"v":"x"', ""), tables=(table,))
    assert isinstance(change, RowChange)
    assert change.after is not None
    assert change.after.columns[0].type == EnumType(("a", "b"), "index")


def test_changed_columns_only_are_refused() -> None:
    image = Image((Column("id", IntType(32)),), (1,))
    table = Table("t", "d", key=("id",))
    change = RowChange(table, "update", image, image, Position(commit_ts=4), sent="changed")
    with pytest.raises(EncodeError) as caught:
        list(FORMAT.from_events([change]))
    assert caught.value.clause == "simple: rows"
    assert caught.value.path == ("events", 0, "sent")
