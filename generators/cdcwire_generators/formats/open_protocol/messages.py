"""Open Protocol messages at the wire layer: as both producers write them, and in other ways.

A decoder takes members in any order, unknown members, white space, other escapes, ``h`` and ``f``
spelled out, and no producer writes so. The codec is not used, only the message's classes.
"""

from __future__ import annotations

import base64
import json
from typing import TypeAlias

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


_Pairs: TypeAlias = "list[tuple[str, str]]"  # of member names and JSON texts

_BINARY = 1  # flag bit 0
_QUOTED_TYPES = (15, 253, 254)
_BASE64_TYPES = (249, 250, 251, 252)
_UNKNOWN = ("x_new", '{"a":[1,-2.5e3,null,true,"\\u00e9"]}')


@st.composite
def open_renderings(draw: st.DrawFn, message: Message) -> tuple[bytes, bytes]:
    """Give Kafka key and value that say ``message``."""
    rendering = _Rendering(draw)
    keys = [rendering.key(item.key) for item in message.items]
    values = [rendering.value(item) for item in message.items]
    return (1).to_bytes(8, "big") + _framed(keys), _framed(values)


def _framed(items: list[str]) -> bytes:
    raw = [item.encode() for item in items]
    return b"".join(len(item).to_bytes(8, "big") + item for item in raw)


class _Rendering:
    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw

    def key(self, key: Key) -> str:
        members = [("ts", str(key.ts)), ("t", str(key.t))]
        optional = (
            ("scm", self.string(key.scm), key.scm),
            ("tbl", self.string(key.tbl), key.tbl),
            ("rid", str(key.rid), key.rid),
            ("ptn", str(key.ptn), key.ptn),
            ("ohk", "true" if key.ohk else "false", key.ohk),
            ("ccl", self.string(key.ccl), key.ccl),
        )
        members += [(name, text) for name, text, value in optional if value or self.sometimes()]
        return self.object(members)

    def value(self, item: Item) -> str:
        match item.value:
            case None:
                return ""
            case Ddl(query, code):
                return self.object([("q", self.string(query)), ("t", str(code))])
            case Row(new, old, deleted):
                groups = (("u", new), ("p", old), ("d", deleted))
                return self.object(
                    [(name, self.columns(group)) for name, group in groups if group is not None]
                )

    def columns(self, columns: Columns) -> str:
        return self.object_in_order([(column.name, self.column(column)) for column in columns])

    def column(self, column: Column) -> str:
        members = [("t", str(column.type)), ("v", self.column_value(column))]
        if column.h or self.sometimes():
            members.append(("h", "true" if column.h else "false"))
        if column.flag or self.sometimes():
            members.append(("f", str(column.flag)))
        return self.object(members)

    def column_value(self, column: Column) -> str:
        value = column.value
        match value:
            case None:
                return "null"
            case bytes() if column.type in _BASE64_TYPES:
                return self.string(base64.b64encode(value).decode())
            case bytes() if column.type in _QUOTED_TYPES and column.flag & _BINARY:
                return self.string("".join(map(self.quoted_byte, value)))
            case bytes():
                return self.string(value.decode())
            case str():
                return self.string(value)
            case _:
                return repr(value)

    def quoted_byte(self, byte: int) -> str:
        """Return a byte as it is, or as one of Go's escapes."""
        ways = [f"\\x{byte:02x}", f"\\x{byte:02X}", f"\\{byte:03o}"]
        if 0x20 <= byte < 0x7F and byte not in b'"\\':
            ways.insert(0, chr(byte))
        return self.draw(st.sampled_from(ways))

    def string(self, text: str) -> str:
        return json.dumps(text, ensure_ascii=self.sometimes())

    def object(self, members: _Pairs) -> str:
        """Return an object with its members in any order, and an unknown one now and then."""
        if self.sometimes():
            members = [*members, _UNKNOWN]
        return self.object_in_order(self.draw(st.permutations(members)))

    def object_in_order(self, members: _Pairs) -> str:
        space = self.draw(st.sampled_from(("", "", " ", "\r\n\t")))
        pairs = [f"{self.string(name)}{space}:{space}{text}" for name, text in members]
        return f"{space}{{{space}{f'{space},{space}'.join(pairs)}{space}}}{space}"

    def sometimes(self) -> bool:
        return self.draw(st.integers(0, 3)) == 3
