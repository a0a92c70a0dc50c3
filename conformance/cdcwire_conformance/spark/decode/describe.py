"""The tables of a feed, found in a first scan of it.

The pass is cheap where a format can skip columns. Rows are decoded without any, and a message is
decoded whole only when its layout is new. A feed says no more than its bytes do (Craft and Open
Protocol: no precision, no labels); a definition (``--ddl``) adds the rest. A prefix of a storage
sink has schema files, and its rows are only counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypeAlias

import pyarrow as pa

from cdcwire.core.errors import DecodeError
from cdcwire.core.format import (
    NO_CONTEXT,
    Context,
    Format,
    MessageDecoder,
    Selection,
    TableName,
)
from cdcwire.core.message import Message
from cdcwire.core.rows import Row
from cdcwire.model.events import Column, RowChange, Table
from cdcwire.model.kinds import EnumType, LabelForm, SetType, TextType
from cdcwire.storage.paths import DataPath
from cdcwire_conformance.arrow.batches import MessagePlace, RowProblem, problem_of
from cdcwire_conformance.arrow.decoders import DecoderAt, place_decoder
from cdcwire_conformance.arrow.schema import (
    CanonicalTable,
    apply_definition,
    canonical_table,
    rewritten_table,
    union_tables,
)
from cdcwire_conformance.ddl import sent_columns
from cdcwire_conformance.sources.pieces import Piece
from cdcwire_conformance.sources.source_urls import Source, SourceError
from cdcwire_conformance.sources.stores import OpenFile, open_here
from cdcwire_conformance.spark.decode.kafka import messages_of_records
from cdcwire_conformance.spark.decode.opening import OpenedSource, open_source
from cdcwire_conformance.spark.decode.prefix import PrefixPlan
from cdcwire_conformance.spark.decode.reading import (
    Located,
    OnError,
    few_collections,
    locate_problem,
    messages_of_batches,
    messages_of_piece,
)
from cdcwire_conformance.spark.decode.stored_rows import StoredData, path_in, read_file
from cdcwire_conformance.spark.decode.work import found_in_frame, work_of_files, work_of_lines

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_MAX_SEEN = 1 << 12

Name: TypeAlias = "tuple[str | None, str]"
Only: TypeAlias = "Callable[[Row | RowChange], bool]"


@dataclass(frozen=True, slots=True)
class Described:
    """A table of a feed, and how many row changes it has."""

    table: CanonicalTable
    rows: int


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
    survey = _Survey(
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
    return tuple(
        Described(_complete(found[name], defined.get(name)), found[name].rows)
        for name in sorted(found, key=lambda name: (name[0] or "", name[1]))
    )


def _joined(parts: Iterable[_Part]) -> dict[Name, _Found]:
    """Return what all shares found, in their order."""
    found: dict[Name, _Found] = {}
    for _, part in sorted(parts, key=itemgetter(0)):
        for name, each in part.items():
            found[name] = found[name].joined(each) if name in found else each
    return found


def _found_in_lines(
    spark: SparkSession | None, source: Source, survey: _Survey, share_bytes: int | None
) -> dict[Name, _Found]:
    def search(number: int, pieces: Sequence[Piece]) -> list[_Part]:
        messages = chain.from_iterable(map(messages_of_piece, pieces))
        open_file = pieces[0].opener if len(pieces) == 1 else open_here
        return [(number, survey.found(messages, open_file))]

    return _joined(work_of_lines(spark, source, share_bytes).found(spark, search))


def _found_in_records(
    spark: SparkSession | None, source: Source, survey: _Survey
) -> dict[Name, _Found]:
    if spark is None:
        raise SourceError(f"{source}: only a Spark session reads Parquet, as with decode_frame")

    def search(batches: Iterable[pa.RecordBatch]) -> list[_Part]:
        return [(0, survey.found(messages_of_batches(batches)))]

    return _joined(found_in_frame(messages_of_records(spark, source), search))


def _found_in_prefix(
    spark: SparkSession | None, prefix: PrefixPlan, survey: _Survey
) -> dict[Name, _Found]:
    """Return the tables of a prefix, by the definitions of the versions that have rows.

    Files are read if no definition gives their tables; all files are read if the text of rows is
    wanted.
    """
    files = {file.name: file for file in prefix.files_of(survey.tables)}
    found: dict[Name, _Found] = {}
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
        name = _name_of(defined)
        table = canonical_table(_as_sent(defined, survey.format))
        each = _Found(table, mark.rows)
        found[name] = found[name].joined(each) if name in found else each
        if tells_labels and any(_lacks_labels(column) for column in table.columns):
            asked.setdefault(id(defined), file)
    looked_into = list(files.values()) if survey.look_into_text else [*unknown, *asked.values()]
    for name, each in _survey_files(spark, prefix, survey, looked_into).items():
        if name not in found:
            found[name] = each
        elif asked:
            found[name] = replace(found[name].joined(each), rows=found[name].rows)
        else:
            found[name] = replace(found[name], ill_formed=each.ill_formed)
    return found


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
    spark: SparkSession | None, prefix: PrefixPlan, survey: _Survey, files: list[StoredData]
) -> dict[Name, _Found]:
    if not files:
        return {}
    folder = prefix.folder

    def search(number: int, files: Sequence[StoredData]) -> list[_Part]:
        messages = (
            (MessagePlace(file=path_in(folder, file)), read_file(folder, file)) for file in files
        )
        return [(number, survey.found(messages))]

    return _joined(work_of_files(spark, folder, files).found(spark, search))


@dataclass(frozen=True, slots=True)
class _Found:
    table: CanonicalTable
    rows: int
    ill_formed: frozenset[str] = frozenset()

    def joined(self, other: _Found) -> _Found:
        return _Found(
            union_tables(self.table, other.table),
            self.rows + other.rows,
            self.ill_formed | other.ill_formed,
        )


_Part: TypeAlias = tuple[int, "dict[Name, _Found]"]  # the number of a share first


def _complete(found: _Found, defined: CanonicalTable | None) -> CanonicalTable:
    table = found.table if defined is None else apply_definition(found.table, defined)
    texts = {column.name for column in table.columns if isinstance(column.type, TextType)}
    return table.with_binary_text(found.ill_formed & texts)


@dataclass(frozen=True, slots=True)
class _Survey:
    """The facts that a worker needs to describe the tables in its messages."""

    format: Format
    context: Context
    tables: frozenset[TableName] | None
    on_error: OnError
    look_into_text: bool
    has_lines: bool
    only: Only | None = None

    def found(
        self, messages: Iterable[Located], open_file: OpenFile = open_here
    ) -> dict[Name, _Found]:
        with few_collections():
            return _Surveying(self, open_file).survey(messages)


class _Surveying:
    """One scan of messages. Layouts are distinguished by identity, and kept so that it holds."""

    def __init__(self, survey: _Survey, open_file: OpenFile) -> None:
        self.survey_of = survey
        self._open_file = open_file
        self._found: dict[Name, CanonicalTable] = {}
        self._rows: dict[Name, int] = {}
        self._ill_formed: dict[Name, set[str]] = {}
        self._layouts: dict[object, tuple[tuple[Column, ...], tuple[int, ...]]] = {}
        self._shapes: dict[tuple[int, bool, bool], Table] = {}

    def survey(self, messages: Iterable[Located]) -> dict[Name, _Found]:
        everything = self._decoder(None)
        is_cheap = self.survey_of.format.skips_columns and not self.survey_of.look_into_text
        decode = self._decoder(frozenset()) if is_cheap else everything
        for place, message in messages:
            if isinstance(message, RowProblem):
                self._report(message, place)
                continue
            try:
                changes = [c for c in decode(place)(message) if isinstance(c, (Row, RowChange))]
                if is_cheap and self._has_new_shape(changes):
                    whole = [
                        c for c in everything(place)(message) if isinstance(c, (Row, RowChange))
                    ]
                    self._learn(whole)
                elif not is_cheap:
                    self._learn(changes)
            except DecodeError as error:
                self._report(problem_of(error), place)
                continue
            for change in changes:
                name = _name_of(change.table)
                self._rows[name] = self._rows.get(name, 0) + 1
        return {
            name: _Found(table, self._rows.get(name, 0), frozenset(self._ill_formed.get(name, ())))
            for name, table in self._found.items()
        }

    def _decoder(self, columns: frozenset[str] | None) -> DecoderAt:
        selection = Selection(self.survey_of.tables, columns)
        context = replace(self.survey_of.context, selection=selection)
        decoder_at = place_decoder(self.survey_of.format, context)
        tables, only = self.survey_of.tables, self.survey_of.only
        if tables is None and only is None:
            return decoder_at

        def wanted(place: MessagePlace) -> MessageDecoder:
            decode = decoder_at(place)

            def wanted_of(message: Message) -> Iterator[Any]:
                for change in decode(message):
                    if not isinstance(change, (Row, RowChange)):
                        continue
                    if tables is not None and _name_of(change.table) not in tables:
                        continue
                    if only is None or only(change):
                        yield change

            return wanted_of

        return wanted

    def _report(self, problem: RowProblem, place: MessagePlace) -> None:
        if self.survey_of.on_error == "stop":
            has_lines = self.survey_of.has_lines
            locate_problem(problem, place, "stop", has_lines, self._open_file)

    def _has_new_shape(self, changes: list[Row | RowChange]) -> bool:
        """Return whether the layout of a row is new: a new layout has a separate table object."""
        is_new = False
        for change in changes:
            if not isinstance(change, Row):
                return True
            shape = id(change.table), change.new is None, change.old is None
            if shape not in self._shapes:
                if len(self._shapes) >= _MAX_SEEN:
                    self._shapes.clear()
                self._shapes[shape] = change.table
                is_new = True
        return is_new

    def _learn(self, changes: list[Row | RowChange]) -> None:
        for change in changes:
            name = _name_of(change.table)
            for identity, columns, values in _images_of(change):
                shape = name, change.table.key, identity
                known = self._layouts.get(shape)
                if known is None:
                    self._add(change.table, columns)
                    if len(self._layouts) >= _MAX_SEEN:
                        self._layouts.clear()
                    known = columns, _texts_of(columns)
                    self._layouts[shape] = known
                if self.survey_of.look_into_text:
                    ill_formed = {columns[i].name for i in known[1] if type(values[i]) is bytes}
                    if ill_formed:
                        self._ill_formed.setdefault(name, set()).update(ill_formed)

    def _add(self, table: Table, columns: tuple[Column, ...]) -> None:
        name = _name_of(table)
        described = canonical_table(Table(name[1], name[0], columns=columns, key=table.key))
        known = self._found.get(name)
        self._found[name] = described if known is None else union_tables(known, described)


def _texts_of(columns: tuple[Column, ...]) -> tuple[int, ...]:
    return tuple(i for i, column in enumerate(columns) if isinstance(column.type, TextType))


def _images_of(
    change: Row | RowChange,
) -> Iterator[tuple[object, tuple[Column, ...], tuple[Any, ...]]]:
    """Yield the images of a change: the key of its layout, its columns, its values."""
    if isinstance(change, Row):
        for layout, values in ((change.new_layout, change.new), (change.old_layout, change.old)):
            if layout is not None and values is not None:
                yield id(layout.columns), layout.columns, values
        return
    for image in (change.after, change.before):
        if image is not None:
            # Columns are shared between messages where tuples of them are not.
            yield tuple(map(id, image.columns)), image.columns, image.values


def _name_of(table: Table) -> Name:
    return table.schema, table.name or ""
