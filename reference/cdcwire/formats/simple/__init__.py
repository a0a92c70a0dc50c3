"""TiCDC `simple`: rows, DDL, table schemas and watermarks, each one message in JSON or Avro.

``decode`` and ``encode`` are the wire, without loss. ``to_events`` and ``from_events`` are the
neutral events. Rows need the schema of their table, which other messages have: ``FORMAT.prepared``
collects them. The page of the format is docs/formats/simple.md.
"""

from cdcwire.core.exports import exports

TYPE_CHECKING = False  # as in typing, which takes longer to import than this package
if TYPE_CHECKING:
    from cdcwire.formats.simple.format import FORMAT, explain, from_events, to_events
    from cdcwire.formats.simple.message import (
        Bootstrap,
        Cell,
        Checksum,
        ColumnSchema,
        DataType,
        Ddl,
        Dml,
        IndexSchema,
        Message,
        TableSchema,
        Timestamp,
        Watermark,
    )
    from cdcwire.formats.simple.settings import OPTIONS, Settings, read_settings
    from cdcwire.formats.simple.wire import decode, encode
else:
    __getattr__, __dir__ = exports(__name__, ".message", ".settings", ".wire", ".format")

__all__ = [
    "FORMAT",
    "OPTIONS",
    "Bootstrap",
    "Cell",
    "Checksum",
    "ColumnSchema",
    "DataType",
    "Ddl",
    "Dml",
    "IndexSchema",
    "Message",
    "Settings",
    "TableSchema",
    "Timestamp",
    "Watermark",
    "decode",
    "encode",
    "explain",
    "from_events",
    "read_settings",
    "to_events",
]
