"""Rows by themselves, as ExtractNewRecordState leaves them, and keys of StringConverter."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cdcwire.core.context import Context
from cdcwire.core.errors import DecodeError, EncodeError
from cdcwire.core.message import KafkaMessage
from cdcwire.core.options import OptionValue
from cdcwire.formats import debezium_json
from cdcwire.formats.debezium_json.fast import RowDecoder
from cdcwire.model.events import (
    Event,
    Image,
    Marker,
    Position,
    Progress,
    RowChange,
    SchemaChange,
    Table,
)
from cdcwire.model.kinds import Column, IntType, MapType, TemporalForm, TextType, TimeType

UNWRAP = Context(options={"transforms": "unwrap"})
TEXT_KEYS = Context(options={"key-converter": "string"})
TABLE = Table(
    "t",
    "s",
    columns=(Column("id", IntType(32)), Column("m", MapType(TextType(), TextType()))),
    key=("id",),
)
NAMED = b'"__schema":"s","__table":"t"}'


def events(value: bytes | None, key: bytes | None, context: Context) -> list[Event]:
    message = KafkaMessage(key, value)
    found = list(debezium_json.FORMAT.to_events(message, context=context))
    assert list(RowDecoder(context).decode(message)) == found
    assert debezium_json.explain(message, context=context).error is None
    wire = debezium_json.decode(value, key=key, context=context)
    assert debezium_json.encode(wire) == (key, value)
    return found


def row(value: bytes, context: Context = UNWRAP, key: bytes | None = None) -> RowChange:
    (event,) = events(value, key, context)
    assert isinstance(event, RowChange)
    return event


@pytest.mark.parametrize(
    ("field", "op"),
    [
        (b'"__op":"c",', "insert"),
        (b'"__op":"u","__deleted":"false",', "update"),
        (b'"__op":"r",', "read"),
        (b'"__deleted":false,', "upsert"),
        (b"", "upsert"),
    ],
)
def test_operation_is_that_of_the_added_fields(field: bytes, op: str) -> None:
    found = row(b'{"id":1,' + field + NAMED)
    assert (found.op, found.table.name, found.table.schema) == (op, "t", "s")
    assert found.after is not None
    assert found.after.names == ("id",)


def test_deleted_row_has_its_key_only() -> None:
    found = row(b'{"id":1,"m":null,"__deleted":"true",' + NAMED, key=b'{"id":1}')
    assert (found.op, found.sent) == ("delete", "key")
    assert found.before is not None
    assert dict(found.before.pairs) == {found.before.columns[0]: 1}


def test_truncate_is_a_schema_change() -> None:
    (found,) = events(b'{"__op":"t",' + NAMED, None, UNWRAP)
    assert isinstance(found, SchemaChange)
    assert found.what == "truncate"


def test_only_definition_gives_table_types_and_key() -> None:
    context = Context(options={"transforms": "unwrap"}, tables=(TABLE,))
    found = row(b'{"id":1,"m":{"a":"b"}}', context, b'{"id":1}')
    assert found.after is not None
    assert [column.type for column in found.after.columns] == [
        IntType(32),
        MapType(TextType(), TextType()),
    ]


HOURS = Table("t", "s", columns=(Column("id", IntType(32)), Column("h", TimeType(0))), key=())


@pytest.mark.parametrize("others", [0, 1], ids=["one", "two"])
def test_name_without_schema_is_that_of_the_only_definition(others: int) -> None:
    """PostgreSQL's rows have no schema with ``add.fields=op,table``."""
    named = (TABLE, replace(TABLE, name="u"), *[replace(TABLE, schema="z")] * others)
    context = replace(UNWRAP, tables=named)
    found = row(b'{"id":1,"m":{"a":"b"},"__op":"c","__table":"t"}', context).table
    assert (found.schema, found.name) == (None if others else "s", "t")


