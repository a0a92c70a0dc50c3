"""Where the parts of an event stand in messages of Kafka Connect: by their place, not their name.

One name means several things there: ``ts_ms`` is in the source and beside it, and a column may be
called ``op``. A payload may stand in an envelope or alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from cdcwire.core.errors import Path
from cdcwire.core.reader import Span

# Part of an event -> the places in a payload that say it, the likeliest first.
_OF_CDL: Mapping[str, tuple[Path, ...]] = {
    "op": (("OPERATION",),),
    "schema": (("SEG_OWNER",),),
    "table": (("TABLE_NAME",),),
    "key": (("unique",),),
    "lsn": (("transaction", "properties"), ("transaction",)),
    "tx_id": (("transaction", "properties"), ("transaction",)),
    "transaction_properties": (("transaction", "properties"), ("transaction",)),
    "commit_ms": (("TIMESTAMP",),),
    "connector": (("DATA_STORE",),),
    "heartbeat_identifier": (("HEARTBEAT_IDENTIFIER",),),
    "lob_columns": (("LOB_COLUMNS",),),
    "message_type": (("message_type",),),
    "after": (("data",),),
    "before": (("before",),),
}
_OF_DEBEZIUM: Mapping[str, tuple[Path, ...]] = {
    "op": (("op",),),
    "what": (("status",), ("op",), ("ts_ms",)),
    "id": (("id",), ("message", "prefix"), ("message",)),
    "database": (("source", "db"),),
    "schema": (("source", "schema"), ("source", "db")),
    "table": (("source", "table"),),
    "key": (("unique",),),
    "lsn": (("source", "lsn"),),
    "tx_id": (("source", "txId"),),
    "tx_order": (("transaction", "total_order"), ("transaction",)),
    "commit_ms": (("source", "ts_ms"),),
    "sent_ms": (("ts_ms",),),
    "connector": (("source", "connector"),),
    "connector_version": (("source", "version"),),
    "source_name": (("source", "name"), ("serverName",)),
    "snapshot": (("source", "snapshot"),),
    "xmin": (("source", "xmin"),),
    "sequence": (("source", "sequence"),),
    "source_ts_us": (("source", "ts_us"),),
    "source_ts_ns": (("source", "ts_ns"),),
    "gtid": (("source", "gtid"),),
    "transaction_id": (("transaction", "id"), ("transaction",)),
    "data_collection_order": (("transaction", "data_collection_order"), ("transaction",)),
    "content": (("message", "content"), ("message",)),
    "heartbeat_identifier": (("HEARTBEAT_IDENTIFIER",),),
    "lob_columns": (("LOB_COLUMNS",),),
    "after": (("after",),),
    "before": (("before",),),
}
_PLACES = {"cdl-json": _OF_CDL, "debezium-json": _OF_DEBEZIUM}
# Names whose place is the message's key, or all of it.
_IN_KEYS = ("key", "message_key", "source_name")


def has_members(format_name: str) -> bool:
    """Return whether the messages of a format are Connect's."""
    return format_name in _PLACES


def member_span(format_name: str, path: Path, spans: Sequence[Span]) -> Span | None:
    """Return the span of the part of an event that a path leads to; the nearest one of a column.

    A column whose row is NULL is where the row should stand.
    """
    match path:
        case (("before" | "after") as side, *rest):
            columns = rest[:1]
            return _at(spans, format_name, side, columns) or _at(spans, format_name, side, [])
        case (("position" | "extra"), str(name), *_) | (str(name), *_):
            found = _at(spans, format_name, name, [])
            if found is None and name in _IN_KEYS:
                found = next((span for span in spans if span.path[:1] == ("key",)), None)
            return found
        case _:
            return next(iter(spans), None)


def _at(
    spans: Iterable[Span], format_name: str, name: str, columns: Sequence[str | int]
) -> Span | None:
    by_path: dict[Path, Span] = {}
    for span in spans:
        by_path.setdefault(span.path, span)
    for place in _PLACES[format_name].get(name, ((name,),)):
        for outer in (("value", "payload"), ("value",), ("key", "payload"), ("key",)):
            found = by_path.get((*outer, *place, *columns))
            if found is not None:
                return found
    return None
