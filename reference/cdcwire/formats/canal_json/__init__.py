"""Canal-JSON, of TiCDC and of the official Canal: rows, DDL and watermarks as JSON objects.

``decode`` and ``encode`` convert one JSON object without loss; ``read_messages`` reads a file of
them. ``to_events`` returns neutral events; ``from_events`` and ``to_files`` write them. The page of
the format is docs/formats/canal-json.md.
"""

from cdcwire.core.exports import exports

TYPE_CHECKING = False  # as in typing, which takes longer to import than this package
if TYPE_CHECKING:
    from cdcwire.formats.canal_json.columns import Definitions
    from cdcwire.formats.canal_json.events import from_event
    from cdcwire.formats.canal_json.files import read_file, read_messages, to_files
    from cdcwire.formats.canal_json.format import FORMAT, explain, from_events, to_events
    from cdcwire.formats.canal_json.members import Dialect
    from cdcwire.formats.canal_json.message import Extension, Message
    from cdcwire.formats.canal_json.settings import OPTIONS, Settings, read_settings
    from cdcwire.formats.canal_json.values import Row
    from cdcwire.formats.canal_json.wire import decode, encode
else:
    __getattr__, __dir__ = exports(
        __name__,
        ".members",
        ".message",
        ".values",
        ".settings",
        ".columns",
        ".files",
        ".events",
        ".wire",
        ".format",
    )

__all__ = [
    "FORMAT",
    "OPTIONS",
    "Definitions",
    "Dialect",
    "Extension",
    "Message",
    "Row",
    "Settings",
    "decode",
    "encode",
    "explain",
    "from_event",
    "from_events",
    "read_file",
    "read_messages",
    "read_settings",
    "to_events",
    "to_files",
]
