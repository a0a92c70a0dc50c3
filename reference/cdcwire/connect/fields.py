"""Members of a message by name, with the errors of what is missing or of another type."""

from __future__ import annotations

from dataclasses import dataclass

from cdcwire.connect.envelope import Envelope, Parsed, SchemasEnable, parse
from cdcwire.connect.identity import MadeOfSchemas
from cdcwire.connect.schema import ConnectValue, Field, Schema
from cdcwire.connect.schemaless import inferred_schema
from cdcwire.connect.values import read_value
from cdcwire.core.errors import DecodeError, Path, step


def _places(schema: Schema, _text: str) -> dict[str, int]:
    return {field.name: index for index, field in enumerate(schema.fields)}


_PLACES = MadeOfSchemas(_places)


@dataclass(frozen=True, slots=True)
class Origin:
    """The bytes that a payload was read from: the part of the message, and its JSON."""

    part: str
    parsed: Parsed

    def error(self, problem: str, clause: str, path: Path = ()) -> DecodeError:
        """Return the error of the payload's value at ``path``."""
        within = ("payload", *path) if self.parsed.envelope.wrapped else path
        return DecodeError(problem, self.parsed.locate(path), clause, (self.part, *within))


class Fields:
    """The fields of one struct of a payload; ``path`` leads to it."""

    __slots__ = ("clause", "origin", "path", "places", "schema", "values")

    def __init__(
        self,
        schema: Schema | None,
        values: ConnectValue,
        clause: str,
        origin: Origin,
        path: Path = (),
    ) -> None:
        if schema is None or schema.type != "struct" or not isinstance(values, tuple):
            raise origin.error("an object is expected", clause, path)
        self.schema = schema
        self.values = values
        self.clause = clause
        self.origin = origin
        self.path = path
        self.places = _PLACES.get(schema)

    def error(self, problem: str, name: str, clause: str | None = None) -> DecodeError:
        """Return the error of a field; ``clause`` defaults to the clause of the struct."""
        return self.origin.error(problem, clause or self.clause, (*self.path, name))

    def has(self, name: str) -> bool:
        """Return whether the struct has a field of this name, NULL or not."""
        return name in self.places

    def get(self, name: str) -> ConnectValue:
        """Return a field's value; None if there is no such field."""
        place = self.places.get(name)
        return None if place is None else self.values[place]

    def optional_text(self, name: str) -> str | None:
        """Return a field's text; None if it is NULL or missing.

        Raises: DecodeError for a value of another type.
        """
        value = self.get(name)
        if value is not None and not isinstance(value, str):
            raise self.error(f"{name} is not a string", name)
        return value

    def text(self, name: str) -> str:
        """Return a field's text. Raises: DecodeError if it is NULL, missing or of another type."""
        value = self.optional_text(name)
        if value is None:
            raise self.error(f"{name} is required", name)
        return value

    def optional_integer(self, name: str) -> int | None:
        """Return a field's integer; None if it is NULL or missing.

        Raises: DecodeError for a value of another type.
        """
        value = self.get(name)
        if value is not None and (not isinstance(value, int) or isinstance(value, bool)):
            raise self.error(f"{name} is not an integer", name)
        return value

    def integer(self, name: str) -> int:
        """Return a field's integer.

        Raises: DecodeError if it is NULL, missing or of another type.
        """
        value = self.optional_integer(name)
        if value is None:
            raise self.error(f"{name} is required", name)
        return value

    def schema_of(self, name: str) -> Schema | None:
        """Return a field's schema; None if there is no such field."""
        place = self.places.get(name)
        return None if place is None else self.schema.fields[place].schema

    def optional_struct(self, name: str) -> Fields | None:
        """Return the fields of a nested struct; None if it is NULL or missing.

        Raises: DecodeError for a value of another type.
        """
        value = self.get(name)
        if value is None:
            return None
        path = (*self.path, name)
        return Fields(self.schema_of(name), value, self.clause, self.origin, path)

    def struct(self, name: str) -> Fields:
        """Return the fields of a nested struct.

        Raises: DecodeError if it is NULL, missing or of another type.
        """
        found = self.optional_struct(name)
        if found is None:
            raise self.error(f"{name} is required", name)
        return found


def read_part(
    data: bytes, part: str, schemas_enable: SchemasEnable, null_is_default: bool = False
) -> Parsed:
    """Return the envelope of a message's key or value. Raises: TruncatedError, DecodeError."""
    with step(part):
        return parse(data, schemas_enable, null_is_default)


def typed(origin: Origin, images: dict[str, Schema]) -> Envelope:
    """Return an envelope with a schema in any case: its own, or what the payload shows.

    ``images``: schemas of members of the payload, known from elsewhere. Raises: DecodeError.
    """
    parsed = origin.parsed
    envelope = parsed.envelope
    if envelope.schema is not None:
        return envelope
    schema = inferred_schema(parsed.json)
    fields = tuple(
        Field(field.name, images.get(field.name, field.schema)) for field in schema.fields
    )
    schema = Schema(schema.type, True, fields=fields, items=schema.items)
    with step(origin.part, *(("payload",) if envelope.wrapped else ())):
        payload = read_value(schema, parsed.json, parsed.start, parsed.end)
    return Envelope(schema, payload, envelope.wrapped)
