"""The liberties of a reader of Craft: versions, encodings of text, types that are not defined."""

from __future__ import annotations

from dataclasses import replace

from cdcwire.core.errors import DecodeError
from cdcwire.core.message import KafkaMessage, Message
from cdcwire_conformance.known_wrong.lenient import Liberties, mend_text

_VERSION = b"\x01"

_TEXTS = frozenset(
    {
        *(
            "craft: ddl events",
            "craft: text values",
            "craft: strings",
            "craft: string arrays",
            "craft: column names",
            "craft: term dictionary",
        )
    }
)


def _mend(message: Message, error: DecodeError) -> Message | None:
    """Return the message in version 1, as its other bytes are the same, or with ASCII text."""
    if error.clause != "craft: version" or not isinstance(message, KafkaMessage):
        return mend_text(message, error, _TEXTS)
    value = message.value or b""
    return replace(message, value=_VERSION + value[len(_VERSION) :])


LIBERTIES = Liberties(
    unchecked=frozenset(
        {
            *("craft: vector values", "craft: types without values", "craft: column types"),
        }
    ),
    mend=_mend,
    is_framed=True,
)
