"""Differences between two feeds that a user expects: tables, columns and forms of values.

A column is named by its name, in all tables, or as SCHEMA.TABLE.COLUMN in one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from cdcwire.core.format import TableName
from cdcwire.model.kinds import TextType
from cdcwire_conformance.arrow.schema import CanonicalTable

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

PRECISIONS: Mapping[str, int] = {"s": 0, "ms": 3, "us": 6}
_FRACTION = r"(:[0-9]{2})\.[0-9]+"
_FRACTION_END = r"(:[0-9]{2}\.[0-9]*?)0+($|[^0-9])"
_BARE_POINT = r"(:[0-9]{2})\.($|[^0-9])"


@dataclass(frozen=True, slots=True)
class Meaning:
    """The rules that a user gives for two feeds.

    ``ignored``: columns that are not compared. ``excluded``: tables that are not compared.
    ``renamed``: names of the right feed by those of the left. ``as_text``: columns that are
    compared by the text of their values. ``precision``: digits of a second's fraction that are
    compared, by column. ``pairs_by_key``: rows pair by key and order, not by position.
    ``has_before``: before images of updates are compared.
    """

    ignored: frozenset[str] = frozenset()
    excluded: frozenset[TableName] = frozenset()
    renamed: Mapping[TableName, TableName] = field(default_factory=dict)
    as_text: frozenset[str] = frozenset()
    precision: Mapping[str, int] = field(default_factory=dict)
    pairs_by_key: bool = False
    has_before: bool = True

    def columns(self) -> Iterator[tuple[str, str]]:
        """Yield each option that names a column, and the column."""
        for option, names in (
            ("--ignore-column", self.ignored),
            ("--as-text", self.as_text),
            ("--precision", self.precision),
        ):
            yield from ((option, name) for name in sorted(names))

    def unknown(self, tables: Iterable[CanonicalTable]) -> list[str]:
        """Return a line for each column that is named and that no table has."""
        known = {name for table in tables for name in table.column_names}
        known |= {f"{table}.{name}" for table in tables for name in table.column_names}
        return [
            f"{option}: no table has a column {name}"
            for option, name in self.columns()
            if name not in known
        ]

    def applied(self, table: CanonicalTable) -> CanonicalTable:
        """Return the table without ignored columns, and with text where that is compared."""
        columns = tuple(
            replace(each, type=TextType()) if is_named(each.name, table, self.as_text) else each
            for each in table.columns
            if not is_named(each.name, table, self.ignored)
        )
        return replace(table, columns=columns)

    def cut(self, frame: DataFrame, table: CanonicalTable) -> DataFrame:
        """Return the rows of a table with times cut to their precision."""
        digits = {
            name: kept
            for name in table.column_names
            for wanted, kept in self.precision.items()
            if is_named(name, table, (wanted,))
        }
        return with_values(frame, {name: _cutter(kept) for name, kept in digits.items()})


NO_MEANING = Meaning()


def is_named(column: str, table: CanonicalTable, names: Collection[str]) -> bool:
    """Return whether the names have a column of a table."""
    return column in names or f"{table}.{column}" in names


def with_values(frame: DataFrame, changes: Mapping[str, Callable[[Column], Column]]) -> DataFrame:
    """Return the frame with other values of some columns, in both images."""
    for name, change in changes.items():
        quoted = f"`{name.replace('`', '``')}`"
        frame = frame.withColumns(
            {
                side: F.col(side).withField(quoted, change(F.col(side).getField(name)))
                for side in ("before", "after")
            }
        )
    return frame


def _cutter(digits: int) -> Callable[[Column], Column]:
    """Return what cuts the fraction of a second in a text, and then zeros at its end."""
    kept = rf"(:[0-9]{{2}}\.[0-9]{{{digits}}})[0-9]+" if digits else _FRACTION

    def cut(value: Column) -> Column:
        value = F.regexp_replace(value, kept, "$1")
        value = F.regexp_replace(value, _FRACTION_END, "$1$2")
        return F.regexp_replace(value, _BARE_POINT, "$1$2")

    return cut
