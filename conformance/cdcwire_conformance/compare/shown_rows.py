"""Differences from the form in which an engine collects them: their values as text.

Presence bits distinguish an absent column from NULL.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

from cdcwire.arrow.schema import CanonicalTable
from cdcwire.core.orders import shown_place
from cdcwire.model.kind_text import kind_text
from cdcwire_conformance.compare.layout import FieldT, PairLayout
from cdcwire_conformance.compare.masking import redacted
from cdcwire_conformance.compare.result import (
    ABSENT,
    ColumnDifference,
    ImageName,
    RowDifference,
    RowPlace,
    RowVerdict,
    Shown,
)

LONGEST_TEXT = 1 << 16  # characters of one value
CHANGED = ("changed", "stale")
EVENT_FIELDS = ("op", "half")

_NOWHERE = RowPlace()
_IMAGES: tuple[ImageName, ...] = ("before", "after")
_SIDES = ("left", "right")
_OF_TABLE: dict[RowVerdict, RowVerdict] = {"only left": "missing", "only right": "left over"}

Collected: TypeAlias = Any  # ``Record`` of ``embedded.differences``


def difference_of(
    row: Collected,
    table: CanonicalTable,
    layout: PairLayout[FieldT],
    hidden: frozenset[str] = frozenset(),
) -> RowDifference:
    """Return a difference as reports have it. ``hidden``: columns without their values."""
    left, right = row.left, row.right
    verdict: RowVerdict = row.kind
    columns: tuple[ColumnDifference, ...] = ()
    against_table = layout.rules.against_table
    due = row.due if layout.rules.is_final else None
    if row.kind in CHANGED:
        is_changed = left.is_there and right.is_there
        if not is_changed:
            verdict = "only left" if left.is_there else "only right"
            verdict = _OF_TABLE[verdict] if against_table else verdict
        columns = tuple(_column_differences(row, table, layout, is_changed=is_changed))
    op = left.op if left.is_there else right.op
    names = [field.name for field in layout.keys]
    found = RowDifference(
        verdict,
        op,
        tuple((name, _shown(cut)) for name, cut in zip(names, row.key or (), strict=True)),
        tuple(_positions(row, layout, op)),
        left.copies,
        right.copies,
        columns,
        _place(left.source),
        _place(right.source),
        due=_shown_place(due.position) if due else None,
        due_place=_place(due.source) if due else None,
        explained=frozenset(
            table.columns[number].name for number in (row.explained or () if against_table else ())
        ),
    )
    return redacted(found, hidden)


def _positions(
    row: Collected, layout: PairLayout[FieldT], op: str
) -> Iterator[tuple[str, str | None]]:
    """Yield names and values of the columns that identify a change, or each side's last one."""
    rules = layout.rules
    if rules.against_table and rules.position is not None:
        if row.left.is_there:  # a table has no positions
            yield rules.position, _shown_place(row.left.position)
    elif rules.is_final and rules.position is not None:
        for side, it in (("left", row.left), ("right", row.right)):
            if it.is_there and it.position is not None:
                yield f"{side} {rules.position}", _shown_place(it.position)
    else:
        yield from position_of(layout, op, row.position)


def position_of(
    layout: PairLayout[FieldT], op: str, position: str | None
) -> Iterator[tuple[str, str | None]]:
    """Yield name and value of the column that says which of a key's changes one is."""
    rules = layout.rules
    if layout.place_name is not None:
        is_last = rules.has_bare_deletes and op == "delete" and rules.position
        name = rules.position or "ordinal"
        yield f"last {name}" if is_last else name, _shown_place(position)


def _shown_place(position: str | None) -> str | None:
    return None if position is None else shown_place(position)


def _column_differences(
    row: Collected, table: CanonicalTable, layout: PairLayout[FieldT], *, is_changed: bool
) -> Iterator[ColumnDifference]:
    left, right = row.left, row.right
    if is_changed:
        for name in (*EVENT_FIELDS, *layout.rules.fields):
            if left[name] != right[name]:
                yield ColumnDifference(None, name, "field", Shown(left[name]), Shown(right[name]))
    for image in _IMAGES:
        if is_changed and left[image] != right[image]:
            sent = [Shown("sent") if side[image] else ABSENT for side in (left, right)]
            yield ColumnDifference(image, None, "image", sent[0], sent[1])
            continue
        texts = {entry.number: entry for entry in row[image] or ()}
        presence = [
            (side[image], side[f"{image}_has"]) if side.is_there else (False, None)
            for side in (left, right)
        ]
        if presence[0] == presence[1]:  # then only values can differ
            if not texts:
                continue
            numbers: Iterable[int] = sorted(texts)
        else:
            numbers = range(len(table.columns))
        for number in numbers:
            column = table.columns[number]
            entry = texts.get(number)
            is_absent = [_is_absent(is_there, has, number) for is_there, has in presence]
            if all(is_absent) or (entry is None and is_absent[0] == is_absent[1]):
                continue
            shown = [
                ABSENT if absent else _shown(entry[side] if entry else None)
                for absent, side in zip(is_absent, _SIDES, strict=True)
            ]
            is_unchanged = False
            if image == "before" and is_changed and is_absent[0] != is_absent[1]:
                is_unchanged = number in row.unchanged["left" if is_absent[0] else "right"]
            kind = kind_text(column.type)
            yield ColumnDifference(image, column.name, kind, shown[0], shown[1], is_unchanged)


def _is_absent(is_there: bool, has: bytearray | None, number: int) -> bool:
    """Return whether an image lacks a column. One without presence bits has them all."""
    if not is_there:
        return True
    return has is not None and len(has) > 0 and not has[number // 8] >> number % 8 & 1


def _shown(cut: Collected) -> Shown:
    if cut is None or cut.text is None:
        return Shown(None)
    if cut.length <= len(cut.text):
        return Shown(cut.text)
    return Shown(cut.text, length=cut.length, digest=cut.digest)


def _place(source: Collected) -> RowPlace | None:
    if source is None:
        return None
    place = RowPlace(
        source.file, source.line, source.topic, source.partition, source.offset, source.row
    )
    return None if place == _NOWHERE else place
