"""Messages to events of the model, and back.

A row has the columns of its table schema, in the order of the table. A message
of the type BOOTSTRAP has no event: it is a definition, like the schema that comes with a DDL.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from cdcwire.core.claim_check import reading_claim_check
from cdcwire.core.context import EVERYTHING, Selection
from cdcwire.core.errors import DecodeError, EncodeError, step
from cdcwire.core.json_record import whole_of
from cdcwire.core.strict_json import read_json
from cdcwire.formats.simple.definitions import (
    Definition,
    Definitions,
    check_columns,
    definition_of_row,
    key_of,
    schema_of,
    table_of,
)
from cdcwire.formats.simple.message import (
    CHECKSUM,
    CLAIM_CHECK,
    DDL,
    DDL_TYPES,
    DELETE,
    FIELDS,
    INSERT,
    ROWS,
    RULES,
    SCHEMA,
    SCHEMAS,
    TYPES,
    Bootstrap,
    Cell,
    Checksum,
    Ddl,
    Dml,
    Message,
    Row,
    TableSchema,
    Watermark,
)
from cdcwire.formats.simple.settings import DEFAULT_SETTINGS, Settings
from cdcwire.formats.simple.values import as_sent, read_value, write_value
from cdcwire.formats.simple.wire import read_stored
from cdcwire.golang import json_string
from cdcwire.model.events import (
    NO_EXTRA,
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
from cdcwire.model.kinds import Column
from cdcwire.mysql.images import complete_column
from cdcwire.mysql.types import schema_change_kind

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
OPS: dict[str, Op] = {INSERT: "insert", "UPDATE": "update", DELETE: "delete"}
_TYPES = {op: kind for kind, op in OPS.items()}
# Old statements of several columns, which the producer does not call ALTER.
_QUERY_CODES = frozenset({37, 38})
_EXCHANGE = 42
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,19})", re.ASCII)
_SCHEMA_EXTRAS = ("table_schema", "pre_table_schema")


def events_of(
    message: Message,
    settings: Settings,
    blobs: Mapping[str, bytes],
    selection: Selection = EVERYTHING,
    definitions: Definitions | None = None,
) -> list[Event]:
    """Return the events of a message: one, or none.

    ``blobs``: claim-check files by location; a row whose file is among them is returned whole.
    Raises: DecodeError, also for a row whose table schema is not known.
    """
    match message:
        case Bootstrap():
            return []
        case Watermark():
            position = Position(commit_ts=message.commit_ts, sent_ms=message.build_ts)
            return [Progress("watermark", position)]
        case Ddl():
            return [_schema_change(message, settings)]
        case Dml():
            if not selection.wants(message.database or None, message.table):
                return []
            known = definitions or Definitions()
            return [_row_change(message, settings, blobs, selection, known)]


def _schema_change(message: Ddl, settings: Settings) -> SchemaChange:
    schema = message.table_schema
    table = None if schema is None else table_of(schema)
    extra: dict[str, str | bytes | None] = {}
    # The model has no place for all of a table schema: its text keeps the rest.
    if schema is not None and (table is None or not _is_whole(schema, table, settings)):
        extra["table_schema"] = _text_of_schema(schema)
    if message.pre_table_schema is not None:
        extra["pre_table_schema"] = _text_of_schema(message.pre_table_schema)
    if table is not None and not table.columns:
        table = replace(table, columns=None, key=None)
    position = Position(commit_ts=message.commit_ts, sent_ms=message.build_ts)
    kind = _KINDS[message.type]
    return SchemaChange(kind, message.sql, None, table, position, extra or NO_EXTRA)


def _is_whole(schema: TableSchema, table: Table, settings: Settings) -> bool:
    try:
        return schema_of(table, settings) == schema
    except EncodeError:
        return False


def _row_change(
    message: Dml,
    settings: Settings,
    blobs: Mapping[str, bytes],
    selection: Selection,
    definitions: Definitions,
) -> RowChange:
    location = message.claim_check_location
    is_cut = bool(message.handle_key_only or location)
    extra: dict[str, str | bytes | None] = {}
    if message.table_id:
        extra["table_id"] = str(message.table_id)
    if message.checksum is not None:
        checksum = message.checksum
        extra["checksum"] = str(checksum.current)
        extra["checksum_previous"] = str(checksum.previous)
        extra["checksum_version"] = str(checksum.version)
        extra["corrupted"] = "true" if checksum.corrupted else "false"
    if location and location in blobs:
        with reading_claim_check():
            stored = read_stored(blobs[location], message, settings)
            is_cut = bool(stored.handle_key_only)
            before, after, table = _images(stored, selection, definitions)
    else:
        if location:
            extra["claim_check"] = location
        before, after, table = _images(message, selection, definitions)
    position = Position(commit_ts=message.commit_ts, sent_ms=message.build_ts)
    sent: Sent | None = "key" if is_cut else None
    op = OPS[message.type]
    return RowChange(table, op, before, after, position, None, sent, extra or NO_EXTRA)


def _images(
    message: Dml, selection: Selection, definitions: Definitions
) -> tuple[Image | None, Image | None, Table]:
    names = {cell.name for row in (message.data, message.old) for cell in row or ()}
    names_of_table = (message.database, message.table)
    version = (message.schema_version, message.offset)
    definition = definition_of_row(definitions, names_of_table, version, names)
    before = after = None
    if message.type != DELETE:
        after = _image(message.data or (), "data", definition, selection)
    if message.type != INSERT:
        before = _image(message.old or (), "old", definition, selection)
    table = Table(
        message.table,
        message.database or None,
        key=definition.table.key,
        version=message.schema_version or None,
    )
    return before, after, table


def _image(row: Row, side: str, definition: Definition, selection: Selection) -> Image:
    wanted = selection.columns
    pairs = []
    for cell in sorted(row, key=lambda cell: definition.places[cell.name]):
        if wanted is not None and cell.name not in wanted:
            continue
        column = definition.columns[cell.name]
        with step(side, cell.name):
            value = read_value(column, cell.value, cell.offset)
        pairs.append((as_sent(column, cell.value), value))
    return Image.of(pairs)


class MessageWriter:
    """Makes messages of events, with the help of definitions. ``cut``: see ``row``."""

    def __init__(self, settings: Settings = DEFAULT_SETTINGS, tables: Iterable[Table] = ()) -> None:
        self.settings = settings
        self.definitions = Definitions(tables)
        self._sent: set[object] = set()

    def messages(self, event: Event) -> list[Message]:
        """Return the message of an event, after the table schema that its row needs.

        Raises: EncodeError.
        """
        match event:
            case RowChange():
                definition = self.definition(event)
                row = self.row(event, definition)
                place = (definition.schema, definition.name, definition.version)
                mark = (*place, definition.columns, definition.key)
                if mark in self._sent:
                    return [row]
                schema = schema_of(definition, self.settings, row.table_id)
                self._sent.add(mark)
                # Columns may differ in the form of values only, which no schema shows.
                content = replace(schema, table_id=0)
                if content in self._sent:
                    return [row]
                self._sent.add(content)
                return [Bootstrap(build_ts=row.build_ts, table_schema=schema), row]
            case SchemaChange():
                return [self._ddl(event)]
            case Progress(what="watermark"):
                commit_ts, build_ts = _times(event.position)
                return [Watermark(commit_ts=commit_ts, build_ts=build_ts)]
            case _:
                problem = f"there is no message for {event.what!r}"
                raise EncodeError(problem, TYPES, ("what",))

    def definition(self, event: RowChange) -> Table:
        """Return the definition of a row's table: the known one, else what the row says."""
        table = event.table
        if not table.schema or not table.name:
            raise EncodeError("a row needs schema and table", FIELDS, ("table",))
        found: dict[str, Column] = {}
        for image in (event.after, event.before):
            for column in () if image is None else image.columns:
                found.setdefault(column.name, column)
        known = self.definitions.of_table(table, found)
        columns = tuple(found.values())
        if known is not None:
            columns = tuple(
                complete_column(found.get(name, column), column)
                for name, column in known.columns.items()
            )
        key = table.key
        if key is None:
            key = known.table.key if known is not None else None
        definition = replace(table, columns=columns, key=key)
        check_columns(definition)
        return replace(definition, key=key_of(definition, columns))

    def row(self, event: RowChange, definition: Table, cut: str | None = None) -> Dml:
        """Return the message of a row. ``cut``: leave only the key, with this claim check.

        Raises: EncodeError.
        """
        if event.half is not None:
            raise EncodeError("an update is one event, never two records", TYPES, ("half",))
        kind = _TYPES.get(event.op)
        if kind is None:
            raise EncodeError(f"there is no message for {event.op!r}", TYPES, ("op",))
        if event.sent == "changed":
            raise EncodeError("unchanged columns can't be left out", ROWS, ("sent",))
        columns = {column.name: column for column in definition.columns or ()}
        sides: list[Row | None] = []
        for side, image, other in (
            ("after", event.after, DELETE),
            ("before", event.before, INSERT),
        ):
            if (image is None) != (kind == other):
                verb = "has no" if kind == other else "needs"
                raise EncodeError(f"{event.op} {verb} {side}", ROWS, (side,))
            only = None if cut is None else definition.key or ()
            sides.append(None if image is None else self._cells(image, side, columns, only))
        location = event.extra.get("claim_check") or cut
        if not isinstance(location, (str, type(None))):
            raise EncodeError("a location is text", CLAIM_CHECK, ("extra", "claim_check"))
        is_cut = event.sent == "key" or cut is not None or bool(location)
        if self.settings.encoding_format == "json":
            sides = [side or None for side in sides]
        commit_ts, build_ts = _times(event.position)
        return Dml(
            database=event.table.schema or "",
            table=event.table.name or "",
            table_id=_number(event.extra, "table_id", FIELDS) or 0,
            type=kind,
            commit_ts=commit_ts,
            build_ts=build_ts,
            schema_version=event.table.version or 0,
            claim_check_location=location or None,
            handle_key_only=True if is_cut else None,
            checksum=_checksum(event.extra),
            data=sides[0],
            old=sides[1],
        )

    def _cells(
        self, image: Image, side: str, columns: dict[str, Column], only: tuple[str, ...] | None
    ) -> Row:
        if len(set(image.names)) < len(image.names):
            raise EncodeError("two columns have one name", ROWS, (side,))
        cells = []
        with step(side):
            for column, value in sorted(image.pairs, key=lambda pair: pair[0].name.encode()):
                if "virtual" in column.roles or (only is not None and column.name not in only):
                    continue
                with step(column.name):
                    as_defined = complete_column(column, columns.get(column.name))
                    cells.append(Cell(column.name, write_value(as_defined, value, self.settings)))
        return tuple(cells)

    def _ddl(self, event: SchemaChange) -> Ddl:
        if event.query is None:
            raise EncodeError("a schema change needs its query", DDL, ("query",))
        code, what = event.code, event.what
        if code is not None:
            what = "query" if code in _QUERY_CODES else schema_change_kind(code)
            if code == _EXCHANGE and self.settings.dialect == "ticdc":
                what = "alter"
        kind = what.upper()
        if kind not in DDL_TYPES:
            raise EncodeError(f"there is no message for {event.what!r}", TYPES, ("what",))
        after, before = (_schema_of_extra(event.extra, name) for name in _SCHEMA_EXTRAS)
        table = event.table
        if after is None and table is not None and table.name:
            check_columns(table)
            with step("table"):
                after = schema_of(table, self.settings)
        commit_ts, build_ts = _times(event.position)
        return Ddl(
            type=kind,
            sql=event.query,
            commit_ts=commit_ts,
            build_ts=build_ts,
            table_schema=after,
            pre_table_schema=before,
        )


