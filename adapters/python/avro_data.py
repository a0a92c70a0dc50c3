"""Datums of Avro in messages of Kafka, and the formats that an Avro library reads with them."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

Record: TypeAlias = Mapping[str, Any]
JsonObject: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True)
class Datum:
    """A key or a value: the id of its schema, the schema's text, the binary encoding.

    ``whole`` still has the bytes before it, for libraries that take them off themselves.
    """

    id: str
    schema: str
    data: bytes
    whole: bytes


Read: TypeAlias = Callable[[Datum], Record]


def datum_of(whole: bytes, schemas: Mapping[str, str], registry: str) -> Datum:
    """Take off what is before a datum. Raises: ValueError.

    ``registry``: confluent (an id of 4 bytes), apicurio (8 bytes) or glue (a UUID).
    """
    head, size = {"glue": (b"\x03\x00", 18), "apicurio": (b"\x00", 9)}.get(registry, (b"\x00", 5))
    if len(whole) < size:
        raise ValueError(f"an envelope has {size} bytes, not {len(whole)}")
    if not whole.startswith(head):
        raise ValueError(f"an envelope does not begin with {whole[: len(head)].hex()}")
    raw = whole[len(head) : size]
    is_uuid = registry == "glue"
    name = str(uuid.UUID(bytes=raw)) if is_uuid else str(int.from_bytes(raw, "big", signed=True))
    if name not in schemas:
        raise ValueError(f"there is no schema {name}")
    return Datum(name, schemas[name], whole[size:], whole)
