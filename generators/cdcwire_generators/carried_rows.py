"""What comes back from CSV and Canal-JSON, whose rows need more than their columns' codes.

A file of the storage sink takes columns from a definition: as the caller told it, and behind a
schema change as its schema file tells it. A message of a queue has them from ``mysqlType``.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable
from dataclasses import replace

from cdcwire.core.errors import EncodeError
from cdcwire.core.format import Format
from cdcwire.model.events import (
    NO_EXTRA,
    Column,
    Extra,
    Half,
    Image,
    Position,
    Progress,
    Role,
    RowChange,
    SchemaChange,
    Sent,
    Table,
    Value,
)
from cdcwire.model.kinds import (
    BoolType,
    BytesType,
    DatetimeType,
    DateType,
    EnumType,
    IntType,
    JsonType,
    LabelForm,
    SetType,
    TextType,
    TimestampType,
    TimeType,
    Type,
    UnknownType,
    kind_text,
)
from cdcwire.model.tso import ms_of_tso
from cdcwire.mysql.ddl import schema_change_kind
from cdcwire.mysql.declared import DeclaredType, declared_type, type_of_declared
from cdcwire_generators.carried import NotCarriedError, Options, Passage, named
from cdcwire_generators.families.declared import schema_file_column

_LARGE = frozenset(a + b for a in ("tiny", "", "medium", "long") for b in ("text", "blob"))
# Dates to 9999, times to 838:59:59, six digits of a second.
_CLOCK = r"[0-5][0-9]:[0-5][0-9]"
_MYSQL_TEXT = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?: [0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,6})?)?"
    rf"|-?(?:[0-7]?[0-9]{{2}}|8[0-2][0-9]|83[0-7]):{_CLOCK}(?:\.[0-9]{{1,6}})?"
    rf"|-?838:(?:[0-4][0-9]:[0-5][0-9]|5[0-8]:[0-5][0-9]|59:[0-4][0-9]|59:5[0-8])(?:\.[0-9]{{1,6}})?"
    r"|-?838:59:59(?:\.0{1,6})?"
)
_PRIMARY: frozenset[Role] = frozenset({"primary"})


def is_stored(through: Format, options: Options | None = None) -> bool:
    """Return whether what a format gives are files of a storage prefix."""
    return "queue" not in through.carriers or (options or {}).get("transport") == "storage"


def schema_file_change(event: SchemaChange) -> SchemaChange | None:
    """Return a schema change as its schema file gives it; the columns of the table are told.

    A file without number and query describes a table and changes nothing.
    """
    table = event.table
    if table is None or event.position.commit_ts is None or event.code is None:
        raise NotCarriedError("schema change")
    if not event.code and not event.query:
        return None
    told = None
    if table.name is not None:
        told = tuple(map(_from_file_alone, table.columns or ()))
    return SchemaChange(
        schema_change_kind(event.code),
        event.query or "",
        event.code,
        Table(table.name, table.schema, columns=told),
        Position(commit_ts=event.position.commit_ts),
    )


def _from_file_alone(column: Column) -> Column:
    """Return a column as a schema file tells it: without elements, and how it is generated."""
    column = schema_file_column(column, "", None)
    kind = column.type
    if isinstance(kind, EnumType):
        kind = EnumType()
    elif isinstance(kind, SetType):
        kind = SetType()
    return replace(column, type=kind, roles=column.roles - {"generated", "virtual"})


class _StoredPassage(Passage):
    """What files of both formats share: definitions and paths."""

    def __init__(self, through: Format, options: Options) -> None:
        super().__init__(through, options)
        self.changed: set[tuple[str | None, str | None]] = set()

    def _schema_change(self, event: SchemaChange) -> SchemaChange | None:
        if event.table is not None and event.table.name is not None:
            self.changed.add((event.table.schema, event.table.name))
        return schema_file_change(event)

    def _converted(self, kind: Type, value: Value) -> Value:
        found = super()._converted(kind, value)
        is_temporal = isinstance(kind, (DateType, TimeType, DatetimeType, TimestampType))
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


class CsvPassage(_StoredPassage):
    """CSV: two records for an update with ``output-old-value``, else one with the new row."""

    def __init__(self, through: Format, options: Options) -> None:
        super().__init__(through, options)
        null = str(self.options["null"])
        # With a quote a bare text is NULL. Without one the escaper never writes a backslash before
        # another character than n, r, itself or the delimiter, and other settings are refused.
        self.is_ambiguous = not self.options["quote"] and "\\" not in null
        self.null = null

    def _progress(self, event: Progress) -> Progress:
        return Progress(event.what, Position(commit_ts=event.position.commit_ts))

    def _rows(self, event: RowChange) -> Iterable[RowChange]:
        is_split = bool(self.options["output-old-value"])
        if event.op not in ("insert", "update", "delete"):
            raise NotCarriedError("op")
        if event.op != "update":
            yield self._record(event, event.before or event.after)
            return
        if event.half is not None and not is_split:
            raise NotCarriedError("before of update")
        if is_split and event.half != "after":
            yield replace(self._record(event, event.before), half="before")
        if event.half != "before":
            half: Half | None = "after" if is_split else None
            yield replace(self._record(event, event.after, is_after=True), half=half)

    def _record(
        self, event: RowChange, image: Image | None, *, is_after: bool = False
    ) -> RowChange:
        if image is None:
            raise NotCarriedError("op")
        ambiguous: list[str] = []
        columns, values = [], []
        for column, value in zip(image.columns, image.values, strict=True):
            columns.append(self._column(column, event.table))
            values.append(self._read(column, self._value(column, value), ambiguous))
        found = Image(tuple(columns), tuple(values))
        extra: dict[str, str | bytes | None] = {}
        if self.options["output-handle-key"]:
            extra["handle_key"] = self._handle(event, image)
        if ambiguous:
            extra["ambiguous_null"] = ",".join(ambiguous)
        is_delete = event.op == "delete" or (event.op == "update" and not is_after)
        commit_ts = event.position.commit_ts if self.options["include-commit-ts"] else None
        if commit_ts is None and self.options["include-commit-ts"]:
            raise NotCarriedError("commit_ts")
        return RowChange(
            Table(event.table.name, event.table.schema, key=_primary_names(found.columns)),
            event.op,
            found if is_delete else None,
            None if is_delete else found,
            Position(commit_ts=commit_ts, partition=self._partition(event.position)),
            extra=extra or NO_EXTRA,
        )

    def _column(self, column: Column, table: Table) -> Column:
        column = self._defined(column, table)
        return replace(column, type=_in_form(column.type, "label", self.time_zone))

    def _read(self, column: Column, value: Value, ambiguous: list[str]) -> Value:
        """Return a value as its field is read, where the text of NULL may be a value too."""
        if not self.is_ambiguous or not self._may_be_null_text(column.type):
            return value
        is_null = value is None or self._text(value) == self.null
        if column.nullable is False:
            if value is None:
                raise NotCarriedError("NULL")
            return value
        if is_null:
            ambiguous.append(column.name)
        return None if is_null else value

    def _may_be_null_text(self, kind: Type) -> bool:
        if isinstance(kind, JsonType):
            return self.null != ""
        return isinstance(kind, (TextType, BytesType, EnumType, SetType))

    def _text(self, value: Value) -> str | None:
        if isinstance(value, str):
            return value
        if not isinstance(value, bytes):
            return None
        if self.options["binary-encoding-method"] == "hex":
            return value.hex()
        return base64.b64encode(value).decode()

    def _handle(self, event: RowChange, image: Image) -> str:
        told = event.extra.get("handle_key")
        if isinstance(told, str):
            return told
        key = event.table.key or _primary_names(image.columns)
        if len(key) == 1 and key[0] in image:
            column = next(c for c in image.columns if c.name == key[0])
            value = image[key[0]]
            if isinstance(column.type, IntType) and isinstance(value, int):
                return str(value - (1 << 64) if value >> 63 > 0 else value)
        raise NotCarriedError("handle_key")


class CanalPassage(_StoredPassage):
    """Canal-JSON: messages of a queue, or rows of files with the option ``transport``."""

    def __init__(self, through: Format, options: Options) -> None:
        super().__init__(through, options)
        self.is_stored = self.options["transport"] == "storage"
        self.has_extension = bool(self.options["enable-tidb-extension"])
        is_official = self.options["dialect"] == "canal"
        self.has_full_types = bool(self.options["content-compatible"]) or is_official
        self.tells_changes = self.has_full_types or self.options["only-output-updated-columns"]
        if self.is_stored:
            self.progress = "checkpoint"

    def _has(self, name: str) -> bool:
        return (self.is_stored and name == "progress") or super()._has(name)

    def _schema_change(self, event: SchemaChange) -> SchemaChange | None:
        if self.is_stored:
            return super()._schema_change(event)
        what = event.what if event.code is None else schema_change_kind(event.code)
        return SchemaChange(
            what,
            event.query,
            None,
            named(event.table),
            self._timed(event.position),
            _extra(event.extra, ("message_id", "gtid")),
        )

    def _progress(self, event: Progress) -> Progress:
        if self.is_stored:
            return Progress(event.what, Position(commit_ts=event.position.commit_ts))
        return Progress(event.what, self._timed(event.position))

    def _timed(self, position: Position) -> Position:
        """Return a position with its times: those of the commit where it has none."""
        commit_ts, commit_ms, sent_ms = position.commit_ts, position.commit_ms, position.sent_ms
        if commit_ms is None:
            if commit_ts is None:
                raise NotCarriedError("commit_ts")
            commit_ms = ms_of_tso(commit_ts)
        if sent_ms is None:
            told = str(self.options["sent-time"])
            sent_ms = int(told) if told else commit_ms
        if self.has_extension and commit_ts is None:
            raise NotCarriedError("commit_ts")
        kept = commit_ts if self.has_extension else None
        partition = self._partition(position) if self.is_stored else None
        return Position(commit_ts=kept, partition=partition, commit_ms=commit_ms, sent_ms=sent_ms)

    def _rows(self, event: RowChange) -> Iterable[RowChange]:
        if event.op not in ("insert", "update", "delete") or event.half is not None:
            raise NotCarriedError("op")
        image = event.before if event.op == "delete" else event.after
        if image is None:
            raise NotCarriedError("op")
        key = _key_of(event.table, image)
        before, after, sent = event.before, event.after, self._sent(event)
        if event.op == "update" and before is not None and after is not None:
            if self.tells_changes:
                before = _changed_columns(before, after)
            if sent is None and (self.tells_changes or set(after.names) - set(before.names)):
                sent = "changed"
        elif event.op == "delete" and self.options["delete-only-output-handle-key-columns"]:
            before = _cut(image, frozenset(_handle_names(event.table, image)))
            sent = sent or "key"
        yield RowChange(
            Table(event.table.name, event.table.schema, key=key),
            event.op,
            self._described(before, event.table, key),
            self._described(after, event.table, key),
            self._timed(event.position),
            sent=sent,
            extra=_extra(event.extra, ("message_id", "gtid", "row_key", "claim_check")),
        )

    def _sent(self, event: RowChange) -> Sent | None:
        """Return "key" for a row that was cut before; only the extension says it."""
        is_cut = event.sent == "key" or bool(event.extra.get("claim_check"))
        return "key" if is_cut and self.has_extension else None

    def _described(self, image: Image | None, table: Table, key: tuple[str, ...]) -> Image | None:
        if image is None:
            return None
        columns = []
        for column in image.columns:
            described = self._column(column, table)
            roles = _PRIMARY if column.name in key else frozenset()
            columns.append(replace(described, roles=described.roles | roles))
        values = zip(image.columns, image.values, strict=True)
        return Image(tuple(columns), tuple(self._value(c, value) for c, value in values))

    def _column(self, column: Column, table: Table) -> Column:
        try:
            name, kind = _mysql_type(column, self.has_full_types, self.time_zone)
        except EncodeError as error:
            raise NotCarriedError(kind_text(column.type)) from error
        if not self.is_stored:
            return Column(column.name, kind, name)
        defined = self._defined(column, table)
        if isinstance(defined.type, BoolType):
            return replace(defined, type=kind, source=name)
        in_form = _in_form(defined.type, "index", self.time_zone)
        return replace(defined, type=in_form, source=defined.source or name)


def _mysql_type(column: Column, is_full: bool, time_zone: str | None) -> tuple[str, Type]:
    """Return ``mysqlType`` and the kind that it tells."""
    declared = declared_type(column, "")
    if isinstance(column.type, UnknownType):
        return ("binary(0)", BytesType(0)) if is_full else ("binary", BytesType())
    told = declared if is_full else DeclaredType(declared.base)
    told = replace(told, is_unsigned=declared.is_unsigned, is_zerofill=declared.is_zerofill)
    if is_full and not _tells_its_length(column):
        told = replace(told, flen=None, decimal=None)
    words = declared.base + (_parameters(told) if is_full else "")
    if declared.is_unsigned and declared.base not in ("bit", "year"):
        words += " unsigned"
    if declared.is_zerofill and declared.base != "year":
        words += " zerofill"
    if told.base in ("time", "datetime", "timestamp") and not told.decimal:
        told = replace(told, decimal=None)  # no digits stand for none, and for some
    return words, type_of_declared(told, time_zone)


def _tells_its_length(column: Column) -> bool:
    """Return whether a length is known that no default stands for."""
    length = getattr(column.type, "length", getattr(column.type, "precision", 0))
    return length is not None or "(" in (column.source or "")


def _parameters(told: DeclaredType) -> str:
    match told.base:
        case "time" | "datetime" | "timestamp":
            return f"({told.decimal})" if told.decimal else ""
        case "float" | "double":
            return f"({told.flen},{told.decimal})" if told.decimal else ""
        case "enum" | "set":
            if told.elements is None:
                return ""
            return "(" + ",".join("'" + e.replace("'", "''") + "'" for e in told.elements) + ")"
        case "decimal":
            return "" if told.flen is None else f"({told.flen},{told.decimal})"
        case base if base in _LARGE or told.flen is None:
            return ""
        case _:
            return f"({told.flen})"


def _in_form(kind: Type, form: LabelForm, time_zone: str | None) -> Type:
    """Return a kind with the form and the zone that values have in the format."""
    match kind:
        case DateType() | TimeType() | DatetimeType():
            return replace(kind, form="text")
        case TimestampType():
            return replace(kind, form="text", zone=time_zone)
        case EnumType() | SetType():
            return replace(kind, form=form)
        case _:
            return kind


def _primary_names(columns: tuple[Column, ...]) -> tuple[str, ...]:
    return tuple(column.name for column in columns if "primary" in column.roles)


def _handle_names(table: Table, image: Image) -> tuple[str, ...]:
    if table.key is not None:
        return table.key
    return tuple(c.name for c in image.columns if c.roles & {"handle", "primary"})


def _key_of(table: Table, image: Image) -> tuple[str, ...]:
    """Return the primary key; a unique key that stands in for it is none."""
    roles = {column.name: column.roles for column in image.columns}
    return tuple(
        name
        for name in _handle_names(table, image)
        if "primary" in roles.get(name, ()) or "unique" not in roles.get(name, ())
    )


def _cut(image: Image, names: frozenset[str]) -> Image:
    pairs = [p for p in zip(image.columns, image.values, strict=True) if p[0].name in names]
    return Image(tuple(column for column, _ in pairs), tuple(value for _, value in pairs))


def _changed_columns(before: Image, after: Image) -> Image:
    """Return the old columns whose value is another now. 0.0 and -0.0 are the same."""
    new = dict(zip(after.names, after.values, strict=True))
    changed = {
        column.name
        for column, value in zip(before.columns, before.values, strict=True)
        if column.name not in new
        or type(new[column.name]) is not type(value)
        or new[column.name] != value
    }
    return _cut(before, frozenset(changed))


def _extra(extra: Extra, names: tuple[str, ...]) -> Extra:
    kept = {name: extra[name] for name in names if extra.get(name) not in (None, "", "0")}
    return kept or NO_EXTRA
