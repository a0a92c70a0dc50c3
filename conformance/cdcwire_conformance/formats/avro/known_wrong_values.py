"""Known-wrong decoders that misread values and events of avro."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

from cdcwire.model.events import Column, Event, Image, RowChange, Value
from cdcwire.model.kinds import BitType, DecimalType, IntType, TextType, UnknownType
from cdcwire.model.tso import ms_of_tso
from cdcwire_conformance.known_wrong.decoder import (
    KnownWrong,
    changing_columns,
    changing_rows,
    changing_values,
)

_EXTENSION = ("_tidb_op", "_tidb_commit_ts", "_tidb_commit_physical_time")


_LETTERS = {"insert": "c", "update": "u"}


def _unscaled(column: Column, value: Value) -> Value:
    kind = column.type
    if not isinstance(kind, DecimalType) or not kind.scale or not isinstance(value, Decimal):
        return value
    return Decimal(int(value.scaleb(kind.scale)))


def _decimal_without_sign(column: Column, value: Value) -> Value:
    kind = column.type
    if not isinstance(kind, DecimalType) or kind.precision is None or value >= 0:
        return value
    unscaled = int(value.scaleb(kind.scale or 0))
    size = 8 * ((~unscaled).bit_length() // 8 + 1)
    return Decimal(unscaled + (1 << size)).scaleb(-(kind.scale or 0))


def _scale_of_first_decimal(row: RowChange) -> Event:
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


def _bit_backwards(column: Column, value: Value) -> Value:
    if not isinstance(column.type, BitType):
        return value
    raw = value.to_bytes(max(1, (value.bit_length() + 7) // 8), "big")
    return int.from_bytes(raw, "little")


def _last_byte_of_bit(column: Column, value: Value) -> Value:
    return value & 0xFF if isinstance(column.type, BitType) else value


def _unsigned_in_31_bits(column: Column, value: Value) -> Value:
    is_int = column.type == IntType(32, unsigned=True)
    return value - (1 << 32) if is_int and value >> 31 else value


def _unknown_dropped(column: Column, value: Value) -> tuple[Column, Value] | None:
    return None if isinstance(column.type, UnknownType) else (column, value)


def _like_extension_dropped(column: Column, value: Value) -> tuple[Column, Value] | None:
    return None if column.name in _EXTENSION else (column, value)


def _extension_as_columns(row: RowChange) -> Event:
    if row.op not in _LETTERS or row.after is None:
        return row
    position = row.position
    texts = (_LETTERS[row.op], str(position.commit_ts), str(position.commit_ms))
    columns = tuple(Column(name, TextType()) for name in _EXTENSION)
    after = Image((*row.after.columns, *columns), (*row.after.values, *texts))
    return replace(row, after=after)


def _physical_time_from_commit_ts(row: RowChange) -> Event:
    position = row.position
    if position.commit_ts is None:
        return row
    return replace(row, position=replace(position, commit_ms=ms_of_tso(position.commit_ts)))


def _upsert_as_insert(row: RowChange) -> Event:
    return replace(row, op="insert") if row.op == "upsert" else row


def _namespace_as_schema(row: RowChange) -> Event:
    return replace(row, table=replace(row.table, schema=f"default.{row.table.schema}"))


VALUE_FAULTS: tuple[KnownWrong, ...] = (
    KnownWrong(
        "decimal-without-scale",
        "a DECIMAL is given as its unscaled number",
        changing_values(_unscaled),
    ),
    KnownWrong(
        "decimal-without-sign",
        "the bytes of a DECIMAL are read as unsigned",
        changing_values(_decimal_without_sign),
        ("14",),
    ),
    KnownWrong(
        "scale-of-first-decimal",
        "all DECIMALs of a row have the scale of the first",
        changing_rows(_scale_of_first_decimal),
        ("10",),
    ),
    KnownWrong(
        "bit-backwards", "the last byte of a BIT counts most", changing_values(_bit_backwards)
    ),
    KnownWrong(
        "last-byte-of-bit",
        "of a BIT only the last byte is read",
        changing_values(_last_byte_of_bit),
        ("bit/multi-byte",),
    ),
    KnownWrong(
        "unsigned-in-31-bits",
        "INT UNSIGNED from 2^31 turns negative",
        changing_values(_unsigned_in_31_bits),
    ),
    KnownWrong(
        "unknown-types-dropped",
        "a column of a type that is not known is left out",
        changing_columns(_unknown_dropped),
    ),
    KnownWrong(
        "names-of-extension",
        "a column with the name of an extension field is taken for one",
        changing_columns(_like_extension_dropped),
    ),
    KnownWrong(
        "extension-as-columns",
        "the fields of the extension are given as columns",
        changing_rows(_extension_as_columns),
    ),
    KnownWrong(
        "physical-time-from-commit-ts",
        "the time is worked out of the commit timestamp",
        changing_rows(_physical_time_from_commit_ts),
    ),
    KnownWrong(
        "upsert-as-insert",
        "a row that does not say so is taken for an insert",
        changing_rows(_upsert_as_insert),
    ),
    KnownWrong(
        "namespace-as-schema",
        "the whole namespace is taken for the schema",
        changing_rows(_namespace_as_schema),
    ),
)
