"""TiCDC's Craft protocol as its proposal describes it; no producer writes it."""

from cdcwire.craft.message import SKIPPED, Column, Skipped
from cdcwire.craft_proposal.events import from_events, to_events
from cdcwire.craft_proposal.explain import explain
from cdcwire.craft_proposal.message import (
    ColumnGroup,
    DDLEvent,
    Event,
    Group,
    Message,
    ResolvedEvent,
    RowEvent,
    UnknownEvent,
    UnknownGroup,
    warnings_of,
)
from cdcwire.craft_proposal.wire import decode, encode

__all__ = [
    "SKIPPED",
    "Column",
    "ColumnGroup",
    "DDLEvent",
    "Event",
    "Group",
    "Message",
    "ResolvedEvent",
    "RowEvent",
    "Skipped",
    "UnknownEvent",
    "UnknownGroup",
    "decode",
    "encode",
    "explain",
    "from_events",
    "to_events",
    "warnings_of",
]
