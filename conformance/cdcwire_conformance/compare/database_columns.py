"""How MariaDB, MySQL and PostgreSQL give the columns of a table, so that each value is exact.

Drivers read times, years, bits, decimals of many digits and dates out of their range as other
values, or not at all. The database writes these as text or as a number instead; its catalogue says
which columns have such types.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

from cdcwire.arrow.types import MAX_DECIMAL_DIGITS, UTC
from cdcwire.ddl import parse_ddl
from cdcwire.model import kinds
from cdcwire.model.temporal import DAYS_OF_MONTH
from cdcwire_conformance.sources.tables import TableUrl

_MARIADB_TEXT = "CAST({} AS CHAR)"
_TIME_IN_UTC = "replace(({} AT TIME ZONE 'UTC')::text, '+00', 'Z')"
# What Debezium sends for an interval: see period_count. PostgreSQL's floats are those of Java.
_SECONDS = (
    "(trunc(extract(second from {}))::float8"
    " + (extract(microseconds from {})::bigint % 1000000)::float8 / 1000000)"
)
_DAYS = (
    "((extract(year from {}) * 12 + extract(month from {}))::float8"
    f" * {DAYS_OF_MONTH} + extract(day from {{}})::float8)"
)
_MICROSECONDS = (
    f"trunc((((({_DAYS} * 24) + extract(hour from {{}})::float8) * 60"
    f" + extract(minute from {{}})::float8) * 60 + {_SECONDS}) * 1000000)::bigint"
)


@dataclass(frozen=True, slots=True)
class CatalogueColumn:
    """A column as ``information_schema`` has it. ``written``: its type, as the database names it.

    ``fraction``: digits of a second. ``length``: characters, or bits.
    """

    name: str
    type: str
    written: str
    fraction: int | None
    digits: int | None
    scale: int | None
    length: int | None


@dataclass(frozen=True, slots=True)
class SentColumn:
    """How a database gives a column. ``sql``: with ``{}`` in place of its name."""

    sql: str
    kind: kinds.Type


_Form: TypeAlias = "Callable[[CatalogueColumn], SentColumn | None]"
"""Returns how a column is given, by its row of the catalogue; None: as it is."""


def _decimal(sql: str) -> _Form:
    def form(column: CatalogueColumn) -> SentColumn | None:
        digits = column.digits
        if digits is not None and digits <= MAX_DECIMAL_DIGITS:
            return None
        return SentColumn(sql, kinds.DecimalType(digits, column.scale))

    return form


def _mariadb_bit(column: CatalogueColumn) -> SentColumn | None:
    if column.digits == 1:
        return None  # a boolean, as connectors send it
    return SentColumn("CAST({} + 0 AS DECIMAL(20, 0))", kinds.BitType(column.digits))


def _mariadb_bigint(column: CatalogueColumn) -> SentColumn | None:
    if "unsigned" not in column.written.lower():
        return None
    return SentColumn("CAST({} AS DECIMAL(20, 0))", kinds.IntType(64, True))


def _mariadb_labels(column: CatalogueColumn) -> SentColumn | None:
    (table,) = parse_ddl(f"CREATE TABLE t (c {column.written})")
    assert table.columns is not None
    return SentColumn(_MARIADB_TEXT, table.columns[0].type)


def _postgresql_bit(column: CatalogueColumn) -> SentColumn | None:
    return None if column.length == 1 else _postgresql_bits(column)  # one bit is a boolean


def _postgresql_bits(column: CatalogueColumn) -> SentColumn | None:
    if column.length is None or column.length > 64:
        return None
    # Both halves by themselves: as one bigint, 64 bits have a sign.
    bits = "lpad({}::text, 64, '0')"
    high, low = (f"{part}({bits}, 32)::bit(32)::bigint" for part in ("left", "right"))
    return SentColumn(f"({high} * 4294967296::numeric + {low})", kinds.BitType(column.length))


def _postgresql_array(column: CatalogueColumn) -> SentColumn | None:
    if column.written != "_numeric":
        return None
    return SentColumn("{}::text[]", kinds.ArrayType(kinds.DecimalType()))  # Spark cuts to 18 digits


def _mariadb_text(kind: Callable[[int | None], kinds.Type]) -> _Form:
    """Give a column as text. ``kind``: of the digits of its fraction."""
    return lambda column: SentColumn(_MARIADB_TEXT, kind(column.fraction))


def _postgresql_text(kind: Callable[[int | None], kinds.Type], sql: str = "{}::text") -> _Form:
    return lambda column: SentColumn(sql, kind(column.fraction))


def _time_in_utc(fraction: int | None) -> kinds.Type:
    return kinds.TimeType(fraction, zone=UTC)


def _instant(fraction: int | None) -> kinds.Type:
    return kinds.TimestampType(fraction, zone=UTC)


_FORMS: Mapping[str, Mapping[str, _Form]] = MappingProxyType(
    {
        "mariadb": {
            "date": _mariadb_text(lambda _: kinds.DateType()),
            "time": _mariadb_text(kinds.TimeType),
            "datetime": _mariadb_text(kinds.DatetimeType),
            "timestamp": _mariadb_text(_instant),
            # Spark fills these with spaces.
            **dict.fromkeys(
                ("char", "inet4", "inet6", "uuid"), _mariadb_text(lambda _: kinds.TextType())
            ),
            "enum": _mariadb_labels,
            "set": _mariadb_labels,
            # MariaDB rounds the text of a FLOAT to six digits.
            "float": lambda _: SentColumn("CAST({} AS DOUBLE)", kinds.FloatType(32)),
            "year": lambda _: SentColumn("CAST({} AS SIGNED)", kinds.YearType()),
            "bit": _mariadb_bit,
            "bigint": _mariadb_bigint,
            "decimal": _decimal(_MARIADB_TEXT),
        },
        "postgresql": {
            "date": _postgresql_text(lambda _: kinds.DateType()),
            "time without time zone": _postgresql_text(kinds.TimeType),
            "timestamp without time zone": _postgresql_text(kinds.DatetimeType),
            "timestamp with time zone": _postgresql_text(_instant, "({} AT TIME ZONE 'UTC')::text"),
            "time with time zone": _postgresql_text(_time_in_utc, _TIME_IN_UTC),
            "interval": lambda _: SentColumn(_MICROSECONDS, kinds.IntervalType("us")),
            "bit": _postgresql_bit,
            "bit varying": _postgresql_bits,
            "numeric": _decimal("{}::text"),
            "money": lambda _: SentColumn("{}::numeric::text", kinds.DecimalType(19, 2)),
            "array": _postgresql_array,
        },
    }
)
_SHORT = SentColumn("{}", kinds.IntType(32))
_LONG = SentColumn("{}", kinds.IntType(64))
_BYTES = "binary varbinary tinyblob blob mediumblob longblob geometry point linestring polygon"
_TEXTS = "varchar tinytext text mediumtext longtext json"
_MARIADB_PLAIN: Mapping[str, SentColumn] = MappingProxyType(
    {
        **{name: SentColumn("{}", kinds.BytesType()) for name in _BYTES.split()},
        **{name: SentColumn("{}", kinds.TextType()) for name in _TEXTS.split()},
        **dict.fromkeys(("tinyint", "smallint", "mediumint", "int"), _SHORT),
        "bigint": _LONG,
        "double": SentColumn("{}", kinds.FloatType(64)),
        "bit": SentColumn("CAST({} + 0 AS CHAR)", kinds.BoolType()),
    }
)
_PLAIN_TEXTS = "varchar text bpchar name json jsonb uuid inet cidr macaddr xml tsvector"
_POSTGRESQL_PLAIN: Mapping[str, SentColumn] = MappingProxyType(
    {
        **{name: SentColumn("{}", kinds.TextType()) for name in _PLAIN_TEXTS.split()},
        "int2": SentColumn("{}", kinds.IntType(16)),
        "int4": _SHORT,
        "int8": _LONG,
        "float4": SentColumn("{}", kinds.FloatType(32)),
        "float8": SentColumn("{}", kinds.FloatType(64)),
        "bool": SentColumn("{}::text", kinds.BoolType()),
        "bit": SentColumn("{}::text", kinds.BoolType()),
        "bytea": SentColumn("{}", kinds.BytesType()),
    }
)
_ITEMS = "int2 int4 int8 float4 float8 bool varchar text uuid json jsonb"
_CATALOGUE = """SELECT column_name AS name, data_type AS type, {written} AS written,
 datetime_precision AS fraction, numeric_precision AS digits, numeric_scale AS scale,
 character_maximum_length AS length
 FROM information_schema.columns WHERE lower(table_name) = lower({name}) AND table_schema = {schema}
 ORDER BY ordinal_position"""
_WRITTEN = {"mariadb": "column_type", "postgresql": "udt_name"}
OWN_SCHEMA = {"mariadb": "DATABASE()", "postgresql": "CURRENT_SCHEMA()"}
WITH_FRACTION = (kinds.TimeType, kinds.DatetimeType, kinds.TimestampType)


def select(table: TableUrl, columns: Mapping[str, SentColumn | None]) -> str:
    """Return the query of these columns of all rows."""
    chosen = []
    for name, each in columns.items():
        quoted = quoted_name(table, name)
        chosen.append(quoted if each is None else f"{each.sql.replace('{}', quoted)} AS {quoted}")
    return f"SELECT {', '.join(chosen)} FROM {table_name(table)}"


def sent_column(table: TableUrl, column: CatalogueColumn) -> SentColumn | None:
    """Return how a database gives a column; None: as it is."""
    form = _FORMS[table.connector].get(column.type.lower())
    return None if form is None else form(column)


def as_text(table: TableUrl, column: CatalogueColumn) -> SentColumn | None:
    """Return how a database gives the text of a column, or its bytes; None: not known.

    The kinds are those of Spark's types, where ``sent_column`` leaves the column as it is.
    """
    sent = sent_column(table, column)
    if sent is not None:
        return sent
    kind, digits, scale = column.type.lower(), column.digits, column.scale
    if kind in ("decimal", "numeric"):
        assert digits is not None
        if scale is None or scale > digits:
            return None
        return SentColumn("{}", kinds.DecimalType(digits, scale))
    if table.connector == "mariadb":
        is_wide = "unsigned" in column.written.lower() and kind in ("mediumint", "int")
        return _LONG if is_wide else _MARIADB_PLAIN.get(kind)
    if kind == "user-defined":
        return SentColumn("{}", kinds.TextType())
    if kind == "bit" and column.length != 1:
        return None
    item = column.written.removeprefix("_") if kind == "array" else None
    if item is None:
        return _POSTGRESQL_PLAIN.get(column.written)
    if item not in _ITEMS.split():
        return None
    return SentColumn("{}::text[]", kinds.ArrayType(_POSTGRESQL_PLAIN[item].kind))


def catalogue_query(table: TableUrl) -> str:
    """Return the query of the columns of a table, each as a ``CatalogueColumn``."""
    schema, name = table.name
    place = OWN_SCHEMA[table.connector] if schema is None else literal(table, schema)
    written = _WRITTEN[table.connector]
    return _CATALOGUE.format(name=literal(table, name), schema=place, written=written)


def literal(table: TableUrl, text: str) -> str:
    """Return a text in quotes. A backslash is an escape in MariaDB and MySQL only."""
    escaped = text.replace("\\", "\\\\") if table.connector == "mariadb" else text
    return "'" + escaped.replace("'", "''") + "'"


def quoted_name(table: TableUrl, name: str) -> str:
    """Return a name in quotes."""
    quote = "`" if table.connector == "mariadb" else '"'  # also where no setting is made yet
    return quote + name.replace(quote, 2 * quote) + quote


def table_name(table: TableUrl) -> str:
    """Return the name of a table as the URL has it."""
    schema, name = table.name
    return name if schema is None else f"{schema}.{name}"
