"""The fast decoder: changes of rows to neutral events, with the plain decoder as the fallback.

The schema of a message is known again by its bytes, and has a plan (``cdcwire.debezium.plans``).
Payloads alone have a plan by their members and the definition of their table (``alone``). Messages
without a plan, and those that a plan refuses, are decoded in the plain way, which says where and
why. So both accept and reject the same bytes with the same errors.

Changes of rows are read by plans. A row by itself is read by one pattern: its schema came before
and is known by its bytes. The row and its added fields then go the way of the plain decoder. A
Kafka key gives only its names, as far as the events of rows need them. The plain decoder also
reads nulls that a default replaces, columns with adjusted names, and TiCDC's messages.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from typing import TypeAlias

from cdcwire.connect import Envelope, Parsed, PayloadReader, Schema, payload_reader
from cdcwire.connect.fast import KnownHeads
from cdcwire.connect.fields import Origin
from cdcwire.connect.scalars import quoted
from cdcwire.connect.types import CONNECT_TIME
from cdcwire.core.caches import Credit
from cdcwire.core.compiled import IRREGULARITIES, FastDecoder, Irregular
from cdcwire.core.context import NO_CONTEXT, Context, Selection
from cdcwire.core.json_strings import ONCE
from cdcwire.core.message import KafkaMessage, expect_kafka
from cdcwire.core.message import Message as AnyMessage
from cdcwire.core.strict_json import JsonObject
from cdcwire.debezium.events import events_of
from cdcwire.debezium.message import Change, Unwrapped
from cdcwire.debezium.plans import ChangePlan, Feed, KeyFacts, change_plan
from cdcwire.debezium.reading import checked, key_names_of
from cdcwire.debezium.unwrapped import RowSettings, is_row_schema, unwrapped_events, unwrapped_of
from cdcwire.formats.debezium_json.alone import PayloadsAlone
from cdcwire.formats.debezium_json.settings import Settings, read_settings
from cdcwire.formats.debezium_json.wire import (
    image_schemas,
    is_of_ticdc,
    key_bytes,
    read_key,
    read_message,
)
from cdcwire.model.events import Event, Table

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
_MAX_KEY_BYTES = 1 << 16


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
        text = key.decode() if len(key) <= _MAX_KEY_BYTES else ""
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
            if key[-1:] != b"}" or len(key) > _MAX_KEY_BYTES:
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
        if parsed.envelope.wrapped or not isinstance(json, JsonObject) or len(key) > _MAX_KEY_BYTES:
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


_SOME_KEY = Envelope(None, None)  # what is in a key beyond its names makes no event


def reads_rows(settings: Settings) -> bool:
    """Return whether rows by themselves may be read in the fast way under these settings."""
    return (
        settings.transforms == "unwrap"
        and settings.schemas_enable != "false"
        and settings.field_names == "none"
        and settings.compression is None
        and not settings.null_is_default
    )


class RowReader:
    """Reads the rows of a feed. It learns their schemas, as many as are bounded."""

    def __init__(
        self, settings: Settings, tables: tuple[Table, ...], selection: Selection, keys: KeyReader
    ) -> None:
        self.settings = settings
        self.tables = tables
        self.selection = selection
        self.keys = keys
        self._heads: KnownHeads[PayloadReader | None] = KnownHeads()

    def read(self, message: KafkaMessage, value: bytes) -> list[Event]:
        """Return the events of a row whose schema was learned. Raises: one of IRREGULARITIES."""
        found = self._heads.find(value)
        if found is None or found[1] is None or value[-1:] != b"}" or is_of_ticdc(value):
            raise Irregular
        start, reader = found[0], found[1]
        facts, physical_table = self.keys.read(message)
        if physical_table is not None or (facts.names is None and message.key is not None):
            raise Irregular
        parsed = Parsed(Envelope(reader.schema, reader.read(value[start:-1])), None, 0, 0)
        more = RowSettings(self.settings, self.tables, message.headers)
        key = None if message.key is None else _SOME_KEY
        row = checked(
            unwrapped_of(parsed, facts.names, key, more), self.settings, Origin("value", parsed)
        )
        return list(unwrapped_events(row, self.settings, self.selection))

    def learn(self, value: bytes, found: Unwrapped) -> None:
        """Learn the schema of a good row."""
        if found.envelope.schema is None or is_of_ticdc(value):
            return

        def reader(schema: Schema) -> PayloadReader | None:
            return payload_reader(schema) if is_row_schema(schema) else None

        self._heads.learn(value, reader)


_MAX_BYTES = 1 << 20  # of a payload: matching takes some memory for each escape
_ENVELOPES = (b'{"schema":', b'{"payload":')
_MAX_PLANS = 2  # of one schema, by the key


class _Plans:
    """The plans of one schema, by the facts of the key; None if a key was tried in vain."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.of_key: dict[KeyFacts, list[tuple[Schema, ChangePlan | None]]] = {}


