"""The differences of pairs, in the form that ``compare.shown_rows`` takes.

Rows of one side pair with rows of the other side within their pair. Rows of the same op come first,
then the rest, each in the order of their feed. Where one cause makes all rows of a feed differ, the
rows differ by values alone. ``ChangedRows`` makes theirs directly, at a lower cost.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import zip_longest
from types import SimpleNamespace
from typing import Any

import pyarrow as pa

from cdcwire.arrow.schema import CanonicalTable
from cdcwire.model.kind_text import kind_text
from cdcwire_conformance.compare.embedded.changes import (
    SOURCE,
    Change,
    Image,
    Key,
    Layout,
    nulls_first,
)
from cdcwire_conformance.compare.embedded.counting import Content, DifferingPair
from cdcwire_conformance.compare.embedded.final_state import DifferingKey, State
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
from cdcwire_conformance.compare.shown_rows import CHANGED, EVENT_FIELDS, Collected, position_of

_SIDES = ("left", "right")
_IMAGES = ("before", "after")


class Record(SimpleNamespace):
    """A difference with its values as text: fields by attribute and by name."""

    def __getitem__(self, name: str) -> Any:
        """Return a field."""
        return getattr(self, name)


class _Row:
    """One side of a difference: a change or a last row, and how many copies there are."""

    def __init__(self, change: Change, copies: int, fields: Iterable[str]) -> None:
        self.op, self.half = change.op, change.half
        self.images = {"before": change.before, "after": change.after}
        self.fields = dict(zip(fields, change.fields, strict=True))
        self.copies = copies
        self.source = change.row.source
        self.position: str | None = None

    @classmethod
    def of_state(cls, state: State) -> _Row:
        found = cls.__new__(cls)
        found.op, found.half, found.fields = "row", None, {}
        found.images = {"before": None, "after": state.after}
        found.copies, found.source = 1, state.source
        found.position = None if state.position is None else str(state.position)
        return found


def order_of_pair(pair: DifferingPair, layout: Layout) -> tuple[Any, ...]:
    """Return the order of a pair among all: by its position, then by its key."""
    position, key, *ordinal = pair.key
    if not layout.keys:
        return nulls_first(position), min(map(_first_place, pair.contents))
    return nulls_first(position), order_of_key(key), tuple(ordinal)


def order_of_key(key: Key) -> tuple[Any, ...]:
    """Return the order of a key among all."""
    return () if key is None else tuple(map(nulls_first, key))


def differences_of_pair(
    pair: DifferingPair, layout: Layout, longest: int | None
) -> Iterator[Collected]:
    """Yield the differences of a pair. ``longest``: of a text."""
    key = pair.key[1] if layout.keys else ()
    place = layout.place_name
    position = None if place is None else pair.key[0 if place == "position" else 2]
    for kind, left, right in _side_by_side(pair, layout):
        yield _record(kind, key, position, (left, right), layout, longest)


def differences_of_key(
    key: DifferingKey, layout: Layout, longest: int | None
) -> Iterator[Collected]:
    """Yield the differences of a key's last rows. ``longest``: of a text."""
    states = (key.left, key.right)
    rows = tuple(None if state is None else _Row.of_state(state) for state in states)
    if key.kind is not None:
        found = _record(key.kind, key.key, None, (rows[0], rows[1]), layout, longest)
        found.explained = key.explained
        if key.due is not None:
            due = _Row.of_state(key.due)
            found.due = Record(position=due.position, source=_source(due))
        yield found
    if key.copies > 1 and rows[1] is not None:
        rows[1].copies = key.copies
        yield _record("doubled", key.key, None, (rows[0], rows[1]), layout, longest)


def _side_by_side(
    pair: DifferingPair, layout: Layout
) -> Iterator[tuple[str, _Row | None, _Row | None]]:
    """Yield the differences of a pair: kind, and what is shown of both sides."""
    fields = layout.rules.fields
    contents = sorted(pair.contents, key=_first_place)
    is_out_of_order = any(pair.out_of_order)
    kept = [each for each in contents if each.count(0) != each.count(1) or is_out_of_order]
    hides_more = pair.has_unreadable[::-1]  # of each side, as the other may have it unreadable
    for content in kept:
        more = content.count(0) - content.count(1)
        if more and content.count(0) and content.count(1) and not hides_more[more < 0]:
            kind = "repeated" if pair.is_repeated else "doubled"
            left, right = (_row(content, side, fields) for side in (0, 1))
            yield kind, left, right
    lonely = [[each for each in kept if not each.count(1 - side)] for side in (0, 1)]
    yield from (("changed", *rows) for rows in _met(lonely, fields, hides_more))
    if is_out_of_order:
        late = [
            next((each for each in kept if is_late and each.count(side)), None)
            for side, is_late in enumerate(pair.out_of_order)
        ]
        rows = [
            None if each is None else _row(each, side, fields) for side, each in enumerate(late)
        ]
        yield "out of order", rows[0], rows[1]


