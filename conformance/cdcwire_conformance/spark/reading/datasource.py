"""``spark.read.format("cdcwire")``: a directory of messages, or a storage prefix, as a data source.

Spark plans a data source in a separate process without a session. Only this process does the work
before rows are decoded. A feed that needs a session, such as a topic or a bucket, is read by
``decode_frame``.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn, get_args

import pyarrow as pa
from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceStreamReader,
    InputPartition,
)
from pyspark.sql.types import StructType

from cdcwire.arrow.schema import CanonicalTable, canonical_table
from cdcwire.arrow.types import Profile, SchemaError, Temporal
from cdcwire.console.problems import UsageError
from cdcwire.core.context import Context
from cdcwire.ddl import read_ddl_file
from cdcwire.extras import MissingExtraError
from cdcwire.files.feed_file import read_tables
from cdcwire.model.events import Table, TableName
from cdcwire.schema_registry import RegistryError, open_schemas
from cdcwire_conformance.decode.describe import survey_feed
from cdcwire_conformance.decode.opening import OpenedSource, open_source, ready_job
from cdcwire_conformance.decode.reading import FeedError, Job, decode_pieces
from cdcwire_conformance.decode.stored_rows import decode_files, problem_batches
from cdcwire_conformance.decode.workers import HERE, SHARE_BYTES, Work, work_of_files, work_of_lines
from cdcwire_conformance.sources.source_urls import Source, SourceError, parse_source
from cdcwire_conformance.spark.reading.frames import OtherColumns, spark_schema

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NAME = "cdcwire"
OF_PRODUCER = "option."

_CHOICES: Mapping[str, tuple[str, ...]] = {
    "on_error": ("stop", "row"),
    "temporal": get_args(Temporal),
    "profile": get_args(Profile),
    "other_columns": get_args(OtherColumns),
    "describe": ("true", "false"),
}
OPTIONS = frozenset(
    {
        "format",
        "path",
        "table",
        "columns",
        "ddl",
        "tables",
        "schema",
        "time_zone",
        "share_bytes",
        *_CHOICES,
    }
)


def register_datasource(spark: SparkSession) -> None:
    """Make ``spark.read.format("cdcwire")`` known to a session."""
    spark.dataSource.register(FeedSource)


class FeedSource(DataSource):  # type: ignore[misc]  # PySpark's types are not looked into
    """One table of a feed in files. Its options are those of ``decode_frame``, as texts."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self.options = dict(options)
        self._plan: _Plan | None = None

    @classmethod
    def name(cls) -> str:
        """Return the name of the data source, for ``spark.read.format``."""
        return NAME

    def schema(self) -> StructType:
        """Return the schema of the table's rows."""
        return spark_schema(self._planned().job)

    def reader(self, schema: StructType) -> DataSourceReader:
        """Return the reader of the table. Raises: SourceError if the schema is another one."""
        plan = self._planned()
        if schema != spark_schema(plan.job):
            raise SourceError(
                "the schema follows from the table: choose columns instead of a schema"
            )
        return _Reader(plan)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802
        """Return a reader that refuses to begin: Spark shows no error of this method itself."""
        return _NoStream()

    def _planned(self) -> _Plan:
        """Return the plan. It is made once: Spark keeps this object."""
        if self._plan is None:
            with _short_errors():
                self._plan = _plan_of(self.options)
        return self._plan


@contextlib.contextmanager
def _short_errors() -> Iterator[None]:
    """Let Spark report an error of this process by its line, without the traceback.

    Spark runs a data source in processes of its workers, and has a switch for each of them.
    """
    try:
        yield
    except (SourceError, FeedError, SchemaError):
        os.environ["SPARK_HIDE_TRACEBACK"] = "1"
        raise


@dataclass(frozen=True, slots=True)
class _Plan:
    """The job for workers, and the shares of the feed."""

    opened: OpenedSource
    job: Job
    work: Work[Any]


class _Share(InputPartition):  # type: ignore[misc]
    """A part of a feed; None: the unreadable files."""

    def __init__(self, value: Sequence[Any] | None) -> None:
        super().__init__(value)
        self.share = value


class _Reader(DataSourceReader):  # type: ignore[misc]
    def __init__(self, plan: _Plan) -> None:
        self._job = plan.job
        self._shares = plan.work.shares
        prefix = plan.opened.prefix
        self._folder = None if prefix is None else prefix.folder
        self._checkpoint = None if prefix is None else prefix.checkpoint
        name = plan.job.table.schema, plan.job.table.table
        self._problems = [] if prefix is None else prefix.problems_of([name])

    def partitions(self) -> Sequence[InputPartition]:
        # Spark needs at least one, even if it is empty.
        shares = [_Share(share) for share in self._shares]
        return [_Share(None), *shares] if self._problems or not shares else shares

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, _Share)
        with _short_errors():
            if partition.share is None:
                yield from problem_batches(self._job, self._problems)
            elif self._folder is None:
                yield from decode_pieces(self._job, partition.share)
            else:
                yield from decode_files(self._job, self._folder, self._checkpoint, partition.share)


class _NoStream(DataSourceStreamReader):  # type: ignore[misc]
    def initialOffset(self) -> dict[str, str]:  # noqa: N802
        _refuse_to_stream()

    def latestOffset(self) -> dict[str, str]:  # noqa: N802
        _refuse_to_stream()

    def partitions(self, start: object, end: object) -> Sequence[InputPartition]:
        _refuse_to_stream()

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        _refuse_to_stream()


