"""The fast decoder: Debezium's messages to neutral events, with the plain decoder as the fallback.

The values of a message come from the fast reader of its schema (``cdcwire.connect.fast``). Their
meaning comes from the same functions as in the plain decoder. Messages that the fast reader does
not take, or these functions refuse, are decoded in the plain way, which says where and why. So both
accept and reject the same bytes with the same errors.

Payloads alone are read fast where definitions give their columns. Read in the plain way are nulls
that are replaced by a default, and messages without value.
"""

from __future__ import annotations

from cdcwire.connect import EnvelopeDecoder, Parsed
from cdcwire.connect.fields import Origin, read_part
from cdcwire.core.compiled import FastDecoder, Irregular
from cdcwire.core.context import NO_CONTEXT, Context
from cdcwire.core.message import KafkaMessage, expect_kafka
from cdcwire.core.message import Message as AnyMessage
from cdcwire.debezium.connectors import source_of
from cdcwire.debezium.events import events_of
from cdcwire.debezium.message import ROUTER_FIELD, Change, Ddl, Message, Tombstone
from cdcwire.debezium.reading import is_foreign_op, message_of
from cdcwire.formats.debezium_json.alone import PayloadsAlone
from cdcwire.formats.debezium_json.settings import Settings, read_settings
from cdcwire.formats.debezium_json.wire import (
    image_schemas,
    key_bytes,
    read_message,
)
from cdcwire.model.events import Event


class RowDecoder(FastDecoder):
    """Decodes Kafka messages to events.

    It makes no rows: images of Connect's values are made one by one, so a row would only repeat the
    event. ``settings``: those of the context's options, unless given.
    """

    def __init__(self, context: Context = NO_CONTEXT, settings: Settings | None = None) -> None:
        self.settings = settings = read_settings(context) if settings is None else settings
        self.selection = context.selection
        self.tables = context.tables
        self._keys = EnvelopeDecoder(settings.schemas_enable)
        self._values = EnvelopeDecoder(settings.schemas_enable)
        self._is_usual = not settings.null_is_default and (
            (
                settings.transforms,
                settings.key_converter,
                settings.producer,
                settings.key_field_name,
            )
            == ("none", "json", "debezium", ROUTER_FIELD)
        )
        self._alone = PayloadsAlone()
        self._has_alone = bool(self.tables) and settings.schemas_enable != "true"

    def _usual(self, message: AnyMessage) -> list[Event]:
        message = expect_kafka(message, "debezium-json: members")
        if message.value is None or not self._is_usual or not message.has_key:
            raise Irregular
        envelope = self._values.usual(message.value)
        if envelope is None and self._has_alone:
            envelope = self._alone.read(message.value)
        if envelope is None:
            raise Irregular
        found = message_of(envelope, self._key(message.key))
        if self.settings.lint == "strict" and found.warnings:
            raise Irregular
        if isinstance(found, Ddl) or (
            isinstance(found, Change) and source_of(found.source.connector).has_undeclared
        ):
            raise Irregular  # the schema does not have all that is read
        if isinstance(found, Change) and (found.key is None or is_foreign_op(found, self.settings)):
            raise Irregular
        return list(events_of(found, key_bytes, self.settings, self.selection))

    def _key(self, key: bytes | None) -> Parsed | None:
        if key is None:
            return None
        envelope = self._keys.usual(key)
        if envelope is not None:
            return Parsed(envelope, None, 0, 0)
        parsed = read_part(key, "key", self.settings)
        self._keys.learn(key, parsed.envelope)
        return parsed

    def _plain(self, message: AnyMessage) -> list[Event]:
        message = expect_kafka(message, "debezium-json: members")
        found = read_message(message, self.settings, self.tables)
        events = list(events_of(found, key_bytes, self.settings, self.selection))
        self._learn(message, found)
        return events

    def _learn(self, message: KafkaMessage, found: Message) -> None:
        if message.value is None or isinstance(found, Tombstone) or not self._is_usual:
            return
        envelope = found.envelope
        if envelope.schema is not None:
            self._values.learn(message.value, envelope)
        elif found.warnings:
            return  # of columns or times: the learned reader would not repeat them
        elif self._has_alone and isinstance(found, Change) and not envelope.wrapped:
            origin = Origin("value", Parsed(envelope, envelope.payload, 0, 0))
            rows, _ = image_schemas(origin, self.settings, self.tables)
            self._alone.learn(envelope.payload, rows)
