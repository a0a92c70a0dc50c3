"""Columns of messages without schema, with the types that a definition of their table gives."""

from __future__ import annotations

import json
from base64 import b64encode
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from cdcwire.connect.logical import image_of
from cdcwire.connect.schema import Field, Schema
from cdcwire.core.context import Context
from cdcwire.core.errors import DecodeError, EncodeError
from cdcwire.core.message import KafkaMessage
from cdcwire.core.rows import event_of
from cdcwire.model import parse_kind
from cdcwire.model.events import Image, Position, RowChange, Table
from cdcwire.model.kinds import UNAVAILABLE, Column
from cdcwire.registry import get_format

WORD = "__debezium_unavailable_value"
FORMAT = get_format("debezium-json")
SOURCES = {
    "mysql": '"connector":"mysql","db":"shop"',
    "postgresql": '"connector":"postgresql","db":"d","schema":"shop"',
    "sqlserver": '"connector":"sqlserver","db":"d","schema":"shop"',
    "other": '"connector":"other","db":"d","schema":"shop"',
}
ID = Column("id", parse_kind("int32"), None, False)


def defined(kind: str, source: str | None = None) -> Column:
    return Column("c", parse_kind(kind), source, True)


def message(value: str, connector: str) -> KafkaMessage:
    source = f'{{"version":"2.7.4.Final",{SOURCES[connector]},"name":"n","ts_ms":1,"table":"t"}}'
    row = f'{{"id":1,"c":{value}}}'
    text = f'{{"before":null,"after":{row},"source":{source},"op":"c","ts_ms":3}}'
    return KafkaMessage(b'{"id":1}', text.encode())


def context_of(column: Column, **options: str) -> Context:
    table = Table("t", "shop", columns=(ID, column), key=("id",))
    return Context(options=options, tables=(table,))


def read(value: str, column: Column, connector: str = "mysql", **options: str) -> tuple[str, Any]:
    """Return kind and value of the column, which both decoders and explain agree on."""
    sent, context = message(value, connector), context_of(column, **options)
    (event,) = FORMAT.to_events(sent, context=context)
    decode = FORMAT.decoder(context)
    for _ in range(3):  # the fast decoder learns a table from its first message
        assert [event_of(each) for each in decode(sent)] == [event]
    assert FORMAT.explain(sent, context=context).error is None
    assert isinstance(event, RowChange)
    assert event.after is not None
    (found,) = (each for each in event.after.columns if each.name == "c")
    return type(found.type).__name__, event.after["c"]


def assert_refused(value: str, column: Column, connector: str = "mysql", **options: str) -> None:
    sent, context = message(value, connector), context_of(column, **options)
    with pytest.raises(DecodeError) as caught:
        list(FORMAT.to_events(sent, context=context))
    assert caught.value.path == ("value", "after", "c")


def problem_of(value: str, column: Column, **options: str) -> str:
    """Return why a value is refused."""
    with pytest.raises(DecodeError) as caught:
        list(FORMAT.to_events(message(value, "mysql"), context=context_of(column, **options)))
    return caught.value.problem


