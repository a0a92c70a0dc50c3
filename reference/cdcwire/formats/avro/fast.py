"""The fast decoder: Avro messages to typed rows, with the plain decoder as the fallback.

It accepts and rejects exactly what ``decode`` does, by construction: what is not as
usual, damaged or just rare, is given to the plain decoder. Usual are rows and deletes of tables;
see ``record_plan`` for how they are read.

Not read in the fast way: DDL and checkpoints, rows without a key or with their old values, records
that do not belong to a table.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from cdcwire.apache_avro.registries import CONFLUENT_BYTES, GLUE_BYTES, read_envelope
from cdcwire.apache_avro.sources import KnownSchemas, SchemaSource, schema_of
from cdcwire.core.caches import BoundedCache, Credit
from cdcwire.core.compiled import FastDecoder, Irregular
from cdcwire.core.context import NO_CONTEXT, Context
from cdcwire.core.errors import DecodeError
from cdcwire.core.message import KafkaMessage, Message, expect_kafka
from cdcwire.core.reader import Reader
from cdcwire.core.rows import NOTHING_ELSE, Layout, Row, new_row
from cdcwire.formats.avro.definitions import Labels
from cdcwire.formats.avro.events import RowReading, events_of, key_names, table_of
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
from cdcwire.formats.avro.settings import Settings, read_settings
from cdcwire.formats.avro.wire import read_bytes
from cdcwire.model.events import Event, Extra, RowChange, Table
from cdcwire.model.kinds import Column

# Limits of what is kept. A field takes some two kilobytes with its code.
_MAX_FIELDS = 1 << 13
_PRICE_OF_A_FIELD = 1 << 8  # bytes that the plain decoder reads while a field's code is made
_ENTRY = 4

_CHECKSUM_FIELDS = (CHECKSUM_FIELD, CORRUPTED_FIELD, CHECKSUM_VERSION_FIELD)
_PLAIN_EXTENSION = (OP_FIELD, COMMIT_TS_FIELD, PHYSICAL_TIME_FIELD)
_CHECKED_EXTENSION = (*_PLAIN_EXTENSION, *_CHECKSUM_FIELDS)


@dataclass(frozen=True, slots=True, eq=False)
class _Route:
    """How the messages of one pair of schemas are read. ``read_value`` None: deletes.

    ``key_head`` and ``value_head``: their envelopes, None for no value.
    """

    key_head: bytes
    value_head: bytes | None
    table: Table
    is_wanted: bool
    layout: Layout
    read_key: RecordFunction
    read_value: RecordFunction | None
    extension: int  # how many fields there are: none, three or six


class RowDecoder(FastDecoder):
    """Decodes Kafka messages. The context has the schemas; what an id means does not change.

    ``settings``: those of the context's options, unless given. ``source``: other schemas.
    """

    def __init__(
        self,
        context: Context = NO_CONTEXT,
        settings: Settings | None = None,
        source: SchemaSource | None = None,
    ) -> None:
        self.source = KnownSchemas(context.schemas) if source is None else source
        self.settings = read_settings(context) if settings is None else settings
        self.selection = context.selection
        self.labels = Labels(context.tables)
        self._head = CONFLUENT_BYTES if self.settings.registry == "confluent" else GLUE_BYTES
        self._reading = RowReading(self.settings, self.labels, self.selection)
        self._routes: BoundedCache[tuple[bytes, bytes | None], _Route] = BoundedCache(_MAX_FIELDS)
        self._last: _Route | None = None
        self._layouts: BoundedCache[tuple[Column, ...], Layout] = BoundedCache(_MAX_FIELDS)
        self._credit = Credit()

    def _usual(self, message: Message) -> list[Row]:
        if not isinstance(message, KafkaMessage):
            raise Irregular
        key, value = message.key, message.value
        if key is None:
            raise Irregular
        head = self._head
        key_head = key[:head]
        value_head = None if value is None else value[:head]
        route = self._last  # most messages have the schemas of the one before
        if route is None or value_head != route.value_head or key_head != route.key_head:
            route = self._last = self._route(key_head, value_head)
        if not route.is_wanted:
            return []
        columns, _ = route.read_key(key, head)
        if value is None:
            deleted = (route.table, "delete", None, None, None, None, route.layout, columns, "key")
            return [new_row(deleted + NOTHING_ELSE)]
        assert route.read_value is not None  # the route has a value
        values, extension = route.read_value(value, head)
        extra: Extra | None = None
        if route.extension == len(_PLAIN_EXTENSION):
            op, commit_ts, commit_ms = extension
        elif route.extension:
            op, commit_ts, commit_ms, checksum, corrupted, version = extension
            extra = {
                "checksum": checksum,
                "corrupted": "true" if corrupted else "false",
                "checksum_version": str(version),
            }
        else:
            op, commit_ts, commit_ms = "upsert", None, None
        if op == "delete":
            raise Irregular  # its value is the old row
        # Written out: joining tuples takes longer.
        row = (
            route.table,
            op,
            commit_ts,
            None,
            route.layout,
            values,
            None,
            None,
            None,
            None,
            commit_ms,
            None,
            None,
            extra,
        )
        return [new_row(row)]

    def _route(self, key_head: bytes, value_head: bytes | None) -> _Route:
        """Return the route of a pair of envelopes. Raises: one of IRREGULARITIES."""
        found = self._routes.get((key_head, value_head))
        return self._learn(key_head, value_head) if found is None else found

    def _learn(self, key_head: bytes, value_head: bytes | None) -> _Route:
        """Return the route of a pair of envelopes, which is remembered."""
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
            key_head,
            value_head,
            table,
            # Key and value are of one table, unless someone mixes them: then both are read.
            self._wants(key_plan) if value_plan is None else self._wants_both(key_plan, value_plan),
            self._layout(columns),
            function(key_plan, wanted if value_plan is None else ()),
            None if value_plan is None else function(value_plan, wanted),
            len(names) if value_plan is not None else 0,
        )
        self._routes.keep((key_head, value_head), route, size + _ENTRY)
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

    def _plain(self, message: Message) -> list[Row | Event]:
        if schema_of(message) is not None:
            return []
        kafka = expect_kafka(message, "avro: messages")
        key, value = kafka.key, kafka.value
        self._credit.earn(len(key or b"") + len(value or b""))
        found = read_bytes(key, value, self.source, self.settings, self.selection)
        events = events_of(found, self.settings, self.labels, self.selection)
        return [self._plain_row(event) for event in events]

    def _plain_row(self, event: Event) -> Row | Event:
        if not isinstance(event, RowChange) or (event.before and event.after):
            return event
        image = event.after or event.before
        assert image is not None  # a row has one of them
        layout = self._layout(image.columns)
        is_new = event.after is not None
        position = event.position
        return Row(
            event.table,
            event.op,
            position.commit_ts,
            None,
            layout if is_new else None,
            image.values if is_new else None,
            None if is_new else layout,
            None if is_new else image.values,
            event.sent,
            commit_ms=position.commit_ms,
            extra=event.extra or None,
        )
