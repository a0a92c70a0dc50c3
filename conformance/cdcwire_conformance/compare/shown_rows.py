"""Differences from the form in which an engine collects them: their values as text.

Presence bits distinguish an absent column from NULL. Values and statements are on one line, so that
no two different values look the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, TypeAlias

from cdcwire.arrow.schema import CanonicalTable
from cdcwire.console.visible import visible
from cdcwire.core.orders import shown_place
from cdcwire.model.kind_text import kind_text
from cdcwire_conformance.compare.layout import FieldT, PairLayout
from cdcwire_conformance.compare.masking import redacted
from cdcwire_conformance.compare.result import (
    ABSENT,
    ColumnDifference,
    Comparison,
    DdlDifference,
    ImageName,
    KafkaKeys,
    RowDifference,
    RowPlace,
    RowVerdict,
    Shown,
)
from cdcwire_conformance.compare.value_causes import cause_of

_LONGEST = 100  # characters of a value in the text
_BEFORE = 20  # the number of these before the first one that differs
_PLAIN = ("int", "float", "decimal", "year", "bit", "bool", "field", "image")
_BYTES = ("bytes", "unknown")
_PLAIN_KEY = re.compile(r"[\w.:+-]+")


def hidden_text(shown: Shown, kind: str = "") -> str:
    """Return what is shown of a hidden value. No real value is written in this form."""
    if shown.hidden == "redacted":
        return "<redacted>"
    is_bytes = kind.startswith(_BYTES)
    length = (shown.length or 0) // (2 if is_bytes else 1)
    return f"<masked {shown.text}, {counted(length, 'byte' if is_bytes else 'character')}>"


def problem_lines(found: Comparison) -> list[str]:
    """Return the differences that concern no table: schema changes too, and unreadable messages."""
    ddl = map(ddl_line, found.ddl_differences)
    return [*found.differences, *ddl, *key_lines(found.keys), *map(str, found.unreadable)]


def key_lines(keys: KafkaKeys) -> Iterator[str]:
    """Yield what is wrong with the Kafka keys: the numbers, then the first places."""
    if not any(keys.contradicting) and not keys.differ:
        return
    left, right = keys.contradicting
    word = "different Kafka keys" if keys.differ else "warning: Kafka keys"
    yield f"{word}: {left:,} on the left and {right:,} on the right contradict their rows"
    for each in keys.first:
        where = each.side if each.place is None else f"{each.side} {each.place}"
        what = "table" if each.column is None else each.column
        values = (
            f"{key_value(each.in_key)} in the key",
            f"{key_value(each.in_row)} in the row",
        )
        yield f"{where}: {each.table}: {what} is {', '.join(values)}"


def ddl_line(found: DdlDifference) -> str:
    """Return a schema change of one side on one line."""
    statement = found.statement
    text = " ".join((statement.text or "").split())
    if statement.hidden is not None:
        text = hidden_text(statement)
    elif statement.length is not None:
        text += "…"
    return f"only {found.side}: {found.place}: {text}"


def counted(number: int, word: str) -> str:
    """Return a number with its word in the right form."""
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def told_apart(shown: Shown, kind: str) -> Shown:
    """Return a value of a cause that print does not show, with escapes for what looks alike."""
    if kind != "unicode-form" or shown.text is None:
        return shown
    escaped = shown.text.encode("ascii", "backslashreplace").decode("ascii")
    return replace(shown, text=escaped)


def column_name(column: ColumnDifference) -> str:
    """Return a column with its image and its type."""
    if column.column is None:
        return f"{column.image} image"
    name = visible(column.column)
    return name if column.image is None else f"{column.image}.{name} ({column.kind})"


def key_text(key: Iterable[tuple[str, Shown]]) -> str:
    """Return the columns of a key with their values; unusual texts are in quotes."""
    return ", ".join(f"{visible(name)}={key_value(shown)}" for name, shown in key)


def key_value(shown: Shown) -> str:
    """Return a value of a key; unusual texts are in quotes."""
    if shown.hidden is not None:
        return hidden_text(shown)
    value = shown.text
    if value is None or _PLAIN_KEY.fullmatch(value):
        return _short(value)
    return f'"{_short(value)}"'


def sides_text(column: ColumnDifference) -> tuple[str, str]:
    """Return both values of a column, each with the part that differs."""
    left, right = column.left, column.right
    start = 0
    if left.hidden is None and right.hidden is None and ABSENT not in (left, right):
        cause = cause_of(left, right, column.kind)
        left, right = (told_apart(shown, cause.kind) for shown in (left, right))
        start = first_difference(left.text, right.text)
    return value_text(left, column.kind, start), value_text(right, column.kind, start)


def first_difference(left: str | None, right: str | None) -> int:
    """Return the first character from which two texts differ, or where the shorter ends."""
    if left is None or right is None:
        return 0
    for number, (ours, theirs) in enumerate(zip(left, right, strict=False)):
        if ours != theirs:
            return number
    return min(len(left), len(right))


def value_text(shown: Shown, kind: str, start: int) -> str:
    """Return a value on one line. ``start``: the character that has to be seen."""
    if shown.is_absent:
        return "absent"
    if shown.text is None:
        return "NULL"
    if shown.hidden is not None:
        return hidden_text(shown, kind)
    if kind.startswith(_PLAIN):
        return visible(shown.text)
    if kind.startswith(_BYTES):
        start -= start % 2
        return f"0x{_excerpt(shown.text, start)} ({(shown.length or len(shown.text)) // 2} bytes)"
    length = shown.length or len(shown.text)
    size = f" ({length:,} characters)" if length > _LONGEST else ""
    return f'"{visible(_excerpt(shown.text, start))}"{size}'


def _excerpt(value: str, start: int) -> str:
    if len(value) <= _LONGEST:
        return value
    first = max(0, min(start - _BEFORE, len(value) - _LONGEST))
    cut = value[first : first + _LONGEST]
    return f"{'…' if first else ''}{cut}{'…' if first + _LONGEST < len(value) else ''}"


def _short(value: str | None) -> str:
    return "NULL" if value is None else visible(_excerpt(value, 0))


def position_text(difference: RowDifference) -> str | None:
    """Return the positions of a change, each with its name; None if it has none."""
    known = (f"{name} {value}" for name, value in difference.position if value is not None)
    return ", ".join(known) or None


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
