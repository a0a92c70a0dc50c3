"""A feed to compare, and the names that its format rewrites.

Such a format writes ``unit-price`` as ``unit_price``, and the spelling is lost. If the other feed
has a name that would be rewritten to this one, both mean the same table or column.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from pyspark.sql import functions as F
from pyspark.sql.types import StructField, StructType

from cdcwire.core.format import NO_CONTEXT, Context, TableName
from cdcwire.core.registry import get_format
from cdcwire_conformance.arrow.names import Rewrite, rewritten_name
from cdcwire_conformance.arrow.schema import CanonicalTable
from cdcwire_conformance.sources.source_urls import Source
from cdcwire_conformance.spark.compare.rules import CompareOptions, Side
from cdcwire_conformance.spark.decode.opening import OpenedSource

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

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

    def frame(self, frame: DataFrame, table: CanonicalTable) -> DataFrame:
        """Return a frame that was decoded by ``own(table)``, with the original names."""
        image = frame.schema["after"].dataType
        assert isinstance(image, StructType)
        fields = zip(table.column_names, image.fields, strict=True)
        named = StructType([StructField(name, each.dataType) for name, each in fields])
        return frame.withColumns({side: F.col(side).cast(named) for side in ("before", "after")})

    def notes(self, table: CanonicalTable) -> list[str]:
        """Return a line for each rewritten name."""
        own = self.name
        is_same = own == (table.schema, table.table)
        lines = [] if is_same else [f"{self.format}: {_text(own)} is {table}"]
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


def _text(name: TableName) -> str:
    return ".".join(part for part in name if part is not None)


@dataclass(frozen=True, slots=True)
class ComparedFeed:
    """A source, and what its bytes do not show: the producer's options, claim-check files.

    ``opened``: the opened source, once it is opened. ``aliases``: for a format that rewrites names,
    its names by those of the other feed, where they differ.
    """

    source: Source
    context: Context = NO_CONTEXT
    opened: OpenedSource | None = None
    aliases: Mapping[TableName, Alias] = field(default_factory=dict)

    @property
    def side(self) -> Side:
        """The format of the feed with its options."""
        is_stored = self.source.kind == "prefix"
        return Side(get_format(self.source.format), self.context.options, is_stored)

    @property
    def rewrite_name(self) -> Rewrite | None:
        """The function that rewrites names for the format; None if it keeps them."""
        return get_format(self.source.format).rewrite_name

    def included(self, options: CompareOptions) -> frozenset[TableName] | None:
        """Return the tables that are wanted, as the feed may name them."""
        rewrite = self.rewrite_name
        if options.include is None or rewrite is None:
            return options.include
        return options.include | {rewritten_name(name, rewrite) for name in options.include}

    def named_like(
        self,
        tables: dict[TableName, CanonicalTable],
        other: ComparedFeed,
        others: Mapping[TableName, CanonicalTable],
    ) -> tuple[ComparedFeed, dict[TableName, CanonicalTable]]:
        """Return the feed and its tables by the names of the other feed, if only it rewrites."""
        rewrite = self.rewrite_name
        if rewrite is None or other.rewrite_name is not None:
            return self, tables
        named, aliases = named_like(tables, others, self.source.format, rewrite)
        return replace(self, aliases=aliases), named
