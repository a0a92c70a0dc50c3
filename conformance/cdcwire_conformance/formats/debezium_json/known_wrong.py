"""Known-wrong decoders of debezium-json."""

from __future__ import annotations

from dataclasses import replace

from cdcwire.core.context import Context
from cdcwire.core.errors import DecodeError
from cdcwire.core.message import Message
from cdcwire.format import Format
from cdcwire.model import kinds
from cdcwire.model.events import Event, Image, Progress, RowChange, SchemaChange
from cdcwire.model.kinds import UNAVAILABLE, Column, Value
from cdcwire_conformance.families.connect_known_wrong import CONNECT_FAULTS
from cdcwire_conformance.formats.debezium_json.known_wrong_values import VALUE_FAULTS
from cdcwire_conformance.known_wrong.decoder import (
    KnownWrong,
    changing_rows,
    refusing,
    right,
    under_options,
    wrong_columns,
    wrong_decoder,
    wrong_rows,
    wrong_values,
)
from cdcwire_conformance.known_wrong.events import (
    OLD_ROWS,
    OPERATIONS,
    SCHEMA_CHANGES,
    times_swapped,
)
from cdcwire_conformance.known_wrong.values import BINARY_AND_JSON, CUT_VALUES, NUMBERS_AND_TEXTS

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


@refusing("a message without value breaks it", "66")
def tombstone_crash(message: Message, events: list[Event]) -> bool:
    """Return whether the message has no value."""
    return message.value is None


@refusing("an update without its old row is refused", "65")
def before_needed(message: Message, events: list[Event]) -> bool:
    """Return whether an update has no old row."""
    return any(
        isinstance(event, RowChange) and event.op == "update" and event.before is None
        for event in events
    )


_LISTED = ("true", "last", "false", "incremental", None)  # by the schema of 2.7


@refusing("states of a snapshot that the schema does not list are refused")
def snapshot_by_list(message: Message, events: list[Event]) -> bool:
    """Return whether an event has a snapshot state that the schema does not list."""
    return any(event.extra.get("snapshot") not in _LISTED for event in events)


@refusing("a payload before its schema is refused")
def schema_first(message: Message, events: list[Event]) -> bool:
    """Return whether the payload is the first member of the message."""
    return (message.value or b"").lstrip().startswith(b'{"payload"')


@wrong_rows("rows of a snapshot are inserts, without the option")
def read_as_insert(row: RowChange) -> Event:
    """Turn a row of a snapshot into an insert."""
    return replace(row, op="insert") if row.op == "read" else row


@wrong_rows("rows of a snapshot are skipped")
def snapshot_rows_lost(row: RowChange) -> Event | None:
    """Drop rows of a snapshot."""
    return None if row.op == "read" else row


@wrong_decoder("a column that the definition has and the row lacks arrives as NULL")
def absent_as_null(format_: Format, message: Message, context: Context) -> list[Event]:
    """Fill rows without schema with NULLs for the other columns of their definition."""
    columns = {(t.schema, t.name): t.columns or () for t in context.tables}

    def filled(image: Image | None, known: tuple[Column, ...]) -> Image | None:
        if image is None:
            return None
        missing = [(column, None) for column in known if column.name not in image.names]
        return Image.of((*image.pairs, *missing))

    def change(row: RowChange) -> Event:
        known = columns.get((row.table.schema, row.table.name), ())
        return replace(row, before=filled(row.before, known), after=filled(row.after, known))

    return changing_rows(change)(format_, message, context)


@wrong_decoder("a row by itself with a column ts_ms is taken for a heartbeat")
def row_as_heartbeat(format_: Format, message: Message, context: Context) -> list[Event]:
    """Take whatever has ts_ms and no operation for a heartbeat."""
    try:
        return right(format_, message, context)
    except DecodeError as error:
        if error.clause != "debezium-json: members" or b'"ts_ms":5' not in (message.value or b""):
            raise
        return [Progress("heartbeat")]


KNOWN_WRONG: tuple[KnownWrong, ...] = (
    *CONNECT_FAULTS,
    *CUT_VALUES,
    *NUMBERS_AND_TEXTS,
    *BINARY_AND_JSON,
    *OPERATIONS,
    *OLD_ROWS,
    *SCHEMA_CHANGES,
    *VALUE_FAULTS,
    *CONNECTOR_FAULTS,
    KnownWrong(
        "null-as-default",
        "NULL arrives as the column's default",
        under_options(replace_null_with_default=True),
        ("50",),
    ),
    KnownWrong(
        "made-up-columns-trusted",
        "the filler values of a delete are taken for the old row",
        under_options(replica_identity="full"),
    ),
    KnownWrong(
        "warnings-as-errors",
        "members and values that a reader must ignore are refused",
        under_options(lint="strict"),
    ),
    tombstone_crash,
    before_needed,
    snapshot_by_list,
    schema_first,
    read_as_insert,
    snapshot_rows_lost,
    absent_as_null,
    row_as_heartbeat,
    times_swapped,
)
