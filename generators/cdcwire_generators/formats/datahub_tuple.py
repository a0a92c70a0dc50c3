"""The generators' facts about datahub-tuple."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

from cdcwire.model import kinds
from cdcwire.model.events import RowChange, Table
from cdcwire.model.kinds import Column, Value
from cdcwire_generators.datahub import (
    BODIES,
    COMPRESSIONS,
    DATAHUB_FEED,
    UTC,
    DataHubRoundTrip,
    text_type,
)
from cdcwire_generators.formats import FormatGenerators
from cdcwire_generators.round_trip import NotCarriedError
from cdcwire_generators.samples import has_kinds, has_options, never

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

    def _kind(self, kind: kinds.Type) -> tuple[str, kinds.Type]:
        return tuple_type(kind)

    def _value(self, column: Column, value: Value) -> Value:
        if value is None and column.nullable is False:
            raise NotCarriedError("NULL")
        found = super()._value(column, value)
        is_instant = isinstance(column.type, kinds.TimestampType) and isinstance(found, int)
        if is_instant and found not in _TIMESTAMPS:
            raise NotCarriedError("timestamp with zone")
        return found


def tuple_type(kind: kinds.Type) -> tuple[str, kinds.Type]:
    """Return the type of a Tuple topic that holds values of a kind, and its own kind."""
    match kind:
        case kinds.IntType(64, True):
            return "STRING", kinds.TextType()
        case kinds.IntType(bits, unsigned):
            return _INTEGERS[min(width for width in _INTEGERS if width >= bits + unsigned)]
        case kinds.YearType():
            return _INTEGERS[32]
        case kinds.BitType(int() as length) if length < 64:
            return _INTEGERS[64]
        case kinds.FloatType(bits):
            return "FLOAT" if bits == 32 else "DOUBLE", kind
        case kinds.BoolType():
            return "BOOLEAN", kind
        case kinds.DecimalType():
            return "DECIMAL", kinds.DecimalType()
        case kinds.BytesType():
            return "STRING", kind  # the definition knows that it is base64
        case kinds.TimestampType(zone=str()):
            return "TIMESTAMP", kinds.TimestampType(form="us", zone=UTC)
        case _:
            return text_type(kind)


_INTEGERS: dict[int, tuple[str, kinds.Type]] = {
    8: ("TINYINT", kinds.IntType(8)),
    16: ("SMALLINT", kinds.IntType(16)),
    32: ("INTEGER", kinds.IntType(32)),
    64: ("BIGINT", kinds.IntType(64)),
}


GENERATORS = FormatGenerators(
    feed=replace(DATAHUB_FEED, has_one_table=True),
    round_trip=TupleRoundTrip,
    option_values=COMPRESSIONS,
    features=MappingProxyType(
        {
            **BODIES,
            "short records": never,
            "small integers": has_kinds("int8", "int16", "int32"),
            "bigint": has_kinds("int64"),
            "boolean": has_kinds("bool"),
            "json bodies": has_options("encoding", (None, "auto", "json")),
        }
    ),
)
