"""Messages in Avro: the bare datum of one fixed schema, to the wire's values and back.

The schema is a union of all records; a message is its last branch. Strings among values and
defaults may be ill-formed UTF-8, and are then bytes. Entries of a map may come in any order.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from cdcwire.apache_avro.binary import DatumReader, write_datum
from cdcwire.apache_avro.binary import read_bytes as read_avro_bytes
from cdcwire.apache_avro.schema import AvroType, Branch, Datum, Primitive, Union, parse_schema
from cdcwire.core.errors import DecodeError, EncodeError
from cdcwire.core.limits import INT64_END, UINT64_END
from cdcwire.core.reader import Reader
from cdcwire.core.strict_json import Number
from cdcwire.formats.simple.json_wire import check_row, fault_of_row
from cdcwire.formats.simple.message import (
    AVRO,
    DDL_TYPES,
    DML_TYPES,
    FIELDS,
    ROWS,
    VERSION,
    Bootstrap,
    Cell,
    Checksum,
    ColumnSchema,
    DataType,
    Ddl,
    Dml,
    IndexSchema,
    Message,
    Row,
    TableSchema,
    Timestamp,
    Watermark,
)
from cdcwire.model.events import Path
from cdcwire.mysql.values import read_text

NAMESPACE = "com.pingcap.simple.avro"
MESSAGE_BRANCH = 11
FIRST_BYTE = 2 * MESSAGE_BRANCH
MESSAGE_TYPES = ("WATERMARK", "BOOTSTRAP", "DDL", "DML")
# Branches of a value; 0 is NULL.
LONG, FLOAT, DOUBLE, STRING, BYTES, TIMESTAMP, UNSIGNED = range(1, 8)
_ROWS = (("data",), ("old",))
_VALUE_DEPTH = 3  # payload, data or old, the entry's index


def _record(name: str, /, **fields: object) -> dict[str, object]:
    listed = [{"name": field, "type": kind} for field, kind in fields.items()]
    return {"type": "record", "name": name, "fields": listed}


def _enum(name: str, symbols: tuple[str, ...]) -> dict[str, object]:
    return {"type": "enum", "name": name, "symbols": list(symbols)}


def _array(items: str) -> dict[str, str]:
    return {"type": "array", "items": items}


def _nullable(kind: object) -> list[object]:
    return ["null", kind]


_VALUE = ["null", "long", "float", "double", "string", "bytes", "Timestamp", "UnsignedBigint"]
_ROW = _nullable({"type": "map", "values": _VALUE})
_TIMES = {"commitTs": "long", "buildTs": "long"}
_NAMES = {"database": "string", "table": "string", "tableID": "long"}
_RECORDS = (
    _record(
        "DataType",
        **dict.fromkeys(("mysqlType", "charset", "collate"), "string"),
        length="long",
        decimal=_nullable("int"),
        elements=_nullable(_array("string")),
        unsigned=_nullable("boolean"),
        zerofill=_nullable("boolean"),
    ),
    _record(
        "ColumnSchema",
        name="string",
        dataType="DataType",
        nullable="boolean",
        default=_nullable("string"),
    ),
    _record(
        "IndexSchema",
        name="string",
        **dict.fromkeys(("unique", "primary", "nullable"), "boolean"),
        columns=_array("string"),
    ),
    _record(
        "TableSchema",
        **_NAMES,
        version="long",
        columns=_array("ColumnSchema"),
        indexes=_array("IndexSchema"),
    ),
    _record("Checksum", version="int", corrupted="boolean", current="long", previous="long"),
    _record("Watermark", version="int", **_TIMES),
    _record("Bootstrap", version="int", buildTs="long", tableSchema="TableSchema"),
    _record(
        "DDL",
        version="int",
        type=_enum("DDLType", DDL_TYPES),
        sql="string",
        **_TIMES,
        tableSchema=_nullable("TableSchema"),
        preTableSchema=_nullable("TableSchema"),
    ),
    _record("Timestamp", location="string", value="string"),
    _record("UnsignedBigint", value="long"),
    _record(
        "DML",
        version="int",
        **_NAMES,
        type=_enum("DMLType", DML_TYPES),
        **_TIMES,
        schemaVersion="long",
        claimCheckLocation=_nullable("string"),
        handleKeyOnly=_nullable("boolean"),
        checksum=_nullable("Checksum"),
        data=_ROW,
        old=_ROW,
    ),
    _record(
        "Message",
        type=_enum("MessageType", MESSAGE_TYPES),
        payload=["Watermark", "Bootstrap", "DDL", "DML"],
    ),
)


@lru_cache(maxsize=1)
def message_type() -> AvroType:
    """Return the union of all records; a message is its last branch."""
    wrapper = {"namespace": NAMESPACE, **_record("Feed", message=list(_RECORDS))}
    return parse_schema(json.dumps(wrapper)).fields[0].type


class MessageReader(DatumReader):
    """Reads a message. ``places``: where values of rows and the schema's version begin."""

    def __init__(self, reader: Reader) -> None:
        super().__init__(reader)
        self.places: dict[Path, int] = {}

    def read(self, kind: AvroType, path: Path, clause: str = AVRO) -> Datum:
        """Return the next value. A value or a default that is not UTF-8 is bytes."""
        start = self.reader.offset
        is_value = path[1:2] in _ROWS and len(path) == _VALUE_DEPTH
        if isinstance(kind, Primitive):
            if kind.name == "string" and (is_value or path[-1:] == ("default",)):
                self._spend()
                value = read_text(read_avro_bytes(self.reader))
                self.reader.note(start, value, clause, *path)
                return value
            if path[-1:] == ("schemaVersion",):
                self.places[path] = start
        elif is_value and isinstance(kind, Union):
            self.places[path] = start
        return super().read(kind, path, clause)


