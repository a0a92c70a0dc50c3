"""The fast decoder: changes of rows to neutral events, with the plain decoder as the fallback.

The first bytes of key and value name their schemas. A pair of schemas that a good change had has a
route: one generated function for the key, and one for the value. ``datum_code`` writes how values
are read, and ``cdcwire.debezium.plans`` what they decide of the event. All other messages are
decoded in the plain way, which says where and why. So both accept and reject the same bytes with
the same errors. A key has one generated function for each schema.

A row by itself has a generated function for its values. The row and its added fields then go the
way of the plain decoder. Not read in the fast way: columns with adjusted names, those that a
definition types, messages without value.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeAlias

from cdcwire.apache_avro.sources import KnownSchemas, SchemaSource, schema_of
from cdcwire.connect import Envelope, Parsed
from cdcwire.connect.fields import Origin, image_of_key
from cdcwire.connect.logical import columns_of, model_converter
from cdcwire.connect.style import as_it_is
from cdcwire.core.caches import BoundedCache, Credit
from cdcwire.core.comparing import KeyContent
from cdcwire.core.compiled import IRREGULARITIES, FastDecoder, Irregular, compile_function
from cdcwire.core.context import NO_CONTEXT, Context
from cdcwire.core.message import KafkaMessage, expect_kafka
from cdcwire.core.message import Message as AnyMessage
from cdcwire.core.reader import Reader
from cdcwire.debezium.connectors import source_of
from cdcwire.debezium.events import events_of
from cdcwire.debezium.message import Change, Unwrapped
from cdcwire.debezium.names import original_image
from cdcwire.debezium.plans import Feed, KeyFacts, Payloads, change_lines
from cdcwire.debezium.reading import checked
from cdcwire.debezium.ticdc_types import typed_schema
from cdcwire.debezium.unwrapped import RowSettings, unwrapped_events, unwrapped_of
from cdcwire.formats.debezium_avro.connect_schema import DatumPlan
from cdcwire.formats.debezium_avro.datum_code import DatumCode
from cdcwire.formats.debezium_avro.framing import HEAD_BYTES, id_in_headers
from cdcwire.formats.debezium_avro.settings import Settings, read_settings
from cdcwire.formats.debezium_avro.wire import MESSAGES, Datum, key_bytes, read_message, read_part
from cdcwire.model.events import Event, Image

_MAX_KEY_FIELDS = 1 << 12  # of all functions

ReadKey: TypeAlias = "Callable[[bytes, int], str | None]"
ReadColumns: TypeAlias = Callable[[bytes, int], Image]


def key_function(plan: DatumPlan, router: str) -> tuple[KeyFacts, ReadKey]:
    """Return what a key's schema says, and what reads the physical table in the key.

    ``router``: the field that ByLogicalTableRouter adds. Raises: Irregular.
    """
    code = DatumCode(plan.kind)
    part = code.payload(plan.schema)
    physical_table = "None"
    names = []
    for field, value in zip(plan.schema.fields, part.columns, strict=True):
        if field.name != router:
            names.append(field.name)
        elif field.schema.type == "string":
            physical_table = value.name
    may_be_null = any(field.schema.optional for field in plan.schema.fields)
    lines = [*part.lines, f"return {physical_table}"]
    read = compile_function("read_key", "data, position", lines, code.names)
    return KeyFacts(tuple(names), True, may_be_null), read


class KeyColumns:
    """Reads the columns of the keys of a feed. Its memory is bounded, whatever the keys hold."""

    def __init__(self, context: Context) -> None:
        self.settings = read_settings(context)
        self.schemas = KnownSchemas(context.schemas)
        self._head = HEAD_BYTES[self.settings.framing]
        self._known: BoundedCache[bytes, ReadColumns | None] = BoundedCache(_MAX_KEY_FIELDS)
        self._credit = Credit()

    def content(self, message: KafkaMessage) -> KeyContent | None:
        """Return the columns of a key; None if it names none. Raises: DecodeError."""
        if message.key is None:
            return None
        read = self._known.get(message.key[: self._head])
        if read is not None:
            with suppress(*IRREGULARITIES):
                return KeyContent(read(message.key, self._head))
        return self._plain(message.key, message)

    def _plain(self, key: bytes, message: KafkaMessage) -> KeyContent | None:
        headers, settings = dict(message.headers), self.settings
        parsed: Parsed = read_part(Reader(key), "key", self.schemas, settings, headers)
        columns = image_of_key(parsed)
        router = settings.key_field_name
        if columns is not None and router in columns.names:
            columns = columns.only(frozenset(columns.names) - {router})
        self._learn(key, parsed)
        if columns is None:
            return None
        return KeyContent(original_image(columns, settings.field_names))

    def _learn(self, key: bytes, parsed: Parsed) -> None:
        """Make the function of a good key's schema, if that pays."""
        head, datum = key[: self._head], parsed.envelope
        self._credit.earn(len(key))
        if not head or head in self._known or not isinstance(datum, Datum) or datum.plan is None:
            return
        if self.settings.field_names != "none":
            return
        size = len(datum.plan.schema.fields) + _ENTRY
        if not self._credit.spend(size * _PRICE_OF_A_FIELD):
            return
        read = None
        with suppress(*IRREGULARITIES):  # the schema is kept without a function
            read = columns_function(datum.plan, self.settings.key_field_name)
        self._known.keep(head, read, size)


