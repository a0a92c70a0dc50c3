"""The common part of the formats of a storage sink: definitions, schema files and paths.

A file takes columns from a definition: the caller's, or after a schema change that of its schema
file.
"""

from __future__ import annotations

import re
from dataclasses import replace

from cdcwire.format import Format
from cdcwire.model import kinds
from cdcwire.model.events import Position, SchemaChange, Table
from cdcwire.model.kind_text import kind_text
from cdcwire.model.kinds import Column, Value
from cdcwire.mysql.types import schema_change_kind
from cdcwire_generators.families.declared import schema_file_column
from cdcwire_generators.feeds import FeedTraits
from cdcwire_generators.round_trip import NotCarriedError, Options, RoundTrip

# Dates to 9999, times to 838:59:59, six digits of a second.
_CLOCK = r"[0-5][0-9]:[0-5][0-9]"
_MYSQL_TEXT = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?: [0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,6})?)?"
    rf"|-?(?:[0-7]?[0-9]{{2}}|8[0-2][0-9]|83[0-7]):{_CLOCK}(?:\.[0-9]{{1,6}})?"
    rf"|-?838:(?:[0-4][0-9]:[0-5][0-9]|5[0-8]:[0-5][0-9]|59:[0-4][0-9]|59:5[0-8])(?:\.[0-9]{{1,6}})?"
    r"|-?838:59:59(?:\.0{1,6})?"
)
# Columns come from their declarations.
STORAGE_FEED = FeedTraits(
    family="mysql declared", has_path_names=True, is_plausible=True, shared_clauses=("storage",)
)


def is_stored(through: Format, options: Options | None = None) -> bool:
    """Return whether what a format gives are files of a storage prefix."""
    return "queue" not in through.carriers or (options or {}).get("transport") == "storage"


def schema_file_change(event: SchemaChange) -> SchemaChange | None:
    """Return a schema change as its schema file gives it, with the columns of the table.

    A file without number and query describes a table and changes nothing.
    """
    table = event.table
    if table is None or event.position.commit_ts is None or event.code is None:
        raise NotCarriedError("schema change")
    if not event.code and not event.query:
        return None
    columns = None
    if table.name is not None:
        columns = tuple(map(_from_file_alone, table.columns or ()))
    return SchemaChange(
        schema_change_kind(event.code),
        event.query or "",
        event.code,
        Table(table.name, table.schema, columns=columns),
        Position(commit_ts=event.position.commit_ts),
    )


def _from_file_alone(column: Column) -> Column:
    """Return a column as a schema file has it: without elements, and not as generated."""
    column = schema_file_column(column, "", None)
    kind = column.type
    if isinstance(kind, kinds.EnumType):
        kind = kinds.EnumType()
    elif isinstance(kind, kinds.SetType):
        kind = kinds.SetType()
    return replace(column, type=kind, roles=column.roles - {"generated", "virtual"})


class StoredRoundTrip(RoundTrip):
    """The common part of files of both formats: definitions and paths."""

    def __init__(self, through: Format, options: Options, feed: FeedTraits) -> None:
        super().__init__(through, options, feed)
        self.changed: set[tuple[str | None, str | None]] = set()

    def _schema_change(self, event: SchemaChange) -> SchemaChange | None:
        if event.table is not None and event.table.name is not None:
            self.changed.add((event.table.schema, event.table.name))
        return schema_file_change(event)

    def _converted(self, kind: kinds.Type, value: Value) -> Value:
        found = super()._converted(kind, value)
        is_temporal = isinstance(
            kind, (kinds.DateType, kinds.TimeType, kinds.DatetimeType, kinds.TimestampType)
        )
        if is_temporal and not _MYSQL_TEXT.fullmatch(found):
            raise NotCarriedError(kind_text(kind))
        return found

    def _defined(self, column: Column, table: Table) -> Column:
        """Return a column as the definition has it that its file is read with."""
        if (table.schema, table.name) in self.changed:
            column = schema_file_column(column, "", self.time_zone)
        return column

    def _partition(self, position: Position) -> int | None:
        return position.partition if self.options["enable-partition-separator"] else None


def in_form(kind: kinds.Type, form: kinds.LabelForm, time_zone: str | None) -> kinds.Type:
    """Return a kind with the form and the zone that values have in the format."""
    match kind:
        case kinds.BoolType():
            return kinds.IntType(8)
        case kinds.DateType() | kinds.TimeType() | kinds.DatetimeType():
            return replace(kind, form="text")
        case kinds.TimestampType():
            return replace(kind, form="text", zone=time_zone)
        case kinds.EnumType() | kinds.SetType():
            return replace(kind, form=form)
        case _:
            return kind


def primary_names(columns: tuple[Column, ...]) -> tuple[str, ...]:
    """Return the names of the columns in the primary key."""
    return tuple(column.name for column in columns if "primary" in column.roles)
