"""Rows of known columns as JSON, for fast encoders: one function for each column of a table.

Strings are escaped in two steps: by Python's ``json``, and once for the whole row as JsonConverter
does in addition.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from json.encoder import encode_basestring
from typing import Any, TypeAlias

from cdcwire.connect.columns import KINDS, plan_column
from cdcwire.connect.decimals import unscaled_bytes
from cdcwire.connect.images import WrittenRows, schemas_of
from cdcwire.connect.java_numbers import java_float_text
from cdcwire.connect.schema import INT_BITS
from cdcwire.connect.strings import quoted
from cdcwire.connect.style import ColumnPlan, Convert, Style
from cdcwire.connect.types import CONNECT_DECIMAL, decimal_scale
from cdcwire.connect.values import WrittenJson, write_value
from cdcwire.core.base64_text import write_base64
from cdcwire.core.compiled import ImagePlans, Irregular
from cdcwire.golang.numbers import narrow_float32
from cdcwire.model import kinds
from cdcwire.model.events import Column, Image, RowChange, Table
from cdcwire.mysql.usual_texts import integer_writer
from cdcwire.mysql.value_texts import integer_range

_Write: TypeAlias = Callable[[Any], str]

_MAX_TEXTS = 256  # of one column
_OTHER_ESCAPES = re.compile(r"\\(?:\\|u00[01][a-f])|[\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True)
class _Plan:
    """How an image is written. ``required``: places without NULL; ``keys``: places of the key."""

    rows: WrittenRows
    template: str
    writers: tuple[_Write, ...]
    required: tuple[int, ...]
    keys: tuple[tuple[int, Convert], ...]

    def written(self, image: Image) -> tuple[WrittenJson, tuple[Any, ...] | None]:
        """Return the JSON of an image, and the values of its key."""
        values = image.values
        for place in self.required:
            if values[place] is None:
                raise Irregular
        text = self.template % tuple(
            [
                "null" if value is None else write(value)
                for write, value in zip(self.writers, values, strict=True)
            ]
        )
        if "\\u00" in text or not text.isascii():
            text = _OTHER_ESCAPES.sub(_escape, text)
            text.encode()  # a lone surrogate is a ValueError
        key = tuple([convert(values[place]) for place, convert in self.keys])
        return WrittenJson(text), key or None


class UsualRows:
    """Makes the rows of regular changes, by what it learned from earlier ones."""

    def __init__(self, style: Style) -> None:
        self._style = style
        self._plans: ImagePlans[_Plan] = ImagePlans(self._plan)

    def rows(self, change: RowChange) -> WrittenRows:
        """Return what ``written_rows`` returns. Raises: one of ENCODE_IRREGULARITIES."""
        table, before, after = change.table, change.before, change.after
        if change.half or (after is None) != (change.op == "delete"):
            raise Irregular
        if (before is not None and change.op not in ("update", "delete")) or not (before or after):
            raise Irregular
        plan = self._plans.of(table, (after or before or Image((), ())).columns)
        old, old_key = None, None
        if before is not None:
            if self._plans.of(table, before.columns) is not plan:
                raise Irregular
            old, old_key = plan.written(before)
        new, new_key = (None, None) if after is None else plan.written(after)
        rows = plan.rows
        return WrittenRows(rows.struct, old, new, rows.key, old_key, new_key, rows.kept)

    def _plan(self, table: Table, columns: tuple[Column, ...]) -> _Plan:
        struct, key, places = schemas_of(table, columns, self._style)
        plans = [plan_column(column, self._style) for column in columns]
        members = ",".join(
            f"{quoted(column.name)}:".replace("%", "%%") + "%s" for column in columns
        )
        return _Plan(
            WrittenRows(struct, None, None, key, None, None),
            f"{{{members}}}",
            tuple(map(_writer, columns, plans)),
            tuple(
                place
                for place, plan in enumerate(plans)
                if place in places or not plan.schema.optional
            ),
            tuple((place, plans[place].convert) for place in places),
        )


def _writer(column: Column, plan: ColumnPlan) -> _Write:
    """Return what writes the values of a column that are not NULL, as JSON."""
    kind, schema, convert = column.type, plan.schema, plan.convert

    def plainly(value: Any) -> str:
        return write_value(schema, convert(value))

    def double(value: Any) -> str:
        if type(value) is float and value - value == 0:  # finite
            return java_float_text(value, 64)
        return plainly(value)

    def single(value: Any) -> str:
        if type(value) is float and value - value == 0 and narrow_float32(value) == value:
            return java_float_text(value, 32)
        return plainly(value)

    def binary(value: Any) -> str:
        return f'"{write_base64(value)}"' if type(value) is bytes else plainly(value)

    match kind, schema.type:
        case kinds.IntType(), "int8" | "int16" | "int32" | "int64" if schema.name is None:
            low, high = integer_range(kind)
            limit = 1 << INT_BITS[schema.type] - 1
            return integer_writer(max(low, -limit), min(high, limit))
        case kinds.FloatType(bits), "float" | "double":
            return single if schema.type == "float" else double if bits == 64 else plainly
        case kinds.TextType() | kinds.JsonType(), "string":
            return encode_basestring
        case kinds.BytesType(), "bytes" if schema.name != CONNECT_DECIMAL:
            return binary
        case kinds.DecimalType(), "bytes" if schema.name == CONNECT_DECIMAL:
            return _decimal_writer(plan)
        case ((kinds.EnumType() | kinds.SetType() | kinds.YearType() | kinds.DateType()), _):
            return lru_cache(_MAX_TEXTS, typed=True)(plainly)
        case _:
            return plainly


def _decimal_writer(plan: ColumnPlan) -> _Write:
    scale = decimal_scale(plan.schema)

    def write(value: Any) -> str:
        if type(value) is not Decimal or scale is None:
            raise Irregular
        return f'"{write_base64(unscaled_bytes(value, scale, KINDS))}"'

    return write


def _escape(found: re.Match[str]) -> str:
    text = found.group()
    if text == "\\\\":
        return text
    return quoted(text)[1:-1] if len(text) == 1 else text[:4] + text[4:].upper()
