"""Feeds as DataFrames: sources, their tables, and their row changes, decoded in Spark.

Needs the extra ``spark``. See the page "DataFrames".
"""

from cdcwire_conformance.spark.decode import decode_frame, errors_frame, flat, good_rows
from cdcwire_conformance.spark.describe import Described, describe_feed
from cdcwire_conformance.spark.reading import FeedError
from cdcwire_conformance.spark.session import SparkUnavailable, readable_errors, spark_session
from cdcwire_conformance.spark.sources import Source, SourceError, parse_source

__all__ = [
    "Described",
    "FeedError",
    "Source",
    "SourceError",
    "SparkUnavailable",
    "decode_frame",
    "describe_feed",
    "errors_frame",
    "flat",
    "good_rows",
    "parse_source",
    "readable_errors",
    "spark_session",
]
