"""Patterns of messages: one regular expression for the rows of one layout, values left open.

A producer writes the rows of a table with the same names in the same order and without white space.
All of this is literal text in the pattern, so that a match *is* the check of it. No member is
missing, unknown or repeated. The rest is checked by the groups of the pattern and by the code that
reads them. A text that does not match may be good or bad: the plain decoder knows.

All is done on text that was decoded as a whole: so most groups are values as they are. Generated
code makes rows of them, from numbers and forms only; names and values are never part of it.

``Layouts`` remembers for each table and operation how its messages are read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from json.decoder import scanstring  # type: ignore[attr-defined]  # not in the stubs
from typing import Any, TypeAlias

from cdcwire.core.compiled import Irregular, compile_function, indented
from cdcwire.core.json_strings import STRING, unescaped
from cdcwire.core.rows import Layout, Values
from cdcwire.formats.canal_json.members import WRITE_STRING
from cdcwire.formats.canal_json.values import (
    MAX_BITS,
    MAX_INDEX,
    NUMBER_PATTERN,
    value_reader,
)
from cdcwire.model import kinds
from cdcwire.model.kinds import Column, DecimalType, VectorType
from cdcwire.mysql.value_forms import (
    READING_NAMES,
    Form,
    Read,
    float_form,
    number_form,
    reading_lines,
)
from cdcwire.mysql.value_texts import integer_range, pattern
from cdcwire.mysql.values import is_vector_text

Texts: TypeAlias = "Sequence[str | None]"
RowFunction: TypeAlias = Callable[[Texts], "tuple[Any, ...]"]


TIMES = re.compile(r',"es":(0|[1-9][0-9]{0,17}),"ts":(0|[1-9][0-9]{0,17}),"sql":"","sqlType":')
_TAIL = r'\](?:,"_tidb":\{"commitTs":(0|[1-9][0-9]{0,19})\})?\}'
_SOME = rf'((?:"[^"\\]*":(?:"{STRING}"|null)(?:,(?=")|(?=\}})))*)'
PAIR = re.compile(rf'("[^"\\]*"):(?:"({STRING})"|null),?')
_SQL_CODE = ":(?:0|-?[1-9][0-9]{0,8})"


def form_of(kind: kinds.Type) -> Form:
    """Return how a kind is read."""
    match kind:
        case kinds.IntType() | kinds.BitType():
            return number_form(pattern(kind), *integer_range(kind))
        case kinds.YearType():
            return Form(pattern(kind), within=(0, 1 << 16))
        case kinds.EnumType():
            return number_form(NUMBER_PATTERN, 0, MAX_INDEX + 1)
        case kinds.SetType():
            return number_form(NUMBER_PATTERN, 0, 1 << MAX_BITS)
        case kinds.FloatType(bits):
            return float_form(bits)
        case (
            kinds.DecimalType()
            | kinds.DateType()
            | kinds.TimeType()
            | kinds.DatetimeType()
            | kinds.TimestampType()
        ):
            return Form(pattern(kind))
        case kinds.BytesType():
            return Form(STRING, read=_read_bytes)
        case kinds.JsonType():
            return Form(f'(?!"){STRING}', has_escapes=True)
        case kinds.VectorType():
            return Form(STRING, read=_read_vector)
        case _:
            return Form(STRING, has_escapes=True)


def name_of(name: str) -> str:
    """Return a name as the producer writes it."""
    return WRITE_STRING["ticdc"](name)


def rows_pattern(
    names: Sequence[str], forms: Sequence[Form], *, has_old: bool, is_part: bool
) -> re.Pattern[str]:
    """Return the pattern of a message with a row of these columns, from ``old`` to its end.

    The groups: with ``has_old`` those of the old row (one group with ``is_part``); those of the
    row; ``commitTs``.
    """
    row = ",".join(
        f'{re.escape(name_of(name))}:(?:"({form.pattern})"|null)'
        for name, form in zip(names, forms, strict=True)
    )
    old = r"\[\{" + (_SOME if is_part else row) + r"\}\]" if has_old else "null"
    return re.compile(rf'"old":{old},"data":\[\{{{row}\}}{_TAIL}\Z')


def sql_type_pattern(names: Sequence[str]) -> re.Pattern[str]:
    """Return the pattern of ``sqlType``, whose numbers differ from row to row."""
    return re.compile(r"\{" + ",".join(re.escape(name_of(n)) + _SQL_CODE for n in names) + r"\}")


def row_function(forms: Sequence[Form], wanted: Sequence[int]) -> RowFunction:
    """Return what makes a row of the groups of a message: the texts of its columns, ``commitTs``.

    The row has the columns ``wanted``; all are checked. It raises one of IRREGULARITIES. It is made
    as code, without a loop; what messages hold is never part of it.
    """
    code = _Code(forms)
    lines = [f"({code.names_of('v')}_,) = groups"]
    for index in range(len(forms)):
        body = code.body(f"v{index}", index)
        if body:
            lines += (f"if v{index} is not None:", *indented(body))
    return code.function([*lines, f"return {code.row('v', wanted)}"])


def rows_function(forms: Sequence[Form], wanted: Sequence[int]) -> RowFunction:
    """Return what makes the old row and the row of their texts; most are the same in both.

    The groups are those of the old row, those of the row, and ``commitTs``. See ``row_function``.
    """
    code = _Code(forms)
    lines = [f"({code.names_of('o')}{code.names_of('v')}_,) = groups"]
    for index in range(len(forms)):
        new, old = f"v{index}", f"o{index}"
        body = code.body(new, index)
        if body:
            lines += (f"text = {new}", "if text is not None:", *indented(body))
            lines += (f"if {old} == text: {old} = {new}", f"elif {old} is not None:")
            lines += indented(code.body(old, index))
    return code.function([*lines, f"return {code.row('o', wanted)}, {code.row('v', wanted)}"])


class _Code:
    """The parts of a function that reads the texts of columns. Its names are numbered."""

    def __init__(self, forms: Sequence[Form]) -> None:
        self.forms = forms
        self.names: dict[str, Any] = {**READING_NAMES, "scan": scanstring}

    def names_of(self, letter: str) -> str:
        return "".join(f"{letter}{index}, " for index in range(len(self.forms)))

    def row(self, letter: str, wanted: Sequence[int]) -> str:
        return f"({''.join(f'{letter}{index}, ' for index in wanted)})"

    def body(self, value: str, index: int) -> list[str]:
        """Return what is done with a text that is not NULL; nothing if it is the value."""
        form = self.forms[index]
        if form.read is _read_bytes:
            return [
                f"if '\\\\' in {value}: {value} = scan({value} + '\"', 0)[0]",
                f"{value} = {value}.encode('latin-1')",
            ]
        return reading_lines(form, value, index, self.names)

    def function(self, lines: Sequence[str]) -> RowFunction:
        return compile_function("read", "groups", lines, self.names)


def value_function(form: Form) -> Read:
    """Return what reads one text that matches. It raises one of IRREGULARITIES."""
    if form.few is not None:
        return form.few.__getitem__
    if form.within is not None:
        return _integer_reader(*form.within)
    if form.has_escapes:
        return lambda text: unescaped(text) if "\\" in text else text
    return str if form.read is None else form.read


def _integer_reader(low: int, high: int) -> Read:
    def read(text: str) -> int:
        value = int(text)
        if not low <= value < high:
            raise Irregular
        return value

    return read


def _read_bytes(inside: str) -> bytes:
    """Return the bytes of ISO-8859-1. Raises: ValueError."""
    if "\\" in inside:
        inside = scanstring(inside + '"', 0)[0]
    return inside.encode("latin-1")


def _read_vector(inside: str) -> str:
    text = unescaped(inside) if "\\" in inside else inside
    if not is_vector_text(text):
        raise Irregular
    return text


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
