"""Patterns of payloads: one regular expression for the values of one schema.

JsonConverter writes the members of a struct in the order of its schema and without white space. All
of this is literal text in the pattern, so that a match *is* the check of it. No member is missing,
unknown or repeated. The rest is checked by the groups of the pattern and by the code that reads
them. A text that does not match may be good or bad: the plain decoder knows.

An array or map is one group: its text is checked by the pattern, and then parsed. Generated code
makes values of the groups, from numbers and limits only; it contains neither names nor values.
``RowCode`` may add code that makes more of the rows of a change.
"""

from __future__ import annotations

import re
import struct
import sys
from binascii import a2b_base64
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache
from json import JSONDecoder
from json.decoder import scanstring  # type: ignore[attr-defined]  # not in the stubs
from math import frexp
from typing import Any, Protocol, TypeAlias

from cdcwire.connect.scalars import EXACT, MAX_DECIMAL_BYTES, decimal_of, quoted
from cdcwire.connect.schema import INT_BITS, ConnectValue, Field, Schema
from cdcwire.connect.types import (
    CONNECT_DECIMAL,
    CONNECT_TIME,
    decimal_scale,
    is_variable_scale,
)
from cdcwire.core.compiled import Irregular, compile_function, indented
from cdcwire.core.limits import FREE_SCALE
from cdcwire.model.floats import read_float32

Convert: TypeAlias = Callable[["tuple[str | None, ...]"], ConnectValue]
Read: TypeAlias = Callable[[Any], Any]


_ROWS = ("before", "after")
_MAX_GROUPS = 1024
_MAX_CHARACTERS = 1 << 19  # of a pattern
_MAX_ITEM_DEPTH = 8  # of arrays and maps in each other
_MAX_MS_OF_DAY = 86_400_000
_pack_float32, _unpack_float32 = struct.Struct("<f").pack, struct.Struct("<f").unpack
_LEAST_FLOAT32 = 1.2e-38  # below, floats have fewer bits
_25_BITS = float(1 << 25)

# What was matched once is never tried in another way, where Python knows how to say so: that is
# faster, and needs no memory for each escape.
_ONCE = "+" if sys.version_info >= (3, 11) else ""
_STRING = r'[^"\\\x00-\x1f]*@(?:\\.[^"\\\x00-\x1f]*@)*@'.replace("@", _ONCE)
_BASE64 = "[A-Za-z0-9+/]*@={0,2}".replace("@", _ONCE)
# As Java writes numbers: always with a point.
_FLOAT = r"-?(?:0|[1-9][0-9]{0,199}@)\.[0-9]{1,1000}@(?:E-?[0-9]{1,3}@)?".replace("@", _ONCE)
_SMALL = {str(value): value for value in range(-128, 128)}
_BOOLEANS = {"true": True, "false": False}
# Numbers with a fraction stay text: how they are rounded depends on the type.
_items = JSONDecoder(object_pairs_hook=tuple, parse_float=str).decode


def payload_pattern(schema: Schema, usual: ConnectValue) -> tuple[re.Pattern[str], Convert]:
    """Return the pattern of payloads, and what makes the value of its groups.

    ``usual``: a payload whose texts come again, as far as they belong to no row: those of required
    structs in it; None if there is none. Raises: Irregular, for a schema that has no pattern.
    """
    writer = PayloadWriter()
    part = writer.payload(schema, usual)
    return writer.function(part, [*part.lines, f"return {part.made}"], "groups")


@dataclass(slots=True)
class Part:
    """The pattern of a value, and the lines that make it of the group ``name``.

    ``columns``: of a struct, its values; ``lines`` are then those of them, and more. ``made``: the
    expression that makes the struct of them.
    """

    pattern: str
    name: str
    lines: list[str]
    columns: list[Part] = field(default_factory=list)
    made: str = ""


class RowCode(Protocol):
    """Code that makes more of the rows of a change, which are ``before`` and ``after``."""

    def column(self, row: str, column: Field, part: Part) -> None:
        """Change the pattern of a column's value that is not null, and the lines that make it."""
        ...

    def row(self, row: str, parts: Sequence[Part]) -> str:
        """Return the expression that makes a row of the values of its columns."""
        ...