# Type, type of the source, text of the message; kind and value that are read.
READ: tuple[tuple[str, str | None, str, str, Any], ...] = (
    *(("bit(1)", None, text, "BitType", 1) for text in ("true", "1")),
    *(("bit(1)", None, text, "BitType", 0) for text in ("false", "0")),
    ("bit(1)", "io.debezium.data.Bits", '"AQ=="', "BitType", 1),
    ("bit(3)", None, '"Bw=="', "BitType", 7),
    *(("bool", "tinyint(1)", text, "BoolType", True) for text in ("true", "1")),
    ("bool", "tinyint(1)", "0", "BoolType", False),
    *(("bool", "tinyint(1)", str(number), "IntType", number) for number in (2, -128, 127)),
    ("int8 unsigned", None, "255", "IntType", 255),
    ("int24 unsigned", None, "16777215", "IntType", 16777215),
    ("int32 unsigned", None, "4294967295", "IntType", 4294967295),
    ("int64 unsigned", None, "0", "IntType", 0),
    ("int64 unsigned", None, "9223372036854775807", "IntType", 2**63 - 1),
    ("int64 unsigned", None, "-1", "IntType", 2**64 - 1),  # bigint.unsigned.handling.mode long
    ("int64 unsigned", None, "-9223372036854775808", "IntType", 2**63),
    ("int64 unsigned", None, "18446744073709551615", "IntType", 2**64 - 1),
    ("int64 unsigned", None, '"AP//////////"', "IntType", 2**64 - 1),  # precise
    ("decimal(3,1)", None, '"A+c="', "DecimalType", Decimal("99.9")),
    ("decimal(3,1)", None, '"/Bk="', "DecimalType", Decimal("-99.9")),
    ("decimal(20,2)", None, '"AeI="', "DecimalType", Decimal("4.82")),
    ("decimal(20,2)", None, '"1234.50"', "DecimalType", Decimal("1234.50")),
    ("decimal(20,2)", None, '"-12"', "DecimalType", Decimal("-12")),
    ("decimal(20,2)", None, "12.5", "DecimalType", Decimal("12.50")),
    ("vector", None, "[1.0,2.5]", "ArrayType", (1.0, 2.5)),
)


@pytest.mark.parametrize(("kind", "source", "text", "found", "value"), READ)
def test_value_is_read_by_its_definition(
    kind: str, source: str | None, text: str, found: str, value: Any
) -> None:
    assert repr(read(text, defined(kind, source))) == repr((found, value))


REFUSED: tuple[tuple[str, str | None, str], ...] = (
    ("bit(1)", "io.debezium.data.Bits", "true"),
    ("bit(3)", None, '"CA=="'),
    *(("bool", None, text) for text in ("2", "-1", "1.0", "-0", '"1"')),
    *(("bool", "tinyint(1)", text) for text in ("128", "-129", "1.0", '"1"')),
    ("int8 unsigned", None, "300"),
    ("int8 unsigned", None, "-1"),
    ("int16 unsigned", None, "65536"),
    ("int24", None, "8388608"),
    ("int24 unsigned", None, "16777216"),
    ("int32 unsigned", None, "4294967296"),
    ("int64 unsigned", None, "18446744073709551616"),
    ("int64 unsigned", None, '"/w=="'),  # -1 as a Decimal
    ("decimal(3,1)", None, '"A+g="'),  # 100.0
    ("decimal(3,1)", None, "100.0"),
    ("decimal(3,1)", None, '"100.0"'),
    ("decimal(3,1)", None, '"1.25"'),
)


@pytest.mark.parametrize(("kind", "source", "text"), REFUSED)
def test_value_that_its_definition_can_not_hold_is_refused(
    kind: str, source: str | None, text: str
) -> None:
    assert_refused(text, defined(kind, source))


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        (r'"{\"k\":\"v\"}"', "JsonType", '{"k":"v"}'),
        ('{"k":"v","n":null}', "MapType", (("k", "v"), ("n", None))),
        ("{}", "MapType", ()),
        (f'{{"{WORD}":"{WORD}"}}', "MapType", UNAVAILABLE),
        ("null", "JsonType", None),
    ],
)
def test_hstore_is_sent_as_text_of_json_or_as_a_map(text: str, kind: str, value: Any) -> None:
    assert read(text, defined("json", "hstore"), "postgresql") == (kind, value)


@pytest.mark.parametrize(
    ("text", "source"),
    [('{"k":1}', "hstore"), ('{"k":{}}', "hstore"), ("[]", "hstore"), ('{"k":"v"}', "jsonb")],
)
def test_json_is_sent_as_text_except_a_map_of_texts(text: str, source: str) -> None:
    assert_refused(text, defined("json", source), "postgresql")


def test_digits_that_are_base64_too_are_refused_until_the_mode_is_known() -> None:
    column = defined("decimal(12,0)")
    assert_refused('"1234"', column)
    assert_refused('"12345678"', column, **{"decimal-handling-mode": "precise"})
    found = read('"1234"', column, **{"decimal-handling-mode": "precise"})
    assert found == ("DecimalType", Decimal(-2658824))  # d7 6d f8
    assert read('"12345678"', column, **{"decimal-handling-mode": "string"}) == (
        "DecimalType",
        Decimal("12345678"),
    )


