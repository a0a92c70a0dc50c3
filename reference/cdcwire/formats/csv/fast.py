"""The fast decoder: data files to typed rows, with the plain decoder behind it.

It accepts and rejects exactly what the plain decoder does, by construction: a record that its
table's pattern does not match, or whose values are not as usual, is given to the plain decoder. See
``row_patterns`` for what is usual.

An update comes as a neutral event, since a ``Row`` without its old values would be an insert; so do
rows with a handle key or an ambiguous NULL. With other terminators than CR and LF all rows are read
by the plain decoder.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from functools import partial
from typing import Any, TypeAlias

from cdcwire.core.compiled import IRREGULARITIES, BoundedCache, Irregular
from cdcwire.core.errors import DecodeError, step
from cdcwire.core.format import EVERYTHING, Selection
from cdcwire.core.message import StoredFile
from cdcwire.core.rows import Conversion, Layout, Row
from cdcwire.formats.csv.events import find_table, located_event, read_events
from cdcwire.formats.csv.header import read_header
from cdcwire.formats.csv.records import read_record
from cdcwire.formats.csv.row_patterns import (
    ENCODING,
    RowFunction,
    is_usual,
    make_row_function,
    pattern_of,
)
from cdcwire.formats.csv.settings import DEFAULT_SETTINGS, Settings
from cdcwire.formats.csv.tables import Definitions, FilePlan, file_plan, stored_columns
from cdcwire.model.events import (
    NO_EXTRA,
    Event,
    Extra,
    Half,
    Op,
    Position,
    RowChange,
    Table,
)
from cdcwire.model.kinds import DecimalType, VectorType
from cdcwire.mysql.values import read_vector
from cdcwire.storage.feeds import other_events, path_of
from cdcwire.storage.paths import DataPath

_MAX_COLUMNS = 512  # of a pattern
_MAX_PLAN_COLUMNS = 1 << 13  # of all patterns; a column takes some three kilobytes

# Making a pattern takes about as long as the plain decoder takes for so many bytes a column.
_PRICE_OF_A_COLUMN = 1 << 8
_UINT64_END = 1 << 64
_INT64_END = 1 << 63

_new_row: Callable[[tuple[object, ...]], Row] = partial(tuple.__new__, Row)


PlanKey: TypeAlias = "tuple[int, tuple[str, ...]]"  # identity of a table, names in a file
Reading: TypeAlias = "tuple[Callable[[str, int], re.Match[str] | None], RowFunction]"


class RowPlan:
    """How the records of a table are read. Pattern and functions are made when they are needed."""

    def __init__(self, plan: FilePlan, settings: Settings) -> None:
        self.plan = plan
        self.layout = Layout(plan.columns, _conversions(plan))
        self._settings = settings
        self._readings: dict[bool, Reading] = {}  # by whether a file is ASCII
        self._seen = 0
        size = len(plan.codecs)
        self._price = size * _PRICE_OF_A_COLUMN if size <= _MAX_COLUMNS else None

    def is_worth(self, size: int) -> bool:
        """Note that so many bytes come; return whether they are to be read by the pattern."""
        self._seen += size
        return self._price is not None and self._seen >= self._price

    def reading(self, is_ascii: bool) -> Reading:
        """Return what matches a record at a place of a text, and what reads its groups."""
        found = self._readings.get(is_ascii)
        if found is None:
            schema, table = self.plan.table.schema or "", self.plan.table.name or ""
            codecs, settings = self.plan.codecs, self._settings
            other = self._readings.get(not is_ascii)
            match = other[0] if other else pattern_of(schema, table, codecs, settings).match
            found = (match, make_row_function(codecs, settings, is_ascii))
            self._readings[is_ascii] = found
        return found


class RowDecoder:
    """Decodes the files of a feed. Keep one: it learns the tables that it meets.

    ``tables``: their definitions. What is remembered is bounded. Not to be shared between threads.
    """

    def __init__(
        self,
        tables: Iterable[Table],
        selection: Selection = EVERYTHING,
        settings: Settings = DEFAULT_SETTINGS,
    ) -> None:
        self.selection = selection
        self.settings = settings
        self.definitions = Definitions(tables)
        self._is_usual = is_usual(settings)
        self._plans: BoundedCache[PlanKey, tuple[Table, RowPlan]] = BoundedCache(_MAX_PLAN_COLUMNS)

    def decode(self, file: StoredFile) -> list[Row | Event]:
        """Return the rows and events of a file. Raises: DecodeError, as the plain decoder."""
        rows: list[Row | Event] = []
        self._decode(file, rows)
        return rows

    def decode_events(self, file: StoredFile) -> list[Event]:
        """Return the neutral events of a file. Raises: DecodeError, as the plain decoder."""
        return [row.to_event() if isinstance(row, Row) else row for row in self.decode(file)]

    def decode_file(self, file: StoredFile) -> Iterator[Row | Event]:
        """Yield the rows and events of a file, those before a fault first.

        Raises: DecodeError, as the plain decoder.
        """
        rows: list[Row | Event] = []
        fault: DecodeError | None = None
        try:
            self._decode(file, rows)
        except DecodeError as error:
            fault = error
        yield from rows
        if fault is not None:
            raise fault

    def _decode(self, file: StoredFile, rows: list[Row | Event]) -> None:
        """Append what the file has to ``rows``."""
        place = path_of(file, self.settings.layout)
        if place is not None and not isinstance(place, DataPath):
            layout, time_zone = self.settings.layout, self.settings.time_zone
            rows += other_events(file, place, layout, time_zone, self.selection)
            return
        value = file.value
        if not self._is_usual or not value:
            settings, selection = self.settings, self.selection
            for event in read_events(value, settings, self.definitions, place, selection):
                rows.append(event)  # one by one, as the next may be broken
            return
        if (
            place is not None
            and place.schema
            and not self.selection.wants(place.schema, place.table)
        ):
            return
        table = find_table(value, self.settings, self.definitions, place)
        if not self.selection.wants(table.schema, table.name or ""):
            return
        names = tuple(column.name for column in stored_columns(table))
        _, found, offset = read_header(value, self.settings, names)
        plan = self._plan(table, tuple(found or ()))
        partition = None if place is None else place.partition
        if plan.is_worth(len(value) - offset):
            self._usual_rows(plan, value, offset, partition, rows)
            return
        index = 0
        while offset < len(value):
            with step("records", index):
                change, offset = self._plain_row(plan.plan, value, offset, partition)
            rows.append(change)
            index += 1

    def _plan(self, table: Table, names: tuple[str, ...]) -> RowPlan:
        place = (id(table), names)  # the table is kept with the plan, so that its id stays its own
        known = self._plans.get(place)
        if known is None:
            plan = file_plan(table, names, self.settings, self.selection)
            known = (table, RowPlan(plan, self.settings))
            self._plans.keep(place, known, len(names) + 1)
        return known[1]

    def _usual_rows(
        self,
        plan: RowPlan,
        value: bytes,
        offset: int,
        partition: int | None,
        rows: list[Row | Event],
    ) -> None:
        text, size = value.decode(ENCODING), len(value)
        match, read = plan.reading(value.isascii())
        table, layout = plan.plan.table, plan.layout
        append, new_row = rows.append, _new_row
        row: tuple[object, ...]
        digits: str | None = None
        commit_ts: int | None = None
        while offset < size:
            found = match(text, offset)
            if found is not None:
                try:
                    op, ts, is_update, handle_key, values = read(found.groups())
                    if ts is not None and ts != digits:
                        commit_ts = int(ts)
                        digits = ts
                        if commit_ts >= _UINT64_END:
                            raise Irregular
                    if op == "U" or handle_key is not None or is_update == "true":
                        position = Position(commit_ts=commit_ts, partition=partition)
                        append(_event(plan, op, position, is_update, handle_key, values))
                    elif op == "I":
                        row = (table, commit_ts, partition, layout, values, None, None, None)
                        append(new_row(row))
                    else:
                        row = (table, commit_ts, partition, None, None, layout, values, None)
                        append(new_row(row))
                    offset = found.end()
                    continue
                except IRREGULARITIES:
                    pass  # left behind here, so that an error of the plain decoder stands alone
            with step("records", len(rows)):
                change, offset = self._plain_row(plan.plan, value, offset, partition)
            append(change)

    def _plain_row(
        self, plan: FilePlan, value: bytes, offset: int, partition: int | None
    ) -> tuple[RowChange, int]:
        located = read_record(value, self.settings, plan.names, offset, len(plan.names))
        return located_event(located, plan, partition), located.end


def _event(
    plan: RowPlan,
    op: str,
    position: Position,
    is_update: str | None,
    handle_key: str | None,
    values: tuple[Any, ...],
) -> RowChange:
    """Return the event of a record that no ``Row`` can be. Raises: Irregular."""
    image = plan.layout.image(values)
    is_half = is_update == "true"
    if op == "U" and is_update is not None:
        raise Irregular
    extra: Extra = NO_EXTRA
    if handle_key is not None:
        if not -_INT64_END <= int(handle_key) < _INT64_END:
            raise Irregular
        extra = {"handle_key": handle_key}
    table = plan.plan.table
    if op == "D":
        kind: Op = "update" if is_half else "delete"
        half: Half | None = "before" if is_half else None
        return RowChange(table, kind, image, None, position, half, extra=extra)
    kind = "update" if is_half or op == "U" else "insert"
    half = "after" if is_half else None
    return RowChange(table, kind, None, image, position, half, extra=extra)


def _conversions(plan: FilePlan) -> tuple[Conversion, ...]:
    """Return what rows still need for the model, by index."""
    found: list[Conversion] = []
    for index, column in enumerate(plan.columns):
        if isinstance(column.type, DecimalType):
            found.append((index, Decimal))
        elif isinstance(column.type, VectorType):
            found.append((index, read_vector))
    return tuple(found)
