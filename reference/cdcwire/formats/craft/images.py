"""Rows between columns of the wire and images of the neutral model, for both Craft formats."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias, cast

from cdcwire.core.errors import EncodeError, step
from cdcwire.formats.craft.arrays import bytes_of
from cdcwire.formats.craft.columns import encode_nullable
from cdcwire.formats.craft.message import Column as WireColumn
from cdcwire.formats.craft.message import Skipped
from cdcwire.formats.craft.profile import Profile
from cdcwire.formats.craft.settings import Settings
from cdcwire.formats.craft.values import value_clause
from cdcwire.model.events import Image, RowChange, Table
from cdcwire.mysql.images import ImageWriter, image_of
from cdcwire.mysql.types import FLAG_HANDLE_KEY
from cdcwire.mysql.values import WireValue

WireColumns: TypeAlias = "tuple[WireColumn, ...]"

# The estimate of a row's size by which the producer ends a batch.
_ROW_OVERHEAD = 32
_COLUMN_OVERHEAD = 16


def read_image(columns: WireColumns, time_zone: str | None) -> Image:
    """Return the image of the columns that were decoded."""
    decoded = [column for column in columns if not isinstance(column.value, Skipped)]
    described = tuple((column.name, column.type, column.flags) for column in decoded)
    values = (cast("WireValue", column.value) for column in decoded)
    return image_of(described, values, time_zone)


def handle_key(columns: WireColumns) -> tuple[str, ...]:
    """Return the names of the columns that are flagged as handle key, in column order."""
    return tuple(column.name for column in columns if column.flags & FLAG_HANDLE_KEY)


class ColumnWriter:
    """Makes columns of the wire from images, with the help of table definitions."""

    def __init__(self, settings: Settings, tables: Iterable[Table], profile: Profile) -> None:
        self._settings = settings
        self._profile = profile
        self._images = ImageWriter(
            tables,
            settings.time_zone,
            profile.column_types,
            lambda code, flags: value_clause(code, profile),
        )
        self.prepared = self._images.prepared

    def columns(self, table: Table, image: Image) -> WireColumns:
        """Return the columns of one group. Raises: EncodeError with the column's name as path."""
        return tuple(
            WireColumn(column.name, column.type, column.flags, column.value)
            for column in self._images.columns(table, image)
        )

    def deleted_columns(self, table: Table, image: Image) -> WireColumns:
        """Return the columns of a deleted row: all, or as the settings say its handle key only."""
        columns = self.columns(table, image)
        if not self._settings.delete_only_handle_key:
            return columns
        kept = tuple(column for column in columns if column.flags & FLAG_HANDLE_KEY)
        if not kept:
            raise EncodeError(
                "no handle key column, and nothing else is to be sent",
                self._profile.delete_only_handle_key,
            )
        return kept


def check_row(event: RowChange, profile: Profile) -> None:
    """Raise EncodeError for what no row event can say."""
    if event.op not in ("insert", "update", "delete"):
        raise EncodeError(f"op {event.op!r} has no form here", profile.row_events, ("op",))
    if event.half is not None:
        raise EncodeError("half an update has no form here", profile.row_events, ("half",))
    if event.sent == "changed" or (event.sent == "key" and event.op != "delete"):
        raise EncodeError(
            f"columns left out (sent={event.sent!r}) cannot be expressed here",
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

    Source: shipped, pingcap/tiflow: 32 per row and 16 per column, plus names and values in bytes.
    """
    size = _ROW_OVERHEAD
    for field, name in (("schema", schema), ("table", table)):
        size += len(bytes_of(name, profile.names, ("table", field)))
    for columns in groups:
        for column in columns:
            name_bytes = bytes_of(column.name, profile.column_names, (column.name,))
            with step(column.name):
                value = encode_nullable(column, profile)
            size += _COLUMN_OVERHEAD + len(name_bytes) + len(value or b"")
    return size
