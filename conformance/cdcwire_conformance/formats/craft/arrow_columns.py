"""Craft messages to Arrow, many rows at once and column by column, without a Python object a value.

Rows of one layout have their values in one order. The buffer of many messages is read with numpy:
all lengths of all rows, then the numbers of a column of all rows. Arrow cuts text and binary
columns from the buffer. This module checks what the fast decoder checks. Any doubt raises
Irregular; the rows are then read one by one, which gives the rows or the error with its place.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from cdcwire.arrow.column_decoders import Irregular
from cdcwire.model import kinds
from cdcwire.model.kinds import Column
from cdcwire_conformance.formats.craft.arrow_buffer import Buffer, Numbers, zigzag

_TEXTS = (
    kinds.DecimalType,
    kinds.DateType,
    kinds.TimeType,
    kinds.DatetimeType,
    kinds.TimestampType,
    kinds.JsonType,
)
_LOW = 0x7F
_MORE_BYTES = 16  # of lengths beyond one byte and a half a column
_MAX_LENGTH_BYTES = 5  # a length that needs more is longer than any message
_DOUBLE_BYTES = 8
_MAX_BUFFER = 1 << 30  # Arrow's offsets have 32 bits


@dataclass(frozen=True, slots=True)
class _Places:
    """A column of all rows: where its values begin and how long they are; -1 is NULL."""

    starts: Numbers
    sizes: Numbers
    is_null: Numbers


_Read: TypeAlias = "Callable[[Cells, int], pa.Array]"


def has_columns(columns: tuple[Column, ...]) -> bool:
    """Return whether all columns have kinds that are read here."""
    return all(_reader_of(column.type) is not None for column in columns)


class Cells:
    """The cells of rows of one layout, in the bytes of many messages.

    The lengths and values of each row are between ``starts`` and ``ends``; rows are in the order of
    the bytes. They are the rows ``own`` of the ``rows`` that arrays are to have; the others are
    NULL. Raises: Irregular.
    """

    def __init__(
        self,
        buffer: Buffer,
        starts: Numbers,
        ends: Numbers,
        columns: tuple[Column, ...],
        own: Numbers,
        rows: int,
    ) -> None:
        if len(buffer.data) > _MAX_BUFFER:
            raise Irregular
        self.buffer = buffer
        self.rows = len(starts)
        self.columns = columns
        self.own = None if len(own) == rows else own
        self.all_rows = rows
        self.count = len(columns)
        try:
            self._read_lengths(starts, ends)
        except IndexError as error:
            raise Irregular from error
        self._texts: dict[int, pa.Array] = {}

    def column(self, index: int) -> pa.Array:
        """Return a column in the form that rows have it; text as bytes if its kind is text.

        Raises: Irregular.
        """
        read = _reader_of(self.columns[index].type)
        if read is None:
            raise Irregular
        try:
            return read(self, index)
        except (pa.ArrowInvalid, IndexError) as error:
            raise Irregular from error

    def _read_lengths(self, starts: Numbers, ends: Numbers) -> None:
        coded = self.buffer.pieces(starts, self.count).T.astype(np.int64)
        values_start = starts + self.count
        long = np.flatnonzero((coded > _LOW).any(axis=0))
        if len(long):
            coded[:, long], values_start[long] = self._long_lengths(starts[long])
        self.nulls = coded & 1 == 1
        if (self.nulls & (coded != 1)).any():
            raise Irregular
        self.sizes = coded >> 1
        borders = np.empty((self.count + 1, self.rows), np.int64)
        borders[0] = values_start
        borders[1:] = self.sizes
        self.borders = np.cumsum(borders, axis=0, out=borders)
        if not np.array_equal(self.borders[-1], ends):
            raise Irregular

    def _long_lengths(self, starts: Numbers) -> tuple[Numbers, Numbers]:
        """Return the lengths of rows in which some take several bytes, and where these end."""
        rows = len(starts)
        for width in (self.count + self.count // 2 + _MORE_BYTES, self.count * _MAX_LENGTH_BYTES):
            pieces = self.buffer.pieces(starts, width)
            is_end = pieces <= _LOW
            is_end &= np.cumsum(is_end, axis=1, dtype=np.int16) <= self.count
            ends: Numbers = np.flatnonzero(is_end)
            if len(ends) == rows * self.count:
                break
        else:
            raise Irregular
        ends = ends.reshape(rows, self.count)
        begins = np.empty_like(ends)
        begins[:, 0] = np.arange(rows) * width
        begins[:, 1:] = ends[:, :-1] + 1
        raw = pieces.reshape(-1)
        coded = raw[begins].astype(np.int64)
        sizes = ends - begins
        for place in range(1, int(sizes.max()) + 1):
            if place == _MAX_LENGTH_BYTES:
                raise Irregular
            here = np.nonzero(sizes >= place)
            coded[here] += (raw[begins[here] + place].astype(np.int64) - 1) << 7 * place
        return coded.T, starts + (ends[:, -1] + 1 - begins[:, 0])

    def _places(self, index: int) -> _Places:
        return _Places(self.borders[index], self.sizes[index], self.nulls[index])

    def unsigned(self, index: int) -> Numbers:
        """Return the uvarints that fill the cells of a column; 0 for NULL. Raises: Irregular."""
        cells = self._places(index)
        if (cells.is_null != (cells.sizes == 0)).any():
            raise Irregular
        return self.buffer.uvarints(cells.starts, cells.sizes)

    def signed(self, index: int) -> Numbers:
        """Return the signed varints of a column's cells; 0 for NULL. Raises: Irregular."""
        return zigzag(self.unsigned(index))

    def doubles(self, index: int) -> Numbers:
        """Return the doubles of a column's cells; 0.0 for NULL. Raises: Irregular."""
        cells = self._places(index)
        is_there = ~cells.is_null
        if (cells.sizes[is_there] != _DOUBLE_BYTES).any():
            raise Irregular
        return np.where(is_there, self.buffer.words(cells.starts).view("<f8"), 0.0)

    def binary(self, index: int) -> pa.Array:
        """Return a column's bytes, cut from the buffer by Arrow."""
        if not self._texts:
            self._texts = self._read_texts()
        return self._texts[index]

    def _read_texts(self) -> dict[int, pa.Array]:
        """Return all columns of texts and bytes, which Arrow cuts in one step."""
        # One element per cell, and one per row for the bytes between it and the next.
        width = self.count + 1
        offsets = np.empty(self.rows * width + 1, np.int32)
        offsets[:-1].reshape(self.rows, width)[:] = self.borders.T
        offsets[-1] = self.buffer.size
        buffers = [None, pa.py_buffer(offsets), pa.py_buffer(self.buffer.data)]
        cells = pa.BinaryArray.from_buffers(pa.binary(), len(offsets) - 1, buffers)
        texts = [
            index
            for index, column in enumerate(self.columns)
            if _reader_of(column.type) in (_read_text, _read_bytes)
        ]
        shape = len(texts), self.all_rows
        own = slice(None) if self.own is None else self.own
        chosen, is_null = np.zeros(shape, np.int64), np.ones(shape, np.bool_)
        chosen[:, own] = np.arange(self.rows) * width + np.array(texts)[:, np.newaxis]
        is_null[:, own] = self.nulls[texts]
        places = pa.array(chosen.reshape(-1), mask=is_null.reshape(-1))
        taken = cells.take(places)
        return {
            index: taken.slice(place * self.all_rows, self.all_rows)
            for place, index in enumerate(texts)
        }

    def array(self, index: int, values: Numbers, kind: pa.DataType) -> pa.Array:
        """Return the values of a column's rows as an array of all rows."""
        is_null = self.nulls[index]
        if self.own is not None:
            spread = np.zeros(self.all_rows, values.dtype)
            spread[self.own] = values
            values = spread
            spread_null = np.ones(self.all_rows, np.bool_)
            spread_null[self.own] = is_null
            is_null = spread_null
        return pa.array(values, kind, mask=is_null if is_null.any() else None, from_pandas=False)


