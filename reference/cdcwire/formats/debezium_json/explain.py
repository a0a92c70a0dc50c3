"""Debezium JSON bytes explained: every byte with its field, its value and its clause."""

from __future__ import annotations

from contextlib import suppress

from cdcwire.connect.explain import cut_spans, part_spans
from cdcwire.core.errors import DecodeError
from cdcwire.core.format import Explanation
from cdcwire.core.message import KafkaMessage
from cdcwire.core.reader import Span
from cdcwire.formats.debezium_json.message import Tombstone
from cdcwire.formats.debezium_json.settings import DEFAULT_SETTINGS, Settings
from cdcwire.formats.debezium_json.wire import decode

_CLAUSES: dict[str, str] = {
    **dict.fromkeys(("before", "after"), "debezium-json: images"),
    "source": "debezium-json: source",
    "op": "debezium-json: operation",
    **dict.fromkeys(("ts_ms", "ts_us", "ts_ns"), "debezium-json: members"),
    "transaction": "debezium-json: transaction block",
    **dict.fromkeys(("message_version", "message_type"), "debezium-json: message version"),
    **dict.fromkeys(("LOB_COLUMNS", "HEARTBEAT_IDENTIFIER"), "debezium-json: cdl members"),
    "unique": "debezium-json: keys",
    "message": "debezium-json: logical messages",
    **dict.fromkeys(
        ("status", "id", "event_count", "data_collections"), "debezium-json: transaction boundaries"
    ),
}
_ROWS = frozenset(("before", "after", "source", "unique", "transaction", "message"))


def explain(message: KafkaMessage, settings: Settings = DEFAULT_SETTINGS) -> Explanation:
    """Return the spans of every byte of key and value, and what was passed over.

    On broken bytes: the spans up to the place of the error, and the error.
    """
    error: DecodeError | None = None
    warnings: tuple[str, ...] = ()
    try:
        found = decode(message.value, message.key, settings)
        warnings = () if isinstance(found, Tombstone) else found.warnings
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
