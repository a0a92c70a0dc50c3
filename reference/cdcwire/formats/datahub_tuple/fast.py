"""The fast decoder: batches of a Tuple topic to rows, with the plain decoder behind it.

It accepts and rejects exactly what the plain decoder does, by construction: what is not as usual,
damaged or just rare, is given to the plain decoder. Usual are bodies of batches whose records have
no attributes. Bodies in JSON and protobuf, and such with a content encoding, are read plainly.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from cdcwire.core.compiled import IRREGULARITIES, Irregular
from cdcwire.core.message import KafkaMessage
from cdcwire.core.reader import Reader
from cdcwire.datahub.body import CONTENT_TYPES
from cdcwire.datahub.carrying import headers_of
from cdcwire.datahub.compression import MAX_RAW_BYTES
from cdcwire.datahub.fast_batch import BatchReader
from cdcwire.datahub.frame import MAGIC, read_frame
from cdcwire.datahub.protobuf import read_fields
from cdcwire.datahub.tuple_topic import Topic, TupleRow
from cdcwire.formats.datahub_tuple.settings import DEFAULT_SETTINGS, Settings
from cdcwire.formats.datahub_tuple.wire import (
    COMBINATIONS,
    MAX_SEQUENCE_DIGITS,
    MAX_TIME,
    read_rows,
)

_PUT_ENTRIES, _BATCH = 1, 6
_COMBINATIONS = {
    (operation, "NY"[before], "NY"[after]): (before, after)
    for operation, before, after in COMBINATIONS
}
_new_row: Callable[[tuple[Any, ...]], TupleRow] = partial(tuple.__new__, TupleRow)


class RowDecoder:
    """Decodes the bodies of one topic. It keeps nothing of them."""

    def __init__(self, topic: Topic, settings: Settings = DEFAULT_SETTINGS) -> None:
        self.topic = topic
        self.settings = settings
        self._reader = BatchReader(topic.fields, settings.body.compressions)
        first = topic.data[0]
        is_run = topic.data == tuple(range(first, first + len(topic.data)))
        self._run = slice(first, first + len(topic.data)) if is_run else None

    def decode(self, message: KafkaMessage) -> list[TupleRow]:
        """Return the rows of a body. Raises: DecodeError, the same as ``datahub_tuple.decode``."""
        try:
            return self._usual_rows(message)
        except IRREGULARITIES:
            pass  # left behind here, so that an error of the plain decoder stands alone
        return read_rows(message, self.topic, self.settings)

    def _usual_rows(self, message: KafkaMessage) -> list[TupleRow]:
        """Raises: one of IRREGULARITIES."""
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
        rows: list[TupleRow] = []
        left = MAX_RAW_BYTES
        for entry in read_fields(read_frame(Reader(value))):
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
            rows += map(self._row, self._reader.read(data))
        return rows

    def _row(self, values: tuple[Any, ...]) -> TupleRow:
        topic = self.topic
        sequence_id, time = values[topic.sequence_id], values[topic.execute_time]
        operation = values[topic.operation_type]
        flags = _COMBINATIONS.get(
            (operation, values[topic.before_image], values[topic.after_image])
        )
        table = None
        if topic.source_table is not None:
            table = values[topic.source_table]
            if not table or topic.table.name not in (None, table):
                raise Irregular
        if (
            flags is None
            or sequence_id is None
            or time is None
            or not (sequence_id.isascii() and sequence_id.isdigit())
            or len(sequence_id) > MAX_SEQUENCE_DIGITS
            or not 0 <= time <= MAX_TIME
        ):
            raise Irregular
        run = self._run
        data = values[run] if run else tuple([values[index] for index in topic.data])
        return _new_row((operation, *flags, sequence_id, time, table, data))
