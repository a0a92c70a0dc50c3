"""The events that come back from Avro: one message per row, with the columns of a schema.

Names are those of Avro. A delete has its key and nothing else. An update has its new row; an update
of a key is a delete and an insert. With the option for old rows, updates and deletes have them, and
an update of a key is an update. DDL and progress are sent only when a test option asks for them,
and left out otherwise.
"""

from __future__ import annotations

import math
import re
import struct
import zlib
from collections.abc import Iterable
from dataclasses import replace
from decimal import Context, Decimal, InvalidOperation

from cdcwire.core.errors import EncodeError
from cdcwire.format import Format
from cdcwire.model import kinds
from cdcwire.model.events import (
    NO_EXTRA,
    Event,
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
from cdcwire.model.kinds import Column, Role, Value, index_of_label, mask_of_labels
from cdcwire.model.steps import split_key_changes
from cdcwire.model.temporal import temporal_text
from cdcwire.mysql.declared import (
    BINARY_NAMES,
    INTEGER_BITS,
    TEXT_NAMES,
    DeclaredType,
    declared_type,
    type_of_declared,
)
from cdcwire.mysql.types import schema_change_kind
from cdcwire.mysql.values import vector_text
from cdcwire_generators.feeds import FeedTraits
from cdcwire_generators.round_trip import NotCarriedError, Options, RoundTrip, named

_EXTENSION = frozenset({"_tidb_op", "_tidb_commit_ts", "_tidb_commit_physical_time"})
_BEFORE = frozenset({"_ticdc_before", "_tidb_op"})
_CHECKSUM = frozenset({"_tidb_row_level_checksum", "_tidb_corrupted", "_tidb_checksum_version"})
_HANDLE: frozenset[Role] = frozenset({"handle"})
_NO_ROLES: frozenset[Role] = frozenset()
_NOT_NULL_ROLES: frozenset[Role] = frozenset({"primary", "handle"})
_DIGITS = Context(prec=2000)


def avro_name(name: str) -> str:
    """Return the Avro name of a schema, a table or a column."""
    if not name:
        return ""
    first, rest = name[0], re.sub("[^A-Za-z0-9_]", "_", name[1:])
    if re.fullmatch("[0-9]", first):
        return f"_{first}{rest}"
    return (first if re.fullmatch("[A-Za-z_]", first) else "_") + rest


class AvroRoundTrip(RoundTrip):
    """Avro, with the schema of each message at hand when it is read."""

    def __init__(self, through: Format, options: Options, feed: FeedTraits) -> None:
        super().__init__(through, options, feed)
        self.has_extension = bool(self.options["enable-tidb-extension"])
        self.sends_all = self.has_extension and bool(self.options["avro-enable-watermark"])
        self.has_before = bool(self.options["avro-include-before-value"])
        self.is_ticdc = self.has_before or "ticdc" in str(self.options["dialect"])
        self.is_timed = self.sends_all and self.is_ticdc
        self.has_checksum = bool(self.options["integrity"])
        self.is_precise = self.options["avro-decimal-handling-mode"] == "precise"
        is_long = self.options["avro-bigint-unsigned-handling-mode"] == "long"
        self.stays_wrapped = is_long and not self.options["unsigned-wrap"]

    def events(self, event: Event) -> list[Event]:
        """Return the events that come back; unsent schema changes and progress give none."""
        if isinstance(event, (SchemaChange, Progress)) and not self.sends_all:
            return []
        return super().events(event)

    def _schema_change(self, event: SchemaChange) -> SchemaChange:
        commit_ts = event.position.commit_ts
        if event.query is None or event.code is None or commit_ts is None:
            raise NotCarriedError("schema change")
        what, table = schema_change_kind(event.code), named(event.table)
        return SchemaChange(what, event.query, event.code, table, Position(commit_ts=commit_ts))

    def _progress(self, event: Progress) -> Progress:
        return Progress(event.what, Position(commit_ts=event.position.commit_ts))

    def _rows(self, event: RowChange) -> Iterable[RowChange]:
        if event.half is not None or event.op == "read":
            raise NotCarriedError("op")
        if (event.op != "delete" or self.has_before) and event.sent in ("key", "changed"):
            raise NotCarriedError("sent")
        for part in [event] if self.has_before else split_key_changes([event]):
            assert isinstance(part, RowChange)  # the step leaves a row a row
            yield self._row(part)

    def _row(self, event: RowChange) -> RowChange:
        is_delete = event.op == "delete"
        image, other = event.after, event.before
        if is_delete:
            image, other = other, image
        if image is None or (event.op in ("insert", "delete") and other is not None):
            raise NotCarriedError("op")
        if not event.table.name:
            raise NotCarriedError("table")
        key = self._key(event.table, image)
        if is_delete and not key and not self.has_before:
            raise NotCarriedError("a delete without key")
        names = tuple(map(avro_name, key))
        table = Table(avro_name(event.table.name), avro_name(event.table.schema or "") or None)
        table = replace(table, key=names)
        if is_delete and not self.has_before:
            before = self._record(image, key, only=key)
            position = Position()
            if self.is_timed:
                position = Position(commit_ts=self._position(event.position).commit_ts)
            return RowChange(table, "delete", before, None, position, sent="key")
        if self.has_before:
            return self._row_with_before(event, image, key, table)
        after = self._record(image, key)
        if not self.has_extension:
            return RowChange(table, "upsert", None, after, Position())
        if event.op not in ("insert", "update"):
            raise NotCarriedError("op")
        extra = self._row_extra(event, image)
        return RowChange(table, event.op, None, after, self._position(event.position), extra=extra)

    def _row_with_before(
        self, event: RowChange, image: Image, key: tuple[str, ...], table: Table
    ) -> RowChange:
        if event.op not in ("insert", "update", "delete"):
            raise NotCarriedError("op")
        before, after = event.before, None
        if event.op != "delete":
            after = self._record(image, key)
        if before is not None and before.columns != image.columns:
            values = dict(zip(before.names, before.values, strict=True))
            if set(image.names) - set(values):
                raise NotCarriedError("before")
            before = Image(image.columns, tuple(values[name] for name in image.names))
        if before is not None:
            before = self._record(before, key)
        position, extra = Position(), NO_EXTRA
        if self.has_extension:
            position, extra = self._position(event.position), self._row_extra(event, image)
        return RowChange(table, event.op, before, after, position, extra=extra)

    def _position(self, position: Position) -> Position:
        commit_ts, commit_ms = position.commit_ts, position.commit_ms
        if commit_ts is None or not 0 <= commit_ts < 1 << 63:
            raise NotCarriedError("commit_ts")
        commit_ms = ms_of_tso(commit_ts) if commit_ms is None else commit_ms
        return Position(commit_ts=commit_ts, commit_ms=commit_ms)

    def _key(self, table: Table, image: Image) -> tuple[str, ...]:
        """Return the columns of the handle key, in the order of the row.

        The new architecture has keys of primary keys only.
        """
        key = table.key
        if key is None:
            key = tuple(c.name for c in image.columns if "handle" in c.roles)
        roles = {column.name: column.roles for column in image.columns}
        if self.is_ticdc and any(
            "unique" in roles.get(name, ()) and "primary" not in roles[name] for name in key
        ):
            return ()
        if set(key) - set(image.names):
            raise NotCarriedError("key")
        return tuple(name for name in image.names if name in key)

    def _record(
        self, image: Image, key: tuple[str, ...], only: tuple[str, ...] | None = None
    ) -> Image:
        columns, values = [], []
        for column, value in image.pairs:
            is_virtual = "virtual" in column.roles
            if column.name not in only if only is not None else is_virtual and not self.is_ticdc:
                continue
            as_read = self._as_read(column, column.name in key)
            columns.append(as_read)
            values.append(self._datum(column, None if is_virtual else value, as_read))
        names = [column.name for column in columns]
        if only is None:
            extension = set(_EXTENSION if self.has_extension else ())
            extension |= _BEFORE if self.has_before else set()
            names += extension
            names += _CHECKSUM if self.has_checksum else ()
        if len(set(names)) < len(names):
            raise NotCarriedError("names")
        return Image(tuple(columns), tuple(values))

    def _as_read(self, column: Column, is_key: bool) -> Column:
        nullable = column.nullable
        if nullable is None:
            nullable = not is_key and not column.roles & _NOT_NULL_ROLES
        tidb_type, kind = self._type(column)
        roles = _HANDLE if is_key else _NO_ROLES
        return Column(avro_name(column.name), kind, tidb_type, nullable, roles=roles)

    def _type(self, column: Column) -> tuple[str, kinds.Type]:
        """Return ``tidb_type`` and the kind that it gives."""
        declared = _declared(column)
        base, kind = declared.base, type_of_declared(declared, self.time_zone)
        if base in INTEGER_BITS:
            assert isinstance(kind, kinds.IntType)
            name = "BIGINT" if base == "bigint" else "INT"
            if kind.unsigned and base == "bigint" and self.stays_wrapped:
                return "BIGINT UNSIGNED", kinds.IntType(64)
            unsigned = " UNSIGNED" if kind.unsigned else ""
            return name + unsigned, kinds.IntType(64 if base == "bigint" else 32, kind.unsigned)
        if base in TEXT_NAMES:
            return "TEXT", kinds.TextType()
        if base in BINARY_NAMES:
            return "BLOB", type_of_declared(DeclaredType("blob"))
        match kind:
            case kinds.FloatType() | kinds.DateType() | kinds.YearType() | kinds.JsonType():
                return base.upper(), kind
            case kinds.TimeType() | kinds.DatetimeType() | kinds.TimestampType():
                return base.upper(), replace(kind, fraction=None)
            case kinds.DecimalType() if not self.is_precise:
                return "DECIMAL", kinds.DecimalType()
            case kinds.DecimalType() if _has_scale(column):
                return "DECIMAL", kind
            case kinds.BitType():
                return "BIT", kind
            case kinds.EnumType(tuple() as labels):
                return "ENUM", kinds.EnumType(_allowed(labels), "label")
            case kinds.SetType(tuple() as labels):
                return "SET", kinds.SetType(_allowed(labels), "label")
            case kinds.VectorType():
                return "TiDBVECTORFloat32", kind
            case _:
                raise NotCarriedError(kind_text(column.type))

    def _datum(self, column: Column, value: Value, as_read: Column) -> Value:
        if value is None:
            if not as_read.nullable:
                raise NotCarriedError("NULL")
            return None
        kind = column.type
        found = self._value(column, value)
        match kind:
            case kinds.DecimalType():
                return self._decimal(column, value)
            case kinds.BitType() if value >> (_declared(column).flen or 1):
                raise NotCarriedError("bit")
            case kinds.YearType() if not -1 << 31 <= value < 1 << 31:
                raise NotCarriedError("year")
            case kinds.IntType(64, True) if self.stays_wrapped:
                return value - (value >> 63 << 64)
            case kinds.EnumType() if found not in (_declared(column).elements or ()):
                raise NotCarriedError("enum")
            case _:
                return found

    def _decimal(self, column: Column, value: Value) -> Decimal:
        """Return a decimal with the digits of its declaration."""
        if not isinstance(value, Decimal):
            raise NotCarriedError("decimal")
        if not _has_scale(column):  # in mode string, as it is
            return Decimal(f"{value:f}")
        scale = _declared(column).decimal or 0
        try:
            found = value.quantize(Decimal((0, (1,), -scale)), context=_DIGITS)
        except InvalidOperation as error:
            raise NotCarriedError("decimal") from error
        if found != value:
            raise NotCarriedError("decimal")
        return found if found else abs(found)

    def _row_extra(self, event: RowChange, image: Image) -> Extra:
        if not self.has_checksum:
            return NO_EXTRA
        checksum = event.extra.get("checksum", str(self._checksum(image)))
        if checksum == "":
            return {"checksum": "", "corrupted": "false", "checksum_version": "0"}
        return {"checksum": checksum, "corrupted": "false", "checksum_version": "1"}

    def _checksum(self, image: Image) -> int:
        """Return the CRC32 of a row: numbers in 8 bytes, all else in its bytes with a length."""
        crc = 0
        for column, value in image.pairs:
            if value is not None and "virtual" not in column.roles:
                as_read = self._as_read(column, False)
                crc = zlib.crc32(self._bytes(column, self._datum(column, value, as_read)), crc)
        return crc

    def _bytes(self, column: Column, value: Value) -> bytes:
        kind, labels = column.type, _declared(column).elements
        text = value
        match kind:
            case kinds.FloatType():
                return struct.pack("<d", value if math.isfinite(value) else 0.0)
            case kinds.EnumType():
                value = index_of_label(kinds.EnumType(labels), value)
            case kinds.SetType():
                value = mask_of_labels(kinds.SetType(labels), value)
            case kinds.TimestampType() if self.time_zone is not None:
                text = _in_utc(value, self.time_zone)
            case kinds.DecimalType():
                text = f"{value:f}"
            case kinds.VectorType():
                text = vector_text(value)
            case _:
                pass  # the value itself
        if isinstance(value, int):
            return struct.pack("<Q", value % (1 << 64))
        raw = text if isinstance(text, bytes) else text.encode()
        return struct.pack("<I", len(raw)) + raw


def _in_utc(text: str, time_zone: str) -> str:
    """Return the text of an instant in UTC; an invalid text, such as a zero date, stays."""
    try:
        return temporal_text(kinds.TimestampType(zone=time_zone), text, "+00:00") or text
    except ValueError:
        return text


def _declared(column: Column) -> DeclaredType:
    try:
        return declared_type(column, "")
    except EncodeError as error:
        raise NotCarriedError(kind_text(column.type)) from error


def _has_scale(column: Column) -> bool:
    kind = column.type
    has_precision = isinstance(kind, kinds.DecimalType) and kind.precision is not None
    return has_precision or "(" in (column.source or "")


def _allowed(labels: tuple[str, ...]) -> tuple[str, ...]:
    """Return what is left of labels in ``allowed``, where quotes are folded and commas escaped."""
    escaped = ",".join(
        label.replace(",", "\\,").replace("\\'", "'").replace("''", "'") for label in labels
    )
    return tuple(part.replace("\\,", ",") for part in re.split(r"(?<!\\),", escaped))
