"""The dialect ticdc: messages as TiCDC's encoder writes them, and their types."""

from __future__ import annotations

import json
import zlib
from dataclasses import replace

import pytest

from cdcwire.core.context import Compression, Context
from cdcwire.core.errors import DecodeError, EncodeError
from cdcwire.core.message import KafkaMessage
from cdcwire.core.options import OptionError
from cdcwire.ddl import parse_ddl
from cdcwire.formats.debezium_json.fast import RowDecoder
from cdcwire.formats.debezium_json.fast_encoder import RowEncoder
from cdcwire.formats.debezium_json.format import FORMAT
from cdcwire.model.events import (
    Event,
    Image,
    Position,
    Progress,
    RowChange,
    SchemaChange,
    SchemaChangeKind,
    Table,
)
from cdcwire.model.kinds import Column, IntType, TextType

TS = 448059171405824001
DDL = """
CREATE TABLE t (
  id INT PRIMARY KEY, u BIGINT UNSIGNED DEFAULT 18446744073709551615, f FLOAT(7,3),
  b BIT(12) DEFAULT b'101', b1 BIT(1), bin BINARY(4) DEFAULT 'ab', e ENUM('a','b,c') DEFAULT 'a',
  s SET('x','y'), dt DATETIME(6),
  d DECIMAL(30,2), g INT AS (id+1) VIRTUAL, y YEAR DEFAULT 2020, v VECTOR(2)
);
"""
TABLES = parse_ddl(DDL, "shop")
SOURCE = (
    b'"source":{"version":"2.4.0.Final","connector":"TiCDC","name":"c1","ts_ms":1709210096000,'
    b'"snapshot":"false","db":"shop","table":"%s","server_id":0,"gtid":null,"file":"","pos":0,"row":0,'
    b'"thread":0,"query":null,"commit_ts":448059171405824001%s,"cluster_id":"c1"}'
)
# The values that TiCDC sends of the row below; the schema follows the clause "ticdc types".
ROW = (
    b'{"payload":{' + SOURCE % (b"t", b"") + b',"ts_ms":1709210097123,"transaction":null,"op":"c",'
    b'"before":null,"after":{"id":1,"u":-2,"f":0.1,"b":"AQg=","b1":true,"bin":"AP8AAA==","e":"b,c",'
    b'"s":"x,y","dt":1709210096000001,"d":-1.5,"y":2024,"v":"[1,-2.5]"}}}'
)
COLUMNS = (
    b'{"tidb_type":"int","type":"int32","optional":false,"field":"id"},'
    b'{"tidb_type":"bigint unsigned","type":"int64","optional":true,"field":"u",'
    b'"default":18446744073709552000},'
    b'{"tidb_type":"float","type":"double","optional":true,"field":"f"},'
    b'{"tidb_type":"bit","type":"bytes","optional":true,"name":"io.debezium.data.Bits","version":1,'
    b'"parameters":{"length":"12"},"field":"b","default":"BQA="},'
    b'{"tidb_type":"bit","type":"boolean","optional":true,"field":"b1"},'
    b'{"tidb_type":"binary","type":"string","optional":true,"field":"bin","default":"ab\\u0000\\u0000"},'
    b'{"tidb_type":"enum","type":"string","optional":true,"name":"io.debezium.data.Enum","version":1,'
    b'"parameters":{"allowed":"a,b\\\\,c"},"field":"e","default":"a"},'
    b'{"tidb_type":"set","type":"string","optional":true,"name":"io.debezium.data.EnumSet","version":1,'
    b'"parameters":{"allowed":"x,y"},"field":"s"},'
    b'{"tidb_type":"datetime","type":"int64","optional":true,'
    b'"name":"io.debezium.time.MicroTimestamp","version":1,"field":"dt"},'
    b'{"tidb_type":"decimal","type":"double","optional":true,"field":"d"},'
    b'{"tidb_type":"int","type":"int32","optional":true,"field":"g"},'
    b'{"tidb_type":"year","type":"int32","optional":true,"name":"io.debezium.time.Year","version":1,'
    b'"field":"y","default":2020},'
    b'{"tidb_type":"vector","type":"string","optional":true,'
    b'"name":"io.debezium.data.TiDBVectorFloat32","field":"v"}'
)
VIRTUAL = b',{"tidb_type":"int","type":"int32","optional":true,"field":"g"}'
KEY = b'{"payload":{"id":1}}'
POSITION = Position(commit_ts=TS, commit_ms=1709210096000, sent_ms=1709210097123)
TEXT = Image((Column("id", IntType(32)), Column("s", TextType())), (1, b"a\xffb"))


