"""Avro schemas as Connect's, and values from one to the other and back.

The members ``connect.*`` of a schema say what Avro's types do not: the name and version of a type,
its parameters and its default. Without them the logical types of Avro still say which columns are
decimals, dates and times.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import cast

from cdcwire.apache_avro import schema as avro
from cdcwire.apache_avro.binary import DatumReader, write_datum
from cdcwire.apache_avro.schema import Datum
from cdcwire.connect import ConnectType, ConnectValue, Field, Schema
from cdcwire.connect.bounds import ConversionError
from cdcwire.connect.scalars import MAX_DECIMAL_BYTES, decimal_of
from cdcwire.connect.schema import INT_BITS, MAX_SCHEMA_DEPTH, TIDB_TYPE
from cdcwire.connect.types import (
    CONNECT_DATE,
    CONNECT_DECIMAL,
    CONNECT_TIME,
    CONNECT_TIMESTAMP,
    check_logical_name,
    decimal_scale,
)
from cdcwire.core.caches import BoundedCache
from cdcwire.core.errors import DecodeError, EncodeError
from cdcwire.core.reader import Reader
from cdcwire.core.strict_json import JsonObject, JsonValue, Number
from cdcwire.formats.debezium_avro.conversions import (
    UNIONS,
    Ways,
    decimal_reader,
    decimal_writer,
    each_item,
    has_long_scales,
    integer_ways,
    of_fields,
    ways_of_pairs,
    ways_of_union,
    well_formed,
)
from cdcwire.model.floats import read_float32
from cdcwire.model.kinds import ABSENT

SCHEMAS = "debezium-avro: schemas"
CONNECT_FIELD = "connect.field"  # the original name of a field, which TiCDC adds
DATUM = "debezium-avro: values"
NAMESPACE = "io.confluent.connect.avro"
UNNAMED = f"{NAMESPACE}.ConnectDefault"  # the beginning of the names of structs without name
MAP_ENTRY = "MapEntry"
UNION = f"{NAMESPACE}.Union"
ENUMERATION = f"{NAMESPACE}.Enum"
PRECISION = "connect.decimal.precision"
FIXED_SIZE = "connect.fixed.size"
DEFAULT_PRECISION = 64
_MAX_KNOWN_TEXT = 1 << 22  # characters of all schema texts whose plans are kept
_TYPES: dict[str, ConnectType] = {
    "boolean": "boolean",
    "int": "int32",
    "long": "int64",
    "float": "float",
    "double": "double",
    "bytes": "bytes",
    "string": "string",
}
_SPECIAL_FLOATS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
_DATES = {
    ("int", "date"): CONNECT_DATE,
    ("int", "time-millis"): CONNECT_TIME,
    ("long", "timestamp-millis"): CONNECT_TIMESTAMP,
}


@dataclass(frozen=True, slots=True, eq=False)
class DatumPlan:
    """One schema text: its Avro type, the schema of Connect, and how values are converted.

    ``has_long_scales``: it has decimals whose scale adds digits that are counted.
    """

    text: str
    kind: avro.AvroType
    schema: Schema
    ways: Ways
    has_long_scales: bool

    @property
    def has_metadata(self) -> bool:
        """True if the schema says its name in Connect, as each struct's does unless it has none."""
        return not isinstance(self.kind, avro.Record) or "connect.name" in self.kind.attributes

    def read(self, reader: Reader) -> ConnectValue:
        """Return the value that follows. Raises: DecodeError, ConversionError."""
        datum = self.read_datum(reader)
        return datum if self.ways.read is None else self.ways.read(datum)

    def read_datum(self, reader: Reader) -> Datum:
        """Return the datum that follows, before it is converted. Raises: DecodeError."""
        return DatumReader(reader, keeps_bytes=True).read(self.kind, (), DATUM)

    def write(self, out: bytearray, value: ConnectValue) -> None:
        """Append a value. Raises: EncodeError."""
        try:
            datum = value if self.ways.write is None else self.ways.write(value)
        except ConversionError as error:
            raise EncodeError(error.problem, error.clause, error.path) from error
        write_datum(out, self.kind, datum)


_plans: BoundedCache[str, DatumPlan] = BoundedCache(_MAX_KNOWN_TEXT)


