"""Placeholders for a value that the producer did not have, in the form of each type.

Debezium has one text for it. For a column that is not text, it sends what can be made of that text.
"""

from __future__ import annotations

import json
from base64 import urlsafe_b64encode
from functools import lru_cache
from uuid import UUID

from cdcwire.connect.schema import INT_BITS, ConnectValue, Schema
from cdcwire.connect.types import (
    BITS,
    BYTES_TEXT,
    CONNECT_DECIMAL,
    JSON,
    UUID_TEXT,
    is_cdc_timestamp,
)
from cdcwire.core.json_strings import write_base64


@lru_cache(maxsize=1024)
def unavailable_values(schema: Schema, placeholder: str) -> tuple[ConnectValue, ...]:
    """Return the values that stand for none; the first is the one to write.

    Shape: a text is the placeholder, or in JSON an object of it too (hstore as JSON). A text
    without name may be bytes in hex or base64, so it may also be the placeholder in that form.
    Bytes are its UTF-8. An array has it as its only text, or the UUID that is its MD5, or its bytes
    as integers. A map leads from it to itself. Other types have none: the producer sends null.
    """
    if not placeholder:
        return ()
    if schema.type == "string":
        return () if is_cdc_timestamp(schema.name) else _texts(schema, placeholder)
    if schema.type == "bytes":
        return () if schema.name in (CONNECT_DECIMAL, BITS) else (placeholder.encode(),)
    if schema.type == "array" and schema.items is not None:
        if schema.items.type == "string":
            return ((_item(schema.items, placeholder),),)
        return (tuple(placeholder.encode()),) if schema.items.type in INT_BITS else ()
    if schema.type == "map" and schema.keys is not None and schema.values is not None:
        is_text = (schema.keys.type, schema.values.type) == ("string", "string")
        return (((placeholder, placeholder),),) if is_text else ()
    return ()


def _texts(schema: Schema, placeholder: str) -> tuple[str, ...]:
    if schema.name is None or schema.name.startswith(BYTES_TEXT):
        raw = placeholder.encode()
        return placeholder, raw.hex(), write_base64(raw), urlsafe_b64encode(raw).decode()
    if schema.name != JSON:
        return (placeholder,)
    whole = json.dumps({placeholder: placeholder}, ensure_ascii=False, separators=(",", ":"))
    return placeholder, whole


def _item(schema: Schema, placeholder: str) -> str:
    if schema.name != UUID_TEXT:
        return placeholder
    from hashlib import md5  # it loads OpenSSL, which few feeds need

    digest = md5(placeholder.encode(), usedforsecurity=False).digest()
    return str(UUID(bytes=digest, version=3))
