"""Columns of JSON texts in their one form; most of them without a parser.

The *shape* of a document is its text with 1 for each integer, no text in strings that are values,
and no spaces. Documents of a column have few shapes. If a shape is in the one form, the members of
its documents are in order, and only their spaces have to go. Each shape is parsed once.

The bytes of the whole column are looked at together. Documents with escapes, fractions, exponents
or long integers are parsed. So are those with spaces that are not after a comma or colon, and those
of rare shapes.
"""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cdcwire.arrow.building import Numbers, offsets_of, validity_of
from cdcwire.arrow.json_form import no_constant, normal_json_array, normal_json_text

MAX_KNOWN = 1 << 14  # documents of a column
_LEAST_ROWS = 64  # with fewer, the parser is as fast
_MOST_ROWS = 1 << 11  # together: the bytes of many more do not fit the processor's cache
_ROWS_PER_SHAPE = 16  # a new shape costs as much as the parsing of some documents
_MAX_SHAPES = 1 << 12
_MAX_SHAPE_SIZE = 1 << 12
_MAX_DIGITS = 20
_QUOTE, _BACKSLASH, _SPACE, _COMMA, _COLON, _MINUS, _POINT, _ZERO, _ONE = b'"\\ ,:-.01'


class JsonNormaliser:
    """Brings columns of JSON texts into their one form. Keep one for a column.

    It remembers shapes, and up to ``MAX_KNOWN`` documents that it parsed. The state of a row before
    a change is mostly what an earlier change has made it.
    """

    def __init__(self) -> None:
        self._known: dict[str | None, str | None] = {None: None}
        self._shapes: dict[bytes, bool] = {}

    def array(self, texts: pa.Array) -> pa.Array:
        """Return each text in the one form of its document; NULL stays NULL."""
        if len(texts) < _LEAST_ROWS:
            return self._parsed(texts)
        if len(texts) > _MOST_ROWS:
            starts = range(0, len(texts), _MOST_ROWS)
            return pa.concat_arrays([self.array(texts[s : s + _MOST_ROWS]) for s in starts])
        found, is_other = self._by_shapes(texts)
        if not is_other.any():
            return found
        mask = pa.array(is_other)
        return pc.replace_with_mask(found, mask, self._parsed(texts.filter(mask)))

    def _parsed(self, texts: pa.Array) -> pa.Array:
        if len(self._known) >= MAX_KNOWN:
            self._known = {None: None}
        known = self._known
        documents = texts.to_pylist()
        new = [text for text in documents if text not in known]
        if new:
            normal = normal_json_array(pa.array(new, pa.string()))
            known.update(zip(new, normal.to_pylist(), strict=True))
        return pa.array(list(map(known.__getitem__, documents)), pa.string())

    def _by_shapes(self, texts: pa.Array) -> tuple[pa.Array, Numbers]:
        """Return the forms of documents by their shapes, and which documents have to be parsed.

        In place of these is any text.
        """
        rows = len(texts)
        validity, _, signs_buffer = texts.buffers()
        is_filled = validity_of(texts)
        if is_filled is None:
            is_filled = np.ones(rows, np.bool_)
        offsets = offsets_of(texts)
        if signs_buffer is None or offsets[0] == offsets[-1]:
            return texts, is_filled
        signs = np.frombuffer(signs_buffer, np.uint8)[offsets[0] : offsets[-1]]
        borders = offsets - offsets[0]
        is_escaped = _documents_with(
            np.flatnonzero((signs < _SPACE) | (signs == _BACKSLASH)), borders
        )
        if is_escaped.all():
            return texts, is_filled
        if is_escaped.any():
            others = pa.array(~is_escaped)
            found, is_other = self._by_shapes(texts.filter(others))
            is_escaped[~is_escaped] = is_other
            return pc.replace_with_mask(texts, others, found), is_escaped & is_filled
        is_quote = signs == _QUOTE
        quotes = np.flatnonzero(is_quote)
        if (np.searchsorted(quotes, borders) & 1).any():
            return texts, is_filled  # a string without end
        is_inside = np.logical_xor.accumulate(is_quote)
        spaces = np.flatnonzero((signs == _SPACE) & ~is_inside)
        shapes, is_other = _shapes(signs, borders, quotes, is_inside, spaces)
        is_other |= ~self._are_forms(shapes)
        is_other &= is_filled
        if len(spaces):
            is_kept = np.ones(len(signs), np.bool_)
            is_kept[spaces] = False
            signs = signs[is_kept]
            borders = borders - np.searchsorted(spaces, borders).astype(np.int32)
        if texts.null_count:
            validity = pa.array(is_filled).buffers()[1]
        buffers = [validity, pa.py_buffer(borders), pa.py_buffer(signs)]
        return pa.Array.from_buffers(pa.string(), rows, buffers), is_other

    def _are_forms(self, shapes: pa.Array) -> Numbers:
        """Return which documents have a shape that is known to be in the one form."""
        encoded = shapes.dictionary_encode()
        found = encoded.dictionary.to_pylist()
        new = [shape for shape in found if shape not in self._shapes]
        if len(self._shapes) + len(new) > _MAX_SHAPES:
            self._shapes.clear()
            new = found
        if len(new) <= 1 + len(shapes) // _ROWS_PER_SHAPE:
            self._shapes.update((shape, _is_form(shape)) for shape in new)
        are_forms = np.array([self._shapes.get(shape, False) for shape in found])
        return are_forms[encoded.indices.to_numpy()]


