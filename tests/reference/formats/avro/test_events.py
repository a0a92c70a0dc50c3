"""Messages to events and back: operations, keys, test messages, registries, damage."""

from __future__ import annotations

import struct
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from cdcwire.core.context import Context
from cdcwire.core.errors import DecodeError, EncodeError, TruncatedError
from cdcwire.core.message import KafkaMessage, StoredFile
from cdcwire.core.options import OptionValue
from cdcwire.core.rows import event_of
from cdcwire.formats.avro import (
    FORMAT,
    DeletedAt,
    Labels,
    MemorySource,
    Message,
    decode,
    encode,
    read_settings,
    verify_checksum,
)
from cdcwire.formats.avro.events import events_of
from cdcwire.formats.avro.message import Datums
from cdcwire.formats.avro.wire import read_bytes
from cdcwire.formats.avro.writing import messages_of
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
from cdcwire.model.kinds import (
    UNAVAILABLE,
    BitType,
    Column,
    EnumType,
    FloatType,
    IntType,
    Role,
    SetType,
    Value,
)
from cdcwire.mysql.declared import parse_declared, type_of_declared

EXTENSION: dict[str, OptionValue] = {"enable-tidb-extension": True}
TEXTS: dict[str, OptionValue] = {
    **EXTENSION,
    "avro-decimal-handling-mode": "string",
    "avro-bigint-unsigned-handling-mode": "string",
}
CHECKED: dict[str, OptionValue] = {**TEXTS, "integrity": True}
TS = 450000000000000001


def column(name: str, source: str, nullable: bool = True, *roles: Role, number: int = 0) -> Column:
    kind = type_of_declared(parse_declared(source))
    return Column(name, kind, source, nullable, roles=frozenset(roles), id=number or None)


ID = column("id", "int", False, "primary", "handle", number=1)
COLUMNS = (
    ID,
    column("name", "varchar(20)", number=2),
    column("price", "decimal(6,2)", number=3),
    column("big", "bigint unsigned", number=4),
    column("f", "float", number=5),
    column("e", "enum('a','b,c')", number=6),
    column("s", "set('x','y')", number=7),
    column("b", "bit(10)", number=8),
    column("at", "timestamp", number=9),
    column("raw", "varbinary(9)", number=10),
    column("y", "year", number=11),
    column("u", "int unsigned", number=12),
    column("v", "vector", number=13),
)
VALUES: tuple[Value, ...] = (
    *(1, "ä", Decimal("1.50"), 2**64 - 1, 0.5, "b,c", "x,y", 5, "2024-01-02 03:04:05"),
    *(b"\0\xff", 2024, 2**32 - 1, (1.0, -2.5)),
)
LABELLED = tuple(
    replace(each, type=replace(each.type, form="label"))
    if isinstance(each.type, (EnumType, SetType))
    else each
    for each in COLUMNS
)
TABLE = Table("t", "shop", columns=LABELLED, key=("id",))


def row(op: Any = "insert", values: tuple[Value, ...] = VALUES, **more: Any) -> RowChange:
    image = Image(LABELLED, values)
    before, after = (image, None) if op == "delete" else (None, image)
    position = more.pop("position", Position(commit_ts=TS))
    return RowChange(Table("t", "shop", key=("id",)), op, before, after, position, **more)


def sent(event: Event, **options: OptionValue) -> tuple[KafkaMessage, Context]:
    given = {name.replace("_", "-"): value for name, value in options.items()}
    settings, source = read_settings(given), MemorySource(registry=_registry(given))
    (message,) = messages_of([event], settings, (), source)
    return message, Context(options=given, schemas=source.texts)


def _registry(options: dict[str, OptionValue]) -> Any:
    return options.get("registry", "confluent")


def back(message: KafkaMessage, context: Context) -> Event:
    (event,) = FORMAT.to_events(message, context=context)
    return event


