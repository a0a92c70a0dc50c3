"""Kafka keys at speed: the names in a key, as far as the events of rows need them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias

from cdcwire.connect import Envelope, Parsed, PayloadReader, Schema, payload_reader
from cdcwire.connect.fast import KnownHeads
from cdcwire.connect.strings import quoted
from cdcwire.connect.types import CONNECT_TIME
from cdcwire.core.caches import Credit
from cdcwire.core.compiled import Irregular
from cdcwire.core.json_strings import ONCE
from cdcwire.core.message import KafkaMessage
from cdcwire.core.strict_json import JsonObject
from cdcwire.debezium.plans import KeyFacts
from cdcwire.debezium.reading import key_names_of
from cdcwire.formats.debezium_json.settings import Settings
from cdcwire.formats.debezium_json.wire import read_key

Found: TypeAlias = "tuple[KeyFacts, str | None]"
"""The facts of a key, and the physical table that ByLogicalTableRouter put into it."""

_Head: TypeAlias = "tuple[PayloadReader, KeyFacts, int | None, bool]"

_NO_KEY = KeyFacts(()), None
_UNKNOWN = KeyFacts(None, is_known=False), None
_EXACT = ("int16", "int32", "int64", "string")  # a pattern is the whole check of their values
_MAX_FORMS = 16  # of keys without schema
_PRICE = 1 << 12  # see ``Credit``
# Any scalar without escapes is good JSON.
_SCALAR = (
    r'(?:"[^"\\\x00-\x1f]*@"|-?(?:0|[1-9][0-9]*@)(?:\.[0-9]+@)?(?:[eE][+-]?[0-9]+@)?'
    "|true|false|null)"
).replace("@", ONCE)
_MAX_BYTES = 1 << 16


class KeyReader:
    """Reads the keys of a feed. It learns their forms, as many as are bounded."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._heads: KnownHeads[_Head | None] = KnownHeads()
        self.forms: list[tuple[Callable[[str], re.Match[str] | None], KeyFacts]] = []
        self._credit = Credit()

    def read(self, message: KafkaMessage) -> Found:
        """Return what a key says. Raises: one of IRREGULARITIES."""
        key = message.key
        if key is None:
            return _NO_KEY if message.has_key else _UNKNOWN
        if not message.has_key:
            raise Irregular
        if self.settings.key_converter != "json":
            key.decode()
            return KeyFacts(None), None
        if key.startswith(b'{"schema":'):
            return self._with_schema(key)
        text = key.decode() if len(key) <= _MAX_BYTES else ""
        for match, facts in self.forms:
            if match(text) is not None:
                return facts, None
        return self._new_form(key)

    def _with_schema(self, key: bytes) -> Found:
        found = None if self.settings.schemas_enable == "false" else self._heads.find(key)
        if found is None or found[1] is None:
            parsed = self._parsed(key)
            schema, payload = parsed.envelope.schema, parsed.envelope.payload
            if schema is None:
                raise Irregular
            self._heads.learn(key, self._reader)
            facts, place = self._facts(schema, parsed)
        else:
            start, (reader, facts, place, is_exact) = found[0], found[1]
            if key[-1:] != b"}" or len(key) > _MAX_BYTES:
                raise Irregular
            text = key[start:-1].decode()
            match = reader.match(text)
            if match is None:
                raise Irregular
            if place is None and is_exact and "\\" not in text:
                return facts, None
            payload = reader.convert(match.groups())
        return facts, None if place is None else payload[place]

    def _reader(self, schema: Schema) -> _Head | None:
        reader = payload_reader(schema)
        if reader is None:
            return None
        is_exact = all(
            each.schema.type in _EXACT and each.schema.name != CONNECT_TIME
            for each in schema.fields
        )
        return reader, *self._facts(schema, Parsed(Envelope(schema, ()), None, 0, 0)), is_exact

    def _facts(self, schema: Schema, parsed: Parsed) -> tuple[KeyFacts, int | None]:
        """Return the facts of a key with a schema, and the place of the physical table."""
        names = key_names_of(parsed, None, self.settings.key_field_name)
        if schema.type != "struct" or not isinstance(parsed.envelope.payload, tuple):
            return KeyFacts(names), None
        place = schema.index(self.settings.key_field_name)
        if place is not None and schema.fields[place].schema.type != "string":
            place = None
        return KeyFacts(names, True, any(field.schema.optional for field in schema.fields)), place

    def _new_form(self, key: bytes) -> Found:
        """Return the facts of a key without schema, and learn its form if that pays."""
        parsed = self._parsed(key)
        router, json = self.settings.key_field_name, parsed.json
        if isinstance(json, JsonObject) and router in json.by_name:
            raise Irregular
        facts = KeyFacts(key_names_of(parsed, None, router))
        self._credit.earn(len(key))
        if parsed.envelope.wrapped or not isinstance(json, JsonObject) or len(key) > _MAX_BYTES:
            return facts, None
        members = ",".join(f"{re.escape(quoted(each.name))}:{_SCALAR}" for each in json.members)
        pattern = rf"\{{{members}\}}"
        if self._credit.spend(_PRICE + len(key)):
            self.forms.insert(0, (re.compile(pattern).fullmatch, facts))
            del self.forms[_MAX_FORMS:]
        return facts, None

    def _parsed(self, key: bytes) -> Parsed:
        parsed = read_key(key, self.settings)
        if not isinstance(parsed, Parsed) or parsed.warnings:
            raise Irregular
        return parsed
