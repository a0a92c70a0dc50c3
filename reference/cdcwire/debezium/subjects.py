"""The members of Debezium's messages: their clauses, and what of an event each of them shows."""

from __future__ import annotations

from cdcwire.connect.explain import Subjects
from cdcwire.connect.schema import LOOSE_RULES, RULES
from cdcwire.core.reader import EventPart, Subject
from cdcwire.debezium.connectors import source_of
from cdcwire.debezium.message import (
    Change,
    Heartbeat,
    LogicalMessage,
    Message,
    Notification,
    Tombstone,
    Unwrapped,
)
from cdcwire.debezium.reading import OF_NOTIFICATIONS
from cdcwire.model.events import Path

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
_POSITIONS: tuple[EventPart, ...] = ("database", "lsn", "tx_id", "commit_ms", "sent_ms")
_ROWS: dict[str, Subject] = {
    "after": Subject(0, ("after",)),
    "before": Subject(0, ("before",)),
    "unique": Subject(0, ("key",)),
}
_MEMBERS: dict[Path, Subject] = {
    ("op",): Subject(0, ("kind", "op", "what")),
    ("status",): Subject(0, ("kind", "what")),
    ("id",): Subject(0, ("id",)),
    ("ts_ms",): Subject(0, ("sent_ms",)),
    ("source", "db"): Subject(0, ("database", "extra"), "database"),
    ("source", "schema"): Subject(0, ("schema",)),
    ("source", "table"): Subject(0, ("table",)),
    ("source", "lsn"): Subject(0, ("lsn",)),
    ("source", "txId"): Subject(0, ("tx_id",)),
    ("source", "ts_ms"): Subject(0, ("commit_ms",)),
    ("transaction",): Subject(0, ("tx_order", "extra")),
    ("transaction", "total_order"): Subject(0, ("tx_order",)),
    ("message",): Subject(0, ("id", "extra"), "content"),
    ("message", "prefix"): Subject(0, ("id",)),
    **{
        place: Subject(0, ("extra",), name)
        for place, name in (
            (("source", "connector"), "connector"),
            (("source", "version"), "connector_version"),
            (("source", "name"), "source_name"),
            (("source", "snapshot"), "snapshot"),
            (("source", "xmin"), "xmin"),
            (("source", "origin"), "origin"),
            (("source", "origin_lsn"), "origin_lsn"),
            (("source", "sequence"), "sequence"),
            (("source", "ts_us"), "source_ts_us"),
            (("source", "ts_ns"), "source_ts_ns"),
            (("source", "gtid"), "gtid"),
            (("ts_us",), "ts_us"),
            (("ts_ns",), "ts_ns"),
            (("transaction", "id"), "transaction_id"),
            (("transaction", "data_collection_order"), "data_collection_order"),
            (("message", "content"), "content"),
            (("HEARTBEAT_IDENTIFIER",), "heartbeat_identifier"),
            (("LOB_COLUMNS",), "lob_columns"),
            (("message_type",), "message_type"),
            (("event_count",), "event_count"),
            (("data_collections",), "data_collections"),
        )
    },
}


def clauses_of(found: Message | None) -> dict[str, str]:
    """Return the clauses of the members of a value."""
    if isinstance(found, Unwrapped):  # of the fields that the transform added
        return dict.fromkeys(found.added, "debezium-json: unwrapped rows")
    if isinstance(found, Notification):
        return dict.fromkeys(OF_NOTIFICATIONS, "debezium-json: notifications")
    return _CLAUSES


def value_subjects(found: Message | None) -> Subjects:
    """Return what the members of a value show."""
    if isinstance(found, Notification):  # it gives no event
        return Subjects()
    if isinstance(found, Unwrapped):
        side: EventPart = "before" if found.op == "d" else "after"
        about = Subject(0, ("kind", "op", "schema", "table", *_POSITIONS))
        shown: dict[Path, Subject] = {(name,): about for name in found.added}
        for field in found.row.schema.fields:
            shown[field.name,] = Subject(0, (side,), field.name)
        return Subjects(members=shown)
    members = dict(_MEMBERS)
    if isinstance(found, Heartbeat):
        members["ts_ms",] = Subject(0, ("kind", "what", "sent_ms"))
    elif isinstance(found, (Change, LogicalMessage)) and not found.source.schema:
        members["source", "db"] = Subject(0, ("schema", "database", "extra"), "database")
    is_loose = isinstance(found, Change) and source_of(found.source.connector).has_undeclared
    return Subjects(_ROWS, members, rules=LOOSE_RULES if is_loose else RULES)


def key_subjects(found: Message | None) -> Subjects:
    """Return what the members of a key show."""
    match found:
        case Change(cdl=None) | Unwrapped():
            return Subjects(payload=Subject(0, ("key",)))
        case Heartbeat():
            return Subjects(members={("serverName",): Subject(0, ("extra",), "source_name")})
        case Tombstone(row=Unwrapped() as row):
            fields = row.row.schema.fields
            shown: dict[Path, Subject] = {
                (field.name,): Subject(0, ("before",), field.name) for field in fields
            }
            about = Subject(0, ("kind", "op", "schema", "table", "key"))
            return Subjects(members=shown, payload=about)
        case Tombstone():
            return Subjects(payload=Subject(0, ("kind", "what", "extra"), "message_key"))
        case _:
            return Subjects()