def context(
    *, schema: bool = False, tables: tuple[Table, ...] = TABLES, **options: bool
) -> Context:
    named = {name.replace("_", "-"): value for name, value in options.items()}
    return Context(
        options={
            "dialect": "ticdc",
            "schemas-enable": "true" if schema else "false",
            "cluster-id": "c1",
            **named,
        },
        tables=tables,
    )


def row() -> RowChange:
    (event,) = FORMAT.to_events(KafkaMessage(KEY, ROW), context=Context(tables=TABLES))
    assert isinstance(event, RowChange)
    return event


def encoded(event: Event, settings: Context) -> KafkaMessage:
    (message,) = FORMAT.from_events([event], context=settings)
    assert isinstance(message, KafkaMessage)
    assert list(RowEncoder(settings).encode([event])) == [message]
    return message


def test_row_without_schema_is_written_as_it_came() -> None:
    assert encoded(row(), context()) == KafkaMessage(KEY, ROW)


def test_definition_gives_the_types_that_no_byte_says() -> None:
    image = row().after
    assert image is not None
    values = dict(zip(image.names, image.values, strict=True))
    assert values["u"] == (1 << 64) - 2
    assert values["bin"] == b"\x00\xff\x00\x00"
    assert values["b"] == 0x801
    assert values["v"] == (1.0, -2.5)


def test_schema_has_defaults_tidb_types_and_a_virtual_column_twice() -> None:
    value = encoded(row(), context(schema=True, enable_tidb_extension=True)).value
    assert value is not None
    assert value.startswith(ROW[:-1] + b',"schema":{"type":"struct","optional":false,')
    assert value.count(COLUMNS + VIRTUAL + b"]") == 2


def test_schema_without_extension_has_neither_types_nor_commit_ts() -> None:
    value = encoded(row(), context(schema=True)).value
    assert value is not None
    assert b"tidb_type" not in value
    assert value.count(b"commit_ts") == 1


@pytest.mark.parametrize("tables", [(), TABLES], ids=["without definition", "with definition"])
def test_row_with_schema_is_read_back(tables: tuple[Table, ...]) -> None:
    settings = context(schema=True, enable_tidb_extension=True)
    message = encoded(row(), settings)
    (event,) = FORMAT.to_events(message, context=Context(tables=tables))
    assert isinstance(event, RowChange)
    assert event.after is not None
    original = row().after
    assert original is not None
    sent = dict(zip(event.after.names, event.after.values, strict=True))
    for name in ("id", "u", "bin", "b", "v", "e", "s", "dt", "y"):
        assert sent[name] == dict(zip(original.names, original.values, strict=True))[name]
    if tables:
        assert encoded(event, settings) == message


def test_start_ts_is_in_rows_only() -> None:
    settings = context(debezium_include_start_ts=True, enable_tidb_extension=True, schema=True)
    event = replace(row(), position=replace(POSITION, start_ts=7))
    message = encoded(event, settings)
    assert message.value is not None
    assert b'"commit_ts":448059171405824001,"start_ts":7,"cluster_id":"c1"' in message.value
    (back,) = FORMAT.to_events(message, context=Context())
    assert isinstance(back, RowChange)
    assert back.position.start_ts == 7
    watermark = encoded(Progress("watermark", POSITION), settings).value
    assert watermark is not None
    assert b"start_ts" not in watermark


def test_start_ts_that_is_missing_is_refused() -> None:
    with pytest.raises(EncodeError) as caught:
        encoded(row(), context(debezium_include_start_ts=True))
    assert caught.value.path == ("events", 0, "position", "start_ts")


def test_watermark_without_schema() -> None:
    message = encoded(Progress("watermark", POSITION), context(enable_tidb_extension=True))
    source = (SOURCE % (b"", b"")).replace(b'"shop"', b'""')
    assert message.key == b'{"payload":{}}'
    assert message.value == (
        b'{"payload":{' + source + b',"ts_ms":1709210097123,"transaction":null,"op":"m"}}'
    )


