"""The fast decoder: Debezium's messages to neutral events, with the plain decoder behind it.

The values of a message come from the fast reader of its schema (``cdcwire.connect.fast``); what
they mean is said by the same functions as in the plain decoder. What the fast reader does not
take, or these functions refuse, is decoded in the plain way, which says where and why. So both
accept and reject the same bytes with the same errors.

Payloads alone are read fast where definitions tell their columns. Read in the plain way are nulls
for which a default stands, and messages without value.
"""

from __future__ import annotations

from cdcwire.connect import EnvelopeDecoder, Parsed
from cdcwire.connect.fields import read_part
from cdcwire.core.errors import DecodeError
from cdcwire.core.format import EVERYTHING, Selection
from cdcwire.core.message import KafkaMessage
from cdcwire.formats.debezium_json.alone import PayloadsAlone
from cdcwire.formats.debezium_json.events import to_events
from cdcwire.formats.debezium_json.message import Change, Message, Tombstone
from cdcwire.formats.debezium_json.settings import DEFAULT_SETTINGS, Settings
from cdcwire.formats.debezium_json.wire import image_schemas, message_of, read_message
from cdcwire.model.events import Event, Table


class RowDecoder:
    """Decodes the messages of a feed. Keep one: it learns the schemas that it meets.

    What is remembered is bounded, whatever the messages hold. Not to be shared between threads.
    """

    def __init__(
        self,
        settings: Settings = DEFAULT_SETTINGS,
        selection: Selection = EVERYTHING,
        tables: tuple[Table, ...] = (),
    ) -> None:
        self.settings = settings
        self.selection = selection
        self.tables = tables
        self._keys = EnvelopeDecoder(settings.schemas_enable)
        self._values = EnvelopeDecoder(settings.schemas_enable)
        self._alone = PayloadsAlone()
        self._has_alone = bool(tables) and settings.schemas_enable != "true"

    def decode(self, message: KafkaMessage) -> list[Event]:
        """Return the events of a message. Raises: DecodeError, the same as the plain decoder."""
        found = self._usual(message)
        return self._plain(message) if found is None else found

    def _usual(self, message: KafkaMessage) -> list[Event] | None:
        if message.value is None or self.settings.null_is_default:
            return None
        envelope = self._values.usual(message.value)
        if envelope is None and self._has_alone:
            envelope = self._alone.read(message.value)
        if envelope is None:
            return None
        try:
            found = message_of(envelope, self._key(message.key))
            if self.settings.lint == "strict" and found.warnings:
                return None
            return list(to_events(found, self.settings, self.selection))
        except DecodeError:
            return None  # the plain decoder knows the place

    def _key(self, key: bytes | None) -> Parsed | None:
        if key is None:
            return None
        envelope = self._keys.usual(key)
        if envelope is not None:
            return Parsed(envelope, None, 0, 0)
        parsed = read_part(key, "key", self.settings.schemas_enable)
        self._keys.learn(key, parsed.envelope)
        return parsed

    def _plain(self, message: KafkaMessage) -> list[Event]:
        found = read_message(message.value, message.key, self.settings, self.tables)
        events = list(to_events(found, self.settings, self.selection))
        self._learn(message, found)
        return events

    def _learn(self, message: KafkaMessage, found: Message) -> None:
        if message.value is None or isinstance(found, Tombstone):
            return
        envelope = found.envelope
        if envelope.schema is not None:
            self._values.learn(message.value, envelope)
        elif self._has_alone and isinstance(found, Change) and not envelope.wrapped:
            rows = image_schemas(envelope, self.settings, self.tables)
            self._alone.learn(envelope.payload, rows)
