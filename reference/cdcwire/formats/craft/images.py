"""Rows between columns of the wire and images of the neutral model, for both Craft formats.

A plan of an image is for the fast encoder: names, types, and one function per column. A function
gives the bytes of a value, or None for NULL. Anything but a usual value of a usual column is
encoded as the plain encoder does.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeAlias, cast

from cdcwire.core.caches import Memo
from cdcwire.core.compiled import Irregular
from cdcwire.core.compiled.varint_bytes import LENGTHS, uvarint_array, uvarint_bytes, varint_bytes
from cdcwire.core.errors import EncodeError, step
from cdcwire.formats.craft.arrays import bytes_of
from cdcwire.formats.craft.columns import NULL_LENGTH, encode_nullable, encode_value, value_clause
from cdcwire.formats.craft.message import Column as WireColumn
from cdcwire.formats.craft.message import Skipped
from cdcwire.formats.craft.profile import Profile
from cdcwire.formats.craft.settings import Settings
from cdcwire.model.events import Image, RowChange, Table
from cdcwire.model.floats import narrow_float32
from cdcwire.model.kinds import Column, Value
from cdcwire.mysql.images import ImageWriter, Prepared, image_of
from cdcwire.mysql.types import FLAG_HANDLE_KEY, is_unsigned
from cdcwire.mysql.usual import decimal_text, integer_range, number_of_label, usual_form
from cdcwire.mysql.values import WireValue, wire_value

WireColumns: TypeAlias = "tuple[WireColumn, ...]"
# The estimate of a row's size by which the producer ends a batch.
_ROW_OVERHEAD = 32
_COLUMN_OVERHEAD = 16
_Write: TypeAlias = "Callable[[Any], bytes]"
_MAX_LABELS = 256  # of one column
_MAX_CODE = 255
_NULL_SIZE = varint_bytes(NULL_LENGTH)
_single = struct.Struct("<f").pack
_double = struct.Struct("<d").pack


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


@dataclass(frozen=True, slots=True, eq=False)
class ImagePlan:
    """The names and columns that are sent, and what writes the values.

    ``kept``: the places of the columns that are sent; None for all. ``row_size`` and ``image_size``
    are the parts of the estimate of a row's size that follow from names.
    """

    schema: str
    table: str
    names: tuple[str, ...]
    types_and_flags: bytes
    writers: tuple[_Write, ...]
    kept: tuple[int, ...] | None
    row_size: int
    image_size: int

    def written(self, values: tuple[Value, ...]) -> tuple[bytes, bytes]:
        """Return the sizes of an image's values, and the values. Raises: one of IRREGULARITIES."""
        raws = [
            None if value is None else write(value)
            for write, value in zip(self.writers, values, strict=True)
        ]
        if self.kept is not None:
            raws = [raws[place] for place in self.kept]
        sizes = [_NULL_SIZE if raw is None else LENGTHS[len(raw)] for raw in raws]
        return b"".join(sizes), b"".join(filter(None, raws))


class PlanMaker:
    """Makes the plans of images, with the help of table definitions."""

    def __init__(self, settings: Settings, tables: Iterable[Table], profile: Profile) -> None:
        self._zone = settings.time_zone
        self._profile = profile
        self._prepared = ColumnWriter(settings, tables, profile).prepared

    def plan(self, table: Table, columns: tuple[Column, ...]) -> ImagePlan:
        """Return the plan of an image with all columns. Raises: one of IRREGULARITIES."""
        return self._plan(table, self._prepared(table, columns), None)

    def handle_key_plan(self, table: Table, columns: tuple[Column, ...]) -> ImagePlan:
        """Return the plan of an image that is cut to its handle key."""
        prepared = self._prepared(table, columns)
        is_key = [flags & FLAG_HANDLE_KEY for _, _, flags, _ in prepared]
        return self._plan(table, prepared, tuple(i for i, each in enumerate(is_key) if each))

    def _plan(
        self, table: Table, prepared: list[Prepared], kept: tuple[int, ...] | None
    ) -> ImagePlan:
        sent = prepared if kept is None else [prepared[place] for place in kept]
        names = tuple(column.name for column, _, _, _ in sent)
        if not table.schema or not table.name or not all(names) or len(set(names)) != len(names):
            raise Irregular
        if not names or max(code for _, code, _, _ in sent) > _MAX_CODE:
            raise Irregular
        nulls = tuple(WireColumn(column.name, code, flags, None) for column, code, flags, _ in sent)
        row_size = estimated_size(table.schema, table.name, (), self._profile)
        size = estimated_size(table.schema, table.name, (nulls,), self._profile)
        return ImagePlan(
            table.schema,
            table.name,
            names,
            uvarint_array([code for _, code, _, _ in sent])
            + uvarint_array([flags for _, _, flags, _ in sent]),
            tuple(self._writer(*each) for each in prepared),
            kept,
            row_size,
            size - row_size,
        )

    def _writer(self, column: Column, code: int, flags: int, clause: str) -> _Write:
        """Return what writes the values of a column that are not NULL."""

        def plainly(value: Any) -> bytes:
            found = wire_value(column, value, self._zone, clause)
            return encode_value(found, code, flags, self._profile)

        low, high = integer_range(column, code, flags)
        number = number_of_label(column)
        integer_bytes = uvarint_bytes if is_unsigned(code, flags) else varint_bytes
        labels: Memo[str, bytes] = Memo(lambda label: integer_bytes(number(label)), _MAX_LABELS)

        def integer(value: Any) -> bytes:
            if type(value) is int and low <= value < high:
                return integer_bytes(value)
            return plainly(value)

        def label(value: Any) -> bytes:
            return labels[value] if type(value) is str else integer(value)

        write_single = _single if self._profile.float_size == 4 else _double

        def single(value: Any) -> bytes:
            if type(value) is float and narrow_float32(value) == value:
                return write_single(value)
            return plainly(value)

        def double(value: Any) -> bytes:
            return _double(value) if type(value) is float else plainly(value)

        def decimal(value: Any) -> bytes:
            return decimal_text(value).encode() if type(value) is Decimal else plainly(value)

        def raw(value: Any) -> bytes:
            return value if type(value) is bytes else plainly(value)

        writers: dict[str, _Write] = {
            "integer": integer,
            "label": label,
            "float": single,
            "double": double,
            "decimal": decimal,
            "text": str.encode,
            "bytes": raw,
            "characters": str.encode,
        }
        return writers.get(usual_form(column, code, flags), plainly)
