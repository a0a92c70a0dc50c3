"""Differences between two feeds that a user expects: tables, columns and forms of values.

A column is named by its name, in all tables, or as SCHEMA.TABLE.COLUMN in one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from cdcwire.core.format import TableName
from cdcwire.model.events import Column
from cdcwire.model.kinds import DatetimeType, TextType, TimestampType, TimeType
from cdcwire_conformance.arrow.schema import CanonicalTable, Rewrite, name_text, rewritten_name

PRECISIONS: Mapping[str, int] = {"s": 0, "ms": 3, "us": 6}
_WITH_TIMES = (TextType, TimeType, DatetimeType, TimestampType)
_FRACTION = r"(:[0-9]{2})\.[0-9]+"
_FRACTION_END = r"(:[0-9]{2}\.[0-9]*?)0+($|[^0-9])"
_BARE_POINT = r"(:[0-9]{2})\.($|[^0-9])"


@dataclass(frozen=True, slots=True)
class Replacement:
    """A regular expression, for Java and Python, whose matches leave their first N groups."""

    pattern: str
    groups: int


@dataclass(frozen=True, slots=True)
class Meaning:
    """The rules that a user gives for two feeds.

    ``ignored``: columns that are not compared. ``excluded``: tables that are not compared.
    ``renamed``: names of the right feed by those of the left. ``as_text``: columns that are
    compared by the text of their values. ``precision``: digits of a second's fraction that are
    compared, by column. ``pairs_by_key``: rows pair by key and order, not by position.
    ``has_before``: before images of updates are compared. ``redacted``: columns whose values are
    never shown.
    """

    ignored: frozenset[str] = frozenset()
    excluded: frozenset[TableName] = frozenset()
    renamed: Mapping[TableName, TableName] = field(default_factory=dict)
    as_text: frozenset[str] = frozenset()
    precision: Mapping[str, int] = field(default_factory=dict)
    pairs_by_key: bool = False
    has_before: bool = True
    redacted: frozenset[str] = frozenset()

    def columns(self) -> Iterator[tuple[str, str]]:
        """Yield each option that names a column, and the column."""
        for option, names in (
            ("--ignore-column", self.ignored),
            ("--as-text", self.as_text),
            ("--precision", self.precision),
            ("--redact", self.redacted),
        ):
            yield from ((option, name) for name in sorted(names))

    def unknown(self, tables: Collection[CanonicalTable]) -> list[str]:
        """Return a line for each column that is named and that no table has."""
        known = {name for table in tables for name in _names(table, table.columns)}
        times = {name for table in tables for name in _names(table, _with_times(table))}
        return [
            f"{option}: no table has a column {name}{' of times' if name in known else ''}"
            for option, name in self.columns()
            if name not in (times if option == "--precision" else known)
        ]

    def excludes(self, name: TableName, rewrite: Rewrite | None) -> bool:
        """Return whether a table of a feed is not compared. ``rewrite``: of the feed's names."""
        if name in self.excluded or rewrite is None:
            return name in self.excluded
        return name in {rewritten_name(each, rewrite) for each in self.excluded}

    def swapped(self, left: Collection[TableName], right: Collection[TableName]) -> str | None:
        """Return why two names of --map-table can't be meant; None if they all can be.

        ``left``, ``right``: the tables that each feed has rows of, by its own names.
        """
        for own, other in self.renamed.items():
            pair = f"--map-table {name_text(own)}={name_text(other)}"
            if own not in left and other not in right and own in right and other in left:
                return f"{pair}: the names are the other way round, it is LEFT=RIGHT"
            if own in left and other not in right and own in right:
                return (
                    f"{pair}: the right feed has rows of {name_text(own)} and none of "
                    f"{name_text(other)}; correct the name, or leave the option out"
                )
        return None

    def without_rows(
        self,
        left: Collection[TableName],
        right: Collection[TableName],
        include: Collection[TableName] | None,
    ) -> Iterator[str]:
        """Yield a line for each table that is named and that the feeds have no rows of.

        ``include``: the tables that were looked for; None: all.
        """
        excluded = self.excluded if include is None else self.excluded & set(include)
        for name in sorted(excluded - {*left, *right}, key=name_text):
            yield f"--exclude: no feed has rows of {name_text(name)}"
        for names in sorted(self.renamed.items(), key=str):
            for side, name, feed in zip(("left", "right"), names, (left, right), strict=True):
                if name not in feed:
                    yield f"--map-table: the {side} feed has no rows of {name_text(name)}"

    def applied(self, table: CanonicalTable) -> CanonicalTable:
        """Return the table without ignored columns, and with text where that is compared."""
        columns = tuple(
            replace(each, type=TextType()) if is_named(each.name, table, self.as_text) else each
            for each in table.columns
            if not is_named(each.name, table, self.ignored)
        )
        return replace(table, columns=columns)

    def redacted_of(self, table: CanonicalTable) -> frozenset[str]:
        """Return the columns of a table whose values are never shown."""
        return frozenset(n for n in table.column_names if is_named(n, table, self.redacted))

    def not_redacted(self, tables: Iterable[CanonicalTable]) -> list[str]:
        """Return the columns whose values are not to be shown and that no table has."""
        tables = list(tables)
        return sorted(
            name
            for name in self.redacted
            if not any(is_named(n, each, (name,)) for each in tables for n in each.column_names)
        )

    def cuts(self, table: CanonicalTable) -> dict[str, tuple[Replacement, ...]]:
        """Return how the text of a time is cut to its precision, by column."""
        return {name: _cuts(kept) for name, kept in self._digits(table).items()}

    def units(self, table: CanonicalTable) -> dict[str, str]:
        """Return the unit to which times are cut, by column."""
        units = {digits: unit for unit, digits in PRECISIONS.items()}
        return {name: units[kept] for name, kept in self._digits(table).items()}

    def _digits(self, table: CanonicalTable) -> dict[str, int]:
        """Return the digits of a second's fraction that are compared, by column."""
        found = {}
        for name in (column.name for column in _with_times(table)):
            kept = [n for wanted, n in self.precision.items() if is_named(name, table, (wanted,))]
            if kept:
                found[name] = min(kept)
        return found


NO_MEANING = Meaning()


def _with_times(table: CanonicalTable) -> Iterator[Column]:
    """Yield the columns that may have times."""
    return (column for column in table.columns if isinstance(column.type, _WITH_TIMES))


def _names(table: CanonicalTable, columns: Iterable[Column]) -> Iterator[str]:
    """Yield the names of columns of a table, alone and with the table's."""
    for column in columns:
        yield column.name
        yield f"{table}.{column.name}"


def is_named(column: str, table: CanonicalTable, names: Collection[str]) -> bool:
    """Return whether the names have a column of a table."""
    return column in names or f"{table}.{column}" in names


def _cuts(digits: int) -> tuple[Replacement, ...]:
    """Return what cuts the fraction of a second in a text, and then zeros at its end."""
    kept = rf"(:[0-9]{{2}}\.[0-9]{{{digits}}})[0-9]+" if digits else _FRACTION
    return Replacement(kept, 1), Replacement(_FRACTION_END, 2), Replacement(_BARE_POINT, 2)
