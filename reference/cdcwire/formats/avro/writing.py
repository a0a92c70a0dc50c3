"""Events to Kafka messages: one row, one message, schemas registered when they are first needed.

An update that alters a column of the primary or of a unique key becomes a delete and an insert.
With the option to send old rows it stays an update. DDL and progress are not sent, unless the
options ask for the producer's test messages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

from cdcwire.apache_avro.registries import write_envelope
from cdcwire.apache_avro.schema import Datum, Field, Primitive, Record, Union
from cdcwire.apache_avro.schema_json import schema_text
from cdcwire.apache_avro.sources import MemorySource, SchemaSource
from cdcwire.core.caches import BoundedCache
from cdcwire.core.context import SchemaId
from cdcwire.core.errors import EncodeError, step
from cdcwire.core.message import KafkaMessage
from cdcwire.core.options import OptionError
from cdcwire.formats.avro.checksum import row_checksum
from cdcwire.formats.avro.columns import declared_of, field_of, is_scale_known
from cdcwire.formats.avro.definitions import Definitions, columns_by_name, completed
from cdcwire.formats.avro.extension import extension_fields, extension_values
from cdcwire.formats.avro.message import Checkpoint, Datums, Ddl, DeletedAt, Message
from cdcwire.formats.avro.names import (
    TopicRule,
    TopicRuleError,
    check_unique,
    namespace_of,
    parse_topic_rule,
    sanitize,
    subject_of,
)
from cdcwire.formats.avro.plans import BEFORE_FIELD, RecordPlan, plan_of
from cdcwire.formats.avro.settings import DEFAULT_SETTINGS, Settings
from cdcwire.formats.avro.values import ValueWriter, with_labels
from cdcwire.formats.avro.wire import encode
from cdcwire.model.events import (
    Event,
    Image,
    Marker,
    Position,
    Progress,
    RowChange,
    SchemaChange,
    Table,
)
from cdcwire.model.kinds import BitType, Column, EnumType, Role, SetType, Value
from cdcwire.mysql.images import is_primary_key

MESSAGES = "avro: messages"
KEY_CLAUSE = "avro: key record"
VALUE_CLAUSE = "avro: value record"
BEFORE_CLAUSE = "avro: before value"
NO_VALUE = -1  # the place of a virtual column, which has no value in a row
RECORD_OVERHEAD = 36  # bytes that a Kafka record needs in addition to key and value
_KNOWN_COLUMNS = 1 << 14
_KEY_ROLES: frozenset[Role] = frozenset({"primary", "handle", "unique"})


def messages_of(
    events: Iterable[Event],
    settings: Settings = DEFAULT_SETTINGS,
    tables: Iterable[Table] = (),
    source: SchemaSource | None = None,
) -> Iterator[KafkaMessage]:
    """Yield the Kafka messages of events.

    ``tables`` completes columns that come with their kind only. ``source`` is the registry; without
    one, schemas are numbered from 1. Raises: EncodeError for what the format can't carry, with the
    number of the event in the path.
    """
    yield from MessageWriter(settings, tables, source).all_messages(events)


def schemas_of(table: Table, settings: Settings = DEFAULT_SETTINGS) -> tuple[str | None, str]:
    """Return the schema texts of a table's keys and values, as its rows would register them.

    A table without handle key has None as the key's. Raises: EncodeError for columns that have no
    field, with their names in the path.
    """
    columns = tuple(c for c in table.columns or () if "virtual" not in c.roles)
    layout = Layout(table, columns, table, settings)
    key = layout.key_side().text if layout.key else None
    return key, layout.value_side().text


class Body(NamedTuple):
    """A record that is written, without its envelope."""

    side: Side
    raw: bytes


class Piece(NamedTuple):
    """The records of a row's message. A delete has no value."""

    key: Body | None
    value: Body | None


def _no_piece(event: Event) -> Piece | None:
    """Leave every row to the plain encoder."""
    return None


