"""From a column's definition to the field of a schema. Source: avro, "column types".

The whole field follows from the declared type, the options and the default. The declared type also
decides if a column is text or bytes.

TiDB keeps a default as text: TRUE is ``1``, a BINARY(n) is padded, ``now()`` and
``CURRENT_TIMESTAMP(6)`` are ``CURRENT_TIMESTAMP``, a BIT is its big-endian bytes. A definition may
give that text, a value of the column's kind, or an expression. Data bytes never depend on it.
"""

from __future__ import annotations

import base64
import math
import re
from decimal import ROUND_HALF_UP, Decimal
from types import MappingProxyType

from cdcwire.apache_avro import schema
from cdcwire.apache_avro.schema import Default
from cdcwire.core.errors import EncodeError
from cdcwire.core.limits import INT64_END, UINT64_END
from cdcwire.formats.avro.names import sanitize
from cdcwire.formats.avro.plans import MAX_DECIMAL_DIGITS, Form
from cdcwire.formats.avro.settings import Settings
from cdcwire.formats.avro.values import bit_bytes
from cdcwire.model.events import Expression
from cdcwire.model.floats import narrow_float32, read_float32
from cdcwire.model.kinds import ABSENT, Column, DecimalType, EnumType, SetType, UnknownType, Value
from cdcwire.mysql.declared import BINARY_NAMES, TEXT_NAMES, DeclaredType, declared_type

DEFAULTS = "avro: default conversion"
_INTEGER = re.compile(r"[+-]?[0-9]{1,25}", re.ASCII)
_NUMBER = re.compile(
    r"[+-]?(?:[0-9]{1,400}(?:\.[0-9]{0,400})?|\.[0-9]{1,400})(?:[eE][+-]?[0-9]{1,4})?"
)
_NOW = re.compile(
    r"(?:now|current_timestamp|localtime|localtimestamp)\s*(?:\(\s*[0-6]?\s*\))?", re.IGNORECASE
)
_MAX_INTEGER_DIGITS = 20
_OUTER = re.compile(r"\s*\((.*)\)\s*", re.DOTALL)
_INTEGER_FORMS = frozenset(
    {Form.INT, Form.LONG, Form.UINT32_INT, Form.UINT32_LONG, Form.INT32_LONG}
)
_FLOAT_FORMS = frozenset({Form.FLOAT, Form.FLOAT_DOUBLE, Form.DOUBLE})
CLAUSE = "avro: column types"
_NULL = schema.Primitive("null")
_TEXTS = {
    "json": "JSON",
    "date": "DATE",
    "datetime": "DATETIME",
    "timestamp": "TIMESTAMP",
    "time": "TIME",
}
_VECTOR = "TiDBVECTORFloat32"


def default_of(column: Column, declared: DeclaredType, form: Form, is_shipped: bool) -> Default:
    """Return the default of a field whose column is not NULL by default; ABSENT if it has none.

    ``is_shipped``: as the shipped producer does it: bytes as base64, and an error where a number
    has an expression as default.
    Raises: EncodeError for a default that does not fit the column.
    """
    given = column.default
    if given is None or given is ABSENT:
        return ABSENT
    is_number = form in _INTEGER_FORMS | _FLOAT_FORMS | {Form.UINT64_LONG, Form.UINT64_TEXT}
    if isinstance(given, Expression):
        text = _kept_text(given.sql, declared)
        given = _constant(text, form) if is_number else text
    if form in (Form.BIT, Form.BYTES):
        return _bytes_default(given, declared, form, is_shipped)
    if is_number:
        number = _number(given, form)
        return _no_number(given, is_shipped) if number is None else number
    return _text_default(given, column, declared)


def _constant(sql: str, form: Form) -> str:
    """Return a constant as it is kept for a number, which ``INT DEFAULT '3.7'`` rounds.

    An expression that is not a constant stays as it is.
    """
    text = sql[1:-1].strip() if len(sql) > 1 and sql[0] == sql[-1] == "'" else sql
    if form in _FLOAT_FORMS or _INTEGER.fullmatch(text) or not _NUMBER.fullmatch(text):
        return text
    number = Decimal(text)
    if abs(number.adjusted()) > _MAX_INTEGER_DIGITS:
        return text
    return str(int(number.to_integral_value(ROUND_HALF_UP)))


def _no_number(given: Value, is_shipped: bool) -> Default:
    """Return ABSENT for a default that is not a number, such as an expression.

    Raises: EncodeError if ``is_shipped``, as the shipped producer fails.
    Source: avro, "default conversion".
    """
    if is_shipped:
        raise EncodeError(f"the default {given!r:.80} is not a number", DEFAULTS)
    return ABSENT