def test_watermark_needs_the_extension() -> None:
    with pytest.raises(EncodeError) as caught:
        encoded(Progress("watermark", POSITION), context())
    assert caught.value.clause == "debezium-json: ticdc"


def test_delete_has_its_row_after_the_null() -> None:
    event = replace(row(), op="delete", before=row().after, after=None)
    value = encoded(event, context()).value
    assert value is not None
    assert b'"op":"d","after":null,"before":{"id":1,' in value


def test_update_without_old_value_has_no_before() -> None:
    event = replace(row(), op="update", before=row().after)
    assert b'"before":{"id":1' in (encoded(event, context()).value or b"")
    assert b'"before"' not in (encoded(event, context(output_old_value=False)).value or b"")


def test_table_without_key_has_an_empty_key() -> None:
    event = replace(row(), table=Table("t", "shop", key=()))
    message = encoded(event, context(schema=True))
    assert message.key == (
        b'{"payload":{},"schema":{"type":"struct","name":"c1.shop.t.Key","optional":false,"fields":[]}}'
    )


@pytest.mark.parametrize("tables", [(), TABLES])
def test_missing_kafka_key_of_older_versions_says_nothing_of_the_key(
    tables: tuple[Table, ...],
) -> None:
    delete = ROW.replace(b'"op":"c"', b'"op":"d"').replace(b'"before":null,"after":', b'"after":')
    delete = delete.replace(b'"after":', b'"after":null,"before":')
    for value, op in ((ROW, "insert"), (delete, "delete")):
        message = KafkaMessage(None, value)
        (event,) = FORMAT.to_events(message, context=Context(tables=tables))
        assert isinstance(event, RowChange)
        assert (event.op, event.table.key, event.sent) == (op, ("id",) if tables else None, None)
        image = event.after if op == "insert" else event.before
        assert image is not None
        assert len(image.columns) == 12
        assert RowDecoder(Context(tables=tables)).decode_events(message) == [event]


def test_white_space_changes_nothing() -> None:
    spaced = json.dumps(json.loads(ROW), indent=1).encode()
    key = b'{ "payload": { "id": 1 } }'
    (event,) = FORMAT.to_events(KafkaMessage(b'{"payload":{"id":1}}', ROW), context=Context())
    assert list(FORMAT.to_events(KafkaMessage(key, spaced), context=Context())) == [event]
    assert RowDecoder(Context()).decode_events(KafkaMessage(key, spaced)) == [event]


def test_names_of_schemas_have_an_underscore_for_other_characters() -> None:
    table = Table("odd-name.表", "1 a", key=("id",))
    event = RowChange(table, "insert", None, TEXT, POSITION)
    message = encoded(event, context(schema=True, tables=()))
    assert b'"name":"c1._1_a.odd_name._.Key"' in (message.key or b"")


def test_ill_formed_text_is_sent_as_it_is_and_read_as_a_replacement() -> None:
    event = RowChange(Table("t", "shop", key=("id",)), "insert", None, TEXT, POSITION)
    message = encoded(event, context(tables=()))
    assert b'"s":"a\xffb"' in (message.value or b"")
    (back,) = FORMAT.to_events(message, context=Context())
    assert isinstance(back, RowChange)
    assert back.after is not None
    assert back.after.values[1] == "a\ufffdb"


def test_lone_surrogate_is_refused() -> None:
    image = Image(TEXT.columns, (1, "\udcff"))
    event = RowChange(Table("t", "shop", key=("id",)), "insert", None, image, POSITION)
    with pytest.raises(EncodeError) as caught:
        encoded(event, context(tables=()))
    assert caught.value.path == ("events", 0, "after", "s")


def test_default_that_may_stand_for_null_is_a_warning() -> None:
    event = row()
    assert event.after is not None
    image = Image(
        event.after.columns,
        tuple(
            5 if n == "b" else v for n, v in zip(event.after.names, event.after.values, strict=True)
        ),
    )
    typed = context(schema=True, enable_tidb_extension=True)
    message = encoded(replace(event, after=image), typed)
    (warning,) = FORMAT.warnings(message, Context())
    assert "NULL: b (debezium-json: ticdc defaults)" in warning
    assert FORMAT.warnings(encoded(event, typed), Context()) == ()


def test_negative_number_without_type_is_a_warning() -> None:
    message = encoded(row(), context(schema=True))
    (warning,) = FORMAT.warnings(message, Context())
    assert warning.endswith("no type is given of u (debezium-json: ticdc types)")
    assert FORMAT.warnings(message, Context(tables=TABLES)) == ()