@pytest.mark.parametrize(
    ("mode", "text"),
    [("hex", '"00fF"'), ("base64", '"AP8="'), ("base64-url-safe", '"AP8="'), ("bytes", '"AP8="')],
)
def test_bytes_are_read_in_the_mode_of_the_option(mode: str, text: str) -> None:
    column = defined("bytes")
    assert read(text, column, **{"binary-handling-mode": mode}) == ("BytesType", b"\x00\xff")


@pytest.mark.parametrize(
    ("mode", "text"),
    [("hex", "00ff"), ("base64", "AP8="), ("base64-url-safe", "AP8="), ("bytes", "AP8=")],
)
def test_bytes_of_an_array_are_read_in_the_mode_of_the_option(mode: str, text: str) -> None:
    column, options = defined("array<bytes>"), {"binary-handling-mode": mode}
    found = read(f'["{text}",null,""]', column, "postgresql", **options)
    assert found == ("ArrayType", (b"\x00\xff", None, b""))


@pytest.mark.parametrize(
    ("mode", "text"),
    [
        ("hex", WORD.encode().hex()),
        ("hex", WORD),
        ("base64", b64encode(WORD.encode()).decode()),
        ("bytes", b64encode(WORD.encode()).decode()),
    ],
)
def test_placeholder_in_the_binary_mode_is_unavailable(mode: str, text: str) -> None:
    found = read(f'"{text}"', defined("bytes"), "postgresql", **{"binary-handling-mode": mode})
    assert found[1] is UNAVAILABLE


@pytest.mark.parametrize(("mode", "text"), [("hex", '"0g"'), ("hex", '"abc"'), ("base64", '"A"')])
def test_text_that_is_not_in_the_binary_mode_is_refused(mode: str, text: str) -> None:
    assert_refused(text, defined("bytes"), **{"binary-handling-mode": mode})


@pytest.mark.parametrize(
    ("kind", "text", "problem"),
    [
        ("bytes(4)", "deadbeef", "6 bytes does not fit bytes(4), as defined"),
        ("bytes(3)", "deadbe", "the text is not base64 of the standard alphabet with padding"),
        ("bytes", "0", "the text is not base64 of the standard alphabet with padding"),
        ("bytes", "-_8=", "the text is not base64 of the standard alphabet with padding"),
    ],
)
def test_text_in_another_mode_of_bytes_names_the_setting(
    kind: str, text: str, problem: str
) -> None:
    """Hexadecimal digits are base64 too, and so give more bytes than a BINARY has."""
    assert problem_of(f'"{text}"', defined(kind)) == f"{problem}; check binary-handling-mode"


def test_text_of_bytes_that_is_read_in_its_mode_fits_its_length() -> None:
    hexadecimal = {"binary-handling-mode": "hex"}
    assert read('"deadbeef"', defined("bytes(4)"), **hexadecimal)[1] == b"\xde\xad\xbe\xef"
    assert read('"3q2+7w=="', defined("bytes(4)"))[1] == b"\xde\xad\xbe\xef"
    assert read(f'"{WORD}"', defined("bytes(4)"), "postgresql", **hexadecimal)[1] is UNAVAILABLE
    problem = "5 bytes does not fit bytes(4), as defined; check binary-handling-mode"
    assert problem_of('"deadbeef00"', defined("bytes(4)"), **hexadecimal) == problem


def test_bits_that_are_not_base64_name_no_setting_of_others() -> None:
    found = problem_of('"?"', defined("bit(4)"))
    assert found == "the text is not base64 of the standard alphabet with padding"


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ('{"wkb":"AQE=","srid":null}', {"wkb": b"\x01\x01", "srid": None}),
        ('{"x":1.0,"y":-2.5,"wkb":"AQE=","srid":4326}', {"x": 1, "y": -2.5, "wkb": b"\x01\x01"}),
    ],
)
def test_spatial_column_of_a_definition_is_a_struct(text: str, fields: dict[str, Any]) -> None:
    kind, value = read(text, defined("unknown", "geometry"))
    assert kind == "StructType"
    found = dict(zip(value.names, value.values, strict=True))
    assert {name: found[name] for name in fields} == fields


