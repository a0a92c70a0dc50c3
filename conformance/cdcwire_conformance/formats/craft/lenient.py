"""The liberties of a reader of Craft: versions, encodings of text, types that are not defined."""

from __future__ import annotations

from dataclasses import replace

from cdcwire.core.errors import DecodeError
from cdcwire.core.message import KafkaMessage, Message
from cdcwire_conformance.known_wrong.lenient import Liberties, Mend, mend_text


def mend_version_or_text(clause: str, version: bytes, texts: frozenset[str]) -> Mend:
    """Return what reads a message as one of this version, as its other bytes are the same.

    It reads ASCII text in place of ill-formed text. ``clause``: the one of versions; ``texts``:
    those of texts.
    """

    def mend(message: Message, error: DecodeError) -> Message | None:
        if error.clause != clause or not isinstance(message, KafkaMessage):
            return mend_text(message, error, texts)
        value = message.value or b""
        return replace(message, value=version + value[len(version) :])

    return mend


_TEXTS = frozenset(
    {
        "craft: ddl events",
        "craft: text values",
        "craft: strings",
        "craft: string arrays",
        "craft: column names",
        "craft: term dictionary",
    }
)

LIBERTIES = Liberties(
    unchecked=frozenset(
        {"craft: vector values", "craft: types without values", "craft: column types"}
    ),
    mend=mend_version_or_text("craft: version", b"\x01", _TEXTS),
    is_framed=True,
)
