"""fastavro as a testee.

    cdcwire verify avro debezium-avro -- python adapters/python/read_fastavro.py

``schemaless_reader`` with the schema of the message; with ``surrogateescape`` text that is not
UTF-8 comes through. The library leaves bytes after the record in the stream; this program checks
for them. Each schema is parsed on its own: key and value have the same full name. Broken bytes are
refused by errors of all kinds, IndexError among them.
"""

from __future__ import annotations

import io
import json
from functools import lru_cache

import fastavro
from avro_data import Datum, Record
from avro_formats import serve_avro


@lru_cache(maxsize=256)
def parsed(schema: str) -> fastavro.types.Schema:
    """Return the schema of a text, parsed apart from all others."""
    return fastavro.parse_schema(json.loads(schema))


def read(datum: Datum) -> Record:
    """Return the record. Raises: ValueError for bytes after it."""
    stream = io.BytesIO(datum.data)
    record = fastavro.schemaless_reader(
        stream, parsed(datum.schema), None, handle_unicode_errors="surrogateescape"
    )
    if stream.tell() != len(datum.data):
        raise ValueError(f"{len(datum.data) - stream.tell()} bytes are left over")
    assert isinstance(record, dict)
    return record


if __name__ == "__main__":
    errors = (fastavro.schema.SchemaParseException,)
    serve_avro("fastavro", fastavro.__version__, read, errors)
