"""Values made of a schema, found again by the schema object itself and not by its content.

To compare two schemas takes longer than to read a row. Those of a feed come again as the same
objects (``cdcwire.connect.envelope`` remembers them), so identity is enough. The memory is bounded.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from cdcwire.connect.schema import Schema

Made = TypeVar("Made")
_MAX_KEPT = 512


class MadeOfSchemas(Generic[Made]):
    """The values that ``make`` returns for a schema and a text."""

    def __init__(self, make: Callable[[Schema, str], Made]) -> None:
        self.make = make
        # The schema is kept, so that its number is no other's.
        self.kept: dict[tuple[int, str], tuple[Schema, Made]] = {}

    def get(self, schema: Schema, text: str = "") -> Made:
        """Return the value kept for this schema object and text; make it if there is none."""
        found = self.kept.get((id(schema), text))
        if found is not None:
            return found[1]
        made = self.make(schema, text)
        if len(self.kept) >= _MAX_KEPT:
            self.kept.clear()
        self.kept[id(schema), text] = schema, made
        return made
