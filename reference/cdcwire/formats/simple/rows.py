"""The members ``data`` and ``old``: rows, each an object of texts by column.

A value of a row is as its encoding has it: in JSON a text, in Avro a ``Branch`` of the union of
values; ``Timestamp`` is both encodings' TIMESTAMP.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TypeAlias

from cdcwire.apache_avro.datum import Branch
from cdcwire.core.errors import EncodeError, step
from cdcwire.core.json_record import Form, Quote, expect_object, member, nested, wrong
from cdcwire.core.strict_json import JsonObject, Member
from cdcwire.formats.simple.members import NAME, TEXT, TIMESTAMPS, VALUES

REPLACEMENT = "\ufffd"
BAD_BYTE = "\udcff"  # Go writes \ufffd for a bad byte, and a real U+FFFD as it is
_BAD_ESCAPES = {r"\ufffd": r"\udcff"}
_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{4}|.)")


@dataclass(frozen=True, slots=True)
class Timestamp:
    """A TIMESTAMP: its local text, and the zone that it is local to."""

    location: str = member(TEXT, TIMESTAMPS)
    value: str = member(TEXT, TIMESTAMPS)


CellValue: TypeAlias = "str | Timestamp | Branch | None"


@dataclass(frozen=True, slots=True)
class Cell:
    """A column of a row. ``offset``: the byte where its value begins."""

    name: str
    value: CellValue
    offset: int = field(default=0, compare=False)


Row: TypeAlias = "tuple[Cell, ...]"
_TIMESTAMP = nested(Timestamp)


def _read_row(given: Member, data: bytes, clause: str) -> Row:
    return tuple(
        [
            Cell(each.name, _read_value(each, data), each.start)
            for each in expect_object(given, clause).members
        ]
    )


def _read_value(given: Member, data: bytes) -> CellValue:
    value = given.value
    if value is None or isinstance(value, str):
        is_replaced = value is not None and REPLACEMENT in value
        return _with_bad_bytes(data[given.start : given.end]) if is_replaced else value
    with step(given.name):
        if isinstance(value, JsonObject):
            return _TIMESTAMP.read(given, data, TIMESTAMPS)
        raise wrong(value, "a string", given.start, VALUES)


def _with_bad_bytes(raw: bytes) -> str:
    r"""Return a string in which each escape ``\ufffd``, the sign of a bad byte, is BAD_BYTE."""
    text = _ESCAPE.sub(lambda found: _BAD_ESCAPES.get(found[0].lower(), found[0]), raw.decode())
    found: str = json.loads(text)
    return found


def _write_row(row: Row, clause: str, quoted: Quote) -> str:
    return f"{{{','.join([_written_cell(cell, clause, quoted) for cell in row])}}}"


def _written_cell(cell: Cell, clause: str, quoted: Quote) -> str:
    with step(cell.name):
        name = NAME.write(cell.name, clause, quoted)
        match cell.value:
            case None:
                value = "null"
            case str():  # lone surrogates are bytes that are not UTF-8
                value = quoted(cell.value)
            case Timestamp():
                value = _TIMESTAMP.write(cell.value, TIMESTAMPS, quoted)
            case other:
                raise EncodeError(f"{other!r:.40} is not a value of JSON", VALUES)
        return f"{name}:{value}"


ROW = Form(_read_row, _write_row)
