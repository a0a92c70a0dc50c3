"""Patterns of messages: one regular expression for the rows of some columns, values left open.

The producer writes the members of a message in one order, the columns of a table in that of the
table, and no white space. All of this is literal text in the pattern, so that a match *is* the
check of it. No member is missing, unknown or repeated. The rest is checked by the groups of the
pattern and by the code that reads them. A text that does not match may be good or bad: the plain
decoder knows.

Generated code makes rows of the groups, from numbers and forms only; names and values are never
part of it. Where no definition gives the type of a column, each value has a code of its kind. The
codes of a row choose its layout.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from cdcwire.connect.scalars import quoted
from cdcwire.core.caches import Memo
from cdcwire.core.compiled import Irregular, compile_function, indented
from cdcwire.core.compiled.json_objects import read_objects
from cdcwire.core.json_strings import ONCE, STRING, usual_base64
from cdcwire.core.limits import INT64_END, INT64_START
from cdcwire.core.rows import Layout, Values
from cdcwire.formats.maxwell_json.message import Cell, Inline, Key
from cdcwire.formats.maxwell_json.values import (
    DECIMAL,
    FOREIGN,
    INT64,
    JSON,
    NULL,
    TEXT,
    UINT64,
    YEAR_END,
    as_read,
)
from cdcwire.model import kinds
from cdcwire.model.kinds import Column
from cdcwire.mysql.value_forms import (
    NUMBER,
    READING_NAMES,
    Form,
    float_form,
    number_form,
    reading_lines,
)
from cdcwire.mysql.value_texts import integer_range, pattern

Images = tuple[Layout, Values, "Layout | None", "Values | None"]
ReadImages = Callable[[str, int], "Images | None"]
"""Returns the row and the old row of a message from a position on; None if it has another form.

It raises one of IRREGULARITIES.
"""
Codes = tuple["str | None", ...]
Shape = tuple[tuple[str, bool], ...]

_INT = "(?:0|-?[1-9][0-9]{0,17})"  # any of these fits into 64 bits
# Without an exponent; so few digits that none of them is counted as one that a scale adds.
_FRACTION = r"\.[0-9]{1,60}" + ONCE
_DECIMAL = rf"-?(?:0|[1-9][0-9]{{0,64}}{ONCE})(?:{_FRACTION})?"
_BASE64 = f"[A-Za-z0-9+/]*{ONCE}={{0,2}}"
_PLAIN_STRING = rf'"[^"\\\x00-\x1f]*{ONCE}"'  # without escapes
_SCALAR = f"(?:{_PLAIN_STRING}|{NUMBER}|true|false|null)"
_TEXTS = f'(?:"{STRING}"(?:,(?=")|(?=\\])))*{ONCE}'
_END_OF_ITEM = '(?:,(?=")|(?=\\}))'
_JSON_LEVELS = 3

MEMBERS = re.compile(
    ',"ts":(0|-?[1-9][0-9]{0,14})'
    f'(?:,"xid":({_INT}))?(?:,"xoffset":({_INT}))?(?:,"commit":(true))?'
    f'(?:,"position":"({STRING})")?(?:,"gtid":(?:"({STRING})"|null))?'
    f'(?:,"server_id":({_INT}))?(?:,"thread_id":({_INT}))?(?:,"schema_id":({_INT}))?'
    f'(?:,"push_ts":({NUMBER}))?(?:,"comment":"({STRING})")?'
    rf'(?:,"primary_key":\[(?:{_SCALAR}(?:,(?!\])|(?=\])))*\])?'
    rf'(?:,"primary_key_columns":(\[{_TEXTS}\]))?,"data":\{{'
)
"""The members from ``ts`` to the first column, as the producer writes them. Most are optional."""

_KINDS: Mapping[str, kinds.Type] = {
    "i": INT64,
    "u": UINT64,
    "d": DECIMAL,
    "t": TEXT,
    "j": JSON,
    "n": NULL,
}
"""The kinds of values without definition, by the codes in generated functions."""
_MAX_KEPT = 1 << 12  # columns in the layouts of one reader
_UNQUOTED = (
    *(kinds.IntType, kinds.BitType, kinds.YearType, kinds.FloatType, kinds.DecimalType),
    *(kinds.SetType, kinds.JsonType),
)


@dataclass(frozen=True, slots=True)
class _Reading:
    """How a column is read. ``form``: None where the kind is that of the value.

    ``is_quoted``: the form reads the inside of a string. ``has_json``: some values are JSON.
    ``is_wanted``: the value gets into rows; else only its JSON is checked.
    """

    column: Column
    form: Form | None
    is_quoted: bool = False
    has_json: bool = False
    is_wanted: bool = True


class RowReader:
    """Reads the rest of messages of one table and type whose rows have the same columns.

    ``cells``: a row of them. ``known``: the columns of the definition. Columns of ``wanted`` get
    into rows; None means all. Raises: Irregular for kinds that are not read here.
    """

    def __init__(
        self,
        cells: Sequence[Cell],
        known: Mapping[str, Column],
        wanted: Collection[str] | None,
        *,
        has_old: bool,
    ) -> None:
        readings = [
            _reading(cell, known.get(cell.name), wanted is None or cell.name in wanted)
            for cell in cells
        ]
        places = [place for place, each in enumerate(readings) if each.is_wanted]
        self._columns = [readings[place].column for place in places]
        self._columns_typed: dict[tuple[str, str], Column] = {}
        layouts: Memo[Codes, Layout] = Memo(self._layout, 1 + _MAX_KEPT // len(cells))
        code = _Code(readings, places, layouts)
        self.read = code.function(has_old=has_old)

    def _layout(self, codes: Codes) -> Layout:
        """Return the columns of a row. Those with None as code are left out."""
        columns = []
        for column, code in zip(self._columns, codes, strict=True):
            if code is not None:
                columns.append(self._typed(column, code) if code else column)
        return layout_of(columns)

    def _typed(self, column: Column, code: str) -> Column:
        """Return a column with the kind of its value; the same object each time."""
        found = self._columns_typed.get((column.name, code))
        if found is None:
            found = replace(column, type=_KINDS[code])
            self._columns_typed[column.name, code] = found
        return found


def layout_of(columns: Sequence[Column]) -> Layout:
    """Return a layout; of its values only decimals are not the model's yet."""
    conversions = tuple(
        (index, Decimal)
        for index, column in enumerate(columns)
        if isinstance(column.type, kinds.DecimalType)
    )
    return Layout(tuple(columns), conversions)


