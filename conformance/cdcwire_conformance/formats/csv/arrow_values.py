"""Columns of CSV files as Arrow arrays in the wire's own types, checked as the plain reader does.

A column's texts are checked by one regular expression for all, by the range of all numbers, or by
reading each distinct text once. A value that is not plainly right raises Irregular. Tests of the
bytes of all texts cost a fraction of a regular expression.
"""

from __future__ import annotations

import re
from binascii import a2b_base64
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cdcwire.arrow.building import Numbers, offsets_of, validity_of, windows_of
from cdcwire.arrow.column_decoders import Irregular
from cdcwire.formats.csv.values import ColumnCodec
from cdcwire.model import kinds
from cdcwire.mysql.value_texts import FIRST_YEAR, LAST_YEAR, integer_range, pattern

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


Convert: TypeAlias = Callable[[pa.Array], pa.Array]

FLOAT = r"-?(?:0|[1-9][0-9]{0,20})(?:\.[0-9]{1,30})?(?:e[+-][0-9]{2,3})?"
_LOOKAHEAD = "(?!"
_MOST_DISTINCT = 1 << 12
_PAD = ord("=")


def can_convert(codec: ColumnCodec) -> bool:
    """Return whether columns of this kind are read here."""
    return _converter(codec.kind, codec) is not None


def converter_of(codec: ColumnCodec) -> Convert:
    """Return what checks a column's cells, and gives them in the wire's own type.

    The function raises Irregular.
    """
    found = _converter(codec.kind, codec)
    assert found is not None

    def convert(cells: pa.Array) -> pa.Array:
        try:
            return found(cells)
        except (pa.ArrowException, ValueError) as error:
            raise Irregular from error

    return convert


def _converter(kind: kinds.Type, codec: ColumnCodec) -> Convert | None:
    match kind:
        case kinds.IntType() | kinds.BitType():
            low, high = integer_range(kind)
            return lambda cells: _in_range(cells, low, high)
        case kinds.YearType():
            return _years
        case kinds.FloatType(bits):
            target = pa.float32() if bits == 32 else pa.float64()
            return lambda cells: _floats(cells, kind, target)
        case (
            kinds.DecimalType()
            | kinds.DateType()
            | kinds.TimeType()
            | kinds.DatetimeType()
            | kinds.TimestampType()
        ):
            matching = _matching(pattern(kind))
            return lambda cells: _as_texts(cells) if is_usual(kind, cells) else matching(cells)
        case kinds.TextType():
            return lambda cells: cells
        case kinds.JsonType():
            return _jsons
        case kinds.BytesType():
            return _from_hex if codec.settings.binary_encoding == "hex" else _from_base64
        case kinds.EnumType() | kinds.SetType():
            return lambda cells: _distinct(cells, codec).cast(pa.string())
        case _:
            return None


def _in_range(cells: pa.Array, low: int, high: int) -> pa.Array:
    ends = pc.min_max(cells)
    least, largest = ends["min"].as_py(), ends["max"].as_py()
    if least is not None and not low <= least <= largest < high:
        raise Irregular
    return cells


def _years(cells: pa.Array) -> pa.Array:
    years = cells.fill_null(0).to_numpy()
    if ((years != 0) & ((years < FIRST_YEAR) | (years > LAST_YEAR))).any():
        raise Irregular
    return cells


def _distinct(cells: pa.Array, codec: ColumnCodec) -> pa.Array:
    """Return the cells, after the plain reader has read each distinct one."""
    distinct = cells.unique()
    if len(distinct) > _MOST_DISTINCT:
        raise Irregular
    for cell in distinct.to_pylist():
        if cell is not None:
            codec.read_text(cell if isinstance(cell, bytes) else str(cell).encode())
    return cells


def _floats(cells: pa.Array, kind: kinds.FloatType, target: pa.DataType) -> pa.Array:
    texts = _as_texts(cells)
    if not is_usual(kind, cells):
        _expect(texts, FLOAT)
    found = texts.cast(target)
    if pc.any(pc.is_inf(found)).as_py():
        raise Irregular
    return found


