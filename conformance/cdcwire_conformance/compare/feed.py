"""One side of a comparison: its tables, its frames, its names, and where its rows came from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from cdcwire.arrow.batches import MessagePlace
from cdcwire.arrow.schema import (
    CanonicalTable,
    Fill,
    name_text,
    rewritten_name,
    union_tables,
)
from cdcwire.arrow.types import SchemaError
from cdcwire.core.context import NO_CONTEXT, Context
from cdcwire.core.orders import Order
from cdcwire.model.events import TableName, full_schema
from cdcwire_conformance.compare.aliases import Alias, named_like, renamed_table
from cdcwire_conformance.compare.deleted_rows import DeletedRows, deleted_rows, whole_deletes
from cdcwire_conformance.compare.last_state import LastState, Share, StatedFeed, last_state
from cdcwire_conformance.compare.result import RowPlace
from cdcwire_conformance.compare.rules import CompareOptions, Side
from cdcwire_conformance.decode.describe import Described, survey_feed
from cdcwire_conformance.decode.kafka_keys import KeyFacts
from cdcwire_conformance.decode.many_tables import Ahead
from cdcwire_conformance.decode.opening import OpenedSource, open_source
from cdcwire_conformance.decode.other_events import OtherEvents, RowSpan
from cdcwire_conformance.decode.row_facts import (
    ColumnSets,
    Extent,
    KindWords,
    Range,
    RowFacts,
    joined_facts,
)
from cdcwire_conformance.decode.surveying import Only
from cdcwire_conformance.decode.workers import Workers
from cdcwire_conformance.sources.pieces import line_numbers, lines_of_rows
from cdcwire_conformance.sources.source_urls import Source


@dataclass(frozen=True, slots=True)
class ComparedFeed:
    """A source, and what its bytes do not show: the producer's options, claim-check files."""

    source: Source
    context: Context = NO_CONTEXT

    @property
    def side(self) -> Side:
        """The format of the feed with its options."""
        return side_of(self.source, self.context)

    def open(self, options: CompareOptions, workers: Workers) -> OpenedFeed:
        """Return the feed with its source opened. Errors: as of ``open_source``."""
        include = _included(self.source, options)
        context = self.context_for(options)
        opened = open_source(self.source, context, options.on_error, include, workers=workers)
        return OpenedFeed(opened)

    def context_for(self, options: CompareOptions) -> Context:
        """Return the context in which messages are read."""
        if options.meaning.has_snapshots:
            return self.context
        return replace(self.context, selection=replace(self.context.selection, reads=False))


def spellings(name: TableName) -> frozenset[TableName]:
    """Return a name as options have it: the schema ends at the first dot or at the last one."""
    text = name_text(name)
    first, last = text.partition("."), text.rpartition(".")
    return frozenset({name, (first[0], first[2]), (last[0], last[2])})


def _names_of(described: Described) -> frozenset[TableName]:
    """Return the names of a table, with and without its database."""
    own = _own_name(described)
    if described.database is None:
        return frozenset({own})
    schema, table = described.bare or own
    return frozenset(
        {own, (schema, table), *spellings((full_schema(described.database, schema), table))}
    )


def _own_name(described: Described) -> TableName:
    return described.table.schema, described.table.table


def _last_dot(name: TableName) -> TableName:
    """Return a name that a user gave, with the database at its schema."""
    schema, _, table = name_text(name).rpartition(".")
    return (schema, table) if name[0] is not None and "." in schema else name


def side_of(source: Source, context: Context) -> Side:
    """Return the format of a source with its options."""
    return Side(source.format, context.options, source.kind == "prefix")


def _included(source: Source, options: CompareOptions) -> frozenset[TableName] | None:
    """Return the tables that are wanted, as the source may name them."""
    rewrite = source.format.comparing.rewrite_name
    if options.include is None:
        return None
    renamed = options.meaning.renamed
    included = options.include | {renamed[name] for name in options.include if name in renamed}
    if rewrite is None:
        return included
    return included | {rewritten_name(name, rewrite) for name in included}