def columns_function(plan: DatumPlan, router: str) -> ReadColumns:
    """Return what reads the columns of keys, without the router's field. Raises: Irregular."""
    code = DatumCode(plan.kind)
    part = code.payload(plan.schema)
    lines, values = [*part.lines], []
    fields = zip(columns_of(plan.schema), plan.schema.fields, part.columns, strict=True)
    kept = [each for each in fields if each[1].name != router]
    for _, field, value in kept:
        convert = model_converter(field.schema, "")
        values.append(f"{value.name}, ")
        if convert is not as_it_is:
            code.names[f"convert_{value.name}"] = convert
            lines.append(
                f"if {value.name} is not None: {value.name} = convert_{value.name}({value.name})"
            )
    code.names |= {"Image": Image, "columns": tuple(column for column, _, _ in kept)}
    lines.append(f"return Image(columns, ({''.join(values)}))")
    read: ReadColumns = compile_function("read_key", "data, position", lines, code.names)
    return read


_MAX_FIELDS = 1 << 13  # of all routes; a field takes some two kilobytes with its code
_PRICE_OF_A_FIELD = 1 << 8  # bytes that the plain decoder reads while a field's code is made
_ENTRY = 4
_CDL = "message_version"

_SOME_KEY = Envelope(None, None)  # what is in a key beyond its names makes no event

ReadEvents: TypeAlias = "Callable[[KafkaMessage, bytes, str | None], list[Event]]"
_Heads: TypeAlias = "tuple[bytes | None, bytes, bool]"


@dataclass(frozen=True, slots=True, eq=False)
class _Route:
    """How the messages of one pair of schemas are read.

    ``read_key``: returns the physical table in a key; None for messages without key. ``read``:
    returns the events of a message, given its value and that table.
    """

    heads: _Heads
    read_key: ReadKey | None
    read: ReadEvents


