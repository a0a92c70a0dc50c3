"""What a column has to tell before it has a field, and which DDL a selection of tables finds."""

from __future__ import annotations

from decimal import Decimal

import pytest

from cdcwire.apache_avro.schema import parse_schema
from cdcwire.core.context import Context, Selection
from cdcwire.core.errors import EncodeError
from cdcwire.core.message import KafkaMessage
from cdcwire.core.options import OptionValue
from cdcwire.formats.avro import FORMAT, MemorySource, read_settings, schema_text
from cdcwire.formats.avro.writing import messages_of
from cdcwire.model.events import Event, Image, Position, RowChange, SchemaChange, Table
from cdcwire.model.kinds import BitType, Column, DecimalType, Type, Value

AS_TEXT: dict[str, OptionValue] = {"avro-decimal-handling-mode": "string"}
ALL: dict[str, OptionValue] = {"enable-tidb-extension": True, "avro-enable-watermark": True}


def insert(kind: Type, value: Value, source: str | None = None) -> RowChange:
    image = Image((Column("c", kind, source, True),), (value,))
    return RowChange(Table("t", "test", key=()), "insert", None, image, Position(commit_ts=1))


def written(
    event: Event, options: dict[str, OptionValue] | None = None, *tables: Table
) -> tuple[KafkaMessage, MemorySource]:
    source = MemorySource()
    (message,) = messages_of([event], read_settings(options or {}), tables, source)
    return message, source


@pytest.mark.parametrize(
    ("kind", "source", "fits", "beyond"),
    [
        (BitType(4), "bit(4)", 15, 16),
        (BitType(4), None, 15, 16),
        (BitType(), "bit(9)", 511, 512),
        (BitType(), None, 1, 2),
        (BitType(64), "bit(64)", (1 << 64) - 1, 1 << 64),
    ],
)
@pytest.mark.parametrize("dialect", ["", "ticdc"])
def test_bit_beyond_its_column_is_refused(
    kind: Type, source: str | None, fits: int, beyond: int, dialect: str
) -> None:
    written(insert(kind, fits, source), {"dialect": dialect})
    with pytest.raises(EncodeError) as caught:
        written(insert(kind, beyond, source), {"dialect": dialect})
    assert caught.value.clause == "avro: bit values"
    assert caught.value.path == ("events", 0, "after", "c")


@pytest.mark.parametrize("value", [None, Decimal(0), Decimal("1.5")])
def test_decimal_of_unknown_scale_is_refused_as_bytes_only(value: Value) -> None:
    """Whatever its value is: the schema is the table's, not the row's."""
    with pytest.raises(EncodeError) as caught:
        written(insert(DecimalType(), value, "decimal"))
    assert caught.value.clause == "avro: decimal values"
    assert caught.value.path == ("events", 0, "after", "c")
    written(insert(DecimalType(), value, "decimal"), AS_TEXT)


def test_decimal_of_unknown_scale_takes_that_of_its_table() -> None:
    column = Column("c", DecimalType(10, 4), "decimal(10,4)", True)
    table = Table("t", "test", columns=(column,), key=())
    _, source = written(insert(DecimalType(), Decimal("1.5"), "decimal"), {}, table)
    (text,) = source.texts.values()
    assert '"precision":10,"scale":4' in schema_text(parse_schema(text))


@pytest.mark.parametrize(
    ("wanted", "is_found"),
    [
        (("test", "a.b"), True),
        (("test", "a_b"), True),
        (("test", "b"), False),
        ((None, "a.b"), False),
    ],
)
def test_ddl_of_a_table_that_is_not_wanted_is_left_out(
    wanted: tuple[str | None, str], is_found: bool
) -> None:
    """A table has the name of the database in a DDL, and that of its schema in rows."""
    change = SchemaChange("alter", "ALTER …", 5, Table("a.b", "test"), Position(commit_ts=1))
    message, _ = written(change, ALL)
    context = Context(ALL, selection=Selection(frozenset({wanted})))
    assert list(FORMAT.to_events(message, context=context)) == [change] * is_found


def test_ddl_of_a_schema_is_always_wanted() -> None:
    change = SchemaChange("query", "DROP …", 2, Table(None, "test"), Position(commit_ts=1))
    message, _ = written(change, ALL)
    context = Context(ALL, selection=Selection(frozenset()))
    assert len(list(FORMAT.to_events(message, context=context))) == 1