class MessageWriter:
    """Makes messages of events. It remembers the layouts of tables, up to a limit.

    ``piece`` gives the records of an event that are written already; None for all others.
    """

    def __init__(
        self,
        settings: Settings = DEFAULT_SETTINGS,
        tables: Iterable[Table] = (),
        source: SchemaSource | None = None,
        piece: Callable[[Event], Piece | None] = _no_piece,
    ) -> None:
        self.settings = settings
        self._piece = piece
        self.source = MemorySource(registry=settings.registry) if source is None else source
        self._definitions = Definitions(tables)
        self._layouts: BoundedCache[object, Layout] = BoundedCache(_KNOWN_COLUMNS)
        self._ids: BoundedCache[tuple[str, str], SchemaId] = BoundedCache(1 << 22)
        self._rule = _topic_rule(settings.topic)

    def all_messages(self, events: Iterable[Event]) -> Iterator[KafkaMessage]:
        """Yield the messages of events. Raises: EncodeError with the number of the event."""
        for index, event in enumerate(events):
            with step("events", index):
                messages = self.messages(event)
            yield from messages

    def messages(self, event: Event) -> list[KafkaMessage]:
        """Return the messages of one event, often one. Raises: EncodeError."""
        match event:
            case RowChange():
                piece = self._piece(event)
                return self._row_messages(event) if piece is None else [self._joined(event, piece)]
            case SchemaChange() | Progress() if not self.settings.has_watermark:
                return []
            case SchemaChange():
                return [KafkaMessage(*encode(Message(None, _ddl(event))))]
            case Progress(what="checkpoint"):
                commit_ts = _commit_ts(event.position, "avro: watermark")
                return [KafkaMessage(*encode(Message(None, Checkpoint(commit_ts))))]
            case Marker(what="tombstone", extra={"message_key": None}) if self.settings.is_ticdc:
                known = event.position.commit_ts is not None
                deleted = self._deleted_at(event.position) if known else None
                return [KafkaMessage(*encode(Message(None, deleted)))]
            case _:
                raise EncodeError(f"there is no message for {event.what!r}", MESSAGES, ("what",))

    def _row_messages(self, event: RowChange) -> list[KafkaMessage]:
        _check(event, self.settings.include_before_value)
        is_update = event.op == "update" and not self.settings.include_before_value
        if is_update and event.before is not None and event.after is not None:
            layout = self._layout(event.table, event.before.columns)
            if layout.changes_key(event.before, event.after):
                # Both tell the position; deletes can't.
                delete = replace(event, op="delete", after=None)
                insert = replace(event, op="insert", before=None)
                return [self._row_message(delete), self._row_message(insert)]
        return [self._row_message(event)]

    def _row_message(self, event: RowChange) -> KafkaMessage:
        is_delete = event.op == "delete"
        image = event.before if is_delete else event.after
        side = "before" if is_delete else "after"
        if image is None:
            raise EncodeError(f"{event.op} needs {side}", VALUE_CLAUSE, (side,))
        layout = self._layout(event.table, image.columns)
        topic = self._rule.topic(event.table.schema or "", event.table.name or "")
        key = None
        with step(side):
            if layout.key:
                key = self._datums(layout, layout.key_side(), image, topic)
            elif is_delete and not self.settings.include_before_value:
                problem = "a table without handle key has no deletes"
                if self.settings.is_ticdc:
                    problem = (
                        "a delete in a table without primary key is sent without its row; set "
                        "avro-include-before-value=true"
                    )
                raise EncodeError(problem, KEY_CLAUSE)
        if is_delete and not self.settings.include_before_value:
            deleted = self._deleted_at(event.position)
            return self._within_limit(*encode(Message(key, deleted)))
        with step(side):
            value_side = layout.value_side()
            schema_id = self._schema_id(value_side, subject_of(topic, "value"))
            values = value_side.values(image)
        checksum = None
        if self.settings.integrity and "checksum" not in event.extra:
            columns = zip(value_side.checksum_plan.fields, values, strict=False)
            checksum = row_checksum(columns, self.settings.time_zone)
        if self.settings.include_before_value:
            values += (_before_datum(value_side, image, event.before),)
        values += extension_values(event.op, event.position, event.extra, checksum, self.settings)
        value = Datums(schema_id, values, value_side.plan)
        return self._within_limit(*encode(Message(key, value)))

    def _deleted_at(self, position: Position) -> DeletedAt | None:
        """Return the value of a delete: the new architecture gives its timestamp, if it may."""
        if self.settings.has_watermark and self.settings.is_ticdc:
            return DeletedAt(_commit_ts(position, "avro: watermark"))
        return None

    def _joined(self, event: RowChange, piece: Piece) -> KafkaMessage:
        """Return the message of a row whose records are written."""
        topic = self._rule.topic(event.table.schema or "", event.table.name or "")
        with step("before" if piece.value is None else "after"):
            key = piece.key and self._enveloped(piece.key, subject_of(topic, "key"))
            value = piece.value and self._enveloped(piece.value, subject_of(topic, "value"))
        return self._within_limit(key, value)

    def _enveloped(self, body: Body, subject: str) -> bytes:
        out = bytearray()
        write_envelope(out, self._schema_id(body.side, subject))
        return bytes(out) + body.raw

    def _datums(self, layout: Layout, side: Side, image: Image, topic: str) -> Datums:
        schema_id = self._schema_id(side, subject_of(topic, "key"))
        return Datums(schema_id, side.values(image), side.plan)

    def _schema_id(self, side: Side, subject: str) -> SchemaId:
        known = self._ids.get((subject, side.text))
        if known is None:
            known = self.source.register(subject, side.text)
            self._ids.keep((subject, side.text), known, len(side.text))
        return known

    def _layout(self, table: Table, columns: tuple[Column, ...]) -> Layout:
        """Return what follows from the columns alone."""
        place = (id(columns), table.schema, table.name, table.key)
        known = self._layouts.get(place)
        if known is None:
            definition = self._definitions.of(table, columns)
            known = Layout(table, columns, definition, self.settings)
            self._layouts.keep(place, known, len(columns) + 4)
        return known

    def _within_limit(self, key: bytes | None, value: bytes | None) -> KafkaMessage:
        """Return the message of a row. Raises: EncodeError if it is too large."""
        size = RECORD_OVERHEAD + len(key or b"") + len(value or b"")
        limit = self.settings.max_message_bytes
        if size > limit:
            problem = f"message too large: {size} bytes, {limit} are allowed"
            raise EncodeError(problem, "avro: message size")
        return KafkaMessage(key, value)


