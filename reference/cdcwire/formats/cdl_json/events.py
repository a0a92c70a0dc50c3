"""CDL JSON messages as neutral events, and events as messages.

Names of ``extra``: ``connector`` (DATA_STORE), ``heartbeat_identifier``, ``lob_columns``,
``message_type`` where it is not ``0``, ``transaction_properties``: those other than lsn and txId,
as JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from cdcwire.connect import Envelope, Field, Schema
from cdcwire.connect import encode as encode_envelope
from cdcwire.connect.cdl import ROW_CHANGE, VERSION_1
from cdcwire.connect.images import check_images, written_rows
from cdcwire.core.context import EVERYTHING, Selection
from cdcwire.core.errors import EncodeError, step
from cdcwire.core.message import KafkaMessage
from cdcwire.formats.cdl_json.message import (
    FIELDS,
    IMAGES,
    MEMBERS,
    NO_FIELDS,
    OPERATION,
    TRANSACTION,
    Change,
    Message,
    Tombstone,
    key_bytes,
)
from cdcwire.formats.cdl_json.settings import DEFAULT_SETTINGS, Settings
from cdcwire.model.events import Event, Extra, Marker, Op, Position, RowChange, Table
from cdcwire.model.instants import ms_of_tso

_OPS: dict[str, Op] = {"INSERT": "insert", "UPDATE": "update", "DELETE": "delete"}
OPERATIONS: dict[str, str] = {
    "insert": "INSERT",
    "read": "INSERT",
    "update": "UPDATE",
    "delete": "DELETE",
}
_FIELDS = {each.name: Field(each.name, each.schema or NO_FIELDS) for each in MEMBERS}
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,18}")  # as it comes back
_PLACED = ("lsn", "txId")


def events_of(message: Message, selection: Selection = EVERYTHING) -> Iterator[Event]:
    """Yield the event of a message.

    Raises: DecodeError, for a value that its logical type does not have.
    """
    if isinstance(message, Tombstone):
        yield Marker("tombstone", extra={"message_key": key_bytes(message.key)})
        return
    if not selection.wants(message.seg_owner, message.table_name):
        return
    properties = dict(message.properties)
    tx_id = properties.get("txId")
    position = Position(
        lsn=properties.get("lsn"),
        tx_id=None if tx_id is None else str(tx_id),
        commit_ms=message.timestamp,
    )
    key = tuple(field.name for field in message.unique.schema.fields)
    table = Table(message.table_name, message.seg_owner, key=key)
    before = message.before.image("before", "", selection.columns)
    after = message.data.image("data", "", selection.columns)
    op = _OPS[message.operation]
    yield RowChange(table, op, before, after, position, extra=_extra(message, properties))


def _extra(message: Change, properties: dict[str, int]) -> dict[str, str | bytes | None]:
    extra: dict[str, str | bytes | None] = {"connector": message.data_store}
    if message.heartbeat_identifier is not None:
        extra["heartbeat_identifier"] = message.heartbeat_identifier
    if message.lob_columns is not None:
        extra["lob_columns"] = message.lob_columns
    if message.message_type != ROW_CHANGE:
        extra["message_type"] = message.message_type
    others = {name: value for name, value in properties.items() if name not in _PLACED}
    if others:
        extra["transaction_properties"] = json.dumps(others, separators=(",", ":"))
    return extra


def messages_of(
    events: Iterable[Event],
    settings: Settings = DEFAULT_SETTINGS,
    usual: Callable[[Event], KafkaMessage | None] = lambda event: None,
) -> Iterator[KafkaMessage]:
    """Yield one message for each event.

    ``usual``: the fast encoder's; messages that it does not make are made here.
    Raises: EncodeError.
    """
    for index, event in enumerate(events):
        message = usual(event)
        if message is None:
            with step("events", index):
                message = _message(event, settings)
        yield message


def _message(event: Event, settings: Settings) -> KafkaMessage:
    if isinstance(event, Marker) and event.what == "tombstone":
        key = event.extra.get("message_key")
        return KafkaMessage(key if isinstance(key, bytes) else None, None)
    if not isinstance(event, RowChange):
        raise EncodeError("only changes of rows have a form here", FIELDS)
    wrapped = settings.schemas_enable != "false"
    return KafkaMessage(None, encode_envelope(write_change(event, settings, wrapped)))


def write_change(event: RowChange, settings: Settings, wrapped: bool = True) -> Envelope:
    """Return the envelope of a change. Raises: EncodeError."""
    if event.half is not None:
        problem = "an update is one event, never two records"
        raise EncodeError(problem, OPERATION, ("half",))
    if event.op not in OPERATIONS:
        problem = f"a row of op {event.op} has no form here"
        raise EncodeError(problem, OPERATION, ("op",))
    check_images(event, IMAGES)
    table, extra = event.table, event.extra
    if table.name is None or table.schema is None:
        raise EncodeError("a row needs the names of schema and table", FIELDS)
    rows = written_rows(event, settings.style)
    store = extra.get("connector")
    payload = (
        store.upper() if isinstance(store, str) else settings.data_store,
        table.schema,
        table.name,
        commit_ms(event.position),
        OPERATIONS[event.op],
        extra_text(event.extra, "lob_columns"),
        (properties_of(event),),
        rows.key_after if rows.after is not None else rows.key_before,
        rows.after,
        rows.before,
        VERSION_1,
        extra_text(event.extra, "message_type") or ROW_CHANGE,
        extra_text(event.extra, "heartbeat_identifier"),
    )
    name = f"{table.schema}.{table.name}"
    return Envelope(message_schema(name, rows.struct, rows.key), payload, wrapped)


def message_schema(name: str, struct: Schema, key: Schema) -> Schema:
    """Return the schema of the messages of a table; ``struct`` and ``key``: those of its rows."""
    rows = {
        "unique": Field("unique", replace(key, name="unique", optional=True)),
        "data": Field("data", replace(struct, name="data")),
        "before": Field("before", replace(struct, name="before")),
    }
    return Schema("struct", name=name, fields=tuple({**_FIELDS, **rows}.values()))


def commit_ms(position: Position) -> int:
    """Return when a change was committed; a TSO has it in its upper bits. Raises: EncodeError."""
    if position.commit_ms is not None:
        return position.commit_ms
    if position.commit_ts is not None:
        return ms_of_tso(position.commit_ts)
    raise EncodeError(
        "the time of the commit is required", "cdl-json: timestamp", ("position", "commit_ms")
    )


def extra_text(extra: Extra, name: str) -> str | None:
    """Return a text that ``extra`` has. Raises: EncodeError."""
    value = extra.get(name)
    if value is not None and not isinstance(value, str):
        raise EncodeError(f"{name} is text", FIELDS, ("extra", name))
    return value


def properties_of(event: RowChange) -> tuple[tuple[str, int], ...]:
    """Return the properties of the transaction: lsn, txId, the others. Raises: EncodeError."""
    position = event.position
    pairs: dict[str, int] = {}
    if position.lsn is not None:
        pairs["lsn"] = position.lsn
    if position.tx_id is not None:
        if _INTEGER.fullmatch(position.tx_id) is None:
            problem = f"transaction id {position.tx_id!r:.40} is not an integer"
            raise EncodeError(problem, TRANSACTION, ("position", "tx_id"))
        pairs["txId"] = int(position.tx_id)
    others = extra_text(event.extra, "transaction_properties")
    if others is not None:
        pairs.update(_other_properties(others))
    return tuple(pairs.items())


def _other_properties(text: str) -> dict[str, int]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if isinstance(found, dict) and not found.keys() & set(_PLACED):
        numbers: dict[str, int] = {n: v for n, v in found.items() if isinstance(v, int)}
        if len(numbers) == len(found):
            return numbers
    path = ("extra", "transaction_properties")
    problem = "transaction_properties is not a JSON object of integers by other names"
    raise EncodeError(problem, TRANSACTION, path)
