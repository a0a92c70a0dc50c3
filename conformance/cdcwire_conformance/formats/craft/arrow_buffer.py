"""Bytes that are read with numpy, at many places at once.

A place outside the bytes raises IndexError, as with any array; the caller must know what the bytes
mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from cdcwire.arrow.column_decoders import Irregular

Numbers: TypeAlias = Any  # a numpy array; numpy's own types say less than they cost to write

PADDING = bytes(1 << 12)  # so that what is read in one piece may reach beyond the end
_WORD = 8
_MAX_VARINT_BYTES = 10
_LOW = 0x7F

# By the bytes of a varint that are in a word: which bits it has, and those that say "more follows".
_BITS = np.array([(1 << 8 * min(size, 8)) - 1 for size in range(11)], np.uint64)
_MORE = np.array(
    [sum(0x80 << 8 * place for place in range(min(size - 1, 8))) for size in range(11)], np.uint64
)
_ALL_MORE = np.uint64(0x8080808080808080)
# Seven bits of each byte are moved together: by pairs of bytes, then of these, then of those.
_FOLDS = (
    (np.uint64(0x007F007F007F007F), np.uint64(0x7F007F007F007F00), np.uint64(1)),
    (np.uint64(0x00003FFF00003FFF), np.uint64(0x3FFF00003FFF0000), np.uint64(2)),
    (np.uint64(0x000000000FFFFFFF), np.uint64(0x0FFFFFFF00000000), np.uint64(4)),
)


class Buffer:
    """Parts, put together. ``size`` is that of the parts; zeros follow it."""

    def __init__(self, parts: Sequence[bytes]) -> None:
        self.data = b"".join([*parts, PADDING])
        self.size = len(self.data) - len(PADDING)
        self.raw = np.frombuffer(self.data, np.uint8)

    def pieces(self, starts: Numbers, size: int) -> Numbers:
        """Return the given number of bytes from each place on, as the rows of a matrix."""
        return self._gathered(starts, size).view(np.uint8).reshape(len(starts), size)

    def words(self, starts: Numbers) -> Numbers:
        """Return the eight bytes from each place on, the first as the lowest."""
        return self._gathered(starts, _WORD).view("<u8")

    def _gathered(self, starts: Numbers, size: int) -> Numbers:
        count = max(len(self.data) - size + 1, 0)
        return np.ndarray((count,), f"V{size}", self.data, strides=(1,))[starts]

    def uvarints(self, starts: Numbers, sizes: Numbers) -> Numbers:
        """Return the uvarints of these sizes, each checked to end there; 0 for size 0.

        Raises: Irregular.
        """
        longest = int(sizes.max()) if len(sizes) else 0
        if longest > _MAX_VARINT_BYTES:
            raise Irregular
        if longest < 2:
            byte = np.where(sizes == 1, self.raw[starts], 0)
            if (byte > _LOW).any():
                raise Irregular
            return byte.astype(np.uint64)
        words = self.words(starts) & _BITS[sizes]
        if ((words & _ALL_MORE) != _MORE[sizes]).any():
            raise Irregular
        words &= ~_ALL_MORE
        for low, high, shift in _FOLDS:
            words = (words & low) | ((words & high) >> shift)
        for place in range(_WORD, longest):
            here = np.flatnonzero(sizes > place)
            byte = self.raw[starts[here] + place]
            is_last = sizes[here] == place + 1
            most = 1 if place == _MAX_VARINT_BYTES - 1 else _LOW
            if ((byte <= _LOW) != is_last).any() or (byte[is_last] > most).any():
                raise Irregular
            words[here] |= (byte & _LOW).astype(np.uint64) << np.uint64(7 * place)
        return words


class Varints:
    """All uvarints of parts; none continues in the next part.

    ``firsts``: the index of each part's first number; ``counts``: how many it has.
    Raises: Irregular.
    """

    def __init__(self, parts: Sequence[bytes]) -> None:
        buffer = Buffer(parts)
        ends = np.flatnonzero(buffer.raw[: buffer.size] <= _LOW)
        starts = np.zeros(len(ends), np.int64)
        starts[1:] = ends[:-1] + 1
        self.values = buffer.uvarints(starts, ends - starts + 1)
        borders = np.cumsum([0, *map(len, parts)])
        if buffer.size and (not len(ends) or ends[-1] != buffer.size - 1):
            raise Irregular
        index = np.searchsorted(ends, borders)
        self.firsts, self.counts = index[:-1], np.diff(index)


def zigzag(values: Numbers) -> Numbers:
    """Return unsigned numbers as the signed ones that they stand for."""
    return (values >> np.uint64(1)).astype(np.int64) ^ -((values & np.uint64(1)).astype(np.int64))


def within(counts: Numbers) -> Numbers:
    """Return, for each count N, the numbers from 0 to N - 1, one run after another."""
    ends = np.cumsum(counts)
    return np.arange(int(ends[-1]) if len(ends) else 0) - np.repeat(ends - counts, counts)


def running_sums(values: Numbers, counts: Numbers) -> Numbers:
    """Return the sums of values up to each, begun anew for each count (no count is 0)."""
    firsts = np.cumsum(counts) - counts
    sums = np.cumsum(values, dtype=values.dtype)
    return sums - np.repeat(sums[firsts] - values[firsts], counts)