def _met(
    lonely: list[list[Content]], fields: Iterable[str], hides_more: tuple[bool, ...]
) -> Iterator[tuple[_Row | None, _Row | None]]:
    """Yield rows of one side with rows of the other side: those of one op first, then the rest.

    ``hides_more``: of each side, whether its rows that meet none are left out.
    """
    by_op: dict[Any, tuple[list[Content], list[Content]]] = {}
    for side, contents in enumerate(lonely):
        for each in contents:
            by_op.setdefault(_any_copy(each).op, ([], []))[side].append(each)
    rest: tuple[list[Content], list[Content]] = ([], [])
    for op in sorted(by_op, key=nulls_first):
        ours, theirs = by_op[op]
        for left, right in zip(ours, theirs, strict=False):
            yield _row(left, 0, fields), _row(right, 1, fields)
        met = min(len(ours), len(theirs))
        rest[0].extend(ours[met:])
        rest[1].extend(theirs[met:])
    met = min(len(rest[0]), len(rest[1]))
    for more, is_hidden in zip(rest, hides_more, strict=True):
        if is_hidden:
            del more[met:]
    for own, other in zip_longest(*rest):
        yield (
            None if own is None else _row(own, 0, fields),
            None if other is None else _row(other, 1, fields),
        )


def _any_copy(content: Content) -> Change:
    return next(iter(content.copies[0] or content.copies[1]))


def _first_place(content: Content) -> tuple[Any, ...]:
    side = 0 if content.count(0) else 1
    first = content.first(side)
    assert first is not None
    return first.feed_place, side, first.feed_order  # both sides may have a row at one place


def _row(content: Content, side: int, fields: Iterable[str]) -> _Row:
    """Return a change as one side shows it, with the place of its first copy there."""
    change = content.first(side) or _any_copy(content)
    found = _Row(change, content.count(side), fields)
    if not content.count(side):
        found.source = None
    return found


def _record(
    kind: str,
    key: Key,
    position: Any,
    sides: tuple[_Row | None, _Row | None],
    layout: Layout,
    longest: int | None,
) -> Record:
    types = [field.type for field in layout.keys]
    values = key if key is not None else (None,) * len(types)
    texts = [_cut(text_of(value, each), longest) for value, each in zip(values, types, strict=True)]
    shown = {name: _shown_side(row, layout) for name, row in zip(_SIDES, sides, strict=True)}
    images = {name: _columns(kind, sides, name, layout, longest) for name in _IMAGES}
    place = None if position is None else str(position)
    return Record(
        kind=kind,
        key=texts,
        position=place,
        due=None,
        explained=None,
        unchanged=_unchanged(sides, layout),
        **shown,
        **images,
    )


def _unchanged(sides: tuple[_Row | None, _Row | None], layout: Layout) -> Record:
    """Return the columns whose before value on the other side is the after value of each side."""
    images = [{} if row is None else row.images for row in sides]
    found = {}
    for name, own, other in zip(_SIDES, images, reversed(images), strict=True):
        after, before = own.get("after"), other.get("before")
        found[name] = (
            []
            if own.get("before") is None or after is None or before is None
            else [n for n in range(len(layout.fields)) if after[0][n] == before[0][n]]
        )
    return Record(**found)


def _shown_side(row: _Row | None, layout: Layout) -> Record:
    fields: dict[str, Any] = dict.fromkeys((*EVENT_FIELDS, *layout.rules.fields))
    before = after = None
    if row is not None:
        fields["op"], fields["half"] = row.op, row.half
        for name, value in row.fields.items():
            fields[name] = None if value is None else str(value)
        before, after = row.images["before"], row.images["after"]
    return Record(
        is_there=row is not None,
        copies=0 if row is None else row.copies,
        source=_source(row),
        position=None if row is None else row.position,
        before=before is not None,
        after=after is not None,
        before_has=before[1] if before else None,
        after_has=after[1] if after else None,
        **fields,
    )


def _source(row: _Row | None) -> Record | None:
    if row is None or row.source is None:
        return None
    return Record(**dict(zip(SOURCE, row.source, strict=True)))


def _columns(
    kind: str,
    sides: tuple[_Row | None, _Row | None],
    name: str,
    layout: Layout,
    longest: int | None,
) -> list[Record] | None:
    """Return number, left and right text of an image's columns that differ.

    For a row that one side has alone it is all columns; nothing if only one of two rows has the
    image.
    """
    images: list[Image | None] = [None if row is None else row.images[name] for row in sides]
    left, right = images
    if kind not in CHANGED or (left is None and right is None):
        return None
    is_single = None in sides
    if not is_single and (left is None or right is None):
        return []
    nothing = (None,) * len(layout.fields)
    values = zip(*(nothing if image is None else image[0] for image in images), strict=True)
    found = []
    for number, (own, other) in enumerate(values):
        if is_single or own != other:
            kind = layout.fields[number].type
            cuts = _cut_of(own, kind, longest), _cut_of(other, kind, longest)
            found.append(Record(number=number, left=cuts[0], right=cuts[1]))
    return found


def _cut_of(value: Value, kind: pa.DataType, longest: int | None) -> Record:
    return _cut(text_of(value, kind), longest)


def _cut(text: str | None, longest: int | None) -> Record:
    """Return the beginning of a text, and length and digest of it all."""
    if text is None:
        return Record(text=None, length=None, digest=None)
    if longest is None or len(text) <= longest:
        return Record(text=text, length=len(text), digest=None)
    return Record(text=text[:longest], length=len(text), digest=digest_of(text))


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