@pytest.mark.parametrize("options", [{}, EXTENSION, TEXTS, CHECKED, {"registry": "glue"}])
def test_row_comes_back(options: dict[str, OptionValue]) -> None:
    message, context = sent(row(), **options)
    found = back(message, context)
    assert isinstance(found, RowChange)
    assert found.after is not None
    assert found.after.values == VALUES
    assert found.after.names == tuple(each.name for each in COLUMNS)
    assert found.op == ("insert" if options.get("enable-tidb-extension") else "upsert")
    assert found.table == Table("t", "shop", key=("id",))
    assert list(FORMAT.from_events([row()], context=context)) == [message]


def test_options_of_a_set_come_back_in_the_order_in_which_they_were_sent() -> None:
    values = tuple("y,x" if value == "x,y" else value for value in VALUES)
    found = back(*sent(row(values=values)))
    assert isinstance(found, RowChange)
    assert found.after is not None
    assert found.after.values == values


@pytest.mark.parametrize("number", range(1, len(COLUMNS)))
def test_null_comes_back(number: int) -> None:
    values = tuple(None if index == number else each for index, each in enumerate(VALUES))
    found = back(*sent(row(values=values)))
    assert isinstance(found, RowChange)
    assert found.after is not None
    assert found.after.values == values


def test_kinds_are_those_that_the_schema_tells() -> None:
    found = back(*sent(row()))
    assert isinstance(found, RowChange)
    assert found.after is not None
    kinds = {each.name: (each.type, each.source) for each in found.after.columns}
    assert kinds["id"] == (IntType(32), "INT")
    assert kinds["u"] == (IntType(32, True), "INT UNSIGNED")
    assert kinds["big"] == (IntType(64, True), "BIGINT UNSIGNED")
    assert kinds["e"] == (EnumType(("a", "b,c"), "label"), "ENUM")
    assert kinds["b"] == (BitType(10), "BIT")
    assert kinds["f"] == (FloatType(32), "FLOAT")
    assert found.after.columns[0].roles == {"handle"}
    assert [each.nullable for each in found.after.columns[:2]] == [False, True]


def test_delete_has_the_key_only() -> None:
    message, context = sent(row("delete"), **EXTENSION)
    assert message.value is None
    found = back(message, context)
    assert isinstance(found, RowChange)
    assert (found.op, found.after, found.sent) == ("delete", None, "key")
    assert found.position == Position()
    assert found.before is not None
    assert found.before.values == (1,)
    assert list(context.schemas) == ["1"]


def test_update_of_a_key_becomes_delete_and_insert() -> None:
    old, new = (Image(LABELLED, (number, *VALUES[1:])) for number in (1, 2))
    update = replace(row("update"), before=old, after=new)
    settings, source = read_settings(EXTENSION), MemorySource()
    delete, insert = messages_of([update], settings, (), source)
    decoded = [
        events_of(read_bytes(each.key, each.value, source, settings), settings)[0]
        for each in (delete, insert)
    ]
    assert [each.op for each in decoded if isinstance(each, RowChange)] == ["delete", "insert"]


def test_update_of_a_unique_column_is_split_too() -> None:
    columns = (ID, column("mail", "varchar(9)", True, "unique"))
    old, new = Image(columns, (1, "a")), Image(columns, (1, "b"))
    table = Table("t", "s", key=("id",))
    update = RowChange(table, "update", old, new, Position(commit_ts=1))
    assert len(list(messages_of([update]))) == 2
    same = replace(update, after=Image(columns, (1, "a")))
    assert len(list(messages_of([same]))) == 1


def test_update_comes_back_without_the_old_row() -> None:
    update = replace(row("update"), before=Image(LABELLED, VALUES))
    found = back(*sent(update, **EXTENSION))
    assert isinstance(found, RowChange)
    assert (found.op, found.before) == ("update", None)


