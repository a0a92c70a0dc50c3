"""Rows, statements and watermarks as TiCDC's ``debezium`` protocols write them.

The payload comes before the schema. Members have the order of the producer. Texts and numbers
are as jsoniter writes them. ``debezium-avro`` makes the same JSON before it writes Avro; there the
schema of ``source`` differs.

A row has the columns that the event has. Their order, and the columns that the schema lists in
addition, come from the definition of the table where there is one.

Source: debezium-json, "ticdc"; pingcap/ticdc@b813e76.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from cdcwire.connect.images import check_images
from cdcwire.connect.schemaless import json_text
from cdcwire.core.errors import EncodeError
from cdcwire.core.options import OptionError
from cdcwire.core.strict_json import JsonArray, JsonObject, JsonValue
from cdcwire.debezium.schema_changes import known_changes
from cdcwire.debezium.settings import TicdcSettings
from cdcwire.debezium.ticdc_columns import text_json
from cdcwire.debezium.writing_parts import extra_text
from cdcwire.model import kinds
from cdcwire.model.events import Image, Position, Progress, RowChange, SchemaChange, Table
from cdcwire.model.instants import ms_of_tso
from cdcwire.model.kinds import Column, Value

CLAUSE = "debezium-json: ticdc"
_VERSION = "2.4.0.Final"
_UNSAFE = re.compile(r"[^A-Za-z0-9_]")


@dataclass(frozen=True, slots=True)
class JsonParts:
    """A message as JSON: payload and schema of its key, and of its value."""

    key: str
    key_schema: str
    value: str
    value_schema: str

    def texts(self, *, has_schemas: bool = True) -> tuple[bytes, bytes]:
        """Return key and value, with or without the schemas."""
        if not has_schemas:
            return _bytes(f'{{"payload":{self.key}}}'), _bytes(f'{{"payload":{self.value}}}')
        return (
            _bytes(f'{{"payload":{self.key},"schema":{self.key_schema}}}'),
            _bytes(f'{{"payload":{self.value},"schema":{self.value_schema}}}'),
        )


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def check_written(settings: TicdcSettings) -> None:
    """Raise OptionError for settings with which the messages would be read as others."""
    if settings.transforms != "none":
        raise OptionError(
            f"dialect=ticdc writes no rows by themselves: transforms={settings.transforms} is for "
            "reading them"
        )


def safe_name(name: str, unsafe: re.Pattern[str] = _UNSAFE) -> str:
    """Return a part of a schema's name, with ``_`` for characters that it can't have."""
    changed = unsafe.sub("_", name)
    return f"_{changed}" if name[:1].isascii() and name[:1].isdigit() else changed


def cluster_of(named: object, settings: TicdcSettings) -> str:
    """Return the cluster that an event names, else that of the settings."""
    return named if isinstance(named, str) else settings.cluster_id


def commit_ts_of(position: Position) -> int:
    """Return the commit ts of an event. Raises: EncodeError."""
    return _timestamp("commit", position.commit_ts)


def _timestamp(name: str, value: int | None) -> int:
    if value is None:
        raise EncodeError(f"the {name} ts is required", CLAUSE, ("position", f"{name}_ts"))
    if value < 0 or value >> 64:
        problem = f"{value} is not an unsigned integer of 64 bits"
        raise EncodeError(problem, CLAUSE, ("position", f"{name}_ts"))
    return value


def sent_ms_of(position: Position) -> int:
    """Return when a message was sent, or when its change was committed. Raises: EncodeError."""
    return ms_of_tso(commit_ts_of(position)) if position.sent_ms is None else position.sent_ms


def source_json(
    table: Table | None, position: Position, cluster: str, settings: TicdcSettings, *, is_row: bool
) -> str:
    """Return ``source`` of a message as JSON. Raises: EncodeError."""
    commit_ts = commit_ts_of(position)
    start_ts = ""
    if is_row and settings.include_start_ts:
        start_ts = f',"start_ts":{_timestamp("start", position.start_ts)}'
    schema = "" if table is None else table.schema or ""
    name = "" if table is None else table.name or ""
    return (
        f'{{"version":"{_VERSION}","connector":"TiCDC","name":{text_json(cluster)},'
        f'"ts_ms":{ms_of_tso(commit_ts)},"snapshot":"false","db":{text_json(schema)},'
        f'"table":{text_json(name)},"server_id":0,"gtid":null,"file":"","pos":0,"row":0,'
        f'"thread":0,"query":null,"commit_ts":{commit_ts}{start_ts},'
        f'"cluster_id":{text_json(cluster)}}}'
    )


def source_values(table: Table, commit_ts: int, cluster: str) -> tuple[int | str | None, ...]:
    """Return ``source`` of a row as ``debezium-avro`` has it; its schema has no ``sequence``."""
    return (
        *(_VERSION, "TiCDC", cluster, ms_of_tso(commit_ts), None),
        *(table.schema or "", table.name or "", 0, None, "", 0, 0, None, None),
        *(commit_ts, cluster),
    )


def json_field(kind: str, name: str, *, optional: bool) -> str:
    """Return a field of a schema as JSON."""
    return f'{{"type":"{kind}","optional":{"true" if optional else "false"},"field":"{name}"}}'


def source_schema(
    settings: TicdcSettings, *, is_row: bool = False, namespace: str | None = None
) -> str:
    """Return the schema of ``source`` as JSON; ``namespace``: of its name in Avro."""
    snapshot = (
        '{"type":"string","optional":true,"name":"io.debezium.data.Enum","version":1,"parameters":'
        '{"allowed":"true,last,false,incremental"},"default":"false","field":"snapshot"}'
    )
    sequence = [json_field("string", "sequence", optional=True)]
    if namespace is not None:
        snapshot, sequence = json_field("string", "snapshot", optional=True), []
    fields = [
        *(json_field("string", name, optional=False) for name in ("version", "connector", "name")),
        json_field("int64", "ts_ms", optional=False),
        snapshot,
        json_field("string", "db", optional=False),
        *sequence,
        json_field("string", "table", optional=namespace is None),
        json_field("int64", "server_id", optional=False),
        json_field("string", "gtid", optional=True),
        json_field("string", "file", optional=False),
        json_field("int64", "pos", optional=False),
        json_field("int32", "row", optional=False),
        json_field("int64", "thread", optional=True),
        json_field("string", "query", optional=True),
    ]
    if settings.tidb_extension or namespace is not None:
        fields.append(json_field("int64", "commit_ts", optional=False))
        fields.append(json_field("string", "cluster_id", optional=False))
        if is_row and settings.include_start_ts:
            fields.append(json_field("int64", "start_ts", optional=False))
    name = text_json(f"{namespace or 'io.debezium.connector.mysql'}.Source")
    end = f'"optional":false,"name":{name},"field":"source"'
    return f'{{"type":"struct","fields":[{",".join(fields)}],{end}}}'


def envelope_schema(name: str, fields: tuple[str, ...]) -> str:
    """Return the schema of an envelope; ``fields``: those before ``op``."""
    block = (
        json_field("string", "id", optional=False),
        json_field("int64", "total_order", optional=False),
        json_field("int64", "data_collection_order", optional=False),
    )
    transaction = (
        f'{{"type":"struct","fields":[{",".join(block)}],"optional":true,"name":"event.block",'
        '"version":1,"field":"transaction"}'
    )
    listed = (
        *fields,
        json_field("string", "op", optional=False),
        json_field("int64", "ts_ms", optional=True),
        transaction,
    )
    head = f'"type":"struct","optional":false,"name":{text_json(f"{name}.Envelope")},"version":1'
    return f'{{{head},"fields":[{",".join(listed)}]}}'


def watermark_parts(
    event: Progress, settings: TicdcSettings, *, is_avro: bool = False
) -> JsonParts:
    """Return the message of a watermark. Raises: EncodeError."""
    if not settings.tidb_extension:
        problem = "a watermark is sent with enable-tidb-extension only"
        raise EncodeError(problem, CLAUSE, ("what",))
    cluster = cluster_of(extra_text(event.extra, "cluster_id"), settings)
    name = f"{safe_name(cluster)}.watermark"
    source = source_json(None, event.position, cluster, settings, is_row=False)
    sent_ms = sent_ms_of(event.position)
    head = f'"type":"struct","name":{text_json(f"{name}.Key")},"optional":false'
    return JsonParts(
        "{}",
        f'{{{head},"fields":[]}}',
        f'{{"source":{source},"ts_ms":{sent_ms},"transaction":null,"op":"m"}}',
        envelope_schema(name, (source_schema(settings, namespace=name if is_avro else None),)),
    )


def statement_parts(
    event: SchemaChange, settings: TicdcSettings, *, is_avro: bool = False
) -> JsonParts:
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
    cluster = cluster_of(extra_text(event.extra, "cluster_id"), settings)
    source = source_json(source_table, event.position, cluster, settings, is_row=False)
    members = (
        f'"source":{source}',
        f'"ts_ms":{sent_ms_of(event.position)}',
        f'"databaseName":{database}',
        '"schemaName":null',
        f'"ddl":{text_json(event.query)}',
        f'"tableChanges":{_table_changes(event, table)}',
    )
    namespace = f"{safe_name(cluster)}.{safe_name(event.table.schema)}" if is_avro else None
    return JsonParts(
        f'{{"databaseName":{database}}}',
        _DDL_KEY_SCHEMA,
        f"{{{','.join(members)}}}",
        _ddl_schema(source_schema(settings, namespace=namespace)),
    )


def _table_changes(event: SchemaChange, table: Table) -> str:
    """Return ``tableChanges``: as they came, or of no columns."""
    known = known_changes(event.extra, CLAUSE)
    if known is not None:
        return _json_text(known)
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


def _ddl_schema(source: str) -> str:
    fields = (
        source,
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


_OPS = {"insert": "c", "update": "u", "delete": "d"}


class TicdcRow:
    """One change of a row as it is written.

    ``op``: of the message. ``key``: the names of the key columns. ``listed``: the columns of the
    schema; it has virtual ones in their places, and all of them again at its end.
    ``image``: the row whose key columns are the key. ``time_zone``: of a TIMESTAMP without one.
    Raises: EncodeError.
    """

    def __init__(self, event: RowChange, known: Table | None, time_zone: str | None = None) -> None:
        if event.half is not None:
            raise EncodeError("an update is one event, never two records", CLAUSE, ("half",))
        if event.op not in _OPS:
            raise EncodeError(f"a row of op {event.op} has no form here", CLAUSE, ("op",))
        check_images(event, "debezium-json: images")
        self.op = _OPS[event.op]
        self.key = event.table.key or ()
        image = event.after if event.after is not None else event.before
        assert image is not None  # check_images has seen to it
        self.image = image
        defined = {column.name: column for column in (known and known.columns) or ()}
        self._defined = defined
        self._time_zone = time_zone
        sent = {column.name: self._filled(column) for column in image.columns}
        order = [name for name in defined if name in sent]
        order += [name for name in sent if name not in defined]
        self._order = order
        virtual = [column for column in defined.values() if "virtual" in column.roles]
        listed = [
            self._filled(defined.get(name) or sent[name])
            for name in (*defined, *order)
            if name in sent or "virtual" in defined[name].roles
        ]
        self.listed = [*{column.name: column for column in listed}.values(), *virtual]

    def pairs(self, image: Image, *, only_key: bool = False) -> Iterator[tuple[Column, Value]]:
        """Yield columns and values of a state of the row, in order. Raises: EncodeError."""
        values = {column.name: (column, value) for column, value in image.pairs}
        if not only_key and values.keys() != set(self._order):
            raise EncodeError("the images before and after have other columns", CLAUSE)
        if only_key and not values.keys() >= set(self.key):
            raise EncodeError("a key column is not in the row", CLAUSE)
        for name in self._order:
            if not only_key or name in self.key:
                column, value = values[name]
                yield self._filled(column), value

    def _filled(self, column: Column) -> Column:
        """Return a column with the parameters that only its definition gives."""
        if isinstance(column.type, kinds.TimestampType) and column.type.zone is None:
            column = replace(column, type=replace(column.type, zone=self._time_zone))
        defined = self._defined.get(column.name)
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
