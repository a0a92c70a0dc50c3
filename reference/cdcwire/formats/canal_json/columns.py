"""Columns: ``mysqlType`` and ``sqlType`` to and from the neutral columns.

``mysqlType`` gives the kind of a column, in its full form with length, scale and elements. A table
definition adds what the short form leaves open, and gives the kind of a column that ``mysqlType``
does not name. ``sqlType`` says nothing more, and differs between rows: it is written, never read.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache

from cdcwire.core.errors import EncodeError
from cdcwire.model import kinds
from cdcwire.model.events import Table
from cdcwire.model.kinds import Column, Role
from cdcwire.mysql.declared import (
    INTEGER_BITS,
    LARGE_SIZES,
    TEMPORAL_NAMES,
    DeclaredType,
    declared_type,
    parse_declared,
    quoted_elements,
    type_of_declared,
)
from cdcwire.mysql.values import WireValue

CLAUSE = "canal-json: mysqlType"
CLAUSE_FULL = "canal-json: content compatible"
_PRIMARY: frozenset[Role] = frozenset({"primary"})

# What is kept of types that were read: of short ones only, and not of too many.
_MAX_KEPT_TYPE = 1024
_MAX_KEPT = 4096


class Definition:
    """The columns of one table by name, as somebody defined them; none where nobody did."""

    def __init__(self, columns: Iterable[Column] = ()) -> None:
        self.columns = {column.name: column for column in columns}
        self._limit = 64 + 4 * len(self.columns) if self.columns else _MAX_KEPT
        self._made: dict[tuple[str, str | None, bool, str | None], Column] = {}

    def column(
        self,
        name: str,
        mysql_type: str | None,
        is_primary: bool = False,
        time_zone: str | None = None,
    ) -> Column:
        """Return the neutral column of a member.

        Raises: ValueError when neither ``mysqlType`` nor the definition gives its type.
        """
        key = (name, mysql_type, is_primary, time_zone)
        found = self._made.get(key)
        if found is None:
            found = _column_of(name, mysql_type, self.columns.get(name), is_primary, time_zone)
            if mysql_type is None or len(mysql_type) <= _MAX_KEPT_TYPE:
                if len(self._made) >= self._limit:
                    self._made.clear()
                self._made[key] = found
        return found


NO_DEFINITION = Definition()


class Definitions:
    """The definitions of tables that a caller passed, by name and version."""

    def __init__(self, tables: Iterable[Table] = ()) -> None:
        self._known: dict[tuple[str | None, str | None], dict[int | None, Table]] = {}
        for table in tables:
            if table.columns is not None:
                versions = self._known.setdefault((table.schema, table.name), {})
                versions.setdefault(table.version, table)
        self._columns: dict[int, Definition] = {}

    def table(
        self, schema: str | None, name: str | None, version: int | None = None
    ) -> Table | None:
        """Return the definition of this version, else the only one there is, else None."""
        known = self._known.get((schema, name), {})
        if version is not None and version in known:
            return known[version]
        return next(iter(known.values())) if len(known) == 1 else None

    def columns(
        self, schema: str | None, name: str | None, version: int | None = None
    ) -> Definition:
        """Return the column definitions of a table; empty ones if it is unknown."""
        table = self.table(schema, name, version)
        if table is None:
            return NO_DEFINITION
        found = self._columns.get(id(table))  # the table is kept here, so that the id stays its own
        if found is None:
            found = Definition(table.columns or ())
            self._columns[id(table)] = found
        return found


NO_DEFINITIONS = Definitions()
_latest: list[tuple[tuple[Table, ...], Definitions]] = [((), NO_DEFINITIONS)]


def definitions_of(tables: tuple[Table, ...]) -> Definitions:
    """Return the definitions of these tables; those of the latest call are kept.

    A context has the same tuple for all messages of a feed.
    """
    known, definitions = _latest[0]
    if known is not tables:
        definitions = Definitions(tables)
        _latest[0] = (tables, definitions)
    return definitions


def _column_of(
    name: str,
    mysql_type: str | None,
    definition: Column | None,
    is_primary: bool,
    time_zone: str | None,
) -> Column:
    roles = _PRIMARY if is_primary else frozenset()
    if mysql_type is None:
        if definition is None:
            raise ValueError(f"the type of column {name!r:.80} is not known")
        kind = _as_sent(definition.type, time_zone)
        return replace(definition, type=kind, roles=definition.roles | roles)
    kind = type_of_declared(parse_declared(mysql_type, False), time_zone)
    if definition is None:
        return Column(name, kind, mysql_type, roles=roles)
    found = completed(Column(name, kind, mysql_type), definition)
    return replace(found, roles=definition.roles | roles, nullable=definition.nullable)


def completed(column: Column, definition: Column | None) -> Column:
    """Return a column with what its definition adds to its type, if the two agree."""
    if definition is None:
        return column
    kind = _completed_kind(column.type, definition.type)
    if kind is None:
        return column
    roles = column.roles | definition.roles
    nullable = definition.nullable if column.nullable is None else column.nullable
    source = definition.source or column.source
    return replace(column, type=kind, source=source, roles=roles, nullable=nullable)


def _completed_kind(kind: kinds.Type, other: kinds.Type) -> kinds.Type | None:
    """Return the kind with the parameters of another; None where they are not the same kind."""
    match kind, other:
        case (kinds.UnknownType(), kinds.StructType() | kinds.ArrayType() | kinds.MapType()):
            return None  # another producer's form of a value that is a text here
        case (kinds.UnknownType(), _):
            return other
        case (kinds.DecimalType(precision=None), kinds.DecimalType()):
            return other
        case (kinds.EnumType(labels=None), kinds.EnumType(labels=labels)):
            return replace(kind, labels=labels)
        case (kinds.SetType(labels=None), kinds.SetType(labels=labels)):
            return replace(kind, labels=labels)
        case (kinds.TextType(length=None), kinds.TextType(length=length)):
            return kinds.TextType(length)
        case (kinds.BytesType(length=None), kinds.BytesType(length=length)):
            return kinds.BytesType(length)
        case (kinds.BitType(length=None), kinds.BitType(length=length)):
            return kinds.BitType(length)
        case (kinds.TimeType(fraction=None), kinds.TimeType(fraction=fraction)):
            return replace(kind, fraction=fraction)
        case (kinds.DatetimeType(fraction=None), kinds.DatetimeType(fraction=fraction)):
            return replace(kind, fraction=fraction)
        case (kinds.TimestampType(fraction=None), kinds.TimestampType(fraction=fraction)):
            return replace(kind, fraction=fraction)
        case (kinds.IntType(), kinds.IntType()):
            return kind if kind == other else None
        case _:
            return kind if type(kind) is type(other) else None


def _as_sent(kind: kinds.Type, time_zone: str | None) -> kinds.Type:
    """Return a defined kind in the form in which Canal-JSON has its values."""
    match kind:
        case kinds.BoolType():
            return kinds.IntType(8)
        case kinds.EnumType() | kinds.SetType():
            return replace(kind, form="index")
        case kinds.TimestampType():
            return replace(kind, form="text", zone=time_zone)
        case kinds.TimeType() | kinds.DatetimeType():
            return replace(kind, form="text")
        case _:
            return kind


@lru_cache(maxsize=4096)
def written_type(column: Column, is_full: bool) -> tuple[str, DeclaredType]:
    """Return ``mysqlType`` of a column, in full with its parameters, and the declared type.

    Unknown parameters are left out, except the widths of integers and years.
    Raises: EncodeError for kinds that MySQL does not have.
    Source: canal-json, "content compatible".
    """
    declared = declared_type(column, CLAUSE)
    base = declared.base
    if isinstance(column.type, kinds.UnknownType):
        declared = DeclaredType("binary")  # as the producer writes the null type
        return ("binary(0)" if is_full else "binary"), declared
    text = base + (_parameters(column, declared) if is_full else "")
    if declared.is_unsigned and base not in ("bit", "year"):
        text += " unsigned"
    if declared.is_zerofill and base != "year":
        text += " zerofill"
    return text, declared


def _parameters(column: Column, declared: DeclaredType) -> str:
    base = declared.base
    if base in INTEGER_BITS or base == "year":
        return f"({declared.flen})"
    if base in TEMPORAL_NAMES:
        return f"({declared.decimal})" if declared.decimal else ""
    if base in ("enum", "set"):
        if declared.elements is None:
            return ""
        try:
            return quoted_elements(declared.elements)
        except ValueError as error:
            raise EncodeError(str(error), CLAUSE_FULL) from None
    if base in ("float", "double"):
        return f"({declared.flen},{declared.decimal})" if declared.decimal else ""
    if declared.flen is None or base in LARGE_SIZES or not _tells_length(column):
        return ""
    return f"({declared.flen},{declared.decimal})" if base == "decimal" else f"({declared.flen})"


def _tells_length(column: Column) -> bool:
    match column.type:
        case kinds.DecimalType(precision=None):
            pass
        case (
            kinds.TextType(length=None) | kinds.BytesType(length=None) | kinds.BitType(length=None)
        ):
            pass
        case _:
            return True
    try:
        return column.source is not None and parse_declared(column.source, False).flen is not None
    except ValueError:
        return False


_SIGNED_CODES = {"tinyint": -6, "smallint": 5, "mediumint": 4, "int": 4, "bigint": -5}
# base: the largest value of the signed type, and the code of what does not fit into it
_UNSIGNED_CODES = {
    "tinyint": (0x7F, 5),
    "smallint": (0x7FFF, 4),
    "int": (0x7FFFFFFF, -5),
    "bigint": (0x7FFFFFFFFFFFFFFF, 3),
}
_CODES = {
    "float": 7,
    "double": 8,
    "decimal": 3,
    "bit": -7,
    "set": -7,
    "char": 1,
    **dict.fromkeys(("varchar", "json", "year", "vector"), 12),
    **dict.fromkeys(("tinytext", "text", "mediumtext", "longtext"), 2005),
    **dict.fromkeys(("binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob"), 2004),
    "date": 91,
    "time": 92,
    "datetime": 93,
    "timestamp": 93,
    "enum": 4,
}


def sql_type_of(declared: DeclaredType, value: WireValue) -> int:
    """Return ``sqlType`` of a value: an unsigned integer beyond the signed type has its own.

    Raises: EncodeError for types that have none.
    Source: canal-json, "sqlType".
    """
    code = _SIGNED_CODES.get(declared.base)
    if code is None:
        found = _CODES.get(declared.base)
        if found is None:
            raise EncodeError(f"type {declared.base!r} has no sqlType", "canal-json: sqlType")
        return found
    limit = _UNSIGNED_CODES.get(declared.base) if declared.is_unsigned else None
    if limit is not None and isinstance(value, int) and value > limit[0]:
        return limit[1]
    return code
