"""The envelope of a message: schema and payload, or a payload alone.

The part of the schema is known again by its bytes: a message whose schema was read before costs no
more than its payload. The memory of schemas is bounded, in number and in bytes.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import replace
from typing import Literal, TypeAlias

from cdcwire.connect.schema import LOOSE_RULES, RULES, ConnectValue, Schema
from cdcwire.connect.schema_json import read_schema, schema_text
from cdcwire.connect.schemaless import json_text
from cdcwire.connect.values import Reading, read_value, write_value
from cdcwire.core.errors import DecodeError, step
from cdcwire.core.limits import MAX_DECIMAL_DIGITS
from cdcwire.core.strict_json import (
    JsonArray,
    JsonObject,
    JsonValue,
    json_kind,
    read_json,
    read_json_value,
)
from cdcwire.model.events import Path
from cdcwire.model.slotted import slotted

SchemasEnable: TypeAlias = Literal["auto", "true", "false"]

_ENVELOPE = "connect: envelope"
_OPENING = b'{"schema":'
_BORDER = b',"payload":'
_MAX_SCHEMAS = 256
_MAX_SCHEMA_BYTES = 4 << 20


@slotted(frozen=True, slots=True)
class Envelope:
    """A message. Without ``schema`` the payload is the JSON value itself.

    ``wrapped``: whether it is in an object of schema and payload; a payload alone is not.
    """

    schema: Schema | None
    payload: ConnectValue
    wrapped: bool = True


@slotted(frozen=True, slots=True)
class Parsed:
    """An envelope with the places of its payload, and the ignored members."""

    envelope: Envelope
    json: JsonValue
    start: int
    end: int
    warnings: tuple[str, ...] = ()

    def locate(self, path: Path) -> int:
        """Return where the payload's value at ``path`` begins; the nearest place that there is."""
        value: JsonValue = self.json
        start = self.start
        for part in path:
            if isinstance(value, JsonObject) and isinstance(part, str):
                member = value.get(part)
                if member is None:
                    return start
                value, start = member.value, member.start
            elif isinstance(value, JsonArray) and isinstance(part, int):
                if not 0 <= part < len(value.items):
                    return start
                start = value.places[2 * part]
                value = value.items[part]
            else:
                return start
        return start


def decode(data: bytes, schemas_enable: SchemasEnable = "auto") -> Envelope:
    """Return schema and payload. Raises: TruncatedError, DecodeError."""
    return parse(data, schemas_enable).envelope


def encode(envelope: Envelope) -> bytes:
    """Return the bytes that JsonConverter writes. Raises: EncodeError."""
    with step("payload"):
        if envelope.schema is None:
            payload = json_text(envelope.payload)
        else:
            payload = write_value(envelope.schema, envelope.payload)
    if not envelope.wrapped:
        return payload.encode()
    with step("schema"):
        schema = "null" if envelope.schema is None else schema_text(envelope.schema)
    return f'{{"schema":{schema},"payload":{payload}}}'.encode()


