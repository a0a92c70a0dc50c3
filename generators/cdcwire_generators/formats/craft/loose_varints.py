"""Varints that are sometimes longer than needed: readers accept them, no producer writes them.

They share nothing with the codecs, so that a fault in an encoder can't hide the same fault in its
decoder.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable

from hypothesis import strategies as st

from cdcwire.formats.craft.message import Column

_MAX_BYTES = 9  # a tenth byte would be legal too, for numbers of 64 bits only


class LooseVarints:
    """Renders the primitives of both Craft formats; ``draw`` decides how long a varint gets."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw

    def uvarint(self, number: int) -> bytes:
        """Render a uvarint, sometimes with needless groups of zeros at its end."""
        groups = [number & 0x7F]
        while number := number >> 7:
            groups.append(number & 0x7F)
        if len(groups) < _MAX_BYTES and self.draw(st.integers(0, 7)) == 7:
            groups += [0] * self.draw(st.integers(1, _MAX_BYTES - len(groups)))
        return bytes(group | 0x80 for group in groups[:-1]) + bytes(groups[-1:])

    def varint(self, number: int) -> bytes:
        """Render a zigzag varint."""
        return self.uvarint((number << 1) ^ (number >> 63))

    def uvarints(self, numbers: Iterable[int]) -> bytes:
        """Render an array of uvarints."""
        return b"".join(map(self.uvarint, numbers))

    def varints(self, numbers: Iterable[int]) -> bytes:
        """Render an array of zigzag varints."""
        return b"".join(map(self.varint, numbers))

    def delta_uvarints(self, numbers: Iterable[int]) -> bytes:
        """Render a base value and differences as uvarints."""
        return self.uvarints(_differences(numbers))

    def delta_varints(self, numbers: Iterable[int]) -> bytes:
        """Render a base value and differences as zigzag varints."""
        return self.varints(
            step - (1 << 64) if step >> 63 else step for step in _differences(numbers)
        )

    def strings(self, texts: Iterable[str]) -> bytes:
        """Render an array of strings: all lengths, then all bytes."""
        raw = [text.encode() for text in texts]
        return self.uvarints(map(len, raw)) + b"".join(raw)

    def values(self, columns: Iterable[Column], *, float_format: str) -> bytes:
        """Render the nullable bytes of a group. ``float_format``: how ``struct`` packs a FLOAT."""
        raw = [self._value(column, float_format) for column in columns]
        lengths = self.varints(-1 if value is None else len(value) for value in raw)
        return lengths + b"".join(value or b"" for value in raw)

    def _value(self, column: Column, float_format: str) -> bytes | None:
        value = column.value
        match value:
            case bytes():
                return value
            case str():
                return value.encode()
            case float():
                return struct.pack(float_format if column.type == 4 else "<d", value)
            case int():
                is_plain = column.type in (16, 247, 248)
                is_plain |= column.type in (1, 2, 3, 8, 9) and bool(column.flags & 0x80)
                return self.uvarint(value) if is_plain else self.varint(value)
            case _:
                assert value is None
                return None


def _differences(numbers: Iterable[int]) -> Iterable[int]:
    """Give the first number and each step to the next one, modulo 2**64."""
    previous = 0
    for number in numbers:
        yield (number - previous) % (1 << 64)
        previous = number
