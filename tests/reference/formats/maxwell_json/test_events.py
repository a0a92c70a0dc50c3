"""Maxwell JSON as events and back, worked out by hand from docs/formats/maxwell-json.md."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from cdcwire.core.context import Context, Selection
from cdcwire.core.errors import DecodeError, EncodeError
from cdcwire.core.message import KafkaMessage
from cdcwire.core.options import OptionValue
from cdcwire.formats.maxwell_json import explain, from_events
from cdcwire.formats.maxwell_json.format import to_events
from cdcwire.model.events import (
    Event,
    Image,
    Marker,
    Op,
    Position,
    RowChange,
    SchemaChange,
    Table,
    path_text,
)
from cdcwire.model.kind_text import kind_text, parse_kind
from cdcwire.model.kinds import Column, IntType, TextType, Value

HEAD = '{"database":"s","table":"t","type":"%s","ts":2,"data":{%s}%s}'


def message(
    data: str, kind: str = "insert", more: str = "", key: bytes | None = None
) -> KafkaMessage:
    return KafkaMessage(key, (HEAD % (kind, data, more)).encode())


def definition(*kinds: str, key: tuple[str, ...] | None = None) -> Context:
    columns = tuple(Column(f"c{number}", parse_kind(kind)) for number, kind in enumerate(kinds))
    return Context(tables=(Table("t", "s", columns=columns, key=key),))


def row(sent: KafkaMessage, context: Context | None = None) -> RowChange:
    (event,) = to_events(sent, context=context or Context())
    assert isinstance(event, RowChange)
    return event


# ---- rows ------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [0, 1, 2, -128, 127])
def test_a_column_defined_as_boolean_has_any_number_of_eight_bits(number: int) -> None:
    sent = message(f'"c0":{number}')
    found = row(sent, definition("bool"))
    assert found.after is not None
    assert [kind_text(column.type) for column in found.after.columns] == ["int8"]
    assert found.after.values == (number,)
    assert type(found.after.values[0]) is int
    (encoded,) = from_events([found], context=definition("bool"))
    assert isinstance(encoded, KafkaMessage)
    assert row(encoded, definition("bool")).after == found.after


@pytest.mark.parametrize("number", [-129, 128])
def test_a_number_beyond_eight_bits_in_a_column_defined_as_boolean_is_rejected(number: int) -> None:
    with pytest.raises(DecodeError) as caught:
        list(to_events(message(f'"c0":{number}'), context=definition("bool")))
    assert caught.value.clause == "maxwell-json: numbers"
    assert caught.value.path[-1] == "c0"


@pytest.mark.parametrize("kind", ["unknown", "struct<wkb:bytes,srid:int32>", "array<int32>"])
def test_a_column_of_a_kind_that_maxwell_does_not_have_is_read_as_sent(kind: str) -> None:
    found = row(message('"c0":"POINT (1 2)"'), definition(kind))
    assert found.after is not None
    assert [column.type for column in found.after.columns] == [TextType()]
    assert found.after.values == ("POINT (1 2)",)


def bigint(source: str | None) -> Context:
    column = Column("c0", IntType(64), source)
    return Context(tables=(Table("t", "s", columns=(column,)),))


@pytest.mark.parametrize("source", [None, "int64"])
def test_a_number_beyond_int64_is_unsigned_where_a_feed_defined_the_column(
    source: str | None,
) -> None:
    found = row(message('"c0":18446744073709551615'), bigint(source))
    assert found.after is not None
    assert [column.type for column in found.after.columns] == [IntType(64, True)]
    assert found.after.values == (18446744073709551615,)
    with pytest.raises(DecodeError, match="is outside"):
        row(message('"c0":18446744073709551615'), bigint("bigint(20)"))


@pytest.mark.parametrize("kind", ["int32", "bit(1)", "year", "float32", "decimal(5,2)"])
@pytest.mark.parametrize(
    ("text", "name"),
    [("true", "true"), ("false", "false"), ("[1]", "an array"), ('{"a":1}', "an object")],
)
def test_error_in_a_numeric_column_names_what_was_sent(kind: str, text: str, name: str) -> None:
    with pytest.raises(DecodeError) as caught:
        list(to_events(message(f'"c0":{text}'), context=definition(kind)))
    assert caught.value.problem == f"{name} instead of a number"
    assert caught.value.path == ("data", "c0")
    assert caught.value.clause == "maxwell-json: numbers"


def test_update_without_definition_has_changed_columns_before_and_untyped_values_after() -> None:
    sent = message('"id":1,"m":5.444', "update", ',"old":{"m":4.2341},"xid":7,"commit":true')
    found = row(sent)
    assert (found.op, found.sent, found.extra) == ("update", "changed", {"commit": "true"})
    assert found.position == Position(tx_id="7", commit_ms=2000)
    assert found.before is not None
    assert found.after is not None
    assert dict(zip(found.before.names, found.before.values, strict=True)) == {
        "m": Decimal("4.2341")
    }
    assert found.after.values == (1, Decimal("5.444"))
    assert [kind_text(column.type) for column in found.after.columns] == ["int64", "decimal"]


def test_delete_has_its_row_before_and_bootstrap_rows_are_reads() -> None:
    deleted, read = row(message('"id":1', "delete")), row(message('"id":1', "bootstrap-insert"))
    assert (deleted.after, read.before, read.op) == (None, None, "read")
    assert deleted.before == read.after


def test_without_nulls_the_row_before_is_not_said_to_be_the_changed_columns() -> None:
    sent = message('"id":1', "update", ',"old":{}')
    assert row(sent, Context({"output_nulls": False})).sent is None


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("9223372036854775807", "int64", 2**63 - 1),
        ("9223372036854775808", "int64 unsigned", 2**63),
        ("18446744073709551616", "decimal", Decimal(2**64)),
        ("-9223372036854775809", "decimal", Decimal(-(2**63) - 1)),
        ("1.50", "decimal", Decimal("1.50")),
        ("1E4", "int64", 10000),
        ("1.2345678E7", "int64", 12345678),
        ("1.50E1", "decimal", Decimal("15.0")),
        ("0E-1", "decimal", Decimal("0.0")),
        ('"a"', "text", "a"),
        ("[1, 2]", "json", "[1, 2]"),
        ("true", "json", "true"),
        ("null", "unknown", None),
    ],
)
def test_json_gives_the_kind_without_definition(text: str, kind: str, value: object) -> None:
    after = row(message(f'"c0":{text}')).after
    assert after is not None
    assert (kind_text(after.columns[0].type), after.values) == (kind, (value,))


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("18446744073709551615", "int64 unsigned", 2**64 - 1),
        ("1.0E21", "float64", 1e21),
        ("0E-10", "decimal", Decimal("0E-10")),
        ('"AP8="', "bytes", b"\x00\xff"),
        ('"838:59:59"', "time", "838:59:59"),
        ('"0000-00-00"', "date", "0000-00-00"),
        ('"2026-10-20 21:33:54.500000"', "datetime(6)", "2026-10-20 21:33:54.500000"),
        ('["a","c"]', "set(a,b,c)", "a,c"),
        ('"b"', "enum(a,b)", "b"),
        ('{"a": [1,2]}', "json", '{"a": [1,2]}'),
        ("null", "json", None),
        ("2155", "year", 2155),
    ],
)
def test_definition_gives_the_kind(text: str, kind: str, value: object) -> None:
    after = row(message(f'"c0":{text}'), definition(kind)).after
    assert after is not None
    assert after.values == (value,)


@pytest.mark.parametrize(
    ("text", "kind", "clause"),
    [
        ("256", "int8 unsigned", "numbers"),
        ("1.0", "int32", "numbers"),
        ("2156", "year", "numbers"),
        ("1E400", "float64", "numbers"),
        ('"A"', "bytes", "binary values"),
        ('"24:00"', "time", "temporal values"),
        ("7", "text", "texts"),
        ('"a"', "set(a,b)", "enum and set values"),
    ],
)
def test_value_that_its_column_does_not_have_names_its_byte(
    text: str, kind: str, clause: str
) -> None:
    sent = message(f'"c0":{text}')
    with pytest.raises(DecodeError) as caught:
        row(sent, definition(kind))
    assert sent.value is not None
    assert caught.value.offset == sent.value.index(f":{text}}}".encode()) + 1
    assert path_text(caught.value.path) == "data.c0"
    assert caught.value.clause == f"maxwell-json: {clause}"
    assert str(explain(sent, context=definition(kind)).error) == str(caught.value)


def test_key_is_that_of_the_row_else_of_the_definition_else_of_kafka() -> None:
    kafka = b'{"database":"s","table":"t","pk.id":1}'
    named = message('"ID":1,"c0":2', more=',"primary_key_columns":["c0"]', key=kafka)
    assert row(named, definition("int32", key=())).table.key == ("c0",)
    plain = message('"ID":1,"c0":2', key=kafka)
    assert row(plain, definition("int32", key=())).table.key == ()
    assert row(plain).table.key == ("ID",)  # Kafka keys have names in lower case
    assert row(message('"ID":1')).table.key is None


def test_selection_leaves_out_tables_and_columns() -> None:
    sent = message('"a":1,"b":2')
    other = Selection(tables=frozenset({("s", "other")}))
    assert list(to_events(sent, context=Context(selection=other))) == []
    after = row(sent, Context(selection=Selection(columns=frozenset({"b"})))).after
    assert after is not None
    assert after.names == ("b",)


# ---- other events ----------------------------------------------------------------------------


def test_border_of_a_bootstrap_and_a_tombstone_are_markers() -> None:
    (start,) = to_events(message("", "bootstrap-start"))
    extra = {"message_type": "bootstrap-start", "schema": "s", "table": "t"}
    assert start == Marker("logical_message", None, Position(commit_ms=2000), extra)
    key = b'{"database":"s","table":"t","pk.id":1}'
    (tombstone,) = to_events(KafkaMessage(key, None))
    assert tombstone == Marker("tombstone", extra={"message_key": key})


def definition_text(name: str) -> str:
    columns = '[{"type":"int","name":"id","signed":false}]'
    return f'{{"database":"s","table":"{name}","columns":{columns},"primary-key":["id"]}}'


@pytest.mark.parametrize(("name", "what"), [("t", "alter"), ("u", "rename")])
def test_alter_whose_definitions_name_different_tables_is_a_rename(name: str, what: str) -> None:
    value = (
        f'{{"type":"table-alter","database":"s","table":"t","old":{definition_text("t")},'
        f'"def":{definition_text(name)},"ts":5,"sql":"x"}}'
    )
    (event,) = to_events(KafkaMessage(None, value.encode()))
    assert isinstance(event, SchemaChange)
    assert (event.what, event.query, event.position) == (what, "x", Position(commit_ms=5))
    assert event.table is not None
    assert (event.table.name, event.table.key) == (name, ("id",))
    assert event.table.columns is not None
    assert [kind_text(each.type) for each in event.table.columns] == ["int32 unsigned"]


# ---- writing ---------------------------------------------------------------------------------

ID, NOTE = Column("ID", IntType(32)), Column("note", TextType())


def image(*values: Value) -> Image:
    return Image((ID, NOTE), values)


def change(op: Op, before: Image | None, after: Image | None) -> RowChange:
    position = Position(commit_ms=2999, tx_id="7")
    return RowChange(Table("t", "s", key=("ID",)), op, before, after, position)


def sent(event: Event, **options: OptionValue) -> KafkaMessage:
    (found,) = from_events([event], context=Context(options))
    assert isinstance(found, KafkaMessage)
    return found


def test_update_has_the_old_values_of_changed_columns_and_loses_the_milliseconds() -> None:
    assert sent(change("update", image(1, "a"), image(1, None))) == KafkaMessage(
        None,
        b'{"database":"s","table":"t","type":"update","ts":2,"xid":7,'
        b'"data":{"ID":1,"note":null},"old":{"note":"a"}}',
    )


def test_options_write_keys_and_leave_out_nulls_and_transactions() -> None:
    found = sent(
        change("insert", None, image(1, None)),
        output_nulls=False,
        output_commit_info=False,
        output_primary_keys=True,
        output_primary_key_columns=True,
        kafka_key_format="array",
    )
    assert found == KafkaMessage(
        b'["s","t",[{"id":1}]]',
        b'{"database":"s","table":"t","type":"insert","ts":2,"primary_key":[1],'
        b'"primary_key_columns":["ID"],"data":{"ID":1}}',
    )


def test_row_whose_definition_has_another_key_needs_the_names_of_its_columns() -> None:
    event = change("insert", None, image(1, None))
    with pytest.raises(EncodeError, match="the table's definition has another key") as caught:
        list(from_events([event], context=definition("int32", key=())))
    assert path_text(caught.value.path) == "events[0].table.key"
    named = replace(definition("int32", key=()), options={"output_primary_key_columns": True})
    (found,) = from_events([event], context=named)
    assert found.value is not None
    assert b'"primary_key_columns":["ID"]' in found.value
    same = definition("int32", key=("ID",))
    assert list(from_events([event], context=same)) == [sent(event)]


def test_definition_without_key_needs_a_kafka_key() -> None:
    event = change("insert", None, image(1, None))
    with pytest.raises(EncodeError, match="another key"):
        list(from_events([event], context=definition("int32")))
    keyed = replace(definition("int32"), options={"kafka_key_format": "hash"})
    (found,) = from_events([event], context=keyed)
    assert isinstance(found, KafkaMessage)
    assert row(found, keyed).table.key == ("ID",)


@pytest.mark.parametrize(
    ("event", "path", "problem"),
    [
        (Marker("tombstone"), "events[0].kind", "only changes of rows"),
        (change("delete", None, None), "events[0].before", "delete needs before"),
    ],
)
def test_event_without_form_is_not_encoded(event: Event, path: str, problem: str) -> None:
    with pytest.raises(EncodeError, match=problem) as caught:
        sent(event)
    assert path_text(caught.value.path) == path
