"""Columns of CSV files as Arrow arrays in the wire's own types, checked as the plain reader does.

A column's texts are checked by one regular expression for all, by the range of all numbers, or by
reading each distinct text once. A value that is not plainly right raises Irregular.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cdcwire.formats.csv.values import ColumnCodec
from cdcwire.model import kinds
from cdcwire.mysql.value_texts import integer_range, pattern
from cdcwire_conformance.arrow.column_decoders import Irregular

Convert: TypeAlias = Callable[[pa.Array], pa.Array]

_FLOAT = r"-?(?:0|[1-9][0-9]{0,20})(?:\.[0-9]{1,30})?(?:e[+-][0-9]{2,3})?"
_LOOKAHEAD = "(?!"
_MOST_DISTINCT = 1 << 12
_NO_PAIR = 0xFFFF
_PAD = ord("=")
_ALPHABET = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


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
            return lambda cells: _distinct(cells, codec)
        case kinds.FloatType(bits):
            target = pa.float32() if bits == 32 else pa.float64()
            return lambda cells: _floats(cells, target)
        case (
            kinds.DecimalType()
            | kinds.DateType()
            | kinds.TimeType()
            | kinds.DatetimeType()
            | kinds.TimestampType()
        ):
            return _matching(pattern(kind))
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


def _distinct(cells: pa.Array, codec: ColumnCodec) -> pa.Array:
    """Return the cells, after the plain reader has read each distinct one."""
    distinct = cells.unique()
    if len(distinct) > _MOST_DISTINCT:
        raise Irregular
    for cell in distinct.to_pylist():
        if cell is not None:
            codec.read_text(cell if isinstance(cell, bytes) else str(cell).encode())
    return cells


def _floats(cells: pa.Array, target: pa.DataType) -> pa.Array:
    texts = cells.cast(pa.string())
    _expect(texts, _FLOAT)
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
        texts = cells.cast(pa.string())
        _expect(texts, expression)
        if refused is not None and pc.any(pc.match_substring_regex(texts, refused)).as_py():
            raise Irregular
        return texts

    return convert


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
    _, offsets_buffer, data_buffer = cells.buffers()
    offsets = np.frombuffer(offsets_buffer, np.int32)[cells.offset : cells.offset + rows + 1]
    if data_buffer is None or offsets[0] == offsets[-1]:
        return cells
    lengths = np.diff(offsets)
    if (lengths & 3).any():
        raise Irregular
    signs = np.frombuffer(data_buffer, np.uint8)[offsets[0] : offsets[-1]]
    pairs = np.frombuffer(signs.tobytes(), "<u2")
    first, second = _PAIRS[pairs[0::2]], _PAIRS[pairs[1::2]]
    # Of all signs, only the last or the last two of a cell may be padding, which is 0 in the table.
    has_any = lengths > 0
    ends = offsets[1:][has_any] - offsets[0]
    is_padded = signs[ends - 1] == _PAD
    padding = is_padded + (is_padded & (signs[ends - 2] == _PAD)).astype(np.int64)
    pads = int(padding.sum())
    if max(first.max(), second.max()) == _NO_PAIR or int((signs == _PAD).sum()) != pads:
        raise Irregular
    octets = np.empty((len(first), 3), np.uint8)
    octets[:, 0] = first >> 4
    octets[:, 1] = (first & 15) << 4 | second >> 8
    octets[:, 2] = second & 0xFF
    found = octets.reshape(-1)
    if pads:
        ends = (ends >> 2) * 3
        cut = np.concatenate([ends[padding > 0] - 1, ends[padding > 1] - 2])
        if found[cut].any():
            raise Irregular  # bits that stand for nothing are not 0
        found = np.delete(found, cut)
    sizes = (lengths >> 2) * 3
    sizes[has_any] -= padding.astype(sizes.dtype)
    starts = np.zeros(rows + 1, np.int32)
    np.cumsum(sizes, out=starts[1:])
    validity = cells.is_valid().buffers()[1] if cells.null_count else None
    return pa.Array.from_buffers(
        pa.binary(), rows, [validity, pa.py_buffer(starts), pa.py_buffer(found)]
    )


def _table_of_pairs() -> Any:
    """Return what two signs say, by both as a little-endian number; padding says 0."""
    digits = np.full(256, 1 << 6, np.uint16)
    digits[np.frombuffer(_ALPHABET, np.uint8)] = np.arange(64, dtype=np.uint16)
    digits[_PAD] = 0
    pairs = digits[None, :] << 6 | digits[:, None]  # the first sign is the low byte
    is_none = (digits[None, :] > 63) | (digits[:, None] > 63)
    return np.where(is_none, np.uint16(_NO_PAIR), pairs).reshape(-1)


_PAIRS = _table_of_pairs()
