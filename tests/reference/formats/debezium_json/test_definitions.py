"""Columns of messages without schema, with the types that a definition of their table gives."""

from __future__ import annotations

from typing import Any

import pytest

from cdcwire.core.errors import DecodeError
from cdcwire.core.format import Context
from cdcwire.core.message import KafkaMessage
from cdcwire.core.registry import get_format
from cdcwire.core.rows import event_of
from cdcwire.model import parse_kind
from cdcwire.model.events import Column, RowChange, Table

FORMAT = get_format("debezium-json")
SOURCES = {
    "mysql": '"connector":"mysql","db":"shop"',
    "postgresql": '"connector":"postgresql","db":"d","schema":"shop"',
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


@pytest.mark.parametrize(("text", "value"), [("true", 1), ("false", 0), ("1", 1), ("0", 0)])
def test_bit_of_length_1_is_sent_as_boolean(text: str, value: int) -> None:
    kind, found = read(text, defined("bit(1)"))
    assert (kind, found, type(found)) == ("BitType", value, int)


def test_bit_of_length_1_is_bytes_where_its_source_says_so() -> None:
    column = defined("bit(1)", "io.debezium.data.Bits")
    assert read('"AQ=="', column) == ("BitType", 1)
    assert_refused("true", column)


@pytest.mark.parametrize(("text", "value"), [("true", True), ("1", True), ("0", False)])
def test_boolean_is_sent_as_boolean_or_number(text: str, value: bool) -> None:
    assert read(text, defined("bool", "tinyint(1)")) == ("BoolType", value)


@pytest.mark.parametrize("text", ["2", "-1", "1.0", "-0", '"1"'])
def test_boolean_is_no_other_number_or_text(text: str) -> None:
    assert_refused(text, defined("bool", "tinyint(1)"))


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


DOUBTS = [
    ("time(3)", None, "postgresql", {}, True),
    ("time(0)", "time", "postgresql", {}, True),
    ("time(3)", None, "mysql", {}, False),
    ("time(6)", None, "postgresql", {}, False),
    ("time", None, "postgresql", {}, False),
    ("time(3)", "io.debezium.time.Time", "postgresql", {}, False),
    ("time(3)", "io.debezium.time.MicroTime", "postgresql", {}, False),
    ("time(3)", None, "postgresql", {"time-precision-mode": "connect"}, False),
]


@pytest.mark.parametrize(("kind", "source", "connector", "options", "is_warned"), DOUBTS)
def test_time_of_postgresql_without_unit_has_a_warning(
    kind: str, source: str | None, connector: str, options: dict[str, str], is_warned: bool
) -> None:
    sent, column = message("3600000", connector), defined(kind, source)
    assert read("3600000", column, connector, **options)[1] == 3600000
    warnings = FORMAT.explain(sent, context=context_of(column, **options)).warnings
    assert any("microseconds" in warning for warning in warnings) == is_warned
    if is_warned:
        context = context_of(column, lint="strict")
        decode = FORMAT.decoder(context)
        for _ in range(2):
            with pytest.raises(DecodeError):
                list(decode(sent))


def test_other_message_of_a_warned_table_stays_an_error_in_the_fast_decoder() -> None:
    context = context_of(defined("time(3)"), lint="strict")
    decode = FORMAT.decoder(context)
    for value in ("null", "3600000", "null"):
        with pytest.raises(DecodeError):
            list(decode(message(value, "postgresql")))