@dataclass(slots=True)
class PayloadWriter:
    """Writes the patterns of values, and the lines that make them.

    ``names`` are those that the lines use. ``rows``: makes more of rows than tuples of values. Then
    the other structs of a payload are not made: lines use the values in them.
    """

    groups: int = 0
    rows: RowCode | None = None
    names: dict[str, Any] = field(
        default_factory=lambda: {
            "Irregular": Irregular,
            "booleans": _BOOLEANS,
            "small": _SMALL,
            "unescaped": _unescaped,
            "float32": _float32,
            "a2b": a2b_base64,
            "Decimal": Decimal,
            "from_bytes": int.from_bytes,
            "scaleb": EXACT.scaleb,
        }
    )

    def function(
        self, part: Part, lines: Sequence[str], parameters: str
    ) -> tuple[re.Pattern[str], Callable[..., Any]]:
        """Return the pattern of a part, and the function of lines that use its groups."""
        if len(part.pattern) > _MAX_CHARACTERS:
            raise Irregular
        names = "".join(f"g{index}, " for index in range(self.groups))
        lines = [f"({names}) = groups", *lines]
        return re.compile(part.pattern), compile_function("made", parameters, lines, self.names)

    def payload(self, schema: Schema, usual: ConnectValue = None) -> Part:
        """Return the part of a payload. Raises: Irregular, for a schema that has no pattern."""
        name = self._group()
        known = [None] * len(schema.fields) if usual is None else list(usual)
        parts = []
        for each, value in zip(schema.fields, known, strict=True):
            member = "" if self.rows is None else each.name
            inside = value if isinstance(value, tuple) else None
            parts.append(self._value(each.schema, inside, member))
        lines: list[str] = []
        index = 0
        while index < len(parts):
            if _are_rows(schema.fields[index : index + 2]):
                lines += _lines_of_rows(parts[index], parts[index + 1])
                index += 2
            else:
                lines += parts[index].lines
                index += 1
        return Part(_members(schema, parts), name, lines, parts, tuple_of(parts))

    def _value(self, schema: Schema, usual: ConnectValue, member: str = "") -> Part:
        """Return the part of a value. ``member``: its name, where structs are not to be made."""
        return _optional(schema, self._not_null(schema, usual, member))

    def _not_null(self, schema: Schema, usual: ConnectValue, member: str = "") -> Part:
        name = self._group()
        if schema.type == "struct":
            return self._struct(schema, name, usual if not schema.optional else None, member)
        if schema.type in ("array", "map"):
            self.names[f"read_{name}"] = items_reader(schema)
            return Part(f"({items_pattern(schema)})", name, [f"{name} = read_{name}({name})"])
        if schema.type == "string" and isinstance(usual, str) and not schema.optional:
            self.names[f"usual_{name}"] = usual
            return _usual_text(name, usual)
        return _primitive(schema, name)

    def _struct(self, schema: Schema, name: str, usual: ConnectValue, member: str) -> Part:
        known = [None] * len(schema.fields) if usual is None else list(usual)
        parts = []
        for each, value in zip(schema.fields, known, strict=True):
            part = self._not_null(each.schema, value)
            if member in _ROWS and self.rows is not None:
                self.rows.column(member, each, part)
            parts.append(_optional(each.schema, part))
        lines = [line for part in parts for line in part.lines]
        if is_variable_scale(schema):
            scale = parts[schema.index("scale") or 0].name
            lines.append(f"if {scale} and abs({scale}) > {FREE_SCALE}: raise Irregular")
        made = tuple_of(parts)
        if member in _ROWS and self.rows is not None:
            made = self.rows.row(member, parts)
        if not member or member in _ROWS:
            lines.append(f"{name} = {made}")
        return Part(_members(schema, parts), name, lines, parts, made)

    def _group(self) -> str:
        if self.groups >= _MAX_GROUPS:
            raise Irregular
        self.groups += 1
        return f"g{self.groups - 1}"


def _members(schema: Schema, parts: Sequence[Part]) -> str:
    """Return the pattern of a struct; its group is set where the struct is not null."""
    members = ",".join(
        f"{re.escape(quoted(each.name))}:{part.pattern}"
        for each, part in zip(schema.fields, parts, strict=True)
    )
    return rf"\{{(){members}\}}"


def _optional(schema: Schema, part: Part) -> Part:
    if schema.optional:
        part.pattern = f"(?:{part.pattern}|null)"
        part.lines = [f"if {part.name} is not None:", *indented(part.lines)] if part.lines else []
    return part


def tuple_of(parts: Sequence[Part]) -> str:
    """Return the expression of the values of parts."""
    return f"({''.join(f'{part.name}, ' for part in parts)})"


def _are_rows(fields: Sequence[Field]) -> bool:
    """Return whether two members are structs of the same columns: a row before and after."""
    if [each.schema.type for each in fields] != ["struct", "struct"]:
        return False
    first, second = (each.schema for each in fields)
    return first.fields == second.fields and first.optional and second.optional