def plan_of_text(text: str) -> DatumPlan:
    """Return the plan of a schema text. Plans are remembered, up to a limit of their texts.

    Raises: DecodeError, whose offset counts bytes of the text.
    """
    plan = _plans.get(text)
    if plan is None:
        kind = avro.parse_type(text)
        _use_original_names(kind, [])
        schema, ways = connect_type(kind)
        plan = DatumPlan(text, kind, schema, ways, has_long_scales(schema))
        _plans.keep(text, plan, len(text) + 64)
    return plan


def _use_original_names(kind: avro.AvroType, done: list[avro.Record]) -> None:
    """Give the fields of records their original names, where ``connect.field`` has them."""
    match kind:
        case avro.Record() if not any(each is kind for each in done):
            done.append(kind)
            kind.fields = tuple(
                replace(each, name=_text(each.attributes, CONNECT_FIELD) or each.name)
                for each in kind.fields
            )
            for each in kind.fields:
                _use_original_names(each.type, done)
        case avro.Union(branches=branches):
            for branch in branches:
                _use_original_names(branch, done)
        case avro.Array(items=inner) | avro.Map(values=inner):
            _use_original_names(inner, done)
        case _:
            pass


def connect_type(kind: avro.AvroType) -> tuple[Schema, Ways]:
    """Return the schema of a type, and how its values are converted. Raises: DecodeError."""
    return _Reading().of(kind, 0)


def is_decimal(kind: avro.Primitive) -> bool:
    """Return whether the values of a type are decimals as bytes."""
    has_name = kind.attributes.get("connect.name") == CONNECT_DECIMAL
    return kind.name == "bytes" and (has_name or kind.attributes.get("logicalType") == "decimal")


