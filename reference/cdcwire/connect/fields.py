"""Members of a message by name, with errors for members that are missing or of another type.

The members of a Kafka key are the image of a row: ``image_of_key``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from cdcwire.connect.bounds import DEFINITIONS, ConversionError
from cdcwire.connect.definitions import sent_form
from cdcwire.connect.envelope import Envelope, Parsed, parse
from cdcwire.connect.logical import image_of
from cdcwire.connect.schema import ConnectValue, Field, MadeOfSchemas, Schema
from cdcwire.connect.schemaless import inferred_schema
from cdcwire.connect.settings import ConnectSettings
from cdcwire.connect.values import Reading, read_value
from cdcwire.core.errors import DecodeError, TruncatedError, step
from cdcwire.core.limits import MAX_DECIMAL_DIGITS
from cdcwire.core.strict_json import JsonObject, JsonValue, Number
from cdcwire.model.events import Image, Path, Table
from cdcwire.model.slotted import slotted

_BOOLEANS = ("boolean", "struct")  # types that are booleans, or may have some


def _places(schema: Schema, _text: str) -> dict[str, int]:
    return {field.name: index for index, field in enumerate(schema.fields)}


_PLACES = MadeOfSchemas(_places)


@slotted(frozen=True, slots=True)
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
    data: bytes,
    part: str,
    settings: ConnectSettings,
    other_keys: str = "StringConverter is not read",
    *,
    is_loose: bool = False,
) -> Parsed:
    """Return the envelope of a message's key or value. Raises: TruncatedError, DecodeError.

    ``other_keys``: what the error says of a key that is not an object. ``is_loose``: the part may
    be an object of ``payload`` alone, and its schema may have what JsonConverter never writes.
    """
    with step(part):
        try:
            null_is_default = settings.null_is_default and part == "value"
            digits = settings.max_decimal_digits
            return parse(data, settings.schemas_enable, null_is_default, digits, is_loose=is_loose)
        except DecodeError as error:
            if part == "key" and data[:1] != b"{" and not isinstance(error, TruncatedError):
                problem = f"{error.problem} (JsonConverter writes an object; {other_keys})"
                raise DecodeError(problem, error.offset, error.clause, error.path) from error
            raise


def typed(
    origin: Origin,
    images: Mapping[str, Schema],
    max_decimal_digits: int = MAX_DECIMAL_DIGITS,
) -> tuple[Envelope, Origin]:
    """Return an envelope with a schema in any case: its own, or what the payload shows.

    ``images``: structs of members of the payload, known from elsewhere. A column that only one of
    payload and struct has is absent, or has the type that its value shows. The returned origin has
    a warning of the latter. Raises: DecodeError.
    """
    parsed = origin.parsed
    envelope = parsed.envelope
    if envelope.schema is not None:
        return envelope, origin
    schema = inferred_schema(parsed.json)
    members = parsed.json.by_name if isinstance(parsed.json, JsonObject) else {}
    reading = Reading(max_decimal_digits=max_decimal_digits)
    reading.warnings += parsed.warnings
    fields = tuple(
        Field(
            field.name,
            _as_sent(images[field.name], members[field.name].value, reading.warnings),
        )
        if field.name in images
        else field
        for field in schema.fields
    )
    schema = Schema(schema.type, True, fields=fields, items=schema.items)
    json = parsed.json
    if isinstance(json, JsonObject):
        json = _with_booleans(json, images)
    with step(origin.part, *(("payload",) if envelope.wrapped else ())):
        payload = read_value(schema, json, parsed.start, parsed.end, reading)
    origin = replace(origin, parsed=replace(parsed, warnings=tuple(reading.warnings)))
    return Envelope(schema, payload, envelope.wrapped), origin


def _as_sent(struct: Schema, row: JsonValue, warnings: list[str]) -> Schema:
    """Return the struct of the columns that a row has, in the order of its definition."""
    if not isinstance(row, JsonObject) or struct.type != "struct":
        return sent_form(struct, row)
    sent = row.by_name
    forms = [
        sent_form(field.schema, sent[field.name].value) if field.name in sent else field.schema
        for field in struct.fields
    ]
    if any(form is not field.schema for form, field in zip(forms, struct.fields, strict=True)):
        names = (field.name for field in struct.fields)
        struct = replace(struct, fields=tuple(map(Field, names, forms)))
    unknown = [name for name in sent if struct.field(name) is None]
    if not unknown and len(sent) == len(struct.fields):
        return struct  # the same object, so that what is known of it is found again
    warnings.extend(
        f"column {name!r:.40} is not in the definition ({DEFINITIONS})" for name in unknown
    )
    known = (field for field in struct.fields if field.name in sent)
    shown = (Field(name, inferred_schema(sent[name].value)) for name in unknown)
    return replace(struct, fields=(*known, *shown))


def _with_booleans(row: JsonObject, columns: Mapping[str, Schema]) -> JsonObject:
    """Return a row with false and true for 0 and 1, where a definition has a boolean.

    MySQL's booleans are integers of 8 bits, and most of its connectors send them so.
    """
    members = tuple(
        member._replace(value=_boolean(member.value, columns[member.name]))
        if member.name in columns
        else member
        for member in row.members
    )
    return JsonObject(members, {member.name: member for member in members})


def _boolean(value: JsonValue, schema: Schema) -> JsonValue:
    if isinstance(value, JsonObject) and schema.type == "struct":
        shown = {each.name: each.schema for each in schema.fields if each.schema.type in _BOOLEANS}
        return _with_booleans(value, shown) if shown else value
    if isinstance(value, Number) and schema.type == "boolean" and value.text in ("0", "1"):
        return value.text == "1"
    return value


def definition_of(
    tables: tuple[Table, ...], schema: JsonValue, name: JsonValue, origin: Origin
) -> tuple[Table | None, Origin]:
    """Return the definition of a table; None if there is none.

    Where others are given, the origin that is returned has a warning of that.
    """
    if not isinstance(name, str):
        return None, origin
    for table in tables:
        if table.columns is not None and (table.schema, table.name) == (schema, name):
            return table, origin
    if not tables:
        return None, origin
    shown = f"{schema}.{name}" if isinstance(schema, str) else name
    alike = [table for table in tables if table.name == name]
    problem = f"there is no definition of table {shown!r:.80}"
    if alike:
        other = "no schema" if alike[0].schema is None else f"schema {alike[0].schema!r:.40}"
        problem = f"{problem}: that of {name!r:.40} has {other}"
    warnings = (*origin.parsed.warnings, f"{problem} ({DEFINITIONS})")
    return None, replace(origin, parsed=replace(origin.parsed, warnings=warnings))


def image_of_key(parsed: Parsed) -> Image | None:
    """Return the columns of a key; None for one that is not a struct of columns.

    Without a schema the values show their types. Raises: DecodeError.
    """
    origin = Origin("key", parsed)
    envelope, _ = typed(origin, {})
    if envelope.schema is None or envelope.schema.type != "struct":
        return None
    if not isinstance(envelope.payload, tuple):
        return None
    try:
        return image_of(envelope.schema, envelope.payload, "")
    except ConversionError as error:
        raise origin.error(error.problem, error.clause, error.path) from error