def _kept_text(sql: str, declared: DeclaredType) -> str:
    inner = _OUTER.fullmatch(sql)
    text = inner.group(1).strip() if inner else sql.strip()
    return _now(text, declared)


def _now(text: str, declared: DeclaredType) -> str:
    is_instant = declared.base in ("timestamp", "datetime")
    return "CURRENT_TIMESTAMP" if is_instant and _NOW.fullmatch(text) else text


def _number(given: Value, form: Form) -> Default:
    """Return a default as a number of the form, None where it is not a number."""
    if form in _FLOAT_FORMS:
        return _float(given, form)
    if isinstance(given, str):
        # TiDB keeps whole numbers for the integer types, except for what it could not read.
        number = int(given) if _INTEGER.fullmatch(given) else None
    else:
        number = int(given) if isinstance(given, (int, bool)) else None
    if number is None:
        return None
    if form is Form.UINT64_TEXT:
        _check_range(number, 0, UINT64_END)
        return str(number)
    if form is Form.UINT64_LONG:
        _check_range(number, 0, UINT64_END)
        return number - UINT64_END if number >= INT64_END else number
    end = 1 << 31 if form in (Form.INT, Form.UINT32_INT) else INT64_END
    _check_range(number, -end, end)
    return number


def _check_range(number: int, low: int, end: int) -> None:
    if not low <= number < end:
        raise EncodeError(f"the default {number} is beyond the column's type", DEFAULTS)


def _float(given: Value, form: Form) -> float | None:
    if isinstance(given, str):
        if _NUMBER.fullmatch(given) is None:
            return None
        number = float(given) if form is Form.DOUBLE else read_float32(given)
    elif isinstance(given, (int, float, Decimal)):
        number = float(given)
        number = number if form is Form.DOUBLE else narrow_float32(number)
    else:
        return None
    if not math.isfinite(number):
        raise EncodeError(f"the default {given!r:.40} is beyond the column's type", DEFAULTS)
    return number


def _bytes_default(given: Value, declared: DeclaredType, form: Form, is_shipped: bool) -> str:
    if form is Form.BIT and isinstance(given, int):
        _check_range(given, 0, UINT64_END)
        raw = bit_bytes(given)
    elif isinstance(given, str):
        raw = given.encode("utf-8", "surrogatepass")
    elif isinstance(given, bytes):
        raw = given
    else:
        raise EncodeError(f"the default {given!r:.80} has no bytes", DEFAULTS)
    if declared.base == "binary":
        raw = raw.ljust(declared.flen or 0, b"\0")
    # Avro wants each byte as the character of its number; the shipped producer writes base64.
    return base64.b64encode(raw).decode() if is_shipped else raw.decode("latin-1")


def _text_default(given: Value, column: Column, declared: DeclaredType) -> str:
    kind = column.type
    if isinstance(given, int) and isinstance(kind, (EnumType, SetType)):
        return _label(given, declared, isinstance(kind, SetType))
    if isinstance(given, bytes):
        return given.decode("utf-8", "replace")  # as it is kept where the definition is
    if isinstance(given, Decimal) and given.is_finite():
        return f"{given:f}" if abs(given.adjusted()) < 100 else str(given)
    if isinstance(given, str):
        return _now(given, declared)
    raise EncodeError(f"the default {given!r:.80} has no text", DEFAULTS)


def _label(number: int, declared: DeclaredType, is_set: bool) -> str:
    labels = declared.elements or ()
    if is_set and 0 <= number < 1 << len(labels):
        return ",".join(label for bit, label in enumerate(labels) if number >> bit & 1)
    if not is_set and 1 <= number <= len(labels):
        return labels[number - 1]
    raise EncodeError(f"the default {number} is not an option of the column", DEFAULTS)


def declared_of(column: Column) -> DeclaredType:
    """Return a column's declared type. Raises: EncodeError for kinds that MySQL does not have."""
    if isinstance(column.type, UnknownType):
        raise EncodeError("a column of unknown type has no field", CLAUSE)
    return declared_type(column, CLAUSE)


