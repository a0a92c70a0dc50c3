"""Connect's schemas as values: a schema says the type of every value of a message.

``MadeOfSchemas`` finds values made of a schema by the schema object itself and not by its content.
To compare two schemas takes longer than to read a row. Those of a feed come again as the same
objects (``cdcwire.connect.envelope`` remembers them), so identity is enough.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from dataclasses import field as dataclass_field
from typing import Any, Generic, Literal, TypeAlias, TypeVar

from cdcwire.core.strict_json import JsonRules

ConnectType: TypeAlias = Literal[
    "int8",
    "int16",
    "int32",
    "int64",
    "float",
    "double",
    "boolean",
    "string",
    "bytes",
    "array",
    "map",
    "struct",
]

# A value as Connect has it: None, int, float, bool, str, bytes, Decimal; an array is a tuple, a map
# a tuple of pairs, a struct a tuple of values parallel to the schema's fields.
ConnectValue: TypeAlias = Any

RULES = JsonRules(
    text_clause="connect: json text",
    string_clause="connect: strings",
    limits_clause="connect: limits",
    max_depth=64,
)
LOOSE_RULES = replace(RULES, replaces_ill_formed=True)  # of a producer that sends any bytes
MAX_SCHEMA_DEPTH = 24  # each level of a schema is two of its JSON

TIDB_TYPE = "tidb_type"  # the type of a column, which TiCDC adds; kept as a parameter
INT_BITS: dict[str, int] = {"int8": 8, "int16": 16, "int32": 32, "int64": 64}
PRIMITIVES = frozenset((*INT_BITS, "float", "double", "boolean", "string", "bytes"))


class NoDefault:
    """The default of a schema that has none; there is one such value."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "NO_DEFAULT"

    def __reduce__(self) -> str:
        return "NO_DEFAULT"


NO_DEFAULT = NoDefault()


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a struct."""

    name: str
    schema: Schema


@dataclass(frozen=True, slots=True)
class Schema:
    """One schema object. ``fields``, ``items``, ``keys`` and ``values`` belong to their types."""

    type: ConnectType
    optional: bool = False
    name: str | None = None
    version: int | None = None
    doc: str | None = None
    parameters: tuple[tuple[str, str], ...] | None = None
    default: ConnectValue = dataclass_field(default=NO_DEFAULT, compare=False)
    fields: tuple[Field, ...] = ()
    items: Schema | None = None
    keys: Schema | None = None
    values: Schema | None = None
    # Compared in place of the default: 0.0 and -0.0 are equal, and are written differently.
    default_text: str = dataclass_field(init=False, repr=False)
    default_size: int = dataclass_field(default=0, compare=False, repr=False, kw_only=True)
    """The bytes of the default as it was read, with those that defaults inside it add."""
    # The place of each field by its name, made when it is first needed.
    _places: dict[str, int] | None = dataclass_field(
        default=None, init=False, compare=False, repr=False
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "default_text", repr(self.default))

    @property
    def has_default(self) -> bool:
        """True if the schema declares a default value."""
        return self.default is not NO_DEFAULT

    def parameter(self, name: str) -> str | None:
        """Return the text of a parameter; None if the schema does not have it."""
        return next((text for known, text in self.parameters or () if known == name), None)

    def index(self, name: str) -> int | None:
        """Return the place of a field of this name; None if the struct has none."""
        places = self._places
        if places is None:
            places = {}
            for place, field in enumerate(self.fields):
                places.setdefault(field.name, place)
            object.__setattr__(self, "_places", places)
        return places.get(name)

    def field(self, name: str) -> Schema | None:
        """Return the schema of the field of this name; None if the struct has none."""
        place = self.index(name)
        return None if place is None else self.fields[place].schema


Made = TypeVar("Made")
_MAX_KEPT = 512


class MadeOfSchemas(Generic[Made]):
    """The values that ``make`` returns for a schema and a text."""

    def __init__(self, make: Callable[[Schema, str], Made]) -> None:
        self.make = make
        # The schema is kept, so that its number is no other's.
        self.kept: dict[tuple[int, str], tuple[Schema, Made]] = {}

    def get(self, schema: Schema, text: str = "") -> Made:
        """Return the value kept for this schema object and text; make it if there is none."""
        found = self.kept.get((id(schema), text))
        if found is not None:
            return found[1]
        made = self.make(schema, text)
        if len(self.kept) >= _MAX_KEPT:
            self.kept.clear()
        self.kept[id(schema), text] = schema, made
        return made
