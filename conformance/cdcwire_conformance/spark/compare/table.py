"""The tables that Spark reads: Parquet, Delta, Iceberg, JDBC, any DataFrame."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from os.path import commonprefix
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import unquote

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from cdcwire.arrow.json_form import normal_json_array
from cdcwire.arrow.schema import CanonicalTable
from cdcwire.arrow.types import UTC, SchemaError
from cdcwire.model import kinds
from cdcwire.model.kinds import Column as TableColumn
from cdcwire_conformance.compare.embedded.engine import compared_table
from cdcwire_conformance.compare.embedded.passes import job_for
from cdcwire_conformance.compare.embedded.table_rows import without_presence
from cdcwire_conformance.compare.feed import OpenedFeed
from cdcwire_conformance.compare.feeds import (
    Report,
)
from cdcwire_conformance.compare.plan import TableTask
from cdcwire_conformance.compare.record import InputFile
from cdcwire_conformance.compare.recording import file_in
from cdcwire_conformance.compare.result import TableComparison
from cdcwire_conformance.compare.rules import CompareOptions
from cdcwire_conformance.compare.table import TableRules
from cdcwire_conformance.sources.tables import TableUrl
from cdcwire_conformance.spark.compare.database_rows import column_name, read_database_table
from cdcwire_conformance.spark.compare.engine import SparkEngine
from cdcwire_conformance.spark.compare.large_tables import compare_large
from cdcwire_conformance.spark.compare.shuffle import sent_frame
from cdcwire_conformance.spark.compare.table_errors import readable_table_errors
from cdcwire_conformance.spark.hadoop import HadoopStore
from cdcwire_conformance.spark.reading.frames import spark_schema
from cdcwire_conformance.spark.reading.workers import SparkWorkers

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Rows: TypeAlias = "TableUrl | DataFrame"

_FRACTION = 6  # digits of a second in Spark's timestamps
_PLAIN_KINDS: Mapping[type[T.DataType], kinds.Type] = {
    T.ByteType: kinds.IntType(8),
    T.ShortType: kinds.IntType(16),
    T.IntegerType: kinds.IntType(32),
    T.LongType: kinds.IntType(64),
    T.FloatType: kinds.FloatType(32),
    T.DoubleType: kinds.FloatType(64),
    T.BooleanType: kinds.BoolType(),
    T.BinaryType: kinds.BytesType(),
    T.StringType: kinds.TextType(),
    T.VarcharType: kinds.TextType(),
    T.CharType: kinds.TextType(),
    T.DateType: kinds.DateType(),
    T.TimestampType: kinds.TimestampType(_FRACTION, zone=UTC),
    T.TimestampNTZType: kinds.DatetimeType(_FRACTION),
}


@dataclass(frozen=True, slots=True)
class SparkTable:
    """A table that Spark reads: a URL, or the DataFrame of a program."""

    spark: SparkSession
    frame: DataFrame
    known: Mapping[str, kinds.Type]
    url: TableUrl | None
    engine: str = "spark"
    is_exact: bool = False

    @classmethod
    def of(cls, spark: SparkSession, table: Rows) -> SparkTable:
        """Return a table, opened. Raises: what Spark raises."""
        if isinstance(table, DataFrame):
            return cls(spark, table, {}, None)
        with readable_table_errors(spark, table):
            return cls(spark, *read_table(spark, table), table)

    def __str__(self) -> str:
        return "a DataFrame" if self.url is None else str(self.url)

    @property
    def workers(self) -> SparkWorkers:
        """Those who read the feed."""
        return SparkWorkers(self.spark)

    def begin(self, options: CompareOptions) -> None:
        """Prepare the place for all differences. Raises: SchemaError if it is not empty."""
        SparkEngine(self.spark).begin(options)

    def canonical(self, feed: CanonicalTable) -> CanonicalTable:
        """Return the columns of the table with their types, by the feed's name of it.

        Raises: SchemaError.
        """
        columns = tuple(
            TableColumn(field.name, self.known.get(field.name) or _kind(field.dataType, field.name))
            for field in self.frame.schema.fields
        )
        return CanonicalTable(feed.schema, feed.table, columns, None)

    def compared(
        self, feed: OpenedFeed, table: TableRules, options: CompareOptions, report: Report
    ) -> TableComparison:
        """Compare the last rows of the feed with the rows of the table."""
        own = table.table
        task = TableTask(own, feed, feed, table.rules, frozenset())
        of_feed = SparkEngine(self.spark).side(feed, task, options)
        schema = spark_schema(job_for(feed, own, options))
        rows = table_rows(self.frame, own, schema, table.names)
        return compare_large(
            self.spark,
            compared_table(own, frozenset(), table.rules, options),
            (
                lambda send: of_feed(lambda number, batch: send(number, without_presence(batch))),
                lambda send: sent_frame(rows, send),
            ),
            lambda text: report(f"{own}: {text}"),
        )


def _kind(kind: T.DataType, name: str) -> kinds.Type:
    if isinstance(kind, T.DecimalType):
        return kinds.DecimalType(kind.precision, kind.scale)
    if isinstance(kind, T.ArrayType):
        return kinds.ArrayType(_kind(kind.elementType, name))
    found = _PLAIN_KINDS.get(type(kind))
    if found is None:
        raise SchemaError(
            f"column {name} of the table is {kind.simpleString()}, which no column of a feed is; "
            "leave it out (--columns)"
        )
    return found


def table_rows(
    frame: DataFrame, table: CanonicalTable, feed: T.StructType, columns: Mapping[str, str]
) -> DataFrame:
    """Return the rows of a table as inserts, in the form that the feed's frame has.

    ``columns``: the table's names of columns, by the feed's, where they differ.
    """
    image = feed["after"].dataType
    assert isinstance(image, T.StructType)
    values = [
        _value(
            F.col(column_name(columns.get(name, name))), frame.schema[columns.get(name, name)], kind
        )
        for name, kind in zip(table.column_names, image.fields, strict=True)
    ]
    rows = frame.select(
        *(value.alias(field.name) for value, field in zip(values, image.fields, strict=True))
    )
    documents = [
        field.name
        for column, field in zip(table.columns, image.fields, strict=True)
        if isinstance(column.type, kinds.JsonType)
    ]
    if documents:
        rows = _with_normal_json(rows, documents)
    after = F.struct(*(F.col(column_name(field.name)) for field in image.fields))
    nothing = {
        field.name: F.lit(None).cast(field.dataType)
        for field in feed.fields
        if field.name not in ("before", "after", "op")
    }
    return rows.select(
        F.lit("insert").alias("op"),
        F.lit(None).cast(image).alias("before"),
        after.cast(image).alias("after"),
        *(value.alias(name) for name, value in nothing.items()),
    )


def _value(value: Column, field: T.StructField, wanted: T.StructField) -> Column:
    """Return a value of a table in the type that the feed's image has."""
    if isinstance(field.dataType, T.TimestampType) and isinstance(wanted.dataType, T.StringType):
        value = F.to_utc_timestamp(value, F.current_timezone())
    return value.cast(wanted.dataType)


