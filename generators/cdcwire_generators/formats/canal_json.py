"""The generators' facts about canal-json."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from types import MappingProxyType

from cdcwire.core.errors import EncodeError
from cdcwire.format import Format
from cdcwire.model.events import (
    NO_EXTRA,
    Extra,
    Image,
    Position,
    Progress,
    RowChange,
    SchemaChange,
    Sent,
    Table,
)
from cdcwire.model.instants import ms_of_tso
from cdcwire.model.kind_text import kind_text
from cdcwire.model.kinds import BoolType, BytesType, Column, Role, Type, UnknownType
from cdcwire.mysql.declared import DeclaredType, declared_type, type_of_declared
from cdcwire.mysql.types import schema_change_kind
from cdcwire_generators.feeds import FeedTraits
from cdcwire_generators.formats import FormatGenerators
from cdcwire_generators.round_trip import NotCarriedError, Options, named
from cdcwire_generators.samples import has_options, never
from cdcwire_generators.storage import STORAGE_FEED, StoredRoundTrip, in_form

_LARGE = frozenset(a + b for a in ("tiny", "", "medium", "long") for b in ("text", "blob"))
_PRIMARY: frozenset[Role] = frozenset({"primary"})


class CanalRoundTrip(StoredRoundTrip):
    """Canal-JSON: messages of a queue, or rows of files with the option ``transport``."""

    def __init__(self, through: Format, options: Options, feed: FeedTraits) -> None:
        super().__init__(through, options, feed)
        self.is_stored = self.options["transport"] == "storage"
        self.has_extension = bool(self.options["enable-tidb-extension"])
        is_official = self.options["dialect"] == "canal"
        self.has_full_types = bool(self.options["content-compatible"]) or is_official
        self.sends_changes = self.has_full_types or self.options["only-output-updated-columns"]
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
            given = str(self.options["sent-time"])
            sent_ms = int(given) if given else commit_ms
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
            if self.sends_changes:
                before = _changed_columns(before, after)
            if sent is None and (self.sends_changes or set(after.names) - set(before.names)):
                sent = "changed"
        elif event.op == "delete" and self.options["delete-only-output-handle-key-columns"]:
            before = image.only(_handle_names(event.table, image))
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
        return Image(tuple(columns), tuple(self._value(c, value) for c, value in image.pairs))

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
        formed = in_form(defined.type, "index", self.time_zone)
        return replace(defined, type=formed, source=defined.source or name)


def _mysql_type(column: Column, is_full: bool, time_zone: str | None) -> tuple[str, Type]:
    """Return ``mysqlType`` and the kind that it names."""
    declared = declared_type(column, "")
    if isinstance(column.type, UnknownType):
        return ("binary(0)", BytesType(0)) if is_full else ("binary", BytesType())
    given = declared if is_full else DeclaredType(declared.base)
    given = replace(given, is_unsigned=declared.is_unsigned, is_zerofill=declared.is_zerofill)
    if is_full and not _has_own_length(column):
        given = replace(given, flen=None, decimal=None)
    words = declared.base + (_parameters(given) if is_full else "")
    if declared.is_unsigned and declared.base not in ("bit", "year"):
        words += " unsigned"
    if declared.is_zerofill and declared.base != "year":
        words += " zerofill"
    if given.base in ("time", "datetime", "timestamp") and not given.decimal:
        given = replace(given, decimal=None)  # no digits stand for none, and for some
    return words, type_of_declared(given, time_zone)


def _has_own_length(column: Column) -> bool:
    """Return whether a length is known and is not a default."""
    length = getattr(column.type, "length", getattr(column.type, "precision", 0))
    return length is not None or "(" in (column.source or "")


def _parameters(given: DeclaredType) -> str:
    match given.base:
        case "time" | "datetime" | "timestamp":
            return f"({given.decimal})" if given.decimal else ""
        case "float" | "double":
            return f"({given.flen},{given.decimal})" if given.decimal else ""
        case "enum" | "set":
            if given.elements is None:
                return ""
            return "(" + ",".join("'" + e.replace("'", "''") + "'" for e in given.elements) + ")"
        case "decimal":
            return "" if given.flen is None else f"({given.flen},{given.decimal})"
        case base if base in _LARGE or given.flen is None:
            return ""
        case _:
            return f"({given.flen})"


def _handle_names(table: Table, image: Image) -> tuple[str, ...]:
    if table.key is not None:
        return table.key
    return tuple(c.name for c in image.columns if c.roles & {"handle", "primary"})


def _key_of(table: Table, image: Image) -> tuple[str, ...]:
    """Return the primary key; a unique key in its place does not count."""
    roles = {column.name: column.roles for column in image.columns}
    return tuple(
        name
        for name in _handle_names(table, image)
        if "primary" in roles.get(name, ()) or "unique" not in roles.get(name, ())
    )


def _changed_columns(before: Image, after: Image) -> Image:
    """Return the old columns whose value is another now. 0.0 and -0.0 are the same."""
    new = dict(zip(after.names, after.values, strict=True))
    changed = {
        column.name
        for column, value in before.pairs
        if column.name not in new
        or type(new[column.name]) is not type(value)
        or new[column.name] != value
    }
    return before.only(changed)


def _extra(extra: Extra, names: tuple[str, ...]) -> Extra:
    kept = {name: extra[name] for name in names if extra.get(name) not in (None, "", "0")}
    return kept or NO_EXTRA


GENERATORS = FormatGenerators(
    feed=replace(STORAGE_FEED, progress="watermark"),
    round_trip=CanalRoundTrip,
    option_values=MappingProxyType({"sent-time": ("", "0", "1700000000000")}),
    features=MappingProxyType(
        {
            "compression": never,
            "files": has_options("transport", ("storage",)),
            "rowkey": never,
            "no tidb extension": has_options("enable-tidb-extension", (None, False)),
        }
    ),
)
