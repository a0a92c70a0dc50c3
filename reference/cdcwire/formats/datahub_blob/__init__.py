"""DataHub Blob: changes of a database's tables as JSON, one per record, alone or in bodies.

``decode`` and ``encode`` are a record's bytes, without loss. ``to_events`` and ``from_events`` are
the neutral events. The page of the format is docs/formats/datahub-blob.md.
"""

from cdcwire.core.exports import exports

TYPE_CHECKING = False  # as in typing, which takes longer to import than this package
if TYPE_CHECKING:
    from cdcwire.datahub.streamx import BlobColumn, BlobMessage, Ddl, Source
    from cdcwire.formats.datahub_blob.batching import decode_messages
    from cdcwire.formats.datahub_blob.events import from_event, to_event
    from cdcwire.formats.datahub_blob.format import FORMAT, explain, from_events, to_events
    from cdcwire.formats.datahub_blob.settings import OPTIONS, Settings, read_settings
    from cdcwire.formats.datahub_blob.wire import decode, encode
else:
    __getattr__, __dir__ = exports(
        __name__,
        ".settings",
        ".wire",
        "cdcwire.datahub.streamx",
        ".batching",
        ".events",
        ".format",
    )

__all__ = [
    "FORMAT",
    "OPTIONS",
    "BlobColumn",
    "BlobMessage",
    "Ddl",
    "Settings",
    "Source",
    "decode",
    "decode_messages",
    "encode",
    "explain",
    "from_event",
    "from_events",
    "read_settings",
    "to_event",
    "to_events",
]
