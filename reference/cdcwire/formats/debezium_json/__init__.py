"""Debezium JSON, and CDL's with message_version 2.0: decoder and encoder.

``decode`` and ``encode`` are the wire layer. ``to_events`` and ``from_events`` are the neutral
events.
"""

from cdcwire.core.exports import exports

TYPE_CHECKING = False  # as in typing, which takes longer to import than this package
if TYPE_CHECKING:
    from cdcwire.connect.cdl import Row
    from cdcwire.debezium.message import (
        Boundary,
        Change,
        Heartbeat,
        LogicalMessage,
        Message,
        Source,
        Tombstone,
    )
    from cdcwire.formats.debezium_json.format import FORMAT, explain, from_events, to_events
    from cdcwire.formats.debezium_json.mapping import to_version_1
    from cdcwire.formats.debezium_json.settings import DEFAULT_SETTINGS, Settings, read_settings
    from cdcwire.formats.debezium_json.wire import decode, encode
else:
    __getattr__, __dir__ = exports(
        __name__,
        "cdcwire.debezium.message",
        ".settings",
        ".wire",
        "cdcwire.connect.cdl",
        ".mapping",
        ".format",
    )

__all__ = [
    "DEFAULT_SETTINGS",
    "FORMAT",
    "Boundary",
    "Change",
    "Heartbeat",
    "LogicalMessage",
    "Message",
    "Row",
    "Settings",
    "Source",
    "Tombstone",
    "decode",
    "encode",
    "explain",
    "from_events",
    "read_settings",
    "to_events",
    "to_version_1",
]
