"""Columns of the wire to and from images of the neutral model.

A column's kind, source name and roles follow from its type code and flag bits, and back. Flag bits
above 7 have no place in the model. A column that a producer without ``f`` marked by ``h`` alone is
a handle-key column all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, TypeAlias

from cdcwire.errors import EncodeError, step
from cdcwire.format import Selection
from cdcwire.model.events import Column as ModelColumn
from cdcwire.model.events import Image, Table, Value
from cdcwire.model.kinds import EnumType, SetType, UnknownType
from cdcwire.mysql.types import FLAG_HANDLE_KEY, code_and_flags, column_of
from cdcwire.mysql.values import model_converter, wire_value
from cdcwire.open_protocol.message import Column, Columns, Row
from cdcwire.open_protocol.settings import Settings
from cdcwire.open_protocol.values import value_clause

_Described: TypeAlias = "tuple[tuple[str, int, int], ...]"

_CACHED_COLUMNS = 4096  # TiDB's limit of columns; what has more is not worth keeping


@dataclass(frozen=True, slots=True)
class _Layout:
    columns: tuple[ModelColumn, ...]
    converters: tuple[Callable[[Any], Value] | None, ...]


def handle_key_names(columns: Columns) -> tuple[str, ...]:
    """Return the names of the handle-key columns, in their order."""
    return tuple(column.name for column in columns if _flags(column) & FLAG_HANDLE_KEY)


def image_of(columns: Columns, time_zone: str | None, selection: Selection) -> Image:
    """Return the image of the columns that are wanted. Images of one layout share its columns."""
    if selection.columns is not None:
        columns = tuple(column for column in columns if column.name in selection.columns)
    described = tuple((column.name, column.type, _flags(column)) for column in columns)
    make = _cached_layout if len(described) <= _CACHED_COLUMNS else _layout
    layout = make(described, time_zone)
    values = tuple(
        column.value if convert is None or column.value is None else convert(column.value)
        for column, convert in zip(columns, layout.converters, strict=True)
    )
    return Image(layout.columns, values)


def _flags(column: Column) -> int:
    return column.flag | FLAG_HANDLE_KEY if column.h else column.flag


def _layout(described: _Described, time_zone: str | None) -> _Layout:
    return _Layout(
        tuple(column_of(name, code, flags, time_zone) for name, code, flags in described),
        tuple(model_converter(code, flags) for _, code, flags in described),
    )


_cached_layout = lru_cache(maxsize=64)(_layout)


class ColumnWriter:
    """Makes columns of the wire from images, with the help of table definitions."""

    def __init__(self, time_zone: str | None, tables: Iterable[Table]) -> None:
        self.time_zone = time_zone
        self.definitions = {
            (table.schema, table.name): {column.name: column for column in table.columns or ()}
            for table in tables
        }

    def columns(self, table: Table, image: Image) -> Columns:
        """Return the columns of an image. Raises: EncodeError with the column's name as path."""
        definitions = self.definitions.get((table.schema, table.name), {})
        columns = []
        for column, value in zip(image.columns, image.values, strict=True):
            with step(column.name):
                completed = _complete(column, definitions.get(column.name))
                columns.append(self._column(completed, value, table.key))
        return tuple(columns)

    def _column(self, column: ModelColumn, value: Value, key: tuple[str, ...] | None) -> Column:
        code, flags = code_and_flags(column, "open-protocol: column members")
        if key is not None:
            # The key and the flag say the same; the key decides, for rows of other formats.
            flags = flags | FLAG_HANDLE_KEY if column.name in key else flags & ~FLAG_HANDLE_KEY
        wire = wire_value(column, value, self.time_zone, value_clause(code, flags))
        return Column(column.name, code, bool(flags & FLAG_HANDLE_KEY), flags, wire)


def _complete(column: ModelColumn, definition: ModelColumn | None) -> ModelColumn:
    """Return a column that was given with its kind only, with what the table's definition adds."""
    if definition is None or column.source or column.roles or column.nullable is not None:
        return column
    kind = column.type
    if isinstance(kind, UnknownType):
        kind = definition.type
    elif isinstance(kind, (EnumType, SetType)) and isinstance(definition.type, type(kind)):
        kind = replace(kind, labels=kind.labels or definition.type.labels)
    return replace(
        column,
        type=kind,
        source=definition.source,
        nullable=definition.nullable,
        roles=definition.roles,
    )


def updated_columns(before: Columns, after: Columns) -> Columns:
    """Return the old columns whose type or value differs from the new one."""
    new = {column.name: (column.type, column.value) for column in after}
    return tuple(c for c in before if new.get(c.name) != (c.type, c.value))


def handle_key_only(row: Row, settings: Settings, clause: str) -> Row:
    """Return a row with its handle-key columns only. Raises: EncodeError when there is none."""
    u, p, d = (
        None if group is None else tuple(column for column in group if column.h)
        for group in (row.u, row.p, row.d)
    )
    lost_old = bool(row.p) and not p and not settings.only_updated_columns
    if not (u or d) or lost_old:
        raise EncodeError("the row has no handle key", clause)
    return Row(u, p, d)
