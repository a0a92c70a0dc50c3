"""The suite's facts about craft."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cdcwire.core.context import Context
from cdcwire.core.errors import DecodeError
from cdcwire.core.message import KafkaMessage, Message
from cdcwire.formats.craft.settings import read_settings
from cdcwire_conformance.formats.craft.known_wrong import KNOWN_WRONG
from cdcwire_conformance.formats.craft.mutations import RULES
from cdcwire_conformance.known_wrong.lenient import Liberties, Mend, mend_text
from cdcwire_conformance.suite import FormatSuite, SizeClaim, SizeFacts

if TYPE_CHECKING:
    from cdcwire.arrow.batches import BatchBuilder
    from cdcwire.arrow.column_decoders import MessageColumns


CLAIM = SizeClaim(source="The Craft proposal", subject="Craft", compression="zlib")


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


def _message_columns(builder: BatchBuilder, context: Context) -> MessageColumns:
    from cdcwire_conformance.formats.craft.arrow_batches import CraftBatchBuilder

    return CraftBatchBuilder(builder, read_settings(context))


SUITE = FormatSuite(
    mutations=RULES,
    known_wrong=KNOWN_WRONG,
    liberties=LIBERTIES,
    message_columns=_message_columns,
    size=SizeFacts(color="#1b6ca8", claim=CLAIM),
)