@dataclass(frozen=True, slots=True)
class FeedFacts:
    """Facts about a feed from the first scan of it, by the feed's own names of tables.

    ``lacks_old_images``: tables whose updates all lack their before image. ``deletes``: what rows
    show of deletes. ``ill_formed``: columns of text that is not UTF-8, as far as that was looked
    for. ``rows``: how many each has. ``of_rows``: the facts of their rows. ``keys``: the Kafka keys
    of all messages. ``extent``: messages and positions. ``bare`` and ``databases``: the names
    without a database, and the databases, of those that have one. ``spans``: where the rows are.
    ``new_columns``: columns of after images; tables that may have others there are left out.
    ``fewest_columns``: the columns that one after image has, for those with the fewest.
    ``mixed``: columns with values of several kinds. ``inferred``: those whose types come from
    values.
    """

    others: OtherEvents = field(default_factory=OtherEvents)
    lacks_old_images: frozenset[TableName] = frozenset()
    deletes: DeletedRows = field(default_factory=DeletedRows)
    ill_formed: Mapping[TableName, frozenset[str]] = field(default_factory=dict)
    rows: Mapping[TableName, int] = field(default_factory=dict)
    of_rows: Mapping[TableName, RowFacts] = field(default_factory=dict)
    keys: KeyFacts = field(default_factory=KeyFacts)
    extent: Extent = field(default_factory=Extent)
    bare: Mapping[TableName, TableName] = field(default_factory=dict)
    databases: Mapping[TableName, str] = field(default_factory=dict)
    spans: Mapping[TableName, RowSpan] = field(default_factory=dict)
    new_columns: Mapping[TableName, frozenset[str]] = field(default_factory=dict)
    fewest_columns: Mapping[TableName, ColumnSets] = field(default_factory=dict)
    mixed: Mapping[TableName, KindWords] = field(default_factory=dict)
    inferred: Mapping[TableName, frozenset[str]] = field(default_factory=dict)

    @property
    def names(self) -> frozenset[TableName]:
        """The names that a user may give to the tables, with and without their database."""
        found = set(self.rows)
        for own, database in self.databases.items():
            schema, table = self.bare.get(own, own)
            found |= {(schema, table), *spellings((full_schema(database, schema), table))}
        return frozenset(found)