def field_of(column: Column, settings: Settings, is_nullable: bool) -> schema.Field:
    """Return the field of a column. Raises: EncodeError for a type that Avro does not carry here.

    NULL comes first in the union, unless there is a default: a default fits the first branch.
    """
    declared = declared_of(column)
    name = sanitize(column.name)
    kind, form = type_of(declared, settings)
    if form is Form.DECIMAL_BYTES and not is_scale_known(column):
        problem = "the scale of the column is not known: a definition of the table is needed"
        raise EncodeError(problem, "avro: decimal values")
    default: schema.Default = ABSENT
    if form is not Form.DECIMAL_BYTES:
        # The producer leaves out defaults of DECIMAL as bytes, whatever they are.
        default = default_of(column, declared, form, "shipped" in settings.dialects)
    of_type: schema.AvroType = kind
    if is_nullable:
        if default is ABSENT:
            of_type, default = schema.Union((_NULL, kind)), None
        else:
            of_type = schema.Union((kind, _NULL))
    return schema.Field(name, of_type, default)


def is_scale_known(column: Column) -> bool:
    """Return whether a DECIMAL's scale is known, by its kind or its declaration."""
    kind = column.type
    has_precision = isinstance(kind, DecimalType) and kind.precision is not None
    return has_precision or (column.source is not None and "(" in column.source)


def type_of(declared: DeclaredType, settings: Settings) -> tuple[schema.Primitive, Form]:
    """Return the Avro type of a declared type, and the form of its values."""
    base = declared.base
    if base in TEXT_NAMES:
        return _typed("string", "TEXT"), Form.TEXT
    if base in BINARY_NAMES:
        return _typed("bytes", "BLOB"), Form.BYTES
    if base in _TEXTS:
        return _typed("string", _TEXTS[base]), Form.STRING
    match base:
        case "tinyint" | "smallint" | "mediumint":
            if declared.is_unsigned:
                return _typed("int", "INT UNSIGNED"), Form.UINT32_INT
            return _typed("int", "INT"), Form.INT
        case "int":
            if declared.is_unsigned:
                return _typed("long", "INT UNSIGNED"), Form.UINT32_LONG
            return _typed("int", "INT"), Form.INT
        case "bigint":
            return _bigint(declared, settings)
        case "float":
            if "float-as-double" in settings.dialects:
                return _typed("double", "FLOAT"), Form.FLOAT_DOUBLE
            return _typed("float", "FLOAT"), Form.FLOAT
        case "double":
            return _typed("double", "DOUBLE"), Form.DOUBLE
        case "decimal":
            return _decimal(declared, settings)
        case "bit":
            parameters = {"length": str(declared.flen or 1), "tidb_type": "BIT"}
            return schema.Primitive("bytes", MappingProxyType(parameters)), Form.BIT
        case "enum" | "set":
            parameters = {"allowed": allowed_text(declared), "tidb_type": base.upper()}
            return schema.Primitive("string", MappingProxyType(parameters)), Form.STRING
        case "year":
            return _typed("int", "YEAR"), Form.INT
        case "vector":
            return _typed("string", _VECTOR), Form.VECTOR
        case _:
            raise EncodeError(f"a column of type {base} has no field", CLAUSE)


def _bigint(declared: DeclaredType, settings: Settings) -> tuple[schema.Primitive, Form]:
    if not declared.is_unsigned:
        return _typed("long", "BIGINT"), Form.LONG
    if settings.bigint_unsigned_mode == "string":
        return _typed("string", "BIGINT UNSIGNED"), Form.UINT64_TEXT
    return _typed("long", "BIGINT UNSIGNED"), Form.UINT64_LONG


def _decimal(declared: DeclaredType, settings: Settings) -> tuple[schema.Primitive, Form]:
    if settings.decimal_mode == "string":
        return _typed("string", "DECIMAL"), Form.DECIMAL_TEXT
    size = schema.DecimalSize(10 if declared.flen is None else declared.flen, declared.decimal or 0)
    if max(size.precision, size.scale) > MAX_DECIMAL_DIGITS:
        problem = f"a decimal of more than {MAX_DECIMAL_DIGITS} digits has no field"
        raise EncodeError(problem, "avro: decimal values")
    parameters = MappingProxyType({"tidb_type": "DECIMAL"})
    return schema.Primitive("bytes", parameters, size), Form.DECIMAL_BYTES


def _typed(name: schema.PrimitiveName, tidb_type: str) -> schema.Primitive:
    return schema.Primitive(name, MappingProxyType({"tidb_type": tidb_type}))


def allowed_text(declared: DeclaredType) -> str:
    """Return the ``allowed`` parameter: options joined by commas, a comma in one escaped.

    Quotes are folded after that, as the producer does; so the text does not always lead back.
    Source: avro, "allowed".
    """
    if declared.elements is None:
        problem = "the options of the column are not known: a definition of the table is needed"
        raise EncodeError(problem, "avro: allowed")
    return ",".join(
        option.replace(",", "\\,").replace("\\'", "'").replace("''", "'")
        for option in declared.elements
    )
