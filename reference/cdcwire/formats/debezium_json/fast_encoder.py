"""The fast encoder: one template per table, whose holes are the rows and what changes with them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from cdcwire.connect.cdl import ROW_CHANGE, VERSION_2
from cdcwire.connect.usual_rows import (
    MessageTemplate,
    RowPlan,
    UsualRows,
    message_template,
    struct_template,
)
from cdcwire.connect.usual_values import int64_text, optional_text, string_text
from cdcwire.connect.values import write_value
from cdcwire.core.compiled import FastEncoder, Irregular
from cdcwire.core.format import NO_CONTEXT, Context
from cdcwire.core.message import KafkaMessage
from cdcwire.formats.debezium_json.schemas import block_schema, is_new, safe_name, source_schema
from cdcwire.formats.debezium_json.settings import Dialect, Settings, read_settings
from cdcwire.formats.debezium_json.writing import (
    OPS,
    cdl_schema,
    envelope_schema,
    messages_of,
    source_name,
)
from cdcwire.formats.debezium_json.writing_parts import (
    block_values,
    commit_ms_of,
    extra_text,
    moment_values,
    source_values,
    transaction_number,
)
from cdcwire.model.events import NO_EXTRA, Event, Position, RowChange, Table

_CHANGING = ("ts_ms", "txId", "lsn")  # in the order of its fields


@dataclass(frozen=True, slots=True)
class _Template:
    """The messages of a table. ``sources`` is by operation, for changes without ``extra``."""

    envelope: MessageTemplate
    key: MessageTemplate
    payload: str
    sources: dict[str, str]


class RowEncoder(FastEncoder[KafkaMessage]):
    """Encodes rows of tables whose columns it has seen; all else by the plain encoder."""

    def __init__(self, context: Context = NO_CONTEXT) -> None:
        self._settings = read_settings(context)
        self._dialect: Dialect = self._settings.dialect
        self._tables = context.tables
        self._rows: UsualRows[_Template] = UsualRows(self._settings.style)

    def _messages(self, events: Iterable[Event]) -> Iterator[KafkaMessage]:
        return messages_of(events, self._settings, self._tables, self.piece)

    def _piece(self, change: RowChange) -> KafkaMessage:
        plan, before, after, key = self._rows.row(change)
        server = extra_text(change.extra, "source_name") or self._settings.topic_prefix
        template = plan.made_by(server, lambda: self._template(change, plan))
        op = OPS[change.op]
        source = self._source(change, op, template)
        if self._dialect == "cdl":
            members = (before, after, source, *self._cdl_members(change, op, key))
            return KafkaMessage(None, template.envelope.message(template.payload % members))
        members = (before, after, source, *self._members(change, op))
        return KafkaMessage(
            None if key is None else template.key.message(key),
            template.envelope.message(template.payload % members),
        )

    def _members(self, change: RowChange, op: str) -> tuple[str, ...]:
        position = change.position
        block, moments = "null", [int64_text(position.sent_ms)]
        if change.extra:
            block = write_value(block_schema(self._dialect), block_values(position, change.extra))
            values = moment_values(position, change.extra, self._settings)
            moments = list(map(int64_text, values))
        elif is_new(self._dialect):
            moments += ["null", "null"]
        if is_new(self._dialect):
            return (block, f'"{op}"', *moments)
        return (f'"{op}"', *moments, block)

    def _cdl_members(self, change: RowChange, op: str, key: str | None) -> tuple[str, ...]:
        position, extra = change.position, change.extra
        sent_ms = position.sent_ms if position.sent_ms is not None else commit_ms_of(position)
        members = (
            '"c"' if op == "r" else f'"{op}"',
            int64_text(sent_ms),
            f'"{VERSION_2}"',
            string_text(extra_text(extra, "message_type") or ROW_CHANGE),
            optional_text(extra_text(extra, "lob_columns")),
            key or "null",
        )
        if self._settings.heartbeat_identifier == "append":
            return (*members, optional_text(extra_text(extra, "heartbeat_identifier")))
        return members

    def _source(self, change: RowChange, op: str, template: _Template) -> str:
        table, position, extra = change.table, change.position, change.extra
        if extra:
            values = source_values(table, position, extra, self._settings, op)
            return write_value(source_schema(self._dialect), values)
        return template.sources[op] % (
            int64_text(commit_ms_of(position)),
            int64_text(transaction_number(position)),
            int64_text(position.lsn),
        )

    def _template(self, change: RowChange, plan: RowPlan[_Template]) -> _Template:
        if self._settings.transforms != "none":
            raise Irregular
        table, dialect = change.table, self._dialect
        if dialect == "cdl":
            has_heartbeat = self._settings.heartbeat_identifier == "append"
            name = f"{table.schema}.{table.name}"
            schema = cdl_schema(name, plan.struct, plan.key, has_heartbeat)
        else:
            name = source_name(table, self._settings, change.extra)
            schema = envelope_schema(name, plan.struct, dialect)
        key_schema = replace(plan.key, name=safe_name(dialect, name, "Key"))
        wrapped = self._settings.schemas_enable != "false"
        return _Template(
            message_template(schema, wrapped),
            message_template(key_schema, wrapped),
            struct_template(schema),
            {op: _source_template(table, op, self._settings) for op in OPS.values()},
        )


def _source_template(table: Table, op: str, settings: Settings) -> str:
    """Return ``source`` with holes for what ``_CHANGING`` names."""
    schema = source_schema(settings.dialect)
    values = source_values(table, Position(commit_ms=0), NO_EXTRA, settings, op)
    known = {
        field.name: write_value(field.schema, value)
        for field, value in zip(schema.fields, values, strict=True)
        if field.name not in _CHANGING
    }
    return struct_template(schema, known)
