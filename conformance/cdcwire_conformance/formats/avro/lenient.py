"""The liberties of a reader of Avro: ranges, encodings and shapes of text, types that clash."""

from __future__ import annotations

from functools import partial

from cdcwire.core.context import Context
from cdcwire.core.errors import DecodeError
from cdcwire.core.message import KafkaMessage, Message
from cdcwire_conformance.known_wrong.lenient import Liberties, mend_text

_LONG_BYTES = 10
_TEXTS = frozenset({"avro: text values", "avro: ddl"})


def _reads_int_as_long(error: DecodeError, message: Message, context: Context) -> bool:
    """Return whether a varint is too long for an int and not for a long."""
    if error.clause != "avro: varints" or not isinstance(message, KafkaMessage):
        return False
    raw = (message.key if error.path[:1] == ("key",) else message.value) or b""
    varint = raw[error.offset : error.offset + _LONG_BYTES]
    size = next((size for size, byte in enumerate(varint, 1) if byte < 0x80), None)
    return size is not None and (size < _LONG_BYTES or varint[size - 1] < 2)


LIBERTIES = Liberties(
    unchecked=frozenset(
        {
            *("avro: decimal text", "avro: bigint unsigned", "avro: vector values"),
            *("avro: integer values", "avro: column types", "avro: schema limits"),
        }
    ),
    scalars=frozenset({"avro: ddl"}),
    mend=partial(mend_text, texts=_TEXTS),
    forgives=_reads_int_as_long,
    is_framed=True,
)
