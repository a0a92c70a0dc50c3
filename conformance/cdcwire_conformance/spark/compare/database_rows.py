"""The rows of a table in a database, by JDBC, with exact values.

Spark reads times, years, bits, decimals of many digits and dates out of its range as other values,
or not at all. The database writes these as text or as a number instead; its catalogue says which
columns have such types.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from cdcwire.arrow.types import MAX_DECIMAL_DIGITS, UTC
from cdcwire.ddl import parse_ddl
from cdcwire.model import kinds
from cdcwire.model.temporal import DAYS_OF_MONTH
from cdcwire_conformance.sources.tables import DRIVERS, PASSWORD_VARIABLE, TableUrl

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession

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
class _Sent:
    """How a database gives a column. ``sql``: with ``{}`` in place of its name."""

    sql: str
    kind: kinds.Type


_Form: TypeAlias = "Callable[[Row], _Sent | None]"
"""Returns how a column is given, by its row of the catalogue; None: as Spark reads it."""


def column_name(name: str) -> str:
    """Return a name as Spark reads it, whatever characters it has."""
    return f"`{name.replace('`', '``')}`"


def _decimal(sql: str) -> _Form:
    def form(column: Row) -> _Sent | None:
        digits = column.digits
        if digits is not None and digits <= MAX_DECIMAL_DIGITS:
            return None
        return _Sent(sql, kinds.DecimalType(digits, column.scale))

    return form


def _mariadb_bit(column: Row) -> _Sent | None:
    if column.digits == 1:
        return None  # a boolean, as connectors send it
    return _Sent("CAST({} + 0 AS DECIMAL(20, 0))", kinds.BitType(column.digits))


def _mariadb_bigint(column: Row) -> _Sent | None:
    if "unsigned" not in column.written.lower():
        return None
    return _Sent("CAST({} AS DECIMAL(20, 0))", kinds.IntType(64, True))


def _mariadb_labels(column: Row) -> _Sent | None:
    (table,) = parse_ddl(f"CREATE TABLE t (c {column.written})")
    assert table.columns is not None
    return _Sent(_MARIADB_TEXT, table.columns[0].type)


def _postgresql_bit(column: Row) -> _Sent | None:
    return None if column.length == 1 else _postgresql_bits(column)  # one bit is a boolean


def _postgresql_bits(column: Row) -> _Sent | None:
    if column.length is None or column.length > 64:
        return None
    # Both halves by themselves: as one bigint, 64 bits have a sign.
    bits = "lpad({}::text, 64, '0')"
    high, low = (f"{part}({bits}, 32)::bit(32)::bigint" for part in ("left", "right"))
    return _Sent(f"({high} * 4294967296::numeric + {low})", kinds.BitType(column.length))


def _postgresql_array(column: Row) -> _Sent | None:
    if column.written != "_numeric":
        return None
    return _Sent("{}::text[]", kinds.ArrayType(kinds.DecimalType()))  # Spark cuts to 18 digits


def _mariadb_text(kind: Callable[[int | None], kinds.Type]) -> _Form:
    """Give a column as text. ``kind``: of the digits of its fraction."""
    return lambda column: _Sent(_MARIADB_TEXT, kind(column.fraction))


def _postgresql_text(kind: Callable[[int | None], kinds.Type], sql: str = "{}::text") -> _Form:
    return lambda column: _Sent(sql, kind(column.fraction))


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
            "char": _mariadb_text(lambda _: kinds.TextType()),  # which Spark fills with spaces
            "enum": _mariadb_labels,
            "set": _mariadb_labels,
            # MariaDB rounds the text of a FLOAT to six digits.
            "float": lambda _: _Sent("CAST({} AS DOUBLE)", kinds.FloatType(32)),
            "year": lambda _: _Sent("CAST({} AS SIGNED)", kinds.YearType()),
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
            "interval": lambda _: _Sent(_MICROSECONDS, kinds.IntervalType("us")),
            "bit": _postgresql_bit,
            "bit varying": _postgresql_bits,
            "numeric": _decimal("{}::text"),
            "money": lambda _: _Sent("{}::numeric::text", kinds.DecimalType(19, 2)),
            "array": _postgresql_array,
        },
    }
)
_CATALOGUE = """SELECT column_name AS name, data_type AS type, {written} AS written,
 datetime_precision AS fraction, numeric_precision AS digits, numeric_scale AS scale,
 character_maximum_length AS length
 FROM information_schema.columns WHERE lower(table_name) = lower({name}) AND table_schema = {schema}
 ORDER BY ordinal_position"""
_WRITTEN = {"mariadb": "column_type", "postgresql": "udt_name"}
OWN_SCHEMA = {"mariadb": "DATABASE()", "postgresql": "CURRENT_SCHEMA()"}
_WITH_FRACTION = (kinds.TimeType, kinds.DatetimeType, kinds.TimestampType)
_SETTINGS = {
    # Spark quotes names as the standard has it; the instants of a TIMESTAMP are in UTC.
    "mariadb": "SET SESSION sql_mode = 'ANSI_QUOTES', time_zone = '+00:00'",
}


def read_database_table(
    spark: SparkSession, table: TableUrl
) -> tuple[DataFrame, Mapping[str, kinds.Type]]:
    """Return the rows, and the kinds of the columns that Spark's types do not say.

    Raises: what Spark raises.
    """
    columns = read_by_jdbc(spark, table, query=_catalogue_query(table)).collect()
    sent = {column["name"]: _sent(table, column) for column in columns}
    known = {name: each for name, each in sent.items() if each is not None}
    if not known:  # no such column, or no such table, which the database then says
        return read_by_jdbc(spark, table, dbtable=_table_name(table)), {}
    chosen = []
    for name, each in sent.items():
        quoted = quoted_name(table, name)
        chosen.append(quoted if each is None else f"{each.sql.replace('{}', quoted)} AS {quoted}")
    rows = read_by_jdbc(spark, table, query=f"SELECT {', '.join(chosen)} FROM {_table_name(table)}")
    values = [
        _without_zeros(F.col(column_name(name))).alias(name)
        if each is not None and isinstance(each.kind, _WITH_FRACTION)
        else F.col(column_name(name))
        for name, each in sent.items()
    ]
    return rows.select(*values), {name: each.kind for name, each in known.items()}


def _without_zeros(text: Column) -> Column:
    """Return a time without zeros at the end of its fraction, as feeds have it."""
    return F.when(text.contains("."), F.regexp_replace(text, r"\.?0+$", "")).otherwise(text)


def _sent(table: TableUrl, column: Row) -> _Sent | None:
    form = _FORMS[table.connector].get(column["type"].lower())
    return None if form is None else form(column)


def _catalogue_query(table: TableUrl) -> str:
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


def _table_name(table: TableUrl) -> str:
    schema, name = table.name
    return name if schema is None else f"{schema}.{name}"


def read_by_jdbc(spark: SparkSession, table: TableUrl, **what: str) -> DataFrame:
    """Return a query or a table of a database. ``what``: ``query`` or ``dbtable``, as in Spark."""
    return spark.read.format("jdbc").options(**jdbc_options(table), **what).load()


def jdbc_options(table: TableUrl) -> dict[str, str]:
    """Return the options with which Spark reaches a database."""
    options = {
        "url": table.place,
        "driver": DRIVERS[table.connector],
        "preferTimestampNTZ": "true",
        "fetchsize": "10000",
    }
    settings = _SETTINGS.get(table.connector)
    if settings is not None:
        options["sessionInitStatement"] = settings
    if table.connector == "mariadb":
        # Else -9 in a tinyint(1) is read as true.
        options["url"] += "?tinyInt1isBit=false"
    if table.user is not None:
        options["user"] = table.user
    password = os.environ.get(PASSWORD_VARIABLE)
    if password:
        options["password"] = password
    return options