@pytest.mark.parametrize(
    ("text", "value"), [("-1.50", Decimal("-1.50")), ("NAN", "NAN"), ("0", Decimal(0))]
)
def test_decimal_of_the_mode_string_is_a_decimal(text: str, value: Any) -> None:
    kind, found = read(f'"{text}"', defined("decimal(10,2)"), **{"decimal-handling-mode": "string"})
    assert (kind, found) == ("DecimalType", value)


@pytest.mark.parametrize("text", ["z8c=", "1.005", "123456789.00"])
def test_text_that_is_no_such_decimal_names_the_setting(text: str) -> None:
    options = {"decimal-handling-mode": "string"}
    with pytest.raises(DecodeError, match="check decimal-handling-mode"):
        read(f'"{text}"', defined("decimal(10,2)"), **options)


def test_wrapped_unsigned_integer_comes_back_without_schema() -> None:
    sent, context = message("-1", "mysql"), context_of(defined("int64 unsigned", "bigint unsigned"))
    (event,) = FORMAT.to_events(sent, context=context)
    assert isinstance(event, RowChange)
    assert event.after is not None
    assert event.after["c"] == (1 << 64) - 1
    event = replace(event, position=Position(commit_ms=1, sent_ms=2, file="f", pos=1))
    context = replace(context, options={"schemas-enable": "false"})
    (back,) = FORMAT.from_events([event], context=context)
    assert isinstance(back, KafkaMessage)
    assert json.loads(back.value or b"")["after"]["c"] == -1


@pytest.mark.parametrize(
    ("kind", "source", "text", "written"),
    [
        ("unknown", "polygon", "null", "io.debezium.data.geometry.Geometry"),
        ("unknown", "point", "null", "io.debezium.data.geometry.Point"),
        ("text", "uuid", '"123e4567-e89b-12d3-a456-426614174000"', "io.debezium.data.Uuid"),
        ("text", "xml", '"<a/>"', "io.debezium.data.Xml"),
        ("json", "json", '"[1]"', "io.debezium.data.Json"),
        ("float32", "float(7,3)", "1234.5670166015625", "double"),  # as MariaDB's 3.5.0 sends it
        ("float32", "float", "0.1", "float"),
    ],
)
def test_definition_gives_the_schema_that_the_connector_writes(
    kind: str, source: str, text: str, written: str
) -> None:
    sent, context = message(text, "mysql"), context_of(defined(kind, source))
    (event,) = FORMAT.to_events(sent, context=context)
    assert isinstance(event, RowChange)
    event = replace(event, position=Position(commit_ms=1, sent_ms=2, file="f", pos=1))
    (back,) = FORMAT.from_events([event], context=Context())
    assert isinstance(back, KafkaMessage)
    found = json.loads(back.value or b"")
    (schema,) = (f for f in found["schema"]["fields"][1]["fields"] if f["field"] == "c")
    assert schema.get("name", schema["type"]) == written
    assert found["payload"]["after"]["c"] == json.loads(text)


def test_source_type_of_a_schema_undoes_the_wrap() -> None:
    parameters = (("__debezium.source.column.type", "BIGINT UNSIGNED"),)
    schema = Schema("struct", fields=(Field("v", Schema("int64", parameters=parameters)),))
    image = image_of(schema, (-1,), "")
    assert image["v"] == 2**64 - 1
    assert image.columns[0].type == parse_kind("int64 unsigned")


def test_boolean_of_an_unwrapped_row_is_sent_as_number() -> None:
    context = context_of(defined("bool"), transforms="unwrap")
    (event,) = FORMAT.to_events(KafkaMessage(b'{"id":1}', b'{"id":1,"c":1}'), context=context)
    assert isinstance(event, RowChange)
    assert event.after is not None
    assert event.after["c"] is True


