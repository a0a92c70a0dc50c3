"""The records after the envelope: their fields read and written by plan, side by side."""

from __future__ import annotations

from cdcwire.apache_avro.binary import (
    UNION,
    DatumReader,
    read_bytes,
    read_primitive,
    read_union_index,
    write_datum,
)
from cdcwire.apache_avro.datum import Datum
from cdcwire.apache_avro.schema import Primitive
from cdcwire.core.errors import DecodeError
from cdcwire.core.reader import Reader
from cdcwire.formats.avro.extension import check_extension_value
from cdcwire.formats.avro.plans import FieldPlan, Form, RecordPlan
from cdcwire.formats.avro.values import CHECKED_FORMS, model_value
from cdcwire.model.paths import Path
from cdcwire.mysql.values import read_text

NULLS = "avro: null and defaults"
TRAILING = "avro: trailing bytes"


def read_record(reader: Reader, plan: RecordPlan, path: Path) -> tuple[Datum, ...]:
    """Read a record, which is all that is left of the bytes.

    ``path`` is for notes; errors begin at the field. Raises: DecodeError.
    """
    values = _read_fields(reader, plan, DatumReader(reader), path)
    reader.expect_end(TRAILING)
    return values


def _read_fields(
    reader: Reader, plan: RecordPlan, datums: DatumReader, path: Path
) -> tuple[Datum, ...]:
    values = []
    for field in plan.fields:
        try:
            values.append(_read_field(reader, field, datums, (*path, field.name)))
        except DecodeError as error:
            error.path = (field.name, *error.path)
            raise
    return tuple(values)


def _read_field(reader: Reader, field: FieldPlan, datums: DatumReader, path: Path) -> Datum:
    if field.form is Form.OTHER:
        return datums.read(field.type, path, field.clause)
    if field.null_index is not None:
        start = reader.offset
        if read_union_index(reader, 2) == field.null_index:
            reader.note(start, None, NULLS, *path)
            return None
        reader.note(start, 1 - field.null_index, UNION, *path, "branch")
    if field.inner is not None:
        return _read_fields(reader, field.inner, datums, path)
    start = reader.offset
    if field.form is Form.TEXT:
        value: Datum = read_text(read_bytes(reader))
    else:
        assert isinstance(field.type, Primitive)  # all other forms are
        value = read_primitive(reader, field.type.name, field.clause)
    try:
        if field.form in CHECKED_FORMS:
            model_value(field, value)
        elif field.is_extension:
            check_extension_value(field.name, value)
    except ValueError as error:
        raise DecodeError(str(error), start, field.clause) from None
    reader.note(start, value, field.clause, *path)
    return value


def write_record(out: bytearray, plan: RecordPlan, values: tuple[Datum, ...]) -> None:
    """Append a record. Raises: EncodeError with the field as path."""
    write_datum(out, plan.record, values)
