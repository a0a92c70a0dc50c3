"""The names by which tables of two feeds meet, where there is a database above the schema.

A feed whose tables are all in one database names them without it. If the databases of both feeds
are not one and the same, both name their tables with them: tables of two databases are two tables.
If only one feed has databases, they are not compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

from cdcwire.arrow.schema import CanonicalTable
from cdcwire.model.events import TableName, full_schema
from cdcwire_conformance.compare.aliases import Alias
from cdcwire_conformance.compare.feed import OpenedFeed

Tables = Mapping[TableName, CanonicalTable]


@dataclass(frozen=True, slots=True)
class NamedFeeds:
    """Both feeds with their tables, by the names under which these are compared."""

    left: tuple[OpenedFeed, dict[TableName, CanonicalTable]]
    right: tuple[OpenedFeed, dict[TableName, CanonicalTable]]
    left_out: tuple[tuple[str, str], ...] = ()


def named_by_database(
    left: OpenedFeed,
    own: dict[TableName, CanonicalTable],
    right: OpenedFeed,
    others: dict[TableName, CanonicalTable],
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
) -> tuple[OpenedFeed, dict[TableName, CanonicalTable]]:
    aliases = dict(feed.aliases)
    found: dict[TableName, CanonicalTable] = {}
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
