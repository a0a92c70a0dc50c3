"""Comments and source types of columns, the columns of a truncate, types without schema."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from cdcwire.core.context import NO_CONTEXT, Context
from cdcwire.core.errors import EncodeError
from cdcwire.core.message import KafkaMessage
from cdcwire.formats.debezium_json.fast import RowDecoder
from cdcwire.formats.debezium_json.fast_encoder import RowEncoder
from cdcwire.formats.debezium_json.format import FORMAT
from cdcwire.model.events import RowChange, SchemaChange
from cdcwire.model.kinds import EnumType, IntType, SetType

BARE = Context(options={"schemas-enable": "false"})
SOURCE = (
    '"source":{"version":"1.9.8.Final","connector":"%s","name":"n","ts_ms":1,"snapshot":"false",'
    '"db":"d","sequence":null,"table":"t","server_id":1,"gtid":null,"file":"f","pos":1,"row":0,'
    '"thread":null,"query":null}'
)
SOURCE_FIELDS = ",".join(
    (
        '{"type":"string","optional":false,"field":"version"}',
        '{"type":"string","optional":false,"field":"connector"}',
        '{"type":"string","optional":false,"field":"name"}',
        '{"type":"int64","optional":false,"field":"ts_ms"}',
        '{"type":"string","optional":true,"name":"io.debezium.data.Enum","version":1,'
        '"parameters":{"allowed":"true,last,false,incremental"},"default":"false",'
        '"field":"snapshot"}',
        '{"type":"string","optional":false,"field":"db"}',
        '{"type":"string","optional":true,"field":"sequence"}',
        '{"type":"string","optional":true,"field":"table"}',
        '{"type":"int64","optional":false,"field":"server_id"}',
        '{"type":"string","optional":true,"field":"gtid"}',
        '{"type":"string","optional":false,"field":"file"}',
        '{"type":"int64","optional":false,"field":"pos"}',
        '{"type":"int32","optional":false,"field":"row"}',
        '{"type":"int64","optional":true,"field":"thread"}',
        '{"type":"string","optional":true,"field":"query"}',
    )
)
BLOCK = (
    '{"type":"struct","fields":[{"type":"string","optional":false,"field":"id"},'
    '{"type":"int64","optional":false,"field":"total_order"},{"type":"int64","optional":false,'
    '"field":"data_collection_order"}],"optional":true,"field":"transaction"}'
)
ID = '{"type":"int32","optional":false,"doc":"the key","field":"id"}'
FIELDS = (
    ID,
    '{"type":"int64","optional":true,"parameters":{"__debezium.source.column.type":'
    '"BIGINT UNSIGNED"},"field":"u"}',
    '{"type":"bytes","optional":true,"name":"org.apache.kafka.connect.data.Decimal","version":1,'
    '"doc":"ü \\"","parameters":{"scale":"2","connect.decimal.precision":"10",'
    '"__debezium.source.column.type":"DECIMAL","__debezium.source.column.length":"10"},'
    '"field":"d"}',
)


def message(op: str, before: str, after: str) -> KafkaMessage:
    """Return a message of MySQL's connector 1.9 by the page of its clause."""
    fields = f"[{','.join(FIELDS)}]"
    rows = (
        f'{{"type":"struct","fields":{fields},"optional":true,"name":"n.d.t.Value","field":"{n}"}}'
        for n in ("before", "after")
    )
    source = (
        f'{{"type":"struct","fields":[{SOURCE_FIELDS}],"optional":false,'
        '"name":"io.debezium.connector.mysql.Source","field":"source"}'
    )
    end = (
        '{"type":"string","optional":false,"field":"op"}',
        '{"type":"int64","optional":true,"field":"ts_ms"}',
        BLOCK,
    )
    members = ",".join((*rows, source, *end))
    schema = f'{{"type":"struct","fields":[{members}],"optional":false,"name":"n.d.t.Envelope"}}'
    payload = (
        f'{{"before":{before},"after":{after},{SOURCE % "mysql"},"op":"{op}","ts_ms":2,'
        '"transaction":null}'
    )
    key = (
        f'{{"schema":{{"type":"struct","fields":[{ID}],"optional":false,"name":"n.d.t.Key"}},'
        '"payload":{"id":1}}'
    )
    value = f'{{"schema":{schema},"payload":{payload}}}'
    return KafkaMessage(None if op == "t" else key.encode(), value.encode())


ROW = message("u", '{"id":1,"u":null,"d":null}', '{"id":1,"u":-1,"d":"AJY="}')


def test_notes_on_columns_come_back_in_row_and_key() -> None:
    (event,) = FORMAT.to_events(ROW, context=NO_CONTEXT)
    assert isinstance(event, RowChange)
    assert event.after is not None
    assert event.after["u"] == 2**64 - 1
    assert event.after.columns[1].type == IntType(64, unsigned=True)
    assert json.loads(str(event.extra["column_notes"])) == {
        "id": {"doc": "the key"},
        "u": {"parameters": {"__debezium.source.column.type": "BIGINT UNSIGNED"}},
        "d": {
            "doc": 'ü "',
            "parameters": {
                "__debezium.source.column.type": "DECIMAL",
                "__debezium.source.column.length": "10",
            },
        },
    }
    assert list(FORMAT.from_events([event], context=NO_CONTEXT)) == [ROW]
    assert list(RowEncoder().encode([event, event])) == [ROW, ROW]
    decoder = RowDecoder(NO_CONTEXT)
    for _ in range(3):
        assert list(decoder.decode(ROW)) == [event]


