"""Values of rows on one line, so that no two different values look the same."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from cdcwire_conformance.spark.compare.result import ColumnDifference, Shown
from cdcwire_conformance.visible import visible

_LONGEST = 100  # characters of a value in the text
_BEFORE = 20  # the number of these before the first one that differs
_PLAIN = ("int", "float", "decimal", "year", "bit", "bool", "field", "image")
_PLAIN_KEY = re.compile(r"[\w.:+-]+")


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
    return ", ".join(f"{visible(name)}={_key_value(shown.text)}" for name, shown in key)


def _key_value(value: str | None) -> str:
    if value is None or _PLAIN_KEY.fullmatch(value):
        return _short(value)
    return f'"{_short(value)}"'


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
    if kind.startswith(_PLAIN):
        return visible(shown.text)
    if kind.startswith(("bytes", "unknown")):
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
