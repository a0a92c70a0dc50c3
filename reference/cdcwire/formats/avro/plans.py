"""The meaning of a record's fields: columns of a table, fields of the extension, an old row.

A plan is made once for each schema text. It gives every field a form, which says how its bytes are
read and what its values are. It also gives the neutral kind that follows from ``tidb_type``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum

from cdcwire.apache_avro.schema import AvroType, Primitive, Record, Union, parse_schema
from cdcwire.core.caches import BoundedCache
from cdcwire.core.errors import DecodeError
from cdcwire.model import kinds

CLAUSE = "avro: column types"
EXTENSION_CLAUSE = "avro: extension fields"
OP_FIELD = "_tidb_op"
COMMIT_TS_FIELD = "_tidb_commit_ts"
PHYSICAL_TIME_FIELD = "_tidb_commit_physical_time"
CHECKSUM_FIELD = "_tidb_row_level_checksum"
CORRUPTED_FIELD = "_tidb_corrupted"
CHECKSUM_VERSION_FIELD = "_tidb_checksum_version"
BEFORE_FIELD = "_ticdc_before"
EXTENSION_TYPES: Mapping[str, str] = {
    OP_FIELD: "string",
    COMMIT_TS_FIELD: "long",
    PHYSICAL_TIME_FIELD: "long",
    CHECKSUM_FIELD: "string",
    CORRUPTED_FIELD: "boolean",
    CHECKSUM_VERSION_FIELD: "int",
}

MAX_DECIMAL_DIGITS = 1000  # MySQL has 65; more is not worth the time that it would take
_MAX_KNOWN_TEXT = 1 << 22  # characters of all schema texts whose plans are kept


class Form(IntEnum):
    """How a field is read, and what its values are before they become the model's."""

    INT = 1  # int of 32 bits, a signed number
    LONG = 2
    UINT32_INT = 3  # an int that may not be negative
    UINT32_LONG = 4
    INT32_LONG = 5
    UINT64_LONG = 6  # wraps
    UINT64_TEXT = 7
    FLOAT = 8
    FLOAT_DOUBLE = 9  # a FLOAT written as double
    DOUBLE = 10
    DECIMAL_BYTES = 11
    DECIMAL_TEXT = 12
    TEXT = 13  # may be ill-formed
    STRING = 14
    BYTES = 15
    BIT = 16
    VECTOR = 17
    BOOLEAN = 18
    OTHER = 19  # whatever the type says, without a meaning here
    BEFORE = 20  # a record of the old row


@dataclass(frozen=True, slots=True)
class FieldPlan:
    """One field.

    ``null_index``: which branch is NULL, None where the field is not a union with NULL. ``type`` is
    the type without NULL. ``clause`` is the one of the field's values. ``inner`` is the plan of the
    old row.
    """

    name: str
    form: Form
    kind: kinds.Type
    type: AvroType
    null_index: int | None
    source: str | None
    clause: str
    scale: int = 0
    inner: RecordPlan | None = None

    @property
    def is_extension(self) -> bool:
        """True if the field belongs to TiDB's extension."""
        return self.clause == EXTENSION_CLAUSE


@dataclass(frozen=True, slots=True, eq=False)
class RecordPlan:
    """A record's fields in order; the places of columns, of the extension, and of the old row."""

    record: Record
    fields: tuple[FieldPlan, ...]
    columns: tuple[int, ...]
    extension: Mapping[str, int]
    before: int | None


_plans: BoundedCache[str, RecordPlan] = BoundedCache(_MAX_KNOWN_TEXT)


def plan_of_text(text: str) -> RecordPlan:
    """Return the plan of a schema text. Plans are remembered, up to a limit of their texts.

    Raises: DecodeError, whose offset counts bytes of the text.
    """
    plan = _plans.get(text)
    if plan is None:
        plan = plan_of(parse_schema(text))
        _plans.keep(text, plan, len(text) + 64)
    return plan


def plan_of(record: Record, may_have_before: bool = True) -> RecordPlan:
    """Return the plan of a record. Raises: DecodeError for a column whose type does not fit."""
    fields: list[FieldPlan] = []
    columns: list[int] = []
    extension: dict[str, int] = {}
    before = None
    for index, field in enumerate(record.fields):
        inner, null_index = _without_null(field.type)
        bare = isinstance(inner, Primitive) and not inner.parameters
        if field.name in EXTENSION_TYPES and bare:
            plan = _extension_plan(field.name, inner, null_index)
            extension[field.name] = index
        elif field.name == BEFORE_FIELD and isinstance(inner, Record) and may_have_before:
            before = index
            plan = _before_plan(inner, null_index)
        else:
            columns.append(index)
            plan = _column_plan(field.name, field.type, inner, null_index)
        fields.append(plan)
    return RecordPlan(record, tuple(fields), tuple(columns), extension, before)