def test_row_without_key_has_a_null_key() -> None:
    event = replace(row(), table=Table("t", "shop", key=()))
    message, context = sent(event)
    assert message.key is None
    found = back(message, context)
    assert isinstance(found, RowChange)
    assert found.table.key == ()
    with pytest.raises(EncodeError) as caught:
        sent(replace(row("delete"), table=Table("t", "shop", key=())))
    assert caught.value.clause == "avro: key record"


def test_schemas_come_before_the_first_message_that_needs_them() -> None:
    messages = list(FORMAT.from_events([row(), row()], context=Context()))
    files, kafka = messages[:2], messages[2:]
    assert [file.path for file in files if isinstance(file, StoredFile)] == [
        "schemas/1.avsc",
        "schemas/2.avsc",
    ]
    assert all(isinstance(message, KafkaMessage) for message in kafka)
    known = FORMAT.prepared(messages, Context())
    assert known.schemas == sent(row())[1].schemas
    assert [
        event for message in messages for event in FORMAT.to_events(message, context=known)
    ] == [back(*sent(row()))] * 2
    assert (
        list(FORMAT.from_events([row()], context=known)) == kafka[:1]
    )  # known schemas are not sent again


def test_ids_are_given_by_text_and_then_by_number() -> None:
    _, context = sent(row())

    def heads(schemas: dict[str, str]) -> list[str]:
        *_, message = FORMAT.from_events([row()], context=Context(schemas=schemas))
        assert isinstance(message, KafkaMessage)
        return [(message.key or b"")[:5].hex(), (message.value or b"")[:5].hex()]

    assert heads({"7": context.schemas["2"]}) == ["0000000001", "0000000007"]
    spaced = context.schemas["2"].replace('","', '", "')
    assert heads({"9": spaced, "1": "<html>"}) == ["0000000002", "0000000009"]


def test_definition_completes_a_row_of_another_format() -> None:
    plain = tuple(Column(each.name, each.type) for each in LABELLED)
    event = replace(row(), after=Image(tuple(reversed(plain)), tuple(reversed(VALUES))))
    expected, context = sent(row(), **EXTENSION)
    (found,) = FORMAT.from_events([event], context=replace(context, tables=(TABLE,)))
    assert found == expected
    sanitized = replace(TABLE, schema="shop", name="t")
    (again,) = FORMAT.from_events([event], context=replace(context, tables=(sanitized,)))
    assert again == expected


def test_virtual_columns_are_left_out() -> None:
    virtual = replace(column("virt", "int"), roles=frozenset({"generated", "virtual"}))
    event = row()
    image = Image((*LABELLED, virtual), (*VALUES, 1))
    assert sent(replace(event, after=image))[0] == sent(event)[0]


def test_options_of_enums_are_taken_from_definitions_first() -> None:
    columns = (ID, Column("e", EnumType(("it''s", "b")), "enum('it''''s','b')", True))
    event = RowChange(
        Table("t", "s", key=("id",)), "insert", None, Image(columns, (1, 1)), Position(commit_ts=1)
    )
    message, context = sent(event)
    defined = (Table("t", "s", columns=columns),)
    for tables, labels in (((), ("it's", "b")), (defined, ("it''s", "b"))):
        found = back(message, replace(context, tables=tables))
        assert isinstance(found, RowChange)
        assert found.after is not None
        assert found.after.columns[1].type == EnumType(labels, "label")
        assert found.after.values == (1, "it''s")


def test_unsigned_long_may_stay_negative() -> None:
    message, context = sent(row())
    found = back(message, replace(context, options={"unsigned-wrap": False}))
    assert isinstance(found, RowChange)
    assert found.after is not None
    assert found.after["big"] == -1
    assert found.after.columns[3].type == IntType(64)


def test_dialects_come_back_equal() -> None:
    message, context = sent(row(), dialect="float-as-double,ticdc,shipped")
    assert b"\x04\x00\x05" in (message.value or b"")
    found = back(message, context)
    assert isinstance(found, RowChange)
    assert found.after is not None
    assert found.after.values == VALUES