@pytest.mark.parametrize("kind", ["bit(1)", "bool"])
def test_written_boolean_comes_back(kind: str) -> None:
    column = defined(kind)
    context = context_of(column, **{"schemas-enable": "false"})
    (event,) = FORMAT.to_events(message("true", "postgresql"), context=context)
    (written,) = FORMAT.from_events([event], context=context)
    assert isinstance(written, KafkaMessage)
    assert written.value is not None
    assert b'"after":{"id":1,"c":true}' in written.value
    (again,) = FORMAT.to_events(written, context=context)
    assert isinstance(again, RowChange)
    assert isinstance(event, RowChange)
    assert again.after == event.after


@pytest.mark.parametrize("source", [None, "timestamp(6)", "io.debezium.time.ZonedTimestamp"])
def test_timestamp_is_an_instant(source: str | None) -> None:
    column = defined("timestamp(6)", source)
    found = read('"2024-02-29T12:34:56.5Z"', column)
    assert found == ("TimestampType", "2024-02-29 12:34:56.5")
    assert read('"-infinity"', column) == ("TimestampType", "-infinity")
    for value in ("1709210096000", "true", '"noon"', '"2024-02-30T12:34:56Z"'):
        assert_refused(value, column)


def test_timestamp_without_offset_stays_text_unless_its_source_says_otherwise() -> None:
    text = '"2024-02-29 12:34:56"'
    assert read(text, defined("timestamp")) == ("TextType", text[1:-1])
    assert_refused(text, defined("timestamp", "io.debezium.time.ZonedTimestamp"))


def test_timestamp_of_an_unwrapped_row_is_an_instant() -> None:
    context = context_of(defined("timestamp"), transforms="unwrap")
    value = b'{"id":1,"c":"2024-02-29T12:34:56Z"}'
    (event,) = FORMAT.to_events(KafkaMessage(b'{"id":1}', value), context=context)
    assert isinstance(event, RowChange)
    assert event.after is not None
    assert event.after["c"] == "2024-02-29 12:34:56"


FORMS = [  # of what a definition has: the count of the wire keeps its unit
    ("time(3)", "io.debezium.time.Time", "ms"),
    ("time(3)", "io.debezium.time.MicroTime", "us"),
    ("time(6)", "org.apache.kafka.connect.data.Time", "ms"),
    ("datetime", "io.debezium.time.Timestamp", "ms"),
    ("datetime(3)", "io.debezium.time.MicroTimestamp", "us"),
    ("datetime(3)", "io.debezium.time.NanoTimestamp", "ns"),
]


@pytest.mark.parametrize(("kind", "source", "unit"), FORMS)
def test_source_of_a_definition_says_the_unit(kind: str, source: str, unit: str) -> None:
    column = defined(kind, source)
    context = context_of(column)
    (event,) = FORMAT.to_events(message("3600000", "postgresql"), context=context)
    assert isinstance(event, RowChange)
    assert event.after is not None
    (found,) = (each for each in event.after.columns if each.name == "c")
    assert (getattr(found.type, "form", None), found.source) == (unit, source)
    assert read("3600000", column, "postgresql")[1] == 3600000


def test_mode_for_times_wins_over_the_source_of_a_definition() -> None:
    column = defined("time(3)", "io.debezium.time.MicroTime")
    mode = {"time-precision-mode": "connect"}
    assert read("3600000", column, "postgresql", **mode) == ("TimeType", 3600000)
    assert_refused("86400001", column, "postgresql", **mode)  # no millisecond of a day


UNITS = [  # the unit of 3600000
    ("time(3)", None, "postgresql", {}, "ms"),
    ("time(0)", "time", "postgresql", {}, "ms"),
    ("time(3)", None, "sqlserver", {}, "ms"),
    ("time(3)", None, "mysql", {}, "us"),
    ("time(3)", None, "other", {}, "us"),
    ("time(4)", None, "postgresql", {}, "us"),
    ("time", None, "postgresql", {}, "us"),
    ("time(7)", None, "sqlserver", {}, "ns"),
    ("time(3)", "io.debezium.time.MicroTime", "postgresql", {}, "us"),
    ("time(3)", "io.debezium.time.Time", "mysql", {}, "ms"),
    ("time(3)", None, "postgresql", {"time-precision-mode": "microseconds"}, "us"),
    (
        *("time(3)", None, "postgresql"),
        *({"time-precision-mode": "adaptive_time_microseconds"}, "us"),
    ),
    ("time(6)", None, "postgresql", {"time-precision-mode": "connect"}, "ms"),
    ("datetime(3)", None, "postgresql", {}, "ms"),
    ("datetime(4)", None, "postgresql", {}, "us"),
    ("datetime", None, "postgresql", {}, "us"),
    ("datetime(3)", None, "mysql", {}, "ms"),
    ("datetime(7)", None, "sqlserver", {}, "ns"),
]


