"""A CDL message of version 1.0 as one of version 2.0, and the other way.

What one of them has no member for is told, not dropped in silence: each translation gives its
losses as data. The rows keep their columns; of their types only date and time changes its form.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from cdcwire.connect import ConnectValue, Envelope, Field, Schema
from cdcwire.connect.counts import calendar_text, moment
from cdcwire.connect.logical import read_timestamp_text
from cdcwire.connect.types import (
    CDC_DECIMAL,
    CDC_TIMESTAMP,
    CONNECT_TIMESTAMP,
    is_cdc_decimal,
    is_cdc_timestamp,
)
from cdcwire.core.errors import DecodeError, EncodeError, step
from cdcwire.formats.cdl_json.message import MESSAGE_VERSION as VERSION_1
from cdcwire.formats.cdl_json.wire import change_of as read_version_1
from cdcwire.formats.debezium_json.message import MESSAGE_VERSION as VERSION_2
from cdcwire.formats.debezium_json.schemas import source_schema
from cdcwire.formats.debezium_json.wire import change_of as read_version_2
from cdcwire.model.kinds import DatetimeType

_CLAUSE = "cdl-json: mapping"
_OPS = {"INSERT": "c", "UPDATE": "u", "DELETE": "d"}
_OPERATIONS = {"c": "INSERT", "u": "UPDATE", "d": "DELETE"}
_PLACED = ("lsn", "txId")
_MS = DatetimeType(form="ms")
_TEXT = DatetimeType()
Convert: TypeAlias = Callable[[ConnectValue], ConnectValue]


@dataclass(frozen=True, slots=True)
class Invented:
    """What version 2.0 asks for and 1.0 does not tell.

    ``ts_ms``: when the connector handled the change; None takes the time of the commit.
    """

    version: str
    name: str
    db: str
    ts_ms: int | None = None
    name_prefix: str = "com.xxx"
    with_heartbeat_identifier: bool = False


@dataclass(frozen=True, slots=True)
class Loss:
    """One member that does not come through.

    lost: it has no place on the other side. invented: it was put in. cut: a part of it is lost.
    """

    what: Literal["lost", "invented", "cut"]
    member: str
    value: str


@dataclass(frozen=True, slots=True)
class Mapped:
    """The translated message and what did not come through."""

    envelope: Envelope
    losses: tuple[Loss, ...]


def version_of(envelope: Envelope) -> Literal["1.0", "2.0"] | None:
    """Return the message_version of a message of CDL's, as far as its members show it.

    Where the payload does not say it, DATA_STORE tells 1.0 and source 2.0. None: neither.
    """
    schema = envelope.schema
    if schema is None or schema.type != "struct" or not isinstance(envelope.payload, tuple):
        return None
    place = schema.index("message_version")
    told = None if place is None else envelope.payload[place]
    if told in (VERSION_1, VERSION_2):
        return "1.0" if told == VERSION_1 else "2.0"
    if told is not None:
        return None
    if schema.field("DATA_STORE") is not None:
        return "1.0"
    return "2.0" if schema.field("source") is not None else None


def to_version_2(envelope: Envelope, invented: Invented) -> Mapped:
    """Return a message of version 1.0 as one of version 2.0.

    Raises: DecodeError when it is none of version 1.0; EncodeError for a moment without text.
    """
    change = read_version_1(envelope)
    losses: list[Loss] = []
    properties = dict(change.properties)
    for name, value in properties.items():
        if name not in _PLACED:
            losses.append(Loss("lost", f"transaction.properties[{name}]", str(value)))
    names = ("source.version", "source.name", "source.db")
    for name, told in zip(names, (invented.version, invented.name, invented.db), strict=True):
        losses.append(Loss("invented", name, told))
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
    source = source_schema("cdl")

    def convert(schema: Schema) -> tuple[Schema, Convert | None]:
        return _to_text(schema, prefix)

    data = _converted("data", change.data.schema, change.data.values, convert)
    before = _converted("before", change.before.schema, change.before.values, convert)
    unique = _converted("unique", change.unique.schema, change.unique.values, convert)
    string, text = Schema("string"), Schema("string", True)
    members: list[tuple[str, Schema, ConnectValue]] = [
        ("before", *before),
        ("after", *data),
        ("source", source, tuple(values[field.name] for field in source.fields)),
        ("op", string, _OPS[change.operation]),
        ("ts_ms", Schema("int64"), ts_ms),
        ("message_version", string, VERSION_2),
        ("message_type", string, change.message_type),
        ("LOB_COLUMNS", text, change.lob_columns),
        ("unique", *unique),
    ]
    if invented.with_heartbeat_identifier:
        members.append(("HEARTBEAT_IDENTIFIER", text, change.heartbeat_identifier))
    elif change.heartbeat_identifier is not None:
        losses.append(Loss("lost", "HEARTBEAT_IDENTIFIER", change.heartbeat_identifier))
    return Mapped(_envelope(envelope, members), tuple(losses))


def to_version_1(
    envelope: Envelope, *, read_r_as_c: bool = False, truncate: bool = False
) -> Mapped:
    """Return a message of version 2.0 as one of version 1.0.

    ``truncate``: cut what is below the millisecond, and say so; without, it is refused.
    Raises: DecodeError when it is none of CDL's version 2.0; EncodeError for an op or a value that
    1.0 does not have.
    """
    change = read_version_2(envelope)
    if change.cdl is None:
        raise DecodeError("message_version is required", -1, "debezium-json: message version")
    op = "c" if change.op == "r" and read_r_as_c else change.op
    if op not in _OPERATIONS:
        raise EncodeError(f"op {change.op} has no form in version 1.0", _CLAUSE, ("op",))
    source, losses = change.source, []
    told = (
        ("source.version", source.version),
        ("source.name", source.name),
        ("source.db", source.db),
        ("source.snapshot", source.snapshot),
        ("ts_ms", change.ts_ms),
    )
    losses = [Loss("lost", name, str(value)) for name, value in told if value is not None]
    pairs = (("lsn", source.lsn), ("txId", source.tx_id))
    properties = tuple((name, value) for name, value in pairs if value is not None)

    def convert(schema: Schema) -> tuple[Schema, Convert | None]:
        return _to_count(schema, truncate, losses)

    cdl = change.cdl
    data = _converted("after", change.after.schema, change.after.values, convert)
    before = _converted("before", change.before.schema, change.before.values, convert)
    unique = _converted("unique", cdl.unique.schema, cdl.unique.values, convert)
    string, text = Schema("string"), Schema("string", True)
    entry = Schema("struct", fields=(Field("name", string), Field("value", Schema("int64"))))
    transaction = Schema(
        "struct", name="transaction", fields=(Field("properties", Schema("array", items=entry)),)
    )
    timestamp = Schema("int64", name=CONNECT_TIMESTAMP, version=1)
    members: list[tuple[str, Schema, ConnectValue]] = [
        ("DATA_STORE", string, source.connector.upper()),
        ("SEG_OWNER", string, source.schema),
        ("TABLE_NAME", string, source.table),
        ("TIMESTAMP", timestamp, source.ts_ms),
        ("OPERATION", string, _OPERATIONS[op]),
        ("LOB_COLUMNS", text, cdl.lob_columns),
        ("transaction", transaction, (properties,)),
        ("unique", *unique),
        ("data", *data),
        ("before", *before),
        ("message_version", string, VERSION_1),
        ("message_type", string, cdl.message_type),
        ("HEARTBEAT_IDENTIFIER", text, cdl.heartbeat_identifier),
    ]
    return Mapped(_envelope(envelope, members), tuple(losses))


def _envelope(old: Envelope, members: list[tuple[str, Schema, ConnectValue]]) -> Envelope:
    name = None if old.schema is None else old.schema.name
    fields = tuple(Field(member, schema) for member, schema, _ in members)
    schema = Schema("struct", name=name, fields=fields)
    return Envelope(schema, tuple(value for _, _, value in members), old.wrapped)


def _prefix(schema: Schema, default: str) -> str:
    """Return what stands before ``.cdc.data`` in the names of this message."""
    for field in schema.fields:
        name = field.schema.name
        if name is not None and is_cdc_decimal(name):
            return name[: -len(CDC_DECIMAL)]
    return default


def _converted(
    member: str,
    schema: Schema,
    values: tuple[ConnectValue, ...] | None,
    convert: Callable[[Schema], tuple[Schema, Convert | None]],
) -> tuple[Schema, tuple[ConnectValue, ...] | None]:
    plans = [(field.name, *convert(field.schema)) for field in schema.fields]
    fields = tuple(Field(name, new) for name, new, _ in plans)
    new_schema = replace(schema, fields=fields)
    if values is None:
        return new_schema, None
    row = []
    for (name, _, change), value in zip(plans, values, strict=True):
        with step(member, name):
            row.append(value if value is None or change is None else change(value))
    return new_schema, tuple(row)


def _to_text(schema: Schema, prefix: str) -> tuple[Schema, Convert | None]:
    if schema.name != CONNECT_TIMESTAMP:
        return schema, None
    new = Schema("string", schema.optional, f"{prefix}{CDC_TIMESTAMP}")
    return new, lambda value: calendar_text(_MS, value)


def _to_count(schema: Schema, truncate: bool, losses: list[Loss]) -> tuple[Schema, Convert | None]:
    if schema.type != "string" or not is_cdc_timestamp(schema.name):
        return schema, None

    def count(value: ConnectValue) -> int:
        text = read_timestamp_text(value)
        whole, point, fraction = text.partition(".")
        if truncate and fraction[3:].strip("0"):
            losses.append(Loss("cut", "digits below the millisecond", text))
            text = f"{whole}{point}{fraction[:3]}"
        return moment(_TEXT, text, "ms")

    return Schema("int64", schema.optional, CONNECT_TIMESTAMP, 1), count
