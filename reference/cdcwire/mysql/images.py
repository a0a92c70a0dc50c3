"""Row images between the wire's columns and the neutral model, shared by the MySQL family.

The wire describes a column by name, type code and flags. Its kind, source name and roles follow
from these, and back. Flag bits above 7 have no place in the model. The handle key is the row's
``Table.key``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, TypeAlias

from cdcwire.core.errors import step
from cdcwire.model.events import Image, Table
from cdcwire.model.kinds import Column, EnumType, Role, SetType, UnknownType, Value
from cdcwire.mysql.types import FLAG_HANDLE_KEY, code_and_flags, column_of
from cdcwire.mysql.values import WireValue, model_converter, wire_value

Described: TypeAlias = "tuple[tuple[str, int, int], ...]"  # name, type code, flags of each column

Prepared: TypeAlias = "tuple[Column, int, int, str]"  # column, type code, flags, clause

_KNOWN_LAYOUTS = 256
_CACHED_COLUMNS = 4096  # TiDB's limit of columns; what has more is not worth keeping


@dataclass(frozen=True, slots=True)
class _Layout:
    columns: tuple[Column, ...]
    converters: tuple[Callable[[Any], Value] | None, ...]


def image_of(described: Described, values: Iterable[WireValue], time_zone: str | None) -> Image:
    """Return the image of wire values. Images of one layout share one tuple of columns."""
    make = _cached_layout if len(described) <= _CACHED_COLUMNS else _layout
    layout = make(described, time_zone)
    converted = tuple(
        value if convert is None or value is None else convert(value)
        for value, convert in zip(values, layout.converters, strict=True)
    )
    return Image(layout.columns, converted)


def _layout(described: Described, time_zone: str | None) -> _Layout:
    return _Layout(
        tuple(column_of(name, code, flags, time_zone) for name, code, flags in described),
        tuple(model_converter(code, flags) for _, code, flags in described),
    )


_cached_layout = lru_cache(maxsize=64)(_layout)


@dataclass(frozen=True, slots=True)
class DescribedValue:
    """A column and its value as the wire takes them."""

    name: str
    type: int
    flags: int
    value: WireValue


class ImageWriter:
    """Makes the wire's columns from images, with the help of table definitions.

    ``columns_clause``: named when a kind has no type code. ``value_clause``: gives the clause of
    values of a type code and flags.
    """

    def __init__(
        self,
        tables: Iterable[Table],
        time_zone: str | None,
        columns_clause: str,
        value_clause: Callable[[int, int], str],
    ) -> None:
        self._time_zone = time_zone
        self._columns_clause = columns_clause
        self._value_clause = value_clause
        self._definitions = {
            (table.schema, table.name): {column.name: column for column in table.columns or ()}
            for table in tables
        }
        self._layouts: dict[object, tuple[tuple[Column, ...], list[Prepared]]] = {}

    def columns(self, table: Table, image: Image) -> Iterator[DescribedValue]:
        """Yield the columns of an image. Raises: EncodeError with the column's name as path."""
        prepared = self.prepared(table, image.columns)
        for (column, code, flags, clause), value in zip(prepared, image.values, strict=True):
            with step(column.name):
                found = wire_value(column, value, self._time_zone, clause)
            yield DescribedValue(column.name, code, flags, found)

    def prepared(self, table: Table, columns: tuple[Column, ...]) -> list[Prepared]:
        """Return what follows from the columns alone. Raises: EncodeError for a kind without code.

        Images of one layout share one tuple of columns.
        """
        place = (id(columns), table.schema, table.name, table.key)
        known = self._layouts.get(place)
        if known is not None:
            return known[1]
        prepared = [self._prepare(table, column) for column in columns]
        if len(self._layouts) >= _KNOWN_LAYOUTS:
            self._layouts.clear()
        self._layouts[place] = (
            columns,
            prepared,
        )  # the columns are kept, so that the id stays theirs
        return prepared

    def _prepare(self, table: Table, column: Column) -> Prepared:
        definitions = self._definitions.get((table.schema, table.name), {})
        with step(column.name):
            completed = complete_column(column, definitions.get(column.name))
            code, flags = code_and_flags(completed, self._columns_clause)
        if table.key is not None:
            # The key and the flag say the same; the key decides, for rows of other formats.
            flags &= ~FLAG_HANDLE_KEY
            flags |= FLAG_HANDLE_KEY if column.name in table.key else 0
        return completed, code, flags, self._value_clause(code, flags)


def is_primary_key(key: tuple[str, ...], roles: Mapping[str, frozenset[Role]]) -> bool:
    """Return whether a key is primary: no column of it says that it is only unique."""
    found = [roles.get(name, frozenset()) for name in key]
    return bool(key) and all("primary" in each or "unique" not in each for each in found)


def complete_column(column: Column, definition: Column | None) -> Column:
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
