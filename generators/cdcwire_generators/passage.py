"""Events through a format and back, and the form in which events are compared."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from decimal import Decimal

from cdcwire.core.format import EVERYTHING, Context, Format, Selection
from cdcwire.core.message import Message, StoredFile
from cdcwire.model.events import (
    Column,
    Event,
    Image,
    Marker,
    Op,
    Position,
    Progress,
    RowChange,
    SchemaChange,
    Table,
    Value,
)
from cdcwire.model.kinds import (
    BitType,
    BytesType,
    DatetimeType,
    DecimalType,
    EnumType,
    IntType,
    SetType,
    TextType,
    TimestampType,
    TimeType,
    Type,
)
from cdcwire.model.steps import join_halves, split_key_changes
from cdcwire.model.text import event_to_json
from cdcwire_generators.carried import Options, carried_stream, named
from cdcwire_generators.carried_rows import is_stored
from cdcwire_generators.feeds import feed_of

NO_VERSION = 0  # rows in a path of this version, where no schema change came before them


def definitions_of(events: Iterable[Event]) -> tuple[Table, ...]:
    """Return a definition of each table in a stream, with the columns of its first row.

    A table that only schema changes name has the columns that they tell, or none.
    """
    found: dict[tuple[str | None, str | None], Table] = {}
    of_changes: dict[tuple[str | None, str | None], Table] = {}
    for event in events:
        table = None if isinstance(event, (Progress, Marker)) else event.table
        if table is None:
            continue
        told = Table(table.name, table.schema, key=table.key)
        if isinstance(event, RowChange):
            image = event.after or event.before
            if image is not None and image.columns:
                told = replace(told, columns=image.columns)
                found.setdefault((table.schema, table.name), told)
        elif table.name:
            told = replace(told, columns=table.columns or ())
            of_changes.setdefault((table.schema, table.name), told)
    return tuple({**of_changes, **found}.values())


def topics_of(events: Iterable[Event], through: Format) -> list[list[Event]]:
    """Return events as the topics of a format have them: of one table each, or all in one."""
    if not feed_of(through.name).has_one_table:
        return [list(events)]
    topics: dict[tuple[str | None, str | None], list[Event]] = {}
    for event in events:
        table = None if isinstance(event, (Progress, Marker)) else event.table
        if table is not None:
            topics.setdefault((table.schema, table.name), []).append(event)
    return list(topics.values())


# The definition of a topic about whose table nothing is known.
_SOME_TABLE = Table(None, None, columns=(Column("c", IntType(64)),), key=())


def _topic_tables(
    events: Iterable[Event], through: Format, tables: tuple[Table, ...]
) -> tuple[Table, ...]:
    """Return the definitions that a queue needs, each column once: of those that a row has."""
    if not through.needs_tables:
        return tables if through.name == "avro" else ()  # Avro completes columns from them
    found = [
        replace(table, columns=_once(table.columns or ()))
        for table in tables or definitions_of(events)
    ]
    return tuple(table for table in found if table.columns) or (_SOME_TABLE,)


def _once(columns: tuple[Column, ...]) -> tuple[Column, ...]:
    return tuple({column.name: column for column in reversed(columns) if column.name}.values())[
        ::-1
    ]


def encoded(
    events: Iterable[Event],
    through: Format,
    options: Options | None = None,
    *,
    tables: tuple[Table, ...] = (),
) -> list[Message]:
    """Return the messages that a format makes of events; files of claim checks, and of schemas, are
    among them.

    ``tables``: definitions, where files or topics need them, by default those of
    ``definitions_of``; Avro completes columns from those that are told.
    """
    events = list(events)
    if is_stored(through, options):
        told = tuple(
            replace(table, version=NO_VERSION) for table in tables or definitions_of(events)
        )
    else:
        told = _topic_tables(events, through, tables)
    return list(through.encode(events, Context(options or {}, told)))


def decoded(
    messages: Iterable[Message],
    through: Format,
    options: Options | None = None,
    *,
    selection: Selection = EVERYTHING,
    tables: tuple[Table, ...] = (),
) -> list[Event]:
    """Return the events of messages. Claim-check files stand before the messages that need them.

    ``tables``: what is told beside the files, for rows before any schema change, and for what
    schema files leave out.
    """
    messages = list(messages)
    context = Context(options or {}, tables, selection=selection)
    if is_stored(through, options):
        told = tuple(replace(table, version=NO_VERSION) for table in tables)
        context = through.prepared(messages, replace(context, tables=(*told, *tables)))
        return [event for file in messages for event in through.decode(file, context)]
    context = through.prepared(messages, context)
    events: list[Event] = []
    blobs: dict[str, bytes] = {}
    prefix = str((options or {}).get("claim-check-storage-uri", "")).rstrip("/")
    for message in messages:
        if isinstance(message, StoredFile):
            blobs[f"{prefix}/{message.path}" if prefix else message.path] = message.value
            continue
        events += through.decode(message, replace(context, blobs=blobs))
    return events


def sent_through(
    events: Iterable[Event],
    through: Format,
    options: Options | None = None,
    *,
    tables: tuple[Table, ...] = (),
) -> list[Event]:
    """Return the events that come back when a format encodes and decodes them.

    Those of files come in the order of ``gathered``.
    """
    events = list(events)
    if not is_stored(through, options):
        messages = encoded(events, through, options, tables=tables)
        told = _topic_tables(events, through, tables) if through.needs_tables else ()
        return decoded(messages, through, options, tables=told)
    tables = tables or definitions_of(events)
    messages = encoded(events, through, options, tables=tables)
    return gathered(decoded(messages, through, options, tables=tables))


def predicted(
    events: Iterable[Event],
    through: Format,
    options: Options | None = None,
    *,
    tables: tuple[Table, ...] = (),
) -> list[Event]:
    """Return the events that are to come back. Raises: NotCarriedError where encoding raises."""
    events = list(events)
    if not is_stored(through, options):
        return carried_stream(events, through, options)
    known = {(t.schema, t.name): t.columns for t in tables or definitions_of(events)}
    return gathered(carried_stream([_told(event, known) for event in events], through, options))


def _told(
    event: Event, known: dict[tuple[str | None, str | None], tuple[Column, ...] | None]
) -> Event:
    """Return a schema change with the columns of its table."""
    if not isinstance(event, SchemaChange) or event.table is None or event.table.name is None:
        return event
    columns = event.table.columns or known.get((event.table.schema, event.table.name))
    return replace(event, table=replace(event.table, columns=columns))


def gathered(events: Iterable[Event]) -> list[Event]:
    """Return events in one of the orders that files of a storage prefix may be read in.

    Within a table and partition the order stays, and around the table's schema changes. Between
    tables files promise none: here it is that of their names. What was stored comes before the
    checkpoints that promise it.
    """
    waiting: dict[tuple[str, str, int], list[Event]] = {}
    found: list[Event] = []
    last: list[Event] = []
    for event in events:
        if isinstance(event, RowChange):
            partition = -1 if event.position.partition is None else event.position.partition
            group = (event.table.schema or "", event.table.name or "", partition)
            waiting.setdefault(group, []).append(event)
        elif isinstance(event, SchemaChange) and event.table is not None:
            found += _taken(waiting, event.table)
            found.append(event)
        elif isinstance(event, Progress):
            last.append(event)
        else:
            found.append(event)
    return [*found, *_taken(waiting, None), *last]


def _taken(
    waiting: dict[tuple[str, str, int], list[Event]], table: Table | None
) -> Iterator[Event]:
    """Take out the events of a table, of all tables of a schema, or all, by their names."""
    for group in sorted(waiting):
        if table is None or (table.schema == group[0] and table.name in (None, group[1])):
            yield from waiting.pop(group)


def common_part(events: Iterable[Event], *formats: Format) -> list[Event]:
    """Return events with what rows have left in every one of ``formats``, by their verdicts.

    Where an update comes without its old row, one that changes a key is a delete and an insert; a
    delete may have its key only, and then no position either.
    """
    fields = [each.carries.fields for each in formats]
    if all(verdicts["before of update"].verdict != "no" for verdicts in fields):
        return list(events)
    is_bare = any(verdicts["before of delete"].verdict == "lossy" for verdicts in fields)
    return [_with_common_images(event, is_bare) for event in split_key_changes(events)]


def _with_common_images(event: Event, is_bare: bool) -> Event:
    if not isinstance(event, RowChange):
        return event
    if event.op == "update":
        return replace(event, before=None)
    if event.op != "delete" or event.before is None or not is_bare:
        return event
    image, key = event.before, event.table.key or ()
    pairs = [p for p in zip(image.columns, image.values, strict=True) if p[0].name in key]
    before = Image(tuple(column for column, _ in pairs), tuple(value for _, value in pairs))
    return replace(event, before=before, position=Position())


def plainly(events: Iterable[Event], position_fields: Iterable[str]) -> list[Event]:
    """Return events with what formats of one family can agree on, in the order of ``gathered``.

    Halves are joined, columns have their kind without its parameters, keys are sorted by name, and
    positions have the fields that are named. The number of a schema change stands for its kind.
    """
    fields = tuple(position_fields)
    return [_plain_event(event, fields) for event in gathered(join_halves(events))]


def _plain_event(event: Event, fields: tuple[str, ...]) -> Event:
    if not isinstance(event, RowChange) and "commit_ts" in fields:
        fields = ("commit_ts",)  # what is no row may have no more
    elif isinstance(event, (Progress, Marker)) and "lsn" in fields:
        fields = ()
    position = Position(**{name: getattr(event.position, name) for name in fields})
    match event:
        case RowChange():
            key = tuple(sorted(event.table.key or ()))
            table = Table(event.table.name, event.table.schema, key=key)
            before, after = plain_image(event.before), plain_image(event.after)
            op: Op = "insert" if event.op == "read" else event.op
            return RowChange(table, op, before, after, position)
        case SchemaChange():
            position = replace(position, partition=None)
            return SchemaChange(event.what, event.query, None, named(event.table), position)
        case Progress():
            return Progress(event.what, replace(position, partition=None))
        case Marker():
            return Marker(event.what, event.id, replace(position, partition=None))


def plain_image(image: Image | None) -> Image | None:
    """Return an image whose columns have nothing but their name and plain kind."""
    if image is None:
        return None
    columns = tuple(Column(column.name, plain_kind(column.type)) for column in image.columns)
    return Image(columns, tuple(map(_plain_value, image.values)))


def _plain_value(value: Value) -> Value:
    """Return a decimal that is zero without its sign, which no database has."""
    return abs(value) if isinstance(value, Decimal) and value.is_zero() else value


def plain_kind(kind: Type) -> Type:
    """Return a kind without length, precision, scale, digits and labels."""
    match kind:
        case DecimalType():
            return DecimalType()
        case TextType():
            return TextType()
        case BytesType():
            return BytesType()
        case BitType():
            return BitType()
        case TimeType() | DatetimeType() | TimestampType():
            return replace(kind, fraction=None)
        case EnumType() | SetType():
            return replace(kind, labels=None)
        case _:
            return kind


def texts_of(events: Iterable[Event]) -> list[str]:
    """Return each event as one line of JSON, in which -0.0, NaN and the types of values count."""
    return [
        json.dumps(event_to_json(event), sort_keys=True, ensure_ascii=False) for event in events
    ]
