"""Neutral events as Debezium's messages in Avro, with the schemas that its converter registers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from cdcwire.apache_avro.sources import SchemaSource
from cdcwire.connect import Envelope
from cdcwire.core.errors import EncodeError
from cdcwire.core.message import KafkaMessage
from cdcwire.debezium.names import with_adjusted_names
from cdcwire.debezium.writing import messages_of
from cdcwire.debezium.writing_parts import Writer
from cdcwire.formats.debezium_avro.avro_schema import avro_text
from cdcwire.formats.debezium_avro.connect_schema import SCHEMAS, plan_of_text
from cdcwire.formats.debezium_avro.framing import CLAUSE, write_framing
from cdcwire.formats.debezium_avro.settings import Settings
from cdcwire.model.events import Event, Table


def written(
    events: Iterable[Event], settings: Settings, tables: tuple[Table, ...], source: SchemaSource
) -> Iterator[KafkaMessage]:
    """Yield the messages of events; ``source`` takes their schemas. Raises: EncodeError."""
    return messages_of(events, Writer(settings, _encoder(settings, source)), tables)


def _encoder(settings: Settings, source: SchemaSource) -> Callable[[Envelope], bytes]:
    if settings.framing == "apicurio-headers":
        raise EncodeError("registry=apicurio-headers is for reading: bytes have no headers", CLAUSE)

    def encode(envelope: Envelope) -> bytes:
        if envelope.schema is None:
            raise EncodeError("a payload needs its schema", SCHEMAS)
        schema = with_adjusted_names(envelope.schema, settings.schema_names, each_part=True)
        text = avro_text(schema)
        out = bytearray()
        # Names are not part of a subject's rule here: each source of schemas ignores them.
        write_framing(out, settings.framing, source.register("", text))
        plan_of_text(text).write(out, envelope.payload)
        return bytes(out)

    return encode