def test_row_of_the_same_table_without_notes_has_none() -> None:
    (event,) = FORMAT.to_events(ROW, context=NO_CONTEXT)
    plain = replace(event, extra={k: v for k, v in event.extra.items() if k != "column_notes"})
    encoder = RowEncoder()
    first, second, third = encoder.encode([event, plain, event])
    assert isinstance(second, KafkaMessage)
    assert first == third == ROW
    assert b'"doc"' not in (second.key or b"") + (second.value or b"")


@pytest.mark.parametrize("text", ["[]", "{", '{"id":1}'])
def test_notes_that_are_none_are_refused(text: str) -> None:
    (event,) = FORMAT.to_events(ROW, context=NO_CONTEXT)
    bent = replace(event, extra={**event.extra, "column_notes": text})
    with pytest.raises(EncodeError) as caught:
        list(FORMAT.from_events([bent], context=NO_CONTEXT))
    assert caught.value.path == ("events", 0, "extra", "column_notes")


def test_truncate_has_the_columns_that_its_schema_says() -> None:
    sent = message("t", "null", "null")
    (event,) = FORMAT.to_events(sent, context=NO_CONTEXT)
    assert isinstance(event, SchemaChange)
    assert event.table is not None
    assert event.table.columns is not None
    assert [column.name for column in event.table.columns] == ["id", "u", "d"]
    assert list(FORMAT.from_events([event], context=NO_CONTEXT)) == [sent]


@pytest.mark.parametrize("number", ["-1", "null"])
def test_key_of_message_key_columns_may_be_null(number: str) -> None:
    row = message("c", "null", f'{{"id":1,"u":{number},"d":null}}')
    fields = f"[{FIELDS[1]},{ID}]"
    key = (
        f'{{"schema":{{"type":"struct","fields":{fields},"optional":false,"name":"n.d.t.Key"}},'
        f'"payload":{{"u":{number},"id":1}}}}'
    )
    sent = replace(row, key=key.encode())
    (event,) = FORMAT.to_events(sent, context=NO_CONTEXT)
    assert event.extra["nullable_key"] == "true"
    assert list(FORMAT.from_events([event], context=NO_CONTEXT)) == [sent]
    assert list(RowEncoder().encode([event, event])) == [sent, sent]
    decoder = RowDecoder(NO_CONTEXT)
    for _ in range(3):
        assert list(decoder.decode(sent)) == [event]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('{"id":1,"a":"x"}', '{"id":1,"a":null}'),
        ('{"id":1,"a":1.5}', '{"id":1,"a":"NaN"}'),
        ('{"id":1,"a":"-Infinity"}', '{"id":1,"a":1.5}'),
        ('{"id":1,"a":"NaN"}', '{"id":1,"a":"NaN"}'),
        ('{"id":1,"a":null}', '{"id":1,"a":null}'),
    ],
)
def test_without_schema_the_other_image_shows_the_type(before: str, after: str) -> None:
    value = (
        f'{{"before":{before},"after":{after},{SOURCE % "mysql"},"op":"u","ts_ms":2,'
        '"transaction":null}'
    )
    sent = KafkaMessage(b'{"id":1}', value.encode())
    (event,) = FORMAT.to_events(sent, context=BARE)
    assert list(FORMAT.from_events([event], context=BARE)) == [sent]
    assert list(RowEncoder(BARE).encode([event])) == [sent]


def test_enum_and_set_of_a_statement_before_2_0_have_no_labels() -> None:
    column = (
        '{"name":"%s","jdbcType":1,"nativeType":null,"typeName":"%s","typeExpression":"%s",'
        '"charsetName":"utf8mb4","length":1,"scale":null,"position":1,"optional":true,'
        '"autoIncremented":false,"generated":false,"comment":null}'
    )
    columns = ",".join(column % (name, name.upper(), name.upper()) for name in ("enum", "set"))
    value = (
        f'{{{SOURCE % "mysql"},"databaseName":"d","schemaName":null,"ddl":"ALTER TABLE t ADD e",'
        '"tableChanges":[{"type":"ALTER","id":"\\"d\\".\\"t\\"","table":{"defaultCharsetName":'
        f'"utf8mb4","primaryKeyColumnNames":[],"columns":[{columns}],"comment":null}}}}]}}'
    )
    sent = KafkaMessage(b'{"databaseName":"d"}', value.encode())
    (event,) = FORMAT.to_events(sent, context=BARE)
    assert isinstance(event, SchemaChange)
    assert event.table is not None
    assert event.table.columns is not None
    assert [each.type for each in event.table.columns] == [EnumType(), SetType()]
    assert list(FORMAT.from_events([event], context=BARE)) == [sent]
