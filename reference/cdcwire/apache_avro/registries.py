"""Schema registries: the id before a datum, as each has it, and the request for a new schema.

Nothing here asks a registry.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import Literal, TypeAlias

from cdcwire.core.context import SchemaId
from cdcwire.core.errors import DecodeError, EncodeError, TruncatedError
from cdcwire.core.reader import Reader
from cdcwire.golang import compact_json

Registry: TypeAlias = Literal["confluent", "glue"]

CONFLUENT = "avro: envelope"
GLUE = "avro: glue envelope"
MAGIC = 0x00
GLUE_VERSION = 0x03
GLUE_NO_COMPRESSION = 0x00
CONFLUENT_BYTES = 5
GLUE_BYTES = 18
ID_OFFSETS: dict[Registry, int] = {"confluent": 1, "glue": 2}
_MAX_ID = (1 << 31) - 1


def read_envelope(reader: Reader, registry: Registry) -> SchemaId:
    """Read the envelope and return the id.

    Raises: DecodeError; TruncatedError where it is short.
    """
    if registry == "glue":
        return _read_glue(reader)
    start = reader.offset
    if reader.byte(CONFLUENT) != MAGIC:
        found = reader.data[start]
        hint = "; Glue's envelope begins so: option registry=glue" if found == GLUE_VERSION else ""
        problem = f"the magic byte is 0x{found:02x}, not 0x00{hint}"
        raise DecodeError(problem, start, CONFLUENT)
    reader.note(start, MAGIC, CONFLUENT, "magic")
    place = reader.offset
    _expect(reader, CONFLUENT_BYTES - 1, CONFLUENT)
    found = int.from_bytes(reader.take(CONFLUENT_BYTES - 1, CONFLUENT), "big", signed=True)
    reader.note(place, found, CONFLUENT, "schema_id")
    return found


def _read_glue(reader: Reader) -> SchemaId:
    start = reader.offset
    version = reader.byte(GLUE)
    if version != GLUE_VERSION:
        raise DecodeError(f"the header version is 0x{version:02x}, not 0x03", start, GLUE)
    reader.note(start, version, GLUE, "version")
    compression = reader.byte(GLUE)
    if compression != GLUE_NO_COMPRESSION:
        problem = f"the compression is 0x{compression:02x}, not 0x00 (none)"
        raise DecodeError(problem, start + 1, GLUE)
    reader.note(start + 1, compression, GLUE, "compression")
    place = reader.offset
    _expect(reader, GLUE_BYTES - 2, GLUE)
    found = str(uuid.UUID(bytes=reader.take(GLUE_BYTES - 2, GLUE)))
    reader.note(place, found, GLUE, "schema_id")
    return found


def _expect(reader: Reader, size: int, clause: str) -> None:
    if reader.left < size:
        problem = f"the schema's id has {size} bytes, {reader.left} are left"
        raise TruncatedError(problem, reader.end, clause)


def write_envelope(out: bytearray, schema_id: SchemaId) -> None:
    """Append the envelope of the registry whose kind of id it is. Raises: EncodeError."""
    if isinstance(schema_id, int):
        if not -_MAX_ID - 1 <= schema_id <= _MAX_ID:
            raise EncodeError(f"{schema_id} is not a number of 32 bits", CONFLUENT, ("schema_id",))
        out.append(MAGIC)
        out += schema_id.to_bytes(CONFLUENT_BYTES - 1, "big", signed=True)
        return
    try:
        raw = uuid.UUID(schema_id).bytes
    except ValueError:
        raise EncodeError(f"{schema_id!r:.60} is not a UUID", GLUE, ("schema_id",)) from None
    out += bytes((GLUE_VERSION, GLUE_NO_COMPRESSION))
    out += raw


MAX_SCHEMA_BYTES = 1 << 21
CONTENT_TYPE = "application/vnd.schemaregistry.v1+json"
ACCEPT = f"{CONTENT_TYPE}, application/vnd.schemaregistry+json, application/json"
_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~")


@dataclass(frozen=True, slots=True)
class Registration:
    """The request that registers a schema with Confluent's interface, as the producer sends it."""

    path: str
    body: bytes
    method: str = "POST"
    content_type: str = CONTENT_TYPE
    accept: str = ACCEPT


def registration(subject: str, text: str) -> Registration:
    """Return the request that registers a schema text. Source: avro, "registry"."""
    body = compact_json({"schema": text}).encode()
    return Registration(f"/subjects/{_query_escaped(subject)}/versions", body)


def _query_escaped(text: str) -> str:
    """Return text as the value of a URL's query: a space is a plus, other bytes are ``%HH``."""
    return "".join(
        chr(byte) if byte in _UNRESERVED else "+" if byte == 0x20 else f"%{byte:02X}"
        for byte in text.encode()
    )
