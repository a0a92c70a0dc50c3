"""Known-wrong decoders of DataHub: what both SDKs do wrong, and what a hasty reader would.

Several repeat a fault that pydatahub 2.29.0 or the Java SDK 2.21.6 showed when they were run.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from cdcwire.core.base64_text import write_base64
from cdcwire.core.errors import DecodeError
from cdcwire.core.format import Context, Format
from cdcwire.core.message import KafkaMessage, Message
from cdcwire.datahub.body import read_body
from cdcwire.datahub.carrying import headers_of, read_records
from cdcwire.datahub.crc32c import crc32c
from cdcwire.datahub.frame import MAGIC
from cdcwire.datahub.message import Batch, Record
from cdcwire.formats.datahub_blob import read_settings as blob_settings
from cdcwire.formats.datahub_tuple import find_table, topic_of
from cdcwire.formats.datahub_tuple import read_settings as tuple_settings
from cdcwire.model.events import Column, Event, Marker, Position, RowChange, Value
from cdcwire.model.kinds import BytesType, FloatType, IntType, TextType, TimestampType
from cdcwire_conformance.known_wrong.decoder import (
    DATAHUB,
    Decode,
    KnownWrong,
    changing_columns,
    changing_events,
    changing_rows,
    changing_values,
    right,
)
from cdcwire_conformance.known_wrong.structure import mended

_TUPLE = ("datahub-tuple",)
_BLOB = ("datahub-blob",)
_LEAST_LONG = -(1 << 63)
_FRAME, _HEADER, _RECORD = 12, 26, 16  # bytes of a frame's, a batch's and a record's header


def _with_options(**options: bool) -> Decode:
    """Return the reference under settings that nobody asked for."""
    told = {name.replace("_", "-"): value for name, value in options.items()}

    def decode(format_: Format, message: Message, context: Context) -> list[Event]:
        return right(format_, message, replace(context, options={**context.options, **told}))

    return decode


def _null_as_word(column: Column, value: Value) -> tuple[Column, Value]:
    return column, "None" if value is None and isinstance(column.type, TextType) else value


def _base64_kept(column: Column, value: Value) -> tuple[Column, Value]:
    if not isinstance(column.type, BytesType):
        return column, value
    kept = write_base64(value) if isinstance(value, bytes) else value
    return replace(column, type=TextType()), kept


def _timestamps_as_ms(column: Column, value: Value) -> tuple[Column, Value]:
    """Take microseconds for milliseconds."""
    kind = column.type
    is_us = isinstance(kind, TimestampType) and kind.form == "us"
    return (replace(column, type=replace(kind, form="ms")) if is_us else column), value  # type: ignore[arg-type]


def _dates_as_seconds(column: Column, value: Value) -> Value:
    """Take a DATE of up to 10 digits for seconds."""
    is_date = isinstance(column.type, TimestampType) and column.type.form == "ms"
    return value * 1000 if is_date and abs(value) < 10**10 else value


def _instants_eight_hours_off(column: Column, value: Value) -> Value:
    kind = column.type
    if not isinstance(kind, TimestampType) or kind.form not in ("ms", "us"):
        return value
    return value + 8 * 3600 * {"ms": 10**3, "us": 10**6}[kind.form]


def _doubles_of_integers(column: Column, value: Value) -> tuple[Column, Value]:
    """Take a DOUBLE without a fraction for a LONG."""
    is_whole = isinstance(column.type, FloatType) and value is not None and value % 1 == 0
    return (replace(column, type=IntType(64)), int(value)) if is_whole else (column, value)


def _moved(event: Event, **position: Any) -> Event:
    return replace(event, position=replace(event.position, **position))


def _execute_time_in_us(event: Event) -> Event:
    """Take the time of a change for microseconds, as a TIMESTAMP is."""
    commit_ms = event.position.commit_ms
    return event if commit_ms is None else _moved(event, commit_ms=commit_ms // 1000)


def _sequence_id_through_double(event: Event) -> Event:
    number = event.position.sequence_id
    return event if number is None else _moved(event, sequence_id=int(float(number)))


def _sequence_id_in_64_bits(event: Event) -> Event:
    number = event.position.sequence_id
    return event if number is None else _moved(event, sequence_id=number % (1 << 63))


def _system_time_as_event_time(event: Event) -> Event:
    position: Position = event.position
    return event if position.sent_ms is None else _moved(event, commit_ms=position.sent_ms)


def _halves_as_changes(row: RowChange) -> RowChange:
    """Take each row of an update for a change by itself."""
    if row.half is None:
        return row
    op: Any = "delete" if row.half == "before" else "insert"
    return replace(row, op=op, half=None)


def _database_as_schema(event: Event) -> Event:
    table = event.table if not isinstance(event, Marker) and hasattr(event, "table") else None
    if table is None or table.database is None:
        return event
    found: Any = event
    return replace(found, table=replace(table, schema=table.database, database=None))  # type: ignore[no-any-return]


def _marker_lost(event: Event) -> Event | None:
    return None if isinstance(event, Marker) else event


def _least_long_refused(format_: Format, message: Message, context: Context) -> list[Event]:
    events = right(format_, message, context)
    for event in events:
        for image in (event.before, event.after) if isinstance(event, RowChange) else ():
            if image is not None and _LEAST_LONG in [v for v in image.values if type(v) is int]:
                raise DecodeError("a BIGINT below -2^63 + 1", 0, "datahub: integer fields")
    return events


def _records_of(format_: Format, message: KafkaMessage, context: Context) -> list[Record]:
    """Return the records of a body; none where there is no good body."""
    try:
        if format_.name in _TUPLE:
            settings = tuple_settings(context.options, context.compressions)
            fields = topic_of(find_table(context.tables, settings), settings).fields
            return [record for _, record in read_records(message, fields, settings.body)]
        body = blob_settings(context.options, context.compressions).body
        return [record for _, record in read_records(message, None, body)]
    except DecodeError:
        return []


def _attributes_counted_in_characters(
    format_: Format, message: Message, context: Context
) -> list[Event]:
    """Lose what stands behind an attribute whose letters need more bytes than one."""
    assert isinstance(message, KafkaMessage)
    events = right(format_, message, context)
    value = message.value or b""
    if value.count(MAGIC) < 2:
        return events  # no batch
    for index, record in enumerate(_records_of(format_, message, context)):
        if not all(text.isascii() for pair in record.attributes for text in pair):
            return events[:index]
    return events


def _count_of_fields_believed(format_: Format, message: Message, context: Context) -> list[Event]:
    """Refuse a batch whose records say that they have no fields."""
    assert isinstance(message, KafkaMessage)
    events = right(format_, message, context)
    value = message.value or b""
    batch = value.find(MAGIC, _FRAME)
    is_plain = batch > 0 and value[batch + 20] & 3 == 0
    if is_plain and value[batch + _HEADER + _RECORD :][:4] == bytes(4):
        raise DecodeError("a record without fields", batch, "datahub: batch records")
    return events


def _entries_of_first_batch(format_: Format, message: Message, context: Context) -> list[Event]:
    """Read the first batch of an answer and no other."""
    assert isinstance(message, KafkaMessage)
    events = right(format_, message, context)
    if not (message.value or b"").startswith(MAGIC):
        return events
    settings = tuple_settings({}) if format_.name in _TUPLE else None
    fields = None
    if settings is not None:
        fields = topic_of(find_table(context.tables, settings), settings).fields
    body = read_body(message.value or b"", fields, headers=headers_of(message))
    first = body.entries[0] if body.entries else None
    return events[: len(first.records)] if isinstance(first, Batch) else events


def _with_good_checksums(message: Message) -> Iterable[Message]:
    """Give a body whose frame says the checksum that it has, and then the batch's as well."""
    value = message.value or b""
    if not value.startswith(MAGIC):
        return
    assert isinstance(message, KafkaMessage)
    yield replace(message, value=_framed(value))
    batch = value.find(MAGIC, _FRAME)
    if batch > 0:
        good = crc32c(value[batch + _HEADER :]).to_bytes(4, "little")
        yield replace(message, value=_framed(value[: batch + 16] + good + value[batch + 20 :]))


