"""Craft messages to Arrow, many rows at once and column by column, without a Python object a value.

Rows of one layout have their values in one order. The buffer of many messages is read with numpy:
the lengths of a column of all rows, then the next column's. Numbers are put together byte by byte
for all rows; text and binary columns are cut from the buffer by Arrow. What the fast decoder checks
is checked here too: any doubt raises Irregular, and the rows are then read one by one, which
gives the rows or the error with its place.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from cdcwire.model.events import Column
from cdcwire.model.kinds import (
    BitType,
    BytesType,
    DatetimeType,
    DateType,
    DecimalType,
    EnumType,
    FloatType,
    IntType,
    JsonType,
    SetType,
    TextType,
    TimestampType,
    TimeType,
    Type,
    YearType,
)

Numbers: TypeAlias = Any  # a numpy array; numpy's own types say less than they cost to write

_TEXTS = (DecimalType, DateType, TimeType, DatetimeType, TimestampType, JsonType)
_MAX_VARINT_BYTES = 10
_MAX_BUFFER = 1 << 30  # Arrow's offsets have 32 bits


class Irregular(Exception):
    """The rows are not as usual; they may be good or bad."""


@dataclass(frozen=True, slots=True)
class _Places:
    """A column of all rows: where its values begin and how long they are; -1 is NULL."""

    starts: Numbers
    sizes: Numbers
    is_null: Numbers


_Read: TypeAlias = "Callable[[Cells, int], pa.Array]"


def has_columns(columns: tuple[Column, ...]) -> bool:
    """Return whether all columns are of kinds that are read here."""
    return all(_reader_of(column.type) is not None for column in columns)


class Cells:
    """The cells of rows of one layout, in the bytes of many messages.

    The lengths and values of each row stand from ``starts`` to ``ends``. They are the rows ``own``
    of the ``rows`` that arrays are to have; the others are NULL. Raises: Irregular.
    """

    def __init__(
        self,
        data: bytes,
        starts: Numbers,
        ends: Numbers,
        columns: tuple[Column, ...],
        own: Numbers,
        rows: int,
    ) -> None:
        if len(data) > _MAX_BUFFER:
            raise Irregular
        self.data = data
        self.raw = np.frombuffer(data, np.uint8)
        self.rows = len(starts)
        self.columns = columns
        self.own = None if len(own) == rows else own
        self.all_rows = rows
        self.count = len(columns)
        try:
            self._read_lengths(starts, ends)
        except IndexError as error:
            raise Irregular from error
        self._texts: pa.Array | None = None

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
        position = starts.copy()
        sizes, nulls = [], []
        for _ in range(self.count):
            coded, position = self._uvarints(position)
            is_null = (coded & 1) == 1
            if (is_null & (coded != 1)).any():
                raise Irregular
            size = (coded >> 1).astype(np.int64)
            if size.size and int(size.max()) > len(self.raw):
                raise Irregular
            sizes.append(size)
            nulls.append(is_null)
        borders = [position]
        for size in sizes:
            borders.append(borders[-1] + size)
        if not np.array_equal(borders[-1], ends):
            raise Irregular
        self.sizes, self.nulls, self.borders = sizes, nulls, borders

    def _uvarints(self, position: Numbers) -> tuple[Numbers, Numbers]:
        """Return the uvarint at each position, and the positions behind them."""
        byte = self.raw[position]
        value = (byte & 0x7F).astype(np.uint64)
        position = position + 1
        more = np.flatnonzero(byte > 0x7F)
        shift = 7
        while more.size:
            if shift > 28:  # a length that needs more is longer than any message
                raise Irregular
            byte = self.raw[position[more]]
            value[more] |= (byte & 0x7F).astype(np.uint64) << np.uint64(shift)
            position[more] += 1
            more = more[byte > 0x7F]
            shift += 7
        return value, position

    def _places(self, index: int) -> _Places:
        return _Places(self.borders[index], self.sizes[index], self.nulls[index])

    def unsigned(self, index: int) -> Numbers:
        """Return the uvarints that fill the cells of a column; 0 for NULL. Raises: Irregular."""
        cells = self._places(index)
        sizes = cells.sizes
        longest = int(sizes.max()) if sizes.size else 0
        if longest > _MAX_VARINT_BYTES or (cells.is_null != (sizes == 0)).any():
            raise Irregular
        value = np.zeros(self.rows, np.uint64)
        for place in range(longest):
            here = np.flatnonzero(sizes > place)
            byte = self.raw[cells.starts[here] + place]
            is_last = sizes[here] == place + 1
            if ((byte < 0x80) != is_last).any():
                raise Irregular
            if place == _MAX_VARINT_BYTES - 1 and (byte > 1).any():
                raise Irregular
            value[here] |= (byte & 0x7F).astype(np.uint64) << np.uint64(7 * place)
        return value

    def signed(self, index: int) -> Numbers:
        value = self.unsigned(index)
        return (value >> np.uint64(1)).astype(np.int64) ^ -((value & np.uint64(1)).astype(np.int64))

    def doubles(self, index: int) -> Numbers:
        cells = self._places(index)
        if (cells.sizes[~cells.is_null] != 8).any():
            raise Irregular
        here = np.flatnonzero(~cells.is_null)
        eight = self.raw[cells.starts[here][:, None] + np.arange(8)]
        value = np.zeros(self.rows, np.float64)
        value[here] = eight.view("<f8")[:, 0]
        return value

    def binary(self, index: int) -> pa.Array:
        """Return a column's bytes, cut from the buffer by Arrow."""
        if self._texts is None:
            # One element a cell, and one a row for what stands between it and the next.
            offsets = np.empty(self.rows * (self.count + 1) + 1, np.int32)
            cells = offsets[:-1].reshape(self.rows, self.count + 1)
            for place, border in enumerate(self.borders):
                cells[:, place] = border
            offsets[-1] = len(self.raw)
            self._texts = pa.BinaryArray.from_buffers(
                pa.binary(),
                len(offsets) - 1,
                [None, pa.py_buffer(offsets), pa.py_buffer(self.data)],
            )
        chosen = np.arange(self.rows, dtype=np.int64) * (self.count + 1) + index
        return self._texts.take(self.array(index, chosen, pa.int64()))

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


def _reader_of(kind: Type) -> _Read | None:
    match kind:
        case IntType(unsigned=is_unsigned):
            return _read_unsigned if is_unsigned else _read_signed
        case YearType():
            return _read_signed
        case BitType() | EnumType() | SetType():
            return _read_unsigned
        case FloatType(bits):
            return _read_float if bits == 32 else _read_double
        case TextType() | BytesType():
            return _read_bytes
        case _:
            return _read_text if isinstance(kind, _TEXTS) else None
