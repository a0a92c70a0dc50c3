"""Columns of the wire to and from images of the neutral model.

A column that a producer without ``f`` flagged by ``h`` alone is a handle-key column all the same.
"""

from __future__ import annotations

from collections.abc import Iterable

from cdcwire.core.context import Selection
from cdcwire.core.errors import EncodeError
from cdcwire.formats.open_protocol.message import Column, Columns, Row
from cdcwire.formats.open_protocol.settings import Settings
from cdcwire.formats.open_protocol.values import value_clause
from cdcwire.model.events import Image, Table
from cdcwire.mysql.images import ImageWriter, image_of
from cdcwire.mysql.types import FLAG_HANDLE_KEY


def handle_key_names(columns: Columns) -> tuple[str, ...]:
    """Return the names of the handle-key columns, in their order."""
    return tuple(column.name for column in columns if _flags(column) & FLAG_HANDLE_KEY)


def read_image(columns: Columns, time_zone: str | None, selection: Selection) -> Image:
    """Return the image of the columns that are wanted."""
    if selection.columns is not None:
        columns = tuple(column for column in columns if column.name in selection.columns)
    described = tuple((column.name, column.type, _flags(column)) for column in columns)
    return image_of(described, (column.value for column in columns), time_zone)


def _flags(column: Column) -> int:
    return column.flag | FLAG_HANDLE_KEY if column.h else column.flag


class ColumnWriter:
    """Makes columns of the wire from images, with the help of table definitions."""

    def __init__(self, time_zone: str | None, tables: Iterable[Table]) -> None:
        clause = "open-protocol: column members"
        self._images = ImageWriter(tables, time_zone, clause, value_clause)
        self.prepared = self._images.prepared

    def columns(self, table: Table, image: Image) -> Columns:
        """Return the columns of an image. Raises: EncodeError with the column's name as path."""
        return tuple(
            Column(
                column.name,
                column.type,
                bool(column.flags & FLAG_HANDLE_KEY),
                column.flags,
                column.value,
            )
            for column in self._images.columns(table, image)
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
