"""Known-wrong decoders that misread values and events of avro."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

from cdcwire.model.events import Event, Image, RowChange
from cdcwire.model.instants import ms_of_tso
from cdcwire.model.kinds import BitType, Column, DecimalType, IntType, TextType, UnknownType, Value
from cdcwire_conformance.known_wrong.decoder import (
    KnownWrong,
    wrong_columns,
    wrong_rows,
    wrong_values,
)

_EXTENSION = ("_tidb_op", "_tidb_commit_ts", "_tidb_commit_physical_time")


_LETTERS = {"insert": "c", "update": "u"}


@wrong_values("a DECIMAL is given as its unscaled number")
def decimal_without_scale(column: Column, value: Value) -> Value:
    """Replace a DECIMAL with its unscaled number."""
    kind = column.type
    if not isinstance(kind, DecimalType) or not kind.scale or not isinstance(value, Decimal):
        return value
    return Decimal(int(value.scaleb(kind.scale)))


@wrong_values("the bytes of a DECIMAL are read as unsigned", "14")
def decimal_without_sign(column: Column, value: Value) -> Value:
    """Read the two's complement of a negative DECIMAL as unsigned."""
    kind = column.type
    if not isinstance(kind, DecimalType) or kind.precision is None or value >= 0:
        return value
    unscaled = int(value.scaleb(kind.scale or 0))
    size = 8 * ((~unscaled).bit_length() // 8 + 1)
    return Decimal(unscaled + (1 << size)).scaleb(-(kind.scale or 0))


@wrong_rows("all DECIMALs of a row have the scale of the first", "10")
def scale_of_first_decimal(row: RowChange) -> Event:
    """Apply the scale of the first DECIMAL to all DECIMALs of the row."""
    return replace(row, before=_with_one_scale(row.before), after=_with_one_scale(row.after))


def _with_one_scale(image: Image | None) -> Image | None:
    if image is None:
        return None
    kinds = (c.type for c in image.columns if isinstance(c.type, DecimalType) and c.type.precision)
    first = next(kinds, DecimalType())

    def with_first(column: Column, value: Value) -> Value:
        kind = column.type
        if not isinstance(kind, DecimalType) or not kind.precision or value is None:
            return value
        return value.scaleb((kind.scale or 0) - (first.scale or 0))

    values = map(with_first, image.columns, image.values)
    return Image(image.columns, tuple(values))


@wrong_values("the last byte of a BIT counts most")
def bit_backwards(column: Column, value: Value) -> Value:
    """Reverse the order of the bytes of a BIT."""
    if not isinstance(column.type, BitType):
        return value
    raw = value.to_bytes(max(1, (value.bit_length() + 7) // 8), "big")
    return int.from_bytes(raw, "little")


@wrong_values("only the last byte of a BIT is read", "bit/multi-byte")
def last_byte_of_bit(column: Column, value: Value) -> Value:
    """Keep only the last byte of a BIT."""
    return value & 0xFF if isinstance(column.type, BitType) else value


@wrong_values("INT UNSIGNED from 2^31 turns negative")
def unsigned_in_31_bits(column: Column, value: Value) -> Value:
    """Read an unsigned integer of 32 bits as signed."""
    is_int = column.type == IntType(32, unsigned=True)
    return value - (1 << 32) if is_int and value >> 31 else value


@wrong_columns("a column of a type that is not known is left out")
def unknown_types_dropped(column: Column, value: Value) -> tuple[Column, Value] | None:
    """Drop a column of an unknown type."""
    return None if isinstance(column.type, UnknownType) else (column, value)


@wrong_columns("a column with the name of an extension field is taken for one")
def names_of_extension(column: Column, value: Value) -> tuple[Column, Value] | None:
    """Drop a column that has the name of an extension field."""
    return None if column.name in _EXTENSION else (column, value)


@wrong_rows("the fields of the extension are given as columns")
def extension_as_columns(row: RowChange) -> Event:
    """Append the fields of the extension to the columns of the new row."""
    if row.op not in _LETTERS or row.after is None:
        return row
    position = row.position
    texts = (_LETTERS[row.op], str(position.commit_ts), str(position.commit_ms))
    columns = tuple(Column(name, TextType()) for name in _EXTENSION)
    after = Image((*row.after.columns, *columns), (*row.after.values, *texts))
    return replace(row, after=after)


@wrong_rows("the time is worked out of the commit timestamp")
def physical_time_from_commit_ts(row: RowChange) -> Event:
    """Compute the commit time from the commit timestamp."""
    position = row.position
    if position.commit_ts is None:
        return row
    return replace(row, position=replace(position, commit_ms=ms_of_tso(position.commit_ts)))


@wrong_rows("a row that does not say so is taken for an insert")
def upsert_as_insert(row: RowChange) -> Event:
    """Turn an upsert into an insert."""
    return replace(row, op="insert") if row.op == "upsert" else row


@wrong_rows("the whole namespace is taken for the schema")
def namespace_as_schema(row: RowChange) -> Event:
    """Put the start of the namespace, ``default.``, before the schema's name."""
    return replace(row, table=replace(row.table, schema=f"default.{row.table.schema}"))


VALUE_FAULTS: tuple[KnownWrong, ...] = (
    decimal_without_scale,
    decimal_without_sign,
    scale_of_first_decimal,
    bit_backwards,
    last_byte_of_bit,
    unsigned_in_31_bits,
    unknown_types_dropped,
    names_of_extension,
    extension_as_columns,
    physical_time_from_commit_ts,
    upsert_as_insert,
    namespace_as_schema,
)
