"""Values of a Tuple topic's data columns, from and to the kinds of the model.

Source: datahub-tuple, "bytes values", "other kinds", "timestamp values".
"""

from __future__ import annotations

from decimal import Decimal
from math import isfinite

from cdcwire.core.errors import EncodeError
from cdcwire.core.json_strings import read_base64, write_base64
from cdcwire.datahub.fields import Field, FieldValue, check_value, clause_of
from cdcwire.datahub.streamx import text_of
from cdcwire.model import kinds
from cdcwire.model.instants import instant_count
from cdcwire.model.kind_text import kind_text
from cdcwire.model.kinds import UNAVAILABLE, Column, Value

CLAUSE_BYTES = "datahub-tuple: bytes values"
CLAUSE_KINDS = "datahub-tuple: other kinds"
CLAUSE_TIMESTAMPS = "datahub-tuple: timestamp values"


def to_model(column: Column, value: FieldValue, offset: int) -> Value:
    """Return the model's value. Raises: DecodeError for BYTES that are not in base64."""
    if isinstance(column.type, kinds.BytesType) and isinstance(value, str):
        return read_base64(value, offset, CLAUSE_BYTES)
    return value


def to_field(field: Field, column: Column, value: Value) -> FieldValue:
    """Return the value of a field. Raises: EncodeError."""
    if value is None:
        if not field.nullable:
            raise EncodeError("NULL in a field that is not null", "datahub: null fields")
        return None
    if value is UNAVAILABLE:
        raise EncodeError("an unavailable value has no form here", CLAUSE_KINDS)
    found = _converted(field, column, value)
    problem = check_value(field.type, found)
    if isinstance(found, float) and not isfinite(found):
        problem = f"{found} is not written"
    if problem:
        raise EncodeError(problem, clause_of(field.type))
    return found


def _converted(field: Field, column: Column, value: Value) -> FieldValue:
    kind = column.type
    is_int = isinstance(value, int) and not isinstance(value, bool)
    match field.type, kind:
        case (
            "TINYINT" | "SMALLINT" | "INTEGER" | "BIGINT",
            kinds.IntType() | kinds.YearType() | kinds.BitType(),
        ):
            if is_int:
                return int(value)
        case "FLOAT" | "DOUBLE", kinds.FloatType():
            if isinstance(value, float):
                return value
        case "BOOLEAN", kinds.BoolType():
            if isinstance(value, bool):
                return value
        case "DECIMAL", kinds.DecimalType():
            if isinstance(value, Decimal):
                return value
        case "DECIMAL", kinds.IntType():
            if is_int:
                return Decimal(value)
        case "TIMESTAMP", kinds.TimestampType():
            return _microseconds(kind, value)
        case "STRING", kinds.TextType():
            if isinstance(value, str):
                return value
        case "STRING", kinds.BytesType():
            if isinstance(value, bytes):
                return write_base64(value)
        case "STRING", kinds.BoolType():
            if isinstance(value, bool):
                return "true" if value else "false"
        case "STRING", kinds.FloatType():
            pass
        case "STRING", kinds.YearType():
            if is_int:
                return str(value)
        case "STRING", _:
            try:
                return text_of(kind, value)
            except EncodeError as error:
                raise EncodeError(error.problem, CLAUSE_KINDS) from error
        case _:
            pass
    problem = f"{value!r:.60}, a {kind_text(kind):.40}, is not a {field.type}"
    raise EncodeError(problem, CLAUSE_KINDS)


def _microseconds(kind: kinds.TimestampType, value: Value) -> int:
    """Return an instant as microseconds since 1970."""
    if kind.zone is None and kind.form == "text":
        problem = "the zone is not known, so this is not an instant; a STRING carries its text"
        raise EncodeError(problem, CLAUSE_TIMESTAMPS)
    try:
        return instant_count(kind, value, "us")
    except ValueError as error:
        raise EncodeError(str(error), CLAUSE_TIMESTAMPS) from error
