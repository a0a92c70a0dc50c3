"""CDL JSON bytes explained: every byte with its field, its value and its clause."""

from __future__ import annotations

from cdcwire.connect.explain import Subjects, explanation
from cdcwire.core.errors import DecodeError
from cdcwire.core.format import NO_CONTEXT, Context, Explanation
from cdcwire.core.message import Message, expect_kafka
from cdcwire.core.reader import Subject
from cdcwire.formats.cdl_json.events import events_of
from cdcwire.formats.cdl_json.message import Change
from cdcwire.formats.cdl_json.settings import read_settings
from cdcwire.formats.cdl_json.wire import read_message

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


def explain(message: Message, *, context: Context = NO_CONTEXT) -> Explanation:
    """Return the spans of every byte of key and value, and what was ignored.

    On broken bytes: the spans up to the place of the error, and the error.
    """
    settings = read_settings(context)
    try:
        kafka = expect_kafka(message, "cdl-json: fields")
    except DecodeError as caught:
        return Explanation((), caught)
    error: DecodeError | None = None
    warnings: tuple[str, ...] = ()
    try:
        found = read_message(kafka.value, kafka.key, settings, context.tables)
        warnings = found.warnings if isinstance(found, Change) else ()
        for _ in events_of(found):
            pass  # values that their logical types do not have are found only here
    except DecodeError as caught:
        error = caught
    key_subjects = _TOMBSTONE if kafka.value is None else Subjects()
    return explanation(kafka, _CLAUSES, _VALUE, key_subjects, error, warnings)
