"""The tables of a feed, found in a first scan of it.

The pass is cheap where a format can skip columns. Rows are decoded without any, and a message is
decoded whole only when its layout is new. A feed says no more than its bytes do (Craft and Open
Protocol: no precision, no labels); a definition (``--ddl``) adds the rest. A prefix of a storage
sink has schema files, and its rows are only counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING, TypeAlias

import pyarrow as pa

from cdcwire.core.format import (
    NO_CONTEXT,
    Context,
    Format,
    TableName,
)
from cdcwire.model.events import Column, Table
from cdcwire.model.kinds import EnumType, LabelForm, SetType, TextType
from cdcwire.storage.paths import DataPath
from cdcwire_conformance.arrow.batches import MessagePlace
from cdcwire_conformance.arrow.schema import (
    CanonicalTable,
    apply_definition,
    canonical_table,
    rewritten_table,
)
from cdcwire_conformance.ddl import sent_columns
from cdcwire_conformance.sources.pieces import Piece
from cdcwire_conformance.sources.source_urls import Source, SourceError
from cdcwire_conformance.sources.stores import open_here
from cdcwire_conformance.spark.decode.opening import OpenedSource, open_source
from cdcwire_conformance.spark.decode.prefix import PrefixPlan
from cdcwire_conformance.spark.decode.reading import (
    OnError,
    messages_of_batches,
    messages_of_piece,
)
from cdcwire_conformance.spark.decode.stored_rows import StoredData, path_in, read_file
from cdcwire_conformance.spark.decode.surveying import (
    FoundTable,
    Name,
    Only,
    OtherEvents,
    Survey,
    Surveyed,
)
from cdcwire_conformance.spark.decode.work import found_in_frame, work_of_files, work_of_lines

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_Part: TypeAlias = tuple[int, Surveyed]  # the number of a share first


@dataclass(frozen=True, slots=True)
class Described:
    """A table of a feed, and how many row changes it has.

    ``ill_formed``: columns of text that is not UTF-8, as far as that was asked for.
    ``lacks_old_images``: there are updates, and none has its before image.
    """

    table: CanonicalTable
    rows: int
    ill_formed: frozenset[str] = frozenset()
    lacks_old_images: bool = False


@dataclass(frozen=True, slots=True)
class DescribedFeed:
    """The tables of a feed, and its other events."""

    tables: tuple[Described, ...]
    others: OtherEvents


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

    Parameters and errors are those of ``survey_feed``.
    """
    return survey_feed(
        spark,
        source,
        context=context,
        include=include,
        definitions=definitions,
        on_error=on_error,
        look_into_text=look_into_text,
        share_bytes=share_bytes,
        only=only,
    ).tables


def survey_feed(
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
) -> DescribedFeed:
    """Return the tables that have row changes in a feed, and its other events.

    ``source``: one that ``open_source`` made ready has its own context, and is not opened again.
    ``include``: only these. ``definitions``: what a DDL says of them. ``on_error``: "stop" fails at
    the first message that breaks its format; "row" skips it, as decoding reports it.
    ``look_into_text``: decode all, and have text columns that hold ill-formed text as bytes.
    ``only``: of messages, the row changes that count; it gets them without values. ``spark``: None
    does all of it in this process, which reaches directories without Parquet. Raises: SchemaError
    when a column has kinds that don't meet; ValueError for an option that is not known.
    """
    tables = None if include is None else frozenset(include)
    opened = open_source(spark, source, context, on_error, tables)
    source, format_ = opened.source, opened.source.format
    survey = Survey(
        format_, opened.context, tables, on_error, look_into_text, source.kind == "jsonl", only
    )
    if opened.prefix is not None:
        found = _found_in_prefix(spark, opened.prefix, survey)
    elif source.has_records:
        found = _found_in_records(spark, source, survey)
    else:
        found = _found_in_lines(spark, source, survey, share_bytes)
    rewrite = format_.rewrite_name
    if rewrite is not None:
        definitions = (rewritten_table(table, rewrite) for table in definitions)
    defined = {(table.schema, table.name): canonical_table(table) for table in definitions}
    described = tuple(
        _described(found.tables[name], defined.get(name))
        for name in sorted(found.tables, key=lambda name: (name[0] or "", name[1]))
    )
    return DescribedFeed(described, found.others)


def _described(found: FoundTable, defined: CanonicalTable | None) -> Described:
    table = _complete(found, defined)
    lacks_old_images = found.updates > 0 and not found.old_images
    return Described(table, found.rows, found.ill_formed, lacks_old_images)


