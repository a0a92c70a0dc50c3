"""TiCDC's Craft protocol as shipped, wire version 1: many row changes in one binary Kafka value."""

from cdcwire.formats.craft.explain import explain
from cdcwire.formats.craft.format import FORMAT, from_events, to_events
from cdcwire.formats.craft.message import (
    SKIPPED,
    Column,
    ColumnGroup,
    DDLEvent,
    Event,
    Message,
    ResolvedEvent,
    RowEvent,
    Skipped,
)
from cdcwire.formats.craft.wire import decode, encode

__all__ = [
    "FORMAT",
    "SKIPPED",
    "Column",
    "ColumnGroup",
    "DDLEvent",
    "Event",
    "Message",
    "ResolvedEvent",
    "RowEvent",
    "Skipped",
    "decode",
    "encode",
    "explain",
    "from_events",
    "to_events",
]