def read_message(reader: Reader) -> Message:
    """Return the message that is all of the reader's bytes. Raises: TruncatedError, DecodeError."""
    datums = MessageReader(reader)
    try:
        found = datums.read(message_type(), (), AVRO)
        reader.expect_end(AVRO)
    except DecodeError as error:
        error.path = _named(error.path)
        error.clause = AVRO
        raise
    if found.index != MESSAGE_BRANCH:
        problem = f"the record is number {found.index} of the schema, not the message"
        raise DecodeError(problem, 0, AVRO)
    kind, payload = found.value
    if payload.index != MESSAGE_TYPES.index(kind):
        raise DecodeError(f"the type {kind} has another record", 1, AVRO, ("type",))
    values = payload.value
    if values[0] != VERSION:
        problem = f"version {values[0]} is unknown; it must be {VERSION}"
        raise DecodeError(problem, 3, FIELDS, ("version",))
    match kind:
        case "WATERMARK":
            return Watermark(commit_ts=_unsigned(values[1]), build_ts=values[2])
        case "BOOTSTRAP":
            return Bootstrap(build_ts=values[1], table_schema=_schema_of(values[2]))
        case "DDL":
            _, type_, sql, commit_ts, build_ts, *schemas = values
            after, before = (None if each is None else _schema_of(each) for each in schemas)
            return Ddl(
                type=type_,
                sql=sql,
                commit_ts=_unsigned(commit_ts),
                build_ts=build_ts,
                table_schema=after,
                pre_table_schema=before,
            )
        case _:
            return _row_of(values, datums.places)


def _named(path: Path) -> Path:
    return path[1:] if path[:1] == ("payload",) else path


def _row_of(values: tuple[Any, ...], places: dict[Path, int]) -> Dml:
    _, database, table, table_id, kind, commit_ts, build_ts, version, *rest = values
    location, only_key, checksum, data, old = rest
    rows = []
    for name, row in (("data", data), ("old", old)):
        rows.append(None if row is None else _cells(row, name, places))
    offset = places["payload", "schemaVersion"]
    message = Dml(
        database=database,
        table=table,
        table_id=table_id,
        type=kind,
        commit_ts=_unsigned(commit_ts),
        build_ts=build_ts,
        schema_version=_unsigned(version),
        claim_check_location=location,
        handle_key_only=only_key,
        checksum=None if checksum is None else Checksum(*checksum),
        data=rows[0],
        old=rows[1],
        offset=offset,
    )
    fault = fault_of_row(message, may_be_empty=False)
    if fault is not None:
        raise DecodeError(fault[0], offset, ROWS, (fault[1],))
    return message


