"""Avro schemas: read from untrusted text under limits, and written as the producer writes them.

The whole of Avro's types is understood, since a registry may hold anything. Names are resolved
inside one text only, so that key and value records of one name never meet. Other members of a text
(``doc``, ``aliases``, ``order``) are ignored. Defaults are not checked: older producers wrote some
that do not fit.

A datum, a value of an Avro type, has the form of its type: None, bool, int, float, bytes, str. An
array is a tuple, a map a tuple of pairs, a record a tuple of its fields. In a union of NULL and one
other type the value shows the branch; in any other one ``Branch`` does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, Literal, TypeAlias, cast, get_args

from cdcwire.apache_avro.registries import MAX_SCHEMA_BYTES
from cdcwire.core.errors import DecodeError
from cdcwire.core.strict_json import (
    JsonArray,
    JsonObject,
    JsonRules,
    JsonValue,
    Member,
    Number,
    json_kind,
    read_json,
)
from cdcwire.model.kinds import ABSENT, Missing

Datum: TypeAlias = Any


@dataclass(frozen=True, slots=True)
class Branch:
    """A value of a union whose branches cannot be distinguished by the value alone."""

    index: int
    value: Datum


CLAUSE = "avro: schema text"
LIMITS_CLAUSE = "avro: schema limits"
MAX_DEPTH = 24  # of types in types
_RULES = JsonRules(CLAUSE, CLAUSE, LIMITS_CLAUSE, max_depth=96)
_MAX_DIGITS = 20
_MAX_FIXED = 1 << 31

PrimitiveName: TypeAlias = Literal[
    "null", "boolean", "int", "long", "float", "double", "bytes", "string"
]
PRIMITIVES: Final[frozenset[str]] = frozenset(get_args(PrimitiveName))
# A default as plain JSON; ABSENT where there is none.
Default: TypeAlias = (
    "bool | int | float | str | list[Default] | dict[str, Default] | Missing | None"
)
NO_PARAMETERS: Mapping[str, str] = MappingProxyType({})
# Members of a type that are not Avro's own, and those of its logical type.
Attributes: TypeAlias = Mapping[str, JsonValue]
NO_ATTRIBUTES: Attributes = MappingProxyType({})
_KEPT = ("logicalType", "scale", "precision", "tidb_type")  # and those of Connect


@dataclass(frozen=True, slots=True)
class DecimalSize:
    """The logical type decimal: how many digits, and how many of them are the fraction."""

    precision: int
    scale: int


@dataclass(frozen=True, slots=True, eq=False)
class Primitive:
    """A type without parts. ``parameters``: ``connect.parameters``, empty for a bare type."""

    name: PrimitiveName
    parameters: Mapping[str, str] = field(default_factory=lambda: NO_PARAMETERS)
    decimal: DecimalSize | None = None
    attributes: Attributes = field(default_factory=lambda: NO_ATTRIBUTES, repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class Fixed:
    """A named type of exactly ``size`` bytes."""

    name: str
    size: int
    decimal: DecimalSize | None = None
    attributes: Attributes = field(default_factory=lambda: NO_ATTRIBUTES, repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class Enumeration:
    """A named type whose values are ``symbols``."""

    name: str
    symbols: tuple[str, ...]
    attributes: Attributes = field(default_factory=lambda: NO_ATTRIBUTES, repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class Array:
    """An array of items of one type."""

    items: AvroType
    attributes: Attributes = field(default_factory=lambda: NO_ATTRIBUTES, repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class Map:
    """A map from strings to values of one type."""

    values: AvroType
    attributes: Attributes = field(default_factory=lambda: NO_ATTRIBUTES, repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class Union:
    """``null_index``: which branch is NULL, in a union of NULL and one other type; else None."""

    branches: tuple[AvroType, ...]
    null_index: int | None = field(init=False)

    def __post_init__(self) -> None:
        nulls = [_is_null(branch) for branch in self.branches]
        is_simple = len(nulls) == 2 and sum(nulls) == 1
        object.__setattr__(self, "null_index", nulls.index(True) if is_simple else None)


@dataclass(frozen=True, slots=True, eq=False)
class Field:
    """One field of a record."""

    name: str
    type: AvroType
    default: Default = ABSENT
    attributes: Attributes = field(default_factory=lambda: NO_ATTRIBUTES, repr=False)


@dataclass(slots=True, eq=False)
class Record:
    """A record. ``fields`` is filled once they are read, as they may lead back to the record."""

    name: str
    namespace: str
    fields: tuple[Field, ...] = field(default=(), repr=False)
    attributes: Attributes = field(default_factory=lambda: NO_ATTRIBUTES, repr=False)


AvroType: TypeAlias = Primitive | Fixed | Enumeration | Array | Map | Union | Record


def _is_null(kind: AvroType) -> bool:
    return isinstance(kind, Primitive) and kind.name == "null"


def parse_schema(text: str) -> Record:
    """Return the record that a schema text describes.

    Raises: DecodeError, whose offset counts bytes of the text.
    """
    found = parse_type(text)
    if not isinstance(found, Record):
        raise DecodeError("the schema is not a record", 0, CLAUSE)
    return found


def parse_type(text: str) -> AvroType:
    """Return the type that a schema text describes.

    Raises: DecodeError, whose offset counts bytes of the text.
    """
    try:
        data = text.encode()
    except UnicodeEncodeError as error:
        raise DecodeError("a lone surrogate", error.start, CLAUSE) from None
    if len(data) > MAX_SCHEMA_BYTES:
        problem = f"the schema text has {len(data)} bytes, {MAX_SCHEMA_BYTES} are allowed"
        raise DecodeError(problem, 0, LIMITS_CLAUSE)
    document = read_json(data, _RULES)
    return _Parser().type(document.value, document.start, "", 0)


class _Parser:
    """The types named so far in one text."""

    def __init__(self) -> None:
        self.named: dict[str, AvroType] = {}

    def type(self, value: JsonValue, offset: int, namespace: str, depth: int) -> AvroType:
        if depth > MAX_DEPTH:
            raise DecodeError(f"types are nested deeper than {MAX_DEPTH}", offset, LIMITS_CLAUSE)
        match value:
            case str():
                return self.reference(value, offset, namespace)
            case JsonArray():
                return self.union(value, offset, namespace, depth)
            case JsonObject():
                return self.object(value, offset, namespace, depth)
            case _:
                raise DecodeError(f"{json_kind(value)} is not a type", offset, CLAUSE)

    def reference(self, name: str, offset: int, namespace: str) -> AvroType:
        if name in PRIMITIVES:
            return _bare(name)
        found = self.named.get(_full_name(name, namespace)) or self.named.get(name)
        if found is None:
            raise DecodeError(f"type {name!r:.80} is not known", offset, CLAUSE)
        return found

    def union(self, value: JsonArray, offset: int, namespace: str, depth: int) -> Union:
        branches = tuple(
            self.type(item, value.places[2 * index], namespace, depth + 1)
            for index, item in enumerate(value.items)
        )
        kinds = [each.name if isinstance(each, Primitive) else type(each) for each in branches]
        if Union in kinds:
            raise DecodeError("a union contains a union", offset, CLAUSE)
        unnamed = [each for each in kinds if each not in (Record, Enumeration, Fixed)]
        if len(set(unnamed)) != len(unnamed):
            raise DecodeError("a union has a type twice", offset, CLAUSE)
        return Union(branches)

    def object(self, value: JsonObject, offset: int, namespace: str, depth: int) -> AvroType:
        known = value.by_name
        kind = _required(known, "type", offset)
        if not isinstance(kind.value, str):
            return self.type(kind.value, kind.start, namespace, depth + 1)
        match kind.value:
            case "record" | "error":
                return self.record(known, offset, namespace, depth)
            case "enum":
                symbols = _list(_required(known, "symbols", offset))
                texts = tuple(item for item in symbols.items if isinstance(item, str))
                if len(set(texts)) != len(symbols.items):
                    raise DecodeError("symbols are names that differ", offset, CLAUSE)
                return self.keep(
                    Enumeration(_name(known, offset, namespace), texts, _attributes(known)), offset
                )
            case "fixed":
                size = _number(_required(known, "size", offset), _MAX_FIXED)
                decimal = _decimal(known)
                name = _name(known, offset, namespace)
                return self.keep(Fixed(name, size, decimal, _attributes(known)), offset)
            case "array":
                items = _required(known, "items", offset)
                of_items = self.type(items.value, items.start, namespace, depth + 1)
                return Array(of_items, _attributes(known))
            case "map":
                values = _required(known, "values", offset)
                of_values = self.type(values.value, values.start, namespace, depth + 1)
                return Map(of_values, _attributes(known))
            case name if name in PRIMITIVES:
                decimal = _decimal(known) if name == "bytes" else None
                parameters = _parameters(known.get("connect.parameters"))
                return Primitive(cast(PrimitiveName, name), parameters, decimal, _attributes(known))
            case name:
                return self.reference(name, kind.start, namespace)

    def record(
        self, known: Mapping[str, Member], offset: int, namespace: str, depth: int
    ) -> Record:
        full_name = _name(known, offset, namespace)
        inner, _, name = full_name.rpartition(".")
        found = Record(name, inner, attributes=_attributes(known))
        self.keep(found, offset, full_name)
        fields = _list(_required(known, "fields", offset))
        read: list[Field] = []
        names: set[str] = set()
        for index, item in enumerate(fields.items):
            place = fields.places[2 * index]
            if not isinstance(item, JsonObject):
                raise DecodeError(f"{json_kind(item)} is not a field", place, CLAUSE)
            members = item.by_name
            field_name = _text(_required(members, "name", place))
            if field_name in names:
                problem = f"field {field_name!r:.80} appears twice"
                raise DecodeError(problem, place, CLAUSE, (field_name,))
            names.add(field_name)
            kind = _required(members, "type", place)
            try:
                of_type = self.type(kind.value, kind.start, inner, depth + 1)
            except DecodeError as error:
                error.path = (field_name, *error.path)
                raise
            default = members.get("default")
            plain = ABSENT if default is None else plain_default(default.value)
            read.append(Field(field_name, of_type, plain, _attributes(members)))
        found.fields = tuple(read)
        return found

    def keep(self, kind: AvroType, offset: int, name: str = "") -> AvroType:
        full_name = name or cast("Fixed | Enumeration", kind).name
        if full_name in self.named:
            raise DecodeError(f"type {full_name!r:.80} is defined twice", offset, CLAUSE)
        self.named[full_name] = kind
        return kind


def _bare(name: str) -> Primitive:
    return _BARE[name]


_BARE = {name: Primitive(cast(PrimitiveName, name)) for name in PRIMITIVES}


def _full_name(name: str, namespace: str) -> str:
    return name if "." in name or not namespace else f"{namespace}.{name}"


def _name(known: Mapping[str, Member], offset: int, namespace: str) -> str:
    """Return the full name of a named type."""
    name = _text(_required(known, "name", offset))
    if "namespace" in known:
        namespace = _text(known["namespace"])
    if not name.rpartition(".")[2]:
        raise DecodeError("a type has an empty name", offset, CLAUSE)
    return _full_name(name, namespace)


def _required(known: Mapping[str, Member], name: str, offset: int) -> Member:
    member = known.get(name)
    if member is None:
        raise DecodeError(f"the member {name!r} is missing", offset, CLAUSE)
    return member


def _text(member: Member) -> str:
    if not isinstance(member.value, str):
        problem = f"{member.name!r:.40} is {json_kind(member.value)}, not a string"
        raise DecodeError(problem, member.start, CLAUSE)
    return member.value


def _list(member: Member) -> JsonArray:
    if not isinstance(member.value, JsonArray):
        problem = f"{member.name!r:.40} is {json_kind(member.value)}, not an array"
        raise DecodeError(problem, member.start, CLAUSE)
    return member.value


def _number(member: Member, end: int) -> int:
    value = member.value
    if isinstance(value, Number) and value.is_integer and value.digits <= _MAX_DIGITS:
        number = int(value.text)
        if 0 <= number < end:
            return number
    raise DecodeError(f"{member.name!r:.40} is not a number below {end}", member.start, CLAUSE)


def _attributes(known: Mapping[str, Member]) -> Attributes:
    found = {
        name: member.value
        for name, member in known.items()
        if name.startswith("connect.") or name in _KEPT
    }
    return MappingProxyType(found) if found else NO_ATTRIBUTES


def _parameters(member: Member | None) -> Mapping[str, str]:
    if member is None or not isinstance(member.value, JsonObject):
        return NO_PARAMETERS
    return MappingProxyType(
        {each.name: each.value for each in member.value.members if isinstance(each.value, str)}
    )


def _decimal(known: Mapping[str, Member]) -> DecimalSize | None:
    """Return the logical type decimal. As Avro demands, one that is not valid is ignored."""
    logical = known.get("logicalType")
    if logical is None or logical.value != "decimal":
        return None
    sizes = []
    for name, least in (("precision", 1), ("scale", 0)):
        member = known.get(name)
        if member is None and name == "scale":
            sizes.append(0)
            continue
        value = None if member is None else member.value
        if not isinstance(value, Number) or not value.is_integer or value.digits > 9:
            return None
        if int(value.text) < least:
            return None
        sizes.append(int(value.text))
    return DecimalSize(*sizes)


def plain_default(value: JsonValue) -> Default:
    """Return the JSON of a default as plain Python values."""
    match value:
        case Number() if value.is_integer and value.digits <= _MAX_DIGITS:
            return int(value.text)
        case Number(text):
            return float(text)
        case JsonArray(items):
            return [plain_default(item) for item in items]
        case JsonObject(members):
            return {member.name: plain_default(member.value) for member in members}
        case _:
            return value
