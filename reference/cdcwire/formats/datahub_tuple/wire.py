"""Rows of a Tuple topic and the records of its bodies, both ways, without loss.

Source: datahub-tuple, "metadata columns", "image flags".
"""

from __future__ import annotations

import re
from typing import cast

from cdcwire.core.context import NO_CONTEXT, Context
from cdcwire.core.errors import DecodeError, EncodeError, step
from cdcwire.core.message import KafkaMessage
from cdcwire.datahub.carrying import read_records
from cdcwire.datahub.fields import FieldValue
from cdcwire.datahub.message import Record
from cdcwire.datahub.records import fields_sent
from cdcwire.datahub.tuple_topic import Operation, Topic, TupleRow
from cdcwire.formats.datahub_tuple.settings import DEFAULT_SETTINGS, Settings, read_settings
from cdcwire.formats.datahub_tuple.topic import find_table, topic_of

CLAUSE_METADATA = "datahub-tuple: metadata columns"
CLAUSE_SEQUENCE = "datahub-tuple: sequence ids"
CLAUSE_OPERATION = "datahub-tuple: operation types"
CLAUSE_TIME = "datahub-tuple: execute time"
CLAUSE_TABLE = "datahub-tuple: source table"
CLAUSE_FLAGS = "datahub-tuple: image flags"

MAX_TIME = 9999999999999  # 13 digits
MAX_SEQUENCE_DIGITS = 38
# Operation type, and whether the row is of the image before and after.
COMBINATIONS: frozenset[tuple[str, bool, bool]] = frozenset(
    {("I", False, True), ("U", True, False), ("U", False, True), ("D", True, False)}
)
_SEQUENCE_ID = re.compile(r"[0-9]{1,38}")
_FLAGS = {"Y": True, "N": False}


def decode(
    value: bytes | None,
    *,
    key: bytes | None = None,
    headers: tuple[tuple[str, bytes], ...] = (),
    context: Context = NO_CONTEXT,
) -> list[TupleRow]:
    """Return the rows of a body. ``headers``: those of HTTP, which name the encoding.

    The context's tables define the topic. Raises: DecodeError, OptionError.
    """
    settings = read_settings(context)
    topic = topic_of(find_table(context.tables, settings), settings)
    return read_rows(KafkaMessage(key, value, headers), topic, settings)


def read_rows(
    message: KafkaMessage, topic: Topic, settings: Settings = DEFAULT_SETTINGS
) -> list[TupleRow]:
    """Return the rows of a body. Raises: DecodeError.

    An error in a metadata column is reported at the place of the record's data.
    """
    found = []
    for path, record in read_records(message, topic.fields, settings.body):
        with step(*path):
            found.append(row_of(record, topic))
    return found


def row_of(record: Record, topic: Topic) -> TupleRow:
    """Return the row of a record. Raises: DecodeError."""
    data, at = cast("tuple[FieldValue, ...]", record.data), record.offset
    sequence_id = _text(data, topic, topic.sequence_id, at)
    if not _SEQUENCE_ID.fullmatch(sequence_id):
        problem = f"{sequence_id[:60]!r} is not a sequence id: 1 to {MAX_SEQUENCE_DIGITS} digits"
        raise _error(problem, CLAUSE_SEQUENCE, topic, topic.sequence_id, at)
    operation = _text(data, topic, topic.operation_type, at)
    if operation not in ("I", "U", "D"):
        problem = f"{operation[:60]!r} is not I, U or D"
        raise _error(problem, CLAUSE_OPERATION, topic, topic.operation_type, at)
    time = _present(data, topic, topic.execute_time, at)
    if not isinstance(time, int) or not 0 <= time <= MAX_TIME:
        problem = f"{time} is not a time in milliseconds of up to 13 digits"
        raise _error(problem, CLAUSE_TIME, topic, topic.execute_time, at)
    table = None
    if topic.source_table is not None:
        table = _text(data, topic, topic.source_table, at)
        if not table:
            raise _error("no name", CLAUSE_TABLE, topic, topic.source_table, at)
        if topic.table.name not in (None, table):
            problem = f"a row of table {table[:60]!r}; the topic's is {topic.table.name!r}"
            raise _error(problem, "datahub: topics", topic, topic.source_table, at)
    has_before = _flag(data, topic, topic.before_image, at)
    has_after = _flag(data, topic, topic.after_image, at)
    if (operation, has_before, has_after) not in COMBINATIONS:
        flags = f"{'NY'[has_before]},{'NY'[has_after]}"
        problem = f"{operation} with the flags {flags}; I has N,Y, U has Y,N or N,Y, D has Y,N"
        raise _error(problem, CLAUSE_FLAGS, topic, topic.after_image, at)
    sent = topic.data if len(data) == len(topic.fields) else _sent(topic, len(data))
    values = tuple([data[index] for index in sent])
    return TupleRow(
        cast(Operation, operation), has_before, has_after, sequence_id, time, table, values
    )