def shape_of(cells: Sequence[Cell]) -> Shape:
    """Return what may differ between rows of a table, in addition to their values."""
    return tuple((cell.name, isinstance(cell.value, Inline)) for cell in cells)


def key_pattern(key: Key) -> re.Pattern[str]:
    """Return the pattern of Kafka keys with the same names. Raises: Irregular."""
    if key.uuid is not None or key.table is None:
        raise Irregular
    database, table = (re.escape(quoted(name)) for name in (key.database, key.table))
    prefix = "" if key.form == "array" else "pk."
    columns = [f"{re.escape(quoted(prefix + each.name))}:{_SCALAR}" for each in key.columns]
    if key.form == "array":
        items = ",".join(rf"\{{{column}\}}" for column in columns)
        return re.compile(rf"\[{database},{table},\[{items}\]\]")
    members = ",".join((f'"database":{database}', f'"table":{table}', *columns))
    return re.compile(rf"\{{{members}\}}")


def _reading(cell: Cell, column: Column | None, is_wanted: bool) -> _Reading:
    has_json = isinstance(cell.value, Inline)
    if column is None:
        column = Column(cell.name, NULL)
    if isinstance(column.type, FOREIGN) or not is_wanted:
        return _Reading(column, None, has_json=has_json, is_wanted=is_wanted)
    column = as_read(column)
    return _Reading(column, _form(column.type), is_quoted=not isinstance(column.type, _UNQUOTED))


def _form(kind: kinds.Type) -> Form:
    """Return how values are read that are not null. Raises: Irregular."""
    match kind:
        case kinds.IntType() | kinds.BitType():
            return number_form(pattern(kind), *integer_range(kind))
        case kinds.YearType():
            return Form("(?:0|[1-9][0-9]{0,3})", within=(0, YEAR_END))
        case kinds.FloatType(bits):
            return float_form(bits)
        case kinds.DecimalType():
            return Form(_DECIMAL)
        case kinds.TextType() | kinds.EnumType():
            return Form(STRING, has_escapes=True)
        case kinds.SetType():
            return Form(rf"\[{_TEXTS}\]", read=Memo(_read_labels, longest=256).__getitem__)
        case kinds.BytesType():
            return Form(_BASE64, read=usual_base64)
        case kinds.DateType():
            return Form(pattern(kind))
        case kinds.TimeType() | kinds.DatetimeType() | kinds.TimestampType():
            return Form(pattern(replace(kind, fraction=None)))
        case kinds.JsonType():
            return Form(f"{NUMBER}|{_json_pattern()}", read=_read_json)
        case _:
            raise Irregular


def _json_pattern(levels: int = _JSON_LEVELS) -> str:
    """Return the pattern of true, false, arrays and objects without escapes.

    There may be a space after each comma and colon, as MySQL prints JSON.
    """
    if not levels:
        return "true|false"
    item = f"(?:{_PLAIN_STRING}|{NUMBER}|null|{_json_pattern(levels - 1)})"
    return (
        rf"true|false|\[(?:{item}(?:, ?(?!\])|(?=\])))*\]"
        rf'|\{{(?:{_PLAIN_STRING}: ?{item}(?:, ?(?=")|(?=\}})))*\}}'
    )


