"""A CDL message of version 2.0 as one of version 1.0."""

from __future__ import annotations

from cdcwire.connect import ConnectValue, Envelope, Field, Schema
from cdcwire.connect.bounds import ConversionError
from cdcwire.connect.cdl import (
    INT64,
    OPTIONAL_STRING,
    STRING,
    VERSION_1,
    Convert,
    Loss,
    Mapped,
    Member,
    translated_envelope,
    translated_row,
)
from cdcwire.connect.logical import read_timestamp_text
from cdcwire.connect.times import moment
from cdcwire.connect.types import CONNECT_TIMESTAMP, is_cdc_timestamp
from cdcwire.core.errors import DecodeError, EncodeError
from cdcwire.debezium.reading import change_of
from cdcwire.model.kinds import DatetimeType

_CLAUSE = "cdl-json: mapping"
_OPERATIONS = {"c": "INSERT", "u": "UPDATE", "d": "DELETE"}
_TEXT = DatetimeType()


def to_version_1(
    envelope: Envelope, *, read_r_as_c: bool = False, truncate: bool = False
) -> Mapped:
    """Return a message of version 2.0 as one of version 1.0.

    ``truncate``: cut what is below the millisecond, and say so; without, it is refused.
    Raises: DecodeError when it lacks CDL's version 2.0; EncodeError for an op or a value that
    1.0 does not have.
    """
    change = change_of(envelope)
    if change.cdl is None:
        raise DecodeError("message_version is required", 0, "debezium-json: message version")
    op = "c" if change.op == "r" and read_r_as_c else change.op
    if op not in _OPERATIONS:
        raise EncodeError(f"op {change.op} has no form in version 1.0", _CLAUSE, ("op",))
    source, losses = change.source, []
    lost = (
        ("source.version", source.version),
        ("source.name", source.name),
        ("source.db", source.db),
        ("source.snapshot", source.snapshot),
        ("ts_ms", change.ts_ms),
    )
    losses = [Loss("lost", name, str(value)) for name, value in lost if value is not None]
    pairs = (("lsn", source.place.get("lsn")), ("txId", source.place.get("tx_id")))
    properties = tuple((name, int(value)) for name, value in pairs if value is not None)

    def convert(schema: Schema) -> tuple[Schema, Convert | None]:
        return _to_count(schema, truncate, losses)

    cdl = change.cdl
    data = translated_row("after", change.after.schema, change.after.values, convert)
    before = translated_row("before", change.before.schema, change.before.values, convert)
    unique = translated_row("unique", cdl.unique.schema, cdl.unique.values, convert)
    entry = Schema("struct", fields=(Field("name", STRING), Field("value", INT64)))
    transaction = Schema(
        "struct", name="transaction", fields=(Field("properties", Schema("array", items=entry)),)
    )
    timestamp = Schema("int64", name=CONNECT_TIMESTAMP, version=1)
    members: list[Member] = [
        ("DATA_STORE", STRING, source.connector.upper()),
        ("SEG_OWNER", STRING, source.schema),
        ("TABLE_NAME", STRING, source.table),
        ("TIMESTAMP", timestamp, source.ts_ms),
        ("OPERATION", STRING, _OPERATIONS[op]),
        ("LOB_COLUMNS", OPTIONAL_STRING, cdl.lob_columns),
        ("transaction", transaction, (properties,)),
        ("unique", *unique),
        ("data", *data),
        ("before", *before),
        ("message_version", STRING, VERSION_1),
        ("message_type", STRING, cdl.message_type),
        ("HEARTBEAT_IDENTIFIER", OPTIONAL_STRING, cdl.heartbeat_identifier),
    ]
    return Mapped(translated_envelope(envelope, members), tuple(losses))


def _to_count(schema: Schema, truncate: bool, losses: list[Loss]) -> tuple[Schema, Convert | None]:
    if schema.type != "string" or not is_cdc_timestamp(schema.name):
        return schema, None

    def count(value: ConnectValue) -> int:
        try:
            text = read_timestamp_text(value)
        except ConversionError as error:
            raise EncodeError(error.problem, error.clause) from error
        whole, point, fraction = text.partition(".")
        if truncate and fraction[3:].strip("0"):
            losses.append(Loss("cut", "digits below the millisecond", text))
            text = f"{whole}{point}{fraction[:3]}"
        return moment(_TEXT, text, "ms")

    return Schema("int64", schema.optional, CONNECT_TIMESTAMP, 1), count
