"""The generators' facts about datahub-blob."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

from cdcwire.format import Format
from cdcwire.model import kinds
from cdcwire.model.events import Extra, Marker, Progress, RowChange, SchemaChange, Table
from cdcwire.model.kinds import Column, Role
from cdcwire_generators.datahub import (
    BODIES,
    COMPRESSIONS,
    DATAHUB_FEED,
    UTC,
    DataHubRoundTrip,
    text_type,
)
from cdcwire_generators.feeds import FeedTraits
from cdcwire_generators.formats import FormatGenerators
from cdcwire_generators.round_trip import NotCarriedError, Options
from cdcwire_generators.samples import Sample, has_kinds, has_markers, has_options, never

_PRIMARY: frozenset[Role] = frozenset({"primary"})
_NO_ROLES: frozenset[Role] = frozenset()
_VERSION = "0.0.1"


class BlobRoundTrip(DataHubRoundTrip):
    """Blob messages: each declares its columns, its key and where it is from."""

    def __init__(self, through: Format, options: Options, feed: FeedTraits) -> None:
        super().__init__(through, options, feed)
        self.splits_updates = bool(self.options["split-updates"])
        self.db_type = str(self.options["db-type"])

    def _row(self, event: RowChange) -> RowChange:
        table = event.table
        if table.name is None or (table.database or table.schema) is None:
            raise NotCarriedError("table")
        images = [image for image in (event.before, event.after) if image is not None]
        if set(table.key or ()) - {name for image in images for name in image.names}:
            raise NotCarriedError("key")
        known = Table(table.name, table.schema, table.database, key=table.key or ())
        return replace(super()._row(event), table=known, extra=self._kept_extra(event.extra, table))

    def _column(self, column: Column, table: Table) -> Column:
        source, kind = self._kind(column.type)
        roles = _PRIMARY if column.name in (table.key or ()) else _NO_ROLES
        return Column(column.name, kind, source, roles=roles)

    def _kind(self, kind: kinds.Type) -> tuple[str, kinds.Type]:
        return blob_type(kind)

    def _kept_extra(self, extra: Extra, table: Table | None) -> Extra:
        """Return what a message says of its version and source."""
        found = {"version": extra.get("version", _VERSION)}
        if table is not None:
            found["db_type"] = self.db_type
        names = ("db_type", "db_version", "checkpoint_ms")
        return {**found, **{name: extra[name] for name in names if extra.get(name) is not None}}

    def _schema_change(self, event: SchemaChange) -> SchemaChange:
        if not event.query:
            raise NotCarriedError("schema change")
        extra = dict(self._kept_extra(event.extra, event.table))
        if event.extra.get("ddl_meta") is not None:
            extra["ddl_meta"] = event.extra["ddl_meta"]
        position = self._position(event.position)
        return SchemaChange(
            event.what, event.query, None, self._named(event.table), position, extra
        )

    def _named(self, table: Table | None) -> Table | None:
        if table is None or (table.name, table.schema, table.database) == (None, None, None):
            return None
        columns = None
        if table.columns:
            columns = tuple(self._column(column, table) for column in table.columns)
        key = table.key or (None if columns is None else ())
        return Table(table.name or None, table.schema, table.database, columns, key)

    def _progress(self, event: Progress) -> Progress:
        position = self._position(event.position)
        return Progress(event.what, position, self._kept_extra(event.extra, None))

    def _marker(self, event: Marker) -> Marker:
        if event.id is not None:
            raise NotCarriedError("markers")
        position = self._position(event.position)
        return Marker(event.what, None, position, self._kept_extra(event.extra, None))


def blob_type(kind: kinds.Type) -> tuple[str, kinds.Type]:
    """Return the type of a Blob message that holds values of a kind, and its own kind."""
    match kind:
        case kinds.IntType(64, True):
            return "STRING", kinds.TextType()
        case kinds.IntType() | kinds.YearType():
            return "LONG", kinds.IntType(64)
        case kinds.BitType(int() as length) if length < 64:
            return "LONG", kinds.IntType(64)
        case kinds.FloatType():
            return "DOUBLE", kinds.FloatType(64)
        case kinds.BoolType():
            return "BOOLEAN", kind
        case kinds.BytesType():
            return "BYTES", kinds.BytesType()
        case kinds.TimestampType(fraction, form, str()) if form == "ms" or (
            fraction is not None and fraction <= 3
        ):
            return "DATE", kinds.TimestampType(form="ms", zone=UTC)
        case _:
            return text_type(kind)


def _has_whole_updates(sample: Sample) -> bool:
    return any(row.op == "update" and row.half is None for row in sample.rows())


GENERATORS = FormatGenerators(
    feed=replace(
        DATAHUB_FEED,
        progress="heartbeat",
        markers=("begin", "end", "gtid", "xa_commit", "xa_rollback"),
        has_marker_ids=False,
        position_fields=(*DATAHUB_FEED.position_fields, "sent_ms"),
        needs_queries=True,
    ),
    round_trip=BlobRoundTrip,
    option_values=MappingProxyType({**COMPRESSIONS, "db-type": ("MySQL", "PostgreSQL", "\u00fc")}),
    features=MappingProxyType(
        {
            **BODIES,
            "long": has_kinds("int64"),
            "double": has_kinds("float64"),
            "boolean": has_kinds("bool"),
            "date": has_kinds("timestamp with zone"),
            "json bodies": has_options("encoding", ("auto", "json")),
            "update": _has_whole_updates,
            "halves": lambda sample: any(row.half is not None for row in sample.rows()),
            "ddlMeta": never,
            "markers": has_markers("begin", "end", "gtid", "xa_commit", "xa_rollback"),
        }
    ),
)
