"""The code that makes images of the rows in a payload, for fast decoders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from cdcwire.connect.logical import columns_of, model_converter
from cdcwire.connect.payload_patterns import Part, tuple_of
from cdcwire.connect.schema import Field, Schema
from cdcwire.connect.style import as_it_is
from cdcwire.connect.unavailable import unavailable_values
from cdcwire.core.caches import Memo
from cdcwire.core.compiled import Irregular
from cdcwire.model.events import Image
from cdcwire.model.kinds import UNAVAILABLE, Column

_MAX_VARIANTS = 256
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
        convert = model_converter(schema, "")
        unavailable = unavailable_values(schema, self.placeholder)
        name = part.name
        if convert is not as_it_is:
            self.names[f"convert_{name}"] = model_converter(schema, self.placeholder)
            part.lines = [*part.lines, f"{name} = convert_{name}({name})"]
        elif unavailable:
            is_text = all(isinstance(value, str) for value in unavailable)
            self.names[f"none_{name}"] = frozenset(unavailable) if is_text else unavailable
            part.lines = [*part.lines, f"if {name} in none_{name}: {name} = UNAVAILABLE"]

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
