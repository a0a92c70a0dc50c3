"""The values that the producer makes up: for the columns of a delete that are not its key."""

from __future__ import annotations

from collections.abc import Container
from decimal import Decimal

from cdcwire.connect.types import ISO_DATE, ISO_TIME, ISO_TIMESTAMP
from cdcwire.model import kinds
from cdcwire.model.events import Expression, Image, Table
from cdcwire.model.kinds import ABSENT, UNAVAILABLE, Column, Value

_BEGINNINGS = ("0", "1970-01-01", "P0Y", "*")  # of all texts that may be made up
_EMPTY = ("", "{}", "[]")


def filled(image: Image | None, table: Table, *, with_defaults: bool) -> Image | None:
    """Return a key with the table's other columns, as the producer fills them in.

    ``with_defaults``: a column that can't be NULL has its default, if there is one.
    """
    if image is None or table.columns is None:
        return image
    sent = {c.name: (c, value) for c, value in image.pairs}
    if not {column.name for column in table.columns}.issuperset(sent):
        return image
    pairs = [
        sent[column.name] if column.name in sent else (column, _made_up(column, with_defaults))
        for column in table.columns
    ]
    return Image.of(pairs)


def _made_up(column: Column, is_default: bool) -> Value:
    """Return NULL; where it can't be, the column's default if there is one, else a zero."""
    if column.nullable is not False:
        return None
    default = column.default
    is_known = default not in (ABSENT, None) and not isinstance(default, Expression)
    return default if is_known and is_default else _zero(column)


def _zero(column: Column) -> Value:
    zulu = "Z" if column.source in (ISO_DATE, ISO_TIME, ISO_TIMESTAMP) else ""
    match column.type:
        case kinds.BoolType():
            return False
        case kinds.IntType() | kinds.BitType() | kinds.YearType():
            return 0
        case kinds.FloatType():
            return 0.0
        case kinds.DecimalType(_, scale):
            return Decimal(0).scaleb(-(scale or 0))
        case kinds.TextType() | kinds.EnumType() | kinds.SetType() | kinds.JsonType():
            return ""
        case kinds.BytesType():
            return b""
        case kinds.ArrayType() | kinds.MapType() | kinds.VectorType():
            return ()
        case kinds.StructType(columns):
            return Image(columns, tuple(_made_up(inner, False) for inner in columns))
        case kinds.IntervalType(form):
            return 0 if form == "us" else "P0Y0M0DT0H0M0S"
        case kinds.DateType(form):
            return 0 if form != "text" else f"1970-01-01{zulu}"
        case kinds.TimeType() as kind:
            zone = zulu if kind.zone is None else "Z"
            return 0 if kind.form != "text" else f"00:00:00{zone}"
        case kinds.DatetimeType() as kind:
            text = "1970-01-01T00:00:00Z" if zulu else "1970-01-01 00:00:00"
            return 0 if kind.form != "text" else text
        case kinds.TimestampType() as kind:
            return 0 if kind.form != "text" else "1970-01-01T00:00:00Z"
        case _:
            return None


def shows_whole_row(image: Image, key: Container[str]) -> bool:
    """Return whether the old row of a delete shows that REPLICA IDENTITY FULL sent all of it.

    Under another identity a column that can be NULL is NULL, or its default, which JsonConverter
    writes in its place. The others are made up, except those of the key or of a unique index. So a
    value in the former shows the whole row, and so does a row without a value that may be made up.
    """
    pairs = [(column, value) for column, value in image.pairs if column.name not in key]
    if any(column.nullable and _shows_old_value(column, value) for column, value in pairs):
        return True
    return bool(pairs) and not any(_may_be_made_up(*pair) for pair in image.pairs)


def _shows_old_value(column: Column, value: Value) -> bool:
    is_mask = isinstance(value, str) and not value.strip("*")  # a mask of NULL is the same
    return not is_mask and not _is_filled(column, value)


def _is_filled(column: Column, value: Value) -> bool:
    """Return whether a value says nothing: NULL, unavailable, or the column's default."""
    if value is None or value is UNAVAILABLE:
        return True
    default = column.default
    return default is not ABSENT and (value == default or repr(value) == repr(default))  # NaN


def _may_be_made_up(column: Column, value: Value) -> bool:
    if _is_filled(column, value) or isinstance(column.type, kinds.StructType):
        return True
    match value:
        case str():
            return value in _EMPTY or value.startswith(_BEGINNINGS)
        case bytes() | tuple():
            return not any(value)
        case _:
            return not value