def test_ill_formed_text_is_carried() -> None:
    columns = (ID, column("name", "varchar(20)"))
    event = replace(row(), after=Image(columns, (1, b"\xff")))
    found = back(*sent(event))
    assert isinstance(found, RowChange)
    assert found.after is not None
    assert found.after.values == (1, b"\xff")


# Test messages.

WATERMARK: dict[str, OptionValue] = {**EXTENSION, "avro-enable-watermark": True}
DDL = SchemaChange("alter", "ALTER <t>", 5, Table("t", "s"), Position(commit_ts=TS))
CHECKPOINT = Progress("checkpoint", Position(commit_ts=TS))


def test_ddl_and_checkpoint_are_sent_only_if_asked_for() -> None:
    for options in ({}, {"avro-enable-watermark": True}, EXTENSION):
        assert list(FORMAT.from_events([DDL, CHECKPOINT], context=Context(options=options))) == []
    ddl, checkpoint = FORMAT.from_events([DDL, CHECKPOINT], context=Context(options=WATERMARK))
    assert ddl.value == (
        b'\x01{"query":"ALTER \\u003ct\\u003e","type":5,"schema":"s","table":"t",'
        b'"commitTs":450000000000000001}'
    )
    assert checkpoint.value == b"\x02" + TS.to_bytes(8, "big")
    assert [back(each, Context()) for each in (ddl, checkpoint)] == [DDL, CHECKPOINT]  # type: ignore[arg-type]  # both are


def test_marker_and_other_progress_are_refused() -> None:
    for event in (Marker("begin"), Progress("resolved", Position(commit_ts=1))):
        with pytest.raises(EncodeError) as caught:
            list(FORMAT.from_events([event], context=Context(options=WATERMARK)))
        assert caught.value.path[:2] == ("events", 0)


def test_delete_may_tell_its_timestamp() -> None:
    message, context = sent(row("delete"))
    source = MemorySource(context.schemas)
    value = b"\x03" + TS.to_bytes(8, "big")
    decoded = decode(value, key=message.key, source=source)
    assert decoded.value == DeletedAt(TS)
    assert encode(decoded) == (message.key, value)
    found = events_of(decoded)[0]
    assert found == replace(back(message, context), position=Position(commit_ts=TS))


def test_short_glue_envelope_is_not_a_delete() -> None:
    message, context = sent(row(), registry="glue")
    with pytest.raises(TruncatedError) as caught:
        back(KafkaMessage(message.key, (message.value or b"")[:9]), context)
    assert (caught.value.offset, caught.value.path[0]) == (9, "value")


def test_row_with_its_old_values_is_read() -> None:
    fields = (
        '{"name":"id","type":{"type":"int","connect.parameters":{"tidb_type":"INT"}}},'
        '{"name":"name","type":["null",{"type":"string","connect.parameters":{"tidb_type":"TEXT"}}]}'
    )
    text = (
        f'{{"type":"record","name":"t","namespace":"default.s","fields":[{fields},'
        '{"name":"_ticdc_before","default":null,"type":["null",{"type":"record",'
        f'"name":"t_before","fields":[{fields}]}}]}},{{"name":"_tidb_op","type":"string"}}]}}'
    )
    key_text = text.partition(',{"name":"name"')[0] + "]}"
    context = Context(schemas={"1": key_text, "2": text})
    key, head = bytes.fromhex("000000000102"), bytes.fromhex("0000000002")

    def read(body: str) -> RowChange:
        found = back(KafkaMessage(key, head + bytes.fromhex(body)), context)
        assert isinstance(found, RowChange)
        return found

    update = read("0202026202" + "02020261" + "0275")
    assert (update.op, update.after and update.after.values) == ("update", (1, "b"))
    assert update.before is not None
    assert update.before.values == (1, "a")
    insert = read("02020262" + "00" + "0263")
    assert (insert.op, insert.before) == ("insert", None)
    delete = read("02020261" + "00" + "0264")
    assert (delete.op, delete.before and delete.before.values) == ("delete", (1, "a"))


