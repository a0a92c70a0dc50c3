"""Rows of a Tuple topic as values: what the metadata columns say, and the data columns."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

from cdcwire.datahub.fields import FieldValue

Operation: TypeAlias = Literal["I", "U", "D"]


class TupleRow(NamedTuple):
    """One row. ``sequence_id``: digits as they stand; ``execute_time`` is milliseconds since 1970.

    ``table`` is None in a topic without a column for it. ``values``: in the order of the topic's
    data columns.
    """

    operation: Operation
    has_before: bool
    has_after: bool
    sequence_id: str
    execute_time: int
    table: str | None
    values: tuple[FieldValue, ...]
