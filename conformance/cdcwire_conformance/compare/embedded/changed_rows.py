"""Differences of rows that differ by values alone, made directly.

Where one cause makes all rows of a feed differ, they are such rows. ``differences`` and
``compare.shown_rows`` give the same differences for all kinds of pairs, at a higher cost.
"""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from cdcwire.arrow.schema import CanonicalTable
from cdcwire.model.kind_text import kind_text
from cdcwire_conformance.compare.embedded.changes import Change, Image, Layout
from cdcwire_conformance.compare.embedded.counting import DifferingPair
from cdcwire_conformance.compare.embedded.values import Value, text_of
from cdcwire_conformance.compare.masking import redacted
from cdcwire_conformance.compare.result import (
    ColumnDifference,
    ImageName,
    RowDifference,
    RowPlace,
    Shown,
    digest_of,
)
from cdcwire_conformance.compare.shown_rows import position_of


class ChangedRows:
    """Makes the differences of a table's changed rows.

    ``hidden``: columns without their values. ``longest``: characters of a text; None: all.
    """

    def __init__(
        self, table: CanonicalTable, layout: Layout, hidden: frozenset[str], longest: int | None
    ) -> None:
        self._layout = layout
        self._hidden = hidden
        self._longest = longest
        self._columns = [(each.name, kind_text(each.type)) for each in table.columns]
        self._types = [each.type for each in layout.fields]
        self._place = {"position": 0, "ordinal": 2}.get(layout.place_name or "")

    def of(self, pair: DifferingPair) -> RowDifference | None:
        """Return the difference of a pair whose two changes differ by values; None for others."""
        changes = _only_changes(pair)
        if changes is None or not self._layout.keys:
            return None
        own, other = changes
        if (own.op, own.half, own.fields) != (other.op, other.half, other.fields) or any(
            _presence(image) != _presence(theirs)
            for image, theirs in ((own.before, other.before), (own.after, other.after))
        ):
            return None
        columns = (
            *self._differing("before", own.before, other.before),
            *self._differing("after", own.after, other.after),
        )
        key = own.key or (None,) * len(self._layout.keys)
        place = None if self._place is None else pair.key[self._place]
        text = None if place is None else str(place)
        found = RowDifference(
            "changed",
            own.op or "",
            tuple(
                (each.name, self._shown(value, each.type))
                for each, value in zip(self._layout.keys, key, strict=True)
            ),
            tuple(position_of(self._layout, own.op or "", text)),
            1,
            1,
            columns,
            _place_of(own),
            _place_of(other),
        )
        return redacted(found, self._hidden)

    def _differing(
        self, name: ImageName, own: Image | None, other: Image | None
    ) -> Iterator[ColumnDifference]:
        if own is None or other is None or own[0] == other[0]:
            return
        for number, (left, right) in enumerate(zip(own[0], other[0], strict=True)):
            if left != right:
                column, kind = self._columns[number]
                ours, theirs = (self._shown(each, self._types[number]) for each in (left, right))
                yield ColumnDifference(name, column, kind, ours, theirs)

    def _shown(self, value: Value, kind: pa.DataType) -> Shown:
        text = text_of(value, kind)
        if text is None or self._longest is None or len(text) <= self._longest:
            return Shown(text)
        return Shown(text[: self._longest], length=len(text), digest=digest_of(text))


def _only_changes(pair: DifferingPair) -> tuple[Change, Change] | None:
    """Return the changes of a pair that has one on each side, in time on both."""
    if len(pair.contents) != 2 or any(pair.out_of_order):
        return None
    (left, no_right), (no_left, right) = (each.copies for each in pair.contents)
    if len(left) != 1 or len(right) != 1 or no_right or no_left:
        return None
    return left[0], right[0]


def _presence(image: Image | None) -> bytes | None:
    return None if image is None else image[1]


def _place_of(change: Change) -> RowPlace | None:
    if change.row.source is None:
        return None
    topic, partition, offset, file, line, row = change.row.source
    if file is line is topic is partition is offset is row is None:
        return None
    return RowPlace(file, line, topic, partition, offset, row)
