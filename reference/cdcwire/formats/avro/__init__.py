"""TiCDC Avro: row changes as Avro records with their schemas in a registry.

``decode`` and ``encode`` are the wire, without loss. ``to_events`` and ``from_events`` are the
neutral events. A ``SchemaSource`` is the registry, as far as the codec needs one. The page of the
format is docs/formats/avro.md.
"""

from cdcwire.core.exports import exports

TYPE_CHECKING = False  # as in typing, which takes longer to import than this package
if TYPE_CHECKING:
    from cdcwire.apache_avro.schema import Branch, parse_schema
    from cdcwire.apache_avro.schema_json import schema_text
    from cdcwire.apache_avro.sources import KnownSchemas, MemorySource, SchemaSource
    from cdcwire.core.context import SchemaId
    from cdcwire.formats.avro.checksum import row_checksum, verify_checksum
    from cdcwire.formats.avro.definitions import Labels
    from cdcwire.formats.avro.format import FORMAT, explain, from_events, to_events
    from cdcwire.formats.avro.message import Checkpoint, Datums, Ddl, DeletedAt, Message
    from cdcwire.formats.avro.names import sanitize
    from cdcwire.formats.avro.settings import OPTIONS, Settings, read_settings
    from cdcwire.formats.avro.wire import decode, encode
    from cdcwire.formats.avro.writing import MessageWriter, schemas_of
else:
    __getattr__, __dir__ = exports(
        __name__,
        ".message",
        ".settings",
        ".wire",
        "cdcwire.core.context",
        ".checksum",
        ".definitions",
        ".names",
        "cdcwire.apache_avro.schema",
        "cdcwire.apache_avro.schema",
        "cdcwire.apache_avro.schema_json",
        "cdcwire.apache_avro.sources",
        ".writing",
        ".format",
    )

__all__ = [
    "FORMAT",
    "OPTIONS",
    "Branch",
    "Checkpoint",
    "Datums",
    "Ddl",
    "DeletedAt",
    "KnownSchemas",
    "Labels",
    "MemorySource",
    "Message",
    "MessageWriter",
    "SchemaId",
    "SchemaSource",
    "Settings",
    "decode",
    "encode",
    "explain",
    "from_events",
    "parse_schema",
    "read_settings",
    "row_checksum",
    "sanitize",
    "schema_text",
    "schemas_of",
    "to_events",
    "verify_checksum",
]
