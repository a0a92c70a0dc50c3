"""What one scan of messages finds: the tables of row changes, and how many other events there are.

A worker surveys its share of a feed; ``joined`` puts the results of two shares together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from cdcwire.core.errors import DecodeError
from cdcwire.core.format import Context, Format, MessageDecoder, Selection, TableName
from cdcwire.core.message import Message
from cdcwire.core.rows import Row
from cdcwire.model.events import Column, Event, Position, Progress, RowChange, SchemaChange, Table
from cdcwire.model.kinds import TextType
from cdcwire_conformance.arrow.batches import MessagePlace, RowProblem, problem_of
from cdcwire_conformance.arrow.decoders import DecoderAt, place_decoder
from cdcwire_conformance.arrow.schema import CanonicalTable, canonical_table, union_tables
from cdcwire_conformance.sources.stores import OpenFile, open_here
from cdcwire_conformance.spark.decode.reading import (
    Located,
    OnError,
    few_collections,
    locate_problem,
)

_MAX_SEEN = 1 << 12
MAX_DDL_EVENTS = 1 << 14  # kept of one feed, to be compared

Name: TypeAlias = "tuple[str | None, str]"
Only: TypeAlias = "Callable[[Row | RowChange], bool]"


@dataclass(frozen=True, slots=True)
class DdlEvent:
    """A schema change of a feed. ``text``: its statement, else what it does."""

    position: Position
    table: str
    text: str


@dataclass(frozen=True, slots=True)
class OtherEvents:
    """The events of a feed that are not row changes. A feed may send one DDL to many partitions."""

    ddl: frozenset[DdlEvent] = frozenset()
    progress: int = 0

    def joined(self, other: OtherEvents) -> OtherEvents:
        """Return the events of both."""
        return OtherEvents(self.ddl | other.ddl, self.progress + other.progress)


def ddl_event(event: SchemaChange) -> DdlEvent:
    """Return the facts of a schema change that two feeds can share."""
    table = event.table
    name = "" if table is None else ".".join(p for p in (table.schema, table.name) if p)
    own = event.position
    position = Position(own.commit_ts, own.sequence_id, own.lsn)
    return DdlEvent(position, name, event.query or event.what)


@dataclass(frozen=True, slots=True)
class FoundTable:
    """A table of a share of a feed, and facts about its rows.

    ``ill_formed``: text columns that hold text that is not UTF-8. ``updates``: how many updates are
    sent as one record, and ``old_images`` how many of these have their before image.
    """

    table: CanonicalTable
    rows: int
    ill_formed: frozenset[str] = frozenset()
    updates: int = 0
    old_images: int = 0

    def joined(self, other: FoundTable) -> FoundTable:
        """Return the table as both shares have it. Raises: SchemaError."""
        return FoundTable(
            union_tables(self.table, other.table),
            self.rows + other.rows,
            self.ill_formed | other.ill_formed,
            self.updates + other.updates,
            self.old_images + other.old_images,
        )


@dataclass(frozen=True, slots=True)
class Surveyed:
    """The tables of a share of a feed, and its other events."""

    tables: dict[Name, FoundTable] = field(default_factory=dict)
    others: OtherEvents = field(default_factory=OtherEvents)

    def joined(self, other: Surveyed) -> Surveyed:
        """Return what both shares have. Raises: SchemaError."""
        tables = dict(self.tables)
        for name, each in other.tables.items():
            tables[name] = tables[name].joined(each) if name in tables else each
        return Surveyed(tables, self.others.joined(other.others))


@dataclass(frozen=True, slots=True)
class Survey:
    """The facts that a worker needs to describe the tables in its messages."""

    format: Format
    context: Context
    tables: frozenset[TableName] | None
    on_error: OnError
    look_into_text: bool
    has_lines: bool
    only: Only | None = None

    def found(self, messages: Iterable[Located], open_file: OpenFile = open_here) -> Surveyed:
        """Return what the messages have. Raises: FeedError, if errors are to stop."""
        with few_collections():
            return _Surveying(self, open_file).survey(messages)


class _Surveying:
    """One scan of messages. Layouts are distinguished by identity, and kept so that it holds."""

    def __init__(self, survey: Survey, open_file: OpenFile) -> None:
        self.survey_of = survey
        self._open_file = open_file
        self._found: dict[Name, CanonicalTable] = {}
        self._rows: dict[Name, int] = {}
        self._ill_formed: dict[Name, set[str]] = {}
        self._updates: dict[Name, int] = {}
        self._old_images: dict[Name, int] = {}
        self._ddl: set[DdlEvent] = set()
        self._progress = 0
        self._layouts: dict[object, tuple[tuple[Column, ...], tuple[int, ...]]] = {}
        self._shapes: dict[tuple[int, bool, bool], Table] = {}

    def survey(self, messages: Iterable[Located]) -> Surveyed:
        everything = self._decoder(None)
        is_cheap = self.survey_of.format.skips_columns and not self.survey_of.look_into_text
        decode = self._decoder(frozenset()) if is_cheap else everything
        for place, message in messages:
            if isinstance(message, RowProblem):
                self._report(message, place)
                continue
            try:
                changes = self._row_changes(decode(place)(message))
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
                self._count(change)
        tables = {
            name: FoundTable(
                table,
                self._rows.get(name, 0),
                frozenset(self._ill_formed.get(name, ())),
                self._updates.get(name, 0),
                self._old_images.get(name, 0),
            )
            for name, table in self._found.items()
        }
        return Surveyed(tables, OtherEvents(frozenset(self._ddl), self._progress))

    def _row_changes(self, events: Iterable[Row | Event]) -> list[Row | RowChange]:
        """Return the row changes; count the others."""
        changes = []
        for event in events:
            if isinstance(event, (Row, RowChange)):
                changes.append(event)
            elif isinstance(event, Progress):
                self._progress += 1
            elif isinstance(event, SchemaChange) and len(self._ddl) < MAX_DDL_EVENTS:
                self._ddl.add(ddl_event(event))
        return changes

    def _count(self, change: Row | RowChange) -> None:
        name = _name_of(change.table)
        self._rows[name] = self._rows.get(name, 0) + 1
        if change.op == "update" and change.half is None:
            old = change.old if isinstance(change, Row) else change.before
            self._updates[name] = self._updates.get(name, 0) + 1
            if old is not None:
                self._old_images[name] = self._old_images.get(name, 0) + 1

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
                        yield change
                        continue
                    if tables is not None and _name_of(change.table) not in tables:
                        continue
                    if only is None or only(change):
                        yield change

            return wanted_of

        return wanted

    def _report(self, problem: RowProblem, place: MessagePlace) -> None:
        on_error = self.survey_of.on_error
        if on_error != "row":
            locate_problem(problem, place, on_error, self.survey_of.has_lines, self._open_file)

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