def test_column_of_bytes_without_type_is_text() -> None:
    message = encoded(row(), context(schema=True))
    (event,) = FORMAT.to_events(message, context=Context())
    assert isinstance(event, RowChange)
    assert event.after is not None
    by_name = {column.name: value for column, value in event.after.pairs}
    assert by_name["bin"] == "AP8AAA=="
    assert by_name["u"] == -2


def test_identify_names_the_dialect() -> None:
    guess = FORMAT.identify(KafkaMessage(KEY, ROW))
    assert guess is not None
    assert guess.options == {"dialect": "ticdc"}


def test_identify_tries_the_compression_of_key_and_value() -> None:
    frame = bytes.fromhex("04224d186040820300008061626300000000")
    for key in (frame, None):
        guess = FORMAT.identify(KafkaMessage(key, frame))
        assert guess is not None
        assert guess.alternatives == (
            {"dialect": "ticdc", "large-message-handle-compression": "lz4"},
        )
    assert FORMAT.identify(KafkaMessage(KEY, frame)) is None


def source_of(database: bytes, table: bytes) -> bytes:
    return SOURCE.replace(b'"db":"shop"', b'"db":"%s"' % database) % (table, b"")


# The texts of pingcap/ticdc@b813e76, with other names and times.
@pytest.mark.parametrize(
    ("what", "query", "table", "changes"),
    [
        ("create", "CREATE DATABASE `a`", Table(None, "a"), b""),
        ("erase", "DROP DATABASE `a`", Table(None, "a"), b""),
        ("truncate", "TRUNCATE TABLE t", Table("t", "a"), b""),
        (
            "erase",
            "DROP TABLE `a`.`t<`",
            Table("t<", "a", columns=TEXT.columns),
            rb'{"type":"DROP","id":"\"a\".\"t<\"","table":null}',
        ),
    ],
)
def test_statements_without_columns_are_written(
    what: SchemaChangeKind, query: str, table: Table, changes: bytes
) -> None:
    event = SchemaChange(what, query, None, table, POSITION)
    message = encoded(event, context())
    assert message.key == b'{"payload":{"databaseName":"a"}}'
    name = (table.name or "").encode()
    assert message.value == (
        b'{"payload":{' + source_of(b"a", name) + b',"ts_ms":1709210097123,"databaseName":"a",'
        b'"schemaName":null,"ddl":"%s","tableChanges":[%s]}}' % (query.encode(), changes)
    )
    guess = FORMAT.identify(message)
    assert guess is not None
    assert guess.options == {"dialect": "ticdc"}
    (back,) = FORMAT.to_events(message, context=Context())
    assert isinstance(back, SchemaChange)
    assert (back.what, back.query) == (what, query)
    assert back.table == replace(table, columns=None)


# The producer's column of a table, with what events do not have.
CHANGES = (
    rb'[{"type":"ALTER","id":"\"a\".\"t2\"","table":{"defaultCharsetName":"utf8mb4",'
    rb'"primaryKeyColumnNames":["id"],"columns":[{"name":"id","jdbcType":4,"nativeType":null,'
    rb'"comment":"c\u0008<","defaultValueExpression":"5","enumValues":null,"typeName":"INT",'
    rb'"typeExpression":"INT","charsetName":null,"length":null,"scale":null,"position":1,'
    rb'"optional":false,"autoIncremented":true,"generated":false}],"comment":null}}]'
)


def test_statement_that_was_read_comes_back_with_its_table_changes() -> None:
    query = b"ALTER TABLE t EXCHANGE PARTITION p WITH TABLE t2"
    value = (
        b'{"payload":{' + source_of(b"a", b"t") + b',"ts_ms":1709210097123,"databaseName":"a",'
        b'"schemaName":null,"ddl":"%s","tableChanges":%s}}' % (query, CHANGES)
    )
    message = KafkaMessage(b'{"payload":{"databaseName":"a"}}', value)
    (event,) = FORMAT.to_events(message, context=Context())
    assert isinstance(event, SchemaChange)
    assert event.table is not None
    assert (event.table.name, event.extra["source_table"]) == ("t2", "t")
    assert encoded(event, context()) == message


