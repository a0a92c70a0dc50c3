"""A Tuple topic and its rows as values, and why a change has no place in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from cdcwire.core.errors import EncodeError
from cdcwire.datahub.fields import Field, FieldValue
from cdcwire.model.events import Path, Table
from cdcwire.model.kinds import Column

CLAUSE_SCHEMA = "datahub-tuple: topic schema"
CLAUSE_UNSUPPORTED = "datahub-tuple: what is not carried"
REASON = "tuple topics carry DML only"

Operation: TypeAlias = Literal["I", "U", "D"]


class TupleRow(NamedTuple):
    """One row. ``sequence_id``: digits as written; ``execute_time``: milliseconds since 1970.

    ``table``: None in a topic without a column for it. ``values``: in the order of the topic's data
    columns.
    """

    operation: Operation
    has_before: bool
    has_after: bool
    sequence_id: str
    execute_time: int
    table: str | None
    values: tuple[FieldValue, ...]


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic. ``fields``: all of them in their order; ``places`` and ``data`` are indexes of them.

    ``columns``: those of the model for the data fields. ``places`` has None for ``_source_table_``
    in a topic that lacks it.
    """

    table: Table
    fields: tuple[Field, ...]
    sequence_id: int
    operation_type: int
    execute_time: int
    source_table: int | None
    before_image: int
    after_image: int
    data: tuple[int, ...]
    columns: tuple[Column, ...]


class SchemaMismatchError(EncodeError):
    """A row's columns are not the topic's; ``column`` is the one that is missing or too many."""

    def __init__(self, column: str, problem: str, path: Path = ()) -> None:
        super().__init__(f"column {column!r:.60} {problem}", CLAUSE_SCHEMA, path)
        self.column = column
        self._problem = problem

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.column, self._problem, self.path)


class UnsupportedInTupleError(EncodeError):
    """A Tuple topic has no form for this; ``op`` is what it is, ``reason`` why."""

    def __init__(self, op: str, path: Path = ()) -> None:
        super().__init__(f"{op}: {REASON}; use datahub-blob", CLAUSE_UNSUPPORTED, path)
        self.op = op
        self.reason = REASON

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.op, self.path)
