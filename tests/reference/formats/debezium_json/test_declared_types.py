"""Types that tableChanges declares, by the tables of types in Debezium's documents."""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal

import pytest

from cdcwire.connect.definitions import defined_struct
from cdcwire.connect.style import Style
from cdcwire.core.context import Context
from cdcwire.core.errors import DecodeError
from cdcwire.core.message import KafkaMessage
from cdcwire.core.rows import event_of
from cdcwire.debezium.connectors import DB2, INFORMIX, MYSQL, ORACLE, SQLSERVER, source_of
from cdcwire.debezium.schema_changes import declared_column, has_own_types
from cdcwire.formats.debezium_json.format import FORMAT
from cdcwire.model.events import RowChange, Table
from cdcwire.model.kind_text import kind_text
from cdcwire.model.kinds import Column, DecimalType

TIME = "io.debezium.time."


@pytest.mark.parametrize(
    ("name", "length", "scale", "kind", "source"),
    [
        ("tinyint", None, None, "int8 unsigned", "tinyint"),
        ("int identity", None, None, "int32", "int identity"),
        ("bit", None, None, "bool", "bit"),
        ("float", None, None, "float64", "float"),
        ("money", None, None, "decimal(19,4)", "money"),
        ("decimal", 38, 10, "decimal(38,10)", "decimal"),
        ("nvarchar", 20, None, "text", "nvarchar"),
        ("timestamp", None, None, "bytes", "timestamp"),
        ("time", 16, 3, "time(3)", f"{TIME}Time"),
        ("time", 16, None, "time(7)", f"{TIME}NanoTime"),
        ("datetime2", 27, 6, "datetime(6)", f"{TIME}MicroTimestamp"),
        ("datetime2", 27, 7, "datetime(7)", f"{TIME}NanoTimestamp"),
        ("datetime", None, None, "datetime(3)", f"{TIME}Timestamp"),
        ("hierarchyid", None, None, "unknown", "hierarchyid"),
    ],
)
def test_types_of_sql_server(
    name: str, length: int | None, scale: int | None, kind: str, source: str
) -> None:
    found = declared_column(SQLSERVER, "c", name, length, scale)
    assert (kind_text(found.type), found.source) == (kind, source)


@pytest.mark.parametrize(
    ("name", "length", "scale", "kind"),
    [
        ("NUMBER", None, None, "decimal"),
        ("NUMBER", 1, 0, "int8"),
        ("NUMBER", 4, 0, "int16"),
        ("NUMBER", 9, 0, "int32"),
        ("NUMBER", 18, 0, "int64"),
        ("NUMBER", 19, 0, "decimal(19,0)"),
        ("NUMBER", 6, -2, "int32"),
        ("NUMBER", 20, -2, "decimal(20,-2)"),
        ("NUMBER", 10, 2, "decimal(10,2)"),
        ("FLOAT", 126, None, "decimal"),
        ("INTEGER", None, None, "decimal(38,0)"),
        ("DATE", None, None, "datetime(0)"),
        ("TIMESTAMP(9)", None, None, "datetime(9)"),
        ("TIMESTAMP", 6, None, "datetime(6)"),
        ("TIMESTAMP(6) WITH TIME ZONE", 6, None, "timestamp"),
        ("TIMESTAMP(6) WITH LOCAL TIME ZONE", 6, None, "timestamp"),
        ("INTERVAL YEAR(2) TO MONTH", None, None, "interval"),
        ("NVARCHAR2", 20, None, "text"),
        ("RAW", 10, None, "bytes"),
        ("BFILE", None, None, "unknown"),
    ],
)
def test_types_of_oracle(name: str, length: int | None, scale: int | None, kind: str) -> None:
    assert kind_text(declared_column(ORACLE, "c", name, length, scale).type) == kind


@pytest.mark.parametrize(
    ("name", "scale", "kind"),
    [
        ("VARCHAR", None, "text"),
        ("CHAR () FOR BIT DATA", None, "bytes"),
        ("TIMESTAMP", 12, "datetime(12)"),
        ("TIME", None, "time(0)"),
        ("DOUBLE", None, "float64"),
        ("DECFLOAT", None, "decimal"),
    ],
)
def test_types_of_db2(name: str, scale: int | None, kind: str) -> None:
    assert kind_text(declared_column(DB2, "c", name, None, scale).type) == kind


