"""The changes of one side as Python objects: read from Arrow, and split into the records that pair.

An update may have keys in two buckets (``narrow.buckets``). Each bucket gives those of its key.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import reduce
from itertools import starmap
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from cdcwire_conformance.compare.embedded.values import Value, key_value, values_of
from cdcwire_conformance.compare.layout import PairLayout
from cdcwire_conformance.compare.meaning import Encoding, Replacement
from cdcwire_conformance.compare.narrow.digests import Numbers
from cdcwire_conformance.compare.rules import Window

Layout: TypeAlias = "PairLayout[pa.Field]"
Image: TypeAlias = "tuple[tuple[Value, ...], bytes]"
"""The values of an image, and its presence bits."""
Key: TypeAlias = "tuple[Value, ...] | None"
Place: TypeAlias = Any  # in an order: a number, or a text of fixed width; None: nowhere

SOURCE = ("topic", "partition", "offset", "file", "line", "row")
_REPLACEMENTS = re.compile("\ufffd+")


@dataclass(slots=True)
class FedRow:
    """A row of a feed, as it was decoded.

    ``source``: the values of ``SOURCE``. ``number``: in the order of the feed. ``here``: whether
    the keys of its images before and after are compared here. The others are in other buckets.
    """

    number: int
    op: str | None
    half: str | None
    position: Place
    sequence: int | None
    partition: int | None
    fields: tuple[Value, ...]
    before: Image | None
    after: Image | None
    source: tuple[Any, ...] | None
    is_readable: bool  # if not, its images have the key at most
    here: tuple[bool, bool] = (True, True)


@dataclass(slots=True)
class Change:
    """A change as it pairs: a row, or one of the two that an update is compared as.

    ``part``: 1 for the insert of a split update and for an after record, else 0. ``passing``: the
    position that the change has itself. ``behind``: the position before a change that is late.
    ``stream``: the part of its feed. ``follows``: the content of the change before it in that part,
    among those of its key at its position, deletes aside.
    """

    row: FedRow
    op: str | None
    half: str | None
    key: Key
    part: int
    before: Image | None
    after: Image | None
    fields: tuple[Value, ...]
    position: Place
    passing: Place = None
    ordinal: int = 0
    is_late: bool = False
    behind: Place = None
    era: tuple[Any, ...] = field(default=())
    stream: tuple[Any, ...] | None = None
    follows: tuple[Any, ...] | None = None

    @property
    def is_here(self) -> bool:
        """Return whether its key is compared here: that of the image before if it is the last."""
        return self.row.here[self.after is not None]

    @property
    def is_main(self) -> bool:
        """Return whether it is the one change of its row that stands for the row in counts."""
        return self.after is not None or self.row.after is None

    @property
    def content(self) -> tuple[Any, ...]:
        """Return the part that is equal in equal changes."""
        return self.op, self.half, self.fields, self.before, self.after

    @property
    def feed_place(self) -> tuple[Any, ...]:
        """The place of the change in its feed, as its source has it, to sort by."""
        row = self.row
        topic, partition, offset, file, line, in_message = row.source or (None,) * 6
        places = (row.sequence, topic, partition, file, offset, line, in_message)
        return tuple(map(nulls_first, places))

    @property
    def feed_order(self) -> tuple[Any, ...]:
        """The place of the change among all that are read together, to sort by."""
        return (*self.feed_place, self.row.number, self.part)


def may_be_read(change: Change) -> bool:
    """Return whether a change is an insert that may be a row of a snapshot."""
    return change.part == 0 and change.row.op in ("insert", "read")


def nulls_first(value: Value) -> tuple[Any, ...]:
    """Return what sorts a value as Spark does: NULL first, NaN last."""
    if value is None:
        return (0,)
    return (2 if isinstance(value, str) else 1, value)  # NaN is the one text among floats


@dataclass(frozen=True, slots=True)
class ColumnChanges:
    """How values of columns are changed before they are compared.

    ``readable``: bytes that become text, with U+FFFD in place of ill-formed ones. ``cuts``: of the
    text of times. ``encodings``: of bytes that are sent as text. ``encoded``: columns with an
    encoding on any side, so that both have one form.
    """

    readable: Collection[str] = ()
    cuts: Mapping[str, Sequence[Replacement]] = field(default_factory=dict)
    encodings: Mapping[str, Encoding] = field(default_factory=dict)
    encoded: Collection[str] = ()

    def of(self, name: str) -> Callable[[Value], Value] | None:
        """Return the change of a column's values, NULL aside; None for none."""
        steps: list[Callable[[Value], Value]] = [_readable] if name in self.readable else []
        if name in self.encodings:
            encoding = self.encodings[name]
            steps.append(
                lambda value: (
                    encoding.decoded_items(value)
                    if isinstance(value, str)
                    else encoding.decoded(value)
                )
            )
        for each in self.cuts.get(name, ()):
            steps.append(_replacer(each))
        if not steps and name not in self.encoded:
            return None

        def change(value: Value) -> Value:
            return None if value is None else reduce(lambda found, step: step(found), steps, value)

        return change


