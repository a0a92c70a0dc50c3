"""Rows that only one side has, where the other side has rows or messages that can't be read.

A row that can't be read keeps its key where it can. Then its like on the other side does not count
as alone, which is decided pair by pair. Without a known key, it may be any row of its table:

- In a table without a key, rows meet only their equals. If each side has at least as many
  unreadable rows as the other side has rows more, no row is surely alone. These rows are unsure.
- Else a line says how many rows are alone, and how many rows or messages may have them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from cdcwire_conformance.compare.result import Counts, SideName, TableComparison
from cdcwire_conformance.compare.shown_text import counted

_SIDES: tuple[tuple[SideName, SideName], ...] = (("left", "right"), ("right", "left"))
_MORE = ("only", "repeated", "doubled")  # rows that a side has more than the other


def without_unsure(found: TableComparison, *, has_key: bool) -> TableComparison:
    """Return the comparison of a table without differences, if unreadable rows may be all of them.

    ``has_key``: rows pair by a key. Then the pairs say which rows have a partner.
    """
    counts = found.counts
    if has_key or found.is_final or counts is None or not counts.unreadable:
        return found
    for side, other in _SIDES:
        numbers = {f"{name}_{side}": 0 for name in _MORE}
        more = sum(getattr(counts, name) for name in numbers)
        if more <= getattr(counts, f"unreadable_{other}"):
            counts = replace(counts, **numbers, **{f"unsure_{side}": more})
    if counts.differing:
        return found
    return replace(found, counts=counts, differences=(), patterns=())


def unreadable_notes(counts: Counts | None) -> Iterator[str]:
    """Yield which rows of one side may not be alone, because the other side has unreadable ones."""
    if counts is None:
        return
    for side, other in _SIDES:
        alone, unsure = (getattr(counts, f"{name}_{side}") for name in ("only", "unsure"))
        number = getattr(counts, f"unreadable_{other}")
        which = "row or message" if number == 1 else "rows or messages"
        may_be = f"may belong to {number:,} unreadable {which} on the {other}"
        if unsure:
            yield f"{counted(unsure, 'row')} more on the {side} {may_be}"
        elif alone and number:
            yield f"{counted(alone, 'row')} only on the {side} {may_be}"
