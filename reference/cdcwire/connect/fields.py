"""Members of a message by name, with the errors of what is missing or of another type.

Errors have no offset: who knows the place of the payload puts it in (``located``).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from cdcwire.connect.envelope import Envelope, Parsed, SchemasEnable, parse
from cdcwire.connect.identity import MadeOfSchemas
from cdcwire.connect.schema import ConnectValue, Field, Schema
from cdcwire.connect.schemaless import inferred_schema
from cdcwire.connect.values import read_value
from cdcwire.core.errors import DecodeError, Path, step

NO_OFFSET = -1


def _places(schema: Schema, _text: str) -> dict[str, int]:
    return {field.name: index for index, field in enumerate(schema.fields)}


_PLACES = MadeOfSchemas(_places)


class Fields:
    """The fields of one struct."""

    __slots__ = ("clause", "path", "places", "schema", "values")

    def __init__(
        self, schema: Schema | None, values: ConnectValue, clause: str, path: Path = ()
    ) -> None:
        if schema is None or schema.type != "struct" or not isinstance(values, tuple):
            raise DecodeError("an object is expected", NO_OFFSET, clause, path)
        self.schema = schema
        self.values = values
        self.clause = clause
        self.path = path
        self.places = _PLACES.get(schema)

    def error(self, problem: str, name: str, clause: str | None = None) -> DecodeError:
        return DecodeError(problem, NO_OFFSET, clause or self.clause, (*self.path, name))

    def has(self, name: str) -> bool:
        """Return whether the struct has a field of this name, NULL or not."""
        return name in self.places

    def get(self, name: str) -> ConnectValue:
        """Return a field's value; None if there is no such field."""
        place = self.places.get(name)
        return None if place is None else self.values[place]

    def optional_text(self, name: str) -> str | None:
        value = self.get(name)
        if value is not None and not isinstance(value, str):
            raise self.error(f"{name} is not a string", name)
        return value

    def text(self, name: str) -> str:
        value = self.optional_text(name)
        if value is None:
            raise self.error(f"{name} is required", name)
        return value

    def optional_integer(self, name: str) -> int | None:
        value = self.get(name)
        if value is not None and (not isinstance(value, int) or isinstance(value, bool)):
            raise self.error(f"{name} is not an integer", name)
        return value

    def integer(self, name: str) -> int:
        value = self.optional_integer(name)
        if value is None:
            raise self.error(f"{name} is required", name)
        return value

    def schema_of(self, name: str) -> Schema | None:
        place = self.places.get(name)
        return None if place is None else self.schema.fields[place].schema

    def optional_struct(self, name: str) -> Fields | None:
        value = self.get(name)
        if value is None:
            return None
        return Fields(self.schema_of(name), value, self.clause, (*self.path, name))

    def struct(self, name: str) -> Fields:
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


def typed(parsed: Parsed, images: dict[str, Schema]) -> Envelope:
    """Return an envelope with a schema in any case: its own, or what the payload shows.

    ``images``: schemas of members of the payload, known from elsewhere. Raises: DecodeError.
    """
    if parsed.envelope.schema is not None:
        return parsed.envelope
    schema = inferred_schema(parsed.json)
    fields = tuple(
        Field(field.name, images.get(field.name, field.schema)) for field in schema.fields
    )
    schema = Schema(schema.type, True, fields=fields, items=schema.items)
    try:
        payload = read_value(schema, parsed.json, parsed.start, parsed.end)
    except DecodeError as error:
        error.offset = NO_OFFSET  # the path leads there, and who knows the part tells it
        raise
    return Envelope(schema, payload, parsed.envelope.wrapped)


@contextmanager
def located(parsed: Parsed, part: str) -> Iterator[None]:
    """Give the errors of a payload their place and the path from the message's part."""
    try:
        yield
    except DecodeError as error:
        if error.offset == NO_OFFSET:
            error.offset = parsed.locate(error.path)
            within = ("payload", *error.path) if parsed.envelope.wrapped else error.path
            error.path = (part, *within)
        raise


@contextmanager
def events_located(value: bytes | None, schemas_enable: SchemasEnable) -> Iterator[None]:
    """Give the errors of events their place in the message's value that they come from."""
    try:
        yield
    except DecodeError as error:
        if error.offset == NO_OFFSET and value is not None:
            with located(read_part(value, "value", schemas_enable), "value"):
                raise
        raise
