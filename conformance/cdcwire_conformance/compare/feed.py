"""One side of a comparison: its tables, its frames, its names, and where its rows came from.

A format that rewrites names writes ``unit-price`` as ``unit_price``, and the spelling is lost. If
the other feed has a name that would be rewritten to this one, both mean the same table or column.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from cdcwire.core.format import NO_CONTEXT, Context, TableName
from cdcwire_conformance.arrow.schema import CanonicalTable, Rewrite, name_text, rewritten_name
from cdcwire_conformance.arrow.types import SchemaError
from cdcwire_conformance.compare.result import RowPlace
from cdcwire_conformance.compare.rules import CompareOptions, Side
from cdcwire_conformance.sources.pieces import line_numbers, lines_of_rows
from cdcwire_conformance.sources.source_urls import Source
from cdcwire_conformance.spark.decode.describe import Described, survey_feed
from cdcwire_conformance.spark.decode.opening import OpenedSource, open_source
from cdcwire_conformance.spark.decode.surveying import Only, OtherEvents

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NameMap: TypeAlias = "Mapping[str, str]"
AnyName = TypeVar("AnyName", str, TableName)


@dataclass(frozen=True, slots=True)
class Alias:
    """The rewritten names of a table and its columns, where they differ from the other feed's.

    ``columns``: rewritten names by original names. ``format``: the name of the format, for notes.
    """

    format: str
    name: TableName
    columns: NameMap

    def own(self, table: CanonicalTable) -> CanonicalTable:
        """Return the table with its rewritten names."""
        return _renamed(table, self.name, self.columns)

    def notes(self, table: CanonicalTable) -> list[str]:
        """Return a line for each rewritten name."""
        own = self.name
        is_same = own == (table.schema, table.table)
        lines = [] if is_same else [f"{self.format}: {name_text(own)} is {table}"]
        return lines + [
            f"{self.format}: column {column} is {name}"
            for name, column in sorted(self.columns.items())
        ]


def named_like(
    tables: Mapping[TableName, CanonicalTable],
    others: Mapping[TableName, CanonicalTable],
    format_name: str,
    rewrite: Rewrite,
) -> tuple[dict[TableName, CanonicalTable], dict[TableName, Alias]]:
    """Return tables of a format that rewrites names by the other feed's names, and the aliases.

    A rewritten name stays if two names of the other feed would be rewritten to it.
    """
    theirs = _by_rewritten(set(others) - set(tables), lambda name: rewritten_name(name, rewrite))
    named: dict[TableName, CanonicalTable] = {}
    aliases: dict[TableName, Alias] = {}
    for own, table in tables.items():
        name = own if own in others else theirs.get(own, own)
        other = others.get(name)
        columns: dict[str, str] = {}
        if other is not None:
            known = set(table.column_names)
            lacking = _by_rewritten(set(other.column_names) - known, rewrite)
            spare = known - set(other.column_names)
            columns = {lacking[column]: column for column in spare if column in lacking}
        if name != own or columns:
            aliases[name] = Alias(format_name, own, columns)
            table = _renamed(table, name, {column: new for new, column in columns.items()})
        named[name] = table
    return named, aliases


def _by_rewritten(
    names: Iterable[AnyName], rewrite: Callable[[AnyName], AnyName]
) -> dict[AnyName, AnyName]:
    """Return names by their rewritten form, except those that share one."""
    found: dict[AnyName, list[AnyName]] = {}
    for name in names:
        found.setdefault(rewrite(name), []).append(name)
    return {short: of[0] for short, of in found.items() if len(of) == 1}


def _renamed(table: CanonicalTable, name: TableName, names: NameMap) -> CanonicalTable:
    schema, own = name
    columns = tuple(replace(each, name=names.get(each.name, each.name)) for each in table.columns)
    key = None if table.key is None else tuple(names.get(each, each) for each in table.key)
    return replace(table, schema=schema, table=own, columns=columns, key=key)


@dataclass(frozen=True, slots=True)
class ComparedFeed:
    """A source, and what its bytes do not show: the producer's options, claim-check files."""

    source: Source
    context: Context = NO_CONTEXT

    @property
    def side(self) -> Side:
        """The format of the feed with its options."""
        return side_of(self.source, self.context)

    def open(self, spark: SparkSession | None, options: CompareOptions) -> OpenedFeed:
        """Return the feed with its source opened. ``spark``, errors: as of ``open_source``."""
        include = _included(self.source, options)
        opened = open_source(spark, self.source, self.context, options.on_error, include)
        return OpenedFeed(opened)


