"""The columns of a schema file, and columns of the model to and from them.

A file says less about a column than the database knows. It lacks the elements of ENUM and SET
(unless a newer producer writes them), the zone of a TIMESTAMP, and which column is virtual.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TypeAlias

from cdcwire.core.errors import EncodeError
from cdcwire.core.strict_json import Number
from cdcwire.model.events import Expression
from cdcwire.model.kinds import (
    ABSENT,
    UNAVAILABLE,
    BitType,
    Column,
    IntType,
    Role,
    Type,
    UnknownType,
    Value,
    YearType,
)
from cdcwire.mysql.declared import (
    INTEGER_BITS,
    LARGE_SIZES,
    TEMPORAL_NAMES,
    DeclaredType,
    declared_text,
    declared_type,
    filled,
    parse_declared,
    type_of_declared,
)
from cdcwire.storage.sent_columns import NOT_SENT, is_hidden

CLAUSE = "storage: schema columns"

# What the producer wrote for a byte that is not UTF-8: the escape \ufffd, while a real U+FFFD is
# written as itself. Texts of schema files keep the two apart by this lone surrogate.
ILL_FORMED = "\udcff"

Default: TypeAlias = "str | bool | Number | None"


@dataclass(frozen=True, slots=True)
class SchemaColumn:
    """One column as the file has it; numbers are texts there. ``default`` None: there is none.

    ``elements``: of ENUM and SET, None where the producer does not write them.
    """

    name: str
    type: str
    default: Default = None
    precision: str | None = None
    scale: str | None = None
    is_nullable: bool = True
    is_primary_key: bool = False
    id: str | None = None
    elements: tuple[str, ...] | None = None


def readable_text(text: str) -> str:
    """Return the text with U+FFFD for each byte that was not UTF-8."""
    if not any("\udc80" <= char <= "\udcff" for char in text):
        return text
    return "".join("\ufffd" if "\udc80" <= char <= "\udcff" else char for char in text)


def declared_of(column: SchemaColumn) -> DeclaredType | None:
    """Return the declared type; None for a type that is not known here.

    ``BIT`` and ``YEAR`` mean the same with and without UNSIGNED. A time without scale has none.
    """
    words = column.type.lower()
    try:
        declared = parse_declared(words, False)
    except ValueError:
        return None
    precision = None if column.precision is None else int(column.precision)
    scale = None if column.scale is None else int(column.scale)
    if declared.base in TEMPORAL_NAMES:
        return replace(declared, decimal=scale or 0)
    if declared.base == "float" and scale is None and precision not in (None, 12):
        scale = 0  # FLOAT(p) would be read as a number of bits
    elements = declared.elements if column.elements is None else column.elements
    return replace(declared, flen=precision, decimal=scale, elements=elements)


def column_of(
    column: SchemaColumn, time_zone: str | None = None, elements: tuple[str, ...] | None = None
) -> Column:
    """Return the neutral column. ``elements`` of the caller count before those of the file.

    ``source`` is the declared type with all its numbers, so that ``schema_column_of`` gives the
    same column again. The primary key is the handle of its table. The hidden column of an index on
    an expression is virtual.
    """
    declared = declared_of(column)
    if declared is None:
        kind: Type = UnknownType()
        source = column.type
    else:
        if declared.base in ("enum", "set") and elements is not None:
            declared = replace(declared, elements=elements)
        kind = type_of_declared(declared, time_zone)
        source = declared_text(declared)
    roles: frozenset[Role] = frozenset(("primary", "handle") if column.is_primary_key else ())
    roles |= NOT_SENT if is_hidden(column.name) else frozenset()
    number = int(column.id) if column.id is not None else None
    default = _model_default(column.default, kind)
    name = readable_text(column.name)
    return Column(name, kind, source, column.is_nullable, default, roles, number)


def schema_column_of(
    column: Column, *, with_id: bool = False, with_elements: bool = False
) -> SchemaColumn:
    """Return what a schema file says about a column.

    ``with_id``: the setting ``output-column-id``. ``with_elements``: as the newer producer.
    Raises: EncodeError for types that MySQL does not have.
    Source: storage, "schema columns".
    """
    declared = declared_type(column, CLAUSE)
    if declared.base not in LARGE_SIZES:
        declared = filled(declared)
    name, precision, scale = type_words(declared)
    is_primary_key = "primary" in column.roles
    is_nullable = not is_primary_key if column.nullable is None else column.nullable
    if with_id and column.id is None:
        raise EncodeError("output-column-id is on, and the column's id is not known", CLAUSE)
    return SchemaColumn(
        name=column.name,
        type=name,
        default=_file_default(column),
        precision=precision,
        scale=scale,
        is_nullable=is_nullable,
        is_primary_key=is_primary_key,
        id=str(column.id) if with_id else None,
        elements=declared.elements if with_elements else None,
    )


def type_words(declared: DeclaredType) -> tuple[str, str | None, str | None]:
    """Return ColumnType, ColumnPrecision and ColumnScale of a declared type.

    Source: storage, "schema columns".
    """
    base = declared.base
    flen = None if declared.flen is None else str(declared.flen)
    scale = None if declared.decimal is None else str(declared.decimal)
    if base in INTEGER_BITS or base in LARGE_SIZES:
        return _with_sign(declared), flen, None
    match base:
        case "bit" | "year":
            return f"{base.upper()} UNSIGNED", flen, None
        case "float" | "double":
            return _with_sign(declared), flen, None if scale == "0" else scale
        case "decimal":
            return _with_sign(declared), flen, scale
        case "time" | "datetime" | "timestamp":
            return base.upper(), None, None if scale == "0" else scale
        case "char" | "varchar" | "binary" | "varbinary":
            return base.upper(), flen, None
        case "null":
            return "BINARY", None, None
        case _:
            return base.upper(), None, None


def _with_sign(declared: DeclaredType) -> str:
    return declared.base.upper() + (" UNSIGNED" if declared.is_unsigned else "")


def _model_default(default: Default, kind: Type) -> Value:
    """Return a file's default as the model's.

    The file does not distinguish a constant from an expression, so the text is unchanged.
    """
    if default is None:
        return ABSENT
    if isinstance(default, Number):
        is_number = isinstance(kind, (IntType, YearType, BitType)) and default.is_integer
        return int(default.text) if is_number and default.digits <= 20 else default.text
    if isinstance(default, bool):
        return "1" if default else "0"
    return readable_text(default)


def _file_default(column: Column) -> Default:
    value = column.default
    if value is ABSENT or value is UNAVAILABLE or value is None:
        return None
    if isinstance(value, Expression):
        return value.sql
    if isinstance(column.type, BitType) and isinstance(value, int):
        size = ((column.type.length or max(value.bit_length(), 1)) + 7) // 8
        if not 0 <= value < 1 << (8 * size):
            raise EncodeError(f"the default {value} of a BIT", CLAUSE)
        value = value.to_bytes(size, "big")
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape").translate(_ESCAPED_BYTES)
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, Decimal):
        return f"{value:f}"
    if isinstance(value, str):
        return value
    raise EncodeError(f"a default that is a {type(value).__name__}", CLAUSE)


_ESCAPED_BYTES = dict.fromkeys(range(56448, 56576), ILL_FORMED)