def split_allowed(text: str) -> tuple[str, ...]:
    """Return the options of an ``allowed`` parameter: a backslash keeps a comma from splitting.

    Source: avro, "allowed".
    """
    return tuple(item.replace("\\,", ",") for item in _SEPARATOR.split(text))


_SEPARATOR = re.compile(r"(?<!\\),")
_LENGTH = re.compile(r"[0-9]{1,5}", re.ASCII)


def _without_null(kind: AvroType) -> tuple[AvroType, int | None]:
    if isinstance(kind, Union) and kind.null_index is not None:
        return kind.branches[1 - kind.null_index], kind.null_index
    return kind, None


def _extension_plan(name: str, kind: AvroType, null_index: int | None) -> FieldPlan:
    found = kind.name if isinstance(kind, Primitive) else ""
    if found != EXTENSION_TYPES[name] or null_index is not None:
        problem = f"{name} is a {EXTENSION_TYPES[name]}, not this type"
        raise DecodeError(problem, 0, EXTENSION_CLAUSE, (name,))
    form, bare_kind = _BARE[found]
    return FieldPlan(name, form, bare_kind, kind, None, None, EXTENSION_CLAUSE)


def _before_plan(record: Record, null_index: int | None) -> FieldPlan:
    try:
        inner = plan_of(record, may_have_before=False)
    except DecodeError as error:
        error.path = (BEFORE_FIELD, *error.path)
        raise
    clause = "avro: before value"
    return FieldPlan(
        BEFORE_FIELD,
        Form.BEFORE,
        kinds.UnknownType(),
        record,
        null_index,
        None,
        clause,
        inner=inner,
    )


_BARE: dict[str, tuple[Form, kinds.Type]] = {
    "boolean": (Form.BOOLEAN, kinds.BoolType()),
    "int": (Form.INT, kinds.IntType(32)),
    "long": (Form.LONG, kinds.IntType(64)),
    "float": (Form.FLOAT, kinds.FloatType(32)),
    "double": (Form.DOUBLE, kinds.FloatType(64)),
    "bytes": (Form.BYTES, kinds.BytesType()),
    "string": (Form.STRING, kinds.TextType()),
}
_INTEGERS = "avro: integer values"
_UNSIGNED = "avro: bigint unsigned"
_FLOATS = "avro: float values"
_TEXTS = "avro: text values"
_TIMES = "avro: temporal values"
_LABELS = "avro: enum and set values"
# By tidb_type and the name of the Avro type.
_FORMS: dict[tuple[str, str], tuple[Form, kinds.Type, str]] = {
    ("INT", "int"): (Form.INT, kinds.IntType(32), _INTEGERS),
    ("INT", "long"): (Form.INT32_LONG, kinds.IntType(32), _INTEGERS),
    ("INT UNSIGNED", "int"): (Form.UINT32_INT, kinds.IntType(32, True), _INTEGERS),
    ("INT UNSIGNED", "long"): (Form.UINT32_LONG, kinds.IntType(32, True), _INTEGERS),
    ("BIGINT", "long"): (Form.LONG, kinds.IntType(64), _INTEGERS),
    ("BIGINT", "int"): (Form.INT, kinds.IntType(64), _INTEGERS),
    ("BIGINT UNSIGNED", "long"): (Form.UINT64_LONG, kinds.IntType(64, True), _UNSIGNED),
    ("BIGINT UNSIGNED", "string"): (Form.UINT64_TEXT, kinds.IntType(64, True), _UNSIGNED),
    ("FLOAT", "float"): (Form.FLOAT, kinds.FloatType(32), _FLOATS),
    ("FLOAT", "double"): (Form.FLOAT_DOUBLE, kinds.FloatType(32), _FLOATS),
    ("DOUBLE", "double"): (Form.DOUBLE, kinds.FloatType(64), _FLOATS),
    ("DOUBLE", "float"): (Form.FLOAT, kinds.FloatType(64), _FLOATS),
    ("DECIMAL", "string"): (Form.DECIMAL_TEXT, kinds.DecimalType(), "avro: decimal text"),
    ("TEXT", "string"): (Form.TEXT, kinds.TextType(), _TEXTS),
    ("BLOB", "bytes"): (Form.BYTES, kinds.BytesType(), "avro: binary values"),
    ("JSON", "string"): (Form.STRING, kinds.JsonType(), "avro: json values"),
    ("DATE", "string"): (Form.STRING, kinds.DateType(), _TIMES),
    ("DATETIME", "string"): (Form.STRING, kinds.DatetimeType(), _TIMES),
    ("TIMESTAMP", "string"): (Form.STRING, kinds.TimestampType(), _TIMES),
    ("TIME", "string"): (Form.STRING, kinds.TimeType(), _TIMES),
    ("YEAR", "int"): (Form.INT, kinds.YearType(), "avro: year values"),
    ("TiDBVECTORFloat32", "string"): (Form.VECTOR, kinds.VectorType(), "avro: vector values"),
    ("ENUM", "string"): (Form.STRING, kinds.EnumType(None, "label"), _LABELS),
    ("SET", "string"): (Form.STRING, kinds.SetType(None, "label"), _LABELS),
    ("BIT", "bytes"): (Form.BIT, kinds.BitType(), "avro: bit values"),
    ("DECIMAL", "bytes"): (Form.DECIMAL_BYTES, kinds.DecimalType(), "avro: decimal values"),
}
TIDB_TYPES = frozenset(tidb_type for tidb_type, _ in _FORMS)