class Layout:
    """The columns of a row: completed, in the table's order, and the two records of them."""

    def __init__(
        self,
        table: Table,
        columns: tuple[Column, ...],
        definition: Table | None,
        settings: Settings,
    ) -> None:
        self.given = columns  # kept, so that the id stays theirs
        self.table = table
        self.settings = settings
        known = columns_by_name(definition)
        found = [
            (known.get(column.name, (len(known), None)), place, column)
            for place, column in enumerate(columns)
        ]
        if settings.is_ticdc:  # virtual columns have no values, and fields all the same
            given = {column.name for column in columns}
            found += [
                (defined, NO_VALUE, defined[1])
                for name, defined in known.items()
                if name == defined[1].name
                and "virtual" in defined[1].roles
                and not {name, sanitize(name)} & given
            ]
        found.sort(key=lambda each: each[0][0])
        self.columns = [(place, completed(column, known)) for (_, known), place, column in found]
        self.key = _key_names(table, definition, [column for _, column in self.columns])
        roles = {column.name: column.roles for _, column in self.columns}
        if settings.is_ticdc and not is_primary_key(self.key, roles):
            self.key = ()
        self._key_side: Side | None = None
        self._value_side: Side | None = None

    def key_side(self) -> Side:
        """Return the key's record. Raises: EncodeError."""
        if self._key_side is None:
            chosen = [pair for pair in self.columns if pair[1].name in self.key]
            missing = set(self.key) - {column.name for _, column in chosen}
            if missing:
                problem = f"the handle key has {min(missing)!r:.80}, the row has not"
                raise EncodeError(problem, KEY_CLAUSE)
            self._key_side = self._side(chosen, (), False)
        return self._key_side

    def value_side(self) -> Side:
        """Return the value's record. Raises: EncodeError."""
        if self._value_side is None:
            chosen = [
                (NO_VALUE if "virtual" in column.roles else place, column)
                for place, column in self.columns
                if self.settings.is_ticdc or "virtual" not in column.roles
            ]
            if self.settings.integrity:
                chosen = _by_id(chosen)
            self._value_side = self._side(chosen, extension_fields(self.settings), True)
        return self._value_side

    def changes_key(self, before: Image, after: Image) -> bool:
        """Return whether an update alters a column of the primary key or of a unique key."""
        new = dict(zip((column.name for column in after.columns), after.values, strict=True))
        key = [(place, self.given[place].name) for place in self.key_places]
        return any(name in new and not _same(before.values[p], new[name]) for p, name in key)

    @property
    def key_places(self) -> tuple[int, ...]:
        """The places of the columns of the primary key and of unique keys."""
        return tuple(
            place
            for place, column in self.columns
            if place != NO_VALUE and (column.roles & _KEY_ROLES or column.name in self.key)
        )

    def _side(
        self, chosen: list[tuple[int, Column]], extension: tuple[Field, ...], is_value: bool
    ) -> Side:
        fields: list[Field] = []
        for _, column in chosen:
            with step(column.name):
                fields.append(field_of(column, self.settings, self._is_nullable(column)))
        name = sanitize(self.table.name or "")
        namespace = namespace_of(self.settings.namespace, self.table.schema)
        if is_value and self.settings.include_before_value:
            old_row = Record(f"{name}_before", namespace, tuple(fields))
            extension = (Field(BEFORE_FIELD, Union((Primitive("null"), old_row)), None), *extension)
        check_unique(
            (*(column.name for _, column in chosen), *(field.name for field in extension)),
            (field.name for field in (*fields, *extension)),
        )
        record = Record(name, namespace, (*fields, *extension))
        plan = plan_of(record)
        writers = []
        for (place, column), field in zip(chosen, plan.fields, strict=False):
            declared = declared_of(column)
            bit_size = 1
            if self.settings.is_ticdc and isinstance(column.type, BitType):
                bit_size = max(1, -(-(declared.flen or 1) // 8))
            writer = ValueWriter(
                with_labels(column, declared.elements),
                declared,
                field,
                self.settings.time_zone,
                is_scale_known(column),
                bit_size,
            )
            writers.append((place, column.name, writer))
        return Side(schema_text(record), plan, tuple(writers), _with_options(plan, writers))

    def _is_nullable(self, column: Column) -> bool:
        if column.nullable is not None:
            return column.nullable
        return column.name not in self.key and not column.roles & {"primary", "handle"}


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """Key or value of a layout. ``checksum_plan``: with the labels as the definition has them."""

    text: str
    plan: RecordPlan
    writers: tuple[tuple[int, str, ValueWriter], ...]
    checksum_plan: RecordPlan

    def values(self, image: Image) -> tuple[Value, ...]:
        """Return the record's values of an image. Raises: EncodeError with the column as path."""
        values = []
        for place, name, writer in self.writers:
            try:
                values.append(writer.write(None if place == NO_VALUE else image.values[place]))
            except EncodeError as error:
                error.path = (name, *error.path)
                raise
        return tuple(values)


def _before_datum(side: Side, image: Image, before: Image | None) -> Datum:
    """Return the record of an old row, whose columns are those of the row. Raises: EncodeError."""
    if before is None:
        return None
    if before.columns != image.columns:
        values = dict(zip(before.names, before.values, strict=True))
        missing = set(image.names) - set(values)
        if missing:
            problem = f"the old row lacks {min(missing)!r:.80}"
            raise EncodeError(problem, BEFORE_CLAUSE, ("before",))
        before = Image(image.columns, tuple(values[name] for name in image.names))
    with step("before"):
        return side.values(before)


def _with_options(plan: RecordPlan, writers: list[tuple[int, str, ValueWriter]]) -> RecordPlan:
    fields = list(plan.fields)
    for index, (_, _, writer) in enumerate(writers):
        kind, options = fields[index].kind, writer.declared.elements
        if isinstance(kind, (EnumType, SetType)):
            fields[index] = replace(fields[index], kind=replace(kind, labels=options))
    return replace(plan, fields=tuple(fields[: len(writers)]))


def _by_id(chosen: list[tuple[int, Column]]) -> list[tuple[int, Column]]:
    """Return the columns by id, as the row checksum takes them; without any id as they are."""
    ids = [column.id for _, column in chosen]
    if all(number is None for number in ids):
        return chosen
    if any(number is None for number in ids):
        problem = "either all columns have an id or none"
        raise EncodeError(problem, "avro: field order")
    return sorted(chosen, key=lambda pair: pair[1].id or 0)


def _key_names(table: Table, definition: Table | None, columns: list[Column]) -> tuple[str, ...]:
    if table.key is not None:
        return table.key
    if definition is not None:
        handles = tuple(c.name for c in definition.columns or () if "handle" in c.roles)
        if handles or definition.key is not None:
            return handles or definition.key or ()
    return tuple(column.name for column in columns if "handle" in column.roles)


def _same(left: Value, right: Value) -> bool:
    return type(left) is type(right) and bool(left == right)


def _topic_rule(expression: str) -> TopicRule:
    try:
        return parse_topic_rule(expression, "shipped")
    except TopicRuleError as error:
        raise OptionError(f"option topic: {error}") from error


def _check(event: RowChange, has_before: bool) -> None:
    if event.half is not None:
        raise EncodeError("an update is one event, never two records", MESSAGES, ("half",))
    if event.op == "read":
        raise EncodeError("there is no message for 'read'", MESSAGES, ("op",))
    if not event.table.name:
        raise EncodeError("a row needs its table", "avro: names", ("table",))
    if (event.op != "delete" or has_before) and event.sent in ("key", "changed"):
        problem = f"a row has all its columns, this one was sent as {event.sent!r}"
        raise EncodeError(problem, VALUE_CLAUSE, ("sent",))
    if event.op == "insert" and event.before is not None:
        raise EncodeError("insert has no before", VALUE_CLAUSE, ("before",))
    if event.op == "delete" and event.after is not None:
        raise EncodeError("delete has no after", VALUE_CLAUSE, ("after",))


def _commit_ts(position: Position, clause: str) -> int:
    if position.commit_ts is None:
        raise EncodeError("the event needs a commit_ts", clause, ("position", "commit_ts"))
    return position.commit_ts


def _ddl(event: SchemaChange) -> Ddl:
    clause = "avro: ddl"
    if event.query is None:
        raise EncodeError("a schema change needs its query", clause, ("query",))
    if event.code is None:
        raise EncodeError("a schema change needs its number", clause, ("code",))
    schema, name = (event.table.schema, event.table.name) if event.table else (None, None)
    commit_ts = _commit_ts(event.position, clause)
    return Ddl(event.query, event.code, schema or "", name or "", commit_ts)
