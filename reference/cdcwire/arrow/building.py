"""The parts of all columns: a builder's shape, its buffers, and the error for a bad value.

A builder makes an Arrow array from a column's values, in which None is NULL. It may raise any of
REFUSALS; ``values.column_builder`` turns them into a ConversionError.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import InvalidOperation
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

Numbers: TypeAlias = Any  # a numpy array


def offsets_of(cells: pa.Array) -> Numbers:
    """Return where each text begins in the data of an array, and where the last one ends."""
    return np.frombuffer(cells.buffers()[1], np.int32)[cells.offset : cells.offset + len(cells) + 1]


def windows_of(data: Numbers, size: int) -> Numbers:
    """Return a view with ``size`` bytes from each place of the data on."""
    windows: Numbers = np.ndarray(len(data) - size + 1, f"V{size}", data, strides=(1,))
    return windows


def validity_of(cells: pa.Array) -> Numbers | None:
    """Return which cells are not NULL; None if all are not."""
    if not cells.null_count:
        return None
    bits = np.frombuffer(cells.buffers()[0], np.uint8)
    end = cells.offset + len(cells)
    return np.unpackbits(bits, count=end, bitorder="little")[cells.offset :].view(np.bool_)


Values: TypeAlias = Sequence[Any]
Build: TypeAlias = Callable[[Values], pa.Array]
Convert: TypeAlias = Callable[[Any], Any]

Finish: TypeAlias = Callable[[pa.Array], pa.Array]

REFUSALS = (ValueError, TypeError, KeyError, OverflowError, InvalidOperation)

CLAUSE_TYPES = "dataframes: types"
CLAUSE_TEXT = "dataframes: ill-formed text"
CLAUSE_NATIVE = "dataframes: native dates and times"
CLAUSE_LABELS = "dataframes: labels"
CLAUSE_COLUMNS = "dataframes: columns"


class ConversionError(ValueError):
    """A value has no exact form in its canonical column."""

    def __init__(self, problem: str, clause: str, path: tuple[str | int, ...] = ()) -> None:
        super().__init__(problem, clause, path)
        self.problem = problem
        self.clause = clause
        self.path = path

    def under(self, *steps: str | int) -> ConversionError:
        """Return the same error seen from outside: ``steps`` lead to where it was."""
        return ConversionError(self.problem, self.clause, (*steps, *self.path))

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.problem, self.clause, self.path)

    def __str__(self) -> str:
        return f"{self.problem} ({self.clause})"


@dataclass(frozen=True, slots=True)
class ColumnBuilder:
    """Makes a canonical column: ``build`` of values, ``finish`` of an array in the wire's type.

    Both raise ConversionError.
    """

    build: Build
    finish: Finish


def plain(target: pa.DataType) -> Build:
    """Return the builder that leaves all to Arrow, which refuses what does not fit."""
    return lambda values: pa.array(values, target)


def through(convert: Convert, build: Build) -> Build:
    """Return a builder of converted values."""
    return lambda values: build([None if value is None else convert(value) for value in values])


def where(flags: pa.Array, own: pa.Array | pa.Scalar, others: pa.Array) -> pa.Array:
    """Return ``own`` where ``flags`` is true, else the values of ``others``.

    ``pc.if_else`` with a scalar and a slice of texts gives other texts in pyarrow 18 to 20. So a
    scalar becomes an array.
    """
    if isinstance(own, pa.Scalar):
        own = pa.repeat(own, len(others)) if own.is_valid else pa.nulls(len(others), own.type)
    return pc.if_else(flags, own, others)
