"""Rows of Arrow columns as digests: equal exactly where their values are equal.

A row is written as bytes: first what has a fixed width (numbers, and the lengths of texts and
bytes), then all texts and bytes. So two rows have the same bytes only if each value is the same.
The digest is BLAKE2b with 128 bits. It is the same in all processes and versions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from hashlib import blake2b
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cdcwire_conformance.compare.embedded.values import Value, values_of

DIGEST_BYTES = 16
DIGEST = np.dtype([("first", "<u8"), ("second", "<u8")])
Numbers: TypeAlias = "np.ndarray[Any, np.dtype[Any]]"

_NULL_LENGTH = -1


def digests_of(columns: Iterable[pa.Array], size: int) -> Numbers:
    """Return the digest of each row, as an array of ``DIGEST``. ``size``: the number of rows."""
    fixed, texts = [], []
    for column in columns:
        of_column, text = _parts_of(column)
        fixed += of_column
        texts += text
    found = bytearray()
    rows = _joined(fixed, texts, size)
    offsets = np.frombuffer(rows.buffers()[1], "<i8", size + 1, rows.offset * 8).tolist()
    data = memoryview(rows.buffers()[2] or b"")
    for start, end in pairwise(offsets):
        found += blake2b(data[start:end], digest_size=DIGEST_BYTES).digest()
    return np.frombuffer(bytes(found), DIGEST)


def comparable_column(array: pa.Array, change: Callable[[Value], Value] | None) -> pa.Array:
    """Return a column in which ``digests_of`` finds the same values equal as a comparison does.

    ``change``: of the values before they are compared, to text or bytes.
    """
    kind = array.type
    if change is not None or pa.types.is_nested(kind):
        values: Iterable[Value] = values_of(array)
        if change is not None:
            values = map(change, values)
        return pa.array(map(_as_bytes, values), pa.large_binary())
    if pa.types.is_floating(kind):  # all NaN are one value
        return pc.if_else(pc.is_nan(array), pa.scalar(float("nan"), kind), array)
    return array


def _as_bytes(value: Value) -> bytes | None:
    """Return a text or bytes as bytes; those of a text and of bytes differ."""
    if value is None:
        return None
    if isinstance(value, str):
        return b"t" + value.encode("utf-8", "surrogatepass")
    return b"b" + value if isinstance(value, bytes) else b"v" + repr(value).encode()


def _joined(fixed: Sequence[Numbers], texts: Sequence[pa.Array], size: int) -> pa.Array:
    """Return each row as bytes. ``fixed``: arrays of bytes with a row for each row."""
    width = sum(part.shape[1] for part in fixed)
    block = np.empty((size, width), np.uint8)
    place = 0
    for part in fixed:
        block[:, place : place + part.shape[1]] = part
        place += part.shape[1]
    numbers = pa.Array.from_buffers(pa.binary(width), size, [None, pa.py_buffer(block)])
    parts = [numbers.cast(pa.large_binary()), *texts]
    return pc.binary_join_element_wise(*parts, pa.scalar(b"", pa.large_binary()))


def _parts_of(array: pa.Array) -> tuple[list[Numbers], list[pa.Array]]:
    """Return the parts of a column with a fixed width, as bytes, and its texts or bytes."""
    kind = array.type
    if pa.types.is_null(kind):
        return [], []
    if pa.types.is_dictionary(kind):
        return _parts_of(array.dictionary_decode())
    if _has_any_length(kind):
        array = array.cast(pa.large_binary())
        lengths = pc.fill_null(pc.binary_length(array), _NULL_LENGTH).to_numpy()
        return [_bytes_of(lengths)], [pc.fill_null(array, b"")]
    known = array.is_valid()
    flags = known.cast(pa.uint8()).to_numpy()[:, None]
    if pa.types.is_boolean(kind):
        return [flags, pc.fill_null(array, False).cast(pa.uint8()).to_numpy()[:, None]], []
    width = kind.bit_width // 8
    buffer = array.buffers()[1]
    if buffer is None:
        return [flags], []
    data = np.frombuffer(buffer, np.uint8, len(array) * width, array.offset * width)
    values: Numbers = data.reshape(len(array), width)
    if array.null_count:
        values = np.where(flags != 0, values, np.uint8(0))
    return [flags, values], []


def _has_any_length(kind: pa.DataType) -> bool:
    types = pa.types
    return bool(
        types.is_string(kind)
        or types.is_large_string(kind)
        or types.is_binary(kind)
        or types.is_large_binary(kind)
    )


def _bytes_of(numbers: Numbers) -> Numbers:
    size = numbers.dtype.itemsize
    return np.ascontiguousarray(numbers).view(np.uint8).reshape(len(numbers), size)