def _lines_of_rows(before: Part, after: Part) -> list[str]:
    """Return the lines of two rows, most of whose values are the same in both."""
    both: list[str] = []
    for old, new in zip(before.columns, after.columns, strict=True):
        if new.columns:  # a struct, whose group does not have its text
            both += (*new.lines, *old.lines)
            continue
        if not new.lines:
            continue
        both += (f"text = {new.name}", *new.lines)
        if "unescaped" in new.lines[-1]:  # mostly there is nothing to do
            both.append(f"if {old.name} is not None and '\\\\' in {old.name}:")
            both.append(
                f" {old.name} = {new.name} if {old.name} == text else unescaped({old.name})"
            )
        else:
            both += (f"if {old.name} == text: {old.name} = {new.name}", "else:")
            both += indented(old.lines)
    both += (f"{part.name} = {part.made}" for part in (before, after))
    return [
        f"if {before.name} is not None and {after.name} is not None:",
        *indented(both),
        "else:",
        *indented(before.lines),
        *indented(after.lines),
    ]


def _usual_text(name: str, usual: str) -> Part:
    """Return a text that mostly is ``usual``: then its group is not set."""
    pattern = rf'(?:{re.escape(quoted(usual))}|"({_STRING})")'
    lines = [f"if {name} is None: {name} = usual_{name}"]
    lines.append(f"elif '\\\\' in {name}: {name} = unescaped({name})")
    return Part(pattern, name, lines)


def _primitive(schema: Schema, name: str) -> Part:
    """Return a value that has a group, and is not null."""
    pattern = _primitive_pattern(schema)
    match schema.type:
        case "int8":
            lines = [f"{name} = small[{name}]"]
        case "int16" | "int32" | "int64":
            lines = [f"{name} = int({name})"]
            if schema.name == CONNECT_TIME:
                lines.append(f"if not 0 <= {name} <= {_MAX_MS_OF_DAY}: raise Irregular")
        case "string":
            lines = [f"if '\\\\' in {name}: {name} = unescaped({name})"]
        case "boolean":
            lines = [f"{name} = booleans[{name}]"]
        case "double":
            lines = [f"{name} = float({name})", f"if {name} - {name}: raise Irregular"]
        case "float":
            lines = [f"{name} = float32({name})"]
        case _ if schema.name == CONNECT_DECIMAL:
            fits = f"0 < len({name}) <= {MAX_DECIMAL_BYTES}"
            scale = _small_scale(schema)
            lines = [
                f"if len({name}) & 3 or not {fits}: raise Irregular",
                f"{name} = scaleb(Decimal(from_bytes(a2b({name}), 'big', signed=True)), {-scale})",
            ]
        case _:
            lines = [f"if len({name}) & 3: raise Irregular", f"{name} = a2b({name})"]
    inside = pattern[1:-1]
    has_quotes = schema.type in ("string", "bytes")
    return Part(f'"({inside})"' if has_quotes else f"({pattern})", name, lines)


@lru_cache(maxsize=4)
def integer_pattern(bits: int) -> str:
    """Return a pattern of the integers of ``bits`` bits; most are its first choice."""
    limit = str((1 << bits - 1) - 1)
    size = len(limit)
    choices = []  # of the integers with as many digits as the limit
    for place, digit in enumerate(limit):
        least = 1 if place == 0 else 0
        if int(digit) > least:
            rest = f"[0-9]{{{size - place - 1}}}"
            choices.append(f"{limit[:place]}[{least}-{int(digit) - 1}]{rest}")
    choices.append(limit)
    few = f"-?{_ONCE}(?!0[0-9])[0-9]{{1,{size - 1}}}{_ONCE}(?![0-9])"
    return f"{few}|-?(?:{'|'.join(choices)})|-{1 << bits - 1}"


def _range(schema: Schema) -> tuple[int, int]:
    """Return the least integer of a type and the first one after the largest."""
    if schema.name == CONNECT_TIME:
        return 0, _MAX_MS_OF_DAY + 1
    half = 1 << INT_BITS[schema.type] - 1
    return -half, half


def _primitive_pattern(schema: Schema) -> str:
    """Return the pattern of a value without groups."""
    match schema.type:
        case "int8":
            return rf"-?{_ONCE}[0-9]{{1,3}}{_ONCE}"  # what reads it is strict
        case "int16" | "int32" | "int64":
            return integer_pattern(INT_BITS[schema.type])
        case "string":
            return f'"{_STRING}"'
        case "boolean":
            return "true|false"
        case "float" | "double":
            return _FLOAT
        case "bytes":
            return f'"{_BASE64}"'
        case _:
            raise Irregular


