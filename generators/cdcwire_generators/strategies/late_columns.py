"""Streams in which a table has a column in its later rows only."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from cdcwire.model.events import Event, Image, RowChange, Table
from cdcwire.model.kinds import Column
from cdcwire_generators.strategies.streams import ChangeStream


@st.composite
def late_columns(draw: st.DrawFn, stream: ChangeStream) -> ChangeStream:
    """Give a stream as it is if one column was added between two changes of its table.

    The rows before do not have the column. A row that existed then has NULL in it, until a change
    gives it a value. Without a table that can get a column, it is the stream itself.
    """
    choices = [
        (table, column)
        for table in stream.tables
        for column in table.columns or ()
        if _may_be_late(table, column) and len(_changes_of(stream, table)) > 1
    ]
    if not choices:
        return stream
    table, column = draw(st.sampled_from(choices))
    since = draw(st.sampled_from(_changes_of(stream, table)[1:]))
    return replace(stream, events=_with_late_column(stream.events, table, column, since))


def _may_be_late(table: Table, column: Column) -> bool:
    is_of_key = column.roles or column.name in (table.key or ())
    return column.nullable is not False and not is_of_key


def _changes_of(stream: ChangeStream, table: Table) -> list[int]:
    """Return the places of the row changes of a table."""
    return [number for number, event in enumerate(stream.events) if _is_of(event, table)]


def _is_of(event: Event, table: Table) -> bool:
    if not isinstance(event, RowChange):
        return False
    return (event.table.schema, event.table.name) == (table.schema, table.name)


def _with_late_column(
    events: tuple[Event, ...], table: Table, column: Column, since: int
) -> tuple[Event, ...]:
    """Return events in which rows of a table have a column from one place on."""
    early = {
        id(event.after)
        for event in events[:since]
        if isinstance(event, RowChange) and _is_of(event, table)
    }
    found: list[Event] = []
    for number, event in enumerate(events):
        if not isinstance(event, RowChange) or not _is_of(event, table):
            found.append(event)
        elif number < since:
            images = (_without(event.before, column), _without(event.after, column))
            found.append(replace(event, before=images[0], after=images[1]))
        elif id(event.before) in early:
            found.append(replace(event, before=_with_null(event.before, column)))
        else:
            found.append(event)
    return tuple(found)


def _without(image: Image | None, column: Column) -> Image | None:
    if image is None:
        return None
    return Image.of([pair for pair in image.pairs if pair[0].name != column.name])


def _with_null(image: Image | None, column: Column) -> Image | None:
    if image is None:
        return None
    pairs = image.pairs
    return Image.of([(own, None if own.name == column.name else value) for own, value in pairs])
