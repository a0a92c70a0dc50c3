"""The changed rows of a feed as record batches, whose schemas the rows and definitions give."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import pyarrow as pa

from cdcwire.arrow.batches import BatchBuilder, Change, MessagePlace, images_of
from cdcwire.arrow.building import ConversionError
from cdcwire.arrow.schema import (
    CanonicalTable,
    apply_definition,
    canonical_table,
    name_text,
    union_tables,
)
from cdcwire.core.rows import Row
from cdcwire.model.events import Table, TableName, full_name
from cdcwire.model.kinds import Column, TextType

ArrowBatch: TypeAlias = pa.RecordBatch
ArrowTable: TypeAlias = pa.Table

BATCH_ROWS = 1 << 16


class FeedRows:
    """The rows of a feed that are not in a batch yet, by table.

    A table has all columns that its rows had so far, with types that hold all of them. A definition
    gives the types of its columns, and what the messages leave open. If the definitions
    ``are_whole``, they have all columns of the rows, and all batches of a table have one schema.
    """

    def __init__(self, definitions: Iterable[Table] = (), *, are_whole: bool = False) -> None:
        self._are_whole = are_whole
        self._defined = {
            (table.schema, table.name or ""): canonical_table(table)
            for table in definitions
            if table.name is not None and table.columns is not None
        }
        self._tables: dict[TableName, _TableRows] = {}
        self.count = 0

    def add(self, changes: Iterable[Change], place: Mapping[str, Any]) -> None:
        """Add the changed rows of a message. ``place``: fields of its ``MessagePlace``."""
        where = MessagePlace(**place)
        last: Table | None = None
        for change in changes:
            table = change.table
            if table is not last:  # most messages have rows of one table
                rows, last = self._rows_of(table), table
                rows.begin(where)
            rows.changes.append(change)
            rows.counts[-1] += 1
            self.count += 1

    def batches(self) -> Iterator[ArrowBatch]:
        """Yield one batch of each table's rows, and forget the rows.

        Raises: ConversionError, SchemaError.
        """
        self.count = 0
        for rows in self._tables.values():
            yield from rows.batches()

    def tables(self) -> dict[str, ArrowTable]:
        """Return all rows as one table for each name, and forget them. Raises: as ``batches``."""
        self.count = 0
        return {
            name_text(name): pa.Table.from_batches(rows.batches())
            for name, rows in self._tables.items()
        }

    def _rows_of(self, table: Table) -> _TableRows:
        name = full_name(table)
        found = self._tables.get(name)
        if found is None:
            bare = table.schema, table.name or ""
            defined = self._defined.get(name) or self._defined.get(bare)
            self._tables[name] = found = _TableRows(name, defined)
            if self._are_whole and defined is not None:
                found.whole = defined
        return found


class _TableRows:
    """The rows of one table.

    ``counts``: of each place, in the order of the rows. ``whole``: the table with all columns, if
    it is known.
    """

    whole: CanonicalTable | None = None

    def __init__(self, name: TableName, defined: CanonicalTable | None) -> None:
        self.changes: list[Change] = []
        self.counts: list[int] = []
        self._places: list[MessagePlace] = []
        self._name = name
        self._defined = defined
        self._found: CanonicalTable | None = None
        self._binary: frozenset[str] = frozenset()
        self._builder: BatchBuilder | None = None

    def begin(self, place: MessagePlace) -> None:
        """Begin the rows of a message."""
        self._places.append(place)
        self.counts.append(0)

    def batches(self) -> list[ArrowBatch]:
        """Return the rows in batches of one schema, and forget them."""
        changes, places, counts = self.changes, self._places, self.counts
        if not changes:
            return []
        self.changes, self._places, self.counts = [], [], []
        if self.whole is None:
            self._learn(changes)
        try:
            return list(self._built(changes, places, counts))
        except ConversionError:
            binary = self._ill_formed(changes)
            if binary <= self._binary:
                raise
            self._binary |= binary
            self._builder = None
            return list(self._built(changes, places, counts))

    def _built(
        self, changes: Sequence[Change], places: Sequence[MessagePlace], counts: Sequence[int]
    ) -> Iterator[ArrowBatch]:
        builder = self._builder
        if builder is None:
            table = self.whole or self._described()
            builder = self._builder = BatchBuilder(table.with_binary_text(self._binary))
        sources = builder.places(places, counts)
        for start in range(0, len(changes), BATCH_ROWS):
            part = changes[start : start + BATCH_ROWS]
            yield builder.batch(part, sources.slice(start, len(part)))

    def _described(self) -> CanonicalTable:
        assert self._found is not None
        if self._defined is None:
            return self._found
        return apply_definition(self._found, self._defined)

    def _learn(self, changes: Sequence[Change]) -> None:
        """Add the columns of rows to the table, and the types that they need."""
        for columns, key in _shapes(changes):
            table = Table(self._name[1], self._name[0], columns=columns, key=key)
            new = canonical_table(table)
            found = new if self._found is None else union_tables(self._found, new)
            if found != self._found:
                self._found, self._builder = found, None

    def _ill_formed(self, changes: Sequence[Change]) -> frozenset[str]:
        """Return the columns of text that hold text that is not UTF-8, which is bytes."""
        table = self.whole or self._described()
        texts = {each.name for each in table.columns if isinstance(each.type, TextType)}
        return frozenset(
            column.name
            for change in changes
            for _, _, columns, values in images_of(change)
            for column, value in zip(columns, values, strict=True)
            if type(value) is bytes and column.name in texts
        )


_Key: TypeAlias = "tuple[str, ...] | None"
_Columns: TypeAlias = "tuple[Column, ...]"


def _shapes(changes: Sequence[Change]) -> Iterable[tuple[_Columns, _Key]]:
    """Return the columns and keys of rows, each once."""
    # Rows share their layouts, and events their columns.
    layouts = {
        (id(each.new_layout), id(each.old_layout), id(each.table)): each
        for each in changes
        if isinstance(each, Row)
    }
    events = [each for each in changes if not isinstance(each, Row)]
    found: dict[object, tuple[_Columns, _Key]] = {}
    shaped: list[Change] = [*layouts.values(), *events]
    for change in shaped:
        for _, identity, columns, _ in images_of(change):
            found[change.table.key, identity] = columns, change.table.key
    return found.values()