def _readable(value: bytes) -> str:
    return _REPLACEMENTS.sub("\ufffd", value.decode("utf-8", "replace"))


def _replacer(replacement: Replacement) -> Callable[[str], str]:
    pattern = re.compile(replacement.pattern)
    return lambda text: pattern.sub(replacement.kept, text)


@dataclass(frozen=True, slots=True)
class Wanted:
    """Rows of a side: arrays with an entry for each row.

    ``flags``: whether it is wanted. ``here``: as in ``FedRow``.
    """

    flags: Numbers
    here: tuple[Numbers, Numbers]

    @classmethod
    def whole(cls, flags: Numbers) -> Wanted:
        """Return rows with all of their keys."""
        every = np.broadcast_to(np.True_, len(flags))
        return cls(flags, (every, every))

    @classmethod
    def of_keys(cls, flags: Numbers, here: tuple[Numbers, Numbers]) -> Wanted:
        """Return those of the flagged rows that have a key here."""
        return cls(flags & (here[0] | here[1]), here)


def rows_in(
    batches: Iterable[pa.RecordBatch], layout: Layout, changes: ColumnChanges, wanted: Wanted
) -> Iterator[FedRow]:
    """Yield the wanted rows of decoded batches."""
    rules = layout.rules
    end = 0
    for batch in batches:
        start, end = end, end + batch.num_rows
        places = np.flatnonzero(wanted.flags[start:end])
        if not len(places):
            continue
        if len(places) < batch.num_rows:
            batch = batch.take(pa.array(places))
        positions = _values(batch.column(rules.position)) if rules.position else _nothing(batch)
        columns = [
            _in_seconds(batch.column(name))
            if rules.in_seconds and name == "commit_ms"
            else _values(batch.column(name))
            for name in rules.fields
        ]
        fields = zip(*columns, strict=True) if columns else [()] * batch.num_rows
        source = batch.column("source")
        known = dict(zip(source.type.names, source.flatten(), strict=True))
        in_source = (known.get(name, pa.nulls(len(source))).to_pylist() for name in SOURCE)
        yield from starmap(
            FedRow,
            zip(
                (start + places).tolist(),
                batch.column("op").to_pylist(),
                batch.column("half").to_pylist(),
                positions,
                _integers(batch.column("sequence_id")),
                batch.column("partition").to_pylist(),
                fields,
                _images(batch, "before", layout, changes),
                _images(batch, "after", layout, changes),
                zip(*in_source, strict=True),
                batch.column("error").is_null().to_pylist(),
                zip(*(each[start + places].tolist() for each in wanted.here), strict=True),
                strict=True,
            ),
        )


def _nothing(batch: pa.RecordBatch) -> list[None]:
    return [None] * batch.num_rows


def _values(array: pa.Array) -> list[Value]:
    return _integers(array) if pa.types.is_decimal(array.type) else array.to_pylist()


def _in_seconds(milliseconds: pa.Array) -> list[int | None]:
    """Return times without the part below a second."""
    return [None if value is None else value - value % 1000 for value in milliseconds.to_pylist()]


def _integers(array: pa.Array) -> list[int | None]:
    if array.null_count == len(array):
        return [None] * len(array)
    return [None if value is None else int(value) for value in array.to_pylist()]


