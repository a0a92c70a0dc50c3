"""Known-wrong decoders of DataHub: what both SDKs do wrong, and what a hasty reader would.

Several repeat a fault that pydatahub 2.29.0 or the Java SDK 2.21.6 showed when they were run.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from cdcwire.core.context import Context
from cdcwire.core.errors import DecodeError
from cdcwire.core.message import KafkaMessage, Message
from cdcwire.datahub.frame import MAGIC, crc32c
from cdcwire.format import Format
from cdcwire.model.events import Event, RowChange
from cdcwire.model.kinds import Column, FloatType, IntType, TextType, TimestampType, Value
from cdcwire_conformance.known_wrong.decoder import (
    KnownWrong,
    mending,
    right,
    wrong_columns,
    wrong_decoder,
    wrong_events,
    wrong_values,
)
from cdcwire_conformance.known_wrong.events import (
    BATCHES,
    EVENTS,
    OLD_ROWS,
    OPERATIONS,
    halves_as_changes,
)
from cdcwire_conformance.known_wrong.values import CUT_VALUES, VALUES, binary_as_base64

FRAME_SIZE, HEADER_SIZE, RECORD_SIZE = (
    12,
    26,
    16,
)  # bytes of a frame's, a batch's, a record's header


_LEAST_LONG = -(1 << 63)


@wrong_columns("NULL of a STRING becomes the text None")
def null_as_none(column: Column, value: Value) -> tuple[Column, Value]:
    """Replace NULL in a STRING column with the text ``None``."""
    return column, "None" if value is None and isinstance(column.type, TextType) else value


@wrong_values("a count since 1970 is moved to another zone")
def instants_eight_hours_off(column: Column, value: Value) -> Value:
    """Move a timestamp in milliseconds or microseconds by eight hours."""
    kind = column.type
    if not isinstance(kind, TimestampType) or kind.form not in ("ms", "us"):
        return value
    return value + 8 * 3600 * {"ms": 10**3, "us": 10**6}[kind.form]


@wrong_columns("a DOUBLE without a fraction is an integer")
def whole_doubles_as_integers(column: Column, value: Value) -> tuple[Column, Value]:
    """Take a DOUBLE without a fraction for a LONG."""
    is_whole = isinstance(column.type, FloatType) and value is not None and value % 1 == 0
    return (replace(column, type=IntType(64)), int(value)) if is_whole else (column, value)


@wrong_events("the time of a change is taken for microseconds")
def execute_time_in_us(event: Event) -> Event:
    """Take the time of a change for microseconds, as a TIMESTAMP is."""
    commit_ms = event.position.commit_ms
    return event if commit_ms is None else moved(event, commit_ms=commit_ms // 1000)


@wrong_events("a sequence id loses its last digits")
def sequence_id_through_double(event: Event) -> Event:
    """Round a sequence id to the nearest double."""
    number = event.position.sequence_id
    return event if number is None else moved(event, sequence_id=int(float(number)))


@wrong_events("a sequence id of over 63 bits wraps")
def sequence_id_in_64_bits(event: Event) -> Event:
    """Keep only the lowest 63 bits of a sequence id."""
    number = event.position.sequence_id
    return event if number is None else moved(event, sequence_id=number % (1 << 63))


@wrong_decoder("-2^63 is refused, as one document has it")
def least_bigint_refused(format_: Format, message: Message, context: Context) -> list[Event]:
    """Refuse a row that contains the integer -2^63. Raises: DecodeError."""
    events = right(format_, message, context)
    for event in events:
        for image in (event.before, event.after) if isinstance(event, RowChange) else ():
            if image is not None and _LEAST_LONG in [v for v in image.values if type(v) is int]:
                raise DecodeError("a BIGINT below -2^63 + 1", 0, "datahub: integer fields")
    return events


@mending("frames and batches are read whatever their checksums say")
def checksums_ignored(message: Message) -> Iterable[Message]:
    """Give a body whose frame says the checksum that it has, and then the batch's as well."""
    value = message.value or b""
    if not value.startswith(MAGIC):
        return
    assert isinstance(message, KafkaMessage)
    yield replace(message, value=_framed(value))
    batch = value.find(MAGIC, FRAME_SIZE)
    if batch > 0:
        good = crc32c(value[batch + HEADER_SIZE :]).to_bytes(4, "little")
        yield replace(message, value=_framed(value[: batch + 16] + good + value[batch + 20 :]))


def _framed(value: bytes) -> bytes:
    return value[:4] + crc32c(value[FRAME_SIZE:]).to_bytes(4, "big") + value[8:]


def moved(event: Event, **position: Any) -> Event:
    """Return the event with these fields of its position replaced."""
    return replace(event, position=replace(event.position, **position))


DATAHUB_FAULTS: tuple[KnownWrong, ...] = (
    *VALUES,
    *CUT_VALUES,
    *EVENTS,
    *OPERATIONS,
    *OLD_ROWS,
    *BATCHES,
    null_as_none,
    binary_as_base64,
    instants_eight_hours_off,
    whole_doubles_as_integers,
    least_bigint_refused,
    execute_time_in_us,
    sequence_id_through_double,
    sequence_id_in_64_bits,
    halves_as_changes,
    checksums_ignored,
)
