"""The Avro deserializer of confluent-kafka as a testee.

    cdcwire verify avro debezium-avro -- python adapters/python/read_confluent_kafka.py

It takes whole messages and asks a registry for the schema of their id. The registry here has the
schemas of the request, and no network. It does not check for bytes after the record, and has no
option for text that is not UTF-8. Glue's envelope is not its own.
"""

from __future__ import annotations

import logging
from importlib.metadata import version

from avro_data import Datum, Record
from avro_formats import serve_avro
from confluent_kafka.schema_registry import Schema, SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroDeserializer
from confluent_kafka.schema_registry.error import SchemaRegistryError
from confluent_kafka.serialization import SerializationError
from fastavro.schema import SchemaParseException


class Registry(SchemaRegistryClient):
    """A registry that knows the schema of one message: a request numbers its own."""

    def __init__(self) -> None:
        super().__init__({"url": "http://registry.invalid"})  # never asked
        self.schemas: dict[str, str] = {}

    def get_schema(self, schema_id: int, *_: object, **__: object) -> Schema:
        """Return the schema of an id. Raises: SchemaRegistryError."""
        if str(schema_id) not in self.schemas:
            raise SchemaRegistryError(404, 40403, "Schema not found")
        return Schema(self.schemas[str(schema_id)], "AVRO")


REGISTRY = Registry()
DESERIALIZE = AvroDeserializer(REGISTRY)


def read(datum: Datum) -> Record:
    """Return the record of a key or value with its envelope."""
    REGISTRY.schemas = {datum.id: datum.schema}
    record = DESERIALIZE(datum.whole)
    assert isinstance(record, dict)
    return record


if __name__ == "__main__":
    logging.disable(logging.WARNING)
    errors = (SerializationError, SchemaRegistryError, SchemaParseException)
    serve_avro("confluent-kafka", version("confluent-kafka"), read, errors, without=["registry"])
