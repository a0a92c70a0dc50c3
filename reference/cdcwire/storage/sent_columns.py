"""The columns that the rows of a table have in a prefix: ``column-selectors`` of a changefeed.

A schema file lists all columns of its table, also those that rows do not have. The selectors say
which these are; so does a definition of the caller that has as many columns as the rows.

The first selector
that matches a table counts. Its columns are patterns, and the last one that matches a column
counts; ``!`` leaves the matching columns out. A pattern has the wildcards ``*``, ``?`` and ``[]``.
Capital letters make no difference. TiCDC also takes names in quotes, escapes and regular
expressions between slashes, which are refused here: what is not understood could select wrongly.

Source: storage, "schema columns".
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import TypeAlias, cast

from cdcwire.model.events import Table
from cdcwire.model.kinds import Column, Role

ColumnCount: TypeAlias = "Callable[[Table], int | None]"
"""Returns the number of columns in the rows of a table's version; None if no row shows it."""

NOT_SENT: frozenset[Role] = frozenset({"virtual", "generated"})
_HIDDEN = "_V$_"  # before the name of the column that an index on an expression has
_MEMBERS = ("matcher", "columns")
_UNREAD = re.compile(r"""^!?@|[/\\"'`]""")


@dataclass(frozen=True, slots=True)
class ColumnSelector:
    """The columns that are sent of some tables. ``matcher``: patterns ``SCHEMA.TABLE``."""

    matcher: tuple[str, ...]
    columns: tuple[str, ...]

    def has_table(self, table: Table) -> bool:
        """Return whether the selector is for a table."""
        return _is_in(f"{table.schema}.{table.name}", self.matcher)

    def has_column(self, name: str) -> bool:
        """Return whether a column of its tables is sent."""
        return _is_in(name, self.columns)


def _is_in(name: str, patterns: Sequence[str]) -> bool:
    lower = name.lower()
    for pattern in reversed(patterns):
        if fnmatchcase(lower, pattern.removeprefix("!").lower()):
            return not pattern.startswith("!")
    return False


def column_selectors(text: str) -> tuple[ColumnSelector, ...]:
    """Return the selectors of a JSON list; none of an empty text. Raises: ValueError."""
    if not text:
        return ()
    problem = 'is not a JSON list of {"matcher": ["shop.*"], "columns": ["id", "note"]}'
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError(problem) from None
    if not isinstance(document, list) or not all(map(_is_selector, document)):
        raise ValueError(problem)
    selectors = cast("list[dict[str, list[str]]]", document)
    patterns = [pattern for each in selectors for name in _MEMBERS for pattern in each[name]]
    unread = next(filter(_UNREAD.search, patterns), None)
    if unread is not None:
        raise ValueError(
            f"has the pattern {unread!r:.60}: quotes, escapes and regular expressions are not read"
        )
    return tuple(ColumnSelector(*(tuple(each[name]) for name in _MEMBERS)) for each in selectors)


def _is_selector(document: object) -> bool:
    if not isinstance(document, dict) or document.keys() != set(_MEMBERS):
        return False
    return all(
        isinstance(texts, list) and all(isinstance(each, str) for each in texts)
        for texts in document.values()
    )


def is_hidden(name: str) -> bool:
    """Return whether a column is the hidden one of an index on an expression."""
    return name.startswith(_HIDDEN)


def with_sent_columns(table: Table, selectors: Iterable[ColumnSelector]) -> Table:
    """Return a table in which the columns that no row has are virtual."""
    selector = next((each for each in selectors if each.has_table(table)), None)
    if selector is None or table.columns is None:
        return table
    return _with_only(table, selector.has_column)


def with_defined_columns(
    table: Table, definitions: Iterable[Table], count_of: ColumnCount
) -> Table:
    """Return a table in which the columns are virtual that its rows and its definition lack.

    ``definitions``: those of the caller. One counts if it has as many columns as the rows and fewer
    than the schema file. The file must have all of them, in the same order. Without such a
    definition, and with two that differ, the table stays as it is.
    """
    sent = _sent_names(table)
    shorter = {
        names
        for each in definitions
        if (each.schema, each.name) == (table.schema, table.name)
        and each.version in (None, table.version)
        for names in (_sent_names(each),)
        if len(names) < len(sent) and _is_in_order(names, sent)
    }
    count = count_of(table) if shorter else None
    fitting = [names for names in shorter if len(names) == count]
    return _with_only(table, fitting[0].__contains__) if len(fitting) == 1 else table


def _sent_names(table: Table) -> tuple[str, ...]:
    return tuple(each.name for each in table.columns or () if "virtual" not in each.roles)


def _is_in_order(names: tuple[str, ...], all_names: tuple[str, ...]) -> bool:
    left = iter(all_names)
    return bool(names) and all(name in left for name in names)


def _with_only(table: Table, is_sent: Callable[[str], bool]) -> Table:
    columns = (_column(each, is_sent=is_sent(each.name)) for each in table.columns or ())
    return replace(table, columns=tuple(columns))


def _column(column: Column, *, is_sent: bool) -> Column:
    return column if is_sent else replace(column, roles=column.roles | NOT_SENT)
