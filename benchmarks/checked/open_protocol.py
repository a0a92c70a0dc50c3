"""Open Protocol by ``json`` and a checked plan for each layout of columns.

The key of a plan is all that a producer writes of the columns except their values. A value is
converted only if it has the type that its column expects. A difference raises one of
``IRREGULARITIES``: it may be valid or not, and the plain decoder decides.
"""

from __future__ import annotations

import codecs
import re
from binascii import a2b_base64
from collections.abc import Callable
from typing import Any, TypeAlias

from benchmarks.checked import irregular
from cdcwire.core.compiled import Irregular
from cdcwire.core.compiled.json_objects import Real, read_pairs
from cdcwire.core.limits import INT64_END, UINT64_END
from cdcwire.core.rows import NOTHING_ELSE, Layout, Row, Values, new_row
from cdcwire.formats.open_protocol.events import handle_key_names
from cdcwire.formats.open_protocol.fast import RowDecoder, RowKey, _described
from cdcwire.formats.open_protocol.message import Column, Columns
from cdcwire.formats.open_protocol.wire import read_row
from cdcwire.golang import unquote
from cdcwire.model.events import Table
from cdcwire.model.floats import read_float32
from cdcwire.mysql.types import (
    FLAG_BINARY,
    FLAG_UNSIGNED,
    INTEGER_TYPES,
    LARGE_STRING_TYPES,
    STRING_TYPES,
    TEXT_TYPES,
    TYPE_DOUBLE,
    TYPE_FLOAT,
    TYPE_VECTOR,
    TYPE_YEAR,
    UNSIGNED_TYPES,
)
from cdcwire.mysql.values import is_vector_text, read_text

_Convert: TypeAlias = Callable[[Any], Any]

# What Go's quoting and Python's escapes write alike; octal numbers end at 377.
_ALIKE = re.compile(rb'[^\\"\n]*(?:\\(?:[abfnrtv\\"]|x[0-9a-fA-F]{2}|[0-3][0-7]{2})[^\\"\n]*)*')
_BASE64 = re.compile("[A-Za-z0-9+/]*(?:[AQgw]==|[AEIMQUYcgkosw048]=)?")  # no bits behind the end


class PlanDecoder(RowDecoder):
    """Decodes Kafka messages as the fast decoder does, except how it reads a row."""

    _plans: dict[tuple[object, ...], RowPlan]

    def _members(self, text: bytes) -> Any:
        """Return the pairs of an object. Raises: one of IRREGULARITIES."""
        return read_pairs(text)

    def _names(self, columns: Any) -> tuple[object, ...]:
        return tuple([each for each, _ in columns])

    def _row_plan(self, columns: Columns, wanted: tuple[int, ...], layout: Layout) -> RowPlan:
        return RowPlan(columns, wanted, layout)

    def _row(self, subject: RowKey, commit_ts: int, value: bytes, start: int, end: int) -> Row:
        try:
            first, *others = self._members(value[start:end])
            name, columns = first
            plan = self._plan(columns, value, start, end)
            values = plan.read(columns)
            where = commit_ts, subject.partition
            table = Table(subject.name, subject.schema, key=plan.key)
            row: tuple[object, ...]
            if name == "d" and not others:
                sent = subject.sent or self._sent_of_delete
                row = (table, "delete", *where, None, None, plan.layout, values, sent)
            elif name == "u" and not others:
                row = (table, "insert", *where, plan.layout, values, None, None, subject.sent)
            elif name == "u" and len(others) == 1 and others[0][0] == "p":
                old_columns = others[0][1]
                old = self._plan(old_columns, value, start, end)
                images = (plan.layout, values, old.layout, old.read(old_columns))
                row = (table, "update", *where, *images, subject.sent or self._sent_of_update)
            else:
                raise Irregular
            return new_row(row + NOTHING_ELSE)
        except (AttributeError, TypeError):
            raise Irregular from None

    def _plan(self, columns: Any, value: bytes, start: int, end: int) -> RowPlan:
        key = self._names(columns)
        self._plans = getattr(self, "_plans", {})
        plan = self._plans.get(key)
        if plan is not None:
            return plan
        row = read_row(value, start, end)
        for each in (row.u, row.p, row.d):
            if each and key == tuple(one.name for one in each):
                wanted = tuple(index for index, one in enumerate(each) if self._wants(one))
                layout = self.layouts.of(tuple(_described(each[index]) for index in wanted))
                plan = self._plans[key] = self._row_plan(each, wanted, layout)
                return plan
        raise Irregular


