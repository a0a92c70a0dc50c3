"""Maxwell JSON messages as neutral events, and events as messages.

Names of ``extra`` on rows: ``binlog_position``, ``comment``, ``commit``, ``gtid``, ``push_ts``,
``query``, ``schema_id``, ``server_id``, ``thread_id``. Markers of a bootstrap have
``message_type``, ``schema`` and ``table``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Decimal
from uuid import NAMESPACE_OID, uuid5

from cdcwire.core.context import EVERYTHING, Selection
from cdcwire.core.errors import EncodeError, step
from cdcwire.core.limits import INT64_END, INT64_START, DecimalDigits
from cdcwire.core.message import KafkaMessage
from cdcwire.core.strict_json import Number
from cdcwire.formats.maxwell_json.definitions import NO_DEFINITIONS, Definitions, table_of
from cdcwire.formats.maxwell_json.message import (
    BOOTSTRAP_MARKS,
    DATA,
    MS_PER_SECOND,
    OLD,
    POSITION,
    PRIMARY_KEY,
    RULES,
    TIMESTAMP,
    TRANSACTION,
    TYPES,
    Cell,
    ColumnValue,
    Key,
    Message,
    RowMessage,
    SchemaMessage,
    Tombstone,
    encode_key,
)
from cdcwire.formats.maxwell_json.settings import DEFAULT_SETTINGS, Settings
from cdcwire.formats.maxwell_json.values import digits_added, read_value, written
from cdcwire.formats.maxwell_json.wire import encode_value
from cdcwire.model.events import (
    Event,
    Extra,
    Image,
    Marker,
    Op,
    Position,
    RowChange,
    SchemaChange,
    SchemaChangeKind,
    Table,
)
from cdcwire.model.instants import ms_of_tso
from cdcwire.model.kinds import Column

OPS: dict[str, Op] = {
    "insert": "insert",
    "update": "update",
    "delete": "delete",
    "bootstrap-insert": "read",
}
TYPES_OF_ROWS = {op: kind for kind, op in OPS.items()}
_KINDS: dict[str, SchemaChangeKind] = {
    "table-create": "create",
    "table-alter": "alter",
    "table-drop": "erase",
    "database-create": "create",
    "database-alter": "alter",
    "database-drop": "erase",
}
_TEXTS = ("comment", "query")
_NUMBERS = ("schema_id", "server_id", "thread_id")
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,18}")
_PUSH_TS = re.compile(r"-?(?:0|[1-9][0-9]{0,18})(?:\.[0-9]{1,18})?")


def events_of(
    message: Message,
    settings: Settings = DEFAULT_SETTINGS,
    selection: Selection = EVERYTHING,
    definitions: Definitions = NO_DEFINITIONS,
) -> Iterator[Event]:
    """Yield the event of a message. Raises: DecodeError."""
    if isinstance(message, Tombstone):
        yield Marker("tombstone", extra={"message_key": message.key})
    elif isinstance(message, SchemaMessage):
        yield _schema_change(message)
    elif message.type in BOOTSTRAP_MARKS:
        yield _bootstrap_marker(message)
    elif selection.wants(message.database, message.table):
        yield _row_change(message, settings, selection, definitions)


def _row_change(
    message: RowMessage,
    settings: Settings,
    selection: Selection,
    definitions: Definitions,
) -> RowChange:
    known = definitions.columns(message.database, message.table)
    definition = definitions.table(message.database, message.table)
    names = key_names(
        message.primary_key_columns,
        None if definition is None else definition.key,
        None if message.key is None else message.key.names,
        (cell.name for cell in message.data),
    )
    digits = DecimalDigits(settings.max_decimal_digits, RULES.limits_clause)
    with step("data"):
        row = _image(message.data, known, selection, digits)
    old = None
    if message.old is not None:
        with step("old"):
            old = _image(message.old, known, selection, digits)
    op = OPS[message.type]
    before, after = (row, None) if op == "delete" else (old, row)
    # Without NULLs a column that is not in ``old`` is unchanged, or it was NULL.
    is_changed = old is not None and settings.output_nulls
    return RowChange(
        Table(message.table, message.database, key=names),
        op,
        before,
        after,
        _position(message),
        sent="changed" if is_changed else None,
        extra=_extra(message),
    )


def _image(
    cells: tuple[Cell, ...],
    known: Mapping[str, Column],
    selection: Selection,
    digits: DecimalDigits,
) -> Image:
    pairs = []
    for cell in cells:
        if selection.columns is not None and cell.name not in selection.columns:
            continue
        column, value = read_value(cell, known.get(cell.name))
        pairs.append((column, value))
        if isinstance(value, Decimal):
            with step(cell.name):
                digits.add(digits_added(value, cell.value), cell.offset)
    return Image(tuple(column for column, _ in pairs), tuple(value for _, value in pairs))


def key_names(
    named: tuple[str, ...] | None,
    defined: tuple[str, ...] | None,
    in_key: tuple[str, ...] | None,
    columns: Iterable[str],
) -> tuple[str, ...] | None:
    """Return the key columns: as the row names them, else the definition, else its Kafka key.

    ``in_key``: the names in the Kafka key, which are in lower case. ``columns``: those in ``data``.
    """
    if named is not None:
        return named
    if in_key is None or defined is not None:
        return defined
    names = {name.lower(): name for name in columns}
    return tuple(names.get(name, name) for name in in_key)


def columns_of_key(key: Key, definitions: Definitions = NO_DEFINITIONS) -> Image:
    """Return the columns of a Kafka key, by the names that it has: they are in lower case.

    Raises: DecodeError.
    """
    known = definitions.columns(key.database, key.table or "")
    names = {name.lower(): column for name, column in known.items()}
    return Image.of(read_value(cell, names.get(cell.name)) for cell in key.columns)


def _position(message: RowMessage) -> Position:
    return Position(
        tx_id=None if message.xid is None else str(message.xid),
        tx_order=message.xoffset,
        commit_ms=message.ts * MS_PER_SECOND,
    )


def _extra(message: RowMessage | SchemaMessage) -> Extra:
    found: dict[str, str | bytes | None] = {
        "binlog_position": message.position,
        "gtid": message.gtid,
        "schema_id": _digits(message.schema_id),
    }
    if isinstance(message, RowMessage):
        found["comment"] = message.comment
        found["commit"] = "true" if message.commit else None
        found["push_ts"] = None if message.push_ts is None else message.push_ts.text
        found["query"] = message.query
        found["server_id"] = _digits(message.server_id)
        found["thread_id"] = _digits(message.thread_id)
    return {name: text for name, text in found.items() if text is not None}


def _digits(number: int | None) -> str | None:
    return None if number is None else str(number)


def _bootstrap_marker(message: RowMessage) -> Marker:
    extra = {"message_type": message.type, "schema": message.database, "table": message.table}
    return Marker("logical_message", None, _position(message), {**extra, **_extra(message)})


def _schema_change(message: SchemaMessage) -> SchemaChange:
    definition = message.definition
    what = _KINDS[message.type]
    if definition is None:
        table = Table(message.table, message.database)
    else:
        table = table_of(definition)
        old = message.old
        if old is not None and (old.database, old.table) != (table.schema, table.name):
            what = "rename"
    position = Position(commit_ms=message.ts)
    return SchemaChange(what, message.sql, None, table, position, _extra(message))


def messages_of(
    events: Iterable[Event],
    settings: Settings = DEFAULT_SETTINGS,
    definitions: Definitions = NO_DEFINITIONS,
    usual: Callable[[Event], KafkaMessage | None] = lambda event: None,
) -> Iterator[KafkaMessage]:
    """Yield one message for each event.

    ``usual``: the fast encoder's; messages that it does not make are made here.
    Raises: EncodeError.
    """
    for index, event in enumerate(events):
        found = usual(event)
        if found is None:
            with step("events", index):
                found = _message(event, settings, definitions)
        yield found


def _message(event: Event, settings: Settings, definitions: Definitions) -> KafkaMessage:
    if not isinstance(event, RowChange):
        raise EncodeError("only changes of rows can be encoded", TYPES, ("kind",))
    message = row_message(event, settings)
    value = encode_value(message)
    key = _key(event, message, value, settings)
    _check_key(event.table, message, key, definitions)
    return KafkaMessage(None if key is None else encode_key(key), value)


def _check_key(
    table: Table, message: RowMessage, key: Key | None, definitions: Definitions
) -> None:
    """Check that a reader with the same definitions gets the key. Raises: EncodeError."""
    definition = definitions.table(message.database, message.table)
    if definition is None or table.key is None or message.primary_key_columns is not None:
        return
    if definition.key != table.key and (definition.key is not None or key is None):
        problem = "the table's definition has another key; output_primary_key_columns writes this"
        raise EncodeError(problem, PRIMARY_KEY, ("table", "key"))


def row_message(event: RowChange, settings: Settings = DEFAULT_SETTINGS) -> RowMessage:
    """Return the message of a row change. Raises: EncodeError."""
    kind = TYPES_OF_ROWS.get(event.op)
    if kind is None:
        raise EncodeError(f"there is no event for {event.op!r}", TYPES, ("op",))
    if event.half is not None:
        raise EncodeError("an update is one event, not two records", TYPES, ("half",))
    if event.sent == "key":
        raise EncodeError("a row that was cut to its key has no form", DATA, ("sent",))
    if event.table.schema is None or event.table.name is None:
        raise EncodeError("a row needs schema and table", "maxwell-json: fields", ("table",))
    row, old = _rows(event, settings)
    names = event.table.key
    extra = event.extra
    xid, xoffset = _transaction(event, settings)
    return RowMessage(
        database=event.table.schema,
        table=event.table.name,
        type=kind,
        ts=seconds_of(event.position),
        data=row,
        old=old,
        query=_extra_text(extra, "query"),
        xid=xid,
        xoffset=xoffset,
        commit=_commit(extra) if settings.output_commit_info else None,
        position=_extra_text(extra, "binlog_position"),
        gtid=_extra_text(extra, "gtid"),
        server_id=_extra_number(extra, "server_id"),
        thread_id=_extra_number(extra, "thread_id"),
        schema_id=_extra_number(extra, "schema_id"),
        push_ts=_push_ts(extra),
        comment=_extra_text(extra, "comment"),
        primary_key=_key_values(names, row) if settings.output_primary_keys else None,
        primary_key_columns=names if settings.output_primary_key_columns else None,
    )


def _rows(event: RowChange, settings: Settings) -> tuple[tuple[Cell, ...], tuple[Cell, ...] | None]:
    """Return the columns of ``data`` and, of an update, those of ``old``. Raises: EncodeError."""
    side, other_side = ("before", "after") if event.op == "delete" else ("after", "before")
    image = event.before if event.op == "delete" else event.after
    other = event.after if event.op == "delete" else event.before
    if image is None:
        raise EncodeError(f"{event.op} needs {side}", DATA, (side,))
    if other is not None and event.op != "update":
        raise EncodeError(f"{event.op} has no {other_side}", DATA, (other_side,))
    with step(side):
        row = _cells(image, settings)
        if not row:
            raise EncodeError("a row needs a column", DATA)
    if other is None:
        return row, None
    with step(other_side):
        _check_same_columns(image, other, event.sent == "changed" or not settings.output_nulls)
        new = {cell.name: cell for cell in row}
        return row, tuple(cell for cell in _cells(other, settings) if new.get(cell.name) != cell)


def _check_same_columns(image: Image, other: Image, is_partial: bool) -> None:
    """Check that the row before can be read by the columns of the row after."""
    types = {column.name: column.type for column in image.columns}
    for column in other.columns:
        if types.get(column.name) != column.type:
            with step(column.name):
                raise EncodeError("the row after lacks this column, or it has another type", OLD)
    if not is_partial and len(other.columns) < len(image.columns):
        raise EncodeError("a column that is absent here would be read as unchanged", OLD)


def _cells(image: Image, settings: Settings) -> tuple[Cell, ...]:
    cells = []
    for column, value in zip(image.columns, image.values, strict=True):
        with step(column.name):
            cell = Cell(column.name, written(column, value))
        if cell.value is not None or settings.output_nulls:
            cells.append(cell)
    return tuple(cells)


def _key_values(
    names: tuple[str, ...] | None, row: tuple[Cell, ...]
) -> tuple[ColumnValue, ...] | None:
    values = {cell.name: cell.value for cell in row}
    return None if names is None else tuple(values.get(name) for name in names)


def seconds_of(position: Position) -> int:
    """Return the seconds of a commit since 1970. Raises: EncodeError if they are unknown."""
    ms = position.commit_ms
    if ms is None:
        if position.commit_ts is None:
            path = ("position", "commit_ms")
            raise EncodeError("an event needs its commit_ms or commit_ts", TIMESTAMP, path)
        ms = ms_of_tso(position.commit_ts)
    return ms // MS_PER_SECOND


def _transaction(event: RowChange, settings: Settings) -> tuple[int | None, int | None]:
    """Return xid and xoffset. Raises: EncodeError."""
    if not settings.output_commit_info:
        return None, None
    tx_id = event.position.tx_id
    with step("position", "tx_id"):
        xid = None if tx_id is None else xid_of(tx_id)
    return xid, event.position.tx_order if settings.output_xoffset else None


def xid_of(tx_id: str) -> int:
    """Return the number of a transaction. Raises: EncodeError."""
    return _number(tx_id, TRANSACTION)


def _commit(extra: Extra) -> bool | None:
    text = extra.get("commit")
    if text not in (None, "true"):
        raise EncodeError(f"{text!r:.40} is not true", TRANSACTION, ("extra", "commit"))
    return True if text else None


def _extra_text(extra: Extra, name: str) -> str | None:
    text = extra.get(name)
    if not isinstance(text, (str, type(None))):
        raise EncodeError("bytes instead of text", "maxwell-json: fields", ("extra", name))
    return text


def _extra_number(extra: Extra, name: str) -> int | None:
    text = _extra_text(extra, name)
    with step("extra", name):
        return None if text is None else _number(text, POSITION)


def _number(text: str, clause: str) -> int:
    if not _INTEGER.fullmatch(text) or not INT64_START <= int(text) < INT64_END:
        raise EncodeError(f"{text!r:.40} is not a 64-bit integer", clause)
    return int(text)


def _push_ts(extra: Extra) -> Number | None:
    text = _extra_text(extra, "push_ts")
    if text is not None and not _PUSH_TS.fullmatch(text):
        problem = f"{text!r:.40} is not a number of seconds"
        raise EncodeError(problem, TIMESTAMP, ("extra", "push_ts"))
    return None if text is None else Number(text)


def _key(event: RowChange, message: RowMessage, value: bytes, settings: Settings) -> Key | None:
    """Return the Kafka key. Without a primary key it has a UUID, made from the value."""
    form = settings.kafka_key_format
    if form == "none":
        return None
    names = event.table.key
    if names is None:
        problem = "a Kafka key needs the key columns of the table"
        raise EncodeError(problem, PRIMARY_KEY, ("table", "key"))
    values = {cell.name: cell.value for cell in message.data}
    columns = tuple(Cell(name.lower(), values.get(name)) for name in names)
    if len({cell.name for cell in columns}) < len(columns):
        problem = "two key columns have the same name in lower case"
        raise EncodeError(problem, PRIMARY_KEY, ("table", "key"))
    uuid = None
    if form == "hash" and not names:
        uuid = str(uuid5(NAMESPACE_OID, value.hex()))
    return Key(form, message.database, message.table, columns, uuid)
