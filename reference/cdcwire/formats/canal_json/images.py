"""Rows of the wire to and from images of the neutral model."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from cdcwire.core.context import Selection
from cdcwire.core.errors import EncodeError, step
from cdcwire.formats.canal_json.columns import (
    NO_DEFINITION,
    Definition,
    Definitions,
    completed,
    sql_type_of,
    written_type,
)
from cdcwire.formats.canal_json.settings import Settings
from cdcwire.formats.canal_json.values import (
    Read,
    Row,
    Types,
    same_value,
    value_reader,
    write_value,
)
from cdcwire.model.events import Image, Table
from cdcwire.model.kinds import Column, Value
from cdcwire.mysql.declared import DeclaredType

Prepared: TypeAlias = "tuple[Column, str, DeclaredType]"

_KNOWN_LAYOUTS = 256


class ImageReader:
    """Makes images of the rows of one message."""

    def __init__(
        self,
        types: Types,
        definition: Definition,
        pk_names: tuple[str, ...],
        time_zone: str | None,
        selection: Selection,
    ) -> None:
        self.types = types
        self.definition = definition
        self.primary = frozenset(pk_names)
        self.time_zone = time_zone
        self.selection = selection
        self._known: dict[str, tuple[Column, Read]] = {}
        self._layouts: dict[tuple[str, ...], tuple[tuple[Column, ...], tuple[Read, ...]]] = {}

    def image(self, row: Row) -> Image:
        """Return the image of the columns that are wanted. The texts were read before."""
        if self.selection.columns is not None:
            row = tuple(pair for pair in row if pair[0] in self.selection.columns)
        names = tuple(name for name, _ in row)
        columns, reads = self._layouts.get(names) or self._learn(names)
        values = tuple(
            None if text is None else read(text) for read, (_, text) in zip(reads, row, strict=True)
        )
        return Image(columns, values)

    def _learn(self, names: tuple[str, ...]) -> tuple[tuple[Column, ...], tuple[Read, ...]]:
        found = [self._known.get(name) or self._column(name) for name in names]
        columns = tuple(column for column, _ in found)
        self._layouts[names] = layout = (columns, tuple(read for _, read in found))
        return layout

    def _column(self, name: str) -> tuple[Column, Read]:
        is_primary = name in self.primary
        column = self.definition.column(name, self.types.get(name), is_primary, self.time_zone)
        self._known[name] = found = (column, value_reader(column.type))
        return found


@dataclass(frozen=True, slots=True)
class WrittenColumn:
    """A column as the wire takes it, with the value that the text says."""

    name: str
    text: str | None
    mysql_type: str
    sql_type: int
    column: Column
    value: Value


class ImageWriter:
    """Makes columns of the wire from images, with the help of table definitions."""

    def __init__(self, settings: Settings, tables: Iterable[Table] = ()) -> None:
        self.definitions = Definitions(tables)
        self._settings = settings
        self._layouts: dict[object, tuple[tuple[Column, ...], tuple[Prepared, ...]]] = {}

    def columns(self, table: Table, image: Image) -> tuple[WrittenColumn, ...]:
        """Return the columns of an image. Raises: EncodeError with the column's name as path."""
        written = []
        prepared = self.prepared(table, image.columns)
        for (column, mysql_type, declared), value in zip(prepared, image.values, strict=True):
            with step(column.name):
                text = write_value(column, value, self._settings)
                is_number = text is not None and declared.is_unsigned and isinstance(value, int)
                code = sql_type_of(declared, value if is_number else None)
            written.append(WrittenColumn(column.name, text, mysql_type, code, column, value))
        return tuple(written)

    def prepared(self, table: Table, columns: tuple[Column, ...]) -> tuple[Prepared, ...]:
        """Return what follows from the columns alone. Raises: EncodeError.

        Images of one layout share one tuple of columns.
        """
        place = (id(columns), table.schema, table.name, table.version)
        known = self._layouts.get(place)
        if known is not None:
            return known[1]
        definition = self.definitions.columns(table.schema, table.name, table.version)
        prepared = tuple(self._prepare(column, definition) for column in columns)
        if len(self._layouts) >= _KNOWN_LAYOUTS:
            self._layouts.clear()
        self._layouts[place] = (columns, prepared)  # kept, so that the id stays theirs
        return prepared

    def _prepare(self, column: Column, definition: Definition = NO_DEFINITION) -> Prepared:
        with step(column.name):
            found = completed(column, definition.columns.get(column.name))
            return (found, *written_type(found, self._settings.has_full_types))

    def key(self, table: Table, image: Image) -> tuple[str, ...]:
        """Return the names of the handle key: the row's own key, else that of the definition."""
        if table.key is not None:
            return table.key
        defined = self.definitions.table(table.schema, table.name, table.version)
        if defined is not None and defined.key is not None:
            return defined.key
        return tuple(c.name for c in image.columns if c.roles & {"handle", "primary"})

    def pk_names(self, table: Table, image: Image) -> tuple[str, ...]:
        """Return the names of the primary key, in the order of the table.

        A unique key that is the handle is not a primary key.
        """
        definition = self.definitions.columns(table.schema, table.name, table.version)
        roles = {column.name: column.roles for column in image.columns}
        for name, column in definition.columns.items():
            roles[name] = roles.get(name, column.roles) | column.roles
        names = [
            name
            for name in self.key(table, image)
            if "primary" in (known := roles.get(name, frozenset())) or "unique" not in known
        ]
        if len(names) > 1:
            order = definition.columns or roles
            places = {name: place for place, name in enumerate(order)}
            names.sort(key=lambda name: places.get(name, len(places)))
        return tuple(names)


def changed_columns(
    before: tuple[WrittenColumn, ...], after: tuple[WrittenColumn, ...]
) -> tuple[WrittenColumn, ...]:
    """Return the old columns whose value differs from the new one."""
    new = {column.name: column for column in after}
    return tuple(
        column
        for column in before
        if column.name not in new
        or not same_value(column.column.type, column.value, new[column.name].value)
    )


def check_same_types(
    before: tuple[WrittenColumn, ...], after: tuple[WrittenColumn, ...], clause: str
) -> None:
    """Raise EncodeError where ``mysqlType``, which is that of the new row, is not the old one's."""
    new = {column.name: column.mysql_type for column in after}
    for column in before:
        if new.get(column.name) != column.mysql_type:
            problem = (
                "mysqlType has this column in another type"
                if column.name in new
                else ("the new row has no such column")
            )
            raise EncodeError(problem, clause, (column.name,))
