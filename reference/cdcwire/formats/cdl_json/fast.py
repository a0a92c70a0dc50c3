"""The fast decoder: CDL's messages to neutral events, with the plain decoder as the fallback.

The values of a message come from the fast reader of its schema (``cdcwire.connect.fast``). Their
meaning comes from the same functions as in the plain decoder. Messages that the fast reader does
not take, or these functions refuse, are decoded in the plain way, which says where and why. So both
accept and reject the same bytes with the same errors.

Read in the plain way are payloads alone, nulls that are replaced by a default, and messages with a
key or without value.
"""

from __future__ import annotations

from cdcwire.connect import EnvelopeDecoder
from cdcwire.core.compiled import FastDecoder, Irregular
from cdcwire.core.context import NO_CONTEXT, Context
from cdcwire.core.message import Message as AnyMessage
from cdcwire.core.message import expect_kafka
from cdcwire.formats.cdl_json.events import events_of
from cdcwire.formats.cdl_json.message import Tombstone
from cdcwire.formats.cdl_json.settings import Settings, read_settings
from cdcwire.formats.cdl_json.wire import change_of, read_message
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
        self._values = EnvelopeDecoder(settings.schemas_enable)

    def _usual(self, message: AnyMessage) -> list[Event]:
        message = expect_kafka(message, "cdl-json: fields")
        if message.value is None or message.key is not None or self.settings.null_is_default:
            raise Irregular
        envelope = self._values.usual(message.value)
        if envelope is None:
            raise Irregular
        change = change_of(envelope)
        if self.settings.lint == "strict" and change.warnings:
            raise Irregular
        return list(events_of(change, self.selection))

    def _plain(self, message: AnyMessage) -> list[Event]:
        message = expect_kafka(message, "cdl-json: fields")
        found = read_message(message.value, message.key, self.settings, self.tables)
        events = list(events_of(found, self.selection))
        if message.value is not None and not isinstance(found, Tombstone):
            self._values.learn(message.value, found.envelope)
        return events
