"""The peer of the fast Craft decoder: Open Protocol read with a JSON library and a plan a table.

It is tuned as the Craft decoder is, with a generated function for each table, and gives the same
rows. It trusts its input: it checks nothing and gets the tables. A strict decoder of the same kind
would be slower.
"""

from __future__ import annotations

import codecs
import struct
from binascii import a2b_base64
from collections.abc import Callable
from typing import Any

from cdcwire.core.rows import NOTHING_ELSE, Layout, Row, Values, new_row
from cdcwire.golang import unquote
from cdcwire.model.events import Table
from cdcwire.model.floats import narrow_float32
from cdcwire.model.kinds import BytesType, Column, FloatType, TextType
from cdcwire.mysql.layouts import Layouts
from cdcwire.mysql.types import LARGE_STRING_TYPES, code_and_flags

_read_u64: Callable[[bytes, int], tuple[int]] = struct.Struct(">Q").unpack_from


class JsonPeer:
    """Decodes the rows of one table. ``loads`` is that of the JSON library."""

    def __init__(self, table: Table, loads: Callable[[bytes], Any]) -> None:
        described = [
            (column.name, *code_and_flags(column, "benchmark")) for column in table.columns or ()
        ]
        self.loads = loads
        self.layout: Layout = Layouts(None).of(tuple(described))
        self.table = Table(table.name, table.schema, key=table.key)
        self.read = _make_row_function(table.columns or ())

    def decode(self, key: bytes, value: bytes) -> list[Row]:
        """Return the rows of a Kafka message."""
        loads, read, layout, table = self.loads, self.read, self.layout, self.table
        rows = []
        key_end, value_end = 8, 0
        while key_end < len(key):
            key_start, value_start = key_end + 8, value_end + 8
            key_end = key_start + _read_u64(key, key_start - 8)[0]
            value_end = value_start + _read_u64(value, value_start - 8)[0]
            head = loads(key[key_start:key_end])
            body = loads(value[value_start:value_end])
            partition = head.get("ptn")
            new, old = body.get("u"), body.get("p")
            images: tuple[Any, ...]
            if new is None:
                op, images = "delete", (None, None, layout, read(body["d"]), None)
            elif old is None:
                op, images = "insert", (layout, read(new), None, None, None)
            else:
                op, images = "update", (layout, read(new), layout, read(old), None)
            rows.append(new_row((table, op, head["ts"], partition, *images, *NOTHING_ELSE)))
        return rows


def _make_row_function(columns: tuple[Column, ...]) -> Callable[[dict[str, Any]], Values]:
    """Return a function from the columns of a row to its values, in the order of the table."""
    lines = ["def read_row(columns):"]
    for index, column in enumerate(columns):
        lines.append(f" v{index} = columns[{column.name!r}]['v']")
        conversion = _conversion(column)
        if conversion:
            lines.append(f" if v{index} is not None: v{index} = {conversion}(v{index})")
    lines.append(f" return ({''.join(f'v{index},' for index in range(len(columns)))})")
    names: dict[str, Any] = {
        "a2b_base64": a2b_base64,
        "text_of_base64": lambda text: a2b_base64(text).decode(),
        "unquoted": _unquoted,
        "narrow_float32": narrow_float32,
    }
    exec("\n".join(lines), names)  # the columns of a benchmark's own table
    function: Callable[[dict[str, Any]], Values] = names["read_row"]
    return function


def _conversion(column: Column) -> str:
    code, _ = code_and_flags(column, "benchmark")
    match column.type:
        case FloatType(32):
            return "narrow_float32"
        case FloatType():
            return "float"  # 1.0 is written as 1
        case TextType() if code in LARGE_STRING_TYPES:
            return "text_of_base64"
        case BytesType():
            return "a2b_base64" if code in LARGE_STRING_TYPES else "unquoted"
        case _:
            return ""


def _unquoted(text: str) -> bytes:
    if "\\" not in text:
        return text.encode()
    if "\\u" in text or "\\U" in text:
        return unquote(text)
    raw: bytes = codecs.escape_decode(text.encode())[0]
    return raw
