"""The id of a schema before a datum, in the form that each registry's converter writes."""

from __future__ import annotations

from collections.abc import Mapping

from cdcwire.apache_avro.registries import (
    CONFLUENT_BYTES,
    GLUE_BYTES,
    ID_OFFSETS,
    MAGIC,
    read_envelope,
    write_envelope,
)
from cdcwire.core.context import SchemaId
from cdcwire.core.errors import DecodeError, EncodeError, TruncatedError
from cdcwire.core.reader import Reader
from cdcwire.formats.debezium_avro.settings import Framing

CLAUSE = "debezium-avro: framing"
APICURIO_BYTES = 9
HEAD_BYTES: Mapping[Framing, int] = {
    "confluent": CONFLUENT_BYTES,
    "glue": GLUE_BYTES,
    "apicurio": APICURIO_BYTES,
    "apicurio-headers": 0,
}
ID_OFFSET: Mapping[Framing, int] = {
    "confluent": ID_OFFSETS["confluent"],
    "glue": ID_OFFSETS["glue"],
    "apicurio": 1,
    "apicurio-headers": 0,
}
_ID_BYTES = 8
_HEADERS = ("globalId", "contentId")
_MAX_ID = (1 << 63) - 1


def read_framing(
    reader: Reader, framing: Framing, headers: Mapping[str, bytes], part: str
) -> SchemaId:
    """Read what is before a datum, and return the id of its schema.

    ``headers``: of the Kafka message. Raises: DecodeError; TruncatedError where it is short.
    """
    match framing:
        case "confluent":
            place = reader.offset + 1
            found = read_envelope(reader, framing)
            if found == 0:
                problem = "schema id 0 begins an id of 8 bytes: option registry=apicurio"
                raise DecodeError(problem, place, CLAUSE)
            return found
        case "glue":
            return read_envelope(reader, framing)
        case "apicurio":
            return _read_long_id(reader)
        case "apicurio-headers":
            return _id_of_headers(reader, headers, part)


def _read_long_id(reader: Reader) -> int:
    start = reader.offset
    magic = reader.byte(CLAUSE)
    if magic != MAGIC:
        raise DecodeError(f"the magic byte is 0x{magic:02x}, not 0x00", start, CLAUSE)
    reader.note(start, magic, CLAUSE, "magic")
    place = reader.offset
    if reader.left < _ID_BYTES:
        problem = f"the schema's id has {_ID_BYTES} bytes, {reader.left} are left"
        raise TruncatedError(problem, reader.end, CLAUSE)
    found = int.from_bytes(reader.take(_ID_BYTES, CLAUSE), "big", signed=True)
    reader.note(place, found, CLAUSE, "schema_id")
    return found


def id_in_headers(headers: Mapping[str, bytes], part: str) -> tuple[str, bytes | None]:
    """Return the name and the bytes of the header that has the id of a key's or value's schema."""
    name = ""
    for each in _HEADERS:
        name = f"apicurio.{part}.{each}"
        found = headers.get(name)
        if found is not None:
            return name, found
    return name, None


def _id_of_headers(reader: Reader, headers: Mapping[str, bytes], part: str) -> int:
    name, found = id_in_headers(headers, part)
    if found is None:
        problem = f"the message has neither header apicurio.{part}.globalId nor .contentId"
        raise DecodeError(problem, reader.offset, CLAUSE)
    if len(found) != _ID_BYTES:
        problem = f"the header {name} has {len(found)} bytes, not {_ID_BYTES}"
        raise DecodeError(problem, reader.offset, CLAUSE)
    return int.from_bytes(found, "big", signed=True)


def write_framing(out: bytearray, framing: Framing, schema_id: SchemaId) -> None:
    """Append what is before a datum; an id in a header has no bytes. Raises: EncodeError."""
    if framing == "apicurio-headers":
        return
    if framing != "apicurio":
        write_envelope(out, schema_id)
        return
    if not isinstance(schema_id, int) or not -_MAX_ID - 1 <= schema_id <= _MAX_ID:
        raise EncodeError(f"{schema_id!r:.60} is not a number of 64 bits", CLAUSE, ("schema_id",))
    out.append(MAGIC)
    out += schema_id.to_bytes(_ID_BYTES, "big", signed=True)
