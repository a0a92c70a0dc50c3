"""The windows of two topics that are followed, for people and as JSON lines."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from cdcwire.console.visible import visible, visible_lines
from cdcwire.model.text import Json
from cdcwire_conformance.compare.document import document
from cdcwire_conformance.compare.report import (
    found_lines,
    other_events_lines,
    verdict_line,
)
from cdcwire_conformance.compare.shown_text import counted
from cdcwire_conformance.spark.follow.following import WindowComparison
from cdcwire_conformance.spark.follow.watermarks import Notices

WINDOW_VERSION = 1

_KINDS = (("late", "late"), ("unplaced", "without a position"), ("unreadable", "unreadable"))


def window_text(found: WindowComparison) -> str:
    """Return a window as text: its verdict, tables, differences, DDL events and notices."""
    return "".join(line.rstrip() + "\n" for line in _lines(found))


def terms_text(found: WindowComparison) -> str:
    """Return what windows are compared by, which is the same in all."""
    comparison = found.comparison
    lines = [f"compared: {', '.join(name for name in comparison.compared if name != 'half')}"]
    lines += [f"not compared: {name} ({reason})" for name, reason in comparison.left_out]
    return "".join(f"{line}\n" for line in lines) if comparison.compared else ""


def _lines(found: WindowComparison) -> Iterator[str]:
    yield f"window {found.number}, {_range_of(found)}: {_verdict(found)}"
    body = list(found_lines(found.comparison))
    while body and not body[-1]:
        body.pop()
    body += other_events_lines(found.comparison)
    body += (f"hint: {visible(hint)}" for hint in found.comparison.hints)
    yield from (f"  {line}" for line in body)
    for side, notices in (("left", found.left), ("right", found.right)):
        if notices:
            yield f"  {side}: {_counts(notices)}"
            yield from (f"    {visible(line)}" for line in notices.lines)
            left = notices.total - len(notices.lines)
            if left > 0:
                yield f"    and {left:,} more"


def _range_of(found: WindowComparison) -> str:
    if found.end is None:
        return "before anything is complete"
    start = "" if found.start is None else f"from {found.start} "
    return f"{found.position} {start}to {found.end}"


def _verdict(found: WindowComparison) -> str:
    comparison = found.comparison
    verdict = verdict_line(comparison)
    has_ddl = "DDL" in comparison.compared and any(comparison.ddl)
    if has_ddl and not comparison.tables and not comparison.is_different:
        verdict = f"EQUAL: {counted(comparison.ddl[0], 'DDL event')}"
    reasons = [
        f"{_counts(notices)} on the {side}"
        for side, notices in (("left", found.left), ("right", found.right))
        if notices
    ]
    if not reasons:
        return verdict
    if not found.comparison.is_different and not found.is_equal:
        rest = "; the rest is equal" if found.comparison.is_equal else ""
        return f"DIFFERENT: {', '.join(reasons)}{rest}"
    return ", ".join((verdict, *reasons))


def _counts(notices: Notices) -> str:
    counts = ((getattr(notices, name), word) for name, word in _KINDS)
    return ", ".join(f"{count:,} {word}" for count, word in counts if count)


def window_document(found: WindowComparison) -> dict[str, Json]:
    """Return the JSON document of a window. Positions are text, as they may have 38 digits."""
    sides = (("left", found.left), ("right", found.right))
    return {
        "window": found.number,
        "version": WINDOW_VERSION,
        "position": found.position,
        "start": None if found.start is None else str(found.start),
        "end": None if found.end is None else str(found.end),
        "equal": found.is_equal,
        **{name: {side: getattr(each, name) for side, each in sides} for name, _ in _KINDS},
        "lines": {side: list(each.lines) for side, each in sides},
        "comparison": document(found.comparison),
    }


class WindowLines:
    """A file of JSON lines, a window each. A window that is in it is not written again.

    ``is_new``: begin the file anew. Else a last line that was not finished is taken away.
    Raises: OSError.
    """

    def __init__(self, path: Path, *, is_new: bool) -> None:
        self._path = path
        self._last = 0
        if is_new or not path.exists():
            path.write_bytes(b"")
            return
        whole = 0
        with path.open("rb") as lines:
            for line in lines:
                number = _number_of(line)
                if number is None:
                    break
                self._last = number
                whole += len(line)
        with path.open("r+b") as file:
            file.truncate(whole)

    def write(self, found: WindowComparison) -> None:
        """Append a window to the file, unless the file has it already. Raises: OSError."""
        if found.number <= self._last:
            return
        line = visible_lines(json.dumps(window_document(found), ensure_ascii=False))
        with self._path.open("a", encoding="utf-8", newline="\n") as file:
            file.write(f"{line}\n")
        self._last = found.number


def _number_of(line: bytes) -> int | None:
    """Return the window of a line; None if it is not a whole line of a window."""
    try:
        number = json.loads(line)["window"] if line.endswith(b"\n") else None
    except (ValueError, KeyError, TypeError):
        return None
    return number if isinstance(number, int) else None
