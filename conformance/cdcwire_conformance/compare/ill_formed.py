"""Text that is not UTF-8, against a format that can't carry it and has U+FFFD in its place.

Producers replace each ill-formed byte, or each longest ill-formed sequence. So on both sides a run
of U+FFFD counts as one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from cdcwire.arrow.schema import CanonicalTable
from cdcwire.model.events import TableName
from cdcwire.model.kinds import BytesType, TextType
from cdcwire_conformance.compare.feed import OpenedFeed

_VERDICT = "text ill-formed"


def replaced_text(name: TableName, left: OpenedFeed, right: OpenedFeed) -> frozenset[str]:
    """Return the columns of a table whose ill-formed text only one of the formats can carry."""
    ours, theirs = (
        feed.facts.ill_formed.get(feed.own_name(name), frozenset()) for feed in (left, right)
    )
    found: set[str] = set()
    for own, other in ((ours, right), (theirs, left)):
        if other.side.carries.kinds[_VERDICT].verdict != "exact":
            found |= own
    return frozenset(found)


def with_text(table: CanonicalTable, names: Collection[str]) -> CanonicalTable:
    """Return the table with these columns of bytes as text."""
    columns = tuple(
        replace(each, type=TextType(each.type.length))
        if each.name in names and isinstance(each.type, BytesType)
        else each
        for each in table.columns
    )
    return replace(table, columns=columns)


def with_bytes(table: CanonicalTable, names: Collection[str]) -> CanonicalTable:
    """Return the table with these columns of text as bytes, as they are decoded."""
    return table.with_binary_text(set(names) & _texts(table)) if names else table


def _texts(table: CanonicalTable) -> set[str]:
    return {each.name for each in table.columns if isinstance(each.type, TextType)}


def replaced_notes(names: Collection[str]) -> Iterator[str]:
    """Yield a line that says so, if there are such columns."""
    if names:
        yield (
            f"text that is not UTF-8 is compared as U+FFFD ({', '.join(sorted(names))}): only one "
            "of the formats can carry it"
        )
