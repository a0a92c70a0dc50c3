"""The names by which tables and columns of two feeds meet, and those that a user gives, checked.

A feed whose tables are all in one database names them without it. If the databases of both feeds
are not one and the same, both name their tables with them: tables of two databases are two tables.
If only one feed has databases, they are not compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from cdcwire.arrow.schema import CanonicalTable, name_text
from cdcwire.arrow.types import SchemaError
from cdcwire.console.problems import meant_or_met
from cdcwire.model.events import Table, TableName, full_schema
from cdcwire_conformance.compare.aliases import Alias, renamed_table
from cdcwire_conformance.compare.feed import ComparedFeed, OpenedFeed
from cdcwire_conformance.compare.meaning import Meaning
from cdcwire_conformance.compare.rules import CompareOptions
from cdcwire_conformance.decode.describe import tables_met
from cdcwire_conformance.decode.workers import Workers

Tables: TypeAlias = dict[TableName, CanonicalTable]


@dataclass(frozen=True, slots=True)
class NamedFeeds:
    """Both feeds with their tables, by the names under which these are compared."""

    left: tuple[OpenedFeed, Tables]
    right: tuple[OpenedFeed, Tables]
    left_out: tuple[tuple[str, str], ...] = ()


def named_by_database(
    left: OpenedFeed,
    own: Tables,
    right: OpenedFeed,
    others: Tables,
    renamed: Mapping[str, str],
) -> NamedFeeds:
    """Return both feeds by names with their databases, where these matter.

    ``renamed``: the left feed's database by the right feed's, where the user says so.
    """
    ours = {name: left.database_of(name) for name in own}
    theirs = {name: _renamed(right.database_of(name), renamed) for name in others}
    known = [set(found.values()) - {None} for found in (ours, theirs)]
    if not any(known) or (known[0] == known[1] and len(known[0]) == 1):
        return NamedFeeds((left, own), (right, others))
    if not all(known):
        side, lacking = ("left", "right") if known[0] else ("right", "left")
        reason = f"the {lacking} feed has none; in the {side} feed: {_list(known[not known[0]])}"
        return NamedFeeds(
            _with_names(left, own, _short(left, own)),
            _with_names(right, others, _short(right, others)),
            (("databases", reason),),
        )
    names = {name: _full(left, name, database) for name, database in ours.items()}
    by_short = {name: new for name, new in names.items() if left.own_name(name) == name}
    others_names = {
        # A name that the user gave is that of a table of the left feed.
        name: by_short.get(name, name) if right.is_mapped(name) else _full(right, name, database)
        for name, database in theirs.items()
    }
    return NamedFeeds(_with_names(left, own, names), _with_names(right, others, others_names))


def _renamed(database: str | None, renamed: Mapping[str, str]) -> str | None:
    return None if database is None else renamed.get(database, database)


def _full(feed: OpenedFeed, name: TableName, database: str | None) -> TableName:
    schema, table = feed.facts.bare.get(feed.own_name(name), name)
    return full_schema(database, schema), table


def _short(feed: OpenedFeed, tables: Tables) -> dict[TableName, TableName]:
    """Return the names without a database, of tables whose name is in one database only."""
    bare = {
        name: feed.facts.bare.get(feed.own_name(name), name)
        for name in tables
        if not feed.is_mapped(name)
    }
    counts = Counter(bare.values())
    return {name: short for name, short in bare.items() if counts[short] == 1}


def _with_names(
    feed: OpenedFeed, tables: Tables, names: Mapping[TableName, TableName]
) -> tuple[OpenedFeed, Tables]:
    aliases = dict(feed.aliases)
    found: Tables = {}
    for name, table in tables.items():
        new = names.get(name, name)
        if new != name:
            known = aliases.pop(name, None) or Alias(feed.source.format.name, name, {}, False)
            aliases[new] = known
            table = replace(table, schema=new[0], table=new[1])
        found[new] = table
    return replace(feed, aliases=aliases), found


def _list(databases: set[str | None]) -> str:
    return ", ".join(sorted(str(each) for each in databases))


def check_names(
    both: tuple[Mapping[TableName, CanonicalTable], Mapping[TableName, CanonicalTable]],
    options: CompareOptions,
    feeds: tuple[OpenedFeed, OpenedFeed],
    workers: Workers,
) -> None:
    """Check the chosen names of tables and columns against the feeds.

    ``both``: the chosen tables of both. Raises: SchemaError for a table or column that no feed has,
    or if there is no table.
    """
    included = set(map(name_text, options.include or ()))
    known = (name for feed in feeds for name in feed.facts.names)
    has_rows = set(map(name_text, (*both[0], *both[1], *known)))
    missing = sorted(included - has_rows)
    tables = [table for each in both for table in each.values()]
    if missing:
        met = {name for feed in feeds for name in tables_met(feed.opened, workers)}
        meant = meant_or_met(missing[0], map(name_text, met))
        raise SchemaError(f"neither feed has rows of {', '.join(missing)}{meant}")
    if not tables:
        raise SchemaError("neither feed has a row change, so there is nothing to compare")
    strange = strange_columns(tables, options)
    if strange:
        columns = {name for table in tables for name in table.column_names}
        meant = meant_or_met(strange[0], columns)
        raise SchemaError(f"no table has a column {', '.join(strange)}{meant}")
    unknown = options.meaning.unknown(tables)
    if unknown:
        raise SchemaError(unknown[0])


def strange_columns(tables: Iterable[CanonicalTable], options: CompareOptions) -> list[str]:
    """Return the wanted columns that none of the tables has."""
    known = {name for table in tables for name in table.column_names}
    return sorted((options.columns or frozenset()) - known)


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
    """Yield each pair of names, and the table if it concerns one table only."""
    for left, right in meaning.mapped.items():
        table, _, column = left.rpartition(".")
        yield table or None, column, right
