"""The interface of Confluent's schema registry, as data. Nothing here asks a registry."""

from __future__ import annotations

from dataclasses import dataclass

from cdcwire.golang import compact_json

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
