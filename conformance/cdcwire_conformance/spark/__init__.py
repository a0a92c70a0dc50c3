"""Feeds as DataFrames: sources, their tables, and their row changes, decoded in Spark.

Needs the extra ``spark``; docs/spark.md shows how it is used. The names here are
loaded when they are first asked for, and without the extra a MissingExtraError says in one line how
to get it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from cdcwire_conformance.extras import load_extra

if TYPE_CHECKING:
    from cdcwire_conformance.spark.datasource import register_datasource
    from cdcwire_conformance.spark.decode import (
        decode_frame,
        decode_kafka_frame,
        errors_frame,
        flat,
        good_rows,
    )
    from cdcwire_conformance.spark.describe import Described, describe_feed
    from cdcwire_conformance.spark.jars import kafka_jars, s3a_jars
    from cdcwire_conformance.spark.opening import OpenedSource, open_source
    from cdcwire_conformance.spark.reading import FeedError
    from cdcwire_conformance.spark.session import SparkUnavailable, readable_errors, spark_session
    from cdcwire_conformance.spark.sources import Source, SourceError, parse_source
    from cdcwire_conformance.spark.streaming import decode_stream, stream_to_parquet

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

_ROOMS = {
    "datasource": ("register_datasource",),
    "decode": ("decode_frame", "decode_kafka_frame", "errors_frame", "flat", "good_rows"),
    "describe": ("Described", "describe_feed"),
    "jars": ("kafka_jars", "s3a_jars"),
    "opening": ("OpenedSource", "open_source"),
    "reading": ("FeedError",),
    "session": ("SparkUnavailable", "readable_errors", "spark_session"),
    "sources": ("Source", "SourceError", "parse_source"),
    "streaming": ("decode_stream", "stream_to_parquet"),
}
_ROOM_OF = {name: room for room, names in _ROOMS.items() for name in names}


def __getattr__(name: str) -> Any:
    room = _ROOM_OF.get(name)
    if room is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    for library in ("pyspark", "pyarrow", "pandas"):
        load_extra(library, "spark", "a DataFrame of a feed")
    return getattr(import_module(f"{__name__}.{room}"), name)
