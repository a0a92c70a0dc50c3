"""TiCDC's Craft protocol as its proposal describes it; no producer writes it."""

from cdcwire.core.exports import exports

TYPE_CHECKING = False  # as in typing, which takes longer to import than this package
if TYPE_CHECKING:
    from cdcwire.formats.craft.message import SKIPPED, Column, Skipped
    from cdcwire.formats.craft.proposal.format import FORMAT, explain, from_events, to_events
    from cdcwire.formats.craft.proposal.message import (
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
    from cdcwire.formats.craft.proposal.wire import decode, encode
else:
    __getattr__, __dir__ = exports(
        __name__, ".message", "cdcwire.formats.craft.message", ".wire", ".format"
    )

__all__ = [
    "FORMAT",
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