def _sent(topic: Topic, size: int) -> tuple[int, ...]:
    """Return the data fields of a record that is older than the last ones."""
    return tuple(index for index in topic.data if index < size)


def _present(
    data: tuple[FieldValue, ...], topic: Topic, index: int, at: int
) -> str | int | float | object:
    value = data[index]
    if value is None:
        raise _error("a metadata column is never NULL", CLAUSE_METADATA, topic, index, at)
    return value


def _text(data: tuple[FieldValue, ...], topic: Topic, index: int, at: int) -> str:
    return cast(str, _present(data, topic, index, at))


def _flag(data: tuple[FieldValue, ...], topic: Topic, index: int, at: int) -> bool:
    text = _text(data, topic, index, at)
    flag = _FLAGS.get(text)
    if flag is None:
        raise _error(f"{text[:60]!r} is neither Y nor N", CLAUSE_FLAGS, topic, index, at)
    return flag


def _error(problem: str, clause: str, topic: Topic, index: int, at: int) -> DecodeError:
    return DecodeError(problem, at, clause, (topic.fields[index].name,))


# ---- writing ---------------------------------------------------------------------------------


def record_of(row: TupleRow, topic: Topic) -> Record:
    """Return the record of a row. Raises: EncodeError."""
    if (row.operation, row.has_before, row.has_after) not in COMBINATIONS:
        problem = f"{row.operation} with {row.has_before}, {row.has_after} is not a valid row"
        raise EncodeError(problem, CLAUSE_FLAGS, ("operation",))
    if not _SEQUENCE_ID.fullmatch(row.sequence_id):
        problem = (
            f"{row.sequence_id[:60]!r} is not a sequence id: 1 to {MAX_SEQUENCE_DIGITS} digits"
        )
        raise EncodeError(problem, CLAUSE_SEQUENCE, ("sequence_id",))
    if isinstance(row.execute_time, bool) or not 0 <= row.execute_time <= MAX_TIME:
        problem = f"{row.execute_time} is not a time in milliseconds of up to 13 digits"
        raise EncodeError(problem, CLAUSE_TIME, ("execute_time",))
    count, size = len(row.values), len(topic.fields)
    if 0 < count < len(topic.data):
        size = topic.data[count]
    if fields_sent(size, topic.fields) is None or count > len(topic.data) or not count:
        problem = f"{count} values; the topic has {len(topic.data)} data columns"
        raise EncodeError(problem, "datahub-tuple: topic schema", ("values",))
    data: list[FieldValue] = [None] * size
    data[topic.sequence_id] = row.sequence_id
    data[topic.operation_type] = row.operation
    data[topic.execute_time] = row.execute_time
    data[topic.before_image] = "NY"[row.has_before]
    data[topic.after_image] = "NY"[row.has_after]
    if topic.source_table is not None:
        if not row.table:
            raise EncodeError("a row names its table", CLAUSE_TABLE, ("table",))
        if topic.table.name not in (None, row.table):
            problem = f"a row of table {row.table!r:.60}; the topic's is {topic.table.name!r}"
            raise EncodeError(problem, "datahub: topics", ("table",))
        data[topic.source_table] = row.table
    for index, value in zip(topic.data[:count], row.values, strict=True):
        data[index] = value
    return Record(tuple(data))
