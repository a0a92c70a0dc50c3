"""Open Protocol messages at the wire layer, in the way of both producers."""

from __future__ import annotations

from hypothesis import strategies as st

from cdcwire.formats.open_protocol.members import EVENT_DDL, EVENT_RESOLVED, EVENT_ROW, Dialect
from cdcwire.formats.open_protocol.message import Column, Columns, Ddl, Item, Key, Message, Row
from cdcwire.mysql.types import FLAG_HANDLE_KEY, LARGE_STRING_TYPES, STRING_TYPES
from cdcwire_generators.strategies.names import column_names, names
from cdcwire_generators.strategies.wire_columns import (
    MAX_INT64,
    column_flags,
    commit_timestamps,
    type_codes,
    wire_values,
)

_IDS = st.one_of(st.just(0), st.integers(1, 200), st.integers(-MAX_INT64 - 1, MAX_INT64))
_SCHEMA_OR_NOTHING = st.one_of(st.just(""), names())


@st.composite
def open_columns(draw: st.DrawFn, *, dialect: Dialect = "tiflow", max_columns: int = 4) -> Columns:
    """Give columns of one group, in the order of the dialect; text is UTF-8, floats are finite.

    ``h`` is what the flag says, but now and then a producer without flags set it alone.
    """
    columns = []
    for name in draw(column_names(max_size=max_columns)):
        code, flags = draw(type_codes()), draw(column_flags())
        value = draw(wire_values(code, flags, exact_floats=True, finite=True))
        if code in STRING_TYPES - LARGE_STRING_TYPES and not flags & 1 and value is not None:
            value = value.decode("utf-8", "replace").encode()
        is_key = bool(flags & FLAG_HANDLE_KEY) or draw(st.integers(0, 9)) == 9
        columns.append(Column(name, code, is_key, flags, value))
    if dialect == "tiflow":
        columns.sort(key=lambda column: column.name.encode())
    return tuple(columns)


@st.composite
def open_rows(draw: st.DrawFn, *, dialect: Dialect = "tiflow") -> Row:
    """Give inserts, deletes and updates."""
    shape = draw(st.sampled_from(("u", "d", "up")))
    new, old = (draw(open_columns(dialect=dialect)) for _ in range(2))
    if shape == "d":
        return Row(d=old)
    return Row(u=new, p=old if shape == "up" else None)


@st.composite
def open_items(draw: st.DrawFn, kind: int, *, dialect: Dialect = "tiflow") -> Item:
    """Give items of one event type."""
    ts = draw(commit_timestamps())
    if kind == EVENT_RESOLVED:
        return Item(Key(ts, kind), None)
    partition = draw(_IDS)
    row_id = draw(_IDS) if dialect == "tiflow" else 0
    if kind == EVENT_DDL:
        schema, table = draw(_SCHEMA_OR_NOTHING), draw(_SCHEMA_OR_NOTHING)
        query = draw(st.text(st.characters(codec="utf-8"), max_size=30))
        key = Key(ts, kind, schema, table, row_id, partition)
        return Item(key, Ddl(query, draw(st.integers(0, 255))))
    is_claim = draw(st.integers(0, 7)) == 7
    location = (
        draw(st.text(st.characters(codec="utf-8"), min_size=1, max_size=9)) if is_claim else ""
    )
    only_key = not is_claim and draw(st.integers(0, 7)) == 7
    key = Key(ts, kind, draw(names()), draw(names()), row_id, partition, only_key, location)
    return Item(key, draw(open_rows(dialect=dialect)))


@st.composite
def open_messages(draw: st.DrawFn, *, dialect: Dialect = "tiflow", max_items: int = 4) -> Message:
    """Give messages of 1 to ``max_items`` items, of any mix of event types."""
    if max_items < 1:
        raise ValueError(f"max_items={max_items} is less than 1")
    kinds = st.sampled_from((EVENT_RESOLVED, EVENT_ROW, EVENT_ROW, EVENT_DDL))
    drawn = draw(st.lists(kinds, min_size=1, max_size=max_items))
    return Message(tuple(draw(open_items(kind, dialect=dialect)) for kind in drawn))
