"""The fast decoder: Avro messages to typed rows, with the plain decoder behind it.

It accepts and rejects exactly what ``decode`` does, by construction: what is not as
usual, damaged or just rare, is given to the plain decoder. Usual are rows and deletes of tables;
see ``record_plan`` for how they are read.

Not read in the fast way: DDL and checkpoints, rows without a key or with their old values, records
that are no table's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from cdcwire.core.compiled import IRREGULARITIES, BoundedCache, Credit, Irregular
from cdcwire.core.errors import DecodeError
from cdcwire.core.format import EVERYTHING, Selection
from cdcwire.core.reader import Reader
from cdcwire.core.rows import Layout
from cdcwire.formats.avro.definitions import Labels
from cdcwire.formats.avro.envelope import CONFLUENT_BYTES, GLUE_BYTES, read_envelope
from cdcwire.formats.avro.events import RowReading, key_names, table_of, to_events
from cdcwire.formats.avro.plans import (
    CHECKSUM_FIELD,
    CHECKSUM_VERSION_FIELD,
    COMMIT_TS_FIELD,
    CORRUPTED_FIELD,
    OP_FIELD,
    PHYSICAL_TIME_FIELD,
    RecordPlan,
    plan_of_text,
)
from cdcwire.formats.avro.record_plan import RecordFunction, make_record_function
from cdcwire.formats.avro.settings import DEFAULT_SETTINGS, Settings
from cdcwire.formats.avro.sources import SchemaSource
from cdcwire.formats.avro.wire import read_bytes
from cdcwire.model.events import (
    NO_EXTRA,
    NOWHERE,
    Column,
    Event,
    Extra,
    Op,
    Position,
    RowChange,
    Sent,
    Table,
)

# Limits of what is kept. A field takes some two kilobytes with its code.
_MAX_FIELDS = 1 << 13
_PRICE_OF_A_FIELD = 1 << 8  # bytes that the plain decoder reads while a field's code is made
_ENTRY = 4

_CHECKSUM_FIELDS = (CHECKSUM_FIELD, CORRUPTED_FIELD, CHECKSUM_VERSION_FIELD)
_PLAIN_EXTENSION = (OP_FIELD, COMMIT_TS_FIELD, PHYSICAL_TIME_FIELD)
_CHECKED_EXTENSION = (*_PLAIN_EXTENSION, *_CHECKSUM_FIELDS)


class Row(NamedTuple):
    """One row change: the new row, or the key of a deleted one.

    Values are the model's. ``commit_ms``: the physical time that the row tells.
    """

    table: Table
    op: Op
    commit_ts: int | None
    commit_ms: int | None
    layout: Layout
    values: tuple[Any, ...]
    sent: Sent | None = None
    extra: Extra = NO_EXTRA

    def to_event(self) -> Event:
        """Return the neutral event of this row."""
        image = self.layout.image(self.values)
        position = NOWHERE
        if self.commit_ts is not None or self.commit_ms is not None:
            position = Position(commit_ts=self.commit_ts, commit_ms=self.commit_ms)
        is_delete = self.op == "delete"
        before, after = (image, None) if is_delete else (None, image)
        return RowChange(
            self.table, self.op, before, after, position, sent=self.sent, extra=self.extra
        )


_new_row: Callable[[tuple[object, ...]], Row] = partial(tuple.__new__, Row)


@dataclass(frozen=True, slots=True, eq=False)
class _Route:
    """How the messages of one pair of schemas are read. ``read_value`` None: deletes."""

    table: Table
    is_wanted: bool
    layout: Layout
    read_key: RecordFunction
    read_value: RecordFunction | None
    extension: int  # how many fields there are: none, three or six


class RowDecoder:
    """Decodes the messages of a feed. Keep one: it learns the schemas that it meets.

    ``source``: the registry; what an id means does not change. ``labels``: see ``to_events``.
    What is remembered is bounded, whatever the messages hold. Not to be shared between threads.
    """

    def __init__(
        self,
        source: SchemaSource,
        settings: Settings = DEFAULT_SETTINGS,
        selection: Selection = EVERYTHING,
        tables: Iterable[Table] = (),
    ) -> None:
        self.source = source
        self.settings = settings
        self.selection = selection
        self.labels = Labels(tables)
        self._head = CONFLUENT_BYTES if settings.registry == "confluent" else GLUE_BYTES
        self._reading = RowReading(settings, self.labels, selection)
        self._routes: BoundedCache[tuple[bytes, bytes | None], _Route] = BoundedCache(_MAX_FIELDS)
        self._layouts: BoundedCache[tuple[Column, ...], Layout] = BoundedCache(_MAX_FIELDS)
        self._credit = Credit()

    def decode(self, key: bytes | None, value: bytes | None) -> list[Row | Event]:
        """Return the row of a Kafka message, or its DDL or checkpoint.

        A row that has its old values too is given as its neutral event.
        Raises: DecodeError, the same as ``cdcwire.formats.avro.decode``.
        """
        if key is not None:
            try:
                return self._usual_rows(key, value)
            except IRREGULARITIES:
                pass  # left behind here, so that an error of the plain decoder stands alone
        return self._plain_rows(key, value)

    def decode_events(self, key: bytes | None, value: bytes | None) -> list[Event]:
        """Return the neutral events of a Kafka message. Raises: DecodeError."""
        return [row.to_event() if isinstance(row, Row) else row for row in self.decode(key, value)]

    def _usual_rows(self, key: bytes, value: bytes | None) -> list[Row | Event]:
        """Raises: one of IRREGULARITIES."""
        head = self._head
        place = (key[:head], None if value is None else value[:head])
        route = self._routes.get(place)
        if route is None:
            route = self._learn(place)
        if not route.is_wanted:
            return []
        columns, _ = route.read_key(key, head)
        if value is None:
            row = (route.table, "delete", None, None, route.layout, columns, "key", NO_EXTRA)
            return [_new_row(row)]
        assert route.read_value is not None  # the place has a value
        values, told = route.read_value(value, head)
        if route.extension == len(_PLAIN_EXTENSION):
            op, commit_ts, commit_ms = told
            extra = NO_EXTRA
        elif route.extension:
            op, commit_ts, commit_ms, checksum, corrupted, version = told
            extra = {
                "checksum": checksum,
                "corrupted": "true" if corrupted else "false",
                "checksum_version": str(version),
            }
        else:
            op, commit_ts, commit_ms, extra = "upsert", None, None, NO_EXTRA
        return [
            _new_row((route.table, op, commit_ts, commit_ms, route.layout, values, None, extra))
        ]

    def _learn(self, place: tuple[bytes, bytes | None]) -> _Route:
        """Return the route of a pair of envelopes, which is remembered."""
        key_head, value_head = place
        key_plan = self._plan(key_head)
        value_plan = None if value_head is None else self._plan(value_head)
        row_plan = key_plan if value_plan is None else value_plan
        names = tuple(row_plan.extension)
        if names not in ((), _PLAIN_EXTENSION, _CHECKED_EXTENSION):
            raise Irregular
        table = table_of(row_plan, key_names(key_plan))
        size = len(key_plan.fields) + (0 if value_plan is None else len(value_plan.fields))
        if not self._credit.spend(size * _PRICE_OF_A_FIELD):
            raise Irregular
        wanted = self._reading.wanted(row_plan)
        columns = self._reading.columns(row_plan, wanted, table)
        function = partial(make_record_function, unsigned_wrap=self.settings.unsigned_wrap)
        route = _Route(
            table,
            # Key and value are of one table, unless someone mixes them: then both are read.
            self._wants(key_plan) if value_plan is None else self._wants_both(key_plan, value_plan),
            self._layout(columns),
            function(key_plan, wanted if value_plan is None else ()),
            None if value_plan is None else function(value_plan, wanted),
            len(names) if value_plan is not None else 0,
        )
        self._routes.keep(place, route, size + _ENTRY)
        return route

    def _plan(self, head: bytes) -> RecordPlan:
        try:
            schema_id = read_envelope(Reader(head), self.settings.registry)
            text = self.source.get(schema_id)
            if text is None:
                raise Irregular
            return plan_of_text(text)
        except DecodeError:
            raise Irregular from None

    def _wants(self, plan: RecordPlan) -> bool:
        table = table_of(plan, ())
        return self.selection.wants(table.schema, plan.record.name)

    def _wants_both(self, key_plan: RecordPlan, value_plan: RecordPlan) -> bool:
        wants = self._wants(value_plan)
        if wants != self._wants(key_plan):
            raise Irregular
        return wants

    def _layout(self, columns: tuple[Column, ...]) -> Layout:
        layout = self._layouts.get(columns)
        if layout is None:
            layout = Layout(columns)
            self._layouts.keep(columns, layout, len(columns) + 1)
        return layout

    def _plain_rows(self, key: bytes | None, value: bytes | None) -> list[Row | Event]:
        self._credit.earn(len(key or b"") + len(value or b""))
        message = read_bytes(key, value, self.source, self.settings, self.selection)
        events = to_events(message, self.settings, self.labels, self.selection)
        return [self._plain_row(event) for event in events]

    def _plain_row(self, event: Event) -> Row | Event:
        if not isinstance(event, RowChange) or (event.before and event.after):
            return event
        image = event.after or event.before
        assert image is not None  # a row has one of them
        return Row(
            event.table,
            event.op,
            event.position.commit_ts,
            event.position.commit_ms,
            self._layout(image.columns),
            image.values,
            event.sent,
            event.extra,
        )
