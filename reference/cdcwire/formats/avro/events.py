"""Messages to the neutral model; ``writing`` goes back.

Names are those of the schema: sanitised. A delete has the columns of its key. Without the extension
an insert looks the same as an update, and both are an upsert.

No TiCDC writes unions of other types, arrays, maps and records. Of these, bytes and strings stay
as they are. All else is JSON text in the way of Avro's JSON encoding, without names of branches.
"""

from __future__ import annotations

import json
import math
from dataclasses import replace
from functools import lru_cache

from cdcwire.apache_avro.schema import Array, AvroType, Branch, Datum, Map, Record, Union
from cdcwire.core.context import EVERYTHING, Selection
from cdcwire.formats.avro.definitions import Labels
from cdcwire.formats.avro.extension import read_extension
from cdcwire.formats.avro.message import Checkpoint, Datums, Ddl, DeletedAt, Message
from cdcwire.formats.avro.names import sanitize, schema_of_namespace
from cdcwire.formats.avro.plans import FieldPlan, Form, RecordPlan
from cdcwire.formats.avro.settings import DEFAULT_SETTINGS, Settings
from cdcwire.formats.avro.values import model_value, unwrapped
from cdcwire.model.events import (
    NOWHERE,
    Event,
    Image,
    Marker,
    Position,
    Progress,
    RowChange,
    SchemaChange,
    Table,
)
from cdcwire.model.kinds import Column, EnumType, IntType, Role, SetType, TimestampType, Value
from cdcwire.mysql.types import schema_change_kind

NO_LABELS = Labels(())
_HANDLE: frozenset[Role] = frozenset({"handle"})
_NO_ROLES: frozenset[Role] = frozenset()


def events_of(
    message: Message,
    settings: Settings = DEFAULT_SETTINGS,
    labels: Labels = NO_LABELS,
    selection: Selection = EVERYTHING,
) -> list[Event]:
    """Return the neutral events of a message: one, or none of a table that is not wanted.

    ``labels``: options of ENUM and SET columns that go before those of the schema.
    """
    match message.value:
        case Checkpoint(commit_ts):
            return [Progress("checkpoint", Position(commit_ts=commit_ts))]
        case Ddl() as ddl:
            return _schema_change(ddl, selection)
        case Datums() as datums:
            row = datums
        case None | DeletedAt():
            if message.key is None:
                return [Marker("tombstone", None, _deleted_at(message), {"message_key": None})]
            row = message.key
    table = table_of(row.plan, key_of(message.key))
    assert table.name is not None  # a record has a name
    if not selection.wants(table.schema, table.name):
        return []
    reading = RowReading(settings, labels, selection)
    if row is message.key:
        position = _deleted_at(message)
        before = reading.image(row.plan, row.values, table)
        return [RowChange(table, "delete", before, None, position, sent="key")]
    return [reading.row_change(row, table)]


def _deleted_at(message: Message) -> Position:
    deleted = message.value
    return Position(commit_ts=deleted.commit_ts) if isinstance(deleted, DeletedAt) else NOWHERE


def _schema_change(ddl: Ddl, selection: Selection) -> list[Event]:
    if ddl.table and not _wants(selection, ddl.schema, ddl.table):
        return []
    table = Table(ddl.table or None, ddl.schema or None) if ddl.table or ddl.schema else None
    position = Position(commit_ts=ddl.commit_ts)
    return [SchemaChange(schema_change_kind(ddl.type), ddl.query, ddl.type, table, position)]


def _wants(selection: Selection, schema: str, table: str) -> bool:
    """Return whether a DDL's table is wanted: by its name, or by the one that its rows have."""
    return any(selection.wants(name(schema) or None, name(table)) for name in (str, sanitize))


def key_of(key: Datums | None) -> tuple[str, ...]:
    """Return the names of a key record's columns; without a key there are none."""
    return key_names(key.plan) if key is not None else ()


def key_names(plan: RecordPlan) -> tuple[str, ...]:
    """Return the names of a record's columns."""
    return tuple(plan.fields[index].name for index in plan.columns)


def table_of(plan: RecordPlan, key: tuple[str, ...]) -> Table:
    """Return the table of a record: the second part of its namespace, and its name."""
    return Table(plan.record.name, schema_of_namespace(plan.record.namespace), key=key)


