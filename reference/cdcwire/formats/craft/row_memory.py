"""The memory of the fast decoder between messages: dictionaries, layouts, row functions.

All of it can be made again from the bytes, and all of it is bounded: no message makes a decoder
grow for good. Names, types and flags of a group are one run of bytes, which means the same in every
message with the same dictionary. Comparing the run takes the place of reading it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import TypeAlias

from cdcwire.core.caches import BoundedCache, Credit
from cdcwire.core.compiled import Irregular
from cdcwire.core.context import Selection
from cdcwire.core.rows import Layout
from cdcwire.formats.craft.arrays import MAX_NAME_BYTES
from cdcwire.formats.craft.message import GROUP_NEW, GROUP_OLD
from cdcwire.formats.craft.row_plan import (
    MAX_COLUMNS,
    MAX_VARINT_BYTES,
    SKIPPED,
    Integers,
    RowFunction,
    form_of,
    known_integers,
    make_row_function,
    read_uvarint,
    read_varint,
    split_varints,
)
from cdcwire.model.events import Table
from cdcwire.mysql.layouts import Layouts
from cdcwire.mysql.types import FLAG_HANDLE_KEY

# Limits of what is kept. A column takes about a kilobyte with its layout, its run and its code, and
# a term about a hundred bytes, so that all of it takes some 40 MB at most.
_MAX_DICTIONARY_BYTES = 1 << 18  # with the runs and headers that belong to them
_ENTRY = 16  # what an entry weighs in addition to its bytes
_MAX_KEPT_HEADERS = 1 << 12  # bytes
_MAX_FUNCTION_COLUMNS = 1 << 14
_MAX_ROUTES = 8  # of one table: new and old groups, each with a few sets of columns

# Making a row function costs what the plain decoder needs for about this many bytes per column.
_PRICE_OF_A_COLUMN = 1 << 8

_MAX_TYPE = 255


@dataclass(frozen=True, slots=True, eq=False)
class Route:
    """How one kind of group of one table is read: its first bytes, and what they lead to."""

    run: bytes
    size: int
    is_new: bool
    read: RowFunction
    layout: Layout
    table: Table


def _no_row(value: bytes, start: int, end: int) -> tuple[object, ...]:
    raise Irregular


# Its first byte is not one of a group, so that it never leads to a row.
_NO_ROUTE = Route(b"\0", 1, False, _no_row, Layout(()), Table(None, None))


@dataclass(slots=True, eq=False)
class TableNames:
    """A table, by its names. ``new`` and ``old``: the routes that groups of this kind took last."""

    schema: str
    name: str
    is_wanted: bool
    routes: list[Route] = field(default_factory=list)
    new: Route = _NO_ROUTE
    old: Route = _NO_ROUTE


Subjects: TypeAlias = "Sequence[TableNames]"  # of the rows of a message


@dataclass(frozen=True, slots=True, eq=False)
class Dictionary:
    """The terms of a message and what follows from their numbers."""

    terms: list[str]
    subjects: dict[tuple[int, int], TableNames] = field(default_factory=dict)
    headers: dict[bytes, tuple[Subjects, Sequence[int | None]]] = field(default_factory=dict)


class Memory:
    """Everything that one decoder remembers."""

    def __init__(self, selection: Selection, time_zone: str | None) -> None:
        self.selection = selection
        self.layouts = Layouts(time_zone)
        self.signed = known_integers(read_varint)
        self.unsigned = known_integers(read_uvarint)
        self._dictionaries: BoundedCache[bytes, Dictionary] = BoundedCache(_MAX_DICTIONARY_BYTES)
        self._functions: BoundedCache[bytes, RowFunction] = BoundedCache(_MAX_FUNCTION_COLUMNS)
        self.credit = Credit()

    def dictionary(self, raw: bytes) -> Dictionary:
        """Return the dictionary of these bytes. Raises: Irregular, UnicodeDecodeError."""
        found = self._dictionaries.get(raw)
        if found is None:
            found = Dictionary(_terms(raw, self.unsigned))
            self._dictionaries.keep(raw, found, _ENTRY + len(raw))
        return found

    def subject(self, dictionary: Dictionary, schema: int, table: int) -> TableNames:
        """Return the table of two term numbers. Raises: Irregular, IndexError for a wrong one."""
        found = dictionary.subjects.get((schema, table))
        if found is None:
            if schema < 0 or table < 0:
                raise Irregular
            names = dictionary.terms[schema], dictionary.terms[table]
            found = TableNames(*names, self.selection.wants(*names))
            self._dictionaries.grow(_ENTRY)
            dictionary.subjects[schema, table] = found
        return found

    def keep_headers(
        self,
        dictionary: Dictionary,
        raw: bytes,
        headers: tuple[Subjects, Sequence[int | None]],
    ) -> None:
        """Remember what the headers after the timestamps mean, with this dictionary."""
        if len(raw) <= _MAX_KEPT_HEADERS:
            self._dictionaries.grow(_ENTRY + len(raw) // 8)
            dictionary.headers[raw] = headers

    def route(
        self, value: bytes, start: int, end: int, dictionary: Dictionary, subject: TableNames
    ) -> Route:
        """Return how the group from ``start`` to ``end`` is read. Raises: Irregular, IndexError."""
        routes = subject.routes
        for route in routes:
            if value.startswith(route.run, start):
                break
        else:
            route = self._make_route(value, start, end, dictionary, subject)
            self._dictionaries.grow(_ENTRY + len(route.run))
            if len(routes) == _MAX_ROUTES:
                routes.clear()
            routes.append(route)
        if route.is_new:
            subject.new = route
        else:
            subject.old = route
        return route

    def _make_route(
        self, value: bytes, start: int, end: int, dictionary: Dictionary, subject: TableNames
    ) -> Route:
        kind = value[start]
        names_start, count = _read_count(value, start + 1, end)
        if kind not in (GROUP_NEW, GROUP_OLD) or not 0 < count <= MAX_COLUMNS:
            raise Irregular
        limit = names_start + 3 * count * MAX_VARINT_BYTES
        numbers = split_varints(value, names_start, min(limit, end))[: 3 * count]
        if len(numbers) != 3 * count:
            raise Irregular
        terms = list(accumulate(map(self.signed.__getitem__, numbers[:count])))
        if min(terms) < 0 or len({dictionary.terms[term] for term in terms}) != count:
            raise Irregular
        types = [self.unsigned[each] for each in numbers[count : 2 * count]]
        flags = [self.unsigned[each] for each in numbers[2 * count :]]
        if max(types) > _MAX_TYPE:
            raise Irregular
        described = [
            (dictionary.terms[term], code, flag)
            for term, code, flag in zip(terms, types, flags, strict=True)
        ]
        wanted = self.selection.columns
        is_wanted = [wanted is None or name in wanted for name, _, _ in described]
        forms = bytes(
            form_of(code, flag) if is_read else SKIPPED
            for (_, code, flag), is_read in zip(described, is_wanted, strict=True)
        )
        key = tuple(name for name, _, flag in described if flag & FLAG_HANDLE_KEY)
        run = value[start : names_start + sum(map(len, numbers))]
        return Route(
            run,
            len(run),
            kind == GROUP_NEW,
            self._function(forms),
            self.layouts.of(
                tuple(each for each, is_read in zip(described, is_wanted, strict=True) if is_read)
            ),
            Table(subject.name, subject.schema, key=key),
        )

    def _function(self, forms: bytes) -> RowFunction:
        function = self._functions.get(forms)
        if function is None:
            if not self.credit.spend(len(forms) * _PRICE_OF_A_COLUMN):
                raise Irregular
            function = make_row_function(forms, self.signed, self.unsigned)
            self._functions.keep(forms, function, len(forms))
        return function


def _read_count(value: bytes, start: int, end: int) -> tuple[int, int]:
    """Read a uvarint; return where it ends, and the number. Raises: Irregular, IndexError."""
    raw = split_varints(value, start, min(start + MAX_VARINT_BYTES, end))[0]
    return start + len(raw), read_uvarint(raw)


def _terms(raw: bytes, unsigned: Integers) -> list[str]:
    """Return the terms of a dictionary in its usual form: no integer longer than it needs."""
    if not raw:
        raise Irregular
    position, count = _read_count(raw, 0, len(raw))
    # A length takes two bytes at most, as it is 1024 at most and no longer than it needs.
    sizes = split_varints(raw, position, position + 2 * count)[:count]
    lengths = [unsigned[each] for each in sizes]
    if not lengths or len(lengths) != count or min(lengths) == 0 or max(lengths) > MAX_NAME_BYTES:
        raise Irregular
    position += sum(map(len, sizes))
    terms = []
    for length in lengths:
        terms.append(raw[position : position + length].decode())
        position += length
    if position != len(raw):
        raise Irregular
    return terms
