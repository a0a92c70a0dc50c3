"""From a column's definition to the field of a schema. Source: avro, "column types".

The whole field follows from the declared type, the options and the default. The declared type also
decides if a column is text or bytes.
"""

from __future__ import annotations

from types import MappingProxyType

from cdcwire.apache_avro import schema
from cdcwire.core.errors import EncodeError
from cdcwire.formats.avro.defaults import default_of
from cdcwire.formats.avro.names import sanitize
from cdcwire.formats.avro.plans import MAX_DECIMAL_DIGITS, Form
from cdcwire.formats.avro.settings import Settings
from cdcwire.model.kinds import ABSENT, Column, DecimalType, UnknownType
from cdcwire.mysql.declared import BINARY_NAMES, TEXT_NAMES, DeclaredType, declared_type

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


def declared_of(column: Column) -> DeclaredType:
    """Return a column's declared type. Raises: EncodeError for kinds that MySQL does not have."""
    if isinstance(column.type, UnknownType):
        raise EncodeError("a column of unknown type has no field", CLAUSE)
    return declared_type(column, CLAUSE)


def field_of(column: Column, settings: Settings, is_nullable: bool) -> schema.Field:
    """Return the field of a column. Raises: EncodeError for a type that Avro does not carry here.

    NULL comes first in the union, unless there is a default: a default is of the first branch.
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
