"""The rows of a table in a database, by JDBC."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from cdcwire.model import kinds
from cdcwire_conformance.compare.database_columns import (
    WITH_FRACTION,
    CatalogueColumn,
    catalogue_query,
    select,
    sent_column,
    table_name,
)
from cdcwire_conformance.sources.tables import DRIVERS, PASSWORD_VARIABLE, TableUrl

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SETTINGS = {
    # Spark quotes names as the standard has it; the instants of a TIMESTAMP are in UTC.
    "mariadb": "SET SESSION sql_mode = 'ANSI_QUOTES', time_zone = '+00:00'",
}


def column_name(name: str) -> str:
    """Return a name as Spark reads it, whatever characters it has."""
    return f"`{name.replace('`', '``')}`"


def read_database_table(
    spark: SparkSession, table: TableUrl
) -> tuple[DataFrame, Mapping[str, kinds.Type]]:
    """Return the rows, and the kinds of the columns that Spark's types do not say.

    Raises: what Spark raises.
    """
    columns = read_by_jdbc(spark, table, query=catalogue_query(table)).collect()
    sent = {
        column["name"]: sent_column(table, CatalogueColumn(**column.asDict())) for column in columns
    }
    known = {name: each for name, each in sent.items() if each is not None}
    if not known:  # no such column, or no such table, which the database then says
        return read_by_jdbc(spark, table, dbtable=table_name(table)), {}
    rows = read_by_jdbc(spark, table, query=select(table, sent))
    values = [
        _without_zeros(F.col(column_name(name))).alias(name)
        if each is not None and isinstance(each.kind, WITH_FRACTION)
        else F.col(column_name(name))
        for name, each in sent.items()
    ]
    return rows.select(*values), {name: each.kind for name, each in known.items()}


def _without_zeros(text: Column) -> Column:
    """Return a time without zeros at the end of its fraction, as feeds have it."""
    return F.when(text.contains("."), F.regexp_replace(text, r"\.?0+$", "")).otherwise(text)


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
