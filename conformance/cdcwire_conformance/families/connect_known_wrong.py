"""Known-wrong decoders of Kafka Connect's types, as Debezium and CDL use them."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable
from dataclasses import replace

from cdcwire.core.message import KafkaMessage, Message
from cdcwire.model.events import Column, Event, RowChange, Value
from cdcwire.model.kinds import BytesType, DatetimeType, DateType, TextType
from cdcwire_conformance.known_wrong.decoder import (
    KnownWrong,
    changing_columns,
    changing_events,
    changing_rows,
    changing_values,
    mended,
)
from cdcwire_conformance.known_wrong.events import EVENTS
from cdcwire_conformance.known_wrong.values import FLOAT32_AS_DOUBLE, NAMES_IN_LOWER_CASE, VALUES

_EIGHT_HOURS = {"ms": 28_800_000, "us": 28_800_000_000, "ns": 28_800_000_000_000}


def _binary_as_base64(column: Column, value: Value) -> tuple[Column, Value]:
    if not isinstance(column.type, BytesType) or not isinstance(value, bytes):
        return column, value
    return replace(column, type=TextType()), base64.b64encode(value).decode()


def _days_as_milliseconds(column: Column, value: Value) -> tuple[Column, Value]:
    if column.type == DateType("d"):
        return replace(column, type=DateType("ms")), value
    return column, value


def _unit_by_digits(column: Column, value: Value) -> tuple[Column, Value]:
    kind = column.type
    if not isinstance(kind, DatetimeType) or not isinstance(value, int):
        return column, value
    form = "ms" if abs(value) < 10**14 else "us" if abs(value) < 10**17 else "ns"
    return replace(column, type=replace(kind, form=form)), value  # type: ignore[arg-type]


def _datetime_eight_hours_off(column: Column, value: Value) -> Value:
    kind = column.type
    if not isinstance(kind, DatetimeType) or not isinstance(value, int):
        return value
    return value + _EIGHT_HOURS[kind.form]


def _table_with_schema(row: RowChange) -> Event:
    name = f"{row.table.schema}.{row.table.name}"
    return replace(row, table=replace(row.table, name=name))


def _lsn_through_double(event: Event) -> Event:
    lsn = event.position.lsn
    if lsn is None:
        return event
    return replace(event, position=replace(event.position, lsn=int(float(lsn))))


def _with_last_member(message: Message) -> Iterable[Message]:
    """Give a message whose repeated members are reduced to the last, as most readers of JSON do."""
    assert isinstance(message, KafkaMessage)
    try:
        once = json.dumps(json.loads(message.value or b""), ensure_ascii=False)
        yield replace(message, value=once.encode())
    except ValueError:
        return


CONNECT_FAULTS: tuple[KnownWrong, ...] = (
    *VALUES,
    FLOAT32_AS_DOUBLE,
    NAMES_IN_LOWER_CASE,
    *EVENTS,
    KnownWrong(
        "binary-as-base64",
        "binary strings are given as their base64 text",
        changing_columns(_binary_as_base64),
        ("34",),
    ),
    KnownWrong(
        "days-as-milliseconds",
        "a date, which counts days, is taken for milliseconds",
        changing_columns(_days_as_milliseconds),
        ("31",),
    ),
    KnownWrong(
        "unit-by-digits",
        "the unit of a moment is guessed from the number of its digits",
        changing_columns(_unit_by_digits),
        ("23",),
    ),
    KnownWrong(
        "datetime-as-local",
        "a date and time without zone is moved as if it had one",
        changing_values(_datetime_eight_hours_off),
        ("24",),
    ),
    KnownWrong(
        "table-with-schema",
        "the schema's name is put in front of the table's",
        changing_rows(_table_with_schema),
    ),
    KnownWrong(
        "lsn-through-double",
        "an lsn above 2^53 loses its last digits",
        changing_events(_lsn_through_double),
        ("9",),
    ),
    KnownWrong(
        "last-member-wins",
        "the last of several members of one name is taken",
        mended(_with_last_member),
    ),
)
