"""What the generators know of datahub-tuple."""

from __future__ import annotations

from dataclasses import replace

from cdcwire.model.events import Column, RowChange, Table, Value
from cdcwire.model.kinds import (
    BitType,
    BoolType,
    BytesType,
    DecimalType,
    FloatType,
    IntType,
    TextType,
    TimestampType,
    Type,
    YearType,
)
from cdcwire_generators.datahub import COMPRESSIONS, DATAHUB_FEED, UTC, DataHubRoundTrip, text_type
from cdcwire_generators.formats import FormatGenerators
from cdcwire_generators.round_trip import NotCarriedError

# Microseconds of a Tuple's TIMESTAMP: from 0000-12-31 16:00:00 to 9999-12-31 15:59:59.
_TIMESTAMPS = range(-62135798400000000, 253402271999000000 + 1)


class TupleRoundTrip(DataHubRoundTrip):
    """A Tuple topic: its columns are those of the definition, and so is the key."""

    def _row(self, event: RowChange) -> RowChange:
        if not event.table.name:
            raise NotCarriedError("table")
        return super()._row(event)

    def _column(self, column: Column, table: Table) -> Column:
        source, kind = self._kind(column.type)
        return Column(column.name, kind, source, column.nullable, roles=column.roles)

    def _kind(self, kind: Type) -> tuple[str, Type]:
        return tuple_type(kind)

    def _value(self, column: Column, value: Value) -> Value:
        if value is None and column.nullable is False:
            raise NotCarriedError("NULL")
        found = super()._value(column, value)
        is_instant = isinstance(column.type, TimestampType) and isinstance(found, int)
        if is_instant and found not in _TIMESTAMPS:
            raise NotCarriedError("timestamp with zone")
        return found


def tuple_type(kind: Type) -> tuple[str, Type]:
    """Return the type of a Tuple topic that holds values of a kind, and its own kind."""
    match kind:
        case IntType(64, True):
            return "STRING", TextType()
        case IntType(bits, unsigned):
            return _INTEGERS[min(width for width in _INTEGERS if width >= bits + unsigned)]
        case YearType():
            return _INTEGERS[32]
        case BitType(int() as length) if length < 64:
            return _INTEGERS[64]
        case FloatType(bits):
            return "FLOAT" if bits == 32 else "DOUBLE", kind
        case BoolType():
            return "BOOLEAN", kind
        case DecimalType():
            return "DECIMAL", DecimalType()
        case BytesType():
            return "STRING", kind  # the definition knows that it is base64
        case TimestampType(zone=str()):
            return "TIMESTAMP", TimestampType(form="us", zone=UTC)
        case _:
            return text_type(kind)


_INTEGERS: dict[int, tuple[str, Type]] = {
    8: ("TINYINT", IntType(8)),
    16: ("SMALLINT", IntType(16)),
    32: ("INTEGER", IntType(32)),
    64: ("BIGINT", IntType(64)),
}


GENERATORS = FormatGenerators(
    feed=replace(DATAHUB_FEED, has_one_table=True),
    round_trip=TupleRoundTrip,
    option_values=COMPRESSIONS,
)
