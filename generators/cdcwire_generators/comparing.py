"""The forms in which events are compared, whatever format they came through."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from decimal import Decimal

from cdcwire.format import Format
from cdcwire.model import kinds
from cdcwire.model.events import (
    Event,
    Image,
    Marker,
    Op,
    Position,
    Progress,
    RowChange,
    SchemaChange,
    Table,
)
from cdcwire.model.kinds import Column, Value
from cdcwire.model.steps import fill_unchanged, join_halves, split_key_changes
from cdcwire.model.text import event_to_json
from cdcwire_generators.round_trip import named


def gathered(events: Iterable[Event]) -> list[Event]:
    """Return events in one of the orders that files of a storage prefix may be read in.

    The order within a table and partition stays, and so does the order around the table's schema
    changes. Files promise no order between tables: here they are sorted by name. Stored rows come
    before the checkpoints that promise them.
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
    """Return events with the part of each row that all ``formats`` carry, by their verdicts.

    Where an update has no old row, an update of a key is a delete and an insert. A delete may have
    its key only, and then no position.
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
    before = event.before.only(event.table.key or ())
    return replace(event, before=before, position=Position())


def plainly(events: Iterable[Event], position_fields: Iterable[str]) -> list[Event]:
    """Return what formats of one family can agree on in events, in the order of ``gathered``.

    Updates in two records are joined and unchanged columns are filled in. Columns have their kind
    without its parameters. Keys are sorted by name. Positions have the fields of
    ``position_fields``. Schema changes have their kind and no number.
    """
    fields = tuple(position_fields)
    return [_plain_event(event, fields) for event in gathered(fill_unchanged(join_halves(events)))]


def _plain_event(event: Event, fields: tuple[str, ...]) -> Event:
    if not isinstance(event, RowChange) and "commit_ts" in fields:
        fields = ("commit_ts",)  # other events than rows may have no more fields
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


def plain_kind(kind: kinds.Type) -> kinds.Type:
    """Return a kind without length, precision, scale, digits and labels."""
    match kind:
        case kinds.DecimalType():
            return kinds.DecimalType()
        case kinds.TextType():
            return kinds.TextType()
        case kinds.BytesType():
            return kinds.BytesType()
        case kinds.BitType():
            return kinds.BitType()
        case kinds.TimeType() | kinds.DatetimeType() | kinds.TimestampType():
            return replace(kind, fraction=None)
        case kinds.EnumType() | kinds.SetType():
            return replace(kind, labels=None)
        case _:
            return kind


def texts_of(events: Iterable[Event]) -> list[str]:
    """Return each event as one line of JSON, in which -0.0, NaN and the types of values count."""
    return [
        json.dumps(event_to_json(event), sort_keys=True, ensure_ascii=False) for event in events
    ]