def _joined(parts: Iterable[_Part]) -> Surveyed:
    """Return what all shares found, in their order."""
    found = Surveyed()
    for _, part in sorted(parts, key=itemgetter(0)):
        found = found.joined(part)
    return found


def _found_in_lines(
    spark: SparkSession | None, source: Source, survey: Survey, share_bytes: int | None
) -> Surveyed:
    def search(number: int, pieces: Sequence[Piece]) -> list[_Part]:
        messages = chain.from_iterable(map(messages_of_piece, pieces))
        open_file = pieces[0].opener if len(pieces) == 1 else open_here
        return [(number, survey.found(messages, open_file))]

    return _joined(work_of_lines(spark, source, share_bytes).found(spark, search))


def _found_in_records(spark: SparkSession | None, source: Source, survey: Survey) -> Surveyed:
    if spark is None:
        raise SourceError(f"{source}: only a Spark session reads Parquet, as with decode_frame")
    from cdcwire_conformance.spark.decode.kafka import messages_of_records

    def search(batches: Iterable[pa.RecordBatch]) -> list[_Part]:
        return [(0, survey.found(messages_of_batches(batches)))]

    return _joined(found_in_frame(messages_of_records(spark, source), search))


def _found_in_prefix(spark: SparkSession | None, prefix: PrefixPlan, survey: Survey) -> Surveyed:
    """Return the tables of a prefix, by the definitions of the versions that have rows.

    Files are read if no definition gives their tables; all files are read if the text of rows is
    wanted.
    """
    files = {file.name: file for file in prefix.files_of(survey.tables)}
    found: dict[Name, FoundTable] = {}
    unknown: list[StoredData] = []
    asked: dict[int, StoredData] = {}  # one file of each version whose rows may tell labels
    tells_labels = prefix.settings.has_labels
    for mark in prefix.counts or ():
        if not mark.rows or mark.name not in files:
            continue
        file = files[mark.name]
        defined = _definition_of(file.path, prefix.context.tables)
        if defined is None:
            unknown.append(file)
            continue
        name = defined.schema, defined.name or ""
        table = canonical_table(_as_sent(defined, survey.format))
        each = FoundTable(table, mark.rows)
        found[name] = found[name].joined(each) if name in found else each
        lacks_labels = any(_lacks_labels(column) for column in table.columns)
        # A definition of the user may lack columns that the rows name.
        if defined.version is None or (tells_labels and lacks_labels):
            asked.setdefault(id(defined), file)
    looked_into = list(files.values()) if survey.look_into_text else [*unknown, *asked.values()]
    for name, each in _survey_files(spark, prefix, survey, looked_into).tables.items():
        if name not in found:
            found[name] = each
        elif asked:
            found[name] = replace(found[name].joined(each), rows=found[name].rows)
        else:
            found[name] = replace(found[name], ill_formed=each.ill_formed)
    return Surveyed(found, OtherEvents(frozenset(prefix.ddl)))


def _as_sent(table: Table, format_: Format) -> Table:
    """Return a definition with the columns of rows, and ENUM and SET in the form of a format."""
    sends_indexes = format_.carries.kinds["enum by index"].verdict == "exact"
    form: LabelForm = "index" if sends_indexes else "label"
    columns = tuple(
        replace(column, type=replace(column.type, form=form))
        if isinstance(column.type, (EnumType, SetType))
        else column
        for column in sent_columns(table).columns or ()
    )
    return replace(table, columns=columns)


def _lacks_labels(column: Column) -> bool:
    return isinstance(column.type, (EnumType, SetType)) and column.type.labels is None


def _definition_of(path: DataPath, tables: Iterable[Table]) -> Table | None:
    """Return the definition of a file's version, else the only one that there is of its table."""
    known = [t for t in tables if (t.schema, t.name) == (path.schema, path.table) and t.columns]
    own = [table for table in known if table.version == path.version]
    return own[0] if own else known[0] if len(known) == 1 else None


def _survey_files(
    spark: SparkSession | None, prefix: PrefixPlan, survey: Survey, files: list[StoredData]
) -> Surveyed:
    if not files:
        return Surveyed()
    folder = prefix.folder

    def search(number: int, files: Sequence[StoredData]) -> list[_Part]:
        messages = (
            (MessagePlace(file=path_in(folder, file)), read_file(folder, file)) for file in files
        )
        return [(number, survey.found(messages))]

    return _joined(work_of_files(spark, folder, files).found(spark, search))


def _complete(found: FoundTable, defined: CanonicalTable | None) -> CanonicalTable:
    table = found.table if defined is None else apply_definition(found.table, defined)
    texts = {column.name for column in table.columns if isinstance(column.type, TextType)}
    return table.with_binary_text(found.ill_formed & texts)
