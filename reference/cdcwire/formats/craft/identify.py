"""The signs of a Craft message."""

from __future__ import annotations

from cdcwire.core.errors import DecodeError
from cdcwire.core.guess import Guess
from cdcwire.core.message import KafkaMessage, Message
from cdcwire.core.reader import Reader
from cdcwire.core.varints import read_uvarint
from cdcwire.formats.craft.wire import VERSION

_CLAUSE = "craft: version"
_MAX_VERSION_BYTES = 10


def identify(message: Message) -> Guess | None:
    """Return what shows that a message is Craft: the version, and tables that fit together."""
    if not isinstance(message, KafkaMessage) or not message.value:
        return None
    try:
        version = read_uvarint(Reader(message.value[:_MAX_VERSION_BYTES]), _CLAUSE)
    except DecodeError:
        return None
    if version != VERSION:
        return None
    return Guess("the version of Craft is 1", facts={"version": "1"})
