"""The suite's facts about datahub-tuple."""

from __future__ import annotations

from cdcwire.core.errors import DecodeError
from cdcwire.core.message import Message
from cdcwire_conformance.formats.datahub_tuple.known_wrong import KNOWN_WRONG
from cdcwire_conformance.formats.datahub_tuple.mutations import RULES
from cdcwire_conformance.known_wrong.lenient import Liberties, mend_json, mend_text
from cdcwire_conformance.suite import FormatSuite, SizeFacts

_TEXTS = frozenset({"datahub: string fields"})


def _mend(message: Message, error: DecodeError) -> Message | None:
    """Return a body with ASCII text, or as plainer JSON."""
    return mend_text(message, error, _TEXTS) or mend_json(message, error)


LIBERTIES = Liberties(
    unchecked=frozenset(
        {
            *("datahub: integer fields", "datahub: float fields", "datahub: boolean fields"),
            *("datahub: timestamp fields", "datahub: decimal fields", "datahub: null fields"),
            *("datahub: string fields", "datahub: checksums", "datahub: limits"),
            *("datahub-tuple: sequence ids", "datahub-tuple: execute time"),
        }
    ),
    mend=_mend,
)

SUITE = FormatSuite(
    mutations=RULES,
    known_wrong=KNOWN_WRONG,
    liberties=LIBERTIES,
    size=SizeFacts(
        color="#c9a227",
        note=(
            "A batch of `datahub-tuple` is a body of one topic, which has one table. The body "
            "is JSON unless an option says otherwise. An update is two records. The topic's "
            "definition is not counted."
        ),
    ),
)
