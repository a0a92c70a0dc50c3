"""The fast decoder: Blob records to typed rows, with the plain decoder as the fallback.

It accepts and rejects exactly what the plain decoder does, by construction. Unusual input, damaged
or just rare, is given to the plain decoder. Usual are rows whose schema comes first. A schema is
known by its bytes, so a JSON library parses the payload only; a plan checks and converts it
(``row_plans``). It is orjson where that is installed and loses nothing.

Not read in the fast way: DDL, markers and heartbeats, members that are null though they may be left
out, and all rows under a selection of columns. They come as neutral events.
"""

from __future__ import annotations

from contextlib import suppress

from cdcwire.core.caches import BoundedCache
from cdcwire.core.compiled import IRREGULARITIES, FastDecoder, Irregular
from cdcwire.core.compiled.json_objects import read_objects
from cdcwire.core.context import NO_CONTEXT, Context
from cdcwire.core.errors import DecodeError, step
from cdcwire.core.limits import MAX_FAST_JSON_BYTES
from cdcwire.core.message import Message
from cdcwire.core.rows import Row
from cdcwire.datahub.blob_message import BlobMessage
from cdcwire.datahub.carrying import queued, read_records, value_of
from cdcwire.datahub.ops import OPS
from cdcwire.formats.datahub_blob.batching import is_record
from cdcwire.formats.datahub_blob.events import to_event
from cdcwire.formats.datahub_blob.row_plans import Members, PayloadPlan, payload_plan
from cdcwire.formats.datahub_blob.settings import Settings, read_settings
from cdcwire.formats.datahub_blob.wire import read_record
from cdcwire.model.events import Event

# Limits of what is kept: bytes of schemas, and what a column of a plan weighs in addition.
_MAX_BYTES = 1 << 20
_WEIGHT_OF_A_COLUMN = 1 << 7
_MAX_PLANS = 8  # of one schema and op
_PAYLOAD = b',"payload":'


class RowDecoder(FastDecoder):
    """Decodes records, alone or in bodies.

    ``settings``: those of the context's options, unless given.
    """

    def __init__(self, context: Context = NO_CONTEXT, settings: Settings | None = None) -> None:
        if settings is None:
            settings = read_settings(context)
        self.selection = context.selection
        self.settings = settings
        self._plans: BoundedCache[bytes, dict[str, list[PayloadPlan]]] = BoundedCache(_MAX_BYTES)

    def _usual(self, message: Message) -> list[Row | Event]:
        carrier = queued(message)
        if not is_record(carrier, self.settings):
            raise Irregular
        return self._usual_record(value_of(carrier))

    def _usual_record(self, value: bytes) -> list[Row | Event]:
        if self.selection.columns is not None or len(value) > MAX_FAST_JSON_BYTES:
            raise Irregular
        row = self._usual_row(value)
        return [] if row is None else [row]

    def _plain(self, message: Message) -> list[Row | Event]:
        carrier = queued(message)
        if is_record(carrier, self.settings):
            return self._plain_record(value_of(carrier))
        found: list[Row | Event] = []
        for path, record in read_records(carrier, None, self.settings.body):
            assert isinstance(record.data, bytes)  # there are no fields
            with step(*path):
                try:
                    found += self._record(record.data)
                except DecodeError as error:
                    error.offset = record.offset  # where the record's data is in the body
                    raise
        return found

    def _record(self, value: bytes) -> list[Row | Event]:
        try:
            return self._usual_record(value)
        except IRREGULARITIES:
            pass  # see ``FastDecoder.decode``
        return self._plain_record(value)

    def _usual_row(self, value: bytes) -> Row | None:
        """Return the row of a regular record; None if it is not wanted.

        Raises: one of IRREGULARITIES.
        """
        head, payload, version = _parts(value)
        op = payload.get("op")
        if type(op) is not str:
            raise Irregular
        for plan in self._plans[head].get(op, ()):
            with suppress(TypeError, *IRREGULARITIES):
                row = plan.row(payload)
                if version != plan.extra.get("version"):
                    break
                is_wanted = self.selection.wants_rows_of(row.table)
                return row if is_wanted else None
        raise Irregular

    def _plain_record(self, value: bytes) -> list[Row | Event]:
        message = read_record(value, self.settings)
        if self.selection.columns is None and OPS[message.op].group == "row":
            with suppress(*IRREGULARITIES):
                self._learn(value, message)
        event = to_event(message, self.selection)
        return [] if event is None else [event]

    def _learn(self, value: bytes, message: BlobMessage) -> None:
        """Remember how a message is written. Raises: Irregular where that is not as usual."""
        head, payload, _ = _parts(value)
        if list(read_objects(head + b"}")) != ["schema"]:
            raise Irregular
        plan = payload_plan(payload, message, self.settings.date_digits)
        if head not in self._plans:
            self._plans.keep(head, {}, len(head))
        plans = self._plans[head].setdefault(message.op, [])
        self._plans.grow(_WEIGHT_OF_A_COLUMN * len(message.columns or ()))
        if len(plans) < _MAX_PLANS:
            plans.append(plan)


def _parts(value: bytes) -> tuple[bytes, Members, str]:
    """Return the bytes of the schema, the members of the payload, and the version.

    Raises: one of IRREGULARITIES.
    """
    start = value.find(_PAYLOAD)
    members = read_objects(b"{" + value[start + 1 :])
    if type(members) is not dict or list(members) != ["payload", "version"]:
        raise Irregular
    payload, version = members.values()
    if type(payload) is not dict or type(version) is not str:
        raise Irregular
    return value[:start], payload, version
