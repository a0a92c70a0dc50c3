"""The wire's values to and from the neutral model, event by event; ``batching`` makes messages.

An update that was sent without old values looks the same as an insert and is read as one. The
columns that a producer left out by its options are known only where key or options say so
(``RowChange.sent``).

A column that a producer without ``f`` flagged by ``h`` alone is a handle-key column all the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType

from cdcwire.core.claim_check import reading_claim_check
from cdcwire.core.context import EVERYTHING, Selection
from cdcwire.core.errors import EncodeError, step
from cdcwire.formats.open_protocol.members import EVENT_DDL, EVENT_RESOLVED, EVENT_ROW
from cdcwire.formats.open_protocol.message import Column, Columns, Ddl, Item, Key, Message, Row
from cdcwire.formats.open_protocol.settings import DEFAULT_SETTINGS, Settings
from cdcwire.formats.open_protocol.values import value_clause
from cdcwire.formats.open_protocol.wire import check_belongs, read_file
from cdcwire.model.events import (
    Event,
    Extra,
    Image,
    Position,
    Progress,
    RowChange,
    SchemaChange,
    Sent,
    Table,
)
from cdcwire.mysql.images import ImageWriter, image_of
from cdcwire.mysql.types import FLAG_HANDLE_KEY, schema_change_kind

NO_BLOBS: Mapping[str, bytes] = MappingProxyType({})
_ROW_ID = re.compile(r"-?[0-9]{1,19}")


def events_of(
    message: Message,
    settings: Settings = DEFAULT_SETTINGS,
    blobs: Mapping[str, bytes] = NO_BLOBS,
    selection: Selection = EVERYTHING,
) -> list[Event]:
    """Return the neutral events of a message.

    ``blobs``: claim-check files by location; a row whose file is among them is returned whole.
    Raises: DecodeError for a claim-check file that breaks the format.
    """
    return [
        _to_event(item, index, settings, blobs, selection)
        for index, item in enumerate(message.items)
    ]


def _to_event(
    item: Item,
    index: int,
    settings: Settings,
    blobs: Mapping[str, bytes],
    selection: Selection,
) -> Event:
    key = item.key
    position = Position(commit_ts=key.ts, partition=key.ptn or None)
    match item.value:
        case None:
            return Progress("resolved", position)
        case Ddl(query, code):
            table = Table(key.tbl or None, key.scm or None) if key.tbl or key.scm else None
            return SchemaChange(schema_change_kind(code), query, code, table, position)
        case Row() as row:
            pass
    extra: dict[str, str | bytes | None] = {"row_id": str(key.rid)} if key.rid else {}
    is_reduced = key.ohk
    stored_bytes = blobs.get(key.ccl) if key.ccl else None
    if stored_bytes is not None:
        with reading_claim_check(index):
            stored = read_file(stored_bytes, settings.compression)
            check_belongs(stored, item)
        assert isinstance(stored.value, Row)  # read_file gives nothing else
        row, is_reduced = stored.value, stored.key.ohk
    elif key.ccl:
        extra["claim_check"] = key.ccl
        is_reduced = True
    change = _row_change(key, row, position, settings, selection)
    if is_reduced:
        change = replace(change, sent="key")
    return replace(change, extra=extra) if extra else change


def is_unchanged(row: Row, settings: Settings) -> bool:
    """Return whether a row is an update without any changed column, which has an empty ``p``.

    Only the newer producer writes it; elsewhere an empty ``p`` means nothing.
    """
    return settings.dialect == "ticdc" and row.p is not None and not row.p and not row.d


def _row_change(
    key: Key, row: Row, position: Position, settings: Settings, selection: Selection
) -> RowChange:
    table = Table(key.tbl, key.scm, key=handle_key_names(row.u or row.d or ()))
    zone = settings.time_zone
    if row.d:
        sent: Sent | None = "key" if settings.delete_only_handle_key else None
        before = read_image(row.d, zone, selection)
        return RowChange(table, "delete", before, None, position, sent=sent)
    after = read_image(row.u or (), zone, selection)
    if not row.p and not is_unchanged(row, settings):
        return RowChange(table, "insert", None, after, position)
    sent = "changed" if settings.only_updated_columns or not row.p else None
    before = read_image(row.p or (), zone, selection)
    return RowChange(table, "update", before, after, position, sent=sent)


def from_event(
    event: Event, settings: Settings = DEFAULT_SETTINGS, columns: ColumnWriter | None = None
) -> Item:
    """Return the item of one event, as the options leave it. Raises: EncodeError."""
    columns = columns or ColumnWriter(settings.time_zone, ())
    match event:
        case RowChange():
            return _row_item(event, settings, columns)
        case SchemaChange():
            return _ddl_item(event)
        case Progress(what="resolved"):
            ptn = _partition(event.position)
            return Item(Key(_commit_ts(event.position), EVENT_RESOLVED, ptn=ptn), None)
        case _:
            problem = f"there is no event for {event.what!r}"
            raise EncodeError(problem, "open-protocol: event types", ("what",))


def _ddl_item(event: SchemaChange) -> Item:
    clause = "open-protocol: ddl value"
    if event.query is None:
        raise EncodeError("a schema change needs its query", clause, ("query",))
    if event.code is None:
        raise EncodeError("a schema change needs its number", clause, ("code",))
    schema, name = (event.table.schema, event.table.name) if event.table else (None, None)
    ptn = _partition(event.position)
    key = Key(_commit_ts(event.position), EVENT_DDL, schema or "", name or "", ptn=ptn)
    return Item(key, Ddl(event.query, event.code))


def _row_item(event: RowChange, settings: Settings, columns: ColumnWriter) -> Item:
    clause = "open-protocol: event types"
    if event.half is not None:
        raise EncodeError("an update is one event, never two records", clause, ("half",))
    if event.op not in ("insert", "update", "delete"):
        raise EncodeError(f"there is no event for {event.op!r}", clause, ("op",))
    if not event.table.schema or not event.table.name:
        problem = "a row needs schema and table"
        raise EncodeError(problem, "open-protocol: key members", ("table",))
    claim_check = event.extra.get("claim_check")
    if not isinstance(claim_check, (str, type(None))):
        problem = "a location is text"
        raise EncodeError(problem, "open-protocol: claim check", ("extra", "claim_check"))
    cut_by_option = event.op == "delete" and settings.delete_only_handle_key
    key = Key(
        _commit_ts(event.position),
        EVENT_ROW,
        event.table.schema,
        event.table.name,
        _row_id(event.extra),
        _partition(event.position),
        ohk=event.sent == "key" and not cut_by_option and not claim_check,
        ccl=claim_check or "",
    )
    return Item(key, _row(event, settings, columns))


def _row(event: RowChange, settings: Settings, columns: ColumnWriter) -> Row:
    before, after = (
        _group(event.table, image, side, columns)
        for side, image in (("before", event.before), ("after", event.after))
    )
    for side, group, is_allowed, is_needed in (
        ("before", before, event.op != "insert", event.op == "delete"),
        ("after", after, event.op != "delete", event.op != "delete"),
    ):
        if (group is None and is_needed) or (group is not None and not is_allowed):
            problem = f"{event.op} {'needs' if is_needed else 'has no'} {side}"
            raise EncodeError(problem, "open-protocol: row value", (side,))
    if event.op == "delete":
        row = Row(d=before)
        if settings.delete_only_handle_key:
            return handle_key_only(row, settings, "open-protocol: delete only handle key")
        return row
    if event.op == "insert" or not settings.output_old_value:
        return Row(u=after)
    return Row(u=after, p=_old_columns(event, before, after or (), settings))


def _old_columns(
    event: RowChange, before: Columns | None, after: Columns, settings: Settings
) -> Columns:
    if before is None:
        problem = "an update needs its row before, as long as output-old-value is set"
        raise EncodeError(problem, "open-protocol: output old value", ("before",))
    if settings.only_updated_columns:
        return updated_columns(before, after)
    clause = "open-protocol: only updated columns"
    if event.sent == "changed":
        problem = "unchanged columns may be left out only with only-output-updated-columns"
        raise EncodeError(problem, clause, ("sent",))
    if not before:
        raise EncodeError("without a column before it would be an insert", clause, ("before",))
    return before


def _group(table: Table, image: Image | None, side: str, columns: ColumnWriter) -> Columns | None:
    if image is None:
        return None
    with step(side):
        return columns.columns(table, image)


def _commit_ts(position: Position) -> int:
    if position.commit_ts is None:
        clause = "open-protocol: key members"
        raise EncodeError("an event needs its commit_ts", clause, ("position", "commit_ts"))
    return position.commit_ts


def _partition(position: Position) -> int:
    if position.partition == 0:
        problem = "partition 0 can't be distinguished from no partition"
        raise EncodeError(problem, "open-protocol: partition", ("position", "partition"))
    return position.partition or 0


def _row_id(extra: Extra) -> int:
    text = extra.get("row_id")
    if text is None:
        return 0
    if isinstance(text, str) and _ROW_ID.fullmatch(text) and str(int(text)) == text:
        return int(text)
    problem = f"{text!r:.40} is not a row id"
    raise EncodeError(problem, "open-protocol: row id", ("extra", "row_id"))


def handle_key_names(columns: Columns) -> tuple[str, ...]:
    """Return the names of the handle-key columns, in their order."""
    return tuple(column.name for column in columns if _flags(column) & FLAG_HANDLE_KEY)


def read_image(columns: Columns, time_zone: str | None, selection: Selection) -> Image:
    """Return the image of the columns that are wanted."""
    if selection.columns is not None:
        columns = tuple(column for column in columns if column.name in selection.columns)
    described = tuple((column.name, column.type, _flags(column)) for column in columns)
    return image_of(described, (column.value for column in columns), time_zone)


def _flags(column: Column) -> int:
    return column.flag | FLAG_HANDLE_KEY if column.h else column.flag


class ColumnWriter:
    """Makes columns of the wire from images, with the help of table definitions."""

    def __init__(self, time_zone: str | None, tables: Iterable[Table]) -> None:
        clause = "open-protocol: column members"
        self._images = ImageWriter(tables, time_zone, clause, value_clause)
        self.prepared = self._images.prepared

    def columns(self, table: Table, image: Image) -> Columns:
        """Return the columns of an image. Raises: EncodeError with the column's name as path."""
        return tuple(
            Column(
                column.name,
                column.type,
                bool(column.flags & FLAG_HANDLE_KEY),
                column.flags,
                column.value,
            )
            for column in self._images.columns(table, image)
        )


def updated_columns(before: Columns, after: Columns) -> Columns:
    """Return the old columns whose type or value differs from the new one."""
    new = {column.name: (column.type, column.value) for column in after}
    return tuple(c for c in before if new.get(c.name) != (c.type, c.value))


def handle_key_only(row: Row, settings: Settings, clause: str) -> Row:
    """Return a row with its handle-key columns only. Raises: EncodeError when there is none."""
    u, p, d = (
        None if group is None else tuple(column for column in group if column.h)
        for group in (row.u, row.p, row.d)
    )
    lost_old = bool(row.p) and not p and not settings.only_updated_columns
    if not (u or d) or lost_old:
        raise EncodeError("the row has no handle key", clause)
    return Row(u, p, d)