@pytest.mark.parametrize("name", ["t", "t.u", "."])
def test_name_of_the_schema_gives_the_schema_of_a_table_with_dots(name: str) -> None:
    kinds = {"id": "int32", "__table": "string"}
    fields = ",".join(
        f'{{"type":"{kind}","optional":false,"field":"{field}"}}' for field, kind in kinds.items()
    )
    schema = f'{{"type":"struct","fields":[{fields}],"optional":false,"name":"p.s.{name}.Value"}}'
    payload = f'{{"id":1,"__table":"{name}"}}'
    found = row(f'{{"schema":{schema},"payload":{payload}}}'.encode()).table
    assert (found.schema, found.name) == ("s", name)


@pytest.mark.parametrize(
    ("field", "sent", "unit"),
    [
        (b'"__file":"binlog.1",', b"3600000000", "us"),
        (b'"__source_gtid":"0-1-2",', b"3600000000", "us"),
        (b'"__lsn":1,', b"3600000", "ms"),
        (b'"__source_change_lsn":"00000025:00000b98:0001",', b"3600000", "ms"),
        (b'"__scn":"1",', b"3600000000", "us"),
    ],
)
def test_member_of_the_position_shows_the_connector(
    field: bytes, sent: bytes, unit: TemporalForm
) -> None:
    context = Context(options={"transforms": "unwrap"}, tables=(HOURS,))
    found = row(b'{"id":1,"h":' + sent + b"," + field + NAMED, context)
    assert found.after is not None
    assert found.after.columns[1].type == TimeType(form=unit)
    assert found.after["h"] == int(sent)


@pytest.mark.parametrize(
    "field",
    [b'"__file":"binlog.1",', b'"__source_change_lsn":"00000025:00000b98:0001",', b'"__scn":"1",'],
)
def test_deleted_row_of_a_connector_that_sends_all_of_it_is_whole(field: bytes) -> None:
    found = row(b'{"id":1,"m":null,"__deleted":"true",' + field + NAMED, key=b'{"id":1}')
    assert found.sent is None
    assert found.before is not None
    assert found.before.names == ("id", "m")


@pytest.mark.parametrize(
    ("options", "unit"),
    [
        ({"connector": "mariadb"}, "us"),
        ({"connector": "postgresql"}, "ms"),
        ({"time-precision-mode": "adaptive_time_microseconds"}, "us"),
        ({"time-precision-mode": "connect"}, "ms"),
    ],
)
def test_option_tells_the_unit_of_a_time(
    options: dict[str, OptionValue], unit: TemporalForm
) -> None:
    context = Context(options={"transforms": "unwrap", **options}, tables=(HOURS,))
    found = row(b'{"id":1,"h":30000,' + NAMED, context)
    assert found.after is not None
    assert found.after.columns[1].type == TimeType(form=unit)


def test_time_whose_unit_nothing_tells_is_refused() -> None:
    """30,000,000 is half a minute of MySQL, and after 8 o'clock of PostgreSQL."""
    context = Context(options={"transforms": "unwrap"}, tables=(HOURS,))
    with pytest.raises(DecodeError, match="milliseconds or microseconds: set connector"):
        row(b'{"id":1,"h":30000000,' + NAMED, context)


def test_no_time_needs_no_unit() -> None:
    context = Context(options={"transforms": "unwrap"}, tables=(HOURS,))
    found = row(b'{"id":1,"h":null,' + NAMED, context)
    assert found.after is not None
    assert found.after["h"] is None


def test_position_is_that_of_the_added_fields() -> None:
    found = row(b'{"id":1,"__lsn":7,"__source_txId":8,"__source_ts_ms":9,"__ts_ms":10,' + NAMED)
    where = found.position
    assert (where.lsn, where.tx_id, where.commit_ms, where.sent_ms) == (7, "8", 9, 10)


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (b'{"id":1}', "set add.fields=table, or give its definition"),
        (b'{"id":1,"__op":"x",' + NAMED, "__op is 'x'"),
        (b'{"id":1,"__deleted":"yes",' + NAMED, "__deleted is 'yes'"),
    ],
)
def test_row_that_needs_a_guess_is_refused(value: bytes, problem: str) -> None:
    with pytest.raises(DecodeError, match=problem):
        list(debezium_json.FORMAT.to_events(KafkaMessage(None, value), context=UNWRAP))


