"""The liberties of a reader of DataHub Tuple: shapes and ranges of fields, sums, NOT NULL."""

from __future__ import annotations

from cdcwire.core.errors import DecodeError
from cdcwire.core.message import Message
from cdcwire_conformance.known_wrong.lenient import Liberties, mend_json, mend_text

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