@dataclass(frozen=True)
class OpenedFeed:
    """An opened source.

    ``renamed``: the feed's own names of tables by those under which they are compared, where the
    user says that they differ. ``aliases``: all names that differ, for these tables and for a
    format that rewrites names. ``facts``: of the first pass. ``state``: what the statements of the
    feed make of its tables, where last rows are compared. ``order``: by which its rows pair.
    ``fills``: values of columns of last rows that do not have them.
    """

    opened: OpenedSource
    renamed: Mapping[TableName, TableName] = field(default_factory=dict)
    aliases: Mapping[TableName, Alias] = field(default_factory=dict)
    facts: FeedFacts = field(default_factory=FeedFacts)
    state: LastState = field(default_factory=LastState)
    order: Order | None = None
    fills: Mapping[TableName, tuple[Fill, ...]] = field(default_factory=dict)

    @property
    def source(self) -> Source:
        """The source of the feed."""
        return self.opened.source

    @property
    def decoded_by(self) -> Context:
        """The context in which rows are decoded: with the option for whole deletes, if so shown.

        For deletes of other tables it does not matter: their keys alone are compared.
        """
        context = self.opened.context
        if not self.facts.deletes.read_whole:
            return context
        option = whole_deletes(self.source.format)
        return replace(context, options={**context.options, **option})

    @cached_property
    def side(self) -> Side:
        """The format of the feed with its options, and what its rows have in spite of them."""
        side = side_of(self.source, self.opened.context)
        facts = joined_facts(self.facts.of_rows.values())
        lacks_some = side.carries.fields["before of delete"].verdict == "lossy"
        return replace(
            side,
            has_old_images=facts.old_images > 0,
            has_whole_deletes=facts.whole_deletes > 0 or (lacks_some and self.facts.deletes.whole),
            shown=facts.shown,
            has_upserts=facts.upserts > 0,
            has_placed_deletes=facts.placed_deletes > 0,
            has_bare_deletes=facts.bare_deletes > 0,
        )

    def included(self, options: CompareOptions) -> frozenset[TableName] | None:
        """Return the tables that are wanted, as the feed may name them."""
        return _included(self.source, options)

    def described(
        self,
        options: CompareOptions,
        only: Only | None = None,
        *,
        workers: Workers,
        ahead: Ahead | None = None,
    ) -> tuple[OpenedFeed, dict[TableName, CanonicalTable]]:
        """Return the feed with its facts, and the tables that it has rows of.

        ``only``: the row changes that count. ``ahead``: takes rows on the way. Raises: SchemaError.
        """
        shown = {own: name for name, own in self.renamed.items()}
        copies = (
            replace(table, schema=own[0], name=own[1])
            for table in options.definitions
            for name, own in self.renamed.items()
            if (table.schema, table.name) == name
        )
        found = survey_feed(
            self.opened,
            include=self.included(options),
            definitions=(*options.definitions, *copies),
            on_error=options.on_error,
            look_into_text=options.look_into_text,
            only=only,
            time_zone=options.time_zone,
            workers=workers,
            ahead=ahead,
        )
        tables: dict[TableName, CanonicalTable] = {}
        aliases = dict(self.aliases)
        for each in found.tables:
            own = each.table.schema, each.table.table
            names = _names_of(each)
            name = next((_last_dot(shown[known]) for known in names if known in shown), own)
            rewrite = self.source.format.comparing.rewrite_name
            if any(options.meaning.excludes(known, rewrite) for known in {name, *names}):
                continue
            if name in tables:
                raise SchemaError(f"--map-table: {self.source} has a table {name_text(name)} too")
            if name != own:
                aliases[name] = Alias(self.source.format.name, own, {})
            tables[name] = renamed_table(each.table, name, {})
        rewrite = self.source.format.comparing.rewrite_name
        excludes = options.meaning.excludes
        reads = {n: rows for n, rows in found.others.reads.items() if not excludes(n, rewrite)}
        facts = FeedFacts(
            replace(found.others, reads=reads),
            frozenset(_own_name(each) for each in found.tables if each.lacks_old_images),
            deleted_rows(self.source.format, found.tables),
            {_own_name(each): each.ill_formed for each in found.tables if each.ill_formed},
            {_own_name(each): each.rows for each in found.tables},
            {_own_name(each): each.facts for each in found.tables},
            found.keys,
            found.extent,
            {_own_name(each): each.bare for each in found.tables if each.bare is not None},
            {_own_name(each): each.database for each in found.tables if each.database is not None},
            {_own_name(each): each.span for each in found.tables},
            {
                _own_name(each): each.new_columns
                for each in found.tables
                if each.new_columns is not None
            },
            {_own_name(each): each.fewest_columns for each in found.tables},
            {_own_name(each): each.mixed for each in found.tables if each.mixed},
            {_own_name(each): each.inferred for each in found.tables if each.inferred},
        )
        return replace(self, aliases=aliases, facts=facts), tables

    def own_name(self, name: TableName) -> TableName:
        """Return the feed's own name of a table."""
        alias = self.aliases.get(name)
        return name if alias is None else alias.name

    def is_mapped(self, name: TableName) -> bool:
        """Return whether the user says that a table of another name is compared as this one."""
        return name in {_last_dot(each) for each in self.renamed}

    def database_of(self, name: TableName) -> str | None:
        """Return the database of a table; None if the feed has none above the schema."""
        return self.facts.databases.get(self.own_name(name))

    def rows_of(self, name: TableName) -> int:
        """Return the number of rows of a table."""
        names = {share.name for share in self.state.of(self.own_name(name))}
        return sum(self.facts.rows.get(each, 0) for each in names)

    def shown_columns(self, other: CanonicalTable, own: CanonicalTable) -> CanonicalTable:
        """Return the other feed's table without columns that only deletes of this one would show.

        ``own``: the table of this feed. If it has deletes of keys alone, its columns are not known.
        """
        name = self.own_name((own.schema, own.table))
        after = self.facts.new_columns.get(name)
        if name not in self.facts.deletes.key_only or after is None or after:
            return other
        return other.with_columns(set(other.column_names) & set(own.column_names))

    def last_columns(self, table: CanonicalTable) -> frozenset[str] | None:
        """Return the columns of a table that a last row may have; None: any."""
        name = table.schema, table.table
        names = {share.name for share in self.state.of(self.own_name(name))}
        if not names <= self.facts.new_columns.keys():
            return None
        found = frozenset[str]().union(*(self.facts.new_columns[each] for each in names))
        columns = self.aliases[name].columns if name in self.aliases else {}
        return frozenset(each for each in table.column_names if columns.get(each, each) in found)

    def with_last_state(
        self,
        tables: Mapping[TableName, CanonicalTable],
        order: Order | None,
        options: CompareOptions,
    ) -> tuple[OpenedFeed, dict[TableName, CanonicalTable]]:
        """Return the feed after its TRUNCATE, DROP and RENAME, and the tables that it then has.

        ``order``: by which rows are replayed. Raises: SchemaError.
        """
        if not self.source.format.comparing.deletes_have_position(self.side.values):
            order = None  # only their places say which deletes came before a statement
        state = last_state(
            StatedFeed(
                self.facts.others.statements,
                self.facts.spans,
                order,
                self._ranges(order),
                self.opened.prefix is not None,
                options.window,
                self.included(options),
                self.place_text,
                options.hides_values,
            )
        )
        shown = {own: name for name, own in self.renamed.items()}
        shown |= {self.own_name(name): name for name in tables}
        schemas = {own[0]: name[0] for own, name in shown.items()}
        found, aliases = dict(tables), dict(self.aliases)
        for own, shares in state.shares.items():
            name = shown.get(own, (schemas.get(own[0], own[0]), own[1]))
            found.pop(name, None)
            if options.meaning.excludes(name, self.source.format.comparing.rewrite_name):
                continue
            for share in shares:
                table = tables.get(shown.get(share.name, share.name))
                if table is None:
                    continue
                table = renamed_table(table, name, {})
                found[name] = union_tables(found[name], table) if name in found else table
                if name != own and name not in aliases:
                    aliases[name] = Alias(self.source.format.name, own, {}, has_note=False)
        return replace(self, state=state, aliases=aliases), found

    def shares_of(self, table: CanonicalTable) -> list[tuple[CanonicalTable, Share]]:
        """Return what has to be decoded for a table, by the feed's own names, in its order."""
        own = self.own_table(table)
        shares = self.state.of((own.schema, own.table))
        return [(replace(own, schema=each.name[0], table=each.name[1]), each) for each in shares]

    def _ranges(self, order: Order | None) -> dict[TableName, Range]:
        """Return the first and the last place of the rows of each table, as far as known."""
        name = "" if order is None else order.name
        found = {own: facts.order(name).range for own, facts in self.facts.of_rows.items()}
        return {own: each for own, each in found.items() if each is not None}

    def place_text(self, place: MessagePlace) -> str:
        """Return the place of a message for people."""
        if self.opened.prefix is not None:
            return place.file or ""
        own = RowPlace(place.file, None, place.topic, place.partition, place.offset)
        return str(self.with_lines([own])[0])

    def facts_of(self, names: Iterable[TableName]) -> RowFacts:
        """Return the facts about the rows of some tables together."""
        own = (self.own_name(name) for name in names)
        return joined_facts(self.facts.of_rows[n] for n in own if n in self.facts.of_rows)

    def named_like(
        self,
        tables: dict[TableName, CanonicalTable],
        other: OpenedFeed,
        others: Mapping[TableName, CanonicalTable],
    ) -> tuple[OpenedFeed, dict[TableName, CanonicalTable]]:
        """Return the feed and its tables by the names of the other feed, if only it rewrites."""
        format_ = self.source.format
        if (
            format_.comparing.rewrite_name is None
            or other.source.format.comparing.rewrite_name is not None
        ):
            return self, tables
        named, found = named_like(tables, others, format_.name, format_.comparing.rewrite_name)
        aliases = dict(self.aliases)
        for name, alias in found.items():
            known = self.aliases.get(alias.name)
            mapped = {} if known is None else known.columns
            columns = {**mapped, **{new: mapped.get(c, c) for new, c in alias.columns.items()}}
            aliases[name] = replace(alias, name=self.own_name(alias.name), columns=columns)
        return replace(self, aliases=aliases), named

    def own_table(self, table: CanonicalTable) -> CanonicalTable:
        """Return a table under the feed's own names, by which its rows are decoded."""
        fills = self.fills.get((table.schema, table.table))
        if fills:
            table = replace(table, fills=fills)
        alias = self.aliases.get((table.schema, table.table))
        return table if alias is None else alias.own(table)

    def with_lines(self, places: Iterable[RowPlace | None]) -> list[RowPlace | None]:
        """Return the places of rows in files of lines with the numbers of their lines."""
        places = list(places)
        if self.source.has_records:
            return places
        offsets: dict[str, set[int]] = {}
        for place in places:
            if place is not None and place.file is not None and place.offset is not None:
                offsets.setdefault(place.file, set()).add(place.offset)
        lines = {file: self._lines(file, sorted(found)) for file, found in offsets.items()}
        return [
            place
            if place is None or place.file is None or place.offset is None
            else replace(place, line=lines[place.file].get(place.offset))
            for place in places
        ]

    def _lines(self, file: str, offsets: list[int]) -> dict[int, int]:
        prefix, open_file = self.opened.prefix, self.opened.open_file
        if prefix is not None:
            return lines_of_rows(prefix.settings, file, offsets, open_file)
        return line_numbers(file, offsets, open_file)
