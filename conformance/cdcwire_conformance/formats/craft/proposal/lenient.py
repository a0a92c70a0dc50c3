"""The liberties of a reader of Craft as proposed: versions, encodings of text, undefined types."""

from __future__ import annotations

from dataclasses import replace

from cdcwire.core.errors import DecodeError
from cdcwire.core.message import KafkaMessage, Message
from cdcwire_conformance.known_wrong.lenient import Liberties, mend_text

_VERSION = b"\x00\x01"

_TEXTS = frozenset(
    {
        *(
            "craft-proposal: ddl events",
            "craft-proposal: strings",
            "craft-proposal: names",
            "craft-proposal: string arrays",
            "craft-proposal: values",
        )
    }
)


def _mend(message: Message, error: DecodeError) -> Message | None:
    """Return the message in version 1, as its other bytes are the same, or with ASCII text."""
    if error.clause != "craft-proposal: version" or not isinstance(message, KafkaMessage):
        return mend_text(message, error, _TEXTS)
    value = message.value or b""
    return replace(message, value=_VERSION + value[len(_VERSION) :])


LIBERTIES = Liberties(
    mend=_mend,
)