class RowDecoder(FastDecoder):
    """Decodes Kafka messages to events. The context has the schemas; an id keeps its meaning.

    It makes no rows: images of Connect's values are made one by one, so a row would only repeat the
    event. ``settings``: those of the context's options, unless given. ``source``: other schemas.
    """

    def __init__(
        self,
        context: Context = NO_CONTEXT,
        settings: Settings | None = None,
        source: SchemaSource | None = None,
    ) -> None:
        self.settings = settings = read_settings(context) if settings is None else settings
        self.source = KnownSchemas(context.schemas) if source is None else source
        self.selection = context.selection
        self.tables = context.tables
        self._feed = Feed(settings, context.selection, context.tables)
        self._head = HEAD_BYTES[settings.framing]
        self._is_usual = settings.field_names == "none"
        self._routes: BoundedCache[_Heads, _Route | None] = BoundedCache(_MAX_FIELDS)
        self._last: _Route | None = None
        self._credit = Credit()

    def _usual(self, message: AnyMessage) -> list[Event]:
        if not isinstance(message, KafkaMessage) or message.value is None:
            raise Irregular
        heads = self._heads(message, message.value)
        route = self._last  # most messages have the schemas of the one before
        if route is None or route.heads != heads:
            route = self._routes.get(heads)
            if route is None:
                raise Irregular
            self._last = route
        physical_table = None
        if route.read_key is not None and message.key is not None:
            physical_table = route.read_key(message.key, self._head)
        return route.read(message, message.value, physical_table)

    def _heads(self, message: KafkaMessage, value: bytes) -> _Heads:
        """Return the bytes that name the schemas of key and value. Raises: Irregular."""
        key, head = message.key, self._head
        if head:
            return None if key is None else key[:head], value[:head], message.has_key
        headers = dict(message.headers)
        key_id = None if key is None else id_in_headers(headers, "key")[1]
        value_id = id_in_headers(headers, "value")[1]
        if value_id is None or (key is not None and key_id is None):
            raise Irregular
        return key_id, value_id, message.has_key

    def _plain(self, message: AnyMessage) -> list[Event]:
        if schema_of(message) is not None:
            return []
        kafka = expect_kafka(message, MESSAGES)
        key, value = kafka.key, kafka.value
        self._credit.earn(len(key or b"") + len(value or b""))
        found = read_message(kafka, self.source, self.settings, self.tables)
        events = list(events_of(found, key_bytes, self.settings, self.selection))
        if self._is_usual and isinstance(found, (Change, Unwrapped)) and value is not None:
            with suppress(*IRREGULARITIES):
                self._learn(self._heads(kafka, value), found)
        return events

    def _learn(self, heads: _Heads, found: Change | Unwrapped) -> None:
        """Make the route of a good message, if that pays. Raises: one of IRREGULARITIES."""
        value, key = _plan_of(found.envelope), _plan_of(found.key_envelope)
        if heads in self._routes or value is None or (key is None) != (heads[0] is None):
            return
        row = found.row if isinstance(found, Unwrapped) else found.after
        size = len(value.schema.fields) + 2 * len(row.schema.fields) + _ENTRY
        if not self._credit.spend(size * _PRICE_OF_A_FIELD):
            return
        self._routes.keep(heads, None, size)  # it is not tried again if there is none
        if not heads[2] and heads[0] is not None:
            return  # a key that is said to be unknown
        facts, read_key = KeyFacts((), heads[2]) if heads[2] else KeyFacts(None, False), None
        if key is not None:
            facts, read_key = key_function(key, self.settings.key_field_name)
        if isinstance(found, Unwrapped):
            read = self._row(value, facts, None if key is None else _SOME_KEY)
        else:
            read = self._change(value, found, facts)
        self._routes[heads] = _Route(heads, read_key, read)

    def _row(self, plan: DatumPlan, facts: KeyFacts, key: Envelope | None) -> ReadEvents:
        """Return what reads the rows of a schema. Raises: one of IRREGULARITIES."""
        if self.tables and not plan.has_metadata:
            raise Irregular
        code = DatumCode(plan.kind)
        part = code.payload(plan.schema)
        lines = [*part.lines, f"return {part.made}"]
        read_row = compile_function("read_row", "data, position", lines, code.names)
        settings, selection, head = self.settings, self.selection, self._head

        def read(message: KafkaMessage, value: bytes, physical_table: str | None) -> list[Event]:
            if physical_table is not None:
                raise Irregular
            parsed = Parsed(Envelope(plan.schema, read_row(value, head)), None, 0, 0)
            more = RowSettings(settings, self.tables, message.headers)
            row = unwrapped_of(parsed, facts.names, key, more)
            row = checked(row, settings, Origin("value", parsed))
            return list(unwrapped_events(row, settings, selection))

        return read

    def _change(self, plan: DatumPlan, usual: Change, key: KeyFacts) -> ReadEvents:
        """Return what reads the changes of a schema. Raises: one of IRREGULARITIES."""
        schema, is_typed = plan.schema, source_of(usual.source.connector).has_undeclared
        if schema.index(_CDL) is not None or (
            self.tables and not plan.has_metadata and not is_typed
        ):
            raise Irregular
        if is_typed:
            if self.settings.lint == "strict":
                raise Irregular  # the types have warnings of their own
            schema = typed_schema(schema, usual.source, self.tables)
        code = DatumCode(plan.kind)
        payloads = Payloads(schema, usual.envelope.payload, is_typed)
        _, lines = change_lines(code, payloads, key, self._feed)
        parameters = "data, position, physical_table"
        read_value = compile_function("read_value", parameters, lines, code.names)
        head = self._head

        def read(message: KafkaMessage, value: bytes, physical_table: str | None) -> list[Event]:
            event = read_value(value, head, physical_table)
            return [] if event is None else [event]

        return read


def _plan_of(envelope: object) -> DatumPlan | None:
    return envelope.plan if isinstance(envelope, Datum) else None
