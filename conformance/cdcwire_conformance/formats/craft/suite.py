"""The suite's facts about craft."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cdcwire.core.context import Context
from cdcwire.formats.craft.settings import read_settings
from cdcwire_conformance.formats.craft.known_wrong import KNOWN_WRONG
from cdcwire_conformance.formats.craft.lenient import LIBERTIES
from cdcwire_conformance.formats.craft.mutations import RULES
from cdcwire_conformance.formats.craft.size import CLAIM
from cdcwire_conformance.suite import FormatSuite, SizeFacts

if TYPE_CHECKING:
    from cdcwire.arrow.batches import BatchBuilder
    from cdcwire.arrow.column_decoders import MessageColumns


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
