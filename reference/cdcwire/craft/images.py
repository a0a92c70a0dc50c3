"""Rows between columns of the wire and images of the neutral model, shared by both Craft formats.

A column's kind, source name and roles follow from its type code and flags, and back. Flag bits
above 7 have no place in the model. The handle key is the row's ``Table.key``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TypeAlias

from cdcwire.craft.columns import encode_nullable
from cdcwire.craft.message import Column as WireColumn
from cdcwire.craft.message import Skipped
from cdcwire.craft.profile import Profile
from cdcwire.craft.settings import Settings
from cdcwire.craft.values import value_clause
from cdcwire.errors import EncodeError, step
from cdcwire.model.events import Column, Image, RowChange, Table, Value
from cdcwire.model.kinds import EnumType, SetType, UnknownType
from cdcwire.mysql.types import FLAG_HANDLE_KEY, code_and_flags, column_of
from cdcwire.mysql.values import model_converter, wire_value

WireColumns: TypeAlias = "tuple[WireColumn, ...]"
Layout: TypeAlias = "tuple[tuple[str, int, int], ...]"
Definitions: TypeAlias = "dict[tuple[str | None, str | None], dict[str, Column]]"

# The estimate of a row's size by which the producer ends a batch.
_ROW_OVERHEAD = 32
_COLUMN_OVERHEAD = 16


class ImageReader:
    """Makes images; rows of one layout share one tuple of columns."""

    def __init__(self, time_zone: str | None) -> None:
        self.time_zone = time_zone
        self._columns: dict[Layout, tuple[Column, ...]] = {}

    def image(self, columns: WireColumns) -> Image:
        """Return the image of the columns that were decoded."""
        decoded = [column for column in columns if not isinstance(column.value, Skipped)]
        layout = tuple((column.name, column.type, column.flags) for column in decoded)
        found = self._columns.get(layout)
        if found is None:
            found = tuple(column_of(*described, self.time_zone) for described in layout)
            self._columns[layout] = found
        return Image(found, tuple(map(_model_value, decoded)))


def handle_key(columns: WireColumns) -> tuple[str, ...]:
    """Return the names of the columns that are flagged as handle key, in column order."""
    return tuple(column.name for column in columns if column.flags & FLAG_HANDLE_KEY)


class ColumnWriter:
    """Makes columns of the wire from images, with the help of table definitions."""

    def __init__(self, settings: Settings, tables: Iterable[Table], profile: Profile) -> None:
        self.settings = settings
        self.profile = profile
        self.definitions: Definitions = {
            (table.schema, table.name): {column.name: column for column in table.columns or ()}
            for table in tables
        }

    def columns(self, table: Table, image: Image) -> WireColumns:
        """Return the columns of one group. Raises: EncodeError with the column's name as path."""
        definitions = self.definitions.get((table.schema, table.name), {})
        columns = []
        for column, value in zip(image.columns, image.values, strict=True):
            with step(column.name):
                completed = complete_column(column, definitions.get(column.name))
                columns.append(self._column(completed, value, table.key))
        return tuple(columns)

    def deleted_columns(self, table: Table, image: Image) -> WireColumns:
        """Return the columns of a deleted row: all, or as the settings say its handle key only."""
        columns = self.columns(table, image)
        if not self.settings.delete_only_output_handle_key_columns:
            return columns
        kept = tuple(column for column in columns if column.flags & FLAG_HANDLE_KEY)
        if not kept:
            raise EncodeError(
                "no handle key column, and nothing else is to be sent",
                self.profile.delete_only_handle_key,
            )
        return kept

    def _column(self, column: Column, value: Value, key: tuple[str, ...] | None) -> WireColumn:
        code, flags = code_and_flags(column, self.profile.column_types)
        if key is not None:
            # The model's key and the flag say the same; the key decides, for rows of other formats.
            flags = flags | FLAG_HANDLE_KEY if column.name in key else flags & ~FLAG_HANDLE_KEY
        clause = value_clause(code, self.profile)
        return WireColumn(
            column.name, code, flags, wire_value(column, value, self.settings.time_zone, clause)
        )


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


def check_row(event: RowChange, profile: Profile) -> None:
    """Raise EncodeError for what no row event can say."""
    if event.op not in ("insert", "update", "delete"):
        raise EncodeError(f"op {event.op!r} has no form here", profile.row_events, ("op",))
    if event.half is not None:
        raise EncodeError("half an update has no form here", profile.row_events, ("half",))
    if event.sent == "changed" or (event.sent == "key" and event.op != "delete"):
        raise EncodeError(
            f"columns left out (sent={event.sent!r}) can't be told here",
            profile.row_events,
            ("sent",),
        )
    is_needed: tuple[tuple[str, Image | None, bool], ...] = (
        ("before", event.before, event.op != "insert"),
        ("after", event.after, event.op != "delete"),
    )
    for name, image, is_wanted in is_needed:
        if (image is not None) != is_wanted:
            word = "needs" if is_wanted else "has no"
            raise EncodeError(f"op {event.op!r} {word} {name!r}", profile.row_events, (name,))


def estimated_size(schema: str, table: str, groups: Iterable[WireColumns], profile: Profile) -> int:
    """Return the producer's estimate of a row's size in a message.

    Source: shipped, pingcap/tiflow: 32 a row and 16 a column, plus names and values in bytes.
    """
    size = _ROW_OVERHEAD + len(schema.encode()) + len(table.encode())
    for columns in groups:
        for column in columns:
            value = encode_nullable(column, profile)
            size += _COLUMN_OVERHEAD + len(column.name.encode()) + len(value or b"")
    return size


def _model_value(column: WireColumn) -> Value:
    convert: Callable[..., Value] | None = model_converter(column.type, column.flags)
    if column.value is None or convert is None:
        return column.value
    return convert(column.value)
