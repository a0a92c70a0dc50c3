"""Open Protocol messages to record batches, with the values of a column converted together.

Rows come with their values as text of the message. This module checks what the fast decoder checks
of each value. Any doubt raises Irregular; the rows are then decoded one by one, which gives the
rows or the error with its place.
"""

from __future__ import annotations

import json
from binascii import a2b_base64
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cdcwire.arrow.batches import BatchBuilder, MessagePlace
from cdcwire.arrow.building import Numbers, offsets_of
from cdcwire.arrow.column_decoders import Irregular
from cdcwire.core.compiled import IRREGULARITIES
from cdcwire.core.context import Context, Selection
from cdcwire.core.message import KafkaMessage, Message
from cdcwire.core.rows import Layout, Row
from cdcwire.formats.open_protocol import row_patterns as forms
from cdcwire.formats.open_protocol.fast import RawRowDecoder

Texts: TypeAlias = Sequence["bytes | None"]

_BACKSLASH, _PADDING = b"\\="
_MAX_BYTES = 1 << 30  # Arrow's offsets have 32 bits


class OpenProtocolBatchBuilder:
    """Gathers messages and makes a batch of all their rows of one table. Keep one."""

    def __init__(self, builder: BatchBuilder, context: Context) -> None:
        table = builder.table
        selection = Selection(frozenset({(table.schema, table.table)}))
        self._decoder = RawRowDecoder(replace(context, selection=selection))
        self.builder = builder
        self._start()

    def _start(self) -> None:
        self.rows = self.size = 0
        self._changes: list[Row] = []
        self._places: list[MessagePlace] = []
        self._counts: list[int] = []

    def add(self, message: Message, place: MessagePlace) -> bool:
        """Take a message; return False, and take nothing, if it is to be decoded row by row."""
        if not isinstance(message, KafkaMessage) or len(message.value or b"") > _MAX_BYTES:
            return False
        found = self._decoder.raw_rows(message)
        if found is None:
            return False
        if found:
            self._changes += found
            self._places.append(place)
            self._counts.append(len(found))
            self.rows += len(found)
            self.size += len(message.value or b"")
        return True

    def batch(self) -> pa.RecordBatch:
        """Return the batch of the rows taken, and begin anew.

        Raises: Irregular or ConversionError, when the rows are to be decoded one by one.
        """
        changes, places, counts = self._changes, self._places, self._counts
        self._start()
        try:
            return self.builder.batch(changes, self.builder.places(places, counts), self._columns)
        except (*IRREGULARITIES, pa.ArrowInvalid) as error:
            raise Irregular from error

    def _columns(self, layout: Layout, columns: Sequence[Texts]) -> list[pa.Array]:
        read = map(_READERS.__getitem__, self._decoder.forms_of(layout))
        return [each(texts) for each, texts in zip(read, columns, strict=True)]


def _cast(texts: Texts, kind: pa.DataType) -> pa.Array:
    return pa.array(texts, pa.binary()).cast(pa.string()).cast(kind)


def _signed(texts: Texts) -> pa.Array:
    return _cast(texts, pa.int64())


def _unsigned(texts: Texts) -> pa.Array:
    return _cast(texts, pa.uint64())


def _float(texts: Texts) -> pa.Array:
    return _finite(_cast(texts, pa.float32()))


def _double(texts: Texts) -> pa.Array:
    return _finite(_cast(texts, pa.float64()))


def _finite(numbers: pa.Array) -> pa.Array:
    if pc.all(pc.is_finite(numbers)).as_py() is False:
        raise Irregular
    return numbers


def _text(texts: Texts) -> pa.Array:
    raw = pa.array(texts, pa.binary())
    return pa.array(_unescaped(texts), pa.string()) if _is_escaped(raw) else raw.cast(pa.string())


def _quoted(texts: Texts) -> pa.Array:
    raw = pa.array(texts, pa.binary())
    raw.cast(pa.string())  # JSON is UTF-8
    if not _is_escaped(raw):
        return raw
    read = forms.unquoted
    values = [None if t is None else read(t) if _BACKSLASH in t else t for t in texts]
    return pa.array(values, pa.binary())


def _is_escaped(raw: pa.Array) -> bool:
    return bool((_bytes_of(raw)[1] == _BACKSLASH).any())


def _unescaped(texts: Texts) -> list[str | None]:
    """Return the texts of the insides of JSON strings, read as one list of them."""
    filled = [text for text in texts if text is not None]
    found = iter(json.loads('["' + b'","'.join(filled).decode() + '"]'))
    return [None if text is None else next(found) for text in texts]


def _base64(texts: Texts) -> pa.Array:
    """Decode Base64 whose pattern is checked; all values as one text, less what padding gives."""
    raw = pa.array(texts, pa.binary())
    offsets, signs = _bytes_of(raw)
    sizes = np.diff(offsets)
    if (sizes & 3).any():
        raise Irregular
    is_padding = signs == _PADDING
    decoded = np.frombuffer(a2b_base64(signs.tobytes().replace(b"=", b"A")), np.uint8)
    paddings = np.flatnonzero(is_padding)
    # Each sign of padding is one byte less, at the end of its group of three.
    ends = offsets // 4 * 3
    lost = np.searchsorted(paddings, offsets)
    if len(paddings):
        is_kept = np.ones(len(decoded), np.bool_)
        is_kept[paddings // 4 * 3 + paddings % 4 - 1] = False
        decoded = decoded[is_kept]
    borders = (ends - lost).astype(np.int32)
    buffers = [_validity(raw), pa.py_buffer(borders), pa.py_buffer(decoded)]
    return pa.Array.from_buffers(pa.binary(), len(raw), buffers)


def _bytes_of(raw: pa.Array) -> tuple[Numbers, Numbers]:
    """Return the offsets and the bytes of a new array."""
    data = raw.buffers()[2]
    borders = offsets_of(raw)
    signs = np.frombuffer(data, np.uint8) if data is not None else np.zeros(0, np.uint8)
    return borders, signs[: borders[-1]]


def _validity(raw: pa.Array) -> pa.Buffer | None:
    return raw.buffers()[0] if raw.null_count else None


def _nothing(texts: Texts) -> pa.Array:
    return pa.nulls(len(texts))


_READERS: dict[int, Callable[[Texts], pa.Array]] = {
    forms.SIGNED: _signed,
    forms.UNSIGNED: _unsigned,
    forms.FLOAT: _float,
    forms.DOUBLE: _double,
    forms.TEXT: _text,
    forms.QUOTED: _quoted,
    forms.BASE64: _base64,
    forms.BASE64_TEXT: _base64,
    forms.NOTHING: _nothing,
}
