"""Batches of a Tuple topic read fast: one struct for the fixed part of all its records.

Unusual input is ``Irregular``: attributes, lengths that don't fit, values that a type does not
have. The plain reader says what it is.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from struct import Struct
from typing import Any, TypeAlias

from cdcwire.core.compiled import Irregular
from cdcwire.core.context import Compression
from cdcwire.core.json_strings import usual_base64
from cdcwire.datahub.compression import MAX_RAW_BYTES, inflate, open_lz4
from cdcwire.datahub.fields import MAX_STRING_BYTES, Field, FieldType, check_value, read_text
from cdcwire.datahub.frame import crc32c

Values: TypeAlias = "tuple[Any, ...]"

_HEADER = Struct("<4siIIIHI")
_PLACE = Struct("<ii")
_NO_ATTRIBUTES = bytes(4)
_RECORD = 16
_SLOTS: Mapping[FieldType, str] = {
    "TINYINT": "q",
    "SMALLINT": "q",
    "INTEGER": "q",
    "BIGINT": "q",
    "TIMESTAMP": "q",
    "FLOAT": "f4x",
    "DOUBLE": "d",
    "BOOLEAN": "B7x",
    "STRING": "8s",
    "DECIMAL": "8s",
}
_AS_THEY_ARE = ("BIGINT", "FLOAT", "DOUBLE")
_HEAD = 6  # encoding, version, total, attributes_at, count, bitmap


class BatchReader:
    """Reads the batches of one topic. ``base64``: the fields whose texts are read as bytes."""

    def __init__(
        self,
        fields: Sequence[Field],
        compressions: Mapping[str, Compression] | None = None,
        base64: Collection[int] = (),
    ) -> None:
        self.fields = tuple(fields)
        self.compressions = compressions or {}
        count = len(self.fields)
        bitmap_size = -(-count // 64) * 8
        slots = "".join(_SLOTS[field.type] for field in self.fields)
        self._fixed = Struct(f"<iiiii{bitmap_size}s{slots}")
        self._full = ((1 << count) - 1).to_bytes(bitmap_size, "little")
        texts = [index for index, field in enumerate(self.fields) if field.type == "STRING"]
        self._texts = [_HEAD + index for index in texts if index not in base64]
        self._base64 = [_HEAD + index for index in texts if index in base64]
        self._others: list[tuple[int, Callable[[Any], Any]]] = [
            (index, _checked(field.type))
            for index, field in enumerate(self.fields, _HEAD)
            if field.type not in (*_AS_THEY_ARE, "STRING", "DECIMAL")
        ]
        self._decimals = [
            index for index, field in enumerate(self.fields, _HEAD) if field.type == "DECIMAL"
        ]

    def read(self, batch: bytes | memoryview, limit: int = MAX_RAW_BYTES) -> list[Values]:
        """Return the values of the records. Raises: one of IRREGULARITIES."""
        data = bytes(batch)
        if len(data) < _HEADER.size:
            raise Irregular
        magic, version, total, raw_size, checksum, bits, count = _HEADER.unpack_from(data)
        packed = data[_HEADER.size :]
        if magic != b"DHUB" or version or total != len(data) or bits & ~3 != 8:
            raise Irregular
        if crc32c(packed) != checksum:
            raise Irregular
        kind = bits & 3
        if kind == 0:
            raw = packed
        elif kind == 2:
            raw = open_lz4(packed, raw_size, 0, self.compressions, limit)
        else:
            raw = inflate(packed, raw_size, 0, limit)
        if len(raw) != raw_size or count * (self._fixed.size + 4) > raw_size:
            raise Irregular
        return self._records(raw, count)

    def _records(self, raw: bytes, count: int) -> list[Values]:
        unpack, size = self._fixed.unpack_from, self._fixed.size
        wanted = (0, len(self.fields))
        found = []
        start = 0
        for _ in range(count):
            if start + size > len(raw):
                raise Irregular
            values = list(unpack(raw, start))
            encoding, _, total, attributes_at, field_count, bitmap = values[:_HEAD]
            end = start + total
            if (
                encoding
                or field_count not in wanted
                or end > len(raw)
                or attributes_at + 4 != total
                or attributes_at < size
                or raw[end - 4 : end] != _NO_ATTRIBUTES
            ):
                raise Irregular
            nulls = () if bitmap == self._full else self._nulls(bitmap, values)
            area, area_end = start + size, end - 4
            base = start + _RECORD
            for index in self._texts:
                slot = values[index]
                if slot is None:
                    continue
                last = slot[7]
                if last & 0x80:
                    if last > 0x87:
                        raise Irregular
                    values[index] = slot[: last & 7].decode()
                else:
                    values[index] = _long(raw, slot, base, area, area_end).decode()
            for index in self._base64:
                slot = values[index]
                if slot is not None:
                    last = slot[7]
                    if last > 0x87:
                        raise Irregular
                    inline = last & 0x80
                    text = slot[: last & 7] if inline else _long(raw, slot, base, area, area_end)
                    values[index] = usual_base64(text.decode())
            for index in self._decimals:
                slot = values[index]
                if slot is not None:
                    last = slot[7]
                    if last > 0x87:
                        raise Irregular
                    inline = last & 0x80
                    text = slot[: last & 7] if inline else _long(raw, slot, base, area, area_end)
                    values[index] = read_text("DECIMAL", text, 0)
            for index, convert in self._others:
                if values[index] is not None:
                    values[index] = convert(values[index])
            for index in nulls:
                if not self.fields[index].nullable:
                    raise Irregular
            found.append(tuple(values[_HEAD:]))
            start = end
        if start != len(raw):
            raise Irregular
        return found

    def _nulls(self, bitmap: bytes, values: list[Any]) -> list[int]:
        bits = int.from_bytes(bitmap, "little")
        nulls = [index for index in range(len(self.fields)) if not bits >> index & 1]
        for index in nulls:
            values[_HEAD + index] = None
        return nulls


def _long(raw: bytes, slot: bytes, base: int, area: int, area_end: int) -> bytes:
    size, offset = _PLACE.unpack(slot)
    start = base + offset
    if not area <= start <= start + size <= area_end or not 0 <= size <= MAX_STRING_BYTES:
        raise Irregular
    return raw[start : start + size]


def _checked(type_: FieldType) -> Callable[[Any], Any]:
    def check(value: Any) -> Any:
        if check_value(type_, value):
            raise Irregular
        return value

    def read_boolean(value: int) -> bool:
        if value > 1:
            raise Irregular
        return value == 1

    return read_boolean if type_ == "BOOLEAN" else check
