"""TiCDC's Craft protocol as shipped, wire version 1: many row changes in one binary Kafka value."""

from cdcwire.core.exports import exports

TYPE_CHECKING = False  # as in typing, which takes longer to import than this package
if TYPE_CHECKING:
    from cdcwire.formats.craft.format import FORMAT, explain, from_events, to_events
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
else:
    __getattr__, __dir__ = exports(__name__, ".message", ".wire", ".format")

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
