"""Kafka Connect's envelopes at the wire layer: any schema, a payload of it, other texts of both.

Schemas have logical names at random, of those that ask nothing of their values; what a name asks is
proved by events.
"""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

from hypothesis import strategies as st

from cdcwire.connect import ConnectType, ConnectValue, Envelope, Field, Schema
from cdcwire_generators import extremes
from cdcwire_generators.strategies.names import column_names, names

_BITS: dict[ConnectType, int] = {"int8": 8, "int16": 16, "int32": 32, "int64": 64}
_PRIMITIVES: tuple[ConnectType, ...] = (
    *("int32", "string", "boolean", "int8", "int16", "int64", "float", "double", "bytes"),
)
_NAMES = ("io.debezium.data.Uuid", "io.debezium.time.ZonedTimestamp", "com.example.Own", "é")
_DECIMAL = "org.apache.kafka.connect.data.Decimal"
_UNKNOWN = ("x_new", {"a": [1, -2.5, None, True, "é"]})
_SPACES = ("", "", " ", "\r\n\t")


@st.composite
def connect_schemas(draw: st.DrawFn, *, max_depth: int = 2) -> Schema:
    """Give schemas of every type; arrays, maps and structs have up to ``max_depth`` levels."""
    if max_depth < 0:
        raise ValueError(f"max_depth={max_depth} is less than 0")
    choices = [*_PRIMITIVES, "decimal", *(("struct", "array", "map") if max_depth else ())]
    kind = draw(st.sampled_from(choices))
    is_optional = draw(st.booleans())
    inner = connect_schemas(max_depth=max_depth - 1) if max_depth else st.nothing()
    if kind == "decimal":
        scale = draw(st.integers(-3, 30))
        return Schema("bytes", is_optional, _DECIMAL, 1, None, (("scale", str(scale)),))
    if kind == "struct":
        fields = tuple(Field(name, draw(inner)) for name in draw(column_names(max_size=3)))
        return Schema("struct", is_optional, draw(_NAME), fields=fields)
    if kind == "array":
        return Schema("array", is_optional, items=draw(inner))
    if kind == "map":
        text = Schema("string") if draw(st.booleans()) else Schema("int32")
        return Schema("map", is_optional, keys=text, values=draw(inner))
    plain = Schema(kind, is_optional, draw(_NAME), draw(_VERSION), draw(_DOC), draw(_PARAMETERS))
    if draw(st.integers(0, 3)):
        return plain
    default = draw(connect_values(Schema(kind)))
    return Schema(
        plain.type, is_optional, plain.name, plain.version, plain.doc, plain.parameters, default
    )


_NAME = st.one_of(st.none(), st.sampled_from(_NAMES))
_VERSION = st.one_of(st.none(), st.integers(-(1 << 31), (1 << 31) - 1))
_DOC = st.one_of(st.none(), names())
_PARAMETERS = st.one_of(
    st.none(), st.dictionaries(names(), names(), max_size=2).map(lambda found: tuple(found.items()))
)


def connect_values(schema: Schema) -> st.SearchStrategy[ConnectValue]:
    """Give values of a schema, NULL too where it is optional."""
    if schema.optional:
        return st.one_of(st.none(), _required(schema))
    return _required(schema)


def _required(schema: Schema) -> st.SearchStrategy[ConnectValue]:
    match schema.type:
        case "int8" | "int16" | "int32" | "int64":
            bits = _BITS[schema.type]
            borders = st.sampled_from(extremes.integers(bits, is_unsigned=False))
            return st.one_of(st.integers(-1 << bits - 1, (1 << bits - 1) - 1), borders)
        case "float":
            return st.one_of(st.floats(width=32), st.sampled_from(extremes.FLOAT32))
        case "double":
            return st.one_of(st.floats(), st.sampled_from(extremes.FLOAT64))
        case "boolean":
            return st.booleans()
        case "string":
            return st.one_of(
                st.text(st.characters(codec="utf-8"), max_size=9), st.sampled_from(extremes.TEXTS)
            )
        case "bytes":
            scale = schema.parameter("scale") if schema.name == _DECIMAL else None
            if scale is None:
                return st.one_of(st.binary(max_size=9), st.sampled_from(extremes.BYTES))
            number = st.integers(-(10**38), 10**38)
            return number.map(lambda unscaled: Decimal(unscaled).scaleb(-int(scale)))
        case "array":
            assert schema.items is not None
            return st.lists(connect_values(schema.items), max_size=3).map(tuple)
        case "map":
            assert schema.keys is not None
            assert schema.values is not None
            pairs = st.tuples(connect_values(schema.keys), connect_values(schema.values))
            return st.lists(pairs, max_size=3, unique_by=lambda pair: pair[0]).map(tuple)
        case _:
            return st.tuples(*(connect_values(field.schema) for field in schema.fields))