@pytest.mark.parametrize(
    ("name", "length", "scale", "kind"),
    [
        ("serial", 10, 0, "int32"),
        ("int8", 19, 0, "int64"),
        ("bigserial", 19, 0, "int64"),
        ("smallfloat", 7, None, "float32"),
        ("decimal", 20, 5, "decimal(20,5)"),
        ("decimal", 16, 255, "decimal"),
        ("money", 16, 2, "decimal(16,2)"),
        ("lvarchar", 2048, None, "text"),
        ("datetime year to second", 19, None, "datetime(0)"),
        ("datetime year to fraction(5)", 25, None, "datetime(5)"),
        ("datetime hour to second", 8, None, "time(0)"),
        ("interval day(5) to second", None, None, "interval"),
    ],
)
def test_types_of_informix(name: str, length: int | None, scale: int | None, kind: str) -> None:
    assert kind_text(declared_column(INFORMIX, "c", name, length, scale).type) == kind


def test_types_of_mysql_are_read_as_mysql_declares_them() -> None:
    assert not has_own_types(MYSQL)


def of_row(connector: str, text: str) -> tuple[KafkaMessage, Context]:
    """Return a message without schema, and the definition that ``tableChanges`` gives."""
    source = {"version": "3.6.1.Final", "connector": connector, "name": "n", "ts_ms": 1, "db": "d"}
    value = {"before": None, "after": {"n": None}, "source": source, "op": "c", "ts_ms": 2}
    source |= {"schema": "s", "table": "t"}
    sent = json.dumps(value).replace('"n": null', f'"n": {text}')
    column = declared_column(source_of(connector), "n", "NUMERIC", 9, 0)
    table = Table("t", "s", "d", columns=(replace(column, nullable=True),), key=())
    options = {"schemas-enable": "false", "decimal-handling-mode": "string"}
    return KafkaMessage(None, sent.encode()), Context(options, tables=(table,))


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [("7", "int32", 7), ('"7"', "int32", 7), ('"-7"', "int32", -7), ("7.0", "float64", 7.0)],
)
def test_integer_of_oracle_is_sent_in_the_mode_of_decimals(
    text: str, kind: str, value: float
) -> None:
    message, context = of_row("oracle", text)
    decode = FORMAT.decoder(context)
    for _ in range(3):
        (row,) = decode(message)
        event = event_of(row)
        assert isinstance(event, RowChange)
        assert event.after is not None
        assert (event.after["n"], kind_text(event.after.columns[0].type)) == (value, kind)
        (written,) = FORMAT.from_events([event], context=context)
        assert isinstance(written, KafkaMessage)
        assert f'"after":{{"n":{text}}}'.encode() in (written.value or b"")


@pytest.mark.parametrize("text", ['"x"', '"1.5"', '"2147483648"', '""', "true"])
def test_text_that_is_not_an_integer_of_the_definition_is_refused(text: str) -> None:
    message, context = of_row("oracle", text)
    with pytest.raises(DecodeError) as caught:
        list(FORMAT.to_events(message, context=context))
    assert caught.value.path == ("value", "after", "n")
    with pytest.raises(DecodeError):
        list(FORMAT.decoder(context)(message))


def test_time_of_seven_digits_is_in_microseconds_in_their_mode() -> None:
    column = declared_column(SQLSERVER, "c", "time", 16, 7)
    style = Style("debezium", times="adaptive_time_microseconds")
    assert defined_struct((column,), style).fields[0].schema.name == f"{TIME}MicroTime"


@pytest.mark.parametrize(
    ("version", "sent"), [("1.4.2.Final", "1E-7"), ("1.9.8.Final", "0.0000001")]
)
@pytest.mark.parametrize("mode", ["auto", "string"])
def test_small_decimal_has_an_exponent_before_1_9(version: str, sent: str, mode: str) -> None:
    """BigDecimal's toString became toPlainString then (DBZ-4730)."""
    message, context = of_row("sqlserver", f'"{sent}"')
    value = (message.value or b"").replace(b"3.6.1.Final", version.encode())
    column = Column("n", DecimalType(38, 30), "decimal", nullable=True)
    tables = tuple(replace(table, columns=(column,)) for table in context.tables)
    context = Context({**context.options, "decimal-handling-mode": mode}, tables=tables)
    decode = FORMAT.decoder(context)
    for _ in range(3):
        (row,) = decode(KafkaMessage(None, value))
        event = event_of(row)
        assert isinstance(event, RowChange)
        assert event.after is not None
        assert event.after["n"] == Decimal("0.0000001")
        texts = Context({**context.options, "decimal-handling-mode": "string"}, tables=tables)
        (written,) = FORMAT.from_events([event], context=texts)
        assert isinstance(written, KafkaMessage)
        assert f'"after":{{"n":"{sent}"}}'.encode() in (written.value or b"")
        assert list(FORMAT.encoder(texts)([event])) == [written]
