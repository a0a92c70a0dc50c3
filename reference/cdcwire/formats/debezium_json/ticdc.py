"""Neutral events as the messages of TiCDC's ``debezium`` protocol.

The payload comes before the schema. Members have the order of the producer. Texts and numbers
are as jsoniter writes them. A row has the columns that the event has. Their order, and the columns
that the schema lists in addition, come from the definition of the table where there is one.

Source: debezium-json, "ticdc"; pingcap/ticdc@b813e76.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from cdcwire.connect.images import check_images
from cdcwire.connect.schema import RULES
from cdcwire.connect.schemaless import json_text
from cdcwire.core.errors import DecodeError, EncodeError, step
from cdcwire.core.message import KafkaMessage
from cdcwire.core.strict_json import JsonArray, JsonObject, JsonValue, read_json
from cdcwire.debezium.writing_parts import extra_text
from cdcwire.formats.debezium_json.settings import Settings
from cdcwire.formats.debezium_json.ticdc_columns import field_schema, text_json, value_json
from cdcwire.model import kinds
from cdcwire.model.events import (
    Event,
    Image,
    Position,
    Progress,
    RowChange,
    SchemaChange,
    Table,
)
from cdcwire.model.kinds import Column
from cdcwire.model.tso import ms_of_tso

CLAUSE = "debezium-json: ticdc"
_VERSION = "2.4.0.Final"
_UNSAFE = re.compile(r"[^A-Za-z0-9_]")
_UNSAFE_IN_TOPICS = re.compile(r"[^A-Za-z0-9_.]")
_OPS = {"insert": "c", "update": "u", "delete": "d"}


def ticdc_messages(
    events: Iterable[Event], settings: Settings, tables: tuple[Table, ...]
) -> Iterator[KafkaMessage]:
    """Yield the message of each event. ``tables``: definitions of the tables of rows.

    Raises: EncodeError.
    """
    definitions = {(table.schema, table.name): table for table in tables}
    for index, event in enumerate(events):
        with step("events", index):
            match event:
                case RowChange():
                    known = definitions.get((event.table.schema, event.table.name))
                    message = _Row(event, known, settings).message()
                case Progress(what="watermark"):
                    message = _watermark(event, settings)
                case SchemaChange():
                    message = _schema_change(event, settings)
                case _:
                    what = type(event).__name__
                    raise EncodeError(f"a {what} of this kind has no form in TiCDC's", CLAUSE)
        yield message


def _message(key: tuple[str, str], value: tuple[str, str], settings: Settings) -> KafkaMessage:
    """Return a message of payloads and schemas."""
    return KafkaMessage(_part(*key, settings), _part(*value, settings))


def _part(payload: str, schema: str, settings: Settings) -> bytes:
    text = f'{{"payload":{payload}}}'
    if settings.schemas_enable != "false":
        text = f'{{"payload":{payload},"schema":{schema}}}'
    return text.encode("utf-8", "surrogateescape")


class _Row:
    """One change of a row as it is written."""

    def __init__(self, event: RowChange, known: Table | None, settings: Settings) -> None:
        if event.half is not None:
            raise EncodeError("an update is one event, never two records", CLAUSE, ("half",))
        if event.op not in _OPS:
            raise EncodeError(f"a row of op {event.op} has no form here", CLAUSE, ("op",))
        check_images(event, "debezium-json: images")
        self.event = event
        self.settings = settings
        self.op = _OPS[event.op]
        self.key = event.table.key or ()
        image = event.after if event.after is not None else event.before
        columns = () if image is None else image.columns
        defined = {column.name: column for column in (known and known.columns) or ()}
        self.defined = defined
        sent = {column.name: _filled(column, defined.get(column.name)) for column in columns}
        order = [name for name in defined if name in sent]
        order += [name for name in sent if name not in defined]
        self.order = order
        # The schema has virtual columns in their places, and all of them again at its end.
        virtual = [column for column in defined.values() if "virtual" in column.roles]
        listed = [
            defined.get(name) or sent[name]
            for name in (*defined, *order)
            if name in sent or "virtual" in defined[name].roles
        ]
        self.listed = [*{column.name: column for column in listed}.values(), *virtual]

    def message(self) -> KafkaMessage:
        event, settings = self.event, self.settings
        cluster = _cluster_of(event.extra.get("cluster_id"), settings)
        table = event.table
        name = ".".join(
            (_safe(cluster), _safe(table.schema or ""), _safe(table.name or "", _UNSAFE_IN_TOPICS))
        )
        image = event.after if event.after is not None else event.before
        assert image is not None  # check_images has seen to it
        key = self._row(image, only=self.key)
        members = [
            f'"source":{_source(table, event.position, cluster, settings, is_row=True)}',
            f'"ts_ms":{_sent_ms(event.position)}',
            '"transaction":null',
            f'"op":"{self.op}"',
            *self._images(),
        ]
        return _message(
            (key, self._key_schema(name)),
            (f"{{{','.join(members)}}}", self._schema(name)),
            settings,
        )

    def _images(self) -> list[str]:
        before, after = self.event.before, self.event.after
        if self.op == "c":
            return ['"before":null', f'"after":{self._image("after", after)}']
        if self.op == "d":
            return ['"after":null', f'"before":{self._image("before", before)}']
        sent = [f'"after":{self._image("after", after)}']
        if before is not None and self.settings.output_old_value:
            sent.insert(0, f'"before":{self._image("before", before)}')
        return sent

    def _image(self, name: str, image: Image | None) -> str:
        assert image is not None  # check_images has seen to it
        with step(name):
            return self._row(image)

    def _row(self, image: Image, only: Sequence[str] | None = None) -> str:
        values = {column.name: (column, value) for column, value in image.pairs}
        if only is None and values.keys() != set(self.order):
            raise EncodeError("the images before and after have other columns", CLAUSE)
        members = []
        for name in self.order:
            if only is None or name in only:
                column, value = values[name]
                with step(name):
                    text = value_json(_filled(column, self.defined.get(name)), value)
                members.append(f"{text_json(name)}:{text}")
        if only is not None and len(members) != len(only):
            raise EncodeError("a key column is not in the row", CLAUSE)
        return f"{{{','.join(members)}}}"

    def _key_schema(self, name: str) -> str:
        fields = self._fields([column for column in self.listed if column.name in self.key])
        head = f'"type":"struct","name":{text_json(f"{name}.Key")},"optional":false'
        return f'{{{head},"fields":[{fields}]}}'

    def _schema(self, name: str) -> str:
        rows = []
        fields = self._fields(self.listed)
        for each in ("before", "after"):
            head = f'"type":"struct","optional":true,"name":{text_json(f"{name}.Value")}'
            rows.append(f'{{{head},"field":"{each}","fields":[{fields}]}}')
        settings = self.settings
        return _envelope(name, (*rows, _source_schema(settings, is_row=True)))

    def _fields(self, columns: Iterable[Column]) -> str:
        has_type = self.settings.tidb_extension
        texts = []
        for column in columns:
            with step(column.name):
                texts.append(field_schema(column, has_tidb_type=has_type))
        return ",".join(texts)


def _filled(column: Column, defined: Column | None) -> Column:
    """Return a column with the parameters that only its definition gives."""
    if defined is None or type(defined.type) is not type(column.type):
        return column
    return replace(column, type=_completed(column.type, defined.type), source=defined.source)


def _completed(kind: kinds.Type, full: kinds.Type) -> kinds.Type:
    """Return a kind with the parameters of another one of the same class."""
    match kind:
        case kinds.DatetimeType(None) if isinstance(full, kinds.DatetimeType):
            return replace(kind, fraction=full.fraction)
        case kinds.TimestampType(None) if isinstance(full, kinds.TimestampType):
            return replace(kind, fraction=full.fraction)
        case kinds.BitType(None):
            return full
        case kinds.EnumType() if isinstance(full, kinds.EnumType):
            return replace(kind, labels=full.labels)
        case kinds.SetType() if isinstance(full, kinds.SetType):
            return replace(kind, labels=full.labels)
        case _:
            return kind


def _safe(name: str, unsafe: re.Pattern[str] = _UNSAFE) -> str:
    """Return a part of a schema's name, with ``_`` for characters that it can't have."""
    changed = unsafe.sub("_", name)
    return f"_{changed}" if name[:1].isascii() and name[:1].isdigit() else changed


def _cluster_of(named: object, settings: Settings) -> str:
    return named if isinstance(named, str) else settings.cluster_id


def _commit_ts(position: Position) -> int:
    if position.commit_ts is None:
        raise EncodeError("the commit ts is required", CLAUSE, ("position", "commit_ts"))
    return position.commit_ts


def _sent_ms(position: Position) -> int:
    return ms_of_tso(_commit_ts(position)) if position.sent_ms is None else position.sent_ms


def _source(
    table: Table | None, position: Position, cluster: str, settings: Settings, *, is_row: bool
) -> str:
    commit_ts = _commit_ts(position)
    start_ts = ""
    if is_row and settings.include_start_ts:
        if position.start_ts is None:
            raise EncodeError("the start ts is required", CLAUSE, ("position", "start_ts"))
        start_ts = f',"start_ts":{position.start_ts}'
    schema = "" if table is None else table.schema or ""
    name = "" if table is None else table.name or ""
    return (
        f'{{"version":"{_VERSION}","connector":"TiCDC","name":{text_json(cluster)},'
        f'"ts_ms":{ms_of_tso(commit_ts)},"snapshot":"false","db":{text_json(schema)},'
        f'"table":{text_json(name)},"server_id":0,"gtid":null,"file":"","pos":0,"row":0,'
        f'"thread":0,"query":null,"commit_ts":{commit_ts}{start_ts},'
        f'"cluster_id":{text_json(cluster)}}}'
    )


def _field(kind: str, name: str, *, optional: bool) -> str:
    return f'{{"type":"{kind}","optional":{"true" if optional else "false"},"field":"{name}"}}'


def _source_schema(settings: Settings, *, is_row: bool) -> str:
    snapshot = (
        '{"type":"string","optional":true,"name":"io.debezium.data.Enum","version":1,"parameters":'
        '{"allowed":"true,last,false,incremental"},"default":"false","field":"snapshot"}'
    )
    fields = [
        *(_field("string", name, optional=False) for name in ("version", "connector", "name")),
        _field("int64", "ts_ms", optional=False),
        snapshot,
        _field("string", "db", optional=False),
        _field("string", "sequence", optional=True),
        _field("string", "table", optional=True),
        _field("int64", "server_id", optional=False),
        _field("string", "gtid", optional=True),
        _field("string", "file", optional=False),
        _field("int64", "pos", optional=False),
        _field("int32", "row", optional=False),
        _field("int64", "thread", optional=True),
        _field("string", "query", optional=True),
    ]
    if settings.tidb_extension:
        fields.append(_field("int64", "commit_ts", optional=False))
        fields.append(_field("string", "cluster_id", optional=False))
        if is_row and settings.include_start_ts:
            fields.append(_field("int64", "start_ts", optional=False))
    name = '"optional":false,"name":"io.debezium.connector.mysql.Source","field":"source"'
    return f'{{"type":"struct","fields":[{",".join(fields)}],{name}}}'


def _envelope(name: str, fields: tuple[str, ...]) -> str:
    """Return the schema of an envelope; ``fields``: those before ``op``."""
    block = (
        _field("string", "id", optional=False),
        _field("int64", "total_order", optional=False),
        _field("int64", "data_collection_order", optional=False),
    )
    transaction = (
        f'{{"type":"struct","fields":[{",".join(block)}],"optional":true,"name":"event.block",'
        '"version":1,"field":"transaction"}'
    )
    listed = (
        *fields,
        _field("string", "op", optional=False),
        _field("int64", "ts_ms", optional=True),
        transaction,
    )
    head = f'"type":"struct","optional":false,"name":{text_json(f"{name}.Envelope")},"version":1'
    return f'{{{head},"fields":[{",".join(listed)}]}}'


def _watermark(event: Progress, settings: Settings) -> KafkaMessage:
    if not settings.tidb_extension:
        problem = "a watermark is sent with enable-tidb-extension only"
        raise EncodeError(problem, CLAUSE, ("what",))
    cluster = _cluster_of(extra_text(event.extra, "cluster_id"), settings)
    name = f"{_safe(cluster)}.watermark"
    source = _source(None, event.position, cluster, settings, is_row=False)
    sent_ms = _sent_ms(event.position)
    payload = f'{{"source":{source},"ts_ms":{sent_ms},"transaction":null,"op":"m"}}'
    head = f'"type":"struct","name":{text_json(f"{name}.Key")},"optional":false'
    schema = _envelope(name, (_source_schema(settings, is_row=False),))
    return _message(("{}", f'{{{head},"fields":[]}}'), (payload, schema), settings)


def _schema_change(event: SchemaChange, settings: Settings) -> KafkaMessage:
    """Return the message of a statement whose ``tableChanges`` follow from the event.

    Raises: EncodeError for the others.
    """
    if event.query is None:
        raise EncodeError("a schema change needs its query", CLAUSE, ("query",))
    if event.table is None or event.table.schema is None:
        raise EncodeError("a schema change needs its database", CLAUSE, ("table",))
    table, database = event.table, text_json(event.table.schema)
    named = extra_text(event.extra, "source_table")
    source_table = table if named is None else replace(table, name=named)
    cluster = _cluster_of(extra_text(event.extra, "cluster_id"), settings)
    members = (
        f'"source":{_source(source_table, event.position, cluster, settings, is_row=False)}',
        f'"ts_ms":{_sent_ms(event.position)}',
        f'"databaseName":{database}',
        '"schemaName":null',
        f'"ddl":{text_json(event.query)}',
        f'"tableChanges":{_table_changes(event, table)}',
    )
    key = f'{{"databaseName":{database}}}'
    value = f"{{{','.join(members)}}}"
    return _message((key, _DDL_KEY_SCHEMA), (value, _ddl_schema(settings)), settings)


def _table_changes(event: SchemaChange, table: Table) -> str:
    """Return ``tableChanges``: as they came, or of no columns."""
    known = extra_text(event.extra, "table_changes")
    if known is not None:
        try:
            changes = read_json(known.encode(), RULES).value
        except (DecodeError, UnicodeEncodeError):
            changes = None
        if not isinstance(changes, JsonArray):
            raise EncodeError("it is not a JSON list", CLAUSE, ("extra", "table_changes"))
        return _json_text(changes)
    if table.name is None or event.what == "truncate":
        return "[]"
    if event.what != "erase":
        problem = (
            f"tableChanges of a statement that is {event.what} needs the character set, comment, "
            "default and auto-increment of each column, which events do not have"
        )
        raise EncodeError(problem, CLAUSE, ("what",))
    if '"' in f"{table.schema}{table.name}":
        raise EncodeError('a name with " has no known form', CLAUSE, ("table",))
    name = text_json(f'"{table.schema}"."{table.name}"')
    return f'[{{"type":"DROP","id":{name},"table":null}}]'


def _json_text(json: JsonValue) -> str:
    match json:
        case str():
            return text_json(json)
        case JsonArray(items):
            return f"[{','.join(map(_json_text, items))}]"
        case JsonObject(members):
            pairs = (f"{text_json(each.name)}:{_json_text(each.value)}" for each in members)
            return f"{{{','.join(pairs)}}}"
        case _:
            return json_text(json)


def _member(kind: str, name: str, *, optional: bool) -> str:
    """Return a field of a schema change, whose members have another order than those of rows."""
    return f'{{"field":"{name}","optional":{"true" if optional else "false"},"type":"{kind}"}}'


def _list(name: str, items: str, *, optional: bool) -> str:
    return f'{_member("array", name, optional=optional)[:-1]},"items":{items}}}'


def _change_struct(name: str, fields: Sequence[str]) -> str:
    return (
        f'{{"name":"io.debezium.connector.schema.{name}","optional":false,"type":"struct",'
        f'"version":1,"fields":[{",".join(fields)}]}}'
    )


_TEXT_ITEMS = '{"type":"string","optional":false}'
_DDL_KEY_SCHEMA = (
    '{"type":"struct","name":"io.debezium.connector.mysql.SchemaChangeKey","optional":false,'
    f'"version":1,"fields":[{_member("string", "databaseName", optional=False)}]}}'
)
_COLUMN_FIELDS = (
    _member("string", "name", optional=False),
    _member("int32", "jdbcType", optional=False),
    _member("int32", "nativeType", optional=True),
    _member("string", "typeName", optional=False),
    _member("string", "typeExpression", optional=True),
    _member("string", "charsetName", optional=True),
    _member("int32", "length", optional=True),
    _member("int32", "scale", optional=True),
    _member("int32", "position", optional=False),
    _member("boolean", "optional", optional=True),
    _member("boolean", "autoIncremented", optional=True),
    _member("boolean", "generated", optional=True),
    _member("string", "comment", optional=True),
    _member("string", "defaultValueExpression", optional=True),
    _list("enumValues", _TEXT_ITEMS, optional=True),
)
_TABLE_FIELDS = (
    _member("string", "defaultCharsetName", optional=True),
    _list("primaryKeyColumnNames", _TEXT_ITEMS, optional=True),
    _list("columns", _change_struct("Column", _COLUMN_FIELDS), optional=False),
    _member("string", "comment", optional=True),
)
_TABLE_SCHEMA = (
    f"{_member('struct', 'table', optional=True)[:-1]},"
    '"name":"io.debezium.connector.schema.Table","version":1,'
    f'"fields":[{",".join(_TABLE_FIELDS)}]}}'
)
_CHANGE_FIELDS = (
    _member("string", "type", optional=False),
    _member("string", "id", optional=False),
    _TABLE_SCHEMA,
)


def _ddl_schema(settings: Settings) -> str:
    fields = (
        _source_schema(settings, is_row=False),
        _member("int64", "ts_ms", optional=False),
        _member("string", "databaseName", optional=True),
        _member("string", "schemaName", optional=True),
        _member("string", "ddl", optional=True),
        _list("tableChanges", _change_struct("Change", _CHANGE_FIELDS), optional=False),
    )
    return (
        '{"optional":false,"type":"struct","version":1,'
        '"name":"io.debezium.connector.mysql.SchemaChangeValue",'
        f'"fields":[{",".join(fields)}]}}'
    )
