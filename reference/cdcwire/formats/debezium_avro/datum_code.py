"""The code that reads the datums of one schema, as lines of a generated function.

Each field has lines for its type (``cdcwire.apache_avro.value_code``), with the checks of
``conversions``. Values of types with items or branches are read by the plain reader, within a
budget that never exceeds its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any, TypeAlias

from cdcwire.apache_avro import schema as avro
from cdcwire.apache_avro.binary import FREE_VALUES, DatumReader
from cdcwire.apache_avro.value_code import (
    END,
    NAMES,
    boolean_lines,
    branch_lines,
    float_lines,
    integer_lines,
    length_lines,
)
from cdcwire.connect import ConnectValue, Field, Schema
from cdcwire.connect.payload_patterns import Part, RowCode, tuple_of
from cdcwire.connect.scalars import EXACT, MAX_DECIMAL_BYTES
from cdcwire.connect.types import decimal_scale, is_variable_scale
from cdcwire.core.compiled import Irregular, indented
from cdcwire.core.compiled.varint_bytes import varint_bytes
from cdcwire.core.limits import FREE_SCALE
from cdcwire.core.reader import Reader
from cdcwire.formats.debezium_avro.connect_schema import DATUM, connect_type, is_decimal
from cdcwire.formats.debezium_avro.conversions import has_long_scales, integer_bounds

ReadOther: TypeAlias = "Callable[[bytes, int, int], tuple[Any, int]]"
"""Takes bytes, where the value begins and a budget; returns the value and where it ends."""

_ROWS = ("before", "after")
_MAX_VALUES = 512  # of a generated function
_MAX_DEPTH = 8  # of records in records


class DatumCode:
    """Writes the lines that read the datums of a record, as ``PartWriter`` describes."""

    def __init__(self, kind: avro.AvroType) -> None:
        self.kind = kind
        self.rows: RowCode | None = None
        self.names: dict[str, Any] = {**NAMES, "scaleb": EXACT.scaleb}
        self._usual: dict[str, bytes] = {}  # the bytes of values that are likely to come again
        self._values = 0
        self._others = 0

    def payload(self, schema: Schema, usual: ConnectValue = None) -> Part:
        """Return the part of a payload, which has all the bytes that are left. Raises: Irregular.

        ``usual``: a payload whose texts come again, as far as they belong to no row.
        """
        if not isinstance(self.kind, avro.Record):
            raise Irregular
        part = self._record(self.kind, schema, usual, 1)
        # The plain reader also counts the branches of NULL.
        self.names["budget"] = (FREE_VALUES - 2 * _MAX_VALUES) // max(1, self._others)
        part.lines = [*part.lines, END]
        return part

    def _record(
        self, kind: avro.Record, schema: Schema, usual: ConnectValue, depth: int, row: str = ""
    ) -> Part:
        """Return the part of a record. ``row``: its name, if it is one."""
        name = self._name()
        known = usual if isinstance(usual, tuple) else [None] * len(schema.fields)
        parts = [
            self._value(inner.type, each, value, depth, row)
            for inner, each, value in zip(kind.fields, schema.fields, known, strict=True)
        ]
        lines = self._lines_of(parts)
        if is_variable_scale(schema):
            scale = parts[schema.index("scale") or 0].name
            lines.append(f"if {scale} and abs({scale}) > {FREE_SCALE}: raise Irregular")
        return Part("", name, lines, parts, tuple_of(parts))

    def _value(
        self, kind: avro.AvroType, field: Field, usual: ConnectValue, depth: int, row: str
    ) -> Part:
        """Return the part of a field's value. ``row``: that it is a column of."""
        null_index = kind.null_index if isinstance(kind, avro.Union) else None
        if null_index is None:
            part = self._not_null(kind, field, usual, depth, 0)
        else:
            assert isinstance(kind, avro.Union)  # only a union has NULL
            part = self._not_null(kind.branches[1 - null_index], field, None, depth + 1, 1)
        if row and self.rows is not None:
            read = part.lines
            self.rows.column(row, field, part)
            more = part.lines[len(read) :]
            if more and null_index is None and field.schema.optional:  # a union of more types
                part.lines = [*read, f"if {part.name} is not None:", *indented(more)]
        if null_index is not None:
            part.lines = branch_lines(part.name, null_index, part.lines)
        return part

    def _not_null(
        self, kind: avro.AvroType, field: Field, usual: ConnectValue, depth: int, skip: int
    ) -> Part:
        """Return the part of a value that is not NULL; ``skip`` bytes before it were read."""
        schema = field.schema
        is_row = field.name in _ROWS and depth <= 2 and self.rows is not None
        if isinstance(kind, avro.Record) and depth <= _MAX_DEPTH:
            row = field.name if is_row else ""
            part = self._record(kind, schema, None if is_row else usual, depth + 1, row)
            made = part.made
            if is_row and self.rows is not None:
                made = self.rows.row(row, part.columns)
            skipped = ["position += 1"] if skip else []
            part.lines = [*skipped, *part.lines, f"{part.name} = {made}"]
            return part
        if is_row:
            raise Irregular
        name = self._name()
        if isinstance(kind, avro.Primitive):
            if kind.name == "string" and isinstance(usual, str):
                raw = usual.encode()
                self._usual[name] = varint_bytes(len(raw)) + raw
                self.names[f"usual_{name}"] = usual
            return Part("", name, _primitive_lines(kind, schema, name, skip))
        return Part("", name, self._other_lines(kind, schema, name, depth, skip))

    def _other_lines(
        self, kind: avro.AvroType, schema: Schema, name: str, depth: int, skip: int
    ) -> list[str]:
        """Return the lines of a value that the plain reader reads."""
        if has_long_scales(schema):
            raise Irregular
        self._others += 1
        self.names[f"read_{name}"] = _other_reader(kind, depth)
        return [f"{name}, position = read_{name}(data, position + {skip}, budget)"]

    def _lines_of(self, parts: Sequence[Part]) -> list[str]:
        """Return the lines of values; usual ones next to each other are one comparison."""
        lines: list[str] = []
        for is_usual, group in groupby(parts, lambda part: part.name in self._usual):
            run = list(group)
            inside = [line for part in run for line in part.lines]
            if not is_usual:
                lines += inside
                continue
            raw = b"".join(self._usual[part.name] for part in run)
            self.names[f"run_{run[0].name}"] = raw
            lines += [
                f"if data.startswith(run_{run[0].name}, position):",
                *(f" {part.name} = usual_{part.name}" for part in run),
                f" position += {len(raw)}",
                "else:",
                *indented(inside),
            ]
        return lines

    def _name(self) -> str:
        if self._values >= _MAX_VALUES:
            raise Irregular
        self._values += 1
        return f"v{self._values}"