def _is_form(shape: bytes) -> bool:
    if len(shape) > _MAX_SHAPE_SIZE:
        return False
    text = shape.decode()
    try:
        json.loads(text, parse_constant=no_constant)
    except (ValueError, RecursionError):
        return False
    return normal_json_text(text) == text


def _shapes(
    signs: Numbers, borders: Numbers, quotes: Numbers, is_inside: Numbers, spaces: Numbers
) -> tuple[pa.Array, Numbers]:
    """Return the shapes of documents, and which documents are not known by their shape alone.

    ``is_inside``: of a string, from its first quote on. ``spaces``: outside strings.
    """
    is_digit = (signs - np.uint8(_ZERO) <= 9) & ~is_inside
    follows = np.empty_like(is_digit)
    follows[0], follows[1:] = False, is_digit[:-1]
    follows &= is_digit
    starts = np.flatnonzero(is_digit & ~follows)
    is_last = is_digit
    is_last[:-1] &= ~follows[1:]
    digits = np.flatnonzero(is_last) + 1 - starts
    is_irregular = (signs[starts] == _ZERO) & ((digits > 1) | _is_after(signs, starts, _MINUS))
    is_irregular |= (digits > _MAX_DIGITS) | _is_after(signs, starts, _POINT)
    is_value = signs[np.minimum(quotes[1::2] + 1, len(signs) - 1)] != _COLON
    ends = np.zeros(len(signs), np.bool_)
    ends[quotes[np.repeat(is_value, 2)]] = True
    is_dropped = np.logical_xor.accumulate(ends)
    is_dropped &= ~ends
    is_dropped |= follows
    is_dropped[spaces] = True
    kept = np.flatnonzero(~is_dropped)
    shaped = signs.copy()
    shaped[starts] = _ONE
    shapes = pa.Array.from_buffers(
        pa.binary(),
        len(borders) - 1,
        [
            None,
            pa.py_buffer(np.searchsorted(kept, borders).astype(np.int32)),
            pa.py_buffer(shaped[kept]),
        ],
    )
    is_separator = _is_after(signs, spaces, _COMMA, _COLON)
    others = np.concatenate([starts[is_irregular], spaces[~is_separator]])
    return shapes, _documents_with(others, borders)


def _documents_with(places: Numbers, borders: Numbers) -> Numbers:
    """Return which documents have one of the places."""
    found = np.zeros(len(borders) - 1, np.bool_)
    if len(places):
        found[np.searchsorted(borders, places, side="right") - 1] = True
    return found


def _is_after(signs: Numbers, places: Numbers, *wanted: int) -> Numbers:
    """Return which places come after one of these signs."""
    before = signs[np.maximum(places, 1) - 1]
    found = before == wanted[0]
    for each in wanted[1:]:
        found |= before == each
    return found
