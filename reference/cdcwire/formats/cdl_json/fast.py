"""The fast decoder: CDL's messages to neutral events, with the plain decoder behind it.

The values of a message come from the fast reader of its schema (``cdcwire.connect.fast``); what
they mean is said by the same functions as in the plain decoder. What the fast reader does not
take, or these functions refuse, is decoded in the plain way, which says where and why. So both
accept and reject the same bytes with the same errors.

Read in the plain way are payloads alone, nulls for which a default stands, and messages with a
key or without value.
"""

from __future__ import annotations

from cdcwire.connect import EnvelopeDecoder
from cdcwire.core.errors import DecodeError
from cdcwire.core.format import EVERYTHING, Selection
from cdcwire.core.message import KafkaMessage
from cdcwire.formats.cdl_json.events import to_events
from cdcwire.formats.cdl_json.message import Tombstone
from cdcwire.formats.cdl_json.settings import DEFAULT_SETTINGS, Settings
from cdcwire.formats.cdl_json.wire import change_of, read_message
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
        self._values = EnvelopeDecoder(settings.schemas_enable)

    def decode(self, message: KafkaMessage) -> list[Event]:
        """Return the events of a message. Raises: DecodeError, the same as the plain decoder."""
        found = self._usual(message)
        return self._plain(message) if found is None else found

    def _usual(self, message: KafkaMessage) -> list[Event] | None:
        if message.value is None or message.key is not None or self.settings.null_is_default:
            return None
        envelope = self._values.usual(message.value)
        if envelope is None:
            return None
        try:
            change = change_of(envelope)
            if self.settings.lint == "strict" and change.warnings:
                return None
            return list(to_events(change, self.selection))
        except DecodeError:
            return None  # the plain decoder knows the place

    def _plain(self, message: KafkaMessage) -> list[Event]:
        found = read_message(message.value, message.key, self.settings, self.tables)
        events = list(to_events(found, self.selection))
        if message.value is not None and not isinstance(found, Tombstone):
            self._values.learn(message.value, found.envelope)
        return events
