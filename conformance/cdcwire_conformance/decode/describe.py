"""The tables of a feed, found in a first scan of it.

The pass is cheap where a format can skip columns. Rows are decoded without any, and a message is
decoded whole only when its layout is new. A feed says no more than its bytes do (Craft and Open
Protocol: no precision, no labels); a definition (``--ddl``) adds the rest. A prefix of a storage
sink has schema files, and its rows are only counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from operator import itemgetter
from typing import TypeAlias

import pyarrow as pa

from cdcwire.arrow.batches import MessagePlace
from cdcwire.arrow.schema import (
    CanonicalTable,
    apply_definition,
    canonical_table,
    rewritten_table,
)
from cdcwire.clock_changes import zone_of
from cdcwire.core.context import NO_CONTEXT, Context, Selection
from cdcwire.ddl import sent_columns
from cdcwire.files.stores import open_here
from cdcwire.format import Format
from cdcwire.model.events import Table, TableName
from cdcwire.model.instants import UTC
from cdcwire.model.kinds import Column, EnumType, LabelForm, SetType, TextType
from cdcwire.storage.paths import DataPath
from cdcwire_conformance.decode.kafka_keys import KeyFacts
from cdcwire_conformance.decode.many_tables import Ahead
from cdcwire_conformance.decode.opening import OpenedSource, open_source
from cdcwire_conformance.decode.other_events import OtherEvents, RowSpan
from cdcwire_conformance.decode.prefix import PrefixPlan
from cdcwire_conformance.decode.reading import OnError, messages_of_batches, messages_of_piece
from cdcwire_conformance.decode.row_facts import (
    UNKNOWN_ROWS,
    ColumnSets,
    Extent,
    KindWords,
    RowFacts,
    mixed_words,
)
from cdcwire_conformance.decode.stored_rows import StoredData, path_in, read_file
from cdcwire_conformance.decode.surveying import (
    FoundTable,
    Name,
    Only,
    Survey,
    Surveyed,
)
from cdcwire_conformance.decode.workers import HERE, Workers, work_of_files, work_of_lines
from cdcwire_conformance.sources.pieces import Piece
from cdcwire_conformance.sources.source_urls import Source

_Part: TypeAlias = tuple[int, Surveyed]  # the number of a share first


@dataclass(frozen=True, slots=True)
class Described:
    """A table of a feed, and how many row changes it has.

    ``ill_formed``: columns of text that is not UTF-8, as far as that was asked for.
    ``lacks_old_images``: there are updates, and none has its before image; upserts may be updates.
    ``facts``: of its rows.
    ``has_key_deletes``: a delete has the columns of its key only; ``has_whole_deletes``: one does
    not say so.
    ``bare``: its name without a database. ``database``: where the feed has one above the schema.
    ``span``: where these are. ``new_columns``: those of after images; None: any.
    ``fewest_columns``: the columns that one after image has, for those with the fewest.
    ``mixed``: columns with values of several kinds, and the words for these. ``inferred``: columns
    whose types come from values: neither messages nor definitions have them.
    """

    table: CanonicalTable
    rows: int
    ill_formed: frozenset[str] = frozenset()
    lacks_old_images: bool = False
    facts: RowFacts = UNKNOWN_ROWS
    has_key_deletes: bool = False
    bare: TableName | None = None
    database: str | None = None
    span: RowSpan = field(default_factory=RowSpan)
    new_columns: frozenset[str] | None = None
    has_whole_deletes: bool = False
    fewest_columns: ColumnSets = frozenset()
    mixed: KindWords = field(default_factory=dict)
    inferred: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class DescribedFeed:
    """The tables of a feed, its other events, Kafka keys and extent."""

    tables: tuple[Described, ...]
    others: OtherEvents
    keys: KeyFacts
    extent: Extent


def survey_feed(
    source: Source | OpenedSource,
    *,
    context: Context = NO_CONTEXT,
    include: Iterable[TableName] | None = None,
    definitions: Iterable[Table] = (),
    on_error: OnError = "stop",
    look_into_text: bool = False,
    share_bytes: int | None = None,
    only: Only | None = None,
    time_zone: str = UTC,
    workers: Workers = HERE,
    ahead: Ahead | None = None,
) -> DescribedFeed:
    """Return the tables that have row changes in a feed, and its other events.

    ``source``: one that ``open_source`` made ready has its own context, and is not opened again.
    ``include``: only these. ``definitions``: what a DDL says of them. ``on_error``: "stop" fails at
    the first message that breaks its format; "row" skips it, as decoding reports it.
    ``look_into_text``: decode all, and have text columns that hold ill-formed text as bytes.
    ``only``: of messages, the row changes that count; it gets them without values. ``time_zone``:
    of local times of unknown zone. ``workers``: those who read it. ``ahead``: takes rows of JSON
    lines, decoded on the way.
    Raises: SchemaError when a column has kinds that don't meet; ValueError for an option that is
    not known.
    """
    tables = None if include is None else frozenset(include)
    opened = open_source(source, context, on_error, tables, workers=workers)
    source, format_ = opened.source, opened.source.format
    definitions = opened.defined(definitions)
    survey = Survey(
        format_,
        opened.context,
        tables,
        on_error,
        look_into_text,
        source.kind == "jsonl",
        only,
        time_zone,
    )
    if opened.prefix is not None:
        found = _found_in_prefix(workers, opened.prefix, survey)
    elif source.has_records:
        found = _found_in_records(workers, source, survey)
    elif ahead is not None:
        found = ahead.survey(source, survey)
    else:
        found = _found_in_lines(workers, source, survey, share_bytes)
    rewrite = format_.comparing.rewrite_name
    if rewrite is not None:
        definitions = (rewritten_table(table, rewrite) for table in definitions)
    defined = {(table.schema, table.name): canonical_table(table) for table in definitions}
    named = _short_names(found.tables, Selection(tables))
    others = found.others
    if named is not found.tables:
        others = others.without_database(next(each.database for each in found.tables.values()))
    described = tuple(
        _described(named[name], defined.get(name) or defined.get(named[name].bare or name))
        for name in sorted(named, key=lambda name: (name[0] or "", name[1]))
    )
    return DescribedFeed(described, others, found.keys.with_forms(), found.extent)


def tables_met(opened: OpenedSource, workers: Workers = HERE) -> frozenset[TableName]:
    """Return all tables that a feed has rows of, in a scan for an error about their names."""
    found = survey_feed(opened, on_error="row", workers=workers)
    return frozenset((each.table.schema, each.table.table) for each in found.tables)


def _short_names(
    tables: Mapping[Name, FoundTable], selection: Selection
) -> Mapping[Name, FoundTable]:
    """Return the tables without the name of their database, if the feed has no other one.

    Where databases are selected, the feed may have others.
    """
    named = [(found.bare or name, found) for name, found in tables.items()]
    is_chosen = not all(selection.wants(*name) for name, _ in named)
    if is_chosen or len({table.database for table in tables.values()}) != 1:
        return tables
    return {
        name: replace(found, table=replace(found.table, schema=name[0])) for name, found in named
    }


def _described(found: FoundTable, defined: CanonicalTable | None) -> Described:
    table = _complete(found, defined)
    lacks_old_images = found.updates + found.facts.upserts > 0 and not found.old_images
    return Described(
        table,
        found.rows,
        found.ill_formed,
        lacks_old_images,
        found.facts,
        found.has_key_deletes,
        found.bare,
        found.database,
        found.span,
        found.new_columns,
        found.has_whole_deletes,
        found.fewest_columns,
        mixed_words(found.kinds),
        found.inferred - set(() if defined is None else defined.column_names),
    )


def _joined(parts: Iterable[_Part]) -> Surveyed:
    """Return what all shares found, in their order."""
    found = Surveyed()
    for _, part in sorted(parts, key=itemgetter(0)):
        found = found.joined(part)
    return found


def _found_in_lines(
    workers: Workers, source: Source, survey: Survey, share_bytes: int | None
) -> Surveyed:
    work = work_of_lines(source, workers.count, share_bytes)
    return _joined(workers.found(work, partial(_found_in_pieces, survey)))


def _found_in_pieces(survey: Survey, number: int, pieces: Sequence[Piece]) -> list[_Part]:
    messages = chain.from_iterable(map(messages_of_piece, pieces))
    open_file = pieces[0].opener if len(pieces) == 1 else open_here
    return [(number, survey.found(messages, open_file))]


def _found_in_records(workers: Workers, source: Source, survey: Survey) -> Surveyed:
    def search(batches: Iterable[pa.RecordBatch]) -> list[_Part]:
        return [(0, survey.found(messages_of_batches(batches)))]

    return _joined(workers.found_in_records(source, search))


def _found_in_prefix(workers: Workers, prefix: PrefixPlan, survey: Survey) -> Surveyed:
    """Return the tables of a prefix, by the definitions of the versions that have rows.

    Files are read if no definition gives their tables. All files are read if the text of rows is
    wanted, or if columns are local times in a named zone.
    """
    files = {file.name: file for file in prefix.files_of(survey.tables)}
    found: dict[Name, FoundTable] = {}
    unknown: list[StoredData] = []
    asked: dict[int, StoredData] = {}  # one file of each version whose rows may tell labels
    tells_labels = prefix.settings.has_labels
    has_zones = False
    for mark in prefix.counts or ():
        if not mark.rows or mark.name not in files:
            continue
        file = files[mark.name]
        defined = _definition_of(file.path, prefix.context.tables)
        if defined is None:
            unknown.append(file)
            continue
        name = defined.schema, defined.name or ""
        sent = _as_sent(defined, survey.format)
        table = canonical_table(sent)
        zones = (zone_of(column.type, survey.time_zone) for column in sent.columns or ())
        has_zones = has_zones or any(zone is not None for zone in zones)
        each = FoundTable(
            table,
            mark.rows,
            span=RowSpan(offsets=(file.order, file.order)),
            fewest_columns=frozenset({frozenset(table.column_names)}),
        )
        found[name] = found[name].joined(each) if name in found else each
        lacks_labels = any(_lacks_labels(column) for column in table.columns)
        # A definition of the user may lack columns that the rows name.
        if defined.version is None or (tells_labels and lacks_labels):
            asked.setdefault(id(defined), file)
    looks_into_all = survey.look_into_text or has_zones
    looked_into = list(files.values()) if looks_into_all else [*unknown, *asked.values()]
    for name, each in _survey_files(workers, prefix, survey, looked_into).tables.items():
        if name not in found:
            found[name] = each
        elif asked:
            found[name] = replace(found[name].joined(each), rows=found[name].rows)
        else:
            found[name] = replace(found[name], ill_formed=each.ill_formed)
        if has_zones:
            clocks = each.facts.clocks
            found[name] = replace(found[name], facts=replace(found[name].facts, clocks=clocks))
    return Surveyed(found, OtherEvents(frozenset(prefix.ddl), 0, prefix.statements))


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
    """Return the definition of a file's version, else the only one that its table has."""
    known = [t for t in tables if (t.schema, t.name) == (path.schema, path.table) and t.columns]
    own = [table for table in known if table.version == path.version]
    return own[0] if own else known[0] if len(known) == 1 else None


def _survey_files(
    workers: Workers, prefix: PrefixPlan, survey: Survey, files: list[StoredData]
) -> Surveyed:
    if not files:
        return Surveyed()
    work = work_of_files(prefix.folder, files, workers.count)
    return _joined(workers.found(work, partial(_found_in_files, survey, prefix.folder)))


def _found_in_files(
    survey: Survey, folder: str, number: int, files: Sequence[StoredData]
) -> list[_Part]:
    return [(number, _found_in_file(survey, folder, file)) for file in files]


def _found_in_file(survey: Survey, folder: str, file: StoredData) -> Surveyed:
    """Return what a file has, its rows placed among the files of its prefix."""
    place = MessagePlace(file=path_in(folder, file))
    found = survey.found([(place, read_file(folder, file))])
    span = RowSpan(offsets=(file.order, file.order))
    tables = {name: replace(each, span=span) for name, each in found.tables.items()}
    return replace(found, tables=tables)


def _complete(found: FoundTable, defined: CanonicalTable | None) -> CanonicalTable:
    table = found.table if defined is None else apply_definition(found.table, defined)
    texts = {column.name for column in table.columns if isinstance(column.type, TextType)}
    return table.with_binary_text(found.ill_formed & texts)
