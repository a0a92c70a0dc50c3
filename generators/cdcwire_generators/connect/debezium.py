"""Events after a round trip in Debezium's messages, in JSON or in Avro, and in CDL's 2.0.

A delete has its key alone, unless the producer is known to send whole rows, or the row shows that
it is whole. An update of a key is a delete, a tombstone and an insert.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import get_args

from cdcwire.core.options import OptionValue
from cdcwire.debezium.connectors import MARIADB, POSTGRESQL, TICDC, VITESS, source_of
from cdcwire.debezium.settings import TombstoneMode
from cdcwire.format import Format
from cdcwire.model.events import (
    Event,
    Extra,
    Image,
    Marker,
    Op,
    Position,
    Progress,
    RowChange,
    SchemaChange,
    Sent,
    Table,
)
from cdcwire.model.kinds import UNAVAILABLE, Column, TimeType, Value
from cdcwire_generators.connect.round_trip import (
    CONNECT_FEED,
    INTEGER,
    ConnectRoundTrip,
    Texts,
    is_tombstone,
    message_type,
    number,
    text,
    tombstone,
)
from cdcwire_generators.connect.times import Modes
from cdcwire_generators.feeds import FeedTraits
from cdcwire_generators.positions import with_mariadb_gtid
from cdcwire_generators.round_trip import NotCarriedError, Options
from cdcwire_generators.samples import Need, Sample, has_markers, has_schema_changes, never

# The version of each dialect. ``debezium`` is the oldest, where an event names no version.
_VERSIONS = {
    "cdl": "1.4.0.Final",
    "debezium": "1.4.0.Final",
    "debezium-1.4": "1.4.0.Final",
    "debezium-1.9": "1.9.8.Final",
    "debezium-2.0": "2.0.0.Final",
    "debezium-2.6": "2.6.0.Final",
    "debezium-2.7": "2.7.4.Final",
    "debezium-3.2": "3.2.0.Final",
    "debezium-3.5": "3.5.0.Final",
    "debezium-3.6": "3.6.1.Final",
    "debezium-3.7": "3.7.0.Alpha2",
}
_PLACES = {  # of each connector: the fields of the position that the generated events have
    "postgresql": ("lsn", "tx_id"),
    "oracle": ("tx_id",),
    "sqlserver": (),
    "db2": (),
}
_OF_VITESS = {
    "shard": "-80",
    "vgtid": '[{"keyspace":"shop","shard":"-80","gtid":"MySQL56/24bc7850-2c16-11e6-a073:1-7"}]',
}
# Their readers look for a keyspace in place of CDL's schema, or for text in its number.
_NOT_BY_CDL = ("informix", "oracle", "vitess")


class DebeziumRoundTrip(ConnectRoundTrip):
    """Debezium's messages of one version, or CDL's 2.0, by the option ``dialect``."""

    def __init__(self, through: Format, options: Options, feed: FeedTraits) -> None:
        super().__init__(through, options, feed)
        dialect = str(self.options["dialect"])
        self.is_cdl = dialect == "cdl"
        self.version = _VERSIONS[dialect]
        self.number = tuple(map(int, self.version.split(".")[:2]))
        self.connector = str(self.options["connector"]).replace("auto", "postgresql")
        self.is_whole = self.options["replica-identity"] == "full"
        prefix = str(self.options.get("name-prefix", ""))
        self.modes = Modes("cdl 2.0", prefix)
        if not self.is_cdl:
            self.modes = Modes(
                "debezium",
                prefix,
                str(self.options["decimal-handling-mode"]),
                str(self.options["time-precision-mode"]),
                str(self.options["binary-handling-mode"]),
                str(self.options["interval-handling-mode"]),
                str(self.options["hstore-handling-mode"]),
                str(self.options["unavailable-value-placeholder"]),
                self.number < (1, 5) and self.connector == "postgresql",
                self._numbers(),
                self.number < (1, 9),
            )

    def _numbers(self) -> str:
        if self.connector not in ("mysql", "mariadb"):
            return "exact"
        if self.number >= (3, 7):
            return "tiny"
        return "wide" if self.number >= (2, 0) else "widest"

    def events(self, event: Event) -> list[Event]:
        """Return the events that come back; a tombstone keeps only its message key.

        Raises: NotCarriedError for rows by themselves, which have what ``add-fields`` lists.
        """
        if self.options.get("transforms", "none") != "none":
            raise NotCarriedError("transforms")
        return [tombstone(event)] if is_tombstone(event) else super().events(event)

    def _rows(self, event: RowChange) -> Iterable[Event]:
        self._checked(event)
        before, after = self._images(event)
        names = event.table.key or ()
        if not self.is_cdl and before is not None and after is not None and names:
            old, new = ([image[name] for name in names] for image in (before, after))
            if old != new:
                yield self._row(event, "delete", before, None)
                yield Marker("tombstone", extra={"message_key": None})
                yield self._row(event, "insert", None, after)
                return
        yield self._row(event, event.op, before, after)

    def _row(
        self, event: RowChange, op: Op, before: Image | None, after: Image | None
    ) -> RowChange:
        table = self._table(event.table)
        extra = self._kept_extra(event.extra, event.position, is_read=op == "read")
        if op == "read" and (self.is_cdl or self.options["read-r-as-c"]):
            op = "insert"
        sent: Sent | None = None
        is_whole = self.is_whole or extra["connector"] != "postgresql"
        if op == "delete" and before is not None and table.key and not is_whole:
            is_told = self.is_cdl or self.options["replica-identity"] != "default"
            if is_told or not _shows_all(before, table.key):
                before, sent = before.only(table.key), "key"
        position = self._place(event.position, extra)
        return replace(
            event,
            table=table,
            op=op,
            before=before,
            after=after,
            position=position,
            sent=sent,
            extra={**extra, **self._of_cdl(event.extra)},
        )

    def _table(self, table: Table) -> Table:
        """Return a table as ``source`` has it; without a schema its database is the schema."""
        if table.name is None:
            raise NotCarriedError("table")
        database = table.database or str(self.options["database"]) or None
        key = table.key or ()
        if table.schema:
            return Table(table.name, table.schema, database, key=key)
        return Table(table.name, database, key=key)

    def _place(self, position: Position, extra: Extra) -> Position:
        found = self._of_connector(position, str(extra["connector"]))
        sent_ms = None if position.sent_ms is None else number(position.sent_ms)
        if self.is_cdl:
            return replace(found, sent_ms=found.commit_ms if sent_ms is None else sent_ms)
        order = position.tx_order if "transaction_id" in extra else None
        return replace(found, sent_ms=sent_ms, tx_order=order)

    def _of_connector(self, position: Position, connector: str) -> Position:
        """Return the place in the log of the source, and the time of the commit."""
        if self.is_cdl:
            if connector in _NOT_BY_CDL:
                raise NotCarriedError("connector")
            return self._transaction(position)
        if connector not in _PLACES:
            raise NotCarriedError("connector")
        if connector == "postgresql":
            return self._transaction(position)
        kept = {name: getattr(position, name) for name in _PLACES[connector]}
        if connector == "oracle" and self.number >= (2, 0):
            kept["ssn"] = 0
        return Position(commit_ms=self._time(position), **kept)

    def _kept_extra(self, extra: Extra, position: Position, *, is_read: bool = False) -> Texts:
        """Return the names of ``extra`` that say where a change comes from."""
        connector = text(extra, "connector")
        snapshot: str | bytes | None = "true" if is_read else "false"
        if "snapshot" in extra:
            snapshot = text(extra, "snapshot")
        sent: Texts = {
            "connector": (connector or self.connector).lower(),
            "connector_version": text(extra, "connector_version") or self.version,
            "source_name": text(extra, "source_name") or str(self.options["topic-prefix"]),
            "snapshot": snapshot,
        }
        is_postgresql = sent["connector"] == "postgresql" and not self.is_cdl
        names: tuple[str, ...] = ("xmin",) if is_postgresql else ()
        if self.number >= (1, 5):
            sent.update(_kept(extra, ("sequence",)))
        if self.number >= (2, 6):
            names += ("source_ts_us", "source_ts_ns", "ts_us", "ts_ns")
        sent.update(_kept(extra, names, is_number=True))
        if self.is_cdl:
            return sent
        block = text(extra, "transaction_id")
        if block is not None:
            order = _kept(extra, ("data_collection_order",), is_number=True)
            if position.tx_order is None or not order:
                raise NotCarriedError("transaction_id")
            number(position.tx_order)
            sent.update({"transaction_id": block, **order})
        return sent

    def _of_cdl(self, extra: Extra) -> Texts:
        if not self.is_cdl:
            return {}
        names = ["lob_columns"]
        if self.options.get("heartbeat-identifier") == "append":
            names.append("heartbeat_identifier")
        return {**message_type(extra), **_kept(extra, names)}

    def _schema_change(self, event: SchemaChange) -> SchemaChange:
        if event.what != "truncate" or event.table is None or self.is_cdl:
            raise NotCarriedError("schema change")
        extra = self._kept_extra(event.extra, event.position)
        table = replace(self._table(event.table), key=None)
        position = self._place(event.position, extra)
        return SchemaChange("truncate", None, None, table, position, extra)

    def _progress(self, event: Progress) -> Progress:
        if self.is_cdl or event.position.sent_ms is None:
            raise NotCarriedError("progress")
        name = text(event.extra, "source_name") or str(self.options["topic-prefix"])
        position = Position(sent_ms=number(event.position.sent_ms))
        return Progress(event.what, position, {"source_name": name})

    def _marker(self, event: Marker) -> Marker:
        if self.is_cdl:
            raise NotCarriedError("markers")
        if event.what != "logical_message":
            return self._boundary(event)
        extra = self._kept_extra(event.extra, event.position)
        if extra["connector"] != "postgresql":
            raise NotCarriedError("markers")
        position = self._place(event.position, extra)
        extra["content"] = event.extra.get("content")
        return Marker(event.what, event.id, position, extra)

    def _boundary(self, event: Marker) -> Marker:
        sent_ms = event.position.sent_ms
        has_time = self.number >= (2, 0)
        if event.id is None or (sent_ms is None and has_time):
            raise NotCarriedError("markers")
        extra = _kept(event.extra, ("event_count",), is_number=True)
        counts = text(event.extra, "data_collections")
        if counts is not None:
            extra["data_collections"] = json.dumps(_pairs(counts), separators=(",", ":"))
        # The older version has no time there.
        position = Position(sent_ms=number(sent_ms)) if has_time else Position()
        return Marker(event.what, event.id, position, extra)


def _shows_all(row: Image, key: Sequence[str]) -> bool:
    """Return whether a deleted row shows that PostgreSQL sent all of it."""
    others = [(column, value) for column, value in row.pairs if column.name not in key]
    for column, value in others:
        is_masked = isinstance(value, str) and set(value) <= {"*"}
        if column.nullable and value is not None and value is not UNAVAILABLE and not is_masked:
            return True
    return bool(others) and not any(map(_may_be_made_up, row.values))


def _may_be_made_up(value: Value) -> bool:
    if isinstance(value, str):
        is_time = value[:10] == "1970-01-01" or value[:3] == "P0Y"
        return value[:1] in ("", "0", "*") or value in ("{}", "[]") or is_time
    if isinstance(value, (bytes, tuple)):
        return not any(value)
    return value is None or value is UNAVAILABLE or isinstance(value, Image) or value == 0


def _kept(extra: Extra, names: Iterable[str], *, is_number: bool = False) -> Texts:
    """Return the names that are sent, numbers only where they are written as such."""
    sent: Texts = {}
    for name in names:
        value = text(extra, name)
        if value is None:
            continue
        if is_number and INTEGER.fullmatch(value) is None:
            raise NotCarriedError(name)
        sent[name] = value
    return sent


def _pairs(text: str) -> list[list[str | int]]:
    try:
        return [[str(name), number(count)] for name, count in json.loads(text)]
    except (TypeError, ValueError) as error:
        raise NotCarriedError("data_collections") from error


def _of_source(feed: FeedTraits, options: Mapping[str, OptionValue]) -> FeedTraits:
    """Return the traits of the source database that the option ``connector`` names."""
    source = source_of(str(options.get("connector", "postgresql")))
    places = (member.place for member in source.members if member.in_position)
    feed = replace(feed, position_fields=(*feed.position_fields, *places))
    if source is not POSTGRESQL:  # no other connector has logical messages
        markers = tuple(each for each in feed.markers if each != "logical_message")
        feed = replace(feed, markers=markers)
    if not source.has_database:
        feed = replace(feed, family="mysql declared")
    if source is TICDC:
        has_watermarks = bool(options.get("enable-tidb-extension"))
        feed = replace(
            feed,
            progress="watermark" if has_watermarks else None,
            markers=(),
            has_reads=False,
            has_statements=True,
        )
    return feed


def _source_event(event: Event, options: Mapping[str, OptionValue]) -> Event:
    """Return an event as the option ``connector`` can have it.

    MariaDB's gtids have another form, and Vitess's rows have a shard and its place. Where times are
    milliseconds without schema, they are times of a day: MySQL's longer ones would not fit.
    """
    is_ticdc = options.get("dialect") == "ticdc"
    source = source_of("ticdc" if is_ticdc else str(options.get("connector", "postgresql")))
    if source is MARIADB:
        event = replace(event, position=with_mariadb_gtid(event.position))
    if source is VITESS and isinstance(event, RowChange):
        event = replace(event, extra={**_OF_VITESS, **event.extra})
    is_short = source.has_short_times and options.get("schemas-enable") == "false"
    if is_short and isinstance(event, RowChange):
        event = replace(event, before=_of_a_day(event.before), after=_of_a_day(event.after))
    return event


def _of_a_day(image: Image | None) -> Image | None:
    return image and Image.of(
        (column, _time_of_day(column, value)) for column, value in image.pairs
    )


def _time_of_day(column: Column, value: Value) -> Value:
    """Return the time of a day at the end of a duration as text; other values as they are."""
    if not (isinstance(column.type, TimeType) and column.type.zone is None):
        return value
    if not isinstance(value, str):
        return value
    hours, _, rest = value.lstrip("-").partition(":")
    return f"{int(hours) % 24:02}:{rest}"


DEBEZIUM_FEED = replace(
    CONNECT_FEED,
    progress="heartbeat",
    markers=("begin", "end", "logical_message"),
    has_statements=False,
    position_fields=(*CONNECT_FEED.position_fields, "sent_ms"),
    of_source=_of_source,
    source_event=_source_event,
)

DEBEZIUM_OPTIONS: Mapping[str, tuple[OptionValue, ...]] = MappingProxyType(
    {
        "provide-transaction-metadata": (False,),  # it adds events
        "field-name-adjustment-mode": ("none",),  # the others lose names; they have their own tests
        "transforms": ("none",),  # rows by themselves have their own tests
        "delete-tombstone-handling-mode": ("auto",),
        "connector": ("postgresql", "sqlserver", "oracle", "db2", "mysql", "vitess", "ticdc"),
        "add-fields": ("",),
        "add-fields-prefix": ("__",),
        "bigint-unsigned-handling-mode": ("auto",),  # the others come back as other types
        "add-headers": ("",),
        "add-headers-prefix": ("__",),
        "key-field-name": ("__dbz__physicalTableIdentifier",),
        "unavailable-value-placeholder": ("__debezium_unavailable_value", "", "\u2205"),
        "topic-prefix": ("cdl", "a b", "\u00fc.x"),
        "database": ("", "shop", "\u00fc"),
    }
)
TICDC_OPTIONS: Mapping[str, tuple[OptionValue, ...]] = MappingProxyType(
    {
        "enable-tidb-extension": (False,),
        "output-old-value": (True,),
        "cluster-id": ("default",),
        "time-zone": ("",),
    }
)
DEBEZIUM_LOSSY: Mapping[str, tuple[OptionValue, ...]] = MappingProxyType(
    {
        "provide-transaction-metadata": (True,),
        "field-name-adjustment-mode": ("avro_unicode",),
        "transforms": ("unwrap",),
        "delete-tombstone-handling-mode": get_args(TombstoneMode)[1:],
        "add-fields": ("op,table", "op,db,table,source.ts_ms,ts_ms"),
        "add-headers": ("op", "op,table"),
        "bigint-unsigned-handling-mode": ("long", "precise", "string"),
        "enable-tidb-extension": (True,),
        "output-old-value": (False,),
        "cluster-id": ("c-1",),
        "time-zone": ("+08:00",),
    }
)


def _shows_full(sample: Sample) -> bool:
    """Return whether a delete shows by its values alone that it has the whole row."""
    return sample.options.get("replica-identity") != "full" and any(
        row.op == "delete"
        and row.sent is None
        and row.table.key
        and not source_of(row.extra.get("connector")).whole_rows
        for row in sample.rows()
    )


DEBEZIUM_CHOICES: Mapping[str, Need] = MappingProxyType({"debezium-delete": _shows_full})
DEBEZIUM_FEATURES: Mapping[str, Need] = MappingProxyType(
    {
        "tombstone": has_markers("tombstone"),
        "schema changes": never,
        "ticdc": never,
        "unwrapped rows": never,
        "transaction": has_markers("begin", "end"),
        "logical message": has_markers("logical_message"),
        "truncate": has_schema_changes,
    }
)
