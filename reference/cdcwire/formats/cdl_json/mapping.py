"""A CDL message of version 1.0 as one of version 2.0."""

from __future__ import annotations

from dataclasses import dataclass

from cdcwire.connect import ConnectValue, Envelope, Schema
from cdcwire.connect.cdl import (
    INT64,
    OPTIONAL_STRING,
    SOURCE,
    STRING,
    VERSION_2,
    Convert,
    Loss,
    Mapped,
    Member,
    translated_envelope,
    translated_row,
)
from cdcwire.connect.times import calendar_text
from cdcwire.connect.types import CDC_DECIMAL, CDC_TIMESTAMP, CONNECT_TIMESTAMP, is_cdc_decimal
from cdcwire.formats.cdl_json.wire import change_of
from cdcwire.model.kinds import DatetimeType

_OPS = {"INSERT": "c", "UPDATE": "u", "DELETE": "d"}
_PLACED = ("lsn", "txId")
_MS = DatetimeType(form="ms")


@dataclass(frozen=True, slots=True)
class Invented:
    """The values that version 2.0 asks for and 1.0 does not have.

    ``ts_ms``: when the connector handled the change; None takes the time of the commit.
    """

    version: str
    name: str
    db: str
    ts_ms: int | None = None
    name_prefix: str = "com.xxx"
    with_heartbeat_identifier: bool = False


def to_version_2(envelope: Envelope, invented: Invented) -> Mapped:
    """Return a message of version 1.0 as one of version 2.0.

    Raises: DecodeError when it does not have version 1.0; EncodeError for a moment without text.
    """
    change = change_of(envelope)
    losses: list[Loss] = []
    properties = dict(change.properties)
    for name, value in properties.items():
        if name not in _PLACED:
            losses.append(Loss("lost", f"transaction.properties[{name}]", str(value)))
    names = ("source.version", "source.name", "source.db")
    for name, text in zip(names, (invented.version, invented.name, invented.db), strict=True):
        losses.append(Loss("invented", name, text))
    losses.append(Loss("invented", "source.snapshot", "false"))
    ts_ms = change.timestamp if invented.ts_ms is None else invented.ts_ms
    losses.append(Loss("invented", "ts_ms", str(ts_ms)))
    prefix = _prefix(change.data.schema, invented.name_prefix)
    values: dict[str, ConnectValue] = {
        "version": invented.version,
        "connector": change.data_store.lower(),
        "name": invented.name,
        "ts_ms": change.timestamp,
        "snapshot": "false",
        "db": invented.db,
        "schema": change.seg_owner,
        "table": change.table_name,
        "txId": properties.get("txId"),
        "lsn": properties.get("lsn"),
    }

    def convert(schema: Schema) -> tuple[Schema, Convert | None]:
        return _to_text(schema, prefix)

    data = translated_row("data", change.data.schema, change.data.values, convert)
    before = translated_row("before", change.before.schema, change.before.values, convert)
    unique = translated_row("unique", change.unique.schema, change.unique.values, convert)
    members: list[Member] = [
        ("before", *before),
        ("after", *data),
        ("source", SOURCE, tuple(values[field.name] for field in SOURCE.fields)),
        ("op", STRING, _OPS[change.operation]),
        ("ts_ms", INT64, ts_ms),
        ("message_version", STRING, VERSION_2),
        ("message_type", STRING, change.message_type),
        ("LOB_COLUMNS", OPTIONAL_STRING, change.lob_columns),
        ("unique", *unique),
    ]
    if invented.with_heartbeat_identifier:
        members.append(("HEARTBEAT_IDENTIFIER", OPTIONAL_STRING, change.heartbeat_identifier))
    elif change.heartbeat_identifier is not None:
        losses.append(Loss("lost", "HEARTBEAT_IDENTIFIER", change.heartbeat_identifier))
    return Mapped(translated_envelope(envelope, members), tuple(losses))


def _prefix(schema: Schema, default: str) -> str:
    """Return the part before ``.cdc.data`` in the names of this message."""
    for field in schema.fields:
        name = field.schema.name
        if name is not None and is_cdc_decimal(name):
            return name[: -len(CDC_DECIMAL)]
    return default


def _to_text(schema: Schema, prefix: str) -> tuple[Schema, Convert | None]:
    if schema.name != CONNECT_TIMESTAMP:
        return schema, None
    new = Schema("string", schema.optional, f"{prefix}{CDC_TIMESTAMP}")
    return new, lambda value: calendar_text(_MS, value)
