"""CDL JSON bytes explained: every byte with its field, its value and its clause."""

from __future__ import annotations

from collections.abc import Iterator

from cdcwire.connect.explain import Subjects, message_spans
from cdcwire.core.context import Context
from cdcwire.core.message import Message, expect_kafka
from cdcwire.core.reader import Span, Subject
from cdcwire.formats.cdl_json.message import is_object

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
_TRANSACTION = Subject(0, ("lsn", "tx_id", "extra"), "transaction_properties")
_VALUE = Subjects(
    rows={
        "data": Subject(0, ("after",)),
        "before": Subject(0, ("before",)),
        "unique": Subject(0, ("key",)),
    },
    members={
        ("OPERATION",): Subject(0, ("kind", "op")),
        ("SEG_OWNER",): Subject(0, ("schema",)),
        ("TABLE_NAME",): Subject(0, ("table",)),
        ("TIMESTAMP",): Subject(0, ("commit_ms",)),
        ("transaction",): _TRANSACTION,
        ("transaction", "properties"): _TRANSACTION,
        ("DATA_STORE",): Subject(0, ("extra",), "connector"),
        ("HEARTBEAT_IDENTIFIER",): Subject(0, ("extra",), "heartbeat_identifier"),
        ("LOB_COLUMNS",): Subject(0, ("extra",), "lob_columns"),
        ("message_type",): Subject(0, ("extra",), "message_type"),
    },
)
_TOMBSTONE = Subjects(payload=Subject(0, ("kind", "what", "extra"), "message_key"))


def spans(message: Message, context: Context) -> Iterator[Span]:
    """Yield the spans of every byte of key and value."""
    kafka = expect_kafka(message, "cdl-json: fields")
    key_subjects = _TOMBSTONE if kafka.value is None else Subjects()
    is_other_key = kafka.key is not None and not is_object(kafka.key)
    text_key = "cdl-json: kafka keys" if is_other_key else None
    yield from message_spans(kafka, _CLAUSES, _VALUE, key_subjects, text_key)