def test_key_of_another_converter_is_kept_as_text() -> None:
    found = row(b'{"id":1,' + NAMED, Context(options={**UNWRAP.options, **TEXT_KEYS.options}), b"a")
    assert found.table.key is None


def test_key_that_is_not_utf_8_is_refused() -> None:
    with pytest.raises(DecodeError, match="byte 1: the key is not UTF-8"):
        list(debezium_json.FORMAT.to_events(KafkaMessage(b"a\xff", None), context=TEXT_KEYS))


def test_error_of_a_text_key_names_the_option() -> None:
    with pytest.raises(DecodeError, match="set key-converter=string"):
        list(debezium_json.FORMAT.to_events(KafkaMessage(b"Struct{id=1}", None)))


SOURCE = (
    b'{"version":"3.2.0.Final","connector":"postgresql","name":"n","ts_ms":1,"db":"d","schema":"",'
    b'"table":""}'
)
HEARTBEAT = b'{"ts_ms":5}'
BORDER = b'{"status":"END","id":"7:9","event_count":0,"data_collections":[]}'
LOGICAL = b'{"op":"m","ts_ms":5,"source":%s,"message":{"prefix":"p","content":""}}' % SOURCE
SCHEMA_CHANGE = (
    b'{"source":%s,"databaseName":"d","schemaName":null,"ddl":"","tableChanges":[]}' % SOURCE
)
ONE_TABLE = Context(
    options={"transforms": "unwrap"}, tables=(Table("t", "s", columns=(Column("k", IntType(32)),)),)
)


@pytest.mark.parametrize(
    ("value", "key", "kind"),
    [
        (HEARTBEAT, b'{"serverName":"n"}', Progress),
        (BORDER, b'{"id":"7:5"}', Marker),
        (BORDER[:-1] + b',"ts_ms":5}', b'{"id":"7:5"}', Marker),
        (LOGICAL, b'{"prefix":"p"}', Marker),
        (LOGICAL, None, Marker),
    ],
)
def test_message_without_schema_that_is_not_a_row_is_read_as_without_the_transform(
    value: bytes, key: bytes | None, kind: type
) -> None:
    plain = Context(tables=ONE_TABLE.tables)
    (found,) = events(value, key, ONE_TABLE)
    assert isinstance(found, kind)
    assert [found] == events(value, key, plain)


@pytest.mark.parametrize(
    ("value", "key"),
    [
        (HEARTBEAT, None),
        (HEARTBEAT, b'{"ts_ms":5}'),
        (HEARTBEAT, b'{"serverName":"n","ts_ms":5}'),
        (BORDER, b'{"status":"END"}'),
        (BORDER, None),
        (BORDER[:-1] + b',"note":1}', b'{"id":"7:9"}'),
        (BORDER.replace(b',"data_collections":[]', b""), b'{"id":"7:9"}'),
        (LOGICAL.replace(b'"m"', b'"c"'), b'{"prefix":"p"}'),
        (LOGICAL.replace(b'{"prefix":"p","content":""}', b'"text"'), b'{"prefix":"p"}'),
        (b'{"source":"a","databaseName":1,"schemaName":1,"ddl":1,"tableChanges":1}', None),
    ],
)
def test_row_with_some_members_of_another_message_is_a_row(value: bytes, key: bytes | None) -> None:
    assert row(value, ONE_TABLE, key).op == "upsert"


def test_heartbeat_without_schema_and_with_a_text_key_is_a_row() -> None:
    context = Context({**UNWRAP.options, **TEXT_KEYS.options}, tables=ONE_TABLE.tables)
    assert row(HEARTBEAT, context, b"Struct{serverName=n}").op == "upsert"


