"""The suite's facts about open-protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cdcwire.core.context import Context
from cdcwire_conformance.formats.open_protocol.known_wrong import KNOWN_WRONG
from cdcwire_conformance.formats.open_protocol.lenient import LIBERTIES
from cdcwire_conformance.formats.open_protocol.mutations import RULES
from cdcwire_conformance.suite import FormatSuite, SizeFacts

if TYPE_CHECKING:
    from cdcwire.arrow.batches import BatchBuilder
    from cdcwire.arrow.column_decoders import MessageColumns


def _message_columns(builder: BatchBuilder, context: Context) -> MessageColumns:
    from cdcwire_conformance.formats.open_protocol.arrow_batches import OpenProtocolBatchBuilder

    return OpenProtocolBatchBuilder(builder, context)


SUITE = FormatSuite(
    mutations=RULES,
    known_wrong=KNOWN_WRONG,
    liberties=LIBERTIES,
    message_columns=_message_columns,
    size=SizeFacts(color="#e08a3c", is_json_baseline=True),
)
