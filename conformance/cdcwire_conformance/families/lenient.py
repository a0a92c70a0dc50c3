"""The liberties of readers of Kafka Connect's JSON and of Avro."""

from __future__ import annotations

from cdcwire.core.context import Context
from cdcwire.core.errors import DecodeError
from cdcwire.core.message import KafkaMessage, Message

CONNECT_UNCHECKED: frozenset[str] = frozenset(
    {"connect: limits", "connect: time values", "connect: null values"}
)

CONNECT_SCALARS: frozenset[str] = frozenset(
    {
        *("connect: integer values", "connect: float values", "connect: boolean values"),
        *("connect: string values",),
    }
)


_LONG_BYTES = 10


def reads_int_as_long(error: DecodeError, message: Message, context: Context) -> bool:
    """Return whether a varint is too long for an int and not for a long."""
    if error.clause != "avro: varints" or not isinstance(message, KafkaMessage):
        return False
    raw = (message.key if error.path[:1] == ("key",) else message.value) or b""
    varint = raw[error.offset : error.offset + _LONG_BYTES]
    size = next((size for size, byte in enumerate(varint, 1) if byte < 0x80), None)
    return size is not None and (size < _LONG_BYTES or varint[size - 1] < 2)