class RowPlan:
    """How the columns of one layout are read. ``key``: the names of the handle key."""

    def __init__(self, columns: Columns, wanted: tuple[int, ...], layout: Layout) -> None:
        self.layout = layout
        self.key = handle_key_names(columns)
        self._heads = [_head(column) for column in columns]
        self._readings = [reading_of(column.type, column.flag) for column in columns]
        # True is equal to 1, and is not a code.
        self._ones = [
            index for index, each in enumerate(columns) if {each.type, each.flag} & {0, 1}
        ]
        self._wanted = wanted if len(wanted) < len(columns) else None

    def read(self, columns: Any) -> Values:
        """Return the values that are wanted; all are checked. Raises: one of IRREGULARITIES."""
        cells = [cell for _, cell in columns]
        if [cell[:-1] for cell in cells] != self._heads:
            raise Irregular
        for index in self._ones:
            members = dict(cells[index])
            if type(members["t"]) is not int or type(members["f"]) is not int:
                raise Irregular
        if [cell[-1][0] for cell in cells] != ["v"] * len(cells):
            raise Irregular
        return self._converted([cell[-1][1] for cell in cells])

    def _converted(self, found: list[Any]) -> Values:
        values = tuple(
            [
                None
                if value is None
                else (value if convert is None else convert(value))
                if type(value) in types
                else irregular()
                for value, (types, convert) in zip(found, self._readings, strict=True)
            ]
        )
        return values if self._wanted is None else tuple([values[index] for index in self._wanted])


def _head(column: Column) -> tuple[tuple[str, int], ...]:
    handle = (("h", True),) if column.h else ()
    return (("t", column.type), *handle, ("f", column.flag))


def reading_of(code: int, flags: int) -> tuple[frozenset[type], _Convert | None]:
    """Return the types of JSON that values may have, and what converts them.

    It raises one of IRREGULARITIES.
    """
    if code in UNSIGNED_TYPES or (code in INTEGER_TYPES and flags & FLAG_UNSIGNED):
        return _INTEGER, _unsigned
    if code in INTEGER_TYPES or code == TYPE_YEAR:
        return _INTEGER, _signed
    if code in TEXT_TYPES:
        return _TEXT, _text
    if code in LARGE_STRING_TYPES:
        return _TEXT, _bytes if flags & FLAG_BINARY else _text_of_base64
    if code in STRING_TYPES:
        return _TEXT, _quoted if flags & FLAG_BINARY else _text
    return _OTHERS.get(code, (frozenset(), None))


def _signed(number: int) -> int:
    if not -INT64_END <= number < INT64_END:
        raise Irregular
    return number


def _unsigned(number: int) -> int:
    if not 0 <= number < UINT64_END:
        raise Irregular
    return number


def _float(number: str | int | float) -> float:
    if not number:
        raise Irregular  # it may be -0
    found = read_float32(str(number))
    if found - found:  # an infinity less itself is not a number
        raise Irregular
    return found


def _double(number: str | int | float) -> float:
    if not number:
        raise Irregular  # it may be -0
    found = float(number)
    if found - found:
        raise Irregular
    return found


def _text(text: str) -> str:
    if not text.isascii():
        text.encode()  # a lone surrogate is a ValueError
    return text


def _quoted(text: str) -> bytes:
    """Return the bytes of Go's quoting. Raises: ValueError."""
    raw = text.encode()
    if b"\\" not in raw and b'"' not in raw and b"\n" not in raw:
        return raw
    if _ALIKE.fullmatch(raw):
        return codecs.escape_decode(raw)[0]
    return unquote(text)


def _bytes(text: str) -> bytes:
    if len(text) & 3 or _BASE64.fullmatch(text) is None:
        raise Irregular
    return a2b_base64(text)


def _text_of_base64(text: str) -> str | bytes:
    return read_text(_bytes(text))


def _vector(text: str) -> str:
    if not is_vector_text(text):
        raise Irregular
    return text


_INTEGER = frozenset({int})
_NUMBER = frozenset({int, Real, float})  # float: by orjson
_TEXT = frozenset({str})
_OTHERS: dict[int, tuple[frozenset[type], _Convert | None]] = {
    TYPE_FLOAT: (_NUMBER, _float),
    TYPE_DOUBLE: (_NUMBER, _double),
    TYPE_VECTOR: (_TEXT, _vector),
}
