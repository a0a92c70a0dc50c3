"""What comes back from DataHub: rows of few types, in which all else travels as its text.

A Tuple topic has ten types, a Blob message six. A column of MySQL takes the narrowest of them that
holds its values; dates, labels and JSON are texts. Blob tells more of a source than the model does.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from decimal import Decimal

from cdcwire.core.format import Format
from cdcwire.model.events import (
    Column,
    Extra,
    Half,
    Image,
    Marker,
    Progress,
    Role,
    RowChange,
    SchemaChange,
    Table,
    Value,
)
from cdcwire.model.kinds import (
    ArrayType,
    BitType,
    BoolType,
    BytesType,
    DatetimeType,
    DateType,
    DecimalType,
    EnumType,
    FloatType,
    IntType,
    MapType,
    SetType,
    StructType,
    TextType,
    TimestampType,
    TimeType,
    Type,
    UnknownType,
    VectorType,
    YearType,
    kind_text,
)
from cdcwire.model.temporal import count_text, temporal_text
from cdcwire.mysql.values import vector_text
from cdcwire_generators.carried import NotCarriedError, Options, Passage, carried_kind

_UTC = "+00:00"
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_MICROSECOND = timedelta(microseconds=1)
# Microseconds of a Tuple's TIMESTAMP: from 0000-12-31 16:00:00 to 9999-12-31 15:59:59.
_TIMESTAMPS = range(-62135798400000000, 253402271999000000 + 1)
_PER_UNIT = {"ms": 1000, "us": 1}
_PRIMARY: frozenset[Role] = frozenset({"primary"})
_NO_ROLES: frozenset[Role] = frozenset()
_MAX_DIGITS = 1020  # of a DECIMAL, written without an exponent
_VERSION = "0.0.1"


class _DataHubPassage(Passage):
    """What both have in common: values, and the rows of an update."""

    def __init__(self, through: Format, options: Options) -> None:
        super().__init__(through, options)
        self.splits_updates = True

    def _rows(self, event: RowChange) -> Iterable[RowChange]:
        is_update = event.op == "update"
        if event.op not in ("insert", "update", "delete") or (event.half and not is_update):
            raise NotCarriedError("op")
        has_before = event.op == "delete" or (is_update and event.half != "after")
        has_after = event.op == "insert" or (is_update and event.half != "before")
        if (event.before is not None, event.after is not None) != (has_before, has_after):
            raise NotCarriedError("op")
        event = self._row(event)
        if not (has_before and has_after and self.splits_updates):
            yield event
            return
        halves: tuple[Half, Half] = ("before", "after")
        yield replace(event, after=None, half=halves[0])
        yield replace(event, before=None, half=halves[1])

    def _row(self, event: RowChange) -> RowChange:
        position = event.position
        if position.sequence_id is None or position.commit_ms is None:
            raise NotCarriedError("position")
        return replace(
            event,
            before=self._image(event.before, event.table),
            after=self._image(event.after, event.table),
            position=self._position(position),
            sent=None,
            extra={},
        )

    def _image(self, image: Image | None, table: Table) -> Image | None:
        if image is None:
            return None
        if not image.columns or len(set(image.names)) < len(image.names):
            raise NotCarriedError("columns")
        columns = tuple(self._column(column, table) for column in image.columns)
        values = zip(image.columns, image.values, strict=True)
        return Image(columns, tuple(self._value(column, value) for column, value in values))

    def _kind(self, kind: Type) -> tuple[str, Type]:
        """Return the name of the type that holds values of a kind, and its own kind."""
        raise NotImplementedError

    def _value(self, column: Column, value: Value) -> Value:
        _, to = self._kind(column.type)
        if value is None:
            return None
        name = carried_kind(column.type, value)
        if not self._holds(self.format.carries.kinds[name]):
            raise NotCarriedError(name)
        try:
            return _converted(column.type, to, value)
        except (ValueError, OverflowError) as error:
            raise NotCarriedError(kind_text(column.type)) from error


class TuplePassage(_DataHubPassage):
    """A Tuple topic: its columns are those of the definition, and so is the key."""

    def _row(self, event: RowChange) -> RowChange:
        if not event.table.name:
            raise NotCarriedError("table")
        return super()._row(event)

    def _column(self, column: Column, table: Table) -> Column:
        source, kind = self._kind(column.type)
        return Column(column.name, kind, source, column.nullable, roles=column.roles)

    def _kind(self, kind: Type) -> tuple[str, Type]:
        return tuple_type(kind)

    def _value(self, column: Column, value: Value) -> Value:
        if value is None and column.nullable is False:
            raise NotCarriedError("NULL")
        found = super()._value(column, value)
        is_instant = isinstance(column.type, TimestampType) and isinstance(found, int)
        if is_instant and found not in _TIMESTAMPS:
            raise NotCarriedError("timestamp with zone")
        return found


class BlobPassage(_DataHubPassage):
    """Blob messages: each declares its columns, its key and where it is from."""

    def __init__(self, through: Format, options: Options) -> None:
        super().__init__(through, options)
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
        return replace(super()._row(event), table=known, extra=self._told(event.extra, table))

    def _column(self, column: Column, table: Table) -> Column:
        source, kind = self._kind(column.type)
        roles = _PRIMARY if column.name in (table.key or ()) else _NO_ROLES
        return Column(column.name, kind, source, roles=roles)

    def _kind(self, kind: Type) -> tuple[str, Type]:
        return blob_type(kind)

    def _told(self, extra: Extra, table: Table | None) -> Extra:
        """Return what a message says of its version and source."""
        found = {"version": extra.get("version", _VERSION)}
        if table is not None:
            found["db_type"] = self.db_type
        names = ("db_type", "db_version", "checkpoint_ms")
        return {**found, **{name: extra[name] for name in names if extra.get(name) is not None}}

    def _schema_change(self, event: SchemaChange) -> SchemaChange:
        if not event.query:
            raise NotCarriedError("schema change")
        extra = dict(self._told(event.extra, event.table))
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
        return Progress(event.what, position, self._told(event.extra, None))

    def _marker(self, event: Marker) -> Marker:
        if event.id is not None:
            raise NotCarriedError("markers")
        position = self._position(event.position)
        return Marker(event.what, None, position, self._told(event.extra, None))


def tuple_type(kind: Type) -> tuple[str, Type]:
    """Return the type of a Tuple topic that holds values of a kind, and its own kind."""
    match kind:
        case IntType(64, True):
            return "STRING", TextType()
        case IntType(bits, unsigned):
            return _INTEGERS[min(width for width in _INTEGERS if width >= bits + unsigned)]
        case YearType():
            return _INTEGERS[32]
        case BitType(int() as length) if length < 64:
            return _INTEGERS[64]
        case FloatType(bits):
            return "FLOAT" if bits == 32 else "DOUBLE", kind
        case BoolType():
            return "BOOLEAN", kind
        case DecimalType():
            return "DECIMAL", DecimalType()
        case BytesType():
            return "STRING", kind  # the definition knows that it is base64
        case TimestampType(zone=str()):
            return "TIMESTAMP", TimestampType(form="us", zone=_UTC)
        case _:
            return _text(kind)


_INTEGERS: dict[int, tuple[str, Type]] = {
    8: ("TINYINT", IntType(8)),
    16: ("SMALLINT", IntType(16)),
    32: ("INTEGER", IntType(32)),
    64: ("BIGINT", IntType(64)),
}


def blob_type(kind: Type) -> tuple[str, Type]:
    """Return the type of a Blob message that holds values of a kind, and its own kind."""
    match kind:
        case IntType(64, True):
            return "STRING", TextType()
        case IntType() | YearType():
            return "LONG", IntType(64)
        case BitType(int() as length) if length < 64:
            return "LONG", IntType(64)
        case FloatType():
            return "DOUBLE", FloatType(64)
        case BoolType():
            return "BOOLEAN", kind
        case BytesType():
            return "BYTES", BytesType()
        case TimestampType(fraction, form, str()) if form == "ms" or (
            fraction is not None and fraction <= 3
        ):
            return "DATE", TimestampType(form="ms", zone=_UTC)
        case _:
            return _text(kind)


def _text(kind: Type) -> tuple[str, Type]:
    if isinstance(kind, (ArrayType, MapType, StructType, UnknownType)):
        raise NotCarriedError(kind_text(kind))
    return "STRING", TextType()


def _converted(kind: Type, to: Type, value: Value) -> Value:
    """Return a value as it is in another kind. Raises: ValueError for one that has no form."""
    match to:
        case TimestampType(form=form):
            assert isinstance(kind, TimestampType)
            count, rest = divmod(_microseconds(kind, value), _PER_UNIT[form])
            if rest:
                raise ValueError("digits behind the milliseconds")
            return count
        case TextType():
            return value if isinstance(kind, TextType) else _text_of(kind, value)
        case IntType(bits):
            if not -(1 << bits - 1) <= value < 1 << bits - 1:
                raise ValueError("a number beyond its type")
            return value
        case DecimalType():
            text = _text_of(kind, value)
            if isinstance(value, str) or len(text) > _MAX_DIGITS:
                raise ValueError("not a DECIMAL")
            return Decimal(text)
        case _:
            return value


def _text_of(kind: Type, value: Value) -> str:
    match kind:
        case DecimalType() if isinstance(value, Decimal):
            return f"{value:f}"
        case EnumType(labels):
            if isinstance(value, str) or labels is None:
                return str(value)
            return ("", *labels)[value] if 0 <= value <= len(labels) else _no_label()
        case SetType(labels):
            if isinstance(value, str) or labels is None:
                return str(value)
            if value >> len(labels):
                _no_label()
            return ",".join(label for bit, label in enumerate(labels) if value >> bit & 1)
        case VectorType():
            return vector_text(value)
        case TimestampType(zone=str()):
            # The zone is written behind the text, which else would not say it.
            return f"{_in_utc(kind, value)}{_UTC}"
        case DateType() | TimeType() | DatetimeType() | TimestampType():
            text = temporal_text(kind, value, None)
            assert text is not None
            return text
        case _:
            return str(value)


def _no_label() -> str:
    raise ValueError("a number without a label")


def _in_utc(kind: TimestampType, value: Value) -> str:
    if kind.form != "text" and kind.zone is not None:
        return count_text(kind, value)  # a count is one of UTC, in whatever zone it is shown
    text = temporal_text(kind, value, _UTC)
    assert text is not None
    return text


def _microseconds(kind: TimestampType, value: Value) -> int:
    """Return an instant as microseconds since 1970. Raises: ValueError, OverflowError."""
    if kind.form != "text":
        per_second = {"ms": 10**3, "us": 10**6, "ns": 10**9}[kind.form]
        found, rest = divmod(value * 10**6, per_second)
        if rest:
            raise ValueError("digits behind the microseconds")
        return int(found)
    text = _in_utc(kind, value)
    moment = datetime.fromisoformat(text.partition(".")[0]).replace(tzinfo=timezone.utc)
    digits = text.partition(".")[2]
    return (moment - _EPOCH) // _MICROSECOND + int(digits.ljust(6, "0") or "0")