def _refuse_to_stream() -> NoReturn:
    with _short_errors():
        raise SourceError(
            "format cdcwire reads a feed at rest; use decode_stream for a topic as a stream"
        )


def _plan_of(options: Mapping[str, str]) -> _Plan:
    """Return the plan of the options. Raises: SourceError, SchemaError, FeedError: one line."""
    own = {n: value for n, value in options.items() if not n.lower().startswith(OF_PRODUCER)}
    producer = {
        name[len(OF_PRODUCER) :]: value
        for name, value in options.items()
        if name.lower().startswith(OF_PRODUCER)
    }
    own = {name.lower(): value for name, value in own.items()}
    _check(own)
    try:
        source = parse_source(f"{own['format']}:{own['path']}")
        if source.topic is not None or source.kind == "place":
            raise SourceError(
                f"{source}: a data source has no session to reach it: use decode_frame"
            )
        if source.has_records:
            raise SourceError(
                f"{source}: a data source reads JSON lines: use decode_frame for Parquet"
            )
        tables = _definitions(own)
        place = own.get("schema")
        context = Context(
            options=producer, tables=tables, schemas=open_schemas(place, None) if place else {}
        )
        return _planned(source, context, own)
    except (SourceError, FeedError, SchemaError):
        raise
    except OSError as error:
        raise SourceError(f"{error.filename}: can't be read: {error.strerror}") from error
    except (UsageError, RegistryError, MissingExtraError, ValueError) as error:
        raise SourceError(" ".join(str(error).split())) from error


def _check(options: Mapping[str, str]) -> None:
    for name in options:
        if name not in OPTIONS:
            known = ", ".join(sorted(OPTIONS))
            raise SourceError(
                f"option {name!r} is unknown: use one of {known}, or {OF_PRODUCER}NAME for a "
                "setting of the producer"
            )
    for name in ("format", "path"):
        if not options.get(name):
            what = '.option("format", NAME)' if name == "format" else '.load("file:DIR")'
            raise SourceError(f"the {name} of the feed is missing: {what}")
    for name, choices in _CHOICES.items():
        if options.get(name, choices[0]) not in choices:
            allowed = ", ".join(choices)
            raise SourceError(f"option {name!r} is one of {allowed}, not {options[name]!r}")
    if not options.get("share_bytes", "1").isdecimal() or options.get("share_bytes") == "0":
        raise SourceError(f"option 'share_bytes' is a number of bytes, as {SHARE_BYTES}")


def _definitions(options: Mapping[str, str]) -> tuple[Table, ...]:
    found = read_tables(options["tables"]) if "tables" in options else ()
    return found + (read_ddl_file(options["ddl"]) if "ddl" in options else ())


def _planned(source: Source, context: Context, options: Mapping[str, str]) -> _Plan:
    on_error: Any = options.get("on_error", "stop")
    profile: Any = options.get("profile")
    temporal: Any = options.get("temporal", "text")
    wanted = _name_of(options["table"]) if "table" in options else None
    is_described = options.get("describe", "true") == "true"
    opened = open_source(source, context, on_error, counts=is_described)
    known = [canonical_table(table) for table in opened.defined(context.tables)]
    if is_described:
        found = survey_feed(opened, definitions=context.tables, on_error=on_error)
        known = [each.table for each in found.tables]
    elif not known:
        raise SourceError("describe=false needs the tables of the feed: option ddl or tables")
    table = _chosen(known, wanted, source)
    if "columns" in options:
        columns = [name.strip() for name in options["columns"].split(",")]
        strange = sorted(set(columns) - set(table.column_names))
        if strange:
            raise SourceError(f"table {table} has no column {', '.join(strange)}")
        table = table.with_columns(columns)
    time_zone, is_jsonl = options.get("time_zone", "UTC"), source.kind == "jsonl"
    job = Job(
        source.format, opened.context, table, temporal, profile, time_zone, on_error, is_jsonl
    )
    skips_others = "columns" in options or options.get("other_columns") == "skip"
    job = ready_job(job, skips_others=skips_others)
    share_bytes = int(options["share_bytes"]) if "share_bytes" in options else None
    work: Work[Any]
    if opened.prefix is None:
        work = work_of_lines(opened.source, HERE.count, share_bytes)
    else:
        files = opened.prefix.files_of([(table.schema, table.table)])
        work = work_of_files(opened.prefix.folder, files, HERE.count, share_bytes)
    return _Plan(opened, job, work)


def _name_of(text: str) -> TableName:
    schema, _, table = text.rpartition(".")
    return schema or None, table


def _chosen(
    tables: Iterable[CanonicalTable], wanted: TableName | None, source: Source
) -> CanonicalTable:
    """Return the table that is wanted, or the only one. Raises: SourceError."""
    tables = list(tables)
    names = ", ".join(sorted(map(str, tables))) or "none"
    if wanted is None:
        if len(tables) == 1:
            return tables[0]
        raise SourceError(f"{source}: choose one of its tables by option 'table': {names}")
    schema, name = wanted
    found = [
        each for each in tables if each.table == name and (schema is None or each.schema == schema)
    ]
    if len(found) != 1:
        problem = "has several tables" if found else "has no table"
        raise SourceError(f"{source}: {problem} {'.'.join(filter(None, wanted))}; it has {names}")
    return found[0]