class RowReading:
    """How the columns of records become the model's, under one set of options."""

    def __init__(self, settings: Settings, labels: Labels, selection: Selection) -> None:
        self.settings = settings
        self.labels = labels
        self.selection = selection

    def row_change(self, row: Datums, table: Table) -> RowChange:
        """Return the row change of a value."""
        extension = read_extension(row.plan, row.values)
        image = self.image(row.plan, row.values, table)
        before = None
        if row.plan.before is not None:
            field, old = row.plan.fields[row.plan.before], row.values[row.plan.before]
            if old is not None and field.inner is not None:
                before = self.image(field.inner, old, table)
        if extension.op == "delete":
            return RowChange(
                table, "delete", image, None, extension.position, extra=extension.extra
            )
        if extension.op == "insert":
            before = None
        return RowChange(
            table, extension.op, before, image, extension.position, extra=extension.extra
        )

    def image(self, plan: RecordPlan, values: tuple[Datum, ...], table: Table) -> Image:
        """Return the row image of a record: the wanted columns with their values."""
        places = self.wanted(plan)
        columns = self.columns(plan, places, table)
        return Image(
            columns, tuple(self.value(plan.fields[place], values[place]) for place in places)
        )

    def wanted(self, plan: RecordPlan) -> tuple[int, ...]:
        """Return the places of the columns that are wanted."""
        names = self.selection.columns
        if names is None:
            return plan.columns
        return tuple(place for place in plan.columns if plan.fields[place].name in names)

    def columns(
        self, plan: RecordPlan, places: tuple[int, ...], table: Table
    ) -> tuple[Column, ...]:
        """Return the neutral columns at these places of a record.

        ENUM and SET columns get the options from the table's definition, if it is known.
        """
        if not self.labels:
            return _columns(
                plan, places, table.key or (), self.settings.time_zone, self.settings.unsigned_wrap
            )
        columns = _columns.__wrapped__(
            plan, places, table.key or (), self.settings.time_zone, self.settings.unsigned_wrap
        )
        return tuple(self._with_labels(column, table) for column in columns)

    def _with_labels(self, column: Column, table: Table) -> Column:
        kind = column.type
        if isinstance(kind, (EnumType, SetType)):
            found = self.labels.of(table.schema, table.name or "", column.name)
            if found is not None:
                return replace(column, type=replace(kind, labels=found))
        return column

    def value(self, field: FieldPlan, datum: Datum) -> Value:
        """Return a field's datum as a value of the model."""
        if datum is None:
            return None
        if field.form is Form.OTHER:
            return foreign_value(field.type, datum)
        if field.form is Form.UINT64_LONG:
            return unwrapped(datum) if self.settings.unsigned_wrap else datum
        return model_value(field, datum)


@lru_cache(maxsize=64)
def _columns(
    plan: RecordPlan,
    places: tuple[int, ...],
    key: tuple[str, ...],
    time_zone: str | None,
    unsigned_wrap: bool,
) -> tuple[Column, ...]:
    """Return the neutral columns of fields. Rows of one schema share them."""
    columns = []
    for place in places:
        field = plan.fields[place]
        kind = field.kind
        if isinstance(kind, TimestampType):
            kind = replace(kind, zone=time_zone)
        elif field.form is Form.UINT64_LONG and not unsigned_wrap:
            kind = IntType(64)
        is_nullable = None if field.form is Form.OTHER else field.null_index is not None
        roles = _HANDLE if field.name in key else _NO_ROLES
        columns.append(Column(field.name, kind, field.source, is_nullable, roles=roles))
    return tuple(columns)


def foreign_value(kind: AvroType, datum: Datum) -> Value:
    """Return the model's value of a datum of any type; None is NULL."""
    kind, datum = _branch(kind, datum)
    if datum is None or isinstance(datum, (str, bytes)):
        return datum
    return json.dumps(_json(kind, datum), ensure_ascii=False, separators=(",", ":"))


def _branch(kind: AvroType, datum: Datum) -> tuple[AvroType, Datum]:
    if not isinstance(kind, Union):
        return kind, datum
    if isinstance(datum, Branch):
        return _branch(kind.branches[datum.index], datum.value)
    if datum is None:
        return kind, None
    (other,) = (b for i, b in enumerate(kind.branches) if i != kind.null_index)
    return other, datum


def _json(kind: AvroType, datum: Datum) -> object:
    kind, datum = _branch(kind, datum)
    match kind:
        case Array(items):
            return [_json(items, item) for item in datum]
        case Map(values):
            return {key: _json(values, value) for key, value in datum}
        case Record():
            pairs = zip(kind.fields, datum, strict=True)
            return {field.name: _json(field.type, value) for field, value in pairs}
        case _:
            if isinstance(datum, bytes):
                return datum.decode("latin-1")
            return str(datum) if isinstance(datum, float) and not math.isfinite(datum) else datum
