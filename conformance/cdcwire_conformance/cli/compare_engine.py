"""The engine that ``cdcwire compare`` runs on, Spark or this process, and a table on the right."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from cdcwire.console.problems import UsageError
from cdcwire.extras import MissingExtraError, load_extra
from cdcwire.files.line_files import UNPACKED, is_compressed
from cdcwire.files.stores import is_url
from cdcwire.identify.auto import AUTO
from cdcwire.registry import FORMAT_NAMES
from cdcwire_conformance.cli.compare_arguments import (
    EMBEDDED,
    MAX_BYTES,
    SPARK,
    CompareArguments,
)
from cdcwire_conformance.sources.databases import has_driver, is_readable, load_driver
from cdcwire_conformance.sources.source_urls import Source
from cdcwire_conformance.sources.tables import CSV, TableUrl, files_here, parse_table_url

_NOT_FOR_TABLES = (
    *("follow", "allow_repeats", "no_order", "no_split"),
    *("no_before", "map_table", "map_column", "ddl_events", "profile", "without_snapshots"),
)


def table_argument(arguments: CompareArguments) -> TableUrl | None:
    """Return the table on the right; None for a feed.

    For a table, the options of the right side become those of the left, so that the rest of the
    command has two feeds. ``--right-binary`` applies to the table itself. Raises: UsageError,
    SourceError.
    """
    for place in (arguments.left, arguments.right):
        _check_no_export(place)
    if parse_table_url(arguments.left) is not None:
        raise UsageError("a table is the second argument, after the feed")
    table = parse_table_url(arguments.right)
    if arguments.csv_null is not None and (table is None or table.kind != CSV):
        raise UsageError(f"--csv-null applies to a table {CSV}:FILE")
    if table is None:
        return None
    for name in _NOT_FOR_TABLES:
        if getattr(arguments, name):
            raise UsageError(f"--{name.replace('_', '-')} does not go with a table")
    if arguments.on_error == "row":
        raise UsageError("--on-error row does not go with a table: all messages are needed")
    of_feeds = [name for name in vars(arguments) if name.startswith("right_")]
    for name in (name for name in of_feeds if name != "right_binary"):
        if getattr(arguments, name):
            raise UsageError(f"--{name.replace('_', '-')}: the right side is a table")
        setattr(arguments, name, getattr(arguments, name.replace("right_", "left_")))
    arguments.right = arguments.left
    arguments.mode = "final"
    return table


def _check_no_export(place: str) -> None:
    """Refuse a file that a database wrote, bare or after a format. Raises: UsageError."""
    name, _, rest = place.partition(":")
    path = rest.removeprefix("file:") if name in (AUTO, *FORMAT_NAMES) else place
    file = Path(path)
    if file.suffix not in (".csv", ".sql") or not file.is_file() or _begins_with_object(file):
        return
    if file.suffix == ".csv":
        a_prefix = "; a feed of CSV is its directory" if path != place else ""
        raise UsageError(
            f"{place!r}: a table as CSV is {CSV}:file:{path}, with definitions{a_prefix}"
        )
    raise UsageError(
        f"{place!r}: compare does not read dumps. Load it into a database for "
        f"jdbc:URL?table=NAME, or export the table for {CSV}:file:FILE"
    )


def _begins_with_object(file: Path) -> bool:
    """Return whether a file has JSON lines, whatever its name."""
    try:
        with file.open("rb") as opened:
            return opened.read(1) == b"{"
    except OSError:
        return True  # whoever reads it says why it can't be read


def needs(table: TableUrl | None) -> list[str]:
    """Return what Spark needs a connector for."""
    return [] if table is None else [name for name in (table.scheme, table.connector) if name]


def runs_embedded(
    arguments: CompareArguments, sources: Sequence[Source], table: TableUrl | None
) -> bool:
    """Return whether the embedded engine compares. Raises: UsageError if it can't, but has to."""
    reason = _needs_spark(arguments, sources, table)
    if table is not None and table.kind == CSV:
        if arguments.engine == SPARK or reason is not None:
            why = reason or f"--engine {SPARK} does not read it"
            raise UsageError(f"{table}: CSV is read in this process, without Spark: {why}")
        return True
    if arguments.engine == SPARK:
        return False
    if arguments.engine == EMBEDDED:
        if reason is not None:
            raise UsageError(f"--engine embedded: {reason}; use --engine spark")
        return True
    is_submitted = "PYSPARK_GATEWAY_PORT" in os.environ  # spark-submit has started Java
    if reason is not None or is_submitted:
        return False
    if table is not None and table.kind == "jdbc" and not has_driver(table):
        return find_spec("pyspark") is None
    size = sum(map(_size, sources)) if table is None else _size(sources[0]) + _size_of_table(table)
    return size <= MAX_BYTES


