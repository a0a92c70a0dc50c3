"""Tests of a column of texts by its bytes: whether all are dates, or all numbers, of a usual shape.

They cost a fraction of a regular expression. A test that fails says nothing: the texts may be right
all the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from cdcwire.arrow.building import Numbers, offsets_of, windows_of
from cdcwire.model import kinds

_ZERO, _NINE, _MINUS, _POINT = b"09-."
_DATE = b"9999-19-39"  # the largest digit at each place
_CLOCK = b" 29:59:59"
_MONTH, _DAY, _HOUR = (5, 12), (8, 31), (11, 23)  # where the two digits are, and the largest number
_WHOLE_OF_A_FLOAT, _FRACTION_OF_A_FLOAT = 21, 30
_DIGITS_OF_A_DECIMAL = 128


def is_usual(kind: kinds.Type, cells: pa.Array) -> bool:
    """Return whether all texts are plainly values of a kind: texts that its pattern matches."""
    texts = _Texts.of(cells)
    if texts is None:
        return False
    match kind:
        case kinds.DateType():
            return texts.are_dates(_DATE)
        case kinds.DatetimeType(fraction) | kinds.TimestampType(fraction):
            return texts.are_dates(_DATE + _CLOCK + (b"." + b"9" * fraction if fraction else b""))
        case kinds.TimeType(fraction):
            return texts.are_times(b":59:59" + (b"." + b"9" * fraction if fraction else b""))
        case kinds.DecimalType(precision, scale):
            if precision is None:
                return texts.are_plain_numbers(_DIGITS_OF_A_DECIMAL, _DIGITS_OF_A_DECIMAL)
            return texts.are_plain_numbers(precision - (scale or 0), scale or 0)
        case kinds.FloatType():
            return texts.are_plain_numbers(_WHOLE_OF_A_FLOAT, _FRACTION_OF_A_FLOAT)
        case _:
            return False


@dataclass(frozen=True, slots=True)
class _Texts:
    """The bytes of texts one after the other, none empty, and where each begins and ends."""

    signs: Numbers
    starts: Numbers
    ends: Numbers

    @classmethod
    def of(cls, cells: pa.Array) -> _Texts | None:
        """Return the texts of a column; None without texts, or if a text is empty."""
        data = cells.buffers()[2]
        offsets = offsets_of(cells)
        starts, ends = offsets[:-1], offsets[1:]
        is_filled = starts < ends
        filled = np.count_nonzero(is_filled)
        if data is None or not filled or filled != len(cells) - cells.null_count:
            return None
        if cells.null_count:
            starts, ends = starts[is_filled], ends[is_filled]
        signs = np.frombuffer(data, np.uint8)[offsets[0] : offsets[-1]]
        return cls(signs, starts - offsets[0], ends - offsets[0])

    def are_dates(self, largest: bytes) -> bool:
        """Return whether all are dates, maybe with a time.

        ``largest``: the largest digit at each place, and the signs between the digits.
        """
        size = len(largest)
        if (self.ends - self.starts != size).any():
            return False
        table = self.signs.reshape(-1, size)
        if not _are_below(table, largest):
            return False
        for place, most in (_MONTH, _DAY, _HOUR):
            if place < size:
                tens, ones = table[:, place] - _ZERO, table[:, place + 1] - _ZERO
                if (tens * 10 + ones > most).any():
                    return False
        return True

    def are_times(self, largest: bytes) -> bool:
        """Return whether all are times of less than 800 hours. ``largest``: after the hours."""
        signs, starts, ends = self.signs, self.starts, self.ends
        is_minus = signs[starts] == _MINUS
        first, hours_end = starts + is_minus, ends - len(largest)
        hours = hours_end - first
        if hours.min() < 2 or hours.max() > 3:
            return False
        table = windows_of(signs, len(largest))[hours_end].view(np.uint8).reshape(-1, len(largest))
        digits = signs[first] - np.uint8(_ZERO)
        if not _are_below(table, largest) or ((hours == 3) & (digits - np.uint8(1) > 6)).any():
            return False
        others = len(starts) * sum(sign < _ZERO or sign > _NINE for sign in largest)
        return _digits(signs) + others + int(np.count_nonzero(is_minus)) == len(signs)

    def are_plain_numbers(self, whole: int, fraction: int) -> bool:
        """Return whether all are numbers without exponent, of these most digits on each side.

        A first digit 0 has the point or the end after it. There is a digit on each side of a point.
        """
        signs, starts, ends = self.signs, self.starts, self.ends
        points = np.flatnonzero(signs == _POINT)
        with_point: Any = slice(None)
        if len(points) != len(starts):
            with_point = np.searchsorted(ends, points, side="right")
            if (with_point[1:] == with_point[:-1]).any():
                return False
        is_minus = signs.take(starts) == _MINUS
        first = starts + is_minus
        stops = ends.copy()
        stops[with_point] = points
        before, after = stops - first, ends[with_point] - 1 - points
        # Where each text has a point, it is the text's own if it is within the text.
        if before.min() < 1 or before.max() > whole:
            return False
        if len(points) and (after.min() < 1 or after.max() > fraction):
            return False
        if ((signs.take(first) == _ZERO) & (before > 1)).any():
            return False
        return _digits(signs) + len(points) + int(np.count_nonzero(is_minus)) == len(signs)


def _are_below(table: Numbers, largest: bytes) -> bool:
    """Return whether each row has a digit up to the largest at its place, or the same sign."""
    high = np.frombuffer(largest, np.uint8)
    low = np.where((high >= _ZERO) & (high <= _NINE), np.uint8(_ZERO), high)
    return not (table - low > high - low).any()


def _digits(signs: Numbers) -> int:
    return int(np.count_nonzero(signs - np.uint8(_ZERO) <= _NINE - _ZERO))