@pytest.mark.parametrize("context", [UNWRAP, ONE_TABLE], ids=["no definition", "one definition"])
def test_schema_change_without_schema_is_not_a_row(context: Context) -> None:
    (event,) = debezium_json.FORMAT.to_events(KafkaMessage(None, SCHEMA_CHANGE), context=context)
    assert isinstance(event, SchemaChange)


def test_schema_change_without_source_is_refused_as_such() -> None:
    fields = b",".join(
        b'{"type":"string","optional":true,"field":"%s"}' % name
        for name in (b"databaseName", b"ddl")
    )
    value = (
        b'{"schema":{"type":"struct","fields":[%s],"optional":false,'
        b'"name":"io.debezium.connector.mysql.SchemaChangeValue"},'
        b'"payload":{"databaseName":"d","ddl":"DROP TABLE t"}}' % fields
    )
    with pytest.raises(DecodeError, match="a schema change without source"):
        list(debezium_json.FORMAT.to_events(KafkaMessage(None, value), context=ONE_TABLE))


@pytest.mark.parametrize("schemas", ["true", "false"])
@pytest.mark.parametrize(
    "event",
    [
        Progress("heartbeat", Position(sent_ms=1), {"source_name": "n"}),
        Marker("begin", "7", Position(sent_ms=1)),
        Marker("logical_message", "p", Position(commit_ms=1), {"content": "a"}),
    ],
    ids=lambda event: event.what,
)
def test_message_that_is_not_a_row_is_written_and_read_back(
    event: Progress | Marker, schemas: str
) -> None:
    options = {"transforms": "unwrap", "dialect": "debezium-3.2", "schemas-enable": schemas}
    context = Context(options)
    (message,) = debezium_json.from_events([event], context=context)
    assert list(debezium_json.FORMAT.encoder(context)([event])) == [message]
    (found,) = debezium_json.FORMAT.to_events(message, context=context)
    assert isinstance(found, (Progress, Marker))
    assert (found.what, type(found)) == (event.what, type(event))


ID = Column("id", IntType(32))
INSERT = RowChange(
    Table("t", "s", "d", columns=(ID,), key=("id",)),
    "insert",
    None,
    Image((ID,), (1,)),
    Position(commit_ms=1, sent_ms=1),
)


UPDATE = replace(INSERT, op="update", before=Image((ID,), (1,)))
DELETE = replace(INSERT, op="delete", before=INSERT.after, after=None)
TOMBSTONE = Marker("tombstone", extra={"message_key": b'{"id":1}'})
NULL = (b'{"id":1}', None)
SENT = (b'{"id":1}', b'{"id":1,"__deleted":"false"}')
GONE = (b'{"id":1}', b'{"id":1,"__deleted":"true"}')


def unwrapped(events: list[Event], **options: str) -> list[tuple[bytes | None, bytes | None]]:
    context = Context({"transforms": "unwrap", "schemas-enable": "false", **options})
    found = list(debezium_json.from_events(events, context=context))
    assert list(debezium_json.FORMAT.encoder(context)(events)) == found
    return [(each.key, each.value) for each in found if isinstance(each, KafkaMessage)]


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("tombstone", [NULL]),
        ("delete-to-tombstone", [NULL]),
        ("drop", []),
        ("rewrite", [GONE]),
        ("rewrite-with-tombstone", [GONE, NULL]),
    ],
)
def test_delete_has_the_form_of_the_mode(mode: str, expected: list[object]) -> None:
    options = {"delete-tombstone-handling-mode": mode}
    assert unwrapped([DELETE, TOMBSTONE], **options) == expected
    row = SENT if mode.startswith("rewrite") else (b'{"id":1}', b'{"id":1}')
    assert unwrapped([INSERT, UPDATE], **options) == [row, row]


