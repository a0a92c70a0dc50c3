"""Feeds as DataFrames: sources, their tables, and their row changes, decoded in Spark.

Needs the extra ``spark``; docs/how-to/spark.md shows how it is used. The names here are
loaded when they are first asked for, and without the extra a MissingExtraError says in one line how
to get it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from cdcwire.extras import load_extra

if TYPE_CHECKING:
    from cdcwire_conformance.decode.describe import Described
    from cdcwire_conformance.decode.opening import OpenedSource
    from cdcwire_conformance.decode.reading import FeedError
    from cdcwire_conformance.sources.source_urls import Source, SourceError, parse_source
    from cdcwire_conformance.spark.jars import kafka_jars, s3a_jars
    from cdcwire_conformance.spark.reading.datasource import register_datasource
    from cdcwire_conformance.spark.reading.frames import (
        decode_frame,
        decode_kafka_frame,
        errors_frame,
        flat,
        good_rows,
    )
    from cdcwire_conformance.spark.reading.opening import describe_feed, open_source
    from cdcwire_conformance.spark.reading.streaming import decode_stream, stream_to_parquet
    from cdcwire_conformance.spark.session import SparkUnavailable, readable_errors, spark_session

__all__ = [
    "Described",
    "FeedError",
    "OpenedSource",
    "Source",
    "SourceError",
    "SparkUnavailable",
    "decode_frame",
    "decode_kafka_frame",
    "decode_stream",
    "describe_feed",
    "errors_frame",
    "flat",
    "good_rows",
    "kafka_jars",
    "open_source",
    "parse_source",
    "readable_errors",
    "register_datasource",
    "s3a_jars",
    "spark_session",
    "stream_to_parquet",
]

_DECODE = "cdcwire_conformance.decode"
_HERE = "cdcwire_conformance.spark"
_MODULES = {
    f"{_HERE}.reading.datasource": ("register_datasource",),
    f"{_DECODE}.describe": ("Described",),
    f"{_HERE}.reading.frames": (
        "decode_frame",
        "decode_kafka_frame",
        "errors_frame",
        "flat",
        "good_rows",
    ),
    f"{_DECODE}.opening": ("OpenedSource",),
    f"{_DECODE}.reading": ("FeedError",),
    f"{_HERE}.reading.opening": ("describe_feed", "open_source"),
    f"{_HERE}.reading.streaming": ("decode_stream", "stream_to_parquet"),
    f"{_HERE}.jars": ("kafka_jars", "s3a_jars"),
    f"{_HERE}.session": ("SparkUnavailable", "readable_errors", "spark_session"),
    "cdcwire_conformance.sources.source_urls": ("Source", "SourceError", "parse_source"),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    module = _MODULE_OF.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    for library in ("pyspark", "pyarrow", "pandas"):
        load_extra(library, "spark", "a DataFrame of a feed")
    return getattr(import_module(module), name)
