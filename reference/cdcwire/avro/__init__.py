"""TiCDC Avro: row changes as Avro records with their schemas in a registry.

``decode`` and ``encode`` are the wire, without loss; ``to_events`` and ``from_events`` lead to and
from the neutral model. A ``SchemaSource`` is the registry, as far as the codec needs one. The page
of the format is docs/formats/avro.md.
"""

from cdcwire.avro.checksum import row_checksum, verify_checksum
from cdcwire.avro.definitions import Labels
from cdcwire.avro.events import to_events
from cdcwire.avro.explain import explain
from cdcwire.avro.format import FORMAT
from cdcwire.avro.message import Branch, Checkpoint, Datums, Ddl, DeletedAt, Message
from cdcwire.avro.names import sanitize
from cdcwire.avro.schema import parse_schema
from cdcwire.avro.schema_text import schema_text
from cdcwire.avro.settings import OPTIONS, Settings, read_settings
from cdcwire.avro.sources import KnownSchemas, MemorySource, SchemaId, SchemaSource
from cdcwire.avro.wire import decode, encode
from cdcwire.avro.writing import MessageWriter, from_events, schemas_of

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