class _Reading:
    """Makes Connect schemas of the types of one text."""

    def __init__(self) -> None:
        self.open: list[avro.Record] = []

    def of(self, kind: avro.AvroType, depth: int) -> tuple[Schema, Ways]:
        """Return the schema of a type, and how its values are converted. Raises: DecodeError."""
        if depth > MAX_SCHEMA_DEPTH:
            problem = f"types are nested deeper than {MAX_SCHEMA_DEPTH}"
            raise DecodeError(problem, 0, avro.LIMITS_CLAUSE)
        match kind:
            case avro.Union():
                return self.union(kind, depth)
            case avro.Record():
                schema, ways = self.record(kind, depth)
                name = f"{kind.namespace}.{kind.name}" if kind.namespace else kind.name
                return self.described(schema, kind, name), ways
            case avro.Array() if _is_map(kind.items):
                keys, values = self.entry(cast(avro.Record, kind.items), depth)
                schema = Schema("map", keys=keys[0], values=values[0])
                return self.described(schema, kind), ways_of_pairs(keys[1], values[1])
            case avro.Array():
                items, ways = self.item(kind.items, depth)
                schema = self.described(Schema("array", items=items), kind)
                return schema, Ways(each_item(ways.read), each_item(ways.write))
            case avro.Map():
                values = self.item(kind.values, depth)
                schema = Schema("map", keys=Schema("string"), values=values[0])
                return self.described(schema, kind), ways_of_pairs(Ways(), values[1])
            case avro.Enumeration():
                listed = (
                    (ENUMERATION, kind.name),
                    *((f"{ENUMERATION}.{s}", s) for s in kind.symbols),
                )
                return self.described(Schema("string", parameters=listed), kind, kind.name), Ways()
            case avro.Fixed():
                return self.fixed(kind)
            case avro.Primitive():
                return self.primitive(kind)

    def item(self, kind: avro.AvroType, depth: int) -> tuple[Schema, Ways]:
        """Return the schema of items or values; only columns keep text that is not UTF-8."""
        schema, ways = self.of(kind, depth + 1)
        return schema, replace(ways, read=well_formed) if schema.type == "string" else ways

    def union(self, kind: avro.Union, depth: int) -> tuple[Schema, Ways]:
        if kind.null_index is not None:
            schema, ways = self.of(kind.branches[1 - kind.null_index], depth + 1)
            return replace(schema, optional=True), ways
        fields: list[Field] = []
        inner: list[Ways | None] = []
        for branch in kind.branches:
            if isinstance(branch, avro.Primitive) and branch.name == "null":
                inner.append(None)
                continue
            schema, ways = self.of(branch, depth + 1)
            fields.append(Field(_branch_name(branch), replace(schema, optional=True)))
            inner.append(ways)
        names = [field.name for field in fields]
        if len(set(names)) < len(names):
            raise DecodeError("branches of a union have one name", 0, UNIONS)
        has_null = None in inner
        return Schema("struct", has_null, UNION, fields=tuple(fields)), ways_of_union(inner)

    def record(self, kind: avro.Record, depth: int) -> tuple[Schema, Ways]:
        if any(each is kind for each in self.open):
            problem = f"record {kind.name!r:.40} contains itself, which no schema of Connect does"
            raise DecodeError(problem, 0, SCHEMAS)
        self.open.append(kind)
        fields, ways = [], []
        for field in kind.fields:
            try:
                schema, of_field = self.of(field.type, depth + 1)
            except DecodeError as error:
                error.path = (field.name, *error.path)
                raise
            if not schema.optional and field.default is not ABSENT:
                schema = _with_default(schema, field.default)
            tidb_type = _text(field.attributes, TIDB_TYPE)
            if tidb_type is not None:
                parameters = (*(schema.parameters or ()), (TIDB_TYPE, tidb_type))
                schema = replace(schema, parameters=parameters)
            fields.append(Field(field.name, schema))
            ways.append(of_field)
        self.open.pop()
        names = [field.name for field in fields]
        if len(set(names)) < len(names):
            raise DecodeError("two fields have one original name", 0, SCHEMAS)
        read = of_fields(names, [each.read for each in ways])
        write = of_fields(names, [each.write for each in ways])
        return Schema("struct", fields=tuple(fields)), Ways(read, write)

    def entry(
        self, kind: avro.Record, depth: int
    ) -> tuple[tuple[Schema, Ways], tuple[Schema, Ways]]:
        key, value = (self.item(field.type, depth + 1) for field in kind.fields)
        return key, value

    def fixed(self, kind: avro.Fixed) -> tuple[Schema, Ways]:
        schema = Schema("bytes", parameters=((FIXED_SIZE, str(kind.size)),))
        if kind.decimal is None:
            return self.described(schema, kind, kind.name), Ways()
        schema = self.described(_decimal_schema(kind.decimal, kind, schema.parameters), kind)
        scale = decimal_scale(schema) or 0
        return schema, Ways(decimal_reader(scale), decimal_writer(scale, kind.size))

    def primitive(self, kind: avro.Primitive) -> tuple[Schema, Ways]:
        if kind.name == "null":
            raise DecodeError("null is a type only in a union", 0, SCHEMAS)
        attributes = kind.attributes
        logical = attributes.get("logicalType")
        if is_decimal(kind):
            schema = self.described(_decimal_schema(kind.decimal, kind, ()), kind)
            scale = decimal_scale(schema) or 0
            return schema, Ways(decimal_reader(scale), decimal_writer(scale, None))
        own = attributes.get("connect.type")
        if kind.name == "int" and own is not None and own not in ("int8", "int16"):
            raise DecodeError(f"connect.type {own!r:.40} does not fit an int", 0, SCHEMAS)
        type_ = (
            cast(ConnectType, own) if kind.name == "int" and own is not None else _TYPES[kind.name]
        )
        schema = Schema(type_)
        date = _DATES.get((kind.name, logical if isinstance(logical, str) else ""))
        if date is not None:
            schema = replace(schema, name=date, version=1)
        schema = self.described(schema, kind)
        return schema, integer_ways(schema)

    def described(
        self, schema: Schema, kind: avro.AvroType, full_name: str | None = None
    ) -> Schema:
        """Return a schema with what the members ``connect.*`` say of it."""
        assert not isinstance(kind, avro.Union)
        attributes = kind.attributes
        name = _text(attributes, "connect.name") or full_name
        if name is not None and not name.startswith(UNNAMED):
            schema = replace(schema, name=name)
        version = attributes.get("connect.version")
        if version is not None:
            schema = replace(schema, version=_version(version))
        doc = _text(attributes, "connect.doc")
        if doc is not None:
            schema = replace(schema, doc=doc)
        listed = attributes.get("connect.parameters")
        if listed is not None:
            schema = replace(schema, parameters=_parameters(schema.parameters, listed))
        check_logical_name(schema, 0)
        if "connect.default" in attributes:
            schema = _with_default(schema, avro.plain_default(attributes["connect.default"]))
        return schema


def _text(attributes: avro.Attributes, name: str) -> str | None:
    found = attributes.get(name)
    if found is not None and not isinstance(found, str):
        raise DecodeError(f"{name} is not a string", 0, SCHEMAS)
    return found


def _version(value: JsonValue) -> int:
    if not isinstance(value, Number) or not value.is_integer or value.digits > 9:
        raise DecodeError("connect.version is not an integer", 0, SCHEMAS)
    return int(value.text)