@pytest.mark.parametrize(("kind", "source", "connector", "options", "unit"), UNITS)
def test_unit_of_a_time_follows_from_connector_and_digits(
    kind: str, source: str | None, connector: str, options: dict[str, str], unit: str
) -> None:
    column = defined(kind, source)
    assert read("3600000", column, connector, **options)[1] == 3600000
    context = context_of(column, **options)
    (event,) = FORMAT.to_events(message("3600000", connector), context=context)
    assert isinstance(event, RowChange)
    assert event.after is not None
    (found,) = (each for each in event.after.columns if each.name == "c")
    assert getattr(found.type, "form", None) == unit


def test_times_of_two_connectors_in_one_feed_keep_their_units() -> None:
    decode = FORMAT.decoder(context_of(defined("time(3)")))
    forms = []
    for connector in ("postgresql", "mysql") * 3:
        for each in decode(message("3600000", connector)):
            event = event_of(each)
            assert isinstance(event, RowChange)
            assert event.after is not None
            forms += [getattr(c.type, "form", None) for c in event.after.columns if c.name == "c"]
    assert forms == ["ms", "us"] * 3


def test_unit_of_an_unwrapped_time_follows_from_the_connector() -> None:
    key, column = b'{"id":1}', defined("time(3)")
    for value, named, unit in (
        (b'{"id":1,"c":5}', "postgresql", "ms"),
        (b'{"id":1,"c":5}', "mysql", "us"),
        (b'{"id":1,"c":5,"__connector":"mysql"}', "postgresql", "us"),
        (b'{"id":1,"c":5,"__source_connector":"sqlserver"}', "mysql", "ms"),
    ):
        context = context_of(column, transforms="unwrap", connector=named)
        (event,) = FORMAT.to_events(KafkaMessage(key, value), context=context)
        assert isinstance(event, RowChange)
        assert event.after is not None
        (found,) = (each for each in event.after.columns if each.name == "c")
        assert getattr(found.type, "form", None) == unit


WRITTEN = [  # 01:00:00.5
    ("time(3)", "postgresql", "false", b'"c":3600500}'),
    ("time(3)", "mysql", "false", b'"c":3600500000}'),
    ("time(3)", "postgresql", "auto", b'"c":3600500000}'),  # its schema has the unit
    ("time(6)", "postgresql", "false", b'"c":3600500000}'),
    ("time(7)", "sqlserver", "false", b'"c":3600500000000}'),
]


@pytest.mark.parametrize(("kind", "connector", "schemas", "written"), WRITTEN)
def test_time_is_written_in_the_unit_that_is_read(
    kind: str, connector: str, schemas: str, written: bytes
) -> None:
    column = defined(kind)
    context = context_of(column, connector=connector, **{"schemas-enable": schemas})
    (sent,) = messages_of("01:00:00.5", column, context)
    assert isinstance(sent, KafkaMessage)
    assert sent.value is not None
    assert written in sent.value


def test_time_beyond_32_bits_of_milliseconds_is_refused() -> None:
    column = defined("time(3)")
    off = {"schemas-enable": "false"}
    context = context_of(column, connector="postgresql", **off)
    with pytest.raises(EncodeError) as caught:
        messages_of("838:59:59", column, context)
    assert caught.value.path[-1] == "c"
    assert messages_of("838:59:59", column, context_of(column, connector="mysql", **off))


def messages_of(value: str, column: Column, context: Context) -> list[object]:
    (table,) = context.tables
    after = Image((ID, column), (1, value))
    position = Position(commit_ms=1, lsn=1, tx_id="1", change_lsn="1", file="f.1", pos=4, row=0)
    change = RowChange(replace(table, columns=None), "insert", None, after, position)
    return list(FORMAT.from_events([change], context=context))