def load_engine(
    arguments: CompareArguments,
    sources: Sequence[Source],
    table: TableUrl | None,
    *,
    is_embedded: bool,
) -> None:
    """Check that the libraries of the engine are installed. Raises: MissingExtraError."""
    if is_embedded:
        for library in ("pyarrow", "numpy"):
            load_extra(library, "compare", "compare")
        if table is not None and table.kind == "jdbc":
            load_driver(table)
        return
    try:
        load_extra("pyspark", "spark", "compare")
    except MissingExtraError as error:
        raise MissingExtraError(f"{error}{alternative(arguments, sources, table)}") from error


def alternative(
    arguments: CompareArguments, sources: Sequence[Source], table: TableUrl | None
) -> str:
    """Return how to compare without Spark, for the end of an error; "" if only Spark can."""
    if _needs_spark(arguments, sources, table) is not None:
        return ""
    return f"; or compare in this process, with all rows in memory: --engine {EMBEDDED}"


def _needs_spark(
    arguments: CompareArguments, sources: Sequence[Source], table: TableUrl | None
) -> str | None:
    """Return why only Spark can compare; None if this process can too."""
    for name in ("follow", "master", "conf"):
        if getattr(arguments, name):
            return f"--{name} needs Spark"
    if table is not None and (reason := _table_needs_spark(table)) is not None:
        return reason
    for source in sources:
        if is_url(source.folder) or source.kind not in ("jsonl", "prefix"):
            return f"only Spark reads {source}"
    if arguments.temporal != "text":
        return "--temporal native compares Spark's types"
    if arguments.differences and is_url(arguments.differences):
        return f"only Spark writes to {arguments.differences}"
    return None


def _table_needs_spark(table: TableUrl) -> str | None:
    if table.kind == CSV:
        return None
    if table.kind == "jdbc" and is_readable(table):
        return None
    if table.kind != "parquet" or is_url(table.place):
        return f"only Spark reads {table}"
    folders = {file.parent.relative_to(table.place) for file in files_here(table)}
    if any("=" in str(folder) for folder in folders):
        return f"only Spark reads the partitions of {table}"
    return None


def _size(source: Source) -> int:
    """Return how many bytes the files of a directory have, before compression."""
    if source.kind == "jsonl":
        files = list(map(Path, source.files))
    else:
        files = [path for path in Path(source.folder).rglob("*") if path.is_file()]
    return sum(
        each.stat().st_size * (UNPACKED if is_compressed(str(each)) else 1) for each in files
    )


def _size_of_table(table: TableUrl) -> int:
    if table.kind == "jdbc":
        return 0  # a database does not say it; rows beyond the memory are in a file
    return sum(file.stat().st_size for file in files_here(table)) * UNPACKED


def spark_settings(arguments: Sequence[str]) -> dict[str, str]:
    """Return the settings that --conf gives. Raises: UsageError."""
    settings = {}
    for argument in arguments:
        key, equals, value = argument.partition("=")
        if not equals or not key:
            raise UsageError(f"--conf {argument!r} is not KEY=VALUE")
        settings[key] = value
    return settings
