"""The last row of each key in a feed against a table: Parquet, Delta, Iceberg, JDBC, any DataFrame.

The rows of the table are taken as inserts, without a position, of a side that knows nothing else.
So both sides have the form of last rows (see ``final_state``). A table has no absent columns: an
absent column of the feed counts as NULL.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from os.path import commonprefix
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import unquote

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from cdcwire.arrow.json_form import normal_json_array
from cdcwire.arrow.schema import CanonicalTable, name_text
from cdcwire.arrow.types import UTC, SchemaError
from cdcwire.model import kinds
from cdcwire.model.kinds import Column as TableColumn
from cdcwire.model.names import TableName
from cdcwire_conformance.compare.feed import ComparedFeed, OpenedFeed, named_like
from cdcwire_conformance.compare.feed_terms import facts_of
from cdcwire_conformance.compare.final_tables import check_keys, last_tables
from cdcwire_conformance.compare.hints import column_hint
from cdcwire_conformance.compare.merging import merged_table
from cdcwire_conformance.compare.notes import (
    check_all_read,
    checkpoint_notes,
    clock_notes,
    unread_of,
    unused_definitions,
    window_note,
)
from cdcwire_conformance.compare.record import InputFile
from cdcwire_conformance.compare.recording import file_in
from cdcwire_conformance.compare.reshaping import ReshapedSide, reshaped_tables, unfillable
from cdcwire_conformance.compare.result import Comparison, TableComparison
from cdcwire_conformance.compare.rules import (
    DEFAULT_OPTIONS,
    CompareOptions,
    final_rules,
    terms_of,
)
from cdcwire_conformance.ddl.schemas import schema_notes
from cdcwire_conformance.sources.tables import TableUrl
from cdcwire_conformance.spark.compare.changes import compare_frames
from cdcwire_conformance.spark.compare.database_rows import read_database_table
from cdcwire_conformance.spark.compare.differences import begin_differences
from cdcwire_conformance.spark.compare.engine import decoded, placed, with_changed_values
from cdcwire_conformance.spark.compare.images import column_name
from cdcwire_conformance.spark.compare.table_errors import readable_table_errors
from cdcwire_conformance.spark.hadoop import HadoopStore
from cdcwire_conformance.spark.reading.workers import SparkWorkers

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Rows: TypeAlias = "TableUrl | DataFrame"

_NOT_IN_A_TABLE = (
    ("NULL against absent", "a table has no absent columns"),
    ("positions and earlier changes", "a table has the last rows only"),
)
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


def compare_table(
    spark: SparkSession,
    feed: ComparedFeed,
    table: Rows,
    options: CompareOptions = DEFAULT_OPTIONS,
    report: Callable[[str], None] = lambda text: None,
    inspect: Callable[[OpenedFeed], None] = lambda feed: None,
) -> Comparison:
    """Compare the last row of each key in a feed with the rows of a table.

    ``options.include`` names the table of the feed if it has several, unless the table has the same
    name. With ``options.window`` only the changes in it are replayed; if it has a start, rows that
    only the table has are not compared. ``inspect`` is called with the feed at the end. Raises:
    SchemaError when there is nothing to compare; as ``compare_feeds``.
    """
    start = time.monotonic()
    if options.differences_to is not None:
        begin_differences(spark, options.differences_to)
    known: Mapping[str, kinds.Type] = {}
    if isinstance(table, DataFrame):
        frame = table
    else:
        with readable_table_errors(spark, table):
            frame, known = read_table(spark, table)
    report("looking for the tables of the feed")
    workers = SparkWorkers(spark)
    opened = feed.open(options, workers)
    notes = list(schema_notes(options.definitions, opened.opened.names))
    options = options.defined_in(opened.opened.defined)
    opened, own = opened.described(options, workers=workers)
    terms = terms_of(
        opened.side,
        opened.side,
        is_windowed=options.window is not None,
        facts=facts_of(opened, opened, list(own), options),
    )
    opened, own = opened.with_last_state(own, terms.order, options)
    name = _table_name(own, table if isinstance(table, TableUrl) else None, options)
    why = opened.state.unknown.get(opened.own_name(name))
    if why is not None:
        raise SchemaError(f"the last rows of {name_text(name)} are not known: {why}")
    named, aliases = named_like(
        {name: _canonical(frame, name, known)}, {name: own[name]}, "table", str.lower
    )
    last = last_tables(own[name], named[name], opened.last_columns(own[name]), None)
    reshapings = opened.state.reshaped.get(opened.own_name(name), ())
    reshaped = reshaped_tables(
        ReshapedSide("left", last[0], reshapings), ReshapedSide("right", last[1])
    )
    last = reshaped.tables[0], reshaped.tables[1]
    unknown = options.meaning.unknown([*own.values(), *named.values()])
    if unknown:
        raise SchemaError(unknown[0])
    met = merged_table(*last, options)
    check_keys([met])
    merged = met.merged
    why = reshaped.unknown or unfillable(met.table, reshaped.sides[0], options.temporal)
    if why is not None:
        raise SchemaError(f"the last rows of {name_text(name)} are not known: {why}")
    opened = replace(opened, fills={name: reshaped.sides[0].fills})
    if options.window is not None and terms.rules.position is None:
        raise SchemaError(f"{opened.side.format.name} has no position here, so it has no window")
    if terms.rules.leaves_deletes:
        raise SchemaError(
            f"deletes of {opened.side.format.name} have no position, so a window has no last rows"
        )
    has_start = options.window is not None and options.window.start is not None
    rules = replace(final_rules(terms.rules), against_table=True, leaves_left_over=has_start)
    left_out = list(_NOT_IN_A_TABLE)
    if has_start:
        reason = "the feed is read from a position on, so it need not have their keys"
        left_out.append(("rows that only the table has", reason))
    notes += [] if options.window is None else [window_note(rules, options.window)]
    rows = opened.facts.rows
    notes += checkpoint_notes([("left", opened)])
    notes += options.meaning.without_rows(rows, rows, options.include)
    notes += unused_definitions(options, {*own, *rows})
    own_name = opened.own_name(name)
    notes += opened.state.notes.get(own_name, ())
    notes += reshaped.notes
    left_out += reshaped.left_out
    found = Comparison(
        str(feed.source),
        str(table) if isinstance(table, TableUrl) else "a DataFrame",
        (),
        compared=("last rows",),
        left_out=tuple(left_out),
        notes=tuple(notes),
        is_exact=options.exact,
        engine="spark",
        unread=tuple(unread_of([("left", opened)])),
        ignores_unread=options.meaning.ignores_unread,
        unwanted=met.unwanted,
        hints=tuple(column_hint(*last, options)),
    )
    if merged.differences and not options.common:
        compared = TableComparison(
            str(merged.table), None, schema_differences=merged.differences, notes=merged.notes
        )
    else:
        rows = decoded(spark, opened, merged.table, options, rules.position)
        rows = rows.drop("before_has", "after_has")
        alias = aliases.get(name)
        columns = {} if alias is None else alias.columns
        compared = compare_frames(
            with_changed_values(placed(rows, opened), merged.table, options, "left"),
            with_changed_values(
                table_rows(frame, merged.table, rows.schema, columns),
                merged.table,
                options,
                "right",
            ),
            merged.table,
            rules,
            limit=options.limit,
            exact=options.exact,
            window=options.window,
            report=report,
            differences_to=options.differences_to,
            hidden=options.meaning.redacted_of(merged.table),
            mask=options.mask,
        )
        places = opened.with_lines(each.left_place for each in compared.differences)
        due = opened.with_lines(each.due_place for each in compared.differences)
        compared = replace(
            compared,
            differences=tuple(
                replace(each, left_place=place, due_place=due_place)
                for each, place, due_place in zip(compared.differences, places, due, strict=True)
            ),
            schema_differences=merged.differences,
            left_out=merged.left_out,
            notes=(
                *merged.notes,
                *(alias.notes(merged.table) if alias else ()),
                *clock_notes("left", opened, merged.table, options),
            ),
        )
    found = replace(found, tables=(compared,), seconds=time.monotonic() - start)
    check_all_read(found)
    if not found.is_different and not found.is_equal:
        raise SchemaError("nothing was compared: the feed or the table has no row")
    if not found.is_different and min(found.changes) < options.min_rows:
        raise SchemaError(f"nothing was decided: a side has fewer rows than {options.min_rows:,}")
    inspect(opened)
    return found


def _table_name(
    tables: Mapping[TableName, CanonicalTable], url: TableUrl | None, options: CompareOptions
) -> TableName:
    """Return which table of a feed is compared. Raises: SchemaError if that is not known."""
    if options.include is not None:
        missing = sorted(map(name_text, options.include - set(tables)))
        if missing:
            raise SchemaError(f"the feed has no rows of {', '.join(missing)}")
        tables = {name: each for name, each in tables.items() if name in options.include}
    if not tables:
        raise SchemaError("the feed has no row change, so there is nothing to compare")
    if len(tables) == 1:
        return next(iter(tables))
    if url is not None:
        schema, wanted = (part if part is None else part.lower() for part in url.name)
        same = [
            name
            for name in tables
            if name[1].lower() == wanted and schema in (None, (name[0] or "").lower())
        ]
        if len(same) == 1:
            return same[0]
    names = ", ".join(sorted(map(name_text, tables)))
    raise SchemaError(f"the feed has several tables; --include names one of {names}")


def _canonical(
    frame: DataFrame, name: TableName, known: Mapping[str, kinds.Type]
) -> CanonicalTable:
    """Return a table of Spark as a canonical one. ``known``: kinds that its types do not say."""
    columns = tuple(
        TableColumn(field.name, known.get(field.name) or _kind(field.dataType, field.name))
        for field in frame.schema.fields
    )
    return CanonicalTable(*name, columns, None)


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