def _parameters(
    known: tuple[tuple[str, str], ...] | None, listed: JsonValue
) -> tuple[tuple[str, str], ...]:
    if not isinstance(listed, JsonObject):
        raise DecodeError("connect.parameters is not an object", 0, SCHEMAS)
    found = dict(known or ())
    for member in listed.members:
        if not isinstance(member.value, str):
            raise DecodeError(f"parameter {member.name!r:.40} is not a string", 0, SCHEMAS)
        found[member.name] = member.value
    return tuple(found.items())


def _decimal_schema(
    size: avro.DecimalSize | None,
    kind: avro.Primitive | avro.Fixed,
    parameters: Iterable[tuple[str, str]] | None,
) -> Schema:
    """Return the schema of a decimal; a size that Avro does not allow is in its members too."""
    numbers: dict[str, int] = {}
    for name in ("scale", "precision"):
        found = kind.attributes.get(name)
        if isinstance(found, Number) and found.is_integer and found.digits <= 9:
            numbers[name] = int(found.text)
    if size is not None:
        numbers = {"scale": size.scale, "precision": size.precision}
    listed = [("scale", str(numbers.get("scale", 0)))]
    precision = numbers.get("precision", DEFAULT_PRECISION)
    if precision != DEFAULT_PRECISION:
        listed.append((PRECISION, str(precision)))
    return Schema("bytes", False, CONNECT_DECIMAL, 1, parameters=(*listed, *(parameters or ())))


def _with_default(schema: Schema, value: avro.Default) -> Schema:
    """Return a schema with a default; one that its type does not have is ignored."""
    try:
        return replace(schema, default=_default_value(schema, value))
    except (ValueError, TypeError, KeyError, UnicodeEncodeError):
        return schema


def _default_value(schema: Schema, value: avro.Default) -> ConnectValue:
    """Return a default as a value. Raises: ValueError, TypeError, KeyError for another type."""
    if value is None:
        if schema.optional:
            return None
        raise ValueError
    match schema.type:
        case "int8" | "int16" | "int32" | "int64":
            if isinstance(value, bool) or not isinstance(value, int):
                raise TypeError
            half = 1 << INT_BITS[schema.type] - 1
            if not -half <= value < half:
                raise ValueError
            return value
        case "float" | "double":
            if isinstance(value, str) and value in _SPECIAL_FLOATS:
                return _SPECIAL_FLOATS[value]
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                raise TypeError
            return read_float32(repr(value)) if schema.type == "float" else float(value)
        case "boolean" | "string":
            if isinstance(value, bool) != (schema.type == "boolean") or not isinstance(
                value, (bool, str)
            ):
                raise TypeError
            return value
        case "bytes":
            if not isinstance(value, str):
                raise TypeError
            raw = value.encode("latin-1")
            if schema.name != CONNECT_DECIMAL:
                return raw
            if not 0 < len(raw) <= MAX_DECIMAL_BYTES:
                raise ValueError
            return decimal_of(raw, decimal_scale(schema) or 0)
        case "array":
            if not isinstance(value, list) or schema.items is None:
                raise TypeError
            return tuple(_default_value(schema.items, item) for item in value)
        case "struct":
            if not isinstance(value, dict):
                raise TypeError
            return tuple(_default_value(each.schema, value[each.name]) for each in schema.fields)
        case _:
            if not isinstance(value, dict) or schema.values is None:
                raise TypeError
            return tuple((key, _default_value(schema.values, v)) for key, v in value.items())


def _is_map(items: avro.AvroType) -> bool:
    """Return whether an array holds the entries of a map whose keys are not plain strings."""
    if not isinstance(items, avro.Record):
        return False
    is_named = (items.namespace, items.name) == (NAMESPACE, MAP_ENTRY)
    is_entry = is_named or items.attributes.get("connect.internal.type") == MAP_ENTRY
    return is_entry and [field.name for field in items.fields] == ["key", "value"]


def _branch_name(kind: avro.AvroType) -> str:
    """Return the name of the field that stands for a branch."""
    if isinstance(kind, (avro.Record, avro.Enumeration, avro.Fixed)):
        return kind.name.rpartition(".")[2]
    if isinstance(kind, avro.Primitive):
        own = kind.attributes.get("connect.type")
        return own if isinstance(own, str) else kind.name
    return "array" if isinstance(kind, avro.Array) else "map"
