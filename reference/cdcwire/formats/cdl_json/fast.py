"""The fast decoder and encoder of CDL's messages, with the plain ones as the fallback.

The values of a message come from the fast reader of its schema (``cdcwire.connect.fast``). Their
meaning comes from the same functions as in the plain decoder. Messages that the fast reader does
not take, or these functions refuse, are decoded in the plain way, which says where and why. So both
accept and reject the same bytes with the same errors.

Read in the plain way are payloads alone, nulls that are replaced by a default, and messages with a
key or without value.

The encoder has one template per table, whose holes are the rows and what changes with them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from cdcwire.connect import EnvelopeDecoder
from cdcwire.connect.cdl import ROW_CHANGE, VERSION_1
from cdcwire.connect.usual_rows import (
    MessageTemplate,
    RowPlan,
    UsualRows,
    message_template,
    struct_template,
)
from cdcwire.connect.usual_values import int64_text, optional_text, string_text
from cdcwire.core.compiled import FastDecoder, FastEncoder, Irregular
from cdcwire.core.context import NO_CONTEXT, Context
from cdcwire.core.message import KafkaMessage, expect_kafka
from cdcwire.core.message import Message as AnyMessage
from cdcwire.formats.cdl_json.events import (
    OPERATIONS,
    commit_ms,
    events_of,
    extra_text,
    message_schema,
    messages_of,
    properties_of,
)
from cdcwire.formats.cdl_json.message import Tombstone
from cdcwire.formats.cdl_json.settings import Settings, read_settings
from cdcwire.formats.cdl_json.wire import change_of, read_message
from cdcwire.model.events import NO_EXTRA, Event, Extra, RowChange, Table


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


_NAMES = {name: string_text(name) for name in ("lsn", "txId")}


@dataclass(frozen=True, slots=True)
class _Template:
    """The messages of a table."""

    envelope: MessageTemplate
    payload: str


class RowEncoder(FastEncoder[KafkaMessage]):
    """Encodes rows of tables whose columns it has seen; all else by the plain encoder."""

    def __init__(self, context: Context = NO_CONTEXT) -> None:
        self._settings = read_settings(context)
        self._rows: UsualRows[_Template] = UsualRows(self._settings.style)
        self._without_extra = self._texts(NO_EXTRA)

    def _messages(self, events: Iterable[Event]) -> Iterator[KafkaMessage]:
        return messages_of(events, self._settings, self.piece)

    def _piece(self, change: RowChange) -> KafkaMessage:
        plan, before, after, key = self._rows.row(change)
        template = plan.made_by("", lambda: self._template(change.table, plan))
        extra = change.extra
        store, columns, kind, heartbeat = self._texts(extra) if extra else self._without_extra
        payload = template.payload % (
            store,
            int64_text(commit_ms(change.position)),
            f'"{OPERATIONS[change.op]}"',
            columns,
            _transaction(change),
            key or "null",
            after,
            before,
            kind,
            heartbeat,
        )
        return KafkaMessage(None, template.envelope.message(payload))

    def _texts(self, extra: Extra) -> tuple[str, str, str, str]:
        """Return DATA_STORE, LOB_COLUMNS, message_type and HEARTBEAT_IDENTIFIER."""
        store = extra.get("connector")
        return (
            string_text(store.upper() if isinstance(store, str) else self._settings.data_store),
            optional_text(extra_text(extra, "lob_columns")),
            string_text(extra_text(extra, "message_type") or ROW_CHANGE),
            optional_text(extra_text(extra, "heartbeat_identifier")),
        )

    def _template(self, table: Table, plan: RowPlan[_Template]) -> _Template:
        if table.schema is None or table.name is None:
            raise Irregular
        schema = message_schema(f"{table.schema}.{table.name}", plan.struct, plan.key)
        return _Template(
            message_template(schema, self._settings.schemas_enable != "false"),
            struct_template(
                schema,
                {
                    "SEG_OWNER": string_text(table.schema),
                    "TABLE_NAME": string_text(table.name),
                    "message_version": string_text(VERSION_1),
                },
            ),
        )


def _transaction(change: RowChange) -> str:
    properties = [
        f'{{"name":{_NAMES.get(name) or string_text(name)},"value":{int64_text(value)}}}'
        for name, value in properties_of(change)
    ]
    return f'{{"properties":[{",".join(properties)}]}}'
