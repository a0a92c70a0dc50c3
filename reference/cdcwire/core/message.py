"""Carriers of bytes, without any transport: a Kafka message, or a file of a storage prefix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from cdcwire.core.errors import DecodeError
from cdcwire.model.slotted import slotted


@slotted(frozen=True, slots=True)
class KafkaMessage:
    """One message of a topic. ``None`` is Kafka's null, which is not the same as no bytes.

    ``has_key``: False if a tool kept the value only, so that the key is unknown.

    Examples:
        >>> KafkaMessage(key=None, value=b"{}").value
        b'{}'

    """

    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes], ...] = ()
    has_key: bool = True


@dataclass(frozen=True, slots=True)
class StoredFile:
    """One file of a storage prefix; ``path`` is relative to the prefix, with ``/``.

    Examples:
        >>> file = StoredFile("shop/orders/5/CDC000001.csv", b'"I","orders","shop",1')
        >>> file.path.rpartition("/")[2]
        'CDC000001.csv'

    """

    path: str
    value: bytes


Message: TypeAlias = KafkaMessage | StoredFile


def expect_kafka(message: Message, clause: str) -> KafkaMessage:
    """Return the message of a queue. Raises: DecodeError for a file."""
    if not isinstance(message, KafkaMessage):
        raise DecodeError("the message is a stored file, not a Kafka message", 0, clause)
    return message


def expect_file(message: Message, clause: str) -> StoredFile:
    """Return the file of a storage prefix. Raises: DecodeError for a message of a queue."""
    if not isinstance(message, StoredFile):
        raise DecodeError("the message is a Kafka message, not a file", 0, clause)
    return message
