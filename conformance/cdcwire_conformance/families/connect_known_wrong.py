"""Known-wrong decoders of Kafka Connect's types, as Debezium and CDL use them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace

from cdcwire.core.message import KafkaMessage, Message
from cdcwire.model.events import Event, RowChange
from cdcwire.model.kinds import Column, DatetimeType, DateType, Value
from cdcwire_conformance.known_wrong.decoder import (
    KnownWrong,
    mending,
    wrong_columns,
    wrong_events,
    wrong_rows,
    wrong_values,
)
from cdcwire_conformance.known_wrong.events import EVENTS
from cdcwire_conformance.known_wrong.values import (
    VALUES,
    binary_as_base64,
    float32_as_double,
    names_in_lower_case,
)

_EIGHT_HOURS = {"ms": 28_800_000, "us": 28_800_000_000, "ns": 28_800_000_000_000}


@wrong_columns("a date, which counts days, is taken for milliseconds", "31")
def days_as_milliseconds(column: Column, value: Value) -> tuple[Column, Value]:
    """Take a date that counts days for one that counts milliseconds."""
    if column.type == DateType("d"):
        return replace(column, type=DateType("ms")), value
    return column, value


@wrong_columns("the unit of a moment is guessed from the number of its digits", "23")
def unit_by_digits(column: Column, value: Value) -> tuple[Column, Value]:
    """Choose the unit of a date and time by the number of its digits."""
    kind = column.type
    if not isinstance(kind, DatetimeType) or not isinstance(value, int):
        return column, value
    form = "ms" if abs(value) < 10**14 else "us" if abs(value) < 10**17 else "ns"
    return replace(column, type=replace(kind, form=form)), value  # type: ignore[arg-type]


@wrong_values("a date and time without zone is moved as if it had one", "24")
def datetime_as_local(column: Column, value: Value) -> Value:
    """Move a date and time without a zone by eight hours."""
    kind = column.type
    if not isinstance(kind, DatetimeType) or not isinstance(value, int):
        return value
    return value + _EIGHT_HOURS[kind.form]


@wrong_rows("the schema's name is put before the table's")
def table_with_schema(row: RowChange) -> Event:
    """Put the schema's name before the table's name."""
    name = f"{row.table.schema}.{row.table.name}"
    return replace(row, table=replace(row.table, name=name))


@wrong_events("an lsn above 2^53 loses its last digits", "9")
def lsn_through_double(event: Event) -> Event:
    """Round an LSN to the nearest double."""
    lsn = event.position.lsn
    if lsn is None:
        return event
    return replace(event, position=replace(event.position, lsn=int(float(lsn))))


@mending("the last of several members of one name is taken")
def last_member_wins(message: Message) -> Iterable[Message]:
    """Give a message whose repeated members are reduced to the last, as most readers of JSON do."""
    assert isinstance(message, KafkaMessage)
    try:
        once = json.dumps(json.loads(message.value or b""), ensure_ascii=False)
        yield replace(message, value=once.encode())
    except ValueError:
        return


CONNECT_FAULTS: tuple[KnownWrong, ...] = (
    *VALUES,
    float32_as_double,
    names_in_lower_case,
    *EVENTS,
    binary_as_base64,
    days_as_milliseconds,
    unit_by_digits,
    datetime_as_local,
    table_with_schema,
    lsn_through_double,
    last_member_wins,
)
