"""The wire's values to and from the neutral model, message by message.

A message of TiCDC is one event. A message of the official Canal may have several rows, each an
event with the position of all. The row before is found by its place in ``old``.
"""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from cdcwire.core.claim_check import reading_claim_check
from cdcwire.core.context import EVERYTHING, Selection
from cdcwire.core.errors import EncodeError, step
from cdcwire.core.limits import INT64_END
from cdcwire.formats.canal_json.columns import NO_DEFINITIONS, Definitions
from cdcwire.formats.canal_json.images import (
    ImageReader,
    ImageWriter,
    WrittenColumn,
    changed_columns,
    check_same_types,
)
from cdcwire.formats.canal_json.message import (
    DELETE,
    INSERT,
    QUERY,
    UPDATE,
    WATERMARK,
    Extension,
    Message,
)
from cdcwire.formats.canal_json.settings import DEFAULT_SETTINGS, Settings
from cdcwire.formats.canal_json.values import Row, Rows
from cdcwire.formats.canal_json.wire import check_belongs, read_stored
from cdcwire.model.events import (
    Event,
    Extra,
    Image,
    Op,
    Position,
    Progress,
    RowChange,
    SchemaChange,
    SchemaChangeKind,
    Sent,
    Table,
)
from cdcwire.model.instants import ms_of_tso
from cdcwire.mysql.types import schema_change_kind

NO_BLOBS: Mapping[str, bytes] = MappingProxyType({})

_KINDS: dict[str, SchemaChangeKind] = {
    "CREATE": "create",
    "ALTER": "alter",
    "ERASE": "erase",
    "TRUNCATE": "truncate",
    "RENAME": "rename",
    "CINDEX": "cindex",
    "DINDEX": "dindex",
    "QUERY": "query",
}
_OPS: dict[str, Op] = {INSERT: "insert", UPDATE: "update", DELETE: "delete"}
TYPES = {op: kind for kind, op in _OPS.items()}
_MESSAGE_ID = re.compile(r"-?[0-9]{1,19}")
_TIMESTAMP = re.compile(r"[0-9]{1,20}", re.ASCII)


def events_of(
    message: Message,
    settings: Settings = DEFAULT_SETTINGS,
    blobs: Mapping[str, bytes] = NO_BLOBS,
    selection: Selection = EVERYTHING,
    definitions: Definitions = NO_DEFINITIONS,
    *,
    partition: int | None = None,
    version: int | None = None,
) -> list[Event]:
    """Return the neutral events of a message.

    ``blobs``: claim-check files by location; a row whose file is among them is returned whole.
    ``partition`` and ``version`` are those of a file's path.
    Raises: DecodeError for a claim-check file that breaks the format.
    """
    if message.type == QUERY and not message.is_ddl:
        return []  # the statement of rows that follow
    extension = message.tidb or Extension()
    position = Position(
        commit_ts=extension.commit_ts,
        partition=partition,
        commit_ms=message.es,
        sent_ms=message.ts,
    )
    extra = _extra_of(message)
    if message.is_ddl:
        name, schema = message.table or None, message.database or None
        table = Table(name, schema) if name or schema else None
        kind = _KINDS[message.type]
        return [SchemaChange(kind, message.sql, None, table, position, extra)]
    if message.type == WATERMARK:
        position = replace(position, commit_ts=extension.watermark_ts)
        return [Progress("watermark", position, extra)]
    is_cut = extension.only_handle_key or extension.origin_ts is not None
    location = extension.claim_check_location
    if location and location in blobs:
        with reading_claim_check():
            is_raw = settings.claim_check_raw_value
            stored = read_stored(blobs[location], settings.compression, definitions, is_raw=is_raw)
            check_belongs(stored, message, is_raw=is_raw)
        is_cut = stored.tidb is not None and stored.tidb.only_handle_key
        message = replace(stored, id=message.id, gtid=message.gtid)
    elif location:
        is_cut = True
        extra = {**extra, "claim_check": location}
    pk_names = message.pk_names or ()
    images = ImageReader(
        dict(message.mysql_type or ()),
        definitions.columns(message.database, message.table, version),
        pk_names,
        settings.time_zone,
        selection,
    )
    table = Table(message.table, message.database or None, key=pk_names)
    return [
        RowChange(table, _OPS[message.type], before, after, position, None, sent, extra)
        for before, after, sent in _images_of(message, images, settings, is_cut)
    ]


def _extra_of(message: Message) -> Extra:
    extra: dict[str, str | bytes | None] = {}
    if message.id:
        extra["message_id"] = str(message.id)
    if message.gtid:
        extra["gtid"] = message.gtid
    extension = message.tidb or Extension()
    if extension.rowkey is not None:
        extra["row_key"] = b64decode(extension.rowkey)
    if extension.origin_ts is not None:
        extra["origin_ts"] = str(extension.origin_ts)
    if extension.checksum is not None:
        extra["checksum"] = b64decode(extension.checksum)
    return extra