class RowDecoder(FastDecoder):
    """Decodes Kafka messages to events.

    It makes no rows: images of Connect's values are made one by one, so a row would only repeat the
    event. ``settings``: those of the context's options, unless given.
    """

    def __init__(self, context: Context = NO_CONTEXT, settings: Settings | None = None) -> None:
        self.settings = settings = read_settings(context) if settings is None else settings
        self.selection = context.selection
        self.tables = context.tables
        self._feed = Feed(settings, context.selection, context.tables)
        self.keys = KeyReader(settings)
        self._heads: KnownHeads[_Plans] = KnownHeads()
        is_usual = settings.transforms == "none" and settings.field_names == "none"
        self._is_usual = is_usual and not settings.null_is_default
        self._rows = None
        if reads_rows(settings):
            self._rows = RowReader(settings, context.tables, context.selection, self.keys)
        self.alone = PayloadsAlone(self._feed)
        self._has_alone = settings.schemas_enable != "true"
        self._has_schemas = settings.schemas_enable != "false"

    def _usual(self, message: AnyMessage) -> list[Event]:
        if not isinstance(message, KafkaMessage) or not (self._is_usual or self._rows):
            raise Irregular
        value = message.value
        if not value or len(value) > _MAX_BYTES:
            raise Irregular
        if self._rows is not None:
            return self._rows.read(message, value)
        found = self._heads.find(value) if self._has_schemas else None
        if found is None and value.startswith(_ENVELOPES):
            raise Irregular
        key, physical_table = self.keys.read(message)
        if found is not None:
            if value[-1:] != b"}":
                raise Irregular
            start, plans_of = found
            text, plans = value[start:-1].decode(), plans_of.of_key.get(key, ())
        elif self._has_alone:
            text, plans = value.decode(), self.alone.plans(value, key)
        else:
            raise Irregular
        for _, plan in plans:
            match = None if plan is None else plan.match(text)
            if plan is not None and match is not None:
                if plan.may_say_connector and is_of_ticdc(value):  # it has rules of its own
                    raise Irregular
                event = plan.make(match.groups(), physical_table)
                return [] if event is None else [event]
        raise Irregular

    def _plain(self, message: AnyMessage) -> list[Event]:
        message = expect_kafka(message, "debezium-json: members")
        found = read_message(message, self.settings, self.tables)
        events = list(events_of(found, key_bytes, self.settings, self.selection))
        value = message.value
        if self._rows is not None and value is not None and isinstance(found, Unwrapped):
            self._rows.learn(value, found)
        is_usual = self._is_usual and value and len(value) <= _MAX_BYTES
        if is_usual and value and isinstance(found, Change) and not is_of_ticdc(value):
            self._learn(message, value, found)
        return events

    def _learn(self, message: KafkaMessage, value: bytes, found: Change) -> None:
        """Learn the form of a good message."""
        try:
            key, _ = self.keys.read(message)
        except IRREGULARITIES:
            return
        envelope = found.envelope
        if envelope.schema is None:
            if self._has_alone and not envelope.wrapped:
                origin = Origin("value", Parsed(envelope, envelope.payload, 0, 0))
                rows, _ = image_schemas(origin, self.settings, self.tables)
                self.alone.learn(value, key, found, rows)
            return
        self._heads.learn(value, _Plans)
        known = self._heads.find(value)
        if known is None or len(known[1].of_key) >= _MAX_PLANS or key in known[1].of_key:
            return
        start, plans = known
        if plans.of_key and not self._heads.spend(value[:start]):
            return
        plan = None
        with suppress(*IRREGULARITIES):  # the key is kept without a plan
            plan = change_plan(plans.schema, envelope.payload, key, self._feed)
        plans.of_key[key] = [(plans.schema, plan)]
