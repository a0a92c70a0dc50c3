"""The parts that every Avro library needs to read TiCDC: envelope, schema, columns, events.

A reader is a function ``read(datum)``. It returns the record of a datum as a mapping from field
names to the library's values. Nothing here looks into the binary encoding. This module does the
rest for all libraries alike, as their users have to:

- key and value each name their schema in an envelope, of Confluent or of Glue; a null value is a
  delete, whose columns are those of the key;
- what a column is stands in ``connect.parameters`` of its field's type, which libraries pass over;
- the fields of the extension are distinguished from columns by their name and their bare type;
- a BIGINT UNSIGNED in a long is wrapped, BIT is a number in bytes.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Any, TypeAlias

from avro_data import JsonObject, Read, Record, datum_of
from testee import Message

Row: TypeAlias = "tuple[Shape, Record]"

# DDL and checkpoints are the producer's own bytes, behind no schema; arrays, maps and other unions
# are in no row of TiCDC.
WITHOUT = ("ddl", "checkpoint", "foreign types")

POSITION_FIELDS = {"commit_ts": "_tidb_commit_ts", "commit_ms": "_tidb_commit_physical_time"}
EXTRA_FIELDS = {
    "checksum": "_tidb_row_level_checksum",
    "corrupted": "_tidb_corrupted",
    "checksum_version": "_tidb_checksum_version",
}
EXTENSION_FIELDS = {"_tidb_op", *POSITION_FIELDS.values(), *EXTRA_FIELDS.values()}
BEFORE_FIELD = "_ticdc_before"
OPERATIONS = {"c": "insert", "u": "update", "d": "delete", "": "upsert"}


@dataclass(frozen=True)
class Field:
    """A field of a record: ``parameters`` is ``connect.parameters`` of its type, empty if bare."""

    name: str
    parameters: Mapping[str, str]

    @property
    def tidb_type(self) -> str:
        return self.parameters.get("tidb_type", "")

    @property
    def is_column(self) -> bool:
        is_extension = self.name in EXTENSION_FIELDS and not self.parameters
        return not is_extension and self.name != BEFORE_FIELD


@dataclass(frozen=True)
class Shape:
    """The content of a schema in addition to the names of its fields."""

    table: str
    schema: str | None
    fields: tuple[Field, ...]
    before: tuple[Field, ...] = ()

    @property
    def column_names(self) -> list[str]:
        return [field.name for field in self.fields if field.is_column]


@lru_cache(maxsize=256)
def shape_of(text: str) -> Shape:
    """Return the shape of a schema. Raises: ValueError, KeyError, TypeError for a bad text."""
    record = json.loads(text)
    namespace, _, name = record["name"].rpartition(".")
    parts = (namespace or record.get("namespace", "")).split(".")  # a full name goes first
    before: tuple[Field, ...] = ()
    for field in record["fields"]:
        if field["name"] == BEFORE_FIELD:
            (old,) = (branch for branch in field["type"] if branch != "null")
            before = _fields_of(old)
    schema = parts[1] if len(parts) > 1 else None
    return Shape(name, schema, _fields_of(record), before)


def _fields_of(record: JsonObject) -> tuple[Field, ...]:
    return tuple(Field(each["name"], _parameters_of(each["type"])) for each in record["fields"])


def _parameters_of(kind: Any) -> Mapping[str, str]:
    branches = kind if isinstance(kind, list) else [kind]
    found = [branch for branch in branches if isinstance(branch, dict)]
    return found[0].get("connect.parameters", {}) if len(found) == 1 else {}


def decoder(read: Read) -> Callable[[Message, JsonObject], Iterator[JsonObject]]:
    """Return the function that ``testee.serve`` wants, made of a reader."""

    def decode(message: Message, request: JsonObject) -> Iterator[JsonObject]:
        schemas = request.get("schemas", {})
        registry = request.get("options", {}).get("registry", "confluent")
        key = value = None
        if message.key is not None:
            key = datum_of(message.key, schemas, registry)
        if message.value is not None:
            value = datum_of(message.value, schemas, registry)
        yield event_of(
            (shape_of(key.schema), read(key)) if key else None,
            (shape_of(value.schema), read(value)) if value else None,
        )

    return decode


def event_of(key: Row | None, value: Row | None) -> JsonObject:
    """Return the event of a message, from the records of its key and value. Raises: ValueError."""
    row = value or key
    if row is None:
        raise ValueError("a message has a key or a value")
    shape, record = row
    columns = {
        field.name: value_of(field, record[field.name]) for field in shape.fields if field.is_column
    }
    event: dict[str, Any] = {
        "kind": "row",
        "op": "delete",
        "schema": shape.schema,
        "table": shape.table,
        "key": key[0].column_names if key else [],
        "before": None,
        "after": None,
    }
    if value is None:
        event["before"] = columns
        return event
    extension = {field.name: record[field.name] for field in shape.fields if not field.is_column}
    operation = extension.get("_tidb_op", "")
    if operation not in OPERATIONS:
        raise ValueError(f"_tidb_op is {operation!r}")
    event["op"] = OPERATIONS[operation]
    event["before" if event["op"] == "delete" else "after"] = columns
    old = extension.get(BEFORE_FIELD)
    if old is not None and event["op"] in ("update", "upsert"):
        event["before"] = {each.name: value_of(each, old[each.name]) for each in shape.before}
    event["position"] = _texts(extension, POSITION_FIELDS)
    event["extra"] = _texts(extension, EXTRA_FIELDS)
    return event


def _texts(extension: Record, names: Mapping[str, str]) -> JsonObject:
    """Return the extension's fields that the record has, under other names."""
    found = {name: extension[field] for name, field in names.items() if field in extension}
    return {name: str(value).lower() for name, value in found.items()}


def value_of(field: Field, cell: Any) -> Any:
    """Return what a library made of a value as a column of the testee protocol."""
    if cell is None:
        return None
    match cell:
        case bool():
            return "true" if cell else "false"
        case int() if field.tidb_type == "BIGINT UNSIGNED":
            return str(cell % 2**64)  # a long is signed: the producer wraps what is above
        case int() | float():
            return repr(cell)
        case Decimal():
            return format(cell, "f")
        case bytes() | bytearray() if field.tidb_type == "BIT":
            if not 1 <= len(cell) <= 8:
                raise ValueError(f"a BIT has 1 to 8 bytes, not {len(cell)}")
            return str(int.from_bytes(cell, "big"))
        case bytes() | bytearray():
            return {"bytes": base64.b64encode(cell).decode("ascii")}
        case str():
            return _text(field, cell)
    raise ValueError(f"{type(cell).__name__} is the value of no column")


def _text(field: Field, cell: str) -> Any:
    """Return a text; as bytes if a library left ill-formed UTF-8 in it as lone surrogates."""
    try:
        cell.encode("utf-8")
    except UnicodeEncodeError:
        if field.tidb_type != "TEXT":
            raise
        return {"bytes": base64.b64encode(cell.encode("utf-8", "surrogateescape")).decode("ascii")}
    return cell
