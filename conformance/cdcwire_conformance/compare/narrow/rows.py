"""The rows of one side of a table as arrays of numbers: which key, which content, which place.

``NarrowRows`` has some 90 bytes for a row, however wide the table is. The rules leave out
old values and fill unchanged columns, for example. ``embedded.changes`` does that to single rows,
and here it is done to whole columns. So rows with one content are equal changes by the rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cdcwire.arrow.building import where
from cdcwire_conformance.compare.embedded.changes import ColumnChanges, Layout, is_in
from cdcwire_conformance.compare.narrow.digests import (
    DIGEST,
    Numbers,
    comparable_column,
    digests_of,
)
from cdcwire_conformance.compare.narrow.places import (
    PLACE_COLUMNS,
    Eras,
    Places,
    PlacesBuilder,
    eras_of,
    numbers_in_order,
)

_ODD = np.uint64(0x9E3779B97F4A7C15)  # so that a key does not take away the same number elsewhere

_Columns: TypeAlias = "list[pa.Array]"
_FLAGS = ("has_row", "is_bare", "is_left_out", "is_outside", "is_doubtful")
_KINDS: dict[str, np.dtype[Any]] = {
    "key": np.dtype(np.uint64),
    "left_keys": np.dtype(np.uint64),
    "content": DIGEST,
    **dict.fromkeys(_FLAGS, np.dtype(bool)),
}


@dataclass(slots=True)
class NarrowRows:
    """The rows of a side, in their order: an array has an entry for each row.

    ``key``: a number for each key. ``left_keys``: of the keys that doubtful rows had before; it is
    not an entry for each row. ``content``: of type ``DIGEST``. ``position``: numbers in the
    order of positions, ``NOWHERE`` for none by the rules. ``has_row``: there is a row after it.
    ``is_bare``: by the rules its operation has no position. ``is_left_out``: the rules do not
    compare it. ``is_outside``: of the window. ``is_doubtful``: it can't be read, moves to another
    key, or lacks its position.
    """

    key: Numbers
    left_keys: Numbers
    content: Numbers
    position: Numbers
    places: Places
    has_row: Numbers
    is_bare: Numbers
    is_left_out: Numbers
    is_outside: Numbers
    is_doubtful: Numbers

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.key)

    @property
    def ids(self) -> Numbers:
        """Return a number for each row: its key with its content."""
        return self.ids_of(slice(None))

    def ids_of(self, rows: Numbers | slice) -> Numbers:
        """Return the ``ids`` of some rows."""
        ids: Numbers = self.key[rows] * _ODD ^ self.content["second"][rows]
        return ids

    def eras(self) -> Eras:
        """Return the eras of the parts of a feed whose rows these are."""
        return eras_of(self.places, self.position)


def narrow_batch(
    batch: pa.RecordBatch, layout: Layout, changes: ColumnChanges, *, has_position: bool
) -> pa.RecordBatch:
    """Return the rows of a batch for ``narrow_rows``, which may be in another process.

    Rows with ``is_left_key`` come again for the key that they may have had before: it is their
    ``key``. ``has_position``: rows of this side have one, if any have.
    """
    narrowed = _Batch(batch, layout, changes, has_position=has_position)
    key, left_keys = narrowed.key, narrowed.left_keys
    content = np.ascontiguousarray(narrowed.content)
    columns: dict[str, pa.Array] = {
        "key": pa.array(key),
        **{name: pa.array(np.ascontiguousarray(content[name])) for name in DIGEST.names or ()},
        "position": narrowed.passing,
        **{name: pa.array(getattr(narrowed, name)) for name in _FLAGS},
        "is_left_key": pa.repeat(pa.scalar(False), len(key)),
        **{name: batch.column(name) for name in PLACE_COLUMNS},
    }
    found = pa.RecordBatch.from_arrays(list(columns.values()), list(columns))
    if not len(left_keys):
        return found
    again = found.filter(pa.array(narrowed.is_doubtful))
    for name, values in (
        ("key", pa.array(left_keys)),
        ("is_left_key", pa.repeat(pa.scalar(True), len(left_keys))),
    ):
        place = again.schema.get_field_index(name)
        again = again.set_column(place, again.schema.field(place), values)
    (both,) = pa.Table.from_batches([found, again]).combine_chunks().to_batches()
    return both


def narrow_rows(batches: Iterable[pa.RecordBatch]) -> NarrowRows:
    """Return the rows of batches of ``narrow_batch``, all of one side."""
    places, positions = PlacesBuilder(), []
    found: dict[str, list[Numbers]] = {name: [] for name in _KINDS}
    for batch in batches:
        is_left_key = _flags(batch.column("is_left_key"))
        if is_left_key.any():
            found["left_keys"].append(batch.column("key").to_numpy()[is_left_key])
            batch = batch.filter(pa.array(~is_left_key))
        places.add(batch)
        positions.append(batch.column("position"))
        content = np.empty(batch.num_rows, DIGEST)
        for name in DIGEST.names or ():
            content[name] = batch.column(name).to_numpy()
        found["content"].append(content)
        found["key"].append(batch.column("key").to_numpy())
        for name in _FLAGS:
            found[name].append(_flags(batch.column(name)))
    arrays = {
        name: np.concatenate(parts) if (parts := found.pop(name)) else np.empty(0, kind)
        for name, kind in _KINDS.items()
    }
    return NarrowRows(position=numbers_in_order(positions), places=places.places(), **arrays)


@dataclass(frozen=True)
class Image:
    """The images of one side of a batch: which rows have one, its columns, and presence bits."""

    known: pa.Array
    columns: _Columns
    presence: pa.Array

    def has(self, number: int) -> Numbers:
        """Return which images have a column. Where there is no image it does not matter."""
        return self._bits[:, number]

    @cached_property
    def _bits(self) -> Numbers:
        size = (len(self.columns) + 7) // 8
        whole = _whole(len(self.columns))
        coded = self.presence.dictionary_encode(null_encoding="encode")
        texts = (whole if each is None else each for each in coded.dictionary.to_pylist())
        data = b"".join(each[:size].ljust(size, b"\0") for each in texts)
        kinds = np.frombuffer(data, np.uint8).reshape(-1, size)
        bits = np.unpackbits(kinds, axis=1, bitorder="little").astype(bool)
        found: Numbers = bits[coded.indices.to_numpy()]
        return found


class _Batch:
    """A batch by the rules. The attributes are those of ``NarrowRows``.

    ``passing``: the position of each row as an Arrow array, NULL for none by the rules.
    """

    def __init__(
        self, batch: pa.RecordBatch, layout: Layout, changes: ColumnChanges, *, has_position: bool
    ) -> None:
        self._batch, self._layout, self._rules = batch, layout, layout.rules
        self._op = batch.column("op")
        self._is_update = _is_one_of(self._op, ["update"])
        before, after = (image_of(batch, side, layout, changes) for side in ("before", "after"))
        self._is_whole_update = pc.and_(self._is_update, pc.and_(before.known, after.known))
        self._is_bare = _is_one_of(self._op, self._rules.bare_ops)
        rules = self._rules
        position = (
            pa.nulls(batch.num_rows, pa.int64())
            if rules.position is None
            else batch.column(rules.position)
        )
        self.passing = _null_where(self._is_bare, position)
        self.has_row = _flags(after.known)
        self.is_bare = _flags(self._is_bare)
        left_out = _is_one_of(
            self._op, ["delete"] if rules.leaves_deletes and not rules.is_final else []
        )
        self.is_left_out = _flags(left_out)
        self.is_outside = self._outside(position)
        doubtful = pc.or_(batch.column("error").is_valid(), self._moved(before, after))
        if rules.position is not None and has_position:
            doubtful = pc.or_(doubtful, pc.and_not(position.is_null(), self._is_bare))
        self.is_doubtful = _flags(doubtful)
        if rules.is_final:
            self.content = digests_of([after.presence, *after.columns], batch.num_rows)
        else:
            self.content = self._content_of_change(before, after)
        self.left_keys = np.empty(0, np.uint64)
        if layout.keys:
            is_new = after.known
            keys = (key_columns(each, layout) for each in (after, before))
            self.key = keys_of([where(is_new, new, old) for new, old in zip(*keys, strict=True)])
            if self.is_doubtful.any():
                old = (
                    filled(before, after, self._is_whole_update)
                    if rules.fills_unchanged
                    else before
                )
                left = key_columns(old, layout)
                self.left_keys = keys_of([each.filter(doubtful) for each in left])
        else:
            self.key = self.content["first"]

    def _outside(self, position: pa.Array) -> Numbers:
        window = self._layout.window
        if self._rules.position is None or window is None or not window.is_bounded:
            return np.zeros(self._batch.num_rows, bool)
        return np.array([not is_in(each, window) for each in position.to_pylist()], bool)

    def _moved(self, before: Image, after: Image) -> pa.Array:
        """Return the updates that may be compared as a delete and an insert."""
        moved = pa.repeat(pa.scalar(False), self._batch.num_rows)
        for number in self._layout.split_by:
            old, new = before.columns[number], after.columns[number]
            absent = [
                pc.and_not(column.is_null(), pa.array(image.has(number)))
                for column, image in ((old, before), (new, after))
            ]
            differs = pc.and_not(pc.invert(_equal(old, new)), pc.or_(*absent))
            moved = pc.or_(moved, differs)
        return pc.and_(moved, self._is_whole_update)

    def _content_of_change(self, before: Image, after: Image) -> Numbers:
        """Return the digest of each change by the rules."""
        rules, size = self._rules, self._batch.num_rows
        op, old = self._op, before
        if rules.deleted_columns == "key":
            old = self._with_key_only(old)
        if not rules.has_old_values:
            old = _without(old, self._is_update)
        elif rules.fills_unchanged:
            old = filled(old, after, self._is_whole_update)
            idle = reduce(
                pc.and_,
                map(_equal, (old.presence, *old.columns), (after.presence, *after.columns)),
                self._is_whole_update,
            )
            op, old = where(idle, pa.scalar("insert"), op), _without(old, idle)
        if rules.folds_ops:
            op = pc.if_else(_is_one_of(op, ["delete"]), "delete", "upsert")
        else:
            op = where(_is_one_of(op, ["read"]), pa.scalar("insert"), op)
        fields = [_null_where(self._is_bare, self._field(name)) for name in rules.fields]
        images = (old.presence, *old.columns, after.presence, *after.columns)
        columns = (op, self._batch.column("half"), self._is_bare, self.passing, *fields, *images)
        return digests_of(columns, size)

    def _field(self, name: str) -> pa.Array:
        values = self._batch.column(name)
        if self._rules.in_seconds and name == "commit_ms":
            values = pa.array(
                [None if each is None else each - each % 1000 for each in values.to_pylist()],
                values.type,
            )
        return values

    def _with_key_only(self, image: Image) -> Image:
        """Return images in which deletes have their key alone."""
        is_delete = _is_one_of(self._op, ["delete"])
        keys = {each.name for each in self._layout.keys}
        columns = [
            column if field.name in keys else _null_where(is_delete, column)
            for field, column in zip(self._layout.fields, image.columns, strict=True)
        ]
        nothing = pa.scalar(b"", pa.binary())
        is_emptied = pc.and_(is_delete, image.known)
        return replace(image, columns=columns, presence=where(is_emptied, nothing, image.presence))


def image_of(batch: pa.RecordBatch, side: str, layout: Layout, changes: ColumnChanges) -> Image:
    """Return the images of a side of a batch."""
    image = batch.column(side)
    known = image.is_valid()
    children = image.flatten()  # NULL where the image is
    columns = [
        comparable_column(children[number], changes.of(each.name))
        for number, each in enumerate(layout.fields)
    ]
    whole = pa.scalar(_whole(len(columns)), pa.binary())
    presence = pc.fill_null(batch.column(f"{side}_has").cast(pa.binary()), whole)
    return Image(known, columns, _null_where(pc.invert(known), presence))


def filled(before: Image, after: Image, is_whole_update: pa.Array) -> Image:
    """Return old images with the columns of updates that only the new image has."""
    columns = []
    for number, (own, other) in enumerate(zip(before.columns, after.columns, strict=True)):
        lacking = pa.array(~before.has(number) & after.has(number))
        is_filled = pc.and_(is_whole_update, lacking)
        columns.append(where(is_filled, other, own))
    presence = where(is_whole_update, after.presence, before.presence)
    return Image(before.known, columns, presence)


def key_columns(image: Image, layout: Layout) -> list[pa.Array]:
    """Return the columns of the key, all columns of a table without one. 0.0 and -0.0 are equal."""
    fields = [each.name for each in layout.fields]
    columns = [image.columns[fields.index(each.name)] for each in layout.keys or layout.fields]
    return [
        pc.add(each, pa.scalar(0.0, each.type)) if pa.types.is_floating(each.type) else each
        for each in columns
    ]


def keys_of(columns: Sequence[pa.Array]) -> Numbers:
    """Return a number for each key."""
    return digests_of(columns, len(columns[0]))["first"]


def _whole(columns: int) -> bytes:
    return ((1 << columns) - 1).to_bytes((columns + 7) // 8, "little")


def _is_one_of(values: pa.Array, wanted: Sequence[str]) -> pa.Array:
    return pc.is_in(values, pa.array(wanted, pa.string()))


def _null_where(flags: pa.Array, values: pa.Array) -> pa.Array:
    return where(flags, pa.scalar(None, values.type), values)


def _flags(values: pa.Array) -> Numbers:
    return np.asarray(values.to_numpy(zero_copy_only=False), bool)


def _without(image: Image, flags: pa.Array) -> Image:
    """Return images without those of some rows."""
    return Image(
        pc.and_not(image.known, flags),
        [_null_where(flags, each) for each in image.columns],
        _null_where(flags, image.presence),
    )


def _equal(left: pa.Array, right: pa.Array) -> pa.Array:
    """Return where two columns have one value. NULL equals NULL; a float, only the same bits."""
    if pa.types.is_floating(left.type):
        bits = pa.int64() if left.type == pa.float64() else pa.int32()
        left, right = left.view(bits), right.view(bits)
    both_null = pc.and_(left.is_null(), right.is_null())
    return pc.or_(pc.fill_null(pc.equal(left, right), False), both_null)
