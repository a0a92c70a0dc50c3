"""TiCDC Open Protocol: row, DDL and resolved events as JSON in Kafka keys and values.

``decode`` and ``encode`` are the wire, without loss. ``to_events`` and ``from_events`` are the
neutral events. The page of the format is docs/formats/open-protocol.md.
"""

from cdcwire.core.exports import exports

TYPE_CHECKING = False  # as in typing, which takes longer to import than this package
if TYPE_CHECKING:
    from cdcwire.formats.open_protocol.events import from_event
    from cdcwire.formats.open_protocol.format import FORMAT, explain, from_events, to_events
    from cdcwire.formats.open_protocol.members import Dialect
    from cdcwire.formats.open_protocol.message import Column, Ddl, Item, Key, Message, Row
    from cdcwire.formats.open_protocol.settings import OPTIONS, Settings, read_settings
    from cdcwire.formats.open_protocol.wire import decode, encode
else:
    __getattr__, __dir__ = exports(
        __name__, ".message", ".members", ".settings", ".wire", ".events", ".format"
    )

__all__ = [
    "FORMAT",
    "OPTIONS",
    "Column",
    "Ddl",
    "Dialect",
    "Item",
    "Key",
    "Message",
    "Row",
    "Settings",
    "decode",
    "encode",
    "explain",
    "from_event",
    "from_events",
    "read_settings",
    "to_events",
]
