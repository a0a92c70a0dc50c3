"""Parts of Arrow arrays as arrays of numpy that share their memory."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

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
