"""The fast encoder: one template per table, whose holes are the rows and what changes with them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from cdcwire.connect.cdl import ROW_CHANGE, VERSION_2
from cdcwire.connect.style import Style
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
from cdcwire.core.context import NO_CONTEXT, Context
from cdcwire.core.message import KafkaMessage
from cdcwire.debezium.connectors import TEXT_PLACES, Member
from cdcwire.debezium.notes import with_notes
from cdcwire.debezium.schemas import block_schema, source_schema
from cdcwire.debezium.shapes import Shape, names_of, shape_of
from cdcwire.debezium.writing import (
    OPS,
    cdl_schema,
    envelope_schema,
    messages_of,
)
from cdcwire.debezium.writing_parts import (
    block_values,
    commit_ms_of,
    extra_text,
    member_value,
    moment_values,
    source_values,
)
from cdcwire.formats.debezium_json.settings import Settings, read_settings
from cdcwire.formats.debezium_json.ticdc import ticdc_messages
from cdcwire.formats.debezium_json.wire import writer_of
from cdcwire.model.events import NO_EXTRA, Event, Position, RowChange

_UNUSUAL = frozenset(("nullable_key", "offsets", "physical_table", "placeholders", "schema_name"))


@dataclass(frozen=True, slots=True)
class _Template:
    """The messages of a table. ``sources`` is by operation, for changes without ``extra``.

    ``places``: the members of the position that ``sources`` has holes for.
    """

    envelope: MessageTemplate
    key: MessageTemplate
    payload: str
    sources: dict[str, str]
    places: tuple[Member, ...]


class RowEncoder(FastEncoder[KafkaMessage]):
    """Encodes rows of tables whose columns it has seen; all else by the plain encoder."""

    def __init__(self, context: Context = NO_CONTEXT) -> None:
        self._settings = read_settings(context)
        self._is_cdl = self._settings.dialect == "cdl"
        self._tables = context.tables
        self._rows: dict[Style, UsualRows[_Template]] = {}

    def _messages(self, events: Iterable[Event]) -> Iterator[KafkaMessage]:
        if self._settings.dialect == "ticdc":
            return ticdc_messages(events, self._settings, self._tables)
        return messages_of(events, writer_of(self._settings), self._tables, self.piece)

    def _piece(self, change: RowChange) -> KafkaMessage:
        extra = change.extra
        if not _UNUSUAL.isdisjoint(extra):
            raise Irregular
        shape = shape_of(extra, self._settings)
        style = shape.style_of(self._settings, is_snapshot=change.op == "read")
        rows = self._rows.get(style)
        if rows is None:
            self._rows[style] = rows = UsualRows(style)
        plan, before, after, key = rows.row(change)
        server = extra_text(extra, "source_name") or self._settings.topic_prefix
        notes = extra_text(extra, "column_notes") or ""
        name = f"{shape.source.name}/{shape.version}/{bool(extra)}/{server}/{notes}"
        template = plan.made_by(name, lambda: self._template(change, plan, shape))
        op = OPS[change.op]
        source = self._source(change, op, template, shape)
        if self._is_cdl:
            members = (before, after, source, *self._cdl_members(change, op, key))
            return KafkaMessage(None, template.envelope.message(template.payload % members))
        members = (before, after, source, *self._members(change, op, shape))
        return KafkaMessage(
            None if key is None else template.key.message(key),
            template.envelope.message(template.payload % members),
        )

    def _members(self, change: RowChange, op: str, shape: Shape) -> tuple[str, ...]:
        position = change.position
        block, moments = "null", [int64_text(position.sent_ms)]
        if change.extra:
            block = write_value(block_schema(shape), block_values(position, change.extra))
            moments = list(map(int64_text, moment_values(position, change.extra, shape)))
        elif shape.has_moments:
            moments += ["null", "null"]
        if shape.has_block_first:
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

    def _source(self, change: RowChange, op: str, template: _Template, shape: Shape) -> str:
        table, position, extra = change.table, change.position, change.extra
        if extra:
            values = source_values(table, position, extra, self._settings, op)
            return write_value(source_schema(shape), values)
        places = [member_value(member, position, NO_EXTRA) for member in template.places]
        return template.sources[op] % (
            int64_text(commit_ms_of(position)),
            *(string_text(v) if isinstance(v, str) else int64_text(v) for v in places),
        )

    def _template(self, change: RowChange, plan: RowPlan[_Template], shape: Shape) -> _Template:
        names = self._settings.schema_names, self._settings.field_names
        if self._settings.transforms != "none" or names != ("none", "none"):
            raise Irregular
        table, key_schema = change.table, plan.key
        if self._is_cdl:
            has_heartbeat = self._settings.heartbeat_identifier == "append"
            name = f"{table.schema}.{table.name}"
            schema = cdl_schema(name, plan.struct, plan.key, has_heartbeat)
        else:
            name = names_of(table, self._settings, change.extra)
            notes = extra_text(change.extra, "column_notes")
            schema = envelope_schema(name, with_notes(plan.struct, notes), shape)
            key_schema = with_notes(plan.key, notes)
        key_schema = replace(key_schema, name=shape.safe_name(name, "Key"))
        wrapped = self._settings.schemas_enable != "false"
        sources: dict[str, str] = {}
        places: tuple[Member, ...] = ()
        if not change.extra:
            places = _places(shape)
            sources = {op: _source_template(change, op, self._settings) for op in OPS.values()}
        return _Template(
            message_template(schema, wrapped),
            message_template(key_schema, wrapped),
            struct_template(schema),
            sources,
            places,
        )


def _places(shape: Shape) -> tuple[Member, ...]:
    """Return the members of ``source`` that change with the position, in their order."""
    names = [field.name for field in source_schema(shape).fields]
    members = (m for m in shape.source.members_of(shape.version) if m.in_position)
    return tuple(member for member in members if member.name in names)


def _source_template(change: RowChange, op: str, settings: Settings) -> str:
    """Return ``source`` with holes for its time and for the members that ``_places`` names."""
    shape = shape_of(NO_EXTRA, settings)
    schema, members = source_schema(shape), _places(shape)
    somewhere = {m.place: "0" if m.place in TEXT_PLACES else 0 for m in members}
    position = Position(commit_ms=0, **somewhere)  # type: ignore[arg-type]  # as its fields want
    values = source_values(change.table, position, NO_EXTRA, settings, op)
    changing = {"ts_ms", *(member.name for member in members)}
    known = {
        field.name: write_value(field.schema, value)
        for field, value in zip(schema.fields, values, strict=True)
        if field.name not in changing
    }
    return struct_template(schema, known)
