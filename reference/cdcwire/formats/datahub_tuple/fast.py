"""The fast decoder: batches of a Tuple topic to rows, with the plain decoder as the fallback.

It accepts and rejects exactly what the plain decoder does, by construction. Unusual input, damaged
or just rare, is given to the plain decoder. Usual are bodies of batches whose records have
no attributes. Bodies in JSON and protobuf, and such with a content encoding, are read plainly.
"""

from __future__ import annotations

from typing import Any

from cdcwire.core.caches import Memo
from cdcwire.core.compiled import FastDecoder, Irregular
from cdcwire.core.context import Context
from cdcwire.core.message import KafkaMessage, Message
from cdcwire.core.reader import Reader
from cdcwire.core.rows import Layout, Row, new_row
from cdcwire.datahub.body import CONTENT_TYPES
from cdcwire.datahub.carrying import headers_of, queued
from cdcwire.datahub.fast_batch import BatchReader
from cdcwire.datahub.frame import MAGIC, crc32c, joined_crc32c
from cdcwire.datahub.protobuf import read_fields
from cdcwire.datahub.tuple_topic import Topic
from cdcwire.formats.datahub_tuple.events import ROW_OPS, events_of
from cdcwire.formats.datahub_tuple.settings import Settings
from cdcwire.formats.datahub_tuple.topic import topic_in
from cdcwire.formats.datahub_tuple.wire import (
    COMBINATIONS,
    MAX_SEQUENCE_DIGITS,
    MAX_TIME,
)
from cdcwire.model.events import Event, Table
from cdcwire.model.kinds import BytesType

_PUT_ENTRIES, _BATCH = 1, 6
_FRAME_BYTES = 12  # magic, checksum, length
_BATCH_HEADER_BYTES = 26
_SHAPES = {
    (operation, "NY"[before], "NY"[after]): (*ROW_OPS[operation, after], after)
    for operation, before, after in COMBINATIONS
}


class RowDecoder(FastDecoder):
    """Decodes the bodies of one topic. It remembers nothing of them.

    ``topic``: that of the context's tables, unless given, as the settings are.
    """

    def __init__(
        self, context: Context, settings: Settings | None = None, topic: Topic | None = None
    ) -> None:
        if settings is None or topic is None:
            settings, topic = topic_in(context)
        self.selection = context.selection
        self.settings = settings
        self.topic = topic
        table = topic.table
        self._skips_all = bool(table.name) and not self._wants(table.name or "")
        # BYTES are in base64; those that are not selected are checked too.
        base64 = {
            place
            for place, column in zip(topic.data, topic.columns, strict=True)
            if isinstance(column.type, BytesType)
        }
        self._reader = BatchReader(topic.fields, settings.body.compressions, base64)
        wanted = self.selection.columns
        places = [
            (place, column)
            for place, column in zip(topic.data, topic.columns, strict=True)
            if wanted is None or column.name in wanted
        ]
        self._layout = Layout(tuple(column for _, column in places))
        self._data = tuple(place for place, _ in places)
        first = self._data[0] if self._data else 0
        is_run = self._data == tuple(range(first, first + len(self._data)))
        self._run = slice(first, first + len(self._data)) if is_run else None
        self._tables: Memo[str, Table] = Memo(self._table)

    def _wants(self, name: str) -> bool:
        table = self.topic.table
        return self.selection.wants(table.schema, name, table.database)

    def _table(self, name: str) -> Table:
        table = self.topic.table
        return Table(name or table.name, table.schema, table.database, key=table.key)

    def _plain(self, message: Message) -> list[Event]:
        carrier = queued(message)
        if self._skips_all:
            return []
        return list(events_of(carrier, self.topic, self.settings, self.selection))

    def _usual(self, message: Message) -> list[Row | Event]:
        carrier = queued(message)
        return [] if self._skips_all else self._usual_rows(carrier)

    def _usual_rows(self, message: KafkaMessage) -> list[Row | Event]:
        """Return the rows of a regular body. Raises: one of IRREGULARITIES."""
        value = message.value
        if value is None or not value.startswith(MAGIC):
            raise Irregular
        if message.headers:
            headers = headers_of(message)
            content_type = headers.get("content-type", "").partition(";")[0].strip().lower()
            if (
                "content-encoding" in headers
                or headers.get("x-datahub-request-action", "pub") != "pub"
                or CONTENT_TYPES.get(content_type, "batch") != "batch"
            ):
                raise Irregular
        body = self.settings.body
        if body.content_encoding != "none" or body.encoding not in (None, "batch"):
            raise Irregular
        rows: list[Row | Event] = []
        left = body.max_decompressed_bytes
        # The checksum of a frame is that of its batches, which are checked once, and of the rest.
        total, summed = 0, _FRAME_BYTES
        if int.from_bytes(value[8:_FRAME_BYTES], "big") != len(value) - _FRAME_BYTES:
            raise Irregular
        for entry in read_fields(Reader(value, _FRAME_BYTES)):
            if entry.id != _PUT_ENTRIES or entry.region is None:
                raise Irregular
            (batch,) = read_fields(entry.region)
            region = batch.region
            if batch.id != _BATCH or region is None:
                raise Irregular
            data = value[region.offset : region.end]
            raw_size = int.from_bytes(data[12:16], "little")
            if raw_size > left:
                raise Irregular
            left -= raw_size
            for values in self._reader.read(data, body.max_decompressed_bytes):
                row = self._row(values)
                if row is not None:
                    rows.append(row)
            packed = region.offset + _BATCH_HEADER_BYTES
            total = joined_crc32c(total, crc32c(value[summed:packed]), packed - summed)
            batch_sum = int.from_bytes(data[16:20], "little")
            total = joined_crc32c(total, batch_sum, region.end - packed)
            summed = region.end
        total = joined_crc32c(total, crc32c(value[summed:]), len(value) - summed)
        if total != int.from_bytes(value[4:8], "big"):
            raise Irregular
        return rows

    def _row(self, values: tuple[Any, ...]) -> Row | None:
        topic = self.topic
        sequence_id, time = values[topic.sequence_id], values[topic.execute_time]
        operation = values[topic.operation_type]
        shape = _SHAPES.get((operation, values[topic.before_image], values[topic.after_image]))
        name = ""
        if topic.source_table is not None:
            name = values[topic.source_table]
            if not name or topic.table.name not in (None, name):
                raise Irregular
        if (
            shape is None
            or sequence_id is None
            or time is None
            or not (sequence_id.isascii() and sequence_id.isdigit())
            or len(sequence_id) > MAX_SEQUENCE_DIGITS
            or not 0 <= time <= MAX_TIME
        ):
            raise Irregular
        table = self._tables[name]
        if not self._wants(table.name or ""):
            return None
        run = self._run
        data = values[run] if run else tuple([values[place] for place in self._data])
        op, half, is_new = shape
        layout = self._layout
        position = time, None, int(sequence_id), None
        if is_new:
            return new_row((table, op, None, None, layout, data, None, None, None, half, *position))
        return new_row((table, op, None, None, None, None, layout, data, None, half, *position))