def _cells(row: tuple[tuple[str, Branch], ...], name: str, places: dict[Path, int]) -> Row:
    cells: dict[str, Cell] = {}
    for index, (column, value) in enumerate(row):
        start = places["payload", name, index]
        if column in cells:
            problem = f"column {column!r:.40} appears twice"
            raise DecodeError(problem, start, ROWS, (name, column))
        if value.index == TIMESTAMP:
            cells[column] = Cell(column, Timestamp(*value.value), start)
        else:
            cells[column] = Cell(column, None if value.index == 0 else value, start)
    return tuple(cells.values())


def _schema_of(values: tuple[Any, ...]) -> TableSchema:
    schema, table, table_id, version, columns, indexes = values
    return TableSchema(
        schema,
        table,
        table_id,
        _unsigned(version),
        tuple(
            ColumnSchema(name, DataType(*kind), nullable, default)
            for name, kind, nullable, default in columns
        ),
        tuple(IndexSchema(*index) for index in indexes),
    )


def _unsigned(number: int) -> int:
    return number % UINT64_END


def write_message(message: Message) -> bytes:
    """Return the datum of a message. Raises: EncodeError."""
    if message.version != VERSION:
        raise EncodeError(f"version {message.version!r:.40} is unknown", FIELDS, ("version",))
    match message:
        case Watermark():
            kind = 0
            values: tuple[Any, ...] = (VERSION, _signed(message.commit_ts), message.build_ts)
        case Bootstrap():
            kind, values = 1, (VERSION, message.build_ts, _schema_values(message.table_schema))
        case Ddl():
            kind = 2
            schemas = [
                None if each is None else _schema_values(each)
                for each in (message.table_schema, message.pre_table_schema)
            ]
            times = (_signed(message.commit_ts), message.build_ts)
            values = (VERSION, message.type, message.sql, *times, *schemas)
        case Dml():
            check_row(message, may_be_empty=False)
            kind, values = 3, _row_values(message)
    out = bytearray()
    datum = Branch(MESSAGE_BRANCH, (MESSAGE_TYPES[kind], Branch(kind, values)))
    try:
        write_datum(out, message_type(), datum)
    except EncodeError as error:
        error.path = _named(error.path)
        error.clause = AVRO
        raise
    return bytes(out)


def _row_values(message: Dml) -> tuple[Any, ...]:
    checksum = message.checksum
    numbers = None
    if checksum is not None:
        numbers = (checksum.version, checksum.corrupted, checksum.current, checksum.previous)
    return (
        VERSION,
        message.database,
        message.table,
        message.table_id,
        message.type,
        _signed(message.commit_ts),
        message.build_ts,
        _signed(message.schema_version),
        message.claim_check_location,
        message.handle_key_only,
        numbers,
        *(None if row is None else _entries(row) for row in (message.data, message.old)),
    )


def _entries(row: Row) -> tuple[tuple[str, Branch], ...]:
    entries = []
    for cell in row:
        match cell.value:
            case None:
                value = Branch(0, None)
            case Timestamp(location, local):
                value = Branch(TIMESTAMP, (location, local))
            case Branch():
                value = cell.value
            case other:
                raise EncodeError(f"{other!r:.40} is not a value of Avro", AVRO, (cell.name,))
        entries.append((cell.name, value))
    return tuple(entries)


def _schema_values(schema: TableSchema) -> tuple[Any, ...]:
    columns = []
    for column in schema.columns:
        kind, default = column.data_type, column.default
        if isinstance(default, Number):
            default = default.text
        of_type = (kind.mysql_type, kind.charset, kind.collate, kind.length, kind.decimal)
        more = (kind.elements, kind.unsigned, kind.zerofill)
        columns.append((column.name, (*of_type, *more), column.nullable, default))
    indexes = [
        (each.name, each.unique, each.primary, each.nullable, each.columns)
        for each in schema.indexes
    ]
    names = (schema.schema, schema.table, schema.table_id, _signed(schema.version))
    return (*names, tuple(columns), tuple(indexes))


def _signed(number: int) -> int:
    return number - UINT64_END if INT64_END <= number < UINT64_END else number
