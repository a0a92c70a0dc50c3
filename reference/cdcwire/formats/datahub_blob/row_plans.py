"""Plans for payloads: which members and columns they have, and what checks and converts values.

A plan is made for the payloads of one table, one op and one set of columns. A payload that differs
raises one of ``IRREGULARITIES`` or TypeError: it may be good or bad, and the plain decoder knows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

from cdcwire.core.base64_text import usual_base64
from cdcwire.core.compiled import Irregular
from cdcwire.core.compiled.json_pairs import Real
from cdcwire.core.rows import Layout, Row, Values, new_row
from cdcwire.datahub.blob_message import BlobMessage, Cells
from cdcwire.datahub.ops import OPS
from cdcwire.datahub.streamx import MAX_NUMBER
from cdcwire.formats.datahub_blob.events import columns_of, extra_of, table_of
from cdcwire.formats.datahub_blob.payload import MAX_SEQUENCE_DIGITS, MAX_TIME
from cdcwire.model.events import Extra, Half, Op, Table

Members: TypeAlias = "dict[str, Any]"
_Read: TypeAlias = Callable[[Any], Any]

_TIMES = frozenset({"eventTime", "systemTime", "checkpointTime"})
_INT64_END = 1 << 63
_is_sequence_id = re.compile(rf"[0-9]{{1,{MAX_SEQUENCE_DIGITS}}}").fullmatch


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
    if type(value) is not int or not -_INT64_END <= value < _INT64_END:
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