def _own_name(described: Described) -> TableName:
    return described.table.schema, described.table.table


def side_of(source: Source, context: Context) -> Side:
    """Return the format of a source with its options."""
    return Side(source.format, context.options, source.kind == "prefix")


def _included(source: Source, options: CompareOptions) -> frozenset[TableName] | None:
    """Return the tables that are wanted, as the source may name them."""
    rewrite = source.format.rewrite_name
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

    ``lacks_old_images``: tables whose updates all lack their before image. ``ill_formed``:
    columns of text that is not UTF-8, as far as that was looked for. ``rows``: how many each has.
    """

    others: OtherEvents = field(default_factory=OtherEvents)
    lacks_old_images: frozenset[TableName] = frozenset()
    ill_formed: Mapping[TableName, frozenset[str]] = field(default_factory=dict)
    rows: Mapping[TableName, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class OpenedFeed:
    """An opened source.

    ``renamed``: the feed's own names of tables by those under which they are compared, where the
    user says that they differ. ``aliases``: all names that differ, for these tables and for a
    format that rewrites names. ``facts``: of the first pass.
    """

    opened: OpenedSource
    renamed: Mapping[TableName, TableName] = field(default_factory=dict)
    aliases: Mapping[TableName, Alias] = field(default_factory=dict)
    facts: FeedFacts = field(default_factory=FeedFacts)

    @property
    def source(self) -> Source:
        """The source of the feed."""
        return self.opened.source

    @property
    def side(self) -> Side:
        """The format of the feed with its options."""
        return side_of(self.source, self.opened.context)

    def included(self, options: CompareOptions) -> frozenset[TableName] | None:
        """Return the tables that are wanted, as the feed may name them."""
        return _included(self.source, options)

    def described(
        self, spark: SparkSession | None, options: CompareOptions, only: Only | None = None
    ) -> tuple[OpenedFeed, dict[TableName, CanonicalTable]]:
        """Return the feed with its facts, and the tables that it has rows of.

        ``only``: the row changes that count. Raises: SchemaError.
        """
        shown = {own: name for name, own in self.renamed.items()}
        copies = (
            replace(table, schema=own[0], name=own[1])
            for table in options.definitions
            for name, own in self.renamed.items()
            if (table.schema, table.name) == name
        )
        found = survey_feed(
            spark,
            self.opened,
            include=self.included(options),
            definitions=(*options.definitions, *copies),
            on_error=options.on_error,
            look_into_text=options.look_into_text,
            only=only,
        )
        tables: dict[TableName, CanonicalTable] = {}
        aliases = dict(self.aliases)
        for each in found.tables:
            own = each.table.schema, each.table.table
            name = shown.get(own, own)
            rewrite = self.source.format.rewrite_name
            if any(options.meaning.excludes(each, rewrite) for each in (name, own)):
                continue
            if name in tables:
                raise SchemaError(f"--map-table: {self.source} has a table {name_text(name)} too")
            if name != own:
                aliases[name] = Alias(self.source.format.name, own, {})
            tables[name] = _renamed(each.table, name, {})
        facts = FeedFacts(
            found.others,
            frozenset(_own_name(each) for each in found.tables if each.lacks_old_images),
            {_own_name(each): each.ill_formed for each in found.tables if each.ill_formed},
            {_own_name(each): each.rows for each in found.tables},
        )
        return replace(self, aliases=aliases, facts=facts), tables

    def own_name(self, name: TableName) -> TableName:
        """Return the feed's own name of a table."""
        alias = self.aliases.get(name)
        return name if alias is None else alias.name

    def rows_of(self, name: TableName) -> int:
        """Return the number of rows of a table."""
        return self.facts.rows.get(self.own_name(name), 0)

    def named_like(
        self,
        tables: dict[TableName, CanonicalTable],
        other: OpenedFeed,
        others: Mapping[TableName, CanonicalTable],
    ) -> tuple[OpenedFeed, dict[TableName, CanonicalTable]]:
        """Return the feed and its tables by the names of the other feed, if only it rewrites."""
        format_ = self.source.format
        if format_.rewrite_name is None or other.source.format.rewrite_name is not None:
            return self, tables
        named, found = named_like(tables, others, format_.name, format_.rewrite_name)
        aliases = {
            name: replace(alias, name=self.own_name(alias.name)) for name, alias in found.items()
        }
        return replace(self, aliases={**self.aliases, **aliases}), named

    def own_table(self, table: CanonicalTable) -> CanonicalTable:
        """Return a table under the feed's own names, by which its rows are decoded."""
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
