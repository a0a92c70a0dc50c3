"""Apache Avro for Python as a testee.

    cdcwire verify avro debezium-avro -- python adapters/python/read_avro.py

``DatumReader`` with the schema of the message as the writer's. The library leaves bytes after the
record in the stream; this program checks for them. Text that is not UTF-8 is refused. Decimals are
made under the precision of the schema.
"""

from __future__ import annotations

import io
import struct
from functools import lru_cache
from importlib.metadata import version

import avro.errors
import avro.io
import avro.schema
from avro_data import Datum, Record
from avro_formats import serve_avro


@lru_cache(maxsize=256)
def parsed(schema: str) -> avro.schema.Schema:
    """Return the schema of a text, parsed apart from all others."""
    return avro.schema.parse(schema)


def read(datum: Datum) -> Record:
    """Return the record. Raises: ValueError for bytes after it."""
    stream = io.BytesIO(datum.data)
    record = avro.io.DatumReader(parsed(datum.schema)).read(avro.io.BinaryDecoder(stream))
    if stream.tell() != len(datum.data):
        raise ValueError(f"{len(datum.data) - stream.tell()} bytes are left over")
    assert isinstance(record, dict)
    return record


if __name__ == "__main__":
    errors = (avro.errors.AvroException, AssertionError, struct.error)
    serve_avro("avro", version("avro"), read, errors)