def _primitive_lines(kind: avro.Primitive, schema: Schema, name: str, skip: int) -> list[str]:
    """Return the lines of a value of a type without parts."""
    match kind.name:
        case "int" | "long":
            lines = integer_lines(name, 32 if kind.name == "int" else 64, skip)
            bounds = integer_bounds(schema)
            if bounds is not None:
                lines.append(f"if not {bounds[0]} <= {name} <= {bounds[1]}: raise Irregular")
            return lines
        case "float" | "double":
            return float_lines(name, 32 if kind.name == "float" else 64, skip)
        case "boolean":
            return boolean_lines(name, skip)
        case "string":
            return [*length_lines(skip), f"{name} = data[position:end].decode()", "position = end"]
        case "bytes" if is_decimal(kind):
            return _decimal_lines(decimal_scale(schema) or 0, name, skip)
        case "bytes":
            return [*length_lines(skip), f"{name} = data[position:end]", "position = end"]
        case "null":
            raise Irregular


def _decimal_lines(scale: int, name: str, skip: int) -> list[str]:
    if abs(scale) > FREE_SCALE:
        raise Irregular
    number = "from_bytes(data[position:end], 'big', signed=True)"
    return [
        *length_lines(skip),
        f"if not 0 < end - position <= {MAX_DECIMAL_BYTES}: raise Irregular",
        f"{name} = scaleb({number}, {-scale})",
        "position = end",
    ]


def _other_reader(kind: avro.AvroType, depth: int) -> ReadOther:
    _, ways = connect_type(kind)
    convert = ways.read

    def read(data: bytes, position: int, budget: int) -> tuple[Any, int]:
        reader = Reader(data, position)
        datums = DatumReader(reader, keeps_bytes=True)
        datums.budget, datums.depth = budget, depth
        datum = datums.read(kind, (), DATUM)
        return datum if convert is None else convert(datum), reader.offset

    return read