@lru_cache(maxsize=256)
def _matching(expression: str) -> Convert:
    """Return a test for texts that match in full; a lookahead at the start is tested separately.

    Arrow's regular expressions have none.
    """
    refused = None
    if expression.startswith(_LOOKAHEAD):
        end = _closing(expression)
        refused = f"^(?:{expression[len(_LOOKAHEAD) : end]})"
        expression = expression[end + 1 :]

    def convert(cells: pa.Array) -> pa.Array:
        texts = _as_texts(cells)
        _expect(texts, expression)
        if refused is not None and pc.any(pc.match_substring_regex(texts, refused)).as_py():
            raise Irregular
        return texts

    return convert


def _as_texts(cells: pa.Array) -> pa.Array:
    return cells.cast(pa.string())


def _closing(expression: str) -> int:
    """Return where the parenthesis ends that a pattern begins with."""
    depth = 0
    for found in re.finditer(r"\\.|\[\^?\]?[^\]]*\]|[()]", expression):
        depth += (found[0] == "(") - (found[0] == ")")
        if depth == 0:
            return found.start()
    raise ValueError(expression)


def _expect(texts: pa.Array, expression: str) -> None:
    """Check that each text matches an expression as a whole. Raises: Irregular."""
    if pc.all(pc.match_substring_regex(texts, rf"\A(?:{expression})\z")).as_py() is False:
        raise Irregular


def _jsons(cells: pa.Array) -> pa.Array:
    if pc.any(pc.equal(pc.binary_length(cells), 0)).as_py():
        raise Irregular
    return cells.cast(pa.string())


def _from_hex(cells: pa.Array) -> pa.Array:
    values = [
        None if cell is None else bytes.fromhex(cell.decode("ascii")) for cell in cells.to_pylist()
    ]
    found = pa.array(values, pa.binary())
    written = [None if value is None else value.hex().encode() for value in values]
    if not pa.array(written, pa.binary()).equals(cells):
        raise Irregular
    return found


def _from_base64(cells: pa.Array) -> pa.Array:
    """Return what base64 says, of all cells at once: each has whole groups of four signs."""
    rows = len(cells)
    offsets, data = offsets_of(cells), cells.buffers()[2]
    if data is None or offsets[0] == offsets[-1]:
        return cells
    lengths = np.diff(offsets)
    if (lengths & 3).any():
        raise Irregular
    text = memoryview(data)[offsets[0] : offsets[-1]].tobytes()
    # Only the last or the last two signs of a cell may be padding. It is read as the digit 0.
    signs, ends = np.frombuffer(text, np.uint8), offsets[1:] - offsets[0]
    is_padded = (signs.take(ends - 1) == _PAD) & (lengths > 0)
    is_padded_twice = is_padded & (signs.take(ends - 2) == _PAD)
    padding = is_padded.astype(np.int32) + is_padded_twice
    octets = a2b_base64(text.replace(b"=", b"A"))
    # The parser skips what is not a digit.
    if len(octets) != len(text) // 4 * 3 or np.count_nonzero(signs == _PAD) != padding.sum():
        raise Irregular
    found = np.frombuffer(octets, np.uint8)
    whole = (ends >> 2) * 3
    for is_filler, places in ((is_padded, whole - 1), (is_padded_twice, whole - 2)):
        if (is_filler & (found.take(places) != 0)).any():
            raise Irregular  # bits that stand for nothing are not 0
    # Each value has its own bytes, and those of its padding as an element after it.
    borders = np.zeros(2 * rows + 1, np.int32)
    borders[1::2], borders[2::2] = whole - padding, whole
    parts = pa.Array.from_buffers(
        pa.binary(), 2 * rows, [None, pa.py_buffer(borders), pa.py_buffer(octets)]
    )
    is_valid = validity_of(cells)
    return parts.take(pa.array(2 * np.arange(rows), mask=None if is_valid is None else ~is_valid))
