"""Table schemas in JSON: ``tableSchema`` and ``preTableSchema``, reader and writer side by side."""

from __future__ import annotations

from collections.abc import Iterable

from cdcwire.core.errors import DecodeError, EncodeError, step
from cdcwire.core.strict_json import JsonValue, Member, Number, json_kind
from cdcwire.formats.simple.members import MEMBERS, RULES, SCHEMAS, array_of, signed, texts_of
from cdcwire.formats.simple.message import ColumnSchema, DataType, IndexSchema, TableSchema
from cdcwire.golang.json_text import json_string
from cdcwire.mysql.json_members import INT64_END, UINT64_END, Members, expect_object, write_integer

_MAX_DEFAULT_DIGITS = 20
_UINT32_END = 1 << 32


def read_schema(member: Member) -> TableSchema:
    """Return the table schema that a member holds. Raises: DecodeError."""
    with step(member.name):
        return read_schema_value(member.value, member.start, member.end)


def read_schema_value(value: JsonValue, start: int, end: int) -> TableSchema:
    """Return the table schema that a JSON value is. Raises: DecodeError."""
    known = expect_object(value, start, SCHEMAS).by_name
    columns = _required(known, "columns", end)
    indexes = _required(known, "indexes", end)
    return TableSchema(
        schema=MEMBERS.name_of(_required(known, "schema", end), SCHEMAS),
        table=MEMBERS.name_of(_required(known, "table", end), SCHEMAS),
        table_id=signed(_required(known, "tableID", end), SCHEMAS),
        version=MEMBERS.integer_of(_required(known, "version", end), 0, UINT64_END, SCHEMAS),
        columns=tuple(_read_column(*each) for each in _objects(columns)),
        indexes=tuple(_read_index(*each) for each in _objects(indexes)),
    )


def _required(known: Members, name: str, end: int) -> Member:
    return MEMBERS.required(known, name, end, SCHEMAS)


def _objects(member: Member) -> Iterable[tuple[Members, int, tuple[str, int]]]:
    """Yield the members of each object of an array, its end, and its path."""
    array = array_of(member, SCHEMAS)
    for index, item in enumerate(array.items):
        path = (member.name, index)
        start, end = array.places[2 * index : 2 * index + 2]
        yield expect_object(item, start, SCHEMAS, path).by_name, end, path


def _read_column(known: Members, end: int, path: tuple[str, int]) -> ColumnSchema:
    with step(*path):
        member = _required(known, "dataType", end)
        default = known.get("default")
        value = None if default is None else default.value
        if isinstance(value, Number):
            if not value.is_integer or value.digits > _MAX_DEFAULT_DIGITS:
                problem = f"the default {value.text:.40} is not an integer of 64 bits"
                raise DecodeError(problem, default.start, SCHEMAS, ("default",))  # type: ignore[union-attr]  # it has a value
        elif not isinstance(value, (str, type(None))):
            problem = f"it is {json_kind(value)}, not a default"
            raise DecodeError(problem, default.start, SCHEMAS, ("default",))  # type: ignore[union-attr]  # it has a value
        return ColumnSchema(
            name=MEMBERS.name_of(_required(known, "name", end), SCHEMAS),
            data_type=_read_type(member),
            nullable=MEMBERS.flag_of(_required(known, "nullable", end), SCHEMAS),
            default=value,
        )


def _read_type(member: Member) -> DataType:
    with step("dataType"):
        known = expect_object(member.value, member.start, SCHEMAS).by_name
        mysql_type, charset, collate = (
            MEMBERS.text_of(_required(known, name, member.end), SCHEMAS)
            for name in ("mysqlType", "charset", "collate")
        )
        decimal, elements = known.get("decimal"), known.get("elements")
        flags = [
            MEMBERS.flag_of(known[name], SCHEMAS) if name in known else None
            for name in ("unsigned", "zerofill")
        ]
        return DataType(
            mysql_type,
            charset,
            collate,
            length=signed(known["length"], SCHEMAS) if "length" in known else 0,
            decimal=None if decimal is None else signed(decimal, SCHEMAS),
            elements=None if elements is None else texts_of(elements, SCHEMAS),
            unsigned=flags[0],
            zerofill=flags[1],
        )


def _read_index(known: Members, end: int, path: tuple[str, int]) -> IndexSchema:
    with step(*path):
        unique, primary, nullable = (
            MEMBERS.flag_of(_required(known, name, end), SCHEMAS)
            for name in ("unique", "primary", "nullable")
        )
        return IndexSchema(
            MEMBERS.text_of(_required(known, "name", end), SCHEMAS),
            unique,
            primary,
            nullable,
            texts_of(_required(known, "columns", end), SCHEMAS),
        )


def written_schema(schema: TableSchema) -> str:
    """Return the JSON of a table schema. Raises: EncodeError."""
    columns = []
    for index, column in enumerate(schema.columns):
        with step("columns", index):
            columns.append(_written_column(column))
    indexes = []
    for index, each in enumerate(schema.indexes):
        with step("indexes", index):
            indexes.append(_written_index(each))
    return (
        f'{{"schema":{text(schema.schema)},"table":{text(schema.table)},'
        f'"tableID":{write_integer(schema.table_id, -INT64_END, INT64_END, SCHEMAS)},'
        f'"version":{write_integer(schema.version, 0, UINT64_END, SCHEMAS)},'
        f'"columns":[{",".join(columns)}],"indexes":[{",".join(indexes)}]}}'
    )


def _written_column(column: ColumnSchema) -> str:
    kind, default = column.data_type, column.default
    members = [
        f'"mysqlType":{text(kind.mysql_type)}',
        f'"charset":{text(kind.charset)}',
        f'"collate":{text(kind.collate)}',
    ]
    if kind.length:
        length = write_integer(kind.length, -INT64_END, INT64_END, SCHEMAS)
        members.append(f'"length":{length}')
    if kind.decimal is not None:
        decimal = write_integer(kind.decimal, -INT64_END, INT64_END, SCHEMAS)
        members.append(f'"decimal":{decimal}')
    if kind.elements is not None:
        members.append(f'"elements":{_texts(kind.elements)}')
    for name, flag in (("unsigned", kind.unsigned), ("zerofill", kind.zerofill)):
        if flag is not None:
            members.append(f'"{name}":{_flag(flag)}')
    if isinstance(default, Number):
        written = default.text
    elif isinstance(default, bytes):
        written = json_string(default.decode("utf-8", "surrogateescape"))
    else:
        written = "null" if default is None else text(default)
    return (
        f'{{"name":{text(column.name)},"dataType":{{{",".join(members)}}},'
        f'"nullable":{_flag(column.nullable)},"default":{written}}}'
    )


def _written_index(index: IndexSchema) -> str:
    return (
        f'{{"name":{text(index.name)},"unique":{_flag(index.unique)},'
        f'"primary":{_flag(index.primary)},"nullable":{_flag(index.nullable)},'
        f'"columns":{_texts(index.columns)}}}'
    )


def text(value: str) -> str:
    """Return a string in quotes as Go writes it. Raises: EncodeError for a lone surrogate."""
    if not isinstance(value, str):
        raise EncodeError(f"{value!r:.40} is not text", RULES.string_clause)
    MEMBERS.check_text(value)
    return json_string(value)


def _texts(values: tuple[str, ...]) -> str:
    return f"[{','.join(map(text, values))}]"


def _flag(value: bool) -> str:
    return "true" if value else "false"
