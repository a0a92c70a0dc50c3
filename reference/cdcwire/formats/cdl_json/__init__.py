"""CDL JSON, message_version 1.0: decoder and encoder.

``decode`` and ``encode`` are the wire layer. ``to_events`` and ``from_events`` are the neutral
events.
"""

from cdcwire.core.exports import exports

TYPE_CHECKING = False  # as in typing, which takes longer to import than this package
if TYPE_CHECKING:
    from cdcwire.connect.cdl import Row
    from cdcwire.formats.cdl_json.format import FORMAT, explain, from_events, to_events
    from cdcwire.formats.cdl_json.mapping import Invented, to_version_2
    from cdcwire.formats.cdl_json.message import Change, Message, Tombstone
    from cdcwire.formats.cdl_json.settings import DEFAULT_SETTINGS, Settings, read_settings
    from cdcwire.formats.cdl_json.wire import decode, encode
else:
    __getattr__, __dir__ = exports(
        __name__,
        ".message",
        ".settings",
        ".wire",
        "cdcwire.connect.cdl",
        ".mapping",
        ".format",
    )

__all__ = [
    "DEFAULT_SETTINGS",
    "FORMAT",
    "Change",
    "Invented",
    "Message",
    "Row",
    "Settings",
    "Tombstone",
    "decode",
    "encode",
    "explain",
    "from_events",
    "read_settings",
    "to_events",
    "to_version_2",
]
