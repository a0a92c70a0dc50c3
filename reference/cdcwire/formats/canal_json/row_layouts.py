"""The layouts that the fast decoder has learned per table and operation: how to read messages."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from cdcwire.core.compiled import Irregular
from cdcwire.core.json_strings import STRING
from cdcwire.core.rows import Layout, Values
from cdcwire.formats.canal_json.row_patterns import (
    PAIR,
    TIMES,
    RowFunction,
    form_of,
    name_of,
    row_function,
    rows_function,
    rows_pattern,
    sql_type_pattern,
    value_function,
)
from cdcwire.formats.canal_json.values import value_reader
from cdcwire.model.kinds import Column, DecimalType, VectorType
from cdcwire.mysql.value_forms import Read

_MYSQL_TYPE = ',"mysqlType":{"'
_END_OF_TYPES = '"},'
_MAX_KNOWN = 64  # texts of sqlType, and sets of old columns

# layout and values of the row, of the old row, and commitTs
Images = tuple[Layout, Values, "Layout | None", "Values | None", "str | None"]


@dataclass(frozen=True, slots=True)
class Shape:
    """The differences between messages of a table, other than their values.

    ``types``: the members of ``mysqlType``, or the text of all of them where they can't be
    separated in it. ``is_part``: the old row has some columns only.
    """

    names: tuple[str, ...]
    types: frozenset[str] | str
    has_old: bool
    is_part: bool


class MessageReader:
    """Reads the messages of one shape.

    ``sql_type`` and ``types``: as ``sqlType`` and the inside of ``mysqlType`` were in the first of
    them. Columns of ``wanted`` get into rows; None means all.
    """

    def __init__(
        self,
        shape: Shape,
        sql_type: str,
        types: str,
        columns: Sequence[Column],
        wanted: Collection[str] | None,
    ) -> None:
        self.shape = shape
        self._types = types
        self._members = set(shape.types) if isinstance(shape.types, frozenset) else None
        self._columns = tuple(columns)
        self._wanted = wanted
        forms = [form_of(column.type) for column in columns]
        self._match = rows_pattern(
            shape.names, forms, has_old=shape.has_old, is_part=shape.is_part
        ).match
        self._sql_type = sql_type_pattern(shape.names)
        self._known_sql_types: set[str] = set()
        self._before_types = f"{sql_type}{_MYSQL_TYPE}"  # as it was last
        places = [place for place, column in enumerate(columns) if self._wants(column)]
        has_both = shape.has_old and not shape.is_part
        self._read: RowFunction = (rows_function if has_both else row_function)(forms, places)
        self._layout = _layout([columns[place] for place in places])
        self._by_name: dict[str, tuple[int, re.Pattern[str], Read]] = {}
        if shape.is_part:
            for place, (column, form) in enumerate(zip(columns, forms, strict=True)):
                reading = place, re.compile(form.pattern), value_function(form)
                self._by_name[name_of(column.name)] = reading
        self._some_layouts: dict[tuple[int, ...], Layout] = {}

    def read(self, text: str, position: int, rows: str) -> tuple[str, str, Images] | None:
        """Return ``es``, ``ts`` and the images of a message; None if it has another shape.

        ``text``: the message up to its rows, in which ``es`` begins at ``position``. ``rows``: it
        from ``old`` on. Raises: one of IRREGULARITIES.
        """
        times = TIMES.match(text, position)
        if times is None:
            raise Irregular
        position = times.end()
        if not text.startswith(self._before_types, position) and not self._find(text, position):
            return None
        if not text.endswith(_END_OF_TYPES):
            return None
        types = text[position + len(self._before_types) : -len(_END_OF_TYPES)]
        if types != self._types:
            members = types.split('","')
            if self._members != set(members) or len(members) != len(self._columns):
                return None
        found = self._match(rows)
        if found is None:
            return None
        groups = found.groups()
        if not self.shape.has_old:
            images: Images = (self._layout, self._read(groups), None, None, groups[-1])
        elif self.shape.is_part:
            old_layout, old = self._some(rows, *found.span(1))
            images = (self._layout, self._read(groups[1:]), old_layout, old, groups[-1])
        else:
            old, values = self._read(groups)
            images = (self._layout, values, self._layout, old, groups[-1])
        return times[1], times[2], images

    def _find(self, text: str, position: int) -> bool:
        """Return whether ``sqlType`` of these columns is at ``position``, and keep it in mind."""
        end = text.find(_MYSQL_TYPE, position)
        sql_type = text[position:end]
        if end < 0 or not (sql_type in self._known_sql_types or self._is_sql_type(sql_type)):
            return False
        self._before_types = sql_type + _MYSQL_TYPE
        return True

    def _is_sql_type(self, text: str) -> bool:
        is_one = self._sql_type.fullmatch(text) is not None
        if is_one and len(self._known_sql_types) < _MAX_KNOWN:
            self._known_sql_types.add(text)
        return is_one

    def _some(self, text: str, position: int, end: int) -> tuple[Layout, Values]:
        """Return a row of some columns, in the order of the table."""
        places: list[int] = []
        values: list[object] = []
        last = -1
        while position < end:
            found = PAIR.match(text, position, end)
            if found is None or found[1] not in self._by_name:
                raise Irregular
            place, pattern, read = self._by_name[found[1]]
            if place <= last:
                raise Irregular  # the same column again, or another order
            value = None if found[2] is None else _value(text, found.span(2), pattern, read)
            if self._wants(self._columns[place]):
                places.append(place)
                values.append(value)
            position, last = found.end(), place
        return self._some_layout(tuple(places)), tuple(values)

    def _some_layout(self, places: tuple[int, ...]) -> Layout:
        layout = self._some_layouts.get(places)
        if layout is None:
            if len(self._some_layouts) >= _MAX_KNOWN:
                self._some_layouts.clear()
            layout = _layout([self._columns[place] for place in places])
            self._some_layouts[places] = layout
        return layout

    def _wants(self, column: Column) -> bool:
        return self._wanted is None or column.name in self._wanted


def _value(text: str, span: tuple[int, int], pattern: re.Pattern[str], read: Read) -> object:
    start, end = span
    if pattern.pattern != STRING:
        found = pattern.match(text, start)  # it may look at the quote after the value
        if found is None or found.end() != end:
            raise Irregular
    return read(text[start:end])


def _layout(columns: Sequence[Column]) -> Layout:
    """Return a layout; of its values only decimals and vectors are not the model's yet."""
    conversions = tuple(
        (index, value_reader(column.type))
        for index, column in enumerate(columns)
        if isinstance(column.type, (DecimalType, VectorType))
    )
    return Layout(tuple(columns), conversions)
