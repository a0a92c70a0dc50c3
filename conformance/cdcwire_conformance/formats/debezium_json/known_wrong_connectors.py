"""Known-wrong decoders of debezium-json that know one of Debezium's connectors only."""

from __future__ import annotations

from dataclasses import replace

from cdcwire.core.message import Message
from cdcwire.model import kinds
from cdcwire.model.events import Event, RowChange, SchemaChange
from cdcwire.model.kinds import UNAVAILABLE, Column, Value
from cdcwire_conformance.known_wrong.decoder import (
    KnownWrong,
    refusing,
    wrong_columns,
    wrong_rows,
    wrong_values,
)

_FIRST_CONNECTORS = ("postgresql", "mysql", "mariadb")
_PER_DAY = {"ms": 86_400 * 10**3, "us": 86_400 * 10**6, "ns": 86_400 * 10**9}


@wrong_rows("a delete of any connector has its key only, as PostgreSQL's does")
def delete_cut_to_key(row: RowChange) -> Event:
    """Drop the columns of a deleted row that are not of its key."""
    if row.op != "delete" or row.before is None or not row.table.key:
        return row
    return replace(row, before=row.before.only(row.table.key))


@refusing("a connector of another database than PostgreSQL, MySQL and MariaDB is refused")
def connectors_refused(message: Message, events: list[Event]) -> bool:
    """Return whether a change is of SQL Server, Oracle or others."""
    rows = (event for event in events if isinstance(event, (RowChange, SchemaChange)))
    return any(row.extra.get("connector", "mysql") not in _FIRST_CONNECTORS for row in rows)


@refusing("the members of PostgreSQL's source are demanded of every connector")
def lsn_needed(message: Message, events: list[Event]) -> bool:
    """Return whether a change has no place in PostgreSQL's log."""
    rows = (event for event in events if isinstance(event, (RowChange, SchemaChange)))
    return any("connector" in row.extra and row.position.lsn is None for row in rows)


@refusing("the id of a transaction must be a number")
def transaction_number_needed(message: Message, events: list[Event]) -> bool:
    """Return whether a change has a transaction id that is not a number."""
    found = (event.position.tx_id for event in events)
    return any(each is not None and not each.isdecimal() for each in found)


@refusing("parameters of a column's schema that it does not know are refused")
def parameters_refused(message: Message, events: list[Event]) -> bool:
    """Return whether a schema has the type of a column in the database."""
    return b'"__debezium.source.column.' in (message.value or b"")


@wrong_values("a time outside the day is wrapped into it")
def time_wrapped(column: Column, value: Value) -> Value:
    """Take the rest of a division by a day."""
    if not isinstance(column.type, kinds.TimeType) or not isinstance(value, int):
        return value
    return value % _PER_DAY[column.type.form]


@wrong_values("a label with a comma keeps the backslash that escapes it")
def label_escaped(column: Column, value: Value) -> Value:
    """Put a backslash before each comma and backslash of a label."""
    if not isinstance(column.type, kinds.EnumType) or not isinstance(value, str):
        return value
    return value.replace("\\", "\\\\").replace(",", "\\,")


@wrong_columns("columns that begin with two underscores are dropped")
def underscores_dropped(column: Column, value: Value) -> tuple[Column, Value] | None:
    """Drop a column whose name begins as those of added fields."""
    return None if column.name.startswith("__") else (column, value)


@wrong_columns("a text that says the placeholder is unavailable with every connector")
def word_as_unavailable(column: Column, value: Value) -> tuple[Column, Value]:
    """Take the placeholder's word in a binlog for an unavailable value."""
    return column, UNAVAILABLE if value == "__debezium_unavailable_value" else value


CONNECTOR_FAULTS: tuple[KnownWrong, ...] = (
    delete_cut_to_key,
    connectors_refused,
    lsn_needed,
    transaction_number_needed,
    parameters_refused,
    time_wrapped,
    label_escaped,
    underscores_dropped,
    word_as_unavailable,
)