def _with_normal_json(rows: DataFrame, documents: Sequence[str]) -> DataFrame:
    """Return the rows with these columns in the one form of their JSON, as feeds have it."""

    def converted(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for name in documents:
                place = batch.schema.get_field_index(name)
                texts = normal_json_array(batch.column(place).cast(pa.string()))
                batch = batch.set_column(place, name, texts)
            yield batch

    return rows.mapInArrow(converted, rows.schema)


def read_table(spark: SparkSession, table: TableUrl) -> tuple[DataFrame, Mapping[str, kinds.Type]]:
    """Return the rows of a table, and the kinds that a database says. Raises: what Spark raises."""
    if table.kind == "table":
        return spark.read.table(table.place), {}
    if table.kind != "jdbc":
        return spark.read.format(table.kind).load(table.place), {}
    return read_database_table(spark, table)


def files_of_table(spark: SparkSession, table: TableUrl) -> Iterator[InputFile]:
    """Yield the files of a table, with their sums; none for a table whose files Spark hides."""
    if table.kind == "jdbc":
        return
    with readable_table_errors(spark, table):
        paths = [unquote(path) for path in read_table(spark, table)[0].inputFiles()]
    folder = commonprefix(paths).rpartition("/")[0]  # noqa: RUF071  (commonpath spoils URLs)
    for path in paths:
        yield file_in(HadoopStore(spark, folder), path.removeprefix(f"{folder}/"))