def _images_of(
    message: Message, images: ImageReader, settings: Settings, is_cut: bool
) -> Iterator[tuple[Image | None, Image | None, Sent | None]]:
    """Yield before, after and what was sent of each row."""
    cut: Sent | None = "key" if is_cut else None
    if message.type == DELETE:
        sent: Sent | None = "key" if settings.delete_only_handle_key else None
        for row in message.old if message.data is None else message.data:  # type: ignore[union-attr]  # checked when read
            yield images.image(row or ()), None, cut or sent
        return
    rows = message.data or ()
    old_rows: Rows = (None,) * len(rows)
    if message.type == UPDATE and message.old is not None:
        old_rows = message.old
    for row, old in zip(rows, old_rows, strict=True):
        after = images.image(row or ())
        if old is None:
            yield None, after, cut
            continue
        yield images.image(old), after, cut or _sent(row or (), old, settings)


def _sent(row: Row, old: Row, settings: Settings) -> Sent | None:
    """Return "changed" where old columns are missing, or may be."""
    if settings.tells_changed_columns:
        return "changed"
    names = {name for name, _ in old}
    return "changed" if any(name not in names for name, _ in row) else None


@dataclass(frozen=True, slots=True)
class Cut:
    """How a row that is too large is cut. ``location``: of the claim-check file that has it all."""

    location: str = ""


def from_event(
    event: Event,
    settings: Settings = DEFAULT_SETTINGS,
    images: ImageWriter | None = None,
    cut: Cut | None = None,
) -> Message:
    """Return the message of one event, as the options leave it. Raises: EncodeError."""
    match event:
        case RowChange():
            images = images or ImageWriter(settings)
            return _row_message(event, settings, images, cut)
        case SchemaChange():
            return _ddl_message(event, settings)
        case Progress(what="watermark"):
            return _watermark(event, settings)
        case _:
            problem = f"there is no message for {event.what!r}"
            raise EncodeError(problem, "canal-json: event types", ("what",))


def _ddl_message(event: SchemaChange, settings: Settings) -> Message:
    if event.query is None:
        raise EncodeError("a schema change needs its query", "canal-json: ddl events", ("query",))
    what = event.what if event.code is None else schema_change_kind(event.code)
    schema, name = (event.table.schema, event.table.name) if event.table else (None, None)
    es, ts = times_of(event.position, settings)
    return Message(
        type=what.upper(),
        database=schema or "",
        table=name or "",
        es=es,
        ts=ts,
        is_ddl=True,
        id=_message_id(event.extra),
        sql=event.query,
        tidb=Extension(commit_ts_of(event.position)) if settings.tidb_extension else None,
        gtid=_gtid(event.extra, settings),
    )


def _watermark(event: Progress, settings: Settings) -> Message:
    clause = "canal-json: watermarks"
    if not settings.tidb_extension:
        raise EncodeError("a watermark needs enable-tidb-extension", clause, ("what",))
    es, ts = times_of(event.position, settings)
    watermark_ts = commit_ts_of(event.position)
    extension = Extension(watermark_ts=watermark_ts)
    return Message(
        type=WATERMARK, database="", table="", is_ddl=False, es=es, ts=ts, tidb=extension
    )


def _row_message(
    event: RowChange, settings: Settings, images: ImageWriter, cut: Cut | None
) -> Message:
    clause = "canal-json: event types"
    if event.half is not None:
        raise EncodeError("an update is one event, never two records", clause, ("half",))
    kind = TYPES.get(event.op)
    if kind is None:
        raise EncodeError(f"there is no event for {event.op!r}", clause, ("op",))
    if not event.table.schema or not event.table.name:
        raise EncodeError("a row needs schema and table", "canal-json: members", ("table",))
    image = event.before if event.op == "delete" else event.after
    other = event.after if event.op == "delete" else event.before
    side, other_side = ("before", "after") if event.op == "delete" else ("after", "before")
    if image is None:
        raise EncodeError(f"{event.op} needs {side}", "canal-json: row events", (side,))
    if other is not None and event.op != "update":
        problem = f"{event.op} has no {other_side}"
        raise EncodeError(problem, "canal-json: row events", (other_side,))
    with step(side):
        columns = images.columns(event.table, image)
    old = None
    if other is not None:
        with step(other_side):
            old = images.columns(event.table, other)
            check_same_types(old, columns, "canal-json: old")
        if settings.tells_changed_columns:
            old = changed_columns(old, columns)
    is_key_only = event.op == "delete" and settings.delete_only_handle_key
    if is_key_only or cut is not None:
        key = frozenset(images.key(event.table, image))
        columns = tuple(column for column in columns if column.name in key)
        old = None if old is None else tuple(column for column in old if column.name in key)
        if cut is not None and not columns:
            problem = "the row has no handle key"
            raise EncodeError(problem, "canal-json: handle key only", ("table",))
    es, ts = times_of(event.position, settings)
    return Message(
        type=kind,
        database=event.table.schema,
        table=event.table.name,
        is_ddl=False,
        es=es,
        ts=ts,
        id=_message_id(event.extra),
        pk_names=pk_names_of(images.pk_names(event.table, image), settings),
        sql_type=tuple((c.name, c.sql_type) for c in columns) or None,
        mysql_type=tuple((c.name, c.mysql_type) for c in columns),
        data=(_texts(columns),),
        old=None if old is None else (_texts(old),),
        tidb=_row_extension(event, settings, is_key_only, cut),
        gtid=_gtid(event.extra, settings),
    )