# Checksums.


def test_checksum_is_that_of_the_values() -> None:
    columns = (
        ID,
        column("name", "varchar(9)", number=2),
        column("d", "decimal(6,2)", number=3),
        column("big", "bigint unsigned", number=4),
        column("e", "enum('a','b')", number=5),
        column("f", "float", number=6),
        column("n", "int", number=7),
        column("v", "vector", number=8),
    )
    values = (-1, "ab", Decimal("1.5"), 2**64 - 1, 2, 0.5, None, (1.0, -2.5))
    event = replace(row(), after=Image(columns, values))
    message, context = sent(event, **CHECKED)
    import zlib

    data = struct.pack("<q", -1) + struct.pack("<I", 2) + b"ab" + struct.pack("<I", 4) + b"1.50"
    data += struct.pack("<Q", 2**64 - 1) + struct.pack("<Q", 2) + struct.pack("<d", 0.5)
    data += struct.pack("<I2f", 2, 1.0, -2.5)
    found = back(message, context)
    assert isinstance(found, RowChange)
    assert found.extra == {
        "checksum": str(zlib.crc32(data)),
        "corrupted": "false",
        "checksum_version": "1",
    }
    defined = replace(context, tables=(Table("t", "shop", columns=columns),))
    assert list(FORMAT.from_events([found], context=defined)) == [message]
    assert _verified(message, context) is True
    lie = replace(event, extra={**found.extra, "checksum": "1"})
    (lying,) = FORMAT.from_events([lie], context=context)
    assert isinstance(lying, KafkaMessage)
    assert _verified(lying, context) is False
    assert FORMAT.explain(lying, context=context).warnings
    (zero,) = FORMAT.from_events([replace(event, extra={"checksum": "0"})], context=context)
    assert isinstance(zero, KafkaMessage)
    assert _verified(zero, context) is None  # TiDB wrote the row without a checksum
    (empty,) = FORMAT.from_events([replace(event, extra={"checksum": ""})], context=context)
    assert isinstance(empty, KafkaMessage)
    assert (empty.value or b"").endswith(bytes.fromhex("000000"))
    assert _verified(empty, context) is None


def _verified(message: KafkaMessage, context: Context) -> bool | None:
    settings = read_settings(context)
    value = read_bytes(message.key, message.value, MemorySource(context.schemas), settings).value
    assert isinstance(value, Datums)
    return verify_checksum(value, settings.time_zone)


@pytest.mark.parametrize("way", ["plain", "fast"])
def test_checksum_has_32_bits(way: str) -> None:
    largest = {"checksum": "4294967295", "corrupted": "false", "checksum_version": "1"}
    message, context = sent(replace(row(), extra=largest), **CHECKED)
    decoder = FORMAT.decoder(context)

    def read(one: KafkaMessage) -> list[Event]:
        if way == "plain":
            return list(FORMAT.to_events(one, context=context))
        return [event_of(found) for found in decoder(one)]

    (found,) = read(message)
    assert isinstance(found, RowChange)
    assert found.extra == largest
    beyond = (message.value or b"").replace(b"4294967295", b"4294967296")
    with pytest.raises(DecodeError, match="'4294967296', not a number of 32 bits") as caught:
        read(KafkaMessage(message.key, beyond))
    assert caught.value.path == ("value", "_tidb_row_level_checksum")


@pytest.mark.parametrize("text", ["4294967296", "05", "-1", "x"])
def test_checksum_that_would_not_be_read_back_is_refused(text: str) -> None:
    event = replace(row(), extra={"checksum": text})
    context = Context(options=CHECKED)
    for encoded in (
        FORMAT.from_events([event], context=context),
        FORMAT.encoder(context)([event]),
    ):
        with pytest.raises(EncodeError, match="not a number of 32 bits") as caught:
            list(encoded)
        assert caught.value.path[-2:] == ("extra", "checksum")


