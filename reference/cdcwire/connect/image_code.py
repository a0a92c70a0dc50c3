"""The code that makes images of the rows in a payload, for fast decoders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from cdcwire.connect import types
from cdcwire.connect.logical import columns_of, model_converter
from cdcwire.connect.payload_patterns import Part, tuple_of
from cdcwire.connect.schema import INT_BITS, Field, Schema
from cdcwire.connect.style import as_it_is
from cdcwire.connect.types import decimal_scale
from cdcwire.connect.unavailable import unavailable_values
from cdcwire.core.caches import Memo
from cdcwire.core.compiled import Irregular
from cdcwire.core.json_strings import write_base64
from cdcwire.model import kinds
from cdcwire.model.events import Image
from cdcwire.model.instants import offset_at_end
from cdcwire.model.kind_text import parse_kind
from cdcwire.model.kinds import UNAVAILABLE, Column
from cdcwire.mysql.value_texts import integer_range

_MAX_VARIANTS = 256
_MAX_DIGITS = 1000
Nulls = Mapping[str, Mapping[int, Schema]]
NO_NULLS: Nulls = {}


class ImageCode:
    """Writes the lines that make images of the rows of a payload.

    ``names``: of the function that is written. ``placeholder``: as in ``image_of``. ``nulls``: the
    schemas that columns of a row have where they are NULL, by their places, if they have others.
    """

    def __init__(
        self, payload: Schema, names: dict[str, Any], placeholder: str, nulls: Nulls = NO_NULLS
    ) -> None:
        self.names = names
        self.payload = payload
        self.placeholder = placeholder
        self.nulls = nulls
        names["Image"] = Image
        names["UNAVAILABLE"] = UNAVAILABLE

    def column(self, row: str, column: Field, part: Part) -> None:
        """Add the lines that turn a value of the wire into one of the model."""
        schema = column.schema
        if self._has_simple_bounds(schema, part):
            return
        convert = model_converter(schema, "")
        unavailable = unavailable_values(schema, self.placeholder)
        name = part.name
        is_text = all(isinstance(value, str) for value in unavailable)
        self.names[f"none_{name}"] = frozenset(unavailable) if is_text else unavailable
        # Events keep a placeholder in another form than the first.
        is_unavailable = f"if {name} in none_{name}:"
        refuse = [f" if {name} != {unavailable[0]!r}: raise Irregular"] if unavailable[1:] else []
        if convert is not as_it_is:
            self.names[f"convert_{name}"] = model_converter(schema, self.placeholder)
            part.lines = [*part.lines, *self._in_utc(schema, name)]
            part.lines += [is_unavailable, *refuse] if refuse else []
            part.lines.append(f"{name} = convert_{name}({name})")
        elif unavailable:
            part.lines = [*part.lines, is_unavailable, *refuse, f" {name} = UNAVAILABLE"]

    def _in_utc(self, schema: Schema, name: str) -> list[str]:
        """Return the line that refuses an instant with an offset, which events keep."""
        if schema.name != types.ZONED_TIMESTAMP:
            return []
        self.names["offset_at_end"] = offset_at_end
        return [f"if {name}[-1:] != 'Z' and offset_at_end({name}): raise Irregular"]

    def _has_simple_bounds(self, schema: Schema, part: Part) -> bool:
        """Write what ``model_converter`` does as code, for numbers that a definition bounds."""
        name = part.name
        if schema.name == types.UNSIGNED_64 and schema.type == "int64":
            part.lines = [*part.lines, f"if {name} < 0: {name} += {1 << 64}"]
            return True
        defined = schema.parameter(types.DEFINED)
        if defined is None or schema.name not in (None, types.CONNECT_DECIMAL):
            return False
        scale = decimal_scale(schema) if schema.name is not None else 0
        unscaled = f"{name} = from_bytes(a2b({name}), 'big', signed=True)"
        match parse_kind(defined):
            case kinds.IntType() as kind if schema.type in INT_BITS or schema.name is not None:
                if scale != 0:
                    return False
                low, end = integer_range(kind)
                lines = part.lines if schema.name is None else [*part.lines[:-1], unscaled]
                part.lines = [*lines, f"if not {low} <= {name} < {end}: raise Irregular"]
                return True
            case kinds.DecimalType(int(digits), fraction) if schema.name is not None:
                if scale is None or scale != (fraction or 0) or digits > _MAX_DIGITS:
                    return False
                end = 10**digits
                lines = [unscaled, f"if not {-end} < {name} < {end}: raise Irregular"]
                if schema.parameter(types.AMBIGUOUS) is not None:
                    self.names["are_digits"] = _are_digits
                    lines.append(f"if {name} < 0 and are_digits({name}): raise Irregular")
                lines.append(f"{name} = scaleb(Decimal({name}), {-scale})")
                part.lines = [*part.lines[:-1], *lines]
                return True
            case _:
                return False

    def row(self, row: str, parts: Sequence[Part]) -> str:
        """Return the expression of an image."""
        schema = self.payload.field(row)
        if schema is None:
            raise Irregular
        places = tuple(self.nulls.get(row, ()))
        if not places:
            self.names[f"columns_{row}"] = columns_of(schema)
            return f"Image(columns_{row}, {tuple_of(parts)})"
        bases = self.nulls[row]

        def columns(are_null: tuple[bool, ...]) -> tuple[Column, ...]:
            fields = list(schema.fields)
            for place, is_null in zip(places, are_null, strict=True):
                if is_null:
                    fields[place] = Field(fields[place].name, bases[place])
            return columns_of(replace(schema, fields=tuple(fields)))

        self.names[f"columns_{row}"] = Memo(columns, _MAX_VARIANTS)
        shown = "".join(f"{parts[place].name} is None, " for place in places)
        return f"Image(columns_{row}[({shown})], {tuple_of(parts)})"


def _are_digits(unscaled: int) -> bool:
    """Return whether the base64 of a negative number's bytes has digits alone."""
    size = (~unscaled).bit_length() // 8 + 1
    return size % 3 == 0 and write_base64(unscaled.to_bytes(size, "big", signed=True)).isdigit()