def _texts(columns: tuple[WrittenColumn, ...]) -> Row:
    return tuple((column.name, column.text) for column in columns)


def pk_names_of(names: tuple[str, ...], settings: Settings) -> tuple[str, ...] | None:
    """Return ``pkNames``. The official Canal has null for a table without a primary key."""
    return None if settings.dialect == "canal" and not names else names


def _row_extension(
    event: RowChange, settings: Settings, is_key_only: bool, cut: Cut | None
) -> Extension | None:
    location = event.extra.get("claim_check")
    if not isinstance(location, (str, type(None))):
        path = ("extra", "claim_check")
        raise EncodeError("a location is text", "canal-json: claim check", path)
    row_key, checksum = (_base64(event.extra, name) for name in ("row_key", "checksum"))
    origin_ts = _origin_ts(event.extra)
    if cut is not None:
        location = cut.location
    is_cut = cut is not None or (event.sent == "key" and origin_ts is None)
    only_handle_key = is_cut and not location and not (is_key_only and cut is None)
    if not settings.tidb_extension:
        problem = "it has its place in _tidb, and enable-tidb-extension is off"
        if location:
            raise EncodeError(problem, "canal-json: claim check", ("extra", "claim_check"))
        if only_handle_key:
            raise EncodeError(problem, "canal-json: handle key only", ("sent",))
        return None
    return Extension(
        commit_ts_of(event.position),
        None,
        only_handle_key,
        location or "",
        row_key,
        origin_ts,
        checksum,
    )


def _origin_ts(extra: Extra) -> int | None:
    text = extra.get("origin_ts")
    if text is None:
        return None
    if not isinstance(text, str) or not _TIMESTAMP.fullmatch(text):
        path = ("extra", "origin_ts")
        raise EncodeError(f"{text!r:.40} is not a timestamp", "canal-json: tidb extension", path)
    return int(text)


def _base64(extra: Extra, name: str) -> str | None:
    value = extra.get(name)
    if value is None:
        return None
    if not isinstance(value, bytes):
        raise EncodeError("it is not bytes", "canal-json: tidb extension", ("extra", name))
    return b64encode(value).decode("ascii")


def commit_ts_of(position: Position) -> int:
    """Return the commit timestamp of an event. Raises: EncodeError."""
    if position.commit_ts is None:
        clause = "canal-json: tidb extension"
        raise EncodeError("_tidb needs the commit_ts", clause, ("position", "commit_ts"))
    return position.commit_ts


def times_of(position: Position, settings: Settings) -> tuple[int, int]:
    """Return ``es`` and ``ts``: the event's own, else the commit's, else what the option says.

    Raises: EncodeError.
    """
    es = position.commit_ms
    if es is None:
        if position.commit_ts is None:
            problem = "an event needs its commit_ts or commit_ms"
            raise EncodeError(problem, "canal-json: members", ("position", "commit_ts"))
        es = ms_of_tso(position.commit_ts)
    if position.sent_ms is not None:
        return es, position.sent_ms
    return es, es if settings.sent_ms is None else settings.sent_ms


def _message_id(extra: Extra) -> int:
    text = extra.get("message_id")
    if text is None:
        return 0
    if isinstance(text, str) and _MESSAGE_ID.fullmatch(text) and abs(int(text)) < INT64_END:
        return int(text)
    problem = f"{text!r:.40} is not a message id"
    raise EncodeError(problem, "canal-json: official canal", ("extra", "message_id"))


def _gtid(extra: Extra, settings: Settings) -> str | None:
    gtid = extra.get("gtid")
    if not isinstance(gtid, (str, type(None))):
        path = ("extra", "gtid")
        raise EncodeError("a gtid is text", "canal-json: official canal", path)
    if settings.dialect == "canal":
        return gtid or ""
    return gtid or None
