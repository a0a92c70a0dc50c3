"""A change between its Tuple rows and its Blob message, with what is lost on the way as data.

Nothing is dropped unsaid: what a Tuple topic can't carry at all raises; what it has no column for
is listed in ``losses``. Source: datahub, "tuple and blob".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from math import isfinite
from types import MappingProxyType
from typing import Generic, Literal, TypeAlias, TypeVar

from cdcwire.core.errors import DecodeError, EncodeError, step
from cdcwire.core.json_strings import read_base64, write_base64
from cdcwire.datahub.fields import FieldType, FieldValue, check_value, clause_of, decimal_text
from cdcwire.datahub.ops import OPS
from cdcwire.datahub.streamx import (
    DEFAULT_VERSION,
    BlobColumn,
    BlobMessage,
    BlobValue,
    Cells,
    Source,
    StreamXType,
    kind_of,
)
from cdcwire.datahub.tuple_topic import (
    Operation,
    SchemaMismatchError,
    Topic,
    TupleRow,
    UnsupportedInTupleError,
)
from cdcwire.model.events import Table
from cdcwire.model.kinds import BytesType, Column

CLAUSE = "datahub: tuple and blob"

# Members of a Blob message that no column of a Tuple topic holds.
Lost: TypeAlias = Literal[
    "systemTime",
    "checkpointTime",
    "dbType",
    "dbVersion",
    "dbName",
    "schemaName",
    "primaryKey",
    "version",
    "column type",
    "digits below ms",
]

TO_TUPLE: Mapping[StreamXType, FieldType] = MappingProxyType(
    {
        "LONG": "BIGINT",
        "DOUBLE": "DOUBLE",
        "BOOLEAN": "BOOLEAN",
        "STRING": "STRING",
        "DATE": "TIMESTAMP",
        "BYTES": "STRING",
    }
)
TO_BLOB: Mapping[FieldType, StreamXType] = MappingProxyType(
    {
        "BIGINT": "LONG",
        "INTEGER": "LONG",
        "SMALLINT": "LONG",
        "TINYINT": "LONG",
        "DOUBLE": "DOUBLE",
        "FLOAT": "DOUBLE",
        "BOOLEAN": "BOOLEAN",
        "STRING": "STRING",
        "DECIMAL": "STRING",
        "TIMESTAMP": "DATE",
    }
)
_US_OF_MS = 1000
_Mapped = TypeVar("_Mapped")


@dataclass(frozen=True, slots=True)
class Loss:
    """One thing that the other form cannot express. ``column``: the column, if it is in one."""

    what: Lost
    value: str
    column: str | None = None


@dataclass(frozen=True, slots=True)
class Mapped(Generic[_Mapped]):
    """The result of mapping a change, and the losses."""

    value: _Mapped
    losses: tuple[Loss, ...]


@dataclass(frozen=True, slots=True)
class Origin:
    """The parts of a Blob message other than the row, required to make one of a Tuple row."""

    db_name: str
    db_type: str
    db_version: str | None = None
    schema_name: str | None = None
    primary_key: tuple[str, ...] | None = None
    version: str = DEFAULT_VERSION


def table_of_blob(message: BlobMessage) -> Table:
    """Return the definition of the Tuple topic for the table of a message. Raises: EncodeError."""
    if message.columns is None or message.source is None:
        raise UnsupportedInTupleError(message.op, ("op",))
    key = message.primary_key or ()
    names = frozenset(key)
    columns = tuple(
        Column(
            column.name,
            kind_of(column.type),
            TO_TUPLE[column.type],
            roles=frozenset(("primary",)) if column.name in names else frozenset(),
        )
        for column in message.columns
    )
    source = message.source
    if source.schema_name is None:
        return Table(source.table_name, source.db_name, None, columns, key)
    return Table(source.table_name, source.schema_name, source.db_name, columns, key)


# ---- Blob to Tuple ---------------------------------------------------------------------------


def blob_to_tuple(message: BlobMessage, topic: Topic) -> Mapped[tuple[TupleRow, ...]]:
    """Return the rows of a message: one, or two of an UPDATE with both images.

    Raises: UnsupportedInTupleError for a message that is not a row; SchemaMismatchError where its
    columns are not the topic's; EncodeError for a DATE outside the range of TIMESTAMP.
    """
    op = OPS[message.op]
    if op.group != "row":
        raise UnsupportedInTupleError(message.op, ("op",))
    assert message.source is not None  # a row has source and sequence id
    assert message.sequence_id is not None
    types: dict[str, StreamXType] = {c.name: c.type for c in message.columns or ()}
    _check_columns(types, topic)
    letters: dict[str | None, Operation] = {"insert": "I", "update": "U", "delete": "D"}
    rows = []
    for name, cells in (("before", message.before), ("after", message.after)):
        if cells is not None:
            is_after = name == "after"
            with step(name):
                values = _values(cells, types, topic)
            rows.append(
                TupleRow(
                    letters[op.row_op],
                    not is_after,
                    is_after,
                    message.sequence_id,
                    message.event_time,
                    message.source.table_name,
                    values,
                )
            )
    return Mapped(tuple(rows), _losses(message, types, topic))


def _check_columns(types: Mapping[str, StreamXType], topic: Topic) -> None:
    for index in topic.data:
        field = topic.fields[index]
        if field.name not in types:
            raise SchemaMismatchError(field.name, "is not in the message")
        wanted = TO_TUPLE[types[field.name]]
        if field.type != wanted:
            problem = f"is {types[field.name]}, and so {wanted}; the topic has {field.type}"
            raise SchemaMismatchError(field.name, problem)
    names = {topic.fields[index].name for index in topic.data}
    for name in types:
        if name not in names:
            raise SchemaMismatchError(name, "is not in the topic")


def _values(cells: Cells, types: Mapping[str, StreamXType], topic: Topic) -> tuple[FieldValue, ...]:
    given = dict(cells)
    values = []
    for index in topic.data:
        field = topic.fields[index]
        if field.name not in given:
            raise SchemaMismatchError(field.name, "is not in the image; absent is not NULL")
        with step(field.name):
            value = _to_tuple(types[field.name], given[field.name])
            problem = "" if value is None else check_value(field.type, value)
            if problem:
                raise EncodeError(problem, clause_of(field.type))
        values.append(value)
    return tuple(values)


def _to_tuple(type_: StreamXType, value: BlobValue) -> FieldValue:
    if isinstance(value, bytes):
        return write_base64(value)
    if type_ == "DATE" and isinstance(value, int):
        return value * _US_OF_MS
    return value


def _losses(
    message: BlobMessage, types: Mapping[str, StreamXType], topic: Topic
) -> tuple[Loss, ...]:
    source = message.source or Source()
    found: list[Loss] = []
    members: tuple[tuple[Lost, object], ...] = (
        ("systemTime", message.system_time),
        ("checkpointTime", message.checkpoint_time),
        ("dbType", source.db_type),
        ("dbVersion", source.db_version),
        ("dbName", source.db_name),
        ("schemaName", source.schema_name),
        ("version", message.version),
    )
    found += [Loss(name, str(value)) for name, value in members if value is not None]
    if message.primary_key is not None:
        found.append(Loss("primaryKey", ",".join(message.primary_key)))
    known = {column.name: column for column in topic.columns}
    for name, type_ in types.items():
        if type_ == "BYTES" and not isinstance(known[name].type, BytesType):
            found.append(Loss("column type", type_, name))
    return tuple(found)


# ---- Tuple to Blob ---------------------------------------------------------------------------


def tuple_to_blob(
    row: TupleRow, topic: Topic, origin: Origin, *, truncate: bool = False
) -> Mapped[BlobMessage]:
    """Return the message of a row; the rows of an update become UPDATE_BEFOR and UPDATE_AFTER.

    ``truncate``: cut what a TIMESTAMP has below milliseconds, and list it; else it is an error.
    Raises: EncodeError for what a Blob message has no form for.
    """
    names = {"I": "INSERT", "D": "DELETE", "U": "UPDATE_AFTER" if row.has_after else "UPDATE_BEFOR"}
    columns: list[BlobColumn] = []
    cells: list[tuple[str, BlobValue]] = []
    losses: list[Loss] = []
    for index, column, value in zip(topic.data, topic.columns, row.values, strict=True):
        field = topic.fields[index]
        type_ = TO_BLOB[field.type]
        if isinstance(column.type, BytesType):
            type_ = "BYTES"
        elif TO_TUPLE[type_] != field.type:
            losses.append(Loss("column type", field.type, field.name))
        columns.append(BlobColumn(field.name, type_))
        with step(field.name):
            found, rest = _to_blob(type_, value, truncate=truncate)
        if rest:
            losses.append(Loss("digits below ms", f"{rest} us", field.name))
        cells.append((field.name, found))
    source = Source(
        origin.db_name,
        origin.db_type,
        origin.db_version,
        origin.schema_name,
        row.table or topic.table.name,
    )
    message = BlobMessage(
        names[row.operation],
        row.execute_time,
        row.sequence_id,
        tuple(columns),
        source,
        origin.primary_key,
        tuple(cells) if row.has_before else None,
        tuple(cells) if row.has_after else None,
        version=origin.version,
    )
    return Mapped(message, tuple(losses))


def _to_blob(type_: StreamXType, value: FieldValue, *, truncate: bool) -> tuple[BlobValue, int]:
    """Return the value, and the microseconds that were cut."""
    match type_, value:
        case _, None:
            return None, 0
        case "BYTES", str():
            try:
                return read_base64(value, 0, CLAUSE), 0
            except DecodeError as error:
                raise EncodeError(error.problem, CLAUSE) from error
        case "DATE", int():
            count, rest = divmod(value, _US_OF_MS)
            if rest and not truncate:
                raise EncodeError(f"{value} us are not whole milliseconds", CLAUSE)
            return count, rest
        case _, float():
            if not isfinite(value):
                raise EncodeError(f"{value} has no form in JSON", CLAUSE)
            return value, 0
        case _, Decimal():
            return decimal_text(value), 0
        case _:
            return value, 0
