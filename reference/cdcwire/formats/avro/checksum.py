"""The row checksum, as TiDB makes it (``cdcwire.mysql.row_checksum``), so that consumers can check.

The columns go into the checksum in the order of column ids, which is the order of the fields.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable

from cdcwire.apache_avro.schema import Datum
from cdcwire.formats.avro.message import Datums
from cdcwire.formats.avro.plans import CHECKSUM_FIELD, FieldPlan, Form
from cdcwire.formats.avro.values import unwrapped
from cdcwire.model.kinds import EnumType, SetType, TimestampType, index_of_label, mask_of_labels
from cdcwire.model.temporal import temporal_text
from cdcwire.mysql.row_checksum import float_bytes, number_bytes, text_bytes, vector_bytes
from cdcwire.mysql.values import is_vector_text, read_vector

_INTEGER_FORMS = frozenset(
    {
        *(Form.INT, Form.LONG, Form.UINT32_INT, Form.UINT32_LONG, Form.INT32_LONG),
        *(Form.UINT64_LONG, Form.UINT64_TEXT),
    }
)


def row_checksum(
    columns: Iterable[tuple[FieldPlan, Datum]], time_zone: str | None = None
) -> int | None:
    """Return the checksum of a row; None where a label has no number.

    ``time_zone``: of TIMESTAMP texts; None is taken for UTC.
    """
    crc = 0
    for plan, datum in columns:
        if datum is None:
            continue
        data = _bytes_of(plan, datum, time_zone)
        if data is None:
            return None
        crc = zlib.crc32(data, crc)
    return crc


def verify_checksum(datums: Datums, time_zone: str | None = None) -> bool | None:
    """Return whether a row's checksum is that of its values; None where that can't be said.

    It can't where the row has none, which 0 also says, or where ``allowed`` leaves out a label. Nor
    can it where the zone of a TIMESTAMP is not known and UTC does not fit.
    """
    plan, values = datums.plan, datums.values
    place = plan.extension.get(CHECKSUM_FIELD)
    stated = None if place is None else values[place]
    if stated in (None, "", "0"):
        return None
    columns = [(plan.fields[index], values[index]) for index in plan.columns]
    found = row_checksum(columns, time_zone)
    if found is None:
        return None
    if str(found) == stated:
        return True
    has_instant = any(isinstance(field.kind, TimestampType) and v for field, v in columns)
    return None if has_instant and time_zone is None else False


def _bytes_of(plan: FieldPlan, datum: Datum, time_zone: str | None) -> bytes | None:
    form, kind = plan.form, plan.kind
    if form in _INTEGER_FORMS:
        return number_bytes(unwrapped(int(datum)) if form is Form.UINT64_LONG else int(datum))
    if form in (Form.FLOAT, Form.FLOAT_DOUBLE, Form.DOUBLE):
        return float_bytes(datum)
    if form is Form.BIT:
        return number_bytes(int.from_bytes(datum, "big"))
    if isinstance(kind, (EnumType, SetType)):
        return _labelled(kind, datum)
    if form is Form.VECTOR:
        return vector_bytes(read_vector(datum)) if is_vector_text(datum) else None
    if form in (Form.TEXT, Form.STRING, Form.BYTES, Form.DECIMAL_TEXT):
        if isinstance(kind, TimestampType):
            datum = _in_utc(datum, time_zone)
        raw = datum if isinstance(datum, bytes) else datum.encode()
        return text_bytes(raw)
    return None


def _labelled(kind: EnumType | SetType, label: str) -> bytes | None:
    try:
        found = (
            index_of_label(kind, label)
            if isinstance(kind, EnumType)
            else mask_of_labels(kind, label)
        )
    except ValueError:
        return None
    return None if found is None else number_bytes(found)


def _in_utc(text: str, time_zone: str | None) -> str:
    """Return an instant's text in UTC; zero dates stay as they are."""
    if time_zone in (None, "UTC", "+00:00"):
        return text
    try:
        return temporal_text(TimestampType(zone=time_zone), text, "+00:00") or text
    except ValueError:
        return text