def _images(
    batch: pa.RecordBatch, side: str, layout: Layout, changes: ColumnChanges
) -> Iterator[Image | None]:
    """Yield the images of a side. One without presence bits has all of its columns."""
    image = batch.column(side)
    if image.null_count == len(image):
        yield from _nothing(batch)
        return
    size = len(layout.fields)
    whole = ((1 << size) - 1).to_bytes((size + 7) // 8, "little")
    columns = []
    for index, each in enumerate(layout.fields):
        values = values_of(image.field(index))
        change = changes.of(each.name)
        columns.append(values if change is None else list(map(change, values)))
    presence = batch.column(f"{side}_has").to_pylist()
    known = image.is_valid().to_pylist()
    rows: Iterable[tuple[Value, ...]] = zip(*columns, strict=True)
    if not columns:
        rows = [()] * len(image)
    for is_known, row, has in zip(known, rows, presence, strict=True):
        yield (row, whole if has is None else has) if is_known else None


class Splitter:
    """Makes the changes of rows: an update of a key becomes its delete and its insert."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.rules = layout.rules
        names = [each.name for each in layout.fields]
        self._key = [names.index(each.name) for each in layout.keys]
        self._is_float = [pa.types.is_floating(each.type) for each in layout.fields]
        self._has_float_key = any(self._is_float[number] for number in self._key)

    def changes(self, rows: Iterable[FedRow], of_key_changes: Set[int]) -> Iterator[Change]:
        """Yield the changes of rows that are compared here, in their order.

        ``of_key_changes``: as ``key_changes`` finds in all rows of the side.
        """
        rules = self.rules
        skips_before = rules.in_halves and not rules.has_old_values
        for row in rows:
            found: Iterable[Change] = ()
            if row.half is not None and row.sequence in of_key_changes:
                found = self._split(row, row.before, row.after)
            elif not skips_before or row.half != "before":
                found = self._parts(row)
            yield from (change for change in found if change.is_here)

    def key_changes(self, rows: Collection[FedRow]) -> Set[int]:
        """Return the sequence ids of updates in two records that change a key."""
        if not self.rules.joins_halves:
            return frozenset()
        before, after = (
            {
                row.sequence: image
                for row in rows
                if row.half == half and row.sequence is not None
                if (image := row.before if half == "before" else row.after) is not None
            }
            for half in ("before", "after")
        )
        return {n for n, old in before.items() if n in after and self._is_split(old, after[n])}

    def _split(self, row: FedRow, before: Image | None, after: Image | None) -> Iterator[Change]:
        """Yield the delete and the insert that an update of a key is compared as."""
        if before is not None:
            old = self._deleted(row, before)
            yield self._change(row, "delete", None, self._key_of(before), 0, (old, None))
        if after is not None:
            yield self._change(row, "insert", None, self._key_of(after), 1, (None, after))

    def _parts(self, row: FedRow) -> Iterator[Change]:
        rules = self.rules
        op, before, after = row.op, row.before, row.after
        is_update = op == "update"
        if rules.fills_unchanged and is_update and before is not None and after is not None:
            before = self._filled(before, after)
        half = self._half_of(row) if rules.in_halves else row.half
        key = self._key_of(before) if after is None else self._key_of(after)
        if is_update and before is not None and after is not None:
            if self._is_split(before, after):
                yield from self._split(row, before, after)
                return
            if rules.in_halves and rules.has_old_values:
                yield self._change(row, op, "before", self._key_of(before), 0, (before, None))
                yield self._change(row, op, "after", self._key_of(after), 1, (None, after))
                return
        if op == "delete":
            part = self._part(half) if rules.deleted_columns == "all" else 0
            yield self._change(row, op, half, key, part, (self._deleted(row, before), after))
        elif is_update and (not rules.has_old_values or rules.is_cut_at(row.position)):
            yield self._change(row, op, half, key, 0, (None, after))
        elif is_update and rules.fills_unchanged and before == after:
            # With its changed columns only, an update that changes nothing looks like an insert.
            yield self._change(row, "insert", half, key, 0, (None, after))
        else:
            yield self._change(row, op, half, key, self._part(half), (before, after))

    def _part(self, half: str | None) -> int:
        rules = self.rules
        return int(rules.in_halves and rules.has_old_values and half == "after")

    def _change(
        self,
        row: FedRow,
        op: str | None,
        half: str | None,
        key: Key,
        part: int,
        images: tuple[Image | None, Image | None],
    ) -> Change:
        return Change(row, op, half, key, part, *images, row.fields, row.position)

    def _filled(self, before: Image, after: Image) -> Image:
        """Return the old image with the columns that only the new image has."""
        values = tuple(
            own if _has(before[1], number) or not _has(after[1], number) else other
            for number, (own, other) in enumerate(zip(before[0], after[0], strict=True))
        )
        return values, after[1]

    def _half_of(self, row: FedRow) -> str | None:
        """Return which record of an update a row is, where updates are compared in two records."""
        if self.rules.folds_ops:
            return None
        if not self.rules.has_old_values and row.op == "update" and row.after is not None:
            return "after"
        return row.half

    def _key_of(self, image: Image | None) -> Key:
        if image is None:
            return None
        values = image[0]
        if self._has_float_key:
            return tuple(self._comparable(values[number], number) for number in self._key)
        return tuple([values[number] for number in self._key])

    def _comparable(self, value: Value, number: int) -> Value:
        return key_value(value) if self._is_float[number] else value

    def _is_split(self, before: Image, after: Image) -> bool:
        for number in self.layout.split_by:
            old, new = (self._comparable(each[0][number], number) for each in (before, after))
            if old != new and all(
                each[0][number] is not None or _has(each[1], number) for each in (before, after)
            ):
                return True
        return False

    def _deleted(self, row: FedRow, before: Image | None) -> Image | None:
        """Return what is compared of a deleted row."""
        if before is None or not (
            self.rules.deleted_columns == "key" or self.rules.is_cut_at(row.position)
        ):
            return before
        key = set(self._key)
        values = (value if number in key else None for number, value in enumerate(before[0]))
        return tuple(values), b""


def _has(presence: bytes, number: int) -> bool:
    byte = number // 8
    return byte < len(presence) and bool(presence[byte] >> number % 8 & 1)


def compared_changes(
    rows: Iterable[FedRow], layout: Layout, of_key_changes: Set[int]
) -> list[Change]:
    """Return the changes of a side that are compared, under the names by which they pair."""
    rules = layout.rules
    changes = list(Splitter(layout).changes(rows, of_key_changes))
    if layout.needs_order:
        _number_changes(changes, layout)
    elif rules.bare_ops:
        _take_positions(changes, layout)
    for change in changes:
        change.passing = None if change.op in rules.bare_ops else change.position
    if rules.leaves_deletes:
        changes = [change for change in changes if change.op != "delete"]
    for change in changes:
        if rules.folds_ops:
            change.op = "delete" if change.op == "delete" else "upsert"
        elif change.op == "read":
            change.op = "insert"  # a row of a snapshot is one inserted
    return changes


def is_in(position: Place, window: Window | None) -> bool:
    """Return whether a window has a change of a position."""
    if window is None or not window.is_bounded:
        return True
    return window.has_unplaced if position is None else window.has(position)


def _take_positions(changes: Iterable[Change], layout: Layout) -> None:
    """Leave out position and fields of bare changes, which the sides do not share."""
    nothing = (None,) * len(layout.rules.fields)
    for change in changes:
        if change.op in layout.rules.bare_ops:
            change.position, change.fields = None, nothing


def _number_changes(changes: Iterable[Change], layout: Layout) -> None:
    """Give each change its ordinal among those of its key.

    With positions, only bare changes are numbered, each among those of its operation since the last
    position of its key. A bare change takes that position. Where a position is that of a
    transaction, its changes of a key are numbered too.
    """
    rules = layout.rules
    if rules.bare_ops:
        changes = list(changes)
        _take_positions(changes, layout)
    for of_key in by_key(changes).values():
        last: Place = None
        since: dict[tuple[str, Place], int] = {}
        for number, change in enumerate(of_key, 1):
            if rules.position is None:
                change.ordinal = number
                continue
            if change.position is not None:
                last = change.position
            change.position = last
            if change.op in rules.bare_ops:
                place = change.op, last
                change.ordinal = since[place] = since.get(place, 0) + 1
            elif rules.numbers_ties:
                change.ordinal = since["", last] = since.get(("", last), 0) + 1


def by_key(changes: Iterable[Change]) -> dict[Key, list[Change]]:
    """Return the changes of each key, in the order of their feed."""
    found: dict[Key, list[Change]] = {}
    for change in changes:
        found.setdefault(change.key, []).append(change)
    for of_key in found.values():
        of_key.sort(key=lambda change: change.feed_order)
    return found
