"""The first steps of a reader in Spark: a source made ready, and the tables that it has."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from cdcwire.core.context import NO_CONTEXT, Context
from cdcwire.model.events import Table, TableName
from cdcwire_conformance.decode import opening
from cdcwire_conformance.decode.describe import Described, survey_feed
from cdcwire_conformance.decode.opening import OpenedSource
from cdcwire_conformance.decode.reading import OnError
from cdcwire_conformance.decode.surveying import Only
from cdcwire_conformance.sources.source_urls import Source
from cdcwire_conformance.spark.reading.workers import workers_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def open_source(
    spark: SparkSession | None,
    source: Source | OpenedSource,
    context: Context,
    on_error: OnError = "stop",
    include: Iterable[TableName] | None = None,
    *,
    counts: bool = True,
) -> OpenedSource:
    """Return a source made ready; one that is opened already stays as it is.

    ``spark``: None does all of it in this process, which reaches directories only. Everything else
    and the errors are those of ``cdcwire_conformance.decode.opening.open_source``.
    """
    workers = workers_of(spark)
    return opening.open_source(source, context, on_error, include, counts=counts, workers=workers)


def describe_feed(
    spark: SparkSession | None,
    source: Source | OpenedSource,
    *,
    context: Context = NO_CONTEXT,
    include: Iterable[TableName] | None = None,
    definitions: Iterable[Table] = (),
    on_error: OnError = "stop",
    look_into_text: bool = False,
    share_bytes: int | None = None,
    only: Only | None = None,
) -> tuple[Described, ...]:
    """Return the tables that have row changes in a feed, sorted by schema and name.

    ``spark``: None does all of it in this process, which reaches directories without Parquet.
    Everything else and the errors are those of ``survey_feed``.
    """
    return survey_feed(
        source,
        context=context,
        include=include,
        definitions=definitions,
        on_error=on_error,
        look_into_text=look_into_text,
        share_bytes=share_bytes,
        only=only,
        workers=workers_of(spark),
    ).tables
