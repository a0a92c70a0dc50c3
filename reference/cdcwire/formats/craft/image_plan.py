"""Plans of row images for the fast encoder: names, types, and one function per column.

The functions give the bytes of values, or None for NULL. Anything but a usual value of a usual
column is encoded as the plain encoder does.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeAlias

from cdcwire.core.caches import Memo
from cdcwire.core.compiled import Irregular
from cdcwire.core.compiled.varint_bytes import LENGTHS, uvarint_array, uvarint_bytes, varint_bytes
from cdcwire.formats.craft.columns import NULL_LENGTH
from cdcwire.formats.craft.images import ColumnWriter, estimated_size
from cdcwire.formats.craft.message import Column as WireColumn
from cdcwire.formats.craft.profile import Profile
from cdcwire.formats.craft.settings import Settings
from cdcwire.formats.craft.values import encode_value
from cdcwire.model.events import Table
from cdcwire.model.floats import narrow_float32
from cdcwire.model.kinds import Column, Value
from cdcwire.mysql.images import Prepared
from cdcwire.mysql.types import FLAG_HANDLE_KEY, is_unsigned
from cdcwire.mysql.usual import decimal_text, integer_range, number_of_label, usual_form
from cdcwire.mysql.values import wire_value

_Write: TypeAlias = "Callable[[Any], bytes]"

_MAX_LABELS = 256  # of one column
_MAX_CODE = 255


_NULL_SIZE = varint_bytes(NULL_LENGTH)
_single = struct.Struct("<f").pack
_double = struct.Struct("<d").pack


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