def _column_plan(name: str, whole: AvroType, kind: AvroType, null_index: int | None) -> FieldPlan:
    tidb_type = kind.parameters.get("tidb_type") if isinstance(kind, Primitive) else None
    if not isinstance(kind, Primitive) or (tidb_type is None and kind.name not in _BARE):
        source = type(kind).__name__.lower()
        return FieldPlan(name, Form.OTHER, kinds.UnknownType(), whole, None, source, CLAUSE)
    if tidb_type is None:
        return _bare_column_plan(name, kind, null_index)
    if tidb_type not in TIDB_TYPES:
        clause = "avro: unknown types"
        return FieldPlan(name, Form.OTHER, kinds.UnknownType(), whole, None, tidb_type, clause)
    found = _FORMS.get((tidb_type, kind.name))
    if found is None or (found[0] is Form.DECIMAL_BYTES and kind.decimal is None):
        problem = f"{tidb_type} has the Avro type {kind.name}, which it can't have"
        if found is not None:
            problem = "DECIMAL has bytes without the logical type decimal, or without a precision"
        raise DecodeError(problem, 0, CLAUSE, (name,))
    form, model_kind, clause = found
    model_kind, scale = _with_parameters(name, model_kind, kind)
    return FieldPlan(name, form, model_kind, kind, null_index, tidb_type, clause, scale)


def _bare_column_plan(name: str, kind: Primitive, null_index: int | None) -> FieldPlan:
    """Return the plan of a column that no TiCDC describes: its Avro type is all there is."""
    form, model_kind = _BARE[kind.name]
    scale = 0
    if kind.decimal is not None:
        form = Form.DECIMAL_BYTES
        model_kind, scale = _with_parameters(name, kinds.DecimalType(), kind)
    return FieldPlan(name, form, model_kind, kind, null_index, kind.name, CLAUSE, scale)


def _with_parameters(name: str, model_kind: kinds.Type, kind: Primitive) -> tuple[kinds.Type, int]:
    """Return the kind with what the parameters add, and the scale of a decimal."""
    match model_kind:
        case kinds.DecimalType() if kind.decimal is not None:
            size = kind.decimal
            if max(size.precision, size.scale) > MAX_DECIMAL_DIGITS:
                problem = f"a decimal of more than {MAX_DECIMAL_DIGITS} digits"
                raise DecodeError(problem, 0, "avro: schema limits", (name,))
            return kinds.DecimalType(size.precision, size.scale), size.scale
        case kinds.BitType():
            length = kind.parameters.get("length", "")
            return kinds.BitType(int(length) if _LENGTH.fullmatch(length) else None), 0
        case kinds.EnumType() | kinds.SetType() if "allowed" in kind.parameters:
            labels = split_allowed(kind.parameters["allowed"])
            return type(model_kind)(labels, "label"), 0
        case _:
            return model_kind, 0