@st.composite
def connect_envelopes(draw: st.DrawFn, *, max_depth: int = 2) -> Envelope:
    """Give envelopes of a struct, as messages have them."""
    fields = tuple(
        Field(name, draw(connect_schemas(max_depth=max_depth)))
        for name in draw(column_names(max_size=4))
    )
    schema = Schema("struct", draw(st.booleans()), draw(_NAME), fields=fields)
    return Envelope(schema, draw(connect_values(schema)))


@st.composite
def connect_renderings(draw: st.DrawFn, raw: bytes) -> bytes:
    """Give other texts of an envelope: members in any order, unknown ones, white space, escapes.

    A payload may lack NULLs without default. The order of a map's members is kept.
    """
    whole = json.loads(raw, parse_float=_Number, object_pairs_hook=_Object)
    writer = _Writer(draw)
    schema, payload = whole.get("schema"), whole.get("payload")
    members = [("schema", writer.schema(schema)), ("payload", writer.value(schema, payload))]
    return writer.members(draw(st.permutations(members))).encode()


class _Number(str):
    """A number with its text."""

    __slots__ = ()


class _Object(dict[str, Any]):
    """An object of JSON, members in the order read."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)


class _Writer:
    """Writes the parts of an envelope with the freedom that readers have."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw

    def schema(self, schema: Any) -> str:
        pairs = []
        for name, value in schema.items():
            if name in ("items", "keys", "values"):
                pairs.append((name, self.schema(value)))
            elif name == "fields":
                pairs.append((name, self._array([self.schema(field) for field in value])))
            else:
                pairs.append((name, self._plain(value)))
        return self.members(self._shuffled(pairs))

    def value(self, schema: Any, value: Any) -> str:
        if value is None or schema["type"] not in ("struct", "array", "map"):
            return self._plain(value)
        if schema["type"] == "array":
            return self._array([self.value(schema["items"], item) for item in value])
        if schema["type"] == "map" and isinstance(value, dict):
            return self.members([(k, self.value(schema["values"], v)) for k, v in value.items()])
        if schema["type"] == "map":
            sides = schema["keys"], schema["values"]
            pairs = [[self.value(s, v) for s, v in zip(sides, p, strict=True)] for p in value]
            return self._array([self._array(pair) for pair in pairs])
        kept = [
            (field["field"], self.value(field, value[field["field"]]))
            for field in schema["fields"]
            if not self._may_be_missing(field, value[field["field"]])
        ]
        return self.members(self._shuffled(kept))

    def _may_be_missing(self, field: Any, value: Any) -> bool:
        is_null = value is None and field["optional"] and "default" not in field
        return is_null and self.draw(st.booleans())

    def _shuffled(self, pairs: list[tuple[str, str]]) -> list[tuple[str, str]]:
        if self.draw(st.integers(0, 7)) == 7 and "x_new" not in dict(pairs):
            pairs = [*pairs, (_UNKNOWN[0], json.dumps(_UNKNOWN[1]))]
        return self.draw(st.permutations(pairs)) if self.draw(st.booleans()) else pairs

    def _plain(self, value: Any) -> str:
        if isinstance(value, _Number):
            return str(value)
        if isinstance(value, dict):
            return self.members([(name, self._plain(each)) for name, each in value.items()])
        if isinstance(value, list):
            return self._array([self._plain(each) for each in value])
        return json.dumps(value, ensure_ascii=self.draw(st.booleans()))

    def _array(self, items: list[str]) -> str:
        return f"[{self._space()}{f',{self._space()}'.join(items)}]"

    def members(self, pairs: list[tuple[str, str]]) -> str:
        shown = (f"{self._plain(name)}{self._space()}:{value}" for name, value in pairs)
        return f"{{{self._space()}{','.join(shown)}}}"

    def _space(self) -> str:
        return self.draw(st.sampled_from(_SPACES))
