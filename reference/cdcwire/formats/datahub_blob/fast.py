"""The fast decoder: Blob records to typed rows, with the plain decoder as the fallback.

It accepts and rejects exactly what the plain decoder does, by construction. Unusual input, damaged
or just rare, is given to the plain decoder. Usual are rows whose schema comes first. A schema is
known by its bytes, so a JSON library parses the payload only; a plan checks and converts it. It is
orjson where that is installed and loses nothing. A plan is made for the payloads of one table, one
op and one set of columns. A payload that differs raises one of ``IRREGULARITIES`` or TypeError: it
may be good or bad, and the plain decoder knows.

Not read in the fast way: DDL, markers and heartbeats, members that are null though they may be left
out, and all rows under a selection of columns. They come as neutral events.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

from cdcwire.core.caches import BoundedCache
from cdcwire.core.compiled import IRREGULARITIES, FastDecoder, Irregular
from cdcwire.core.compiled.json_objects import Real, read_objects
from cdcwire.core.context import NO_CONTEXT, Context
from cdcwire.core.errors import DecodeError, step
from cdcwire.core.json_strings import usual_base64
from cdcwire.core.limits import INT64_END, INT64_START, MAX_FAST_JSON_BYTES
from cdcwire.core.message import Message
from cdcwire.core.rows import Layout, Row, Values, new_row
from cdcwire.datahub.carrying import queued, read_records, value_of
from cdcwire.datahub.ops import OPS
from cdcwire.datahub.streamx import MAX_NUMBER, BlobMessage, Cells
from cdcwire.formats.datahub_blob.batching import is_record
from cdcwire.formats.datahub_blob.events import columns_of, extra_of, table_of, to_event
from cdcwire.formats.datahub_blob.payload import MAX_SEQUENCE_DIGITS, MAX_TIME
from cdcwire.formats.datahub_blob.settings import Settings, read_settings
from cdcwire.formats.datahub_blob.wire import read_record
from cdcwire.model.events import Event, Extra, Half, Op, Table

Members: TypeAlias = "dict[str, Any]"
_Read: TypeAlias = Callable[[Any], Any]
_TIMES = frozenset({"eventTime", "systemTime", "checkpointTime"})
_is_sequence_id = re.compile(rf"[0-9]{{1,{MAX_SEQUENCE_DIGITS}}}").fullmatch
# Limits of what is kept: bytes of schemas, and what a column of a plan weighs in addition.
_MAX_BYTES = 1 << 20
_WEIGHT_OF_A_COLUMN = 1 << 7
_MAX_PLANS = 8  # of one schema and op
_PAYLOAD = b',"payload":'


@dataclass(frozen=True, slots=True, eq=False)
class ImagePlan:
    """How an image is read: the names in its text, and a reader for each.

    ``order``: where the columns of the layout are in the text; None if they are in this order.
    """

    names: list[str]
    layout: Layout
    readers: list[_Read]
    order: list[int] | None

    def read(self, image: Any) -> Values:
        """Return the values of an image."""
        if type(image) is not dict or list(image) != ["dataColumn"]:
            raise Irregular
        cells = image["dataColumn"]
        if type(cells) is not dict or list(cells) != self.names:
            raise Irregular
        values = [
            None if value is None else read(value)
            for read, value in zip(self.readers, cells.values(), strict=True)
        ]
        return tuple(values if self.order is None else [values[index] for index in self.order])


@dataclass(frozen=True, slots=True, eq=False)
class PayloadPlan:
    """How the payloads of one table, op and set of columns are read.

    ``names``: of the members; ``times``: of those of the timestamp.
    """

    names: list[str]
    times: list[str]
    table: Table
    op: Op
    half: Half | None
    before: ImagePlan | None
    after: ImagePlan | None
    extra: Extra

    def row(self, members: Members) -> Row:
        """Return the row of a payload's members."""
        if list(members) != self.names:
            raise Irregular
        times = members["timestamp"]
        if type(times) is not dict or list(times) != self.times:
            raise Irregular
        for time in times.values():
            if type(time) is not int or not 0 <= time <= MAX_TIME:
                raise Irregular
        digits = members["sequenceId"]
        if type(digits) is not str or _is_sequence_id(digits) is None:
            raise Irregular
        extra = self.extra
        if "checkpointTime" in times:
            extra = {**extra, "checkpoint_ms": str(times["checkpointTime"])}
        before, after = self.before, self.after
        return new_row(
            (
                self.table,
                self.op,
                None,
                None,
                None if after is None else after.layout,
                None if after is None else after.read(members["after"]),
                None if before is None else before.layout,
                None if before is None else before.read(members["before"]),
                None,
                self.half,
                times["eventTime"],
                times.get("systemTime"),
                int(digits),
                extra,
            )
        )


def payload_plan(payload: Members, message: BlobMessage, date_digits: int) -> PayloadPlan:
    """Return the plan of payloads like one that the plain decoder read as ``message``."""
    names = list(payload)
    op, table = OPS[message.op], table_of(message)
    if op.row_op is None or table is None:
        raise Irregular
    members = {"op", "sequenceId", "timestamp"}
    members |= {name for name in ("before", "after") if getattr(op, f"has_{name}")}
    times = list(payload["timestamp"])
    if names[0] != "op" or set(names) != members or not _TIMES.issuperset(times):
        raise Irregular
    extra = extra_of(message)
    extra.pop("checkpoint_ms", None)
    return PayloadPlan(
        names,
        times,
        table,
        op.row_op,
        op.half,
        _image_plan(message.before, message, date_digits),
        _image_plan(message.after, message, date_digits),
        extra,
    )


def _image_plan(cells: Cells | None, message: BlobMessage, date_digits: int) -> ImagePlan | None:
    if cells is None:
        return None
    declared = message.columns or ()
    types = {column.name: column.type for column in declared}
    readers: dict[str, _Read] = {**_READERS, "DATE": partial(_date, date_digits)}
    places = {name: index for index, (name, _) in enumerate(cells)}
    known = columns_of(declared, message.primary_key or ())
    columns = tuple(column for column in known if column.name in places)
    order = [places[column.name] for column in columns]
    return ImagePlan(
        list(places),
        Layout(known if len(columns) == len(known) else columns),
        [readers[types[name]] for name in places],
        None if order == sorted(order) else order,
    )


def _long(value: object) -> int:
    if type(value) is not int or not INT64_START <= value < INT64_END:
        raise Irregular
    return value


def _date(digits: int, value: object) -> int:
    count = _long(value)
    if digits and (count < 0 or len(str(count)) != digits):
        raise Irregular
    return count


def _double(value: object) -> float:
    if type(value) is float:
        return value  # orjson reads no infinity and no number that it writes differently
    if type(value) is Real:
        number = float(value)
        if number - number or len(value) > MAX_NUMBER:  # infinity less itself is not a number
            raise Irregular
        return number
    if type(value) is not int or not value:  # 0 may have been -0
        raise Irregular
    return float(value)


def _boolean(value: object) -> bool:
    if type(value) is not bool:
        raise Irregular
    return value


def _string(value: object) -> str:
    if type(value) is not str:
        raise Irregular
    if not value.isascii():
        value.encode()  # a lone surrogate is a ValueError
    return value


def _bytes(value: object) -> bytes:
    if type(value) is not str:
        raise Irregular
    return usual_base64(value)


_READERS: Mapping[str, _Read] = {
    "LONG": _long,
    "DOUBLE": _double,
    "BOOLEAN": _boolean,
    "STRING": _string,
    "BYTES": _bytes,
}


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