def test_changed_key_is_written_as_two_rows() -> None:
    moved = replace(UPDATE, before=Image((ID,), (2,)))
    options = {"delete-tombstone-handling-mode": "rewrite-with-tombstone"}
    assert unwrapped([moved], **options) == [
        (b'{"id":2}', b'{"id":2,"__deleted":"true"}'),
        (b'{"id":2}', None),
        SENT,
    ]
    assert unwrapped([moved]) == [(b'{"id":2}', None), (b'{"id":1}', b'{"id":1}')]


def test_added_fields_are_those_of_the_settings_in_their_order() -> None:
    event = replace(INSERT, extra={"transaction_id": "7", "connector": "mysql", "ts_us": "1000"})
    event = replace(event, position=Position(commit_ms=5, sent_ms=1, pos=9))
    listed = "op:do,ts_us,source.ts_ms,pos,file,source.db,id,transaction.total_order"
    options = {"add-fields": listed, "add-fields-prefix": "x_", "dialect": "debezium-3.6"}
    assert unwrapped([event], **options) == [
        (
            b'{"id":1}',
            b'{"id":1,"x_do":"c","x_ts_us":1000,"x_source_ts_ms":5,"x_pos":9,"x_file":null,'
            b'"x_source_db":"s","x_id":"7","x_transaction_total_order":null}',
        )
    ]


def test_schema_of_a_row_by_itself_is_required_and_its_added_fields_are_not() -> None:
    options = {"add-fields": "op", "delete-tombstone-handling-mode": "rewrite"}
    ((_, value),) = unwrapped([INSERT], **options, **{"schemas-enable": "true"})
    assert value == (
        b'{"schema":{"type":"struct","fields":[{"type":"int32","optional":true,"field":"id"},'
        b'{"type":"string","optional":true,"field":"__deleted"},{"type":"string","optional":true,'
        b'"field":"__op"}],"optional":false,"name":"cdl.s.t.Value"},"payload":{"id":1,'
        b'"__deleted":"false","__op":"c"}}'
    )


@pytest.mark.parametrize("listed", ["nothing", "before.id", "source.nothing", "op:id"])
def test_added_field_that_a_change_lacks_or_a_column_has_is_refused(listed: str) -> None:
    with pytest.raises(EncodeError) as caught:
        unwrapped([INSERT], **{"add-fields": listed, "add-fields-prefix": ""})
    assert caught.value.clause == "debezium-json: unwrapped rows"


def test_truncate_is_dropped() -> None:
    truncate = SchemaChange("truncate", None, table=Table("t", "s"), position=INSERT.position)
    assert unwrapped([truncate]) == []


def test_what_is_added_comes_back_in_the_event() -> None:
    value = (
        b'{"id":1,"__op":"u","__table":"t","__db":"s","__version":"3.5.0.Final","__thread":4,'
        b'"__transaction_id":"0-1-2","__transaction_total_order":3}'
    )
    listed = "op,table,db,version,thread,transaction.id,transaction.total_order"
    options = {"connector": "mysql", "add-fields": listed, "dialect": "debezium-3.5"}
    context = Context({"transforms": "unwrap", "schemas-enable": "false", **options})
    message = KafkaMessage(b'{"id":1}', value)
    (event,) = debezium_json.FORMAT.to_events(message, context=context)
    assert event.position.tx_order == 3
    assert event.extra == {
        "connector_version": "3.5.0.Final",
        "thread": "4",
        "transaction_id": "0-1-2",
    }
    assert unwrapped([event], **options) == [(b'{"id":1}', value)]


@pytest.mark.parametrize(
    "event",
    [Progress("heartbeat", Position(sent_ms=1)), Marker("begin", "7", Position(sent_ms=1))],
    ids=lambda event: event.what,
)
def test_message_whose_text_key_does_not_distinguish_it_from_a_row_is_not_written(
    event: Progress | Marker,
) -> None:
    options = {**UNWRAP.options, **TEXT_KEYS.options, "schemas-enable": "false"}
    with pytest.raises(EncodeError, match="would be read as a row"):
        list(debezium_json.from_events([event], context=Context(options)))
