"""The generators' facts about simple."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from types import MappingProxyType

from cdcwire.core.errors import EncodeError
from cdcwire.format import Format
from cdcwire.model import kinds
from cdcwire.model.events import (
    NO_EXTRA,
    Extra,
    Image,
    Position,
    Progress,
    RowChange,
    SchemaChange,
    Table,
)
from cdcwire.model.instants import ms_of_tso
from cdcwire.model.kind_text import kind_text
from cdcwire.model.kinds import Column, Role, Value
from cdcwire.model.temporal import temporal_text
from cdcwire.mysql.types import schema_change_kind
from cdcwire.mysql.value_texts import read_value
from cdcwire_generators.families import get_family
from cdcwire_generators.feeds import FeedTraits
from cdcwire_generators.formats import FormatGenerators
from cdcwire_generators.round_trip import NotCarriedError, Options, RoundTrip
from cdcwire_generators.samples import has_options, never

_NO_ROLES: frozenset[Role] = frozenset()
_EXTRA = ("table_id", "checksum", "checksum_previous", "checksum_version", "corrupted")


class SimpleRoundTrip(RoundTrip):
    """`simple`, whose rows come after the schemas of their tables."""

    def __init__(self, through: Format, options: Options, feed: FeedTraits) -> None:
        super().__init__(through, options, feed)
        self.family = get_family("mysql indexed")
        self.is_avro = self.options["encoding-format"] == "avro"

    def _position(self, position: Position) -> Position:
        commit_ts, sent_ms = position.commit_ts, position.sent_ms
        if commit_ts is None:
            raise NotCarriedError("commit_ts")
        return Position(
            commit_ts=commit_ts, sent_ms=ms_of_tso(commit_ts) if sent_ms is None else sent_ms
        )

    def _schema_change(self, event: SchemaChange) -> SchemaChange:
        if event.query is None:
            raise NotCarriedError("schema change")
        what = event.what
        if event.code in (37, 38):
            what = "query"
        elif event.code == 42 and self.options["dialect"] == "ticdc":
            what = "alter"
        elif event.code is not None:
            what = schema_change_kind(event.code)
        table = event.table
        if table is not None and not table.name:
            table = None
        elif table is not None:
            table = Table(table.name, table.schema or None, version=table.version or None)
            columns = event.table.columns if event.table is not None else None
            if columns and event.table is not None:
                key = _key_of(event.table, columns)
                table = replace(table, columns=self._defined(columns, key), key=key)
        return SchemaChange(what, event.query, None, table, self._position(event.position))

    def _progress(self, event: Progress) -> Progress:
        return Progress(event.what, self._position(event.position))

    def _rows(self, event: RowChange) -> Iterable[RowChange]:
        has_before, has_after = event.op != "insert", event.op != "delete"
        is_whole = (event.before is not None, event.after is not None) == (has_before, has_after)
        if event.op not in ("insert", "update", "delete") or event.half or not is_whole:
            raise NotCarriedError("op")
        if not event.table.name or not event.table.schema:
            raise NotCarriedError("table")
        if event.sent == "changed":
            raise NotCarriedError("sent")
        columns: dict[str, Column] = {}
        for image in (event.after, event.before):
            for column in () if image is None else image.columns:
                columns.setdefault(column.name, column)
        key = _key_of(event.table, columns.values())
        defined = self._defined(columns.values(), key)
        table = Table(event.table.name, event.table.schema, None, None, key, event.table.version)
        extra = self._row_extra(event.extra)
        is_cut = event.sent == "key" or "claim_check" in extra
        yield RowChange(
            table,
            event.op,
            self._side(event.before, defined),
            self._side(event.after, defined),
            self._position(event.position),
            sent="key" if is_cut else None,
            extra=extra,
        )

    def _row_extra(self, extra: Extra) -> Extra:
        names = _EXTRA if extra.get("checksum") else _EXTRA[:1]
        kept = {name: extra[name] for name in names if extra.get(name) not in (None, "", "0")}
        if extra.get("checksum"):
            defaults = {"corrupted": "false", "checksum_previous": "0", "checksum_version": "0"}
            kept = {**defaults, **kept, "checksum": extra["checksum"]}
        if extra.get("claim_check"):
            kept["claim_check"] = extra["claim_check"]
        return kept or NO_EXTRA

    def _side(self, image: Image | None, defined: tuple[Column, ...]) -> Image | None:
        if image is None:
            return None
        given = dict(zip(image.names, image.pairs, strict=True))
        pairs = []
        for column in defined:
            if column.name in given and "virtual" not in given[column.name][0].roles:
                own, value = given[column.name]
                pairs.append((self._zoned(column, own, value), self._value(own, value)))
        return Image.of(pairs)

    def _zoned(self, column: Column, own: Column, value: Value) -> Column:
        if value is None or not isinstance(own.type, kinds.TimestampType):
            return column
        zone = self.time_zone or own.type.zone
        assert isinstance(column.type, kinds.TimestampType)
        return replace(column, type=replace(column.type, zone=zone))

    def _value(self, column: Column, value: Value) -> Value:
        is_ill_formed = isinstance(column.type, kinds.TextType) and isinstance(value, bytes)
        if self.is_avro and is_ill_formed:
            return value
        kind = column.type
        if value is None or not isinstance(
            kind, (kinds.DateType, kinds.TimeType, kinds.DatetimeType, kinds.TimestampType)
        ):
            return super()._value(column, value)
        zone = self.time_zone
        if isinstance(kind, kinds.TimestampType):
            zone = zone or kind.zone
        try:
            text = temporal_text(kind, value, zone)
            return read_value(replace(kind, form="text"), text or "")
        except ValueError as error:
            raise NotCarriedError(kind_text(kind)) from error

    def _defined(self, columns: Iterable[Column], key: tuple[str, ...]) -> tuple[Column, ...]:
        columns = tuple(columns)
        roles = {column.name: column.roles for column in columns}
        is_primary = all(
            "primary" in roles.get(name, _NO_ROLES) or "unique" not in roles.get(name, _NO_ROLES)
            for name in key
        )
        key_roles: frozenset[Role] = frozenset({"handle", "primary" if is_primary else "unique"})
        found = []
        for column in columns:
            is_key = column.name in key
            try:
                as_read = self.family.as_read(column, "", None)
            except EncodeError as error:
                raise NotCarriedError(kind_text(column.type)) from error
            own: frozenset[Role] = key_roles if is_key else column.roles & {"unique"}
            nullable = not is_key if column.nullable is None else column.nullable
            kind = as_read.type
            if isinstance(kind, (kinds.EnumType, kinds.SetType)):
                kind = replace(kind, form="index")
            if _is_without_size(column):
                kind = _without_size(kind)
                source = re.sub(r"\(.*?\)", "", as_read.source or "")
                as_read = replace(as_read, source=source)
            found.append(replace(as_read, type=kind, roles=own, nullable=nullable, id=None))
        return tuple(found)


def _is_without_size(column: Column) -> bool:
    kind = column.type
    size: int | None = 0
    if isinstance(kind, kinds.DecimalType):
        size = kind.precision
    elif isinstance(kind, kinds.BitType):
        size = kind.length
    elif isinstance(kind, (kinds.TimeType, kinds.DatetimeType, kinds.TimestampType)):
        size = kind.fraction
    return size is None and "(" not in (column.source or "")


def _without_size(kind: kinds.Type) -> kinds.Type:
    match kind:
        case kinds.DecimalType():
            return kinds.DecimalType()
        case kinds.BitType():
            return kinds.BitType()
        case kinds.TimeType() | kinds.DatetimeType() | kinds.TimestampType():
            return replace(kind, fraction=None)
        case _:
            return kind


def _key_of(table: Table, columns: Iterable[Column]) -> tuple[str, ...]:
    if table.key is not None:
        return table.key
    return tuple(c.name for c in columns if c.roles & {"handle", "primary"})


GENERATORS = FormatGenerators(
    feed=FeedTraits("mysql indexed", "watermark", is_plausible=True, has_statements=False),
    round_trip=SimpleRoundTrip,
    features=MappingProxyType(
        {
            "compression": never,
            "definitions": never,
            "encoding-format": has_options("encoding-format", ("avro",)),
        }
    ),
)