class _Code:
    """The pattern of rows, and the function that reads its groups. Their names are numbered."""

    def __init__(
        self, readings: Sequence[_Reading], places: Sequence[int], layouts: Memo[Codes, Layout]
    ) -> None:
        self.readings = readings
        self.places = places
        self.layouts = layouts
        self.names: dict[str, Any] = {**READING_NAMES, "layouts": layouts, "document": _read_json}

    def pattern(self, *, has_old: bool) -> str:
        """Return the pattern from the first column of ``data`` to the end of the message."""
        members = [
            f"{re.escape(quoted(each.column.name))}:{_value_pattern(each)}"
            for each in self.readings
        ]
        old = "".join(f"(?:{member}{_END_OF_ITEM}()|)" for member in members)
        return ",".join(members) + (rf'\}}(?:,"old":\{{()?{old}\}})?\}}' if has_old else r"\}\}")

    def function(self, *, has_old: bool) -> ReadImages:
        """Return what reads a message from a position on; see ``ReadImages``."""
        self.names["match"] = re.compile(self.pattern(has_old=has_old)).fullmatch
        groups: list[str] = []
        lines: list[str] = []
        for index in range(len(self.readings)):
            groups += self._groups("v", index)
            lines += self._lines("v", index)
        lines += [f"values = {_tuple('v', self.places)}"]
        if any(self.readings[place].form is None for place in self.places):
            codes = (
                "''" if self.readings[place].form is not None else f"kv{place}"
                for place in self.places
            )
            lines += [f"layout = layouts[({''.join(f'{code}, ' for code in codes)})]"]
        else:
            self.names["layout"] = self.layouts[("",) * len(self.places)]
        if has_old:
            groups.append("has_old")
            old: list[str] = ["values_before = []", "add = values_before.append"]
            for index in range(len(self.readings)):
                groups += (*self._groups("o", index), f"ko{index}")
                old += self._old_lines(index)
            lines += ["if has_old is None: return layout, values, None, None", *old]
            lines += [f"before = layouts[{_tuple('ko', self.places)}]"]
            lines += ["return layout, values, before, tuple(values_before)"]
        else:
            lines += ["return layout, values, None, None"]
        start = [
            "found = match(text, position)",
            "if found is None: return None",
            f"({', '.join(groups)},) = found.groups()",
        ]
        return compile_function("read", "text, position", [*start, *lines], self.names)

    def _groups(self, letter: str, index: int) -> list[str]:
        reading, name = self.readings[index], f"{letter}{index}"
        if reading.form is not None:
            return [name]
        return [name + code for code in ("tidj" if reading.has_json else "tid")]

    def _old_lines(self, index: int) -> list[str]:
        """Return what adds an old value to the others, if there is one. Its code is not None."""
        lines = self._lines("o", index)
        if index in self.places:
            lines += [f"add(o{index})"]
        return [f"if ko{index} is not None:", *indented(lines)] if lines else []

    def _lines(self, letter: str, index: int) -> list[str]:
        """Return what makes the value of the groups, and its code where it needs one."""
        reading, value = self.readings[index], f"{letter}{index}"
        if reading.form is not None:
            lines = reading_lines(reading.form, value, index, self.names)
            return [f"if {value} is not None:", *indented(lines)] if lines else []
        if not reading.is_wanted:
            lines = [f"if {value}t is not None and '\\\\' in {value}t: unescaped({value}t)"]
            return [*lines, f"if {value}j is not None: document({value}j)"][: 1 + reading.has_json]
        code = f"k{value}"
        lines = [
            f"if {value}t is not None:",
            f" {value} = unescaped({value}t) if '\\\\' in {value}t else {value}t",
            f" {code} = 't'",
            f"elif {value}i is not None:",
            f" {value} = int({value}i)",
            f" if {INT64_START} <= {value} < {INT64_END}: {code} = 'i'",
            f" elif 0 < {value} < {2 * INT64_END}: {code} = 'u'",
            " else: raise Irregular",
            f"elif {value}d is not None: {value} = {value}d; {code} = 'd'",
        ]
        if reading.has_json:
            lines += [
                f"elif {value}j is not None: {value} = document({value}j); {code} = 'j'",
            ]
        return [*lines, f"else: {value} = None; {code} = 'n'"]


def _value_pattern(reading: _Reading) -> str:
    """Return the pattern of a value, with its groups. None of them takes part for null."""
    form = reading.form
    if form is not None:
        return f'(?:"({form.pattern})"|null)' if reading.is_quoted else f"(?:({form.pattern})|null)"
    choices = [
        f'"({STRING})"',
        f"((?:0|-?[1-9][0-9]{{0,19}}{ONCE})(?=[,}}]))",
        rf"(-?(?:0|[1-9][0-9]{{0,64}}{ONCE}){_FRACTION}(?=[,}}]))",
    ]
    if not reading.is_wanted:
        choices[2] = f"({NUMBER})"
    if reading.has_json:
        choices.append(f"({_json_pattern()})")
    return f"(?:{'|'.join(choices)}|null)"


def _tuple(letter: str, places: Sequence[int]) -> str:
    return f"({''.join(f'{letter}{place}, ' for place in places)})"


def _read_labels(text: str) -> str:
    """Return the labels of an array, with commas between them."""
    labels = ",".join(read_objects(text.encode()))
    labels.encode()  # no lone surrogates
    return labels


def _read_json(text: str) -> str:
    if "{" in text:
        read_objects(text.encode())  # no name twice
    return text
