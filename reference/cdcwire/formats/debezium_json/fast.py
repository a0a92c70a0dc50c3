"""The fast decoder: changes of rows to neutral events, with the plain decoder as the fallback.

The schema of a message is known again by its bytes, and has a plan (``cdcwire.debezium.plans``).
Payloads alone have a plan by their members and the definition of their table (``alone``). Messages
without a plan, and those that a plan refuses, are decoded in the plain way, which says where and
why. So both accept and reject the same bytes with the same errors.

Changes of rows are read by plans, and rows by themselves by patterns (``fast_rows``). The plain
decoder also reads nulls that a default replaces, columns with adjusted names, and TiCDC's messages.
"""

from __future__ import annotations

from contextlib import suppress

from cdcwire.connect import Parsed, Schema
from cdcwire.connect.fast import KnownHeads
from cdcwire.connect.fields import Origin
from cdcwire.core.compiled import IRREGULARITIES, FastDecoder, Irregular
from cdcwire.core.context import NO_CONTEXT, Context
from cdcwire.core.message import KafkaMessage, expect_kafka
from cdcwire.core.message import Message as AnyMessage
from cdcwire.debezium.events import events_of
from cdcwire.debezium.message import Change, Unwrapped
from cdcwire.debezium.plans import ChangePlan, Feed, KeyFacts, change_plan
from cdcwire.formats.debezium_json.alone import PayloadsAlone
from cdcwire.formats.debezium_json.fast_keys import KeyReader
from cdcwire.formats.debezium_json.fast_rows import RowReader, reads_rows
from cdcwire.formats.debezium_json.settings import Settings, read_settings
from cdcwire.formats.debezium_json.wire import image_schemas, is_of_ticdc, key_bytes, read_message
from cdcwire.model.events import Event

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
