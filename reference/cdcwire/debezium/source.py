"""Reading ``source`` by the declaration of its connector (``connectors``).

``source_in`` finds one in the bytes of Avro, whose texts are plain after their lengths.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

from cdcwire.connect import Schema
from cdcwire.connect.fields import Fields
from cdcwire.connect.schema import MadeOfSchemas
from cdcwire.core.strict_json import JsonObject, Number
from cdcwire.debezium.connectors import GENERAL, TEXT_PLACES, Member, SourceOf, source_of
from cdcwire.debezium.message import Source
from cdcwire.model.events import Table

CLAUSE = "debezium-json: source"
CONNECTORS_CLAUSE = "debezium-json: connectors"
_COMMON = (
    Member("sequence", "string", "sequence"),
    Member("ts_us", "int64", "source_ts_us"),
    Member("ts_ns", "int64", "source_ts_ns"),
)
_NATURAL = re.compile(r"0|[1-9][0-9]{0,19}", re.ASCII)


class Place(NamedTuple):
    """Where the value of a member goes.

    ``types``: of Python's values that it may have. A value of another type is an error where the
    connector declares the member; else the member has another meaning, and is not read. An unsigned
    number from 2^63 on has no integer of Connect: without a schema it is a Decimal.
    """

    at: int
    name: str
    place: str
    in_position: bool
    is_text: bool
    types: tuple[type, ...]
    is_declared: bool
    is_unsigned: bool


def places_of(schema: Schema, connector: str) -> tuple[Place, ...]:
    """Return where the members of a source go, by the declaration of its connector."""
    source = source_of(connector)
    found = []
    for index, field in enumerate(schema.fields):
        members = [m for m in (*_COMMON, *source.members) if m.name == field.name]
        is_declared = bool(members) and source.is_known
        members = members or [m for m in GENERAL.members if m.name == field.name]
        if not members or not members[0].place:
            continue
        types: set[type] = {str if member.type == "string" else int for member in members}
        if not is_declared:
            types = {str, int}
        is_unsigned = is_declared and members[0].is_unsigned
        if is_unsigned:
            types.add(Decimal)
        place = members[0].place
        in_position = members[0].in_position
        is_text = place in TEXT_PLACES or not in_position
        kinds = tuple(sorted(types, key=str))
        found.append(
            Place(index, field.name, place, in_position, is_text, kinds, is_declared, is_unsigned)
        )
    return tuple(found)


_PLACES = MadeOfSchemas(places_of)


def read_source(fields: Fields, *, has_table: bool = True) -> Source:
    """Return the source of a change. ``has_table``: it names its table. Raises: DecodeError."""
    source = fields.struct("source")
    source.clause = CLAUSE
    connector = source.optional_text("connector")
    if connector is None:
        problem = "connector is required: producer=any reads changes of other producers"
        raise source.error(problem, "connector")
    if connector == "mongodb":
        problem = "a change of MongoDB's connector, which has documents, not rows"
        raise source.error(problem, "connector", CONNECTORS_CLAUSE)
    declared = source_of(connector)
    place: dict[str, int | str] = {}
    extra: dict[str, str] = {}
    values = source.values
    for each in _PLACES.get(source.schema, connector):
        value = values[each.at]
        if value is None:
            continue
        if type(value) not in each.types:
            if each.is_declared:
                kind = "an integer" if int in each.types else "a string"
                raise source.error(f"{each.name} is not {kind}", each.name)
            continue
        if each.is_unsigned:
            value = _unsigned(source, each.name, str(value))
        assert isinstance(value, (int, str))
        if each.in_position:
            if each.is_text:
                place[each.place] = str(value)
            elif isinstance(value, int):
                place[each.place] = value
        else:
            extra[each.place] = str(value)
    if declared.has_undeclared:
        _read_undeclared(source, declared, place, extra)
    is_by_keyspace = declared.schema_member == "keyspace" and not source.has("schema")
    schema = source.text("keyspace") if is_by_keyspace else source.optional_text("schema")
    return Source(
        source.text("version"),
        connector,
        source.text("name"),
        source.integer("ts_ms"),
        source.optional_text("snapshot"),
        source.text("db"),
        schema or "",
        source.text("table") if has_table else source.optional_text("table") or "",
        place,
        extra,
    )


def is_of_other_producer(fields: Fields) -> bool:
    """Return whether a payload is a change whose source, if any, names no connector."""
    if not fields.has("op"):
        return False
    source = fields.optional_struct("source")
    return source is None or source.get("connector") is None


def read_any_source(fields: Fields, tables: tuple[Table, ...]) -> Source:
    """Return the source of a change of any producer: it may be missing, or have few members.

    A table that it does not name is the only definition. Raises: DecodeError.
    """
    empty = Fields(Schema("struct"), (), CLAUSE, fields.origin, ("source",))
    source = fields.optional_struct("source") or empty
    source.clause = CLAUSE
    table, schema = source.optional_text("table"), source.optional_text("schema")
    db = source.optional_text("db")
    if table is None and len(tables) == 1:
        table, schema, db = tables[0].name, tables[0].schema, tables[0].database
    if table is None:
        problem = "the table of this change is not known: give its definition, and only that one"
        raise fields.error(problem, "source", CLAUSE)
    return Source(
        source.optional_text("version") or "",
        "",
        source.optional_text("name") or "",
        source.optional_integer("ts_ms"),
        source.optional_text("snapshot"),
        db or "",
        schema or "",
        table,
        {},
        {},
    )


def _read_undeclared(
    source: Fields, declared: SourceOf, place: dict[str, int | str], extra: dict[str, str]
) -> None:
    """Read the members that the payload has, but not the schema."""
    payload = source.origin.parsed.json
    found = payload.get("source") if isinstance(payload, JsonObject) else None
    if found is None or not isinstance(found.value, JsonObject):
        return
    for member in declared.members:
        sent = found.value.get(member.name)
        if not member.place or sent is None or source.has(member.name):
            continue
        if member.type == "string" and isinstance(sent.value, str):
            extra[member.place] = sent.value
        elif isinstance(sent.value, Number) and sent.value.is_integer:
            place[member.place] = _unsigned(source, member.name, sent.value.text)
        elif sent.value is not None:
            kind = "a string" if member.type == "string" else "an integer"
            raise source.error(f"{member.name} is not {kind}", member.name)


def _unsigned(source: Fields, name: str, text: str) -> int:
    """Return an unsigned integer of 64 bits. Raises: DecodeError for any other number."""
    if not _NATURAL.fullmatch(text) or int(text) >> 64:
        raise source.error(f"{name} is {text:.40}, not an unsigned integer of 64 bits", name)
    return int(text)


def table_named(source: Source, key: tuple[str, ...] | None = None) -> Table:
    """Return the table of a source. MySQL's database is the schema, as everywhere here.

    CDL's source has a schema for all databases: there it is the schema, and ``db`` is above it.
    """
    declared = source_of(source.connector)
    has_database = declared.has_database or declared.schema_member == "db"
    database = (source.db or None) if has_database and source.schema else None
    return Table(source.table, source.schema or source.db or None, database, key=key)


def table_of_json(source: JsonObject) -> tuple[str | None, str | None]:
    """Return schema and name of the table of a source without schema, as far as it has them."""
    names = ("connector", "db", "schema", "keyspace", "table")
    found = {name: member.value for name in names if (member := source.get(name)) is not None}
    texts = {name: value if isinstance(value, str) else "" for name, value in found.items()}
    declared = source_of(texts.get("connector", ""))
    keyspace = texts.get("keyspace") if declared.schema_member == "keyspace" else None
    return keyspace or texts.get("schema") or texts.get("db") or None, texts.get("table")


def warnings_of(source: Source) -> list[str]:
    """Return the warning that names a connector without a declaration."""
    if source_of(source.connector).is_known:
        return []
    problem = (
        f"connector {source.connector!r:.40} is not known: its source is read by general rules"
    )
    return [f"{problem} ({CONNECTORS_CLAUSE})"]


_VERSION = rb"([0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}\.(?:Final|Alpha[0-9]|Beta[0-9]|CR[0-9]))"
_CONNECTORS = rb"([A-Za-z][A-Za-z0-9_-]{2,30})"
_SOURCE = re.compile(rb"([\x10-\x3e])" + _VERSION + rb"([\x06-\x3e])" + _CONNECTORS)


@dataclass(frozen=True, slots=True)
class FoundSource:
    """A version and a connector in the bytes of a datum, and where the version begins."""

    version: str
    connector: str
    offset: int


def source_in(data: bytes) -> FoundSource | None:
    """Return the first source that a datum has: two texts with their lengths, one after another."""
    for found in _SOURCE.finditer(data):
        version, size = found.group(2), found.group(3)[0] // 2
        connector = found.group(4)[:size]
        if found.group(1)[0] == 2 * len(version) and len(connector) == size:
            return FoundSource(version.decode(), connector.decode(), found.start())
    return None
