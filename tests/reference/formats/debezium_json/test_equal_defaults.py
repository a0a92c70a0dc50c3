"""Defaults that are equal as numbers, and are written differently."""

from __future__ import annotations

from decimal import Decimal

from cdcwire import connect
from cdcwire.connect.logical import columns_of
from cdcwire.core.context import Context
from cdcwire.model.events import Image, Position, RowChange, Table
from cdcwire.model.kinds import Column, DecimalType
from cdcwire.registry import get_format


def test_each_column_keeps_its_own_default() -> None:
    """1.0 does not stand for 1.00, though one comes right after the other."""
    found = []
    for text in ("1.0", "1.00"):
        column = Column("c", DecimalType(), nullable=True, default=Decimal(text))
        image = Image((column,), (None,))
        event = RowChange(Table("t", "s", key=()), "insert", None, image, Position(commit_ms=1))
        context = Context({"dialect": "debezium-2.7"})
        (message,) = get_format("debezium-json").from_events([event], context=context)
        schema = connect.decode(message.value or b"").schema
        assert schema is not None
        row = next(field.schema for field in schema.fields if field.name == "after")
        found.append(row.fields[0].schema.default)
    assert found == [(1, b"\x0a"), (2, b"\x64")]


def test_schemas_whose_defaults_are_zeros_of_two_signs_are_two() -> None:
    found = []
    for text in ("0.0", "-0.0"):
        schema = f'{{"type":"double","optional":true,"default":{text}}}'
        row = f'{{"type":"struct","fields":[{schema[:-1]},"field":"c"}}],"optional":false}}'
        message = f'{{"schema":{row},"payload":{{"c":null}}}}'.encode()
        envelope = connect.decode(message)
        assert connect.encode(envelope) == message
        assert envelope.schema is not None
        found.append(repr(columns_of(envelope.schema)[0].default))
    assert found == ["0.0", "-0.0"]
