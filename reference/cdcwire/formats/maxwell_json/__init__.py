"""Maxwell JSON: decoder and encoder of the messages of Maxwell's daemon.

``decode`` and ``encode`` are the wire layer. ``to_events`` and ``from_events`` are the neutral
events.
"""

from cdcwire.core.exports import exports

TYPE_CHECKING = False  # as in typing, which takes longer to import than this package
if TYPE_CHECKING:
    from cdcwire.formats.maxwell_json.format import FORMAT, explain, from_events, to_events
    from cdcwire.formats.maxwell_json.message import (
        Cell,
        ColumnDefinition,
        Inline,
        Key,
        Message,
        RowMessage,
        SchemaMessage,
        TableDefinition,
        Tombstone,
        decode_key,
        encode_key,
    )
    from cdcwire.formats.maxwell_json.settings import DEFAULT_SETTINGS, Settings, read_settings
    from cdcwire.formats.maxwell_json.wire import decode, encode
else:
    __getattr__, __dir__ = exports(__name__, ".message", ".settings", ".wire", ".format")

__all__ = [
    "DEFAULT_SETTINGS",
    "FORMAT",
    "Cell",
    "ColumnDefinition",
    "Inline",
    "Key",
    "Message",
    "RowMessage",
    "SchemaMessage",
    "Settings",
    "TableDefinition",
    "Tombstone",
    "decode",
    "decode_key",
    "encode",
    "encode_key",
    "explain",
    "from_events",
    "read_settings",
    "to_events",
]
