"""Values and statements on one line, so that no two different values look the same."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from cdcwire.console.visible import visible
from cdcwire_conformance.compare.result import (
    ABSENT,
    ColumnDifference,
    Comparison,
    DdlDifference,
    KafkaKeys,
    RowDifference,
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