def _text_of_schema(schema: TableSchema) -> str:
    return SCHEMA.write(schema, SCHEMAS, json_string)


def _schema_of_extra(extra: Extra, name: str) -> TableSchema | None:
    text = extra.get(name)
    if text is None:
        return None
    try:
        data = text.encode() if isinstance(text, str) else text
        return SCHEMA.read(whole_of(read_json(data, RULES)), data, SCHEMAS)
    except (DecodeError, UnicodeEncodeError) as error:
        raise EncodeError(f"not a table schema: {error}", SCHEMAS, ("extra", name)) from None


def _checksum(extra: Extra) -> Checksum | None:
    current = _number(extra, "checksum", CHECKSUM)
    if current is None:
        return None
    corrupted = extra.get("corrupted", "false")
    if corrupted not in ("true", "false"):
        raise EncodeError("corrupted is true or false", CHECKSUM, ("extra", "corrupted"))
    previous, version = (
        _number(extra, name, CHECKSUM) or 0 for name in ("checksum_previous", "checksum_version")
    )
    return Checksum(version, corrupted == "true", current, previous)


def _number(extra: Extra, name: str, clause: str) -> int | None:
    text = extra.get(name)
    if text is None or text == "":
        return None
    if not isinstance(text, str) or not _NUMBER.fullmatch(text):
        raise EncodeError(f"{text!r:.40} is not a number", clause, ("extra", name))
    return int(text)


def _times(position: Position) -> tuple[int, int]:
    """Return the commit timestamp, and the time of sending: that of the commit if not known."""
    commit_ts, sent_ms = position.commit_ts, position.sent_ms
    if commit_ts is None:
        raise EncodeError("an event needs its commit_ts", FIELDS, ("position", "commit_ts"))
    return commit_ts, ms_of_tso(commit_ts) if sent_ms is None else sent_ms
