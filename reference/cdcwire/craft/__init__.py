"""TiCDC's Craft protocol as shipped, wire version 1: many row changes in one binary Kafka value."""

from cdcwire.craft.events import from_events, to_events
from cdcwire.craft.explain import explain
from cdcwire.craft.message import (
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
from cdcwire.craft.wire import decode, encode

__all__ = [
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