@pytest.mark.parametrize("text", ["{}", "[", "[1]]", ""])
def test_table_changes_that_are_not_a_list_are_refused(text: str) -> None:
    event = SchemaChange("alter", "ALTER TABLE t", None, Table("t", "a"), POSITION)
    with pytest.raises(EncodeError) as caught:
        encoded(replace(event, extra={"table_changes": text}), context())
    assert caught.value.path[-2:] == ("extra", "table_changes")


def test_schema_of_a_statement_declares_the_table_changes() -> None:
    event = SchemaChange("truncate", "TRUNCATE TABLE t", None, Table("t", "a"), POSITION)
    message = encoded(event, context(schema=True))
    assert message.key == (
        b'{"payload":{"databaseName":"a"},"schema":{"type":"struct",'
        b'"name":"io.debezium.connector.mysql.SchemaChangeKey","optional":false,"version":1,'
        b'"fields":[{"field":"databaseName","optional":false,"type":"string"}]}}'
    )
    value = message.value or b""
    assert value.endswith(
        b'{"field":"enumValues","optional":true,"type":"array",'
        b'"items":{"type":"string","optional":false}}]}},'
        b'{"field":"comment","optional":true,"type":"string"}]}]}}]}}'
    )
    assert (
        b'"schema":{"optional":false,"type":"struct","version":1,'
        b'"name":"io.debezium.connector.mysql.SchemaChangeValue","fields":[{"type":"struct",'
    ) in value


@pytest.mark.parametrize(
    ("event", "last"),
    [
        (SchemaChange("alter", "ALTER TABLE t", None, Table("t", "a"), POSITION), "what"),
        (SchemaChange("erase", "DROP TABLE t", None, Table('t"', "a"), POSITION), "table"),
        (SchemaChange("erase", "DROP TABLE t", None, Table("t"), POSITION), "table"),
        (SchemaChange("truncate", None, None, Table("t", "a"), POSITION), "query"),
    ],
)
def test_statement_whose_facts_an_event_lacks_is_refused(event: SchemaChange, last: str) -> None:
    with pytest.raises(EncodeError) as caught:
        encoded(event, context())
    assert caught.value.path[-1] == last


def unzip(data: bytes) -> bytes:
    try:
        return zlib.decompress(data)
    except zlib.error as error:
        raise ValueError(str(error)) from None


def compressed_context() -> Context:
    made = context()
    return replace(
        made,
        options={**made.options, "large-message-handle-compression": "lz4"},
        compressions={"lz4": Compression(zlib.compress, unzip)},
    )


def test_key_and_value_are_compressed_both_ways() -> None:
    settings = compressed_context()
    message = KafkaMessage(zlib.compress(KEY), zlib.compress(ROW))
    assert list(FORMAT.to_events(message, context=settings)) == [row()]
    assert list(RowDecoder(settings).decode(message)) == [row()]
    assert encoded(row(), settings) == message
    spans = FORMAT.explain(message, context=settings).spans
    assert [span.part for span in spans] == ["key", "value"]


def test_value_that_is_not_compressed_is_an_error_of_its_part() -> None:
    with pytest.raises(DecodeError, match="can't be decompressed") as caught:
        list(FORMAT.to_events(KafkaMessage(None, ROW), context=compressed_context()))
    assert (caught.value.path, caught.value.clause) == (("value",), "debezium-json: ticdc")


def test_error_in_a_compressed_value_has_no_place_in_its_bytes() -> None:
    message = KafkaMessage(None, zlib.compress(b"[]"))
    with pytest.raises(DecodeError, match="of the decompressed message") as caught:
        list(FORMAT.to_events(message, context=compressed_context()))
    assert caught.value.offset == 0


def test_decompressed_value_has_a_limit() -> None:
    settings = compressed_context()
    settings = replace(settings, options={**settings.options, "max-decompressed-bytes": 9})
    with pytest.raises(DecodeError, match="more than 9 bytes") as caught:
        list(FORMAT.to_events(KafkaMessage(None, zlib.compress(ROW)), context=settings))
    assert caught.value.clause == "connect: limits"


def test_rows_by_themselves_are_not_written() -> None:
    """TiCDC sends changes: with the transform they would be read as rows."""
    with pytest.raises(OptionError, match="transforms=unwrap is for reading"):
        list(FORMAT.from_events([], context=Context({"dialect": "ticdc", "transforms": "unwrap"})))