def test_checksum_takes_timestamps_in_utc() -> None:
    columns = (ID, column("at", "timestamp", number=2))
    found = []
    for zone, text in (("+08:00", "2024-01-02 08:00:00"), ("+00:00", "2024-01-02 00:00:00")):
        event = replace(row(), after=Image(columns, (1, text)))
        decoded = back(*sent(event, **CHECKED, **{"time-zone": zone}))
        assert isinstance(decoded, RowChange)
        found.append(decoded.extra["checksum"])
    assert found[0] == found[1]


# What is refused.

REFUSED: dict[str, tuple[Event, dict[str, OptionValue], str]] = {
    "read": (row("read"), {}, "avro: messages"),
    "half": (row("update", half="after"), {}, "avro: messages"),
    "upsert with extension": (row("upsert"), EXTENSION, "avro: extension fields"),
    "no commit_ts": (row(position=Position()), EXTENSION, "avro: extension fields"),
    "changed columns": (row("update", sent="changed"), {}, "avro: value record"),
    "no table": (replace(row(), table=Table(None, "s", key=())), {}, "avro: names"),
    "too large": (row(), {"max-message-bytes": 50}, "avro: message size"),
    # 36 bytes of the record, an envelope of 5 and the key 1 in one byte.
    "delete too large": (row("delete"), {"max-message-bytes": 41}, "avro: message size"),
    "key that is not there": (
        replace(row(), table=Table("t", "s", key=("other",))),
        {},
        "avro: key record",
    ),
    "null of NOT NULL": (row(values=(None, *VALUES[1:])), {}, "avro: null and defaults"),
    "enum beyond": (
        row(values=(*VALUES[:5], "z", *VALUES[6:])),
        {},
        "avro: enum and set values",
    ),
    "bit beyond": (row(values=(*VALUES[:7], 2**64, *VALUES[8:])), {}, "avro: bit values"),
    "unavailable": (row(values=(1, UNAVAILABLE, *VALUES[2:])), {}, "avro: text values"),
    "fraction beyond": (
        row(values=(1, "a", Decimal("1.234"), *VALUES[3:])),
        {},
        "avro: decimal values",
    ),
}


@pytest.mark.parametrize(("event", "options", "clause"), REFUSED.values(), ids=REFUSED)
def test_event_is_refused(event: Event, options: dict[str, OptionValue], clause: str) -> None:
    context = Context(options=options)
    with pytest.raises(EncodeError) as caught:
        list(FORMAT.from_events([event], context=context))
    assert caught.value.clause == clause
    assert caught.value.path[:2] == ("events", 0)
    with pytest.raises(EncodeError) as fast:
        list(FORMAT.encoder(context)([event]))
    assert str(fast.value) == str(caught.value)


def test_delete_as_large_as_allowed_is_written() -> None:
    context = Context(options={"max-message-bytes": 42})
    messages = list(FORMAT.from_events([row("delete")], context=context))
    assert [m.value for m in messages if isinstance(m, KafkaMessage)] == [None]


def test_enum_index_zero_is_refused() -> None:
    event = replace(row(), after=Image((ID, COLUMNS[5]), (1, 0)))
    with pytest.raises(EncodeError) as caught:
        sent(event)
    assert caught.value.path == ("events", 0, "after", "e")


def test_stored_file_is_not_a_message() -> None:
    with pytest.raises(DecodeError, match="is a"):
        list(FORMAT.to_events(StoredFile("a", b""), context=Context()))


def test_labels_of_two_tables_that_share_a_name_are_left_out() -> None:
    tables = (
        Table("t-a", "s", columns=(Column("e", EnumType(("a",))),)),
        Table("t_a", "s", columns=(Column("e", EnumType(("b",))),)),
    )
    assert Labels(tables).of("s", "t_a", "e") is None
    assert Message(None, None).value is None
