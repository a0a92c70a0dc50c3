"""A message as a JSON object: base64 for bytes, null for Kafka's null."""

from __future__ import annotations

import base64
import json
from binascii import b2a_base64
from collections.abc import Mapping

from cdcwire.core.message import KafkaMessage, Message, StoredFile
from cdcwire.model.text import Json

_ENCODER = json.JSONEncoder(separators=(",", ":"))


def bytes_to_json(data: bytes | None) -> str | None:
    """Return standard base64 with padding; null for null."""
    return None if data is None else base64.b64encode(data).decode("ascii")


def bytes_from_json(text: Json, name: str) -> bytes | None:
    """Return the bytes of a member. Raises: ValueError that names the member."""
    if text is None:
        return None
    if not isinstance(text, str):
        raise ValueError(f"{name} is base64 text or null")
    try:
        return base64.b64decode(text, validate=True)
    except ValueError as error:  # binascii.Error is one
        raise ValueError(f"{name} is not standard base64 with padding") from error


def message_to_json(message: Message) -> dict[str, Json]:
    """Return the JSON object of a message."""
    if isinstance(message, StoredFile):
        return {"path": message.path, "value": bytes_to_json(message.value)}
    document: dict[str, Json] = {"key": bytes_to_json(message.key)} if message.has_key else {}
    document["value"] = bytes_to_json(message.value)
    if message.headers:
        document["headers"] = {name: bytes_to_json(value) for name, value in message.headers}
    return document


def json_line(document: Json) -> bytes:
    """Return a document as a line of ASCII: any reader of JSON finds the same lines in a file."""
    return _ENCODER.encode(document).encode("ascii") + b"\n"


def message_line(message: Message) -> bytes:
    """Return the JSON object of a message as a line, without white space."""
    if isinstance(message, StoredFile) or message.headers or not message.has_key:
        return json_line(message_to_json(message))
    # Looking for escapes in base64, which has none, would take longer than the rest.
    key, value = _quoted(message.key), _quoted(message.value)
    return b'{"key":%b,"value":%b}\n' % (key, value)


def _quoted(data: bytes | None) -> bytes:
    return b"null" if data is None else b'"%b"' % b2a_base64(data, newline=False)


def message_from_json(document: Json) -> Message:
    """Return the message of a JSON object; what is missing is null. Raises: ValueError."""
    if not isinstance(document, Mapping):
        raise ValueError("a message is an object")
    value = bytes_from_json(document.get("value"), "value")
    if "path" in document:
        path = document["path"]
        if not isinstance(path, str) or value is None:
            raise ValueError("a stored file has a path, as text, and a value")
        return StoredFile(path, value)
    headers = document.get("headers", {})
    if not isinstance(headers, Mapping):
        raise ValueError("headers is an object")
    return KafkaMessage(
        bytes_from_json(document.get("key"), "key"),
        value,
        tuple(
            (name, bytes_from_json(text, f"header {name}") or b"") for name, text in headers.items()
        ),
    )
