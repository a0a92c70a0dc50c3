"""Lines about two feeds as a whole, which are true whatever the rows of their tables are."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from cdcwire.core.format import TableName
from cdcwire_conformance.arrow.schema import name_text
from cdcwire_conformance.compare.feed import OpenedFeed
from cdcwire_conformance.compare.result import SideName
from cdcwire_conformance.compare.rules import CompareOptions, ComparisonRules, Window


def window_note(rules: ComparisonRules, window: Window) -> str:
    """Return the line that names a window."""
    return f"only changes with {rules.position} {window}"


def checkpoint_notes(sides: Iterable[tuple[SideName, OpenedFeed]]) -> Iterator[str]:
    """Yield a line for each storage prefix that does not say how far it is complete."""
    for side, feed in sides:
        if feed.opened.prefix is not None and feed.opened.prefix.checkpoint is None:
            yield (
                f"{side}: the prefix has no file metadata, so its rows have no checkpoint: all are "
                "compared, also those of an unfinished write"
            )


def unused_definitions(options: CompareOptions, known: Collection[TableName]) -> Iterator[str]:
    """Yield a line if none of the user's definitions is of a table that a feed has rows of."""
    defined = [(each.schema, each.name) for each in options.definitions if each.name is not None]
    if defined and not set(defined) & set(known):
        first = name_text(defined[0])
        names = first if len(defined) == 1 else f"any of {len(defined):,} tables, such as {first}"
        yield f"--ddl, --tables: no feed has rows of {names}"
