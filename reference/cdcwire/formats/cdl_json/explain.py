"""CDL JSON bytes explained: every byte with its field, its value and its clause."""

from __future__ import annotations

from contextlib import suppress

from cdcwire.connect.explain import cut_spans, part_spans
from cdcwire.core.errors import DecodeError
from cdcwire.core.format import Explanation
from cdcwire.core.message import KafkaMessage
from cdcwire.core.reader import Span
from cdcwire.formats.cdl_json.message import Change
from cdcwire.formats.cdl_json.settings import DEFAULT_SETTINGS, Settings
from cdcwire.formats.cdl_json.wire import decode

_CLAUSES: dict[str, str] = {
    **dict.fromkeys(("DATA_STORE", "SEG_OWNER", "TABLE_NAME"), "cdl-json: fields"),
    "TIMESTAMP": "cdl-json: timestamp",
    "OPERATION": "cdl-json: operation",
    "LOB_COLUMNS": "cdl-json: lob columns",
    "transaction": "cdl-json: transaction",
    "unique": "cdl-json: unique",
    "data": "cdl-json: images",
    "before": "cdl-json: images",
    "message_version": "cdl-json: message version",
    "message_type": "cdl-json: message type",
    "HEARTBEAT_IDENTIFIER": "cdl-json: heartbeat",
}
_ROWS = frozenset(("data", "before", "unique", "transaction"))


def explain(message: KafkaMessage, settings: Settings = DEFAULT_SETTINGS) -> Explanation:
    """Return the spans of every byte of key and value, and what was passed over.

    On broken bytes: the spans up to the place of the error, and the error.
    """
    error: DecodeError | None = None
    warnings: tuple[str, ...] = ()
    try:
        found = decode(message.value, message.key, settings)
        warnings = found.warnings if isinstance(found, Change) else ()
    except DecodeError as caught:
        error = caught
    spans: list[Span] = []
    for part, data in (("key", message.key), ("value", message.value)):
        shown: list[Span] = []
        with suppress(DecodeError):  # what can't be walked can't be decoded: it is in ``error``
            clauses = _CLAUSES if part == "value" else {}  # a key has the names of columns
            shown = [] if data is None else part_spans(data, part, clauses, _ROWS)
        if error is not None and error.path[:1] == (part,):
            shown = cut_spans(shown, part, error)
        spans.extend(shown)
    return Explanation(tuple(spans), error, warnings)
