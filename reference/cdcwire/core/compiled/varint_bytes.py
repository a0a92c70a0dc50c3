"""Varints for fast encoders: two groups of seven bits at a time, by table.

The tables have at most 2**14 entries and are filled as numbers come.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

_PAIR = 14  # bits of two bytes
_MASK = (1 << _PAIR) - 1


class _Last(dict[int, bytes]):
    """The last one or two bytes of a varint."""

    def __missing__(self, bits: int) -> bytes:
        raw = bytes((bits,)) if bits < 0x80 else bytes((bits & 0x7F | 0x80, bits >> 7))
        self[bits] = raw
        return raw


class _More(dict[int, bytes]):
    """Two bytes of a varint that has more."""

    def __missing__(self, bits: int) -> bytes:
        raw = self[bits] = bytes((bits & 0x7F | 0x80, bits >> 7 | 0x80))
        return raw


_LAST = _Last()
_MORE = _More()


def uvarint_bytes(value: int) -> bytes:
    """Return the shortest unsigned varint. Raises: ValueError outside [0, 2**64)."""
    if value < 1 << 14:
        return _LAST[value]
    if value < 1 << 28:
        return _MORE[value & _MASK] + _LAST[value >> 14]
    if value < 1 << 42:
        return _MORE[value & _MASK] + _MORE[value >> 14 & _MASK] + _LAST[value >> 28]
    if value >= 1 << 64:
        raise ValueError(value)
    low = _MORE[value & _MASK] + _MORE[value >> 14 & _MASK] + _MORE[value >> 28 & _MASK]
    if value < 1 << 56:
        return low + _LAST[value >> 42]
    return low + _MORE[value >> 42 & _MASK] + _LAST[value >> 56]


def varint_bytes(value: int) -> bytes:
    """Return the shortest zigzag varint. Raises: ValueError outside [-2**63, 2**63)."""
    return uvarint_bytes(value << 1 if value >= 0 else (~value << 1) | 1)


class _Lengths(dict[int, bytes]):
    """Zigzag varints of lengths; the short ones are kept."""

    def __missing__(self, length: int) -> bytes:
        raw = varint_bytes(length)
        if length < 1 << 12:
            self[length] = raw
        return raw


LENGTHS = _Lengths()
"""``LENGTHS[length]`` is the zigzag varint of a length."""


def uvarint_array(values: Sequence[int]) -> bytes:
    """Return unsigned varints, one after the other. Raises: ValueError."""
    if max(values, default=0) < 0x80:
        return bytes(values)
    return b"".join(map(uvarint_bytes, values))


def varint_array(values: Iterable[int]) -> bytes:
    """Return zigzag varints, one after the other. Raises: ValueError."""
    return uvarint_array([value << 1 if value >= 0 else (~value << 1) | 1 for value in values])


def deltas(values: Sequence[int]) -> list[int]:
    """Return the first value, and of each other one the difference to the one before it."""
    return [value - before for value, before in zip(values, (0, *values), strict=False)]
