"""Steps over events: what needs more than one message, or both images of a row.

Each step takes and yields events, one at a time, in bounded memory. It is the same in a test, in a
decoder and in Spark. Events that a step has nothing to do with pass through in their place.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from cdcwire.model.events import Event, Extra, Image, Marker, Position, RowChange, Table
from cdcwire.model.kinds import Column, Role, Value

_LISTED_COLUMNS = "ambiguous_null"  # of extra: the columns whose NULL may be a text


class IncompleteUpdateError(ValueError):
    """Half of an update came without the other. ``event`` is the half."""

    def __init__(self, event: RowChange) -> None:
        super().__init__(event)
        self.event = event

    def __str__(self) -> str:
        table, at = self.event.table, self.event.position.sequence_id
        where = "without a sequence id" if at is None else f"with the sequence id {at}"
        return (
            f"incomplete-update: only the {self.event.half} record of an update of "
            f"{table.schema}.{table.name} {where}"
        )


def join_halves(events: Iterable[Event]) -> Iterator[Event]:
    """Join each "before" half with the "after" half that follows it into one update.

    The two must be neighbours among the rows of their table, with one sequence id.
    Raises: IncompleteUpdateError where one of the two is alone.
    """
    waiting: dict[tuple[str | None, str | None], RowChange] = {}
    for event in events:
        if not isinstance(event, RowChange):
            yield event
            continue
        name = (event.table.schema, event.table.name)
        before = waiting.pop(name, None)
        if before is not None and not _are_halves(before, event):
            raise IncompleteUpdateError(before)
        if before is not None:
            extra = joined_extra(before.extra, event.extra)
            yield replace(event, op="update", before=before.before, half=None, extra=extra)
        elif event.half == "before":
            waiting[name] = event
        elif event.half == "after":
            raise IncompleteUpdateError(event)
        else:
            yield event
    for event in waiting.values():
        raise IncompleteUpdateError(event)


def joined_extra(before: Extra, after: Extra) -> Extra:
    """Return ``extra`` of a joined update: that of the after record, with the columns of both.

    A member that lists columns is about the values of one record.
    """
    listed = [extra.get(_LISTED_COLUMNS) for extra in (before, after)]
    names = dict.fromkeys(
        name for text in listed if isinstance(text, str) for name in text.split(",")
    )
    return {**after, _LISTED_COLUMNS: ",".join(names)} if names else after


def _are_halves(before: RowChange, after: RowChange) -> bool:
    return after.half == "after" and before.position.sequence_id == after.position.sequence_id


def fill_unchanged(events: Iterable[Event]) -> Iterator[Event]:
    """Complete the before image of updates that were sent with changed columns only."""
    for event in events:
        if (
            isinstance(event, RowChange)
            and event.sent == "changed"
            and event.op == "update"
            and event.after is not None
        ):
            yield replace(event, before=_filled(event.before, event.after), sent=None)
        else:
            yield event


def _filled(before: Image | None, after: Image) -> Image:
    known: dict[str, tuple[Column, Value]] = {}
    if before is not None:
        known = {c.name: (c, v) for c, v in before.pairs}
    pairs = [known.pop(column.name, (column, value)) for column, value in after.pairs]
    pairs += known.values()  # a column that only the old row has
    return Image.of(pairs)


_KEY_ROLES: frozenset[Role] = frozenset({"primary", "handle", "unique"})


def split_key_changes(events: Iterable[Event]) -> Iterator[Event]:
    """Split an update that alters a value of a primary or unique key into delete and insert.

    Both keep the position. This is the common form for comparing, as TiCDC and Debezium split by
    themselves in most settings.
    """
    for event in events:
        if isinstance(event, RowChange) and event.op == "update" and _changes_key(event):
            yield replace(event, op="delete", after=None)
            yield replace(event, op="insert", before=None)
        else:
            yield event


def _changes_key(event: RowChange) -> bool:
    if event.before is None or event.after is None:
        return False
    new = {c.name: v for c, v in event.after.pairs}
    return any(
        column.name in new and not _same(value, new[column.name])
        for column, value in event.before.pairs
        if column.roles & _KEY_ROLES or column.name in (event.table.key or ())
    )


def _same(left: Value, right: Value) -> bool:
    return type(left) is type(right) and bool(left == right)


def drop_markers(
    events: Iterable[Event], wanted: Callable[[Marker], bool] = lambda marker: False
) -> Iterator[Event]:
    """Drop markers (tombstones, transaction borders) except those that ``wanted`` keeps."""
    return (event for event in events if not isinstance(event, Marker) or wanted(event))


def drop_repeats(events: Iterable[Event], remember: int = 65536) -> Iterator[Event]:
    """Drop changes that were delivered again: equal rows at an equal position of their table.

    At-least-once feeds repeat the newest changes, so the last ``remember`` ones are kept in mind.
    Equal rows are never dropped where the position cannot distinguish two changes, as they may be
    two. These are rows without position, and rows without key that have no more than a commit_ts.
    """
    seen: OrderedDict[object, None] = OrderedDict()
    for event in events:
        if isinstance(event, RowChange) and _tells_changes_apart(event):
            identity = _identity(event)
            if identity in seen:
                seen.move_to_end(identity)
                continue
            seen[identity] = None
            if len(seen) > remember:
                seen.popitem(last=False)
        yield event


_NOWHERE = Position()


def _tells_changes_apart(event: RowChange) -> bool:
    position = event.position
    if event.table.key == ():
        return any(x is not None for x in (position.sequence_id, position.lsn, position.tx_order))
    return position != _NOWHERE


def _identity(event: RowChange) -> object:
    position = replace(event.position, sent_ms=None)  # a repeat is sent at another time
    table: Table = event.table
    return (
        (table.database, table.schema, table.name),
        (event.op, event.half),
        position,
        _image_identity(event.before),
        _image_identity(event.after),
    )


def _image_identity(image: Image | None) -> object:
    if image is None:
        return None
    return image.names, tuple(map(_value_identity, image.values))


def _value_identity(value: Value) -> object:
    # repr distinguishes -0.0 from 0.0, 1 from True, and makes NaN equal to itself
    return type(value), repr(value)
