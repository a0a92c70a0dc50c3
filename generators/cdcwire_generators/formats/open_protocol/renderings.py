"""The many ways to write one Open Protocol message that a decoder takes, and no producer uses.

Members in any order, unknown members, white space, other escapes, ``h`` and ``f`` spelled out. It
shares nothing with the codec but the message's own classes.
"""

from __future__ import annotations

import base64
import json
from typing import TypeAlias

from hypothesis import strategies as st

from cdcwire.formats.open_protocol.message import Column, Columns, Ddl, Item, Key, Message, Row

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
