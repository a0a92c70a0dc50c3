"""A deserializer for consumers of confluent-kafka, kafka-python and aiokafka.

A client gives a deserializer the value alone, so the key of the record is unknown. Where a program
can take the whole record, ``Decoder.decode(record)`` reads more. No client is imported here.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any, Generic, TypeVar

from cdcwire.core.client_records import message_of_value
from cdcwire.decoder import Decoder
from cdcwire.model.events import Marker, Progress, SchemaChange

ChangeT = TypeVar("ChangeT")


class ValueDeserializer(Generic[ChangeT]):
    """Makes a consumer give a list of changes as the value of each record.

    Pass it as ``value_deserializer`` of kafka-python and aiokafka, or as ``value.deserializer`` of
    confluent-kafka's ``DeserializingConsumer``. Threads may share it.
    The key is unknown: a row may lack the names of its key columns, and a delete may have more
    columns than were sent. A format that needs the key raises DecodeError. A null value is decoded.
    Raises: TypeError for another argument than a ``Decoder``.

    Examples:
        >>> from cdcwire import Decoder
        >>> from cdcwire.kafka import ValueDeserializer
        >>> deserialize = ValueDeserializer(Decoder("maxwell-json", rows=dict))
        >>> value = b'{"database":"shop","table":"t","type":"insert","ts":1,"data":{"id":7}}'
        >>> [change] = deserialize(value)
        >>> change.after
        {'id': 7}

    """

    def __init__(self, decoder: Decoder[ChangeT], /) -> None:
        if not isinstance(decoder, Decoder):
            raise TypeError(f"the argument is {decoder!r:.80}; it must be a Decoder")
        self._decoder = decoder
        _register_with_kafka_python()

    def __call__(
        self, value: bytes | None, context: Any = None, /
    ) -> list[ChangeT | SchemaChange | Progress | Marker]:
        """Return the changes of a value, as aiokafka and confluent-kafka call it.

        ``context``: confluent-kafka's ``SerializationContext``, which has the headers.
        Raises: as ``Decoder.decode``.
        """
        return self.deserialize(None, None if context is None else context.headers, value)

    def deserialize(
        self,
        topic: str | None,
        headers: Iterable[tuple[str, bytes | None]] | None,
        data: bytes | None,
        /,
    ) -> list[ChangeT | SchemaChange | Progress | Marker]:
        """Return the changes of a value, as kafka-python from version 3 calls it.

        ``topic`` has no effect. Raises: as ``Decoder.decode``.
        """
        return self._decoder.decode(message_of_value(data, headers))


def _register_with_kafka_python() -> None:
    """Make kafka-python, if it is imported, pass the headers, and not warn of a foreign class.

    Its versions before 3 call any function with the value; their class can't be registered with.
    """
    client = sys.modules.get("kafka.serializer")
    register = getattr(getattr(client, "Deserializer", None), "register", None)
    if register is not None:
        register(ValueDeserializer)