def _framed(value: bytes) -> bytes:
    return value[:4] + crc32c(value[_FRAME:]).to_bytes(4, "big") + value[8:]


def _parsed_loosely(message: Message) -> Iterable[Message]:
    """Give the text as a loose parser would have it: of a name that stands twice the last one."""
    assert isinstance(message, KafkaMessage)
    try:
        document = json.loads((message.value or b"").decode("utf-8-sig"))
    except ValueError:
        return
    yield replace(message, value=json.dumps(document, ensure_ascii=False).encode())


def _once(members: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object. Raises: ValueError for a name that stands twice."""
    found = dict(members)
    if len(found) < len(members):
        raise ValueError("a name stands twice")
    return found


def _with_text_for_numbers(message: Message) -> Iterable[Message]:
    """Give numbers where texts of them stand, and texts where numbers do."""
    assert isinstance(message, KafkaMessage)
    try:
        document = json.loads(message.value or b"", object_pairs_hook=_once)
        payload = document["payload"]
        times = payload["timestamp"]
        payload["sequenceId"] = str(payload["sequenceId"])
        document["payload"]["timestamp"] = {name: int(time) for name, time in times.items()}
    except (ValueError, KeyError, TypeError):
        return
    yield replace(message, value=json.dumps(document, ensure_ascii=False).encode())


DATAHUB_FAULTS: tuple[KnownWrong, ...] = (
    KnownWrong(
        "empty-field-as-null",
        "an empty text of a field that is no STRING is NULL, though nobody asked for it",
        _with_options(empty_is_null=True),
        _TUPLE,
        ("57", "datahub/empty-or-null"),
    ),
    KnownWrong(
        "null-as-none",
        "NULL of a STRING becomes the text None",
        changing_columns(_null_as_word),
        DATAHUB,
    ),
    KnownWrong(
        "base64-of-bytes-kept",
        "BYTES stay the base64 that they travel as",
        changing_columns(_base64_kept),
        DATAHUB,
    ),
    KnownWrong(
        "timestamp-in-ms",
        "a TIMESTAMP's microseconds are taken for milliseconds",
        changing_columns(_timestamps_as_ms),
        _TUPLE,
    ),
    KnownWrong(
        "short-date-in-seconds",
        "a DATE of ten digits or less counts seconds",
        changing_values(_dates_as_seconds),
        _BLOB,
    ),
    KnownWrong(
        "instants-eight-hours-off",
        "a count since 1970 is moved to another zone",
        changing_values(_instants_eight_hours_off),
        DATAHUB,
    ),
    KnownWrong(
        "whole-doubles-as-integers",
        "a DOUBLE without a fraction is an integer",
        changing_columns(_doubles_of_integers),
        DATAHUB,
    ),
    KnownWrong(
        "least-bigint-refused",
        "-2^63 is refused, as one document has it",
        _least_long_refused,
        DATAHUB,
    ),
    KnownWrong(
        "execute-time-in-us",
        "the time of a change is taken for microseconds",
        changing_events(_execute_time_in_us),
        DATAHUB,
    ),
    KnownWrong(
        "sequence-id-through-double",
        "a sequence id loses its last digits",
        changing_events(_sequence_id_through_double),
        DATAHUB,
    ),
    KnownWrong(
        "sequence-id-in-64-bits",
        "a sequence id of over 63 bits wraps",
        changing_events(_sequence_id_in_64_bits),
        DATAHUB,
    ),
    KnownWrong(
        "system-time-as-event-time",
        "systemTime is taken for the time of the change",
        changing_events(_system_time_as_event_time),
        _BLOB,
    ),
    KnownWrong(
        "halves-as-changes",
        "the two rows of an update are a delete and an insert",
        changing_rows(_halves_as_changes),
        DATAHUB,
    ),
    KnownWrong(
        "database-as-schema",
        "schemaName is ignored",
        changing_events(_database_as_schema),
        _BLOB,
    ),
    KnownWrong("marker-lost", "markers are skipped", changing_events(_marker_lost), _BLOB),
    KnownWrong(
        "update-before-accepted",
        "UPDATE_BEFORE is taken for UPDATE_BEFOR",
        _with_options(lenient_ops=True),
        _BLOB,
    ),
    KnownWrong(
        "members-twice-accepted",
        "of a member that stands twice the last one counts",
        mended(_parsed_loosely),
        _BLOB,
    ),
    KnownWrong(
        "numbers-as-texts-accepted",
        "times may be texts, and sequence ids numbers",
        mended(_with_text_for_numbers),
        _BLOB,
    ),
    KnownWrong(
        "checksums-ignored",
        "frames and batches are read whatever their checksums say",
        mended(_with_good_checksums),
        DATAHUB,
    ),
    KnownWrong(
        "attributes-in-characters",
        "the length of an attribute in a batch counts characters",
        _attributes_counted_in_characters,
        _TUPLE,
    ),
    KnownWrong(
        "field-count-believed",
        "a record in a batch that says it has no fields is refused",
        _count_of_fields_believed,
        _BLOB,  # of a Tuple topic it is a choice
    ),
    KnownWrong(
        "first-entry-only", "of several batches the first is read", _entries_of_first_batch, _TUPLE
    ),
)
