"""Blob messages to and from the neutral model, message by message.

Names of ``extra``: ``version``, ``db_type``, ``db_version``, ``checkpoint_ms``, ``ddl_meta``
(bytes, never opened). Source: datahub-blob, "ops", "source", "timestamps", "updates".
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from cdcwire.core.context import EVERYTHING, Selection
from cdcwire.core.errors import EncodeError, step
from cdcwire.datahub.ops import CLAUSE as CLAUSE_OPS
from cdcwire.datahub.ops import HEARTBEAT, OPS, Op, op_of_change, op_of_marker, op_of_row
from cdcwire.datahub.streamx import (
    DEFAULT_VERSION,
    BlobColumn,
    BlobMessage,
    Cells,
    Ddl,
    Source,
    kind_of,
    to_blob,
    type_of,
)
from cdcwire.formats.datahub_blob.payload import (
    CLAUSE_DDL,
    CLAUSE_IMAGES,
    CLAUSE_META,
    CLAUSE_SEQUENCE,
    CLAUSE_TIMES,
)
from cdcwire.formats.datahub_blob.schema_part import CLAUSE_COLUMNS, CLAUSE_KEY, CLAUSE_SOURCE
from cdcwire.formats.datahub_blob.settings import DEFAULT_SETTINGS, Settings
from cdcwire.formats.datahub_blob.wire import CLAUSE_VERSION
from cdcwire.model.events import (
    Event,
    Image,
    Marker,
    Position,
    Progress,
    RowChange,
    SchemaChange,
    Table,
)
from cdcwire.model.kind_text import kind_text
from cdcwire.model.kinds import Column, Role

_PRIMARY: frozenset[Role] = frozenset({"primary"})
_NO_ROLES: frozenset[Role] = frozenset()
_MAX_SHARED_COLUMNS = 4096
_TIME = re.compile(r"[0-9]{1,13}")


def to_event(message: BlobMessage, selection: Selection = EVERYTHING) -> Event | None:
    """Return the neutral event of a message; None for one of a table that is not wanted."""
    op = OPS[message.op]
    sequence_id = None if message.sequence_id is None else int(message.sequence_id)
    position = Position(
        sequence_id=sequence_id, commit_ms=message.event_time, sent_ms=message.system_time
    )
    extra = extra_of(message)
    table = table_of(message)
    if op.row_op is not None:
        assert table is not None  # a row has its source
        if not selection.wants_rows_of(table):
            return None
        columns = columns_of(message.columns or (), message.primary_key or ())
        before = _image(columns, message.before, selection)
        after = _image(columns, message.after, selection)
        return RowChange(table, op.row_op, before, after, position, op.half, extra=extra)
    if op.change is not None:
        assert message.ddl is not None  # a DDL has its statement
        name = None if table is None else table.name
        if table is not None and name is not None and not selection.wants_rows_of(table):
            return None
        if message.ddl.meta is not None:
            extra["ddl_meta"] = message.ddl.meta
        return SchemaChange(op.change, message.ddl.text, None, table, position, extra)
    if op.marker is not None:
        return Marker(op.marker, None, position, extra)
    return Progress("heartbeat", position, extra)


def table_of(message: BlobMessage) -> Table | None:
    """Return the table of a message, None where its source names nothing.

    ``schema`` is schemaName, and then ``database`` is dbName; without one it is dbName.
    """
    source = message.source
    if source is None or (source.table_name, source.db_name, source.schema_name) == (None,) * 3:
        return None
    columns = None
    name, key = source.table_name, message.primary_key or ()
    if OPS[message.op].group == "ddl":
        name = name or None  # a statement about the database
        if message.columns is not None:
            columns = columns_of(message.columns, message.primary_key or ())
        elif message.primary_key is None:
            return _table(name, source, None, None)
    return _table(name, source, columns, key)


def _table(
    name: str | None,
    source: Source,
    columns: tuple[Column, ...] | None,
    key: tuple[str, ...] | None,
) -> Table:
    if source.schema_name is None:
        return Table(name, source.db_name, None, columns, key)
    return Table(name, source.schema_name, source.db_name, columns, key)


def extra_of(message: BlobMessage) -> dict[str, str | bytes | None]:
    """Return what the model has no field for."""
    extra: dict[str, str | bytes | None] = {"version": message.version}
    source = message.source
    if source is not None and source.db_type is not None:
        extra["db_type"] = source.db_type
    if source is not None and source.db_version is not None:
        extra["db_version"] = source.db_version
    if message.checkpoint_time is not None:
        extra["checkpoint_ms"] = str(message.checkpoint_time)
    return extra


def columns_of(columns: tuple[BlobColumn, ...], key: tuple[str, ...]) -> tuple[Column, ...]:
    """Return columns of the model; equal ones share one object, unless they are very many."""
    make = _columns if len(columns) <= _MAX_SHARED_COLUMNS else _columns.__wrapped__
    return make(columns, key)


@lru_cache(maxsize=256)
def _columns(columns: tuple[BlobColumn, ...], key: tuple[str, ...]) -> tuple[Column, ...]:
    names = frozenset(key)
    return tuple(
        Column(
            column.name,
            kind_of(column.type),
            column.type,
            roles=_PRIMARY if column.name in names else _NO_ROLES,
        )
        for column in columns
    )


def _image(columns: tuple[Column, ...], cells: Cells | None, selection: Selection) -> Image | None:
    """Return an image in the order of the declaration; columns not in the image are absent."""
    if cells is None:
        return None
    values = dict(cells)
    wanted = selection.columns
    if len(values) != len(columns) or wanted is not None:
        columns = tuple(
            column
            for column in columns
            if column.name in values and (wanted is None or column.name in wanted)
        )
    return Image(columns, tuple(values[column.name] for column in columns))


# ---- writing ---------------------------------------------------------------------------------


def from_event(event: Event, settings: Settings = DEFAULT_SETTINGS) -> tuple[BlobMessage, ...]:
    """Return the message of an event, or the two of an update. Raises: EncodeError."""
    match event:
        case RowChange():
            return _row_messages(event, settings)
        case SchemaChange():
            return (_ddl_message(event, settings),)
        case Progress(what="heartbeat"):
            return (_message(event, HEARTBEAT, settings, None),)
        case Marker():
            op = op_of_marker(event.what)
            if op is not None:
                if event.id is not None:
                    problem = "a marker has no id except its sequence id"
                    raise EncodeError(problem, "datahub-blob: markers", ("id",))
                return (_message(event, op, settings, None),)
        case _:
            pass
    raise EncodeError(f"there is no op for {event.what!r}", CLAUSE_OPS, ("what",))


def _row_messages(event: RowChange, settings: Settings) -> tuple[BlobMessage, ...]:
    op = op_of_row(event.op, event.half)
    if op is None:
        half = "" if event.half is None else f", half {event.half!r}"
        raise EncodeError(f"there is no op for {event.op!r}{half}", CLAUSE_OPS, ("op",))
    for name, image, is_needed in (
        ("before", event.before, op.has_before),
        ("after", event.after, op.has_after),
    ):
        if (image is not None) != is_needed:
            problem = f"{op.name} {'needs' if is_needed else 'has no'} {name}"
            raise EncodeError(problem, CLAUSE_IMAGES, (name,))
    if op.name != "UPDATE" or not settings.split_updates:
        return (row_message(event, op, event.before, event.after, settings),)
    befor, after = OPS["UPDATE_BEFOR"], OPS["UPDATE_AFTER"]
    return (
        row_message(event, befor, event.before, None, settings),
        row_message(event, after, None, event.after, settings),
    )


def row_message(
    event: RowChange, op: Op, before: Image | None, after: Image | None, settings: Settings
) -> BlobMessage:
    """Return the message of a row, with these images. Raises: EncodeError."""
    message = _message(event, op, settings, event.table)
    columns = _declared(image for image in (event.before, event.after) if image is not None)
    values = []
    for side, image in (("before", before), ("after", after)):
        with step(side):
            values.append(None if image is None else _cells(image))
    key = event.table.key
    for index, name in enumerate(key or ()):
        if all(column.name != name for column in columns):
            problem = f"key column {name!r:.60} is in neither image"
            raise EncodeError(problem, CLAUSE_KEY, ("table", "key", index))
    return BlobMessage(
        op.name,
        message.event_time,
        message.sequence_id,
        columns,
        message.source,
        key or None,
        values[0],
        values[1],
        None,
        message.system_time,
        message.checkpoint_time,
        message.version,
    )


def _declared(images: Iterable[Image]) -> tuple[BlobColumn, ...]:
    """Return the columns of the images; one that both have must be of one type."""
    found: dict[str, BlobColumn] = {}
    for image in images:
        for column in image.columns:
            type_ = type_of(column.type)
            if type_ is None:
                problem = f"there is no type for {kind_text(column.type):.60}"
                raise EncodeError(problem, "datahub-blob: other kinds", (column.name,))
            known = found.setdefault(column.name, BlobColumn(column.name, type_))
            if known.type != type_:
                problem = f"the column is {known.type} before and {type_} after"
                raise EncodeError(problem, CLAUSE_COLUMNS, (column.name,))
    return tuple(found.values())


def _cells(image: Image) -> Cells:
    cells = []
    for column, value in zip(image.columns, image.values, strict=True):
        with step(column.name):
            cells.append((column.name, to_blob(column, value)))
    return tuple(cells)


def _ddl_message(event: SchemaChange, settings: Settings) -> BlobMessage:
    if event.query is None:
        raise EncodeError("a DDL needs its statement", CLAUSE_DDL, ("query",))
    op = op_of_change(event.what)
    message = _message(event, op, settings, event.table)
    meta = event.extra.get("ddl_meta")
    if not isinstance(meta, (bytes, type(None))):
        raise EncodeError("ddl_meta is bytes", CLAUSE_META, ("extra", "ddl_meta"))
    columns = key = None
    if event.table is not None and event.table.columns:
        columns = _declared((Image(event.table.columns, ()),))
        key = event.table.key or None
    elif event.table is not None:
        key = event.table.key or None
    return BlobMessage(
        op.name,
        message.event_time,
        message.sequence_id,
        columns,
        message.source or Source(),
        key,
        None,
        None,
        Ddl(event.query, meta),
        message.system_time,
        message.checkpoint_time,
        message.version,
    )


def _message(event: Event, op: Op, settings: Settings, table: Table | None) -> BlobMessage:
    """Return what messages of all ops have."""
    position, extra = event.position, event.extra
    if position.commit_ms is None:
        problem = "an event needs the time of its change, commit_ms"
        raise EncodeError(problem, CLAUSE_TIMES, ("position", "commit_ms"))
    sequence_id = position.sequence_id
    if sequence_id is None and op.group != "heartbeat":
        problem = f"{op.name} needs a sequence id"
        raise EncodeError(problem, CLAUSE_SEQUENCE, ("position", "sequence_id"))
    checkpoint = extra.get("checkpoint_ms")
    if checkpoint is not None and not (isinstance(checkpoint, str) and _TIME.fullmatch(checkpoint)):
        problem = f"{checkpoint!r:.40} is not a time of 13 digits"
        raise EncodeError(problem, CLAUSE_TIMES, ("extra", "checkpoint_ms"))
    version = extra.get("version", DEFAULT_VERSION)
    if not isinstance(version, str):
        raise EncodeError("version is text", CLAUSE_VERSION, ("extra", "version"))
    return BlobMessage(
        op.name,
        position.commit_ms,
        None if sequence_id is None else str(sequence_id),
        source=_source(event, table, settings),
        system_time=position.sent_ms,
        checkpoint_time=None if checkpoint is None else int(checkpoint),
        version=version,
    )


def _source(event: Event, table: Table | None, settings: Settings) -> Source | None:
    texts = {}
    for name in ("db_type", "db_version"):
        value = event.extra.get(name)
        if not isinstance(value, (str, type(None))):
            raise EncodeError(f"{name} is text", CLAUSE_SOURCE, ("extra", name))
        texts[name] = value
    if table is None:
        found = Source(db_type=texts["db_type"], db_version=texts["db_version"])
        return None if found == Source() else found
    db_name, schema_name = table.schema, None
    if table.database is not None:
        db_name, schema_name = table.database, table.schema
    db_type = texts["db_type"] or settings.db_type
    return Source(db_name, db_type, texts["db_version"], schema_name, table.name)
