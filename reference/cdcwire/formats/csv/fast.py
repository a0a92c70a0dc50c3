"""The fast decoder: data files to typed rows, with the plain decoder as the fallback.

It accepts and rejects exactly what the plain decoder does, by construction. A record that its
table's pattern does not match, or whose values are not as usual, is given to the plain decoder. See
``row_patterns`` for what is usual.

A row with an ambiguous NULL comes as a neutral event. With other terminators than CR and LF, the
plain decoder reads all rows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from decimal import Decimal
from typing import Any, TypeAlias

from cdcwire.core.caches import BoundedCache
from cdcwire.core.compiled import IRREGULARITIES, FastDecoder, Irregular
from cdcwire.core.context import Context
from cdcwire.core.errors import DecodeError, step
from cdcwire.core.limits import INT64_END, INT64_START, UINT64_END
from cdcwire.core.message import Message, StoredFile, expect_file
from cdcwire.core.rows import NOTHING_ELSE, Conversion, Layout, Row, new_row
from cdcwire.formats.csv.events import find_table, located_event, read_events
from cdcwire.formats.csv.records import read_record
from cdcwire.formats.csv.row_patterns import (
    ENCODING,
    RowFunction,
    is_usual,
    make_row_function,
    pattern_of,
)
from cdcwire.formats.csv.settings import Settings, read_settings
from cdcwire.formats.csv.tables import Definitions, FilePlan, file_plan, stored_columns
from cdcwire.formats.csv.wire import read_header
from cdcwire.model.events import (
    NO_EXTRA,
    Event,
    Extra,
    Half,
    Op,
    RowChange,
    Table,
)
from cdcwire.model.kinds import DecimalType, VectorType
from cdcwire.model.steps import joined_extra
from cdcwire.mysql.values import read_vector
from cdcwire.storage.feeds import other_events, path_of
from cdcwire.storage.paths import DataPath

_MAX_COLUMNS = 512  # of a pattern
_MAX_PLAN_COLUMNS = 1 << 13  # of all patterns; a column takes some three kilobytes
# Making a pattern takes about as long as the plain decoder takes for this many bytes per column.
_PRICE_OF_A_COLUMN = 1 << 8
_REST = (None, *NOTHING_ELSE)  # what most rows have after their images
PlanKey: TypeAlias = "tuple[int, tuple[str, ...]]"  # identity of a table, names in a file
Reading: TypeAlias = "tuple[Callable[[str, int], re.Match[str] | None], RowFunction]"


def join_adjacent_halves(changes: Iterable[Row | Event]) -> Iterator[Row | Event]:
    """Join each "before" half with the "after" half right after it; keep a lone half as it is.

    An error of ``changes`` is raised after the changes before it.
    """
    waiting: Row | RowChange | None = None
    try:
        for change in changes:
            if waiting is not None:
                first, waiting = waiting, None
                joined = _joined(first, change)
                if joined is not None:
                    yield joined
                    continue
                yield first
            if isinstance(change, (Row, RowChange)) and change.half == "before":
                waiting = change
            else:
                yield change
    except DecodeError:
        if waiting is not None:
            yield waiting
        raise
    if waiting is not None:
        yield waiting


def _joined(first: Row | RowChange, change: Row | Event) -> Row | RowChange | None:
    """Return the update of a before and an after record; None if they do not belong together."""
    if not isinstance(change, (Row, RowChange)) or change.half != "after":
        return None
    if first.table != change.table:
        return None
    if isinstance(first, Row) and isinstance(change, Row):
        if (first.commit_ts, first.partition) != (change.commit_ts, change.partition):
            return None
        joined = change._replace(old_layout=first.old_layout, old=first.old, half=None)
        if not first.extra:
            return joined
        return joined._replace(extra=joined_extra(first.extra, change.extra or NO_EXTRA) or None)
    before, after = (each.to_event() if isinstance(each, Row) else each for each in (first, change))
    if before.position != after.position:
        return None
    extra = joined_extra(before.extra, after.extra)
    return replace(after, before=before.before, half=None, extra=extra)


class RowPlan:
    """How the records of a table are read. Pattern and functions are made when they are needed."""

    def __init__(self, plan: FilePlan, settings: Settings) -> None:
        self.plan = plan
        self.layout = Layout(plan.columns, _conversions(plan))
        self._settings = settings
        self._readings: dict[bool, Reading] = {}  # by whether a file is ASCII
        self._seen = 0
        size = len(plan.codecs)
        self._price = size * _PRICE_OF_A_COLUMN if 0 < size <= _MAX_COLUMNS else None

    def is_worth(self, size: int) -> bool:
        """Note that this many bytes come; return whether they are to be read by the pattern."""
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


class RowDecoder(FastDecoder):
    """Decodes the files of a storage prefix. The context needs the definitions of their tables.

    ``settings``: those of the context's options, unless given.
    """

    def __init__(self, context: Context, settings: Settings | None = None) -> None:
        self.selection = context.selection
        self.settings = read_settings(context) if settings is None else settings
        self.definitions = Definitions(context.tables)
        self._is_usual = is_usual(self.settings)
        self._plans: BoundedCache[PlanKey, tuple[Table, RowPlan]] = BoundedCache(_MAX_PLAN_COLUMNS)

    def _usual(self, message: Message) -> Iterator[Row | Event]:
        if not isinstance(message, StoredFile):
            raise Irregular
        return self._rows(message)

    def _plain(self, message: Message) -> Iterator[Row | Event]:
        return self._rows(expect_file(message, "csv: files"))

    def _rows(self, file: StoredFile) -> Iterator[Row | Event]:
        """Yield the rows and events of a file, those before a fault first. Raises: DecodeError."""
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
        append = rows.append
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
                        if commit_ts >= UINT64_END:
                            raise Irregular
                    if op == "U" or handle_key is not None or is_update == "true":
                        where = commit_ts, partition
                        append(_other_row(plan, op, where, is_update, handle_key, values))
                    elif op == "I":
                        row = (table, "insert", commit_ts, partition, layout, values, None, None)
                        append(new_row(row + _REST))
                    else:
                        row = (table, "delete", commit_ts, partition, None, None, layout, values)
                        append(new_row(row + _REST))
                    offset = found.end()
                    continue
                except IRREGULARITIES:
                    pass  # leave the handler: an error of the plain decoder then has no context
            with step("records", len(rows)):
                change, offset = self._plain_row(plan.plan, value, offset, partition)
            append(change)

    def _plain_row(
        self, plan: FilePlan, value: bytes, offset: int, partition: int | None
    ) -> tuple[RowChange, int]:
        located = read_record(value, self.settings, plan.names, offset, len(plan.names))
        return located_event(located, plan, partition), located.end


def _other_row(
    plan: RowPlan,
    op: str,
    where: tuple[int | None, int | None],
    is_update: str | None,
    handle_key: str | None,
    values: tuple[Any, ...],
) -> Row:
    """Return the row of an update, of a half of one, or of a row with a handle key.

    Raises: Irregular.
    """
    is_half = is_update == "true"
    if op == "U" and is_update is not None:
        raise Irregular
    extra: Extra | None = None
    if handle_key is not None:
        if not INT64_START <= int(handle_key) < INT64_END:
            raise Irregular
        extra = {"handle_key": handle_key}
    table, layout = plan.plan.table, plan.layout
    half: Half | None
    if op == "D":
        half = "before" if is_half else None
        kind: Op = "update" if is_half else "delete"
        return Row(table, kind, *where, None, None, layout, values, half=half, extra=extra)
    half = "after" if is_half else None
    kind = "update" if is_half or op == "U" else "insert"
    return Row(table, kind, *where, layout, values, None, None, half=half, extra=extra)


def _conversions(plan: FilePlan) -> tuple[Conversion, ...]:
    """Return what rows still need for the model, by index."""
    found: list[Conversion] = []
    for index, column in enumerate(plan.columns):
        if isinstance(column.type, DecimalType):
            found.append((index, Decimal))
        elif isinstance(column.type, VectorType):
            found.append((index, read_vector))
    return tuple(found)


class JoiningDecoder(RowDecoder):
    """Gives an update that a file has as two adjacent records as one row."""

    def decode(self, message: Message) -> Iterable[Row | Event]:
        """Return the rows and events of a file. Raises: DecodeError, after the rows before it."""
        rows = super().decode(message)
        return join_adjacent_halves(rows) if self.settings.output_old_value else rows
