"""Table schemas to the model's tables and back, and the definitions that rows are read by.

Rows name their schema by database, table and version. The length of a type says the digits of a
second too, where Avro has no ``decimal``. Several schemas may have one version, when only indexes
changed: a row is read by the one that has its columns.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from cdcwire.core.errors import DecodeError, EncodeError, step
from cdcwire.core.strict_json import Number
from cdcwire.formats.simple.message import (
    SCHEMA_VERSIONS,
    SCHEMAS,
    ColumnSchema,
    DataType,
    IndexSchema,
    TableSchema,
)
from cdcwire.formats.simple.settings import DEFAULT_SETTINGS, Settings
from cdcwire.model import kinds
from cdcwire.model.events import Expression, Table
from cdcwire.model.kinds import ABSENT, Column, Role, Value
from cdcwire.mysql.declared import (
    INTEGER_BITS,
    LARGE_SIZES,
    TEMPORAL_NAMES,
    TEXT_NAMES,
    DeclaredType,
    declared_text,
    declared_type,
    type_of_declared,
)
from cdcwire.mysql.images import is_primary_key

_SIZED = frozenset(
    {
        *INTEGER_BITS,
        *("bit", "year", "float", "double", "decimal", "vector"),
        *("char", "varchar", "binary", "varbinary"),
    }
)
_SIGNED = frozenset({*INTEGER_BITS, "float", "double", "decimal"})
# Lengths without digits of a second; with them there is a point too.
_TEMPORAL_LENGTHS = {"date": 10, "time": 10, "datetime": 19, "timestamp": 19}
# A table schema has the first number of FLOAT(M,D) only, which MySQL would take for bits.
_FLOAT_LENGTH = re.compile(r"float\(([0-9]{1,3})\)", re.ASCII)
_UNKNOWN_LENGTH = -1
_JSON_LENGTH = 4294967295
_MAX_FRACTION = 6
_NOW = "CURRENT_TIMESTAMP"
_LABELLED = ("enum", "set")


def table_of(schema: TableSchema) -> Table:
    """Return the table that a schema describes. ENUM and SET are by index."""
    key = _key_of(schema)
    primary = {name for index in schema.indexes if index.primary for name in index.columns}
    unique = {name for index in schema.indexes if index.unique for name in index.columns}
    columns = []
    for column in schema.columns:
        roles: set[Role] = {"handle"} if column.name in key else set()
        if column.name in primary:
            roles.add("primary")
        elif column.name in unique:
            roles.add("unique")
        columns.append(_column_of(column, frozenset(roles)))
    name, schema_name = schema.table or None, schema.schema or None
    return Table(name, schema_name, None, tuple(columns), key, schema.version or None)


def _key_of(schema: TableSchema) -> tuple[str, ...]:
    """Return the columns of the primary key, else of the shortest unique index without NULL."""
    for index in schema.indexes:
        if index.primary:
            return index.columns
    unique = [index.columns for index in schema.indexes if index.unique and not index.nullable]
    return min(unique, key=len, default=())


def _column_of(column: ColumnSchema, roles: frozenset[Role]) -> Column:
    declared = _declared_of(column.data_type)
    default = column.default
    value: Value = ABSENT
    if isinstance(default, Number):
        value = int(default.text)
    elif isinstance(default, str) and default == _NOW:
        value = Expression(default)
    elif default is not None:
        value = default
    kind = type_of_declared(declared)
    source = declared_text(replace(declared, elements=None))
    return Column(column.name, kind, source, column.nullable, value, roles)


def _declared_of(kind: DataType) -> DeclaredType:
    base, length, decimal = kind.mysql_type, kind.length, kind.decimal
    if base in TEMPORAL_NAMES:
        if decimal is None and length == _UNKNOWN_LENGTH:
            return DeclaredType(base)
        if decimal is None:
            decimal = max(length - _TEMPORAL_LENGTHS[base] - 1, 0)
        return DeclaredType(base, None, min(max(decimal, 0), _MAX_FRACTION))
    is_signed = base in _SIGNED
    return DeclaredType(
        base,
        length if base in _SIZED and length != _UNKNOWN_LENGTH else None,
        (decimal or 0) if base == "decimal" and length != _UNKNOWN_LENGTH else None,
        is_signed and bool(kind.unsigned or kind.zerofill),
        is_signed and bool(kind.zerofill),
        kind.elements,
    )


def schema_of(
    table: Table, settings: Settings = DEFAULT_SETTINGS, table_id: int = 0
) -> TableSchema:
    """Return the schema of a table with columns. Raises: EncodeError."""
    columns = table.columns or ()
    key = key_of(table, columns)
    roles = {column.name: column.roles for column in columns}
    is_primary = is_primary_key(key, roles)
    written = []
    for column in columns:
        with step(column.name):
            written.append(_column_schema(column, column.name in key, settings))
    indexes = []
    if key:
        is_integer = len(key) == 1 and any(
            column.name in key and isinstance(column.type, kinds.IntType) for column in columns
        )
        name = ("primary" if is_integer else "PRIMARY") if is_primary else "uk"
        indexes.append(IndexSchema(name, True, is_primary, False, key))
    for column in columns:
        if "unique" in column.roles and column.name not in key:
            indexes.append(IndexSchema(column.name, True, False, True, (column.name,)))
    return TableSchema(
        table.schema or "",
        table.name or "",
        table_id,
        table.version or 0,
        tuple(written),
        tuple(indexes),
    )


def key_of(table: Table, columns: Iterable[Column]) -> tuple[str, ...]:
    """Return the key of a table, else the columns that say that they are in it."""
    if table.key is not None:
        return table.key
    return tuple(column.name for column in columns if column.roles & {"handle", "primary"})


def _column_schema(column: Column, is_key: bool, settings: Settings) -> ColumnSchema:
    declared = declared_type(column, SCHEMAS)
    base, is_avro = declared.base, settings.encoding_format == "avro"
    is_known = not _has_unknown_size(column)
    unsigned = declared.is_unsigned or base in ("bit", "year")
    zerofill = declared.is_zerofill or base == "year"
    decimal = None
    if is_known and (base == "decimal" or base in TEMPORAL_NAMES):
        decimal = declared.decimal
    if is_avro:
        has_digits = base == "decimal" or (base == "timestamp" and settings.dialect == "ticdc")
        decimal = (decimal or 0) if has_digits and is_known else None
        if base not in _SIGNED and base not in ("bit", "year"):
            flags: tuple[bool | None, bool | None] = (None, None)
        else:
            flags = (unsigned, zerofill)
    else:
        decimal = decimal or None
        flags = (unsigned or None, zerofill or None)
    is_text = base in TEXT_NAMES or base in _LABELLED
    return ColumnSchema(
        column.name,
        DataType(
            base,
            "utf8mb4" if is_text else "binary",
            "utf8mb4_bin" if is_text else "binary",
            _length(declared, column.source or "") if is_known else _UNKNOWN_LENGTH,
            decimal,
            declared.elements if base in _LABELLED else None,
            *flags,
        ),
        column.nullable if column.nullable is not None else not is_key,
        _default(column, base, is_avro=is_avro),
    )


def _has_unknown_size(column: Column) -> bool:
    """Return whether neither the kind nor its source says how many digits or bits there are."""
    match column.type:
        case kinds.DecimalType(None) | kinds.BitType(None):
            pass
        case kinds.TimeType(None) | kinds.DatetimeType(None) | kinds.TimestampType(None):
            pass
        case _:
            return False
    return "(" not in (column.source or "")


def _length(declared: DeclaredType, source: str) -> int:
    base = declared.base
    if found := _FLOAT_LENGTH.match(source):
        return int(found[1])
    if base in _TEMPORAL_LENGTHS:
        digits = declared.decimal or 0
        return _TEMPORAL_LENGTHS[base] + (digits + 1 if digits else 0)
    if base in LARGE_SIZES:
        return LARGE_SIZES[base]
    if base == "json":
        return _JSON_LENGTH
    lengths = [len(label) for label in declared.elements or ()]
    if base == "enum":
        return max(lengths, default=0)
    if base == "set":
        return sum(lengths) + max(len(lengths) - 1, 0)
    return _UNKNOWN_LENGTH if declared.flen is None else declared.flen


def _default(column: Column, base: str, *, is_avro: bool) -> str | bytes | Number | None:
    default = column.default
    match default:
        case Expression(sql):
            return sql
        case bool():
            return str(int(default))
        case int() if base == "bit" and is_avro:
            return default.to_bytes(max((default.bit_length() + 7) // 8, 1), "big")
        case int() if base == "bit":
            return Number(str(default))
        case str() | None:
            return default
        case bytes():
            return default if is_avro else default.decode("utf-8", "surrogateescape")
        case _ if default is ABSENT:
            return None
        case int() | float():
            return str(default)
        case _:
            return str(default)


@dataclass(frozen=True, slots=True, eq=False)
class Definition:
    """A table that rows are read by. ``places``: of its columns by name."""

    table: Table
    columns: Mapping[str, Column]
    places: Mapping[str, int]


class Definitions:
    """The definitions of tables, by name and version; one without version is for every version."""

    def __init__(self, tables: Iterable[Table] = ()) -> None:
        self._known: dict[tuple[str, str], dict[int, list[Definition]]] = {}
        for table in tables:
            if table.columns:
                versions = self._known.setdefault((table.schema or "", table.name or ""), {})
                same = versions.setdefault(table.version or 0, [])
                same[:] = [each for each in same if each.table.columns != table.columns]
                same.append(_definition(table))

    def of(self, schema: str, name: str, version: int, columns: Iterable[str]) -> Definition:
        """Return the definition of a row. ``columns``: those that the row has.

        Raises: ValueError when none was sent, or several differ and have these columns.
        """
        versions = self._known.get((schema, name), {})
        found = versions.get(version) or versions.get(0) or []
        if not found:
            known = ", ".join(map(str, sorted(versions))) or "none"
            raise ValueError(
                f"no table schema of {schema}.{name} has version {version}; known: {known}. Its "
                "BOOTSTRAP or DDL message is missing; a definition of the table serves too"
            )
        names = set(columns)
        fitting = [each for each in found if names <= each.columns.keys()]
        if len(fitting) > 1:
            fitting = [each for each in fitting if names == each.columns.keys()] or fitting
        if len(fitting) == 1:
            return fitting[0]
        if fitting:
            problem = f"{len(fitting)} table schemas that differ have version {version}"
            raise ValueError(f"{problem} of {schema}.{name}")
        missing = sorted(names - found[-1].columns.keys())[0]
        problem = f"the table schema of {schema}.{name} has no column {missing!r:.80}"
        raise ValueError(f"{problem} in version {version}")

    def of_table(self, table: Table, columns: Iterable[str]) -> Definition | None:
        """Return the definition of a table that is to be written; None if there is none."""
        try:
            return self.of(table.schema or "", table.name or "", table.version or 0, columns)
        except ValueError:
            return None


def _definition(table: Table) -> Definition:
    columns = {column.name: _as_sent(column) for column in table.columns or ()}
    places = {column.name: place for place, column in enumerate(table.columns or ())}
    return Definition(table, columns, places)


def _as_sent(column: Column) -> Column:
    """Return a column with the form in which its values are sent."""
    match column.type:
        case kinds.BoolType():
            return replace(column, type=kinds.IntType(8))
        case kinds.EnumType() | kinds.SetType() as kind:
            return replace(column, type=replace(kind, form="index"))
        case (
            kinds.DateType()
            | kinds.TimeType()
            | kinds.DatetimeType()
            | kinds.TimestampType() as kind
        ):
            return replace(column, type=replace(kind, form="text"))
        case _:
            return column


_latest: list[tuple[tuple[Table, ...], Definitions]] = [((), Definitions())]


def definitions_of(tables: tuple[Table, ...]) -> Definitions:
    """Return the definitions of these tables; those of the latest call are kept."""
    known, definitions = _latest[0]
    if known is not tables:
        definitions = Definitions(tables)
        _latest[0] = (tables, definitions)
    return definitions


def definition_of_row(
    definitions: Definitions, names: tuple[str, str], version: tuple[int, int], columns: set[str]
) -> Definition:
    """Return the definition of a row. ``version``: with the byte where it begins.

    Raises: DecodeError that names the version.
    """
    try:
        return definitions.of(*names, version[0], columns)
    except ValueError as error:
        path = ("schemaVersion",)
        raise DecodeError(str(error), version[1], SCHEMA_VERSIONS, path) from None


def check_columns(table: Table) -> None:
    """Raise EncodeError when two columns have one name."""
    names = [column.name for column in table.columns or ()]
    if len(set(names)) < len(names):
        raise EncodeError("two columns have one name", SCHEMAS, ("table",))