def parse(
    data: bytes,
    schemas_enable: SchemasEnable = "auto",
    null_is_default: bool = False,
    max_decimal_digits: int = MAX_DECIMAL_DIGITS,
    *,
    is_loose: bool = False,
) -> Parsed:
    """Return the envelope with its places.

    ``schemas_enable``: ``auto`` takes an object of exactly ``schema`` and ``payload`` for an
    envelope, and everything else for a payload alone. ``is_loose``: an object of ``payload`` alone
    is an envelope without schema. A schema may have a default that its type does not have, and a
    field twice. Bytes that are not UTF-8 are read as U+FFFD. Raises: TruncatedError, DecodeError.
    """
    reading = Reading(null_is_default, max_decimal_digits)
    if schemas_enable != "false":
        known = known_schema(data)
        found = None if known is None else _parse_known(data, *known, reading)
        if found is not None:
            return found
        reading = Reading(null_is_default, max_decimal_digits)
    reading.is_loose = is_loose
    reading.null_is_default &= not is_loose  # their defaults may have another form than values
    document = read_json(data, LOOSE_RULES if is_loose else RULES)
    value = document.value
    members = value.by_name if isinstance(value, JsonObject) else {}
    is_envelope = members.keys() == {"schema", "payload"}
    if is_loose and members.keys() == {"payload"} and schemas_enable != "true":
        body = members["payload"]
        return Parsed(Envelope(None, body.value), body.value, body.start, body.end)
    if schemas_enable == "false" or (schemas_enable == "auto" and not is_envelope):
        if not members or members.keys() & {"schema", "payload"}:
            problem = f"neither an envelope nor a payload alone: {_described(value)}"
            raise DecodeError(problem, document.start, _ENVELOPE)
        return Parsed(Envelope(None, value, False), value, document.start, document.end)
    if not is_envelope:
        problem = f"an object of schema and payload is expected, not {_described(value)}"
        raise DecodeError(problem, document.start, _ENVELOPE)
    head, body = members["schema"], members["payload"]
    if head.value is None:
        return Parsed(Envelope(None, body.value), body.value, body.start, body.end)
    with step("schema"):
        schema = read_schema(head.value, head.start, head.end, reading.warnings, is_loose=is_loose)
    with step("payload"):
        payload = read_value(schema, body.value, body.start, body.end, reading)
    if not reading.warnings and not is_loose:
        _SCHEMAS.add(data, head.start, head.end, schema)
    envelope = Envelope(schema, payload)
    return Parsed(envelope, body.value, body.start, body.end, tuple(reading.warnings))


def _described(value: JsonValue) -> str:
    if not isinstance(value, JsonObject):
        return json_kind(value)
    names = ", ".join(member.name[:40] for member in value.members[:4])
    return f"an object of {names or 'nothing'}"


class _Schemas:
    """The schemas that were read, by the bytes up to the payload; the oldest go first."""

    def __init__(self) -> None:
        self.known: OrderedDict[bytes, Schema] = OrderedDict()
        self.size = 0

    def add(self, data: bytes, start: int, end: int, schema: Schema) -> None:
        head = data[: end + len(_BORDER)]
        usual = start == len(_OPENING) and head.startswith(_OPENING) and head.endswith(_BORDER)
        # Only where the first border is the real one can it be found again without reading.
        if not usual or data.find(b"}" + _BORDER) != end - 1 or len(head) > _MAX_SCHEMA_BYTES // 4:
            return
        if head not in self.known:
            self.size += len(head)
        self.known[head] = schema
        while len(self.known) > _MAX_SCHEMAS or self.size > _MAX_SCHEMA_BYTES:
            old, _ = self.known.popitem(last=False)
            self.size -= len(old)


_SCHEMAS = _Schemas()


def known_schema(data: bytes) -> tuple[int, Schema] | None:
    """Return where the payload begins and the schema, if its bytes were read before."""
    border = data.find(b"}" + _BORDER)
    if border < 0:
        return None
    start = border + 1 + len(_BORDER)
    schema = _SCHEMAS.known.get(data[:start])
    return None if schema is None else (start, schema)


def _parse_known(data: bytes, start: int, schema: Schema, reading: Reading) -> Parsed | None:
    """Return the part after a known schema; None if it is broken: reading all says how."""
    try:
        found = read_json_value(data, _INNER_RULES, _after_space(data, start))
        if data[found.end :].strip(b" \t\n\r") != b"}":
            return None
        place = found.start, found.end
        payload = read_value(schema, found.value, *place, reading)
    except DecodeError:
        return None
    return Parsed(Envelope(schema, payload), found.value, *place, tuple(reading.warnings))


# The payload is one level down.
_INNER_RULES = replace(RULES, max_depth=RULES.max_depth - 1)


def _after_space(data: bytes, start: int) -> int:
    while data[start : start + 1] in (b" ", b"\t", b"\n", b"\r"):
        start += 1
    return start