def items_pattern(schema: Schema, depth: int = 1) -> str:
    """Return the pattern of an array or map that is not null, or of its items."""
    if depth > _MAX_ITEM_DEPTH:
        raise Irregular
    if schema.type == "struct":
        members = (
            f"{re.escape(quoted(each.name))}:{items_pattern(each.schema, depth + 1)}"
            for each in schema.fields
        )
        pattern = rf"\{{{','.join(members)}\}}"
    elif schema.type == "array" and schema.items is not None:
        item = items_pattern(schema.items, depth + 1)
        pattern = rf"\[(?:{item}(?:,(?!\])|(?=\])))*{_ONCE}\]"
    elif schema.type == "map" and schema.keys is not None and schema.values is not None:
        if schema.keys.type != "string":
            raise Irregular
        item = f'"{_STRING}":{items_pattern(schema.values, depth + 1)}'
        pattern = rf"\{{(?:{item}(?:,(?!\}})|(?=\}})))*{_ONCE}\}}"
    else:
        pattern = _primitive_pattern(schema)
    if schema.optional and depth > 1:
        return f"(?:{pattern}|null)"
    return f"(?:{pattern})" if "|" in pattern else pattern


def items_reader(schema: Schema) -> Read:
    """Return what reads the text of an array or map. It raises one of IRREGULARITIES."""
    read = _item_reader(schema)
    return lambda text: read(_items(text))


def _item_reader(schema: Schema) -> Read:
    """Return what turns parsed JSON that fits the pattern, and is not null, into a value."""
    match schema.type:
        case "int8" | "int16" | "int32" | "int64":
            low, end = _range(schema)

            def integer(value: int) -> int:
                if not low <= value < end:
                    raise Irregular
                return value

            return integer
        case "string":
            return _text
        case "boolean":
            return lambda value: value
        case "float":
            return lambda value: _float32(str(value))
        case "double":
            return _double
        case "bytes":
            return _bytes_reader(schema)
        case "struct":
            return _struct_reader(schema)
        case "array" if schema.items is not None:
            item = _or_null(schema.items)
            return lambda values: tuple(map(item, values))
        case "map" if schema.values is not None:
            return _map_reader(_or_null(schema.values))
        case _:
            raise Irregular


def _or_null(schema: Schema) -> Read:
    read, optional = _item_reader(schema), schema.optional

    def read_or_null(value: Any) -> Any:
        if value is None:
            if not optional:
                raise Irregular
            return None
        return read(value)

    return read_or_null


def _struct_reader(schema: Schema) -> Read:
    readers = [_or_null(each.schema) for each in schema.fields]
    scale_at = schema.index("scale") if is_variable_scale(schema) else None

    def read_struct(pairs: Any) -> Any:
        values = tuple(read(value) for read, (_, value) in zip(readers, pairs, strict=True))
        if scale_at is not None and abs(values[scale_at] or 0) > FREE_SCALE:
            raise Irregular
        return values

    return read_struct


def _map_reader(item: Read) -> Read:
    def read(pairs: tuple[tuple[str, Any], ...]) -> tuple[tuple[str, Any], ...]:
        entries = tuple((_text(name), item(value)) for name, value in pairs)
        if len(dict(entries)) != len(entries):
            raise Irregular
        return entries

    return read


def _bytes_reader(schema: Schema) -> Read:
    is_decimal = schema.name == CONNECT_DECIMAL
    scale = _small_scale(schema) if is_decimal else 0

    def read(text: str) -> Any:
        if len(text) % 4 or (is_decimal and not 0 < len(text) <= MAX_DECIMAL_BYTES):
            raise Irregular
        raw = a2b_base64(text)
        return decimal_of(raw, scale) if is_decimal else raw

    return read


def _small_scale(schema: Schema) -> int:
    """Return the scale of decimals whose digits are not counted. Raises: Irregular for others."""
    scale = decimal_scale(schema) or 0
    if abs(scale) > FREE_SCALE:
        raise Irregular
    return scale


def _text(value: str) -> str:
    if not value.isascii():
        value.encode()  # a surrogate alone is refused by the plain decoder
    return value


def _double(value: str | int) -> float:
    number = float(value)
    if number - number:  # infinity less itself is not a number
        raise Irregular
    return number


def _unescaped(inside: str) -> str:
    text = inside.replace('\\"', '"')
    if "\\" not in text:
        return text  # quotes were all, as mostly in JSON
    return _text(scanstring(inside + '"', 0)[0])


def _float32(text: str) -> float:
    wide = float(text)
    narrowed: float = _unpack_float32(_pack_float32(wide))[0]
    if narrowed == wide:
        if narrowed - narrowed:  # infinity less itself is not a number
            raise Irregular
        return wide
    # Where a double lies just between two floats, the text itself decides: it has 25 bits then.
    if abs(wide) < _LEAST_FLOAT32 or (frexp(wide)[0] * _25_BITS).is_integer():
        return read_float32(text)
    return narrowed
