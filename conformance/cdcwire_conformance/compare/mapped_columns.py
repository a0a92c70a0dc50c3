"""Columns that have one name in the left feed and another one in the right feed.

A mapped column has its left name in the table in which both meet. The right feed's rows are decoded
by its own name. The right feed gets definitions with its own names too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from cdcwire.arrow.schema import CanonicalTable
from cdcwire.arrow.types import SchemaError
from cdcwire.model.events import Table, TableName
from cdcwire_conformance.compare.aliases import Alias, renamed_table
from cdcwire_conformance.compare.feed import ComparedFeed, OpenedFeed
from cdcwire_conformance.compare.meaning import Meaning
from cdcwire_conformance.compare.rules import CompareOptions

Tables = dict[TableName, CanonicalTable]


def right_definitions(options: CompareOptions) -> CompareOptions:
    """Return the options with definitions in the words of the right feed."""
    definitions = tuple(_defined(each, options.meaning) for each in options.definitions)
    return replace(options, definitions=definitions)


def with_right_definitions(right: ComparedFeed, meaning: Meaning) -> ComparedFeed:
    """Return the right feed with the definitions of its context in its own words."""
    tables = tuple(_defined(each, meaning) for each in right.context.tables)
    return replace(right, context=replace(right.context, tables=tables))


def _defined(table: Table, meaning: Meaning) -> Table:
    known = {column.name for column in table.columns or ()}
    names = {
        left: right
        for of, left, right in _pairs(meaning)
        if of in (None, f"{table.schema}.{table.name}") and left in known and right not in known
    }
    if not names:
        return table
    columns = (replace(each, name=names.get(each.name, each.name)) for each in table.columns or ())
    key = None if table.key is None else tuple(names.get(each, each) for each in table.key)
    return replace(table, columns=tuple(columns), key=key)


def named_like_each_other(
    left: OpenedFeed,
    ours: Tables,
    right: OpenedFeed,
    theirs: Tables,
    meaning: Meaning,
) -> tuple[tuple[OpenedFeed, Tables], tuple[OpenedFeed, Tables]]:
    """Return both feeds and their tables, with names of columns and tables that both have.

    These are the names that the user maps, and those of a format that rewrites names.
    Raises: SchemaError.
    """
    right, theirs = _mapped(right, theirs, ours, meaning)
    left, ours = left.named_like(ours, right, theirs)
    right, theirs = right.named_like(theirs, left, ours)
    return (left, ours), (right, theirs)


def _mapped(
    right: OpenedFeed, theirs: Tables, ours: Tables, meaning: Meaning
) -> tuple[OpenedFeed, Tables]:
    found, aliases = dict(theirs), dict(right.aliases)
    unknown = {f"{left}={other}" for left, other in meaning.mapped.items()}
    for name, table in theirs.items():
        names: dict[str, str] = {}  # the left feed's by the right feed's
        for of, left, other in _pairs(meaning):
            if of not in (None, str(table)) or other not in table.column_names:
                continue
            if of is None and name in ours and left not in ours[name].column_names:
                continue
            if left in table.column_names:
                raise SchemaError(
                    f"--map-column: {table} of the right feed has a column {left} too"
                )
            names[other] = left
            unknown.discard(f"{left if of is None else f'{of}.{left}'}={other}")
        if names:
            found[name] = renamed_table(table, name, names)
            own = right.own_name(name)
            columns = {left: other for other, left in names.items()}
            aliases[name] = Alias(right.source.format.name, own, columns, has_note=own != name)
    if unknown:
        raise SchemaError(
            f"--map-column: no table has the columns {', '.join(sorted(unknown))}, of the left "
            "and of the right feed"
        )
    return replace(right, aliases=aliases), found


def _pairs(meaning: Meaning) -> Iterator[tuple[str | None, str, str]]:
    """Yield each pair of names, and the table if it is of one table only."""
    for left, right in meaning.mapped.items():
        table, _, column = left.rpartition(".")
        yield table or None, column, right