def _read_signed(cells: Cells, index: int) -> pa.Array:
    return cells.array(index, cells.signed(index), pa.int64())


def _read_unsigned(cells: Cells, index: int) -> pa.Array:
    return cells.array(index, cells.unsigned(index), pa.uint64())


def _read_double(cells: Cells, index: int) -> pa.Array:
    return cells.array(index, cells.doubles(index), pa.float64())


def _read_float(cells: Cells, index: int) -> pa.Array:
    values = cells.doubles(index)
    with np.errstate(over="ignore", invalid="ignore"):
        narrow = values.astype(np.float32)
    if (np.isinf(narrow) & ~np.isinf(values)).any():
        raise Irregular
    return cells.array(index, narrow, pa.float32())


def _read_text(cells: Cells, index: int) -> pa.Array:
    return cells.binary(index).cast(pa.string())  # which checks that it is UTF-8


def _read_bytes(cells: Cells, index: int) -> pa.Array:
    return cells.binary(index)


def _reader_of(kind: kinds.Type) -> _Read | None:
    match kind:
        case kinds.IntType(unsigned=is_unsigned):
            return _read_unsigned if is_unsigned else _read_signed
        case kinds.YearType():
            return _read_signed
        case kinds.BitType() | kinds.EnumType() | kinds.SetType():
            return _read_unsigned
        case kinds.FloatType(bits):
            return _read_float if bits == 32 else _read_double
        case kinds.TextType() | kinds.BytesType():
            return _read_bytes
        case _:
            return _read_text if isinstance(kind, _TEXTS) else None
