"""The results of one scan of messages: tables of row changes, and how many other events there are.

A worker surveys its share of a feed; ``joined`` puts the results of two shares together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from cdcwire.arrow.batches import MessagePlace, RowProblem, images_of, problem_of
from cdcwire.arrow.schema import CanonicalTable, canonical_table, union_tables
from cdcwire.clock_changes import ClockTally, zone_of
from cdcwire.core.context import Context, Selection
from cdcwire.core.errors import DecodeError
from cdcwire.core.message import Message
from cdcwire.core.options import parse_options
from cdcwire.core.rows import Layout, Row
from cdcwire.files.stores import OpenFile, open_here
from cdcwire.format import Format, MessageDecoder
from cdcwire.model.events import (
    Event,
    Marker,
    Progress,
    RowChange,
    SchemaChange,
    Table,
    TableName,
    full_name,
)
from cdcwire.model.instants import UTC
from cdcwire.model.kinds import Column, TextType
from cdcwire_conformance.decode.decoders import DecoderAt, place_decoder
from cdcwire_conformance.decode.kafka_keys import KeyChecking, KeyFacts
from cdcwire_conformance.decode.other_events import (
    MAX_DDL_EVENTS,
    MAX_STATEMENTS,
    DdlEvent,
    OtherEvents,
    PlacedStatement,
    RowSpan,
    ddl_event,
)
from cdcwire_conformance.decode.reading import Located, OnError, few_collections, locate_problem
from cdcwire_conformance.decode.row_facts import (
    KEY_ONLY,
    UNKNOWN_ROWS,
    ColumnSets,
    Extent,
    KindWords,
    RowFacts,
    fewest,
    joined_words,
    kind_words,
)
from cdcwire_conformance.decode.tallies import RowTally

_MAX_SEEN = 1 << 12
_ROWS_AT_ONCE = 512
_BYTES_AT_ONCE = 1 << 20

Name: TypeAlias = "tuple[str | None, str]"
Only: TypeAlias = "Callable[[Row | RowChange], bool]"
Changed: TypeAlias = "tuple[MessagePlace, Message | RowProblem, list[Row | RowChange] | None]"
"""A message and its changes of rows; None: it can't be read."""
_Columns: TypeAlias = "Layout | tuple[Column, ...] | None"
_Shape: TypeAlias = "tuple[Table, _Columns, _Columns]"
"""The table of a row with the columns of its new image and of its old one."""


@dataclass(frozen=True, slots=True)
class FoundTable:
    """A table of a share of a feed, and facts about its rows.

    ``table`` has its database in the name of its schema; ``bare`` is its name without, and
    ``database`` the database. ``ill_formed``: text columns that hold text that is not UTF-8.
    ``updates``: how many updates are sent as one record, and ``old_images`` how many of these have
    their before image. ``facts``: of all rows, if these were looked at. ``has_key_deletes``: a
    delete has its key only; ``has_whole_deletes``: one is not said to. ``span``: where the rows
    are. ``new_columns``: those of after images; None: any. ``fewest_columns``: the columns that one
    after image has, for those with the fewest. ``kinds``: those that each column
    was met with. ``inferred``: columns whose types come from values.
    """

    table: CanonicalTable
    rows: int
    ill_formed: frozenset[str] = frozenset()
    updates: int = 0
    old_images: int = 0
    facts: RowFacts = UNKNOWN_ROWS
    has_key_deletes: bool = False
    bare: TableName | None = None
    database: str | None = None
    span: RowSpan = field(default_factory=RowSpan)
    new_columns: frozenset[str] | None = None
    has_whole_deletes: bool = False
    fewest_columns: ColumnSets = frozenset()
    kinds: KindWords = field(default_factory=dict)
    inferred: frozenset[str] = frozenset()

    def joined(self, other: FoundTable) -> FoundTable:
        """Return the table as both shares have it. Raises: SchemaError."""
        return FoundTable(
            union_tables(self.table, other.table),
            self.rows + other.rows,
            self.ill_formed | other.ill_formed,
            self.updates + other.updates,
            self.old_images + other.old_images,
            self.facts.joined(other.facts),
            self.has_key_deletes or other.has_key_deletes,
            self.bare,
            self.database,
            self.span.joined(other.span),
            None
            if self.new_columns is None or other.new_columns is None
            else self.new_columns | other.new_columns,
            self.has_whole_deletes or other.has_whole_deletes,
            fewest(self.fewest_columns | other.fewest_columns),
            joined_words(self.kinds, other.kinds),
            self.inferred | other.inferred,
        )


@dataclass(frozen=True, slots=True)
class Surveyed:
    """The tables of a share of a feed, its other events, Kafka keys and extent."""

    tables: dict[Name, FoundTable] = field(default_factory=dict)
    others: OtherEvents = field(default_factory=OtherEvents)
    keys: KeyFacts = field(default_factory=KeyFacts)
    extent: Extent = field(default_factory=Extent)

    def joined(self, other: Surveyed) -> Surveyed:
        """Return what both shares have. Raises: SchemaError."""
        tables = dict(self.tables)
        for name, each in other.tables.items():
            tables[name] = tables[name].joined(each) if name in tables else each
        return Surveyed(
            tables,
            self.others.joined(other.others),
            self.keys.joined(other.keys),
            self.extent.joined(other.extent),
        )


@dataclass(frozen=True, slots=True)
class Survey:
    """The facts that a worker needs to describe the tables in its messages.

    ``time_zone``: of local times of unknown zone.
    """

    format: Format
    context: Context
    tables: frozenset[TableName] | None
    on_error: OnError
    look_into_text: bool
    has_lines: bool
    only: Only | None = None
    time_zone: str = UTC

    def found(self, messages: Iterable[Located], open_file: OpenFile = open_here) -> Surveyed:
        """Return what the messages have. Raises: FeedError, if errors are to stop."""
        with few_collections():
            scan = Scan(self, open_file)
            for _ in scan.changes_of(messages):
                pass
            return scan.found


class Scan:
    """One scan of messages. Layouts are distinguished by identity, and kept so that it holds.

    ``takes_values``: changes come with their values, also of formats that can skip them.
    """

    def __init__(self, survey: Survey, open_file: OpenFile, *, takes_values: bool = False) -> None:
        self.survey_of = survey
        self._open_file = open_file
        options = parse_options(survey.format.options, survey.context.options)
        self._is_cut = bool(options.get(KEY_ONLY))  # which the columns of deletes disprove
        skips = survey.format.skips_columns and not survey.look_into_text
        self._skips_columns = skips and not self._is_cut
        self._is_cheap = self._skips_columns and not takes_values
        self._skips_deletes = not survey.format.comparing.deletes_have_position(options)
        self._found: dict[Name, CanonicalTable] = {}
        self._ill_formed: dict[Name, set[str]] = {}
        self._tallies: dict[Name, RowTally] = {}
        self._waiting = _Waiting()
        self._new_columns: dict[Name, set[str]] = {}
        self._fewest_columns: dict[Name, ColumnSets] = {}
        self._parts: dict[Name, tuple[TableName, str | None]] = {}
        self._ddl: set[DdlEvent] = set()
        self._statements: list[PlacedStatement] = []
        self._messages = 0
        self._progress = 0
        self._markers: Counter[str] = Counter()
        self._reads: Counter[TableName] = Counter()
        self._columns: dict[Name, set[Column]] = {}  # that a table was met with
        self._kinds: dict[Name, KindWords] = {}
        self._inferred: dict[Name, set[str]] = {}  # columns whose types come from values
        self._layouts: dict[object, tuple[Column, ...]] = {}
        self._shapes: dict[tuple[int, int, int], _Shape] = {}
        reader = survey.format.comparing.key_reader
        self._keys = None if reader is None else KeyChecking(reader(survey.context))
        self._clocks: dict[Name, ClockTally] = {}
        self._zoned: frozenset[str] = frozenset()  # columns of local times in a named zone
        self._read: frozenset[str] = frozenset()  # columns of which values are read

    def changes_of(self, messages: Iterable[Located]) -> Iterator[Changed]:
        """Scan messages, and yield each with its changes of rows.

        Raises: FeedError, if errors are to stop.
        """
        everything = self._decoder(None)
        is_cheap = self._is_cheap
        decode = self._decoder(frozenset()) if is_cheap else everything
        for place, message in messages:
            self._messages += 1
            if isinstance(message, RowProblem):
                self._report(message, place)
                yield place, message, None
                continue
            try:
                changes = self._row_changes(decode(place)(message), place)
                if self._has_new_shape(changes):
                    whole = self._rows_of(everything(place)(message)) if is_cheap else changes
                    self._learn(whole, message)
                    if is_cheap and self._has_new_names(whole):
                        decode = self._decoder(self._read)
                        changes = self._rows_of(decode(place)(message))
                if self.survey_of.look_into_text:
                    self._look_into_text(changes)
            except DecodeError as error:
                self._report(problem_of(error), place)
                yield place, message, None
                continue
            if self._zoned:
                for change in changes:
                    self._look_at_clocks(change, place)
            if self._keys is not None:
                for change in changes:
                    self._keys.check(message, change, place)
            if self._waiting.add(changes, place, message):
                self._count()
            yield place, message, changes
        self._count()

    @property
    def found(self) -> Surveyed:
        """The facts about all messages so far."""
        extent = Extent(self._messages)
        for tally in self._tallies.values():
            extent = extent.joined(tally.extent)
        others = OtherEvents(
            frozenset(self._ddl),
            self._progress,
            tuple(self._statements),
            dict(self._markers),
            dict(self._reads),
        )
        keys = KeyFacts() if self._keys is None else self._keys.found()
        tables = {name: self._found_table(name, table) for name, table in self._found.items()}
        return Surveyed(tables, others, keys, extent)

    def _found_table(self, name: Name, table: CanonicalTable) -> FoundTable:
        tally = self._tally(name)
        clocks = self._clocks.get(name)
        facts = tally.facts
        return FoundTable(
            table,
            tally.rows,
            frozenset(self._ill_formed.get(name, ())),
            tally.updates,
            tally.old_images,
            facts if clocks is None else replace(facts, clocks=clocks.facts),
            tally.has_key_deletes,
            *self._parts[name],
            tally.span,
            frozenset(self._new_columns.get(name, ())),
            tally.has_whole_deletes,
            self._fewest_columns.get(name, frozenset()),
            self._kinds.get(name, {}),
            frozenset(self._inferred.get(name, ())),
        )

    def _has_new_names(self, changes: list[Row | RowChange]) -> bool:
        """Return whether rows have columns whose values count, and that are not read yet.

        These are local times in a named zone, and the columns that Kafka keys name.
        """
        names = set(self._zoned)
        if self._keys is not None:
            names |= {name for change in changes for name in change.table.key or ()}
        if names <= self._read:
            return False
        self._read |= names
        return True

    def _row_changes(
        self, events: Iterable[Row | Event], place: MessagePlace
    ) -> list[Row | RowChange]:
        """Return the row changes; count the others."""
        changes = []
        statements: list[SchemaChange] = []
        for event in events:
            if isinstance(event, (Row, RowChange)):
                if self._wants(event):
                    changes.append(event)
                else:
                    self._reads[event.table.schema, event.table.name or ""] += 1
            elif isinstance(event, Progress):
                self._progress += 1
            elif isinstance(event, Marker):
                self._markers[event.what] += 1
            elif isinstance(event, SchemaChange):
                if not self.survey_of.format.comparing.describes_snapshot(event):
                    statements.append(event)
                if len(self._ddl) < MAX_DDL_EVENTS:
                    self._ddl.add(ddl_event(event))
        for number, event in enumerate(statements):
            if len(self._statements) < MAX_STATEMENTS:
                placed = PlacedStatement.of(event, place)
                placed = replace(placed, number=number, is_alone=not changes)
                self._statements.append(placed)
        return changes

    def _wants(self, change: Row | RowChange) -> bool:
        return change.op != "read" or self.survey_of.context.selection.reads

    def _rows_of(self, events: Iterable[Row | Event]) -> list[Row | RowChange]:
        return [e for e in events if isinstance(e, (Row, RowChange)) and self._wants(e)]

    def _count(self) -> None:
        for name, (changes, places) in self._waiting.by_name().items():
            self._tally(name).add(changes, places)
        self._waiting = _Waiting()

    def _look_at_clocks(self, change: Row | RowChange, place: MessagePlace) -> None:
        name = full_name(change.table)
        tally = self._clocks.get(name)
        if tally is None:
            self._clocks[name] = tally = ClockTally(self.survey_of.time_zone)
        for _, identity, columns, values in images_of(change):
            tally.add(identity, columns, values, place)

    def _tally(self, name: Name) -> RowTally:
        found = self._tallies.get(name)
        if found is None:
            found = RowTally(
                self.survey_of.format,
                skips_deletes=self._skips_deletes,
                knows_columns=not self._skips_columns,
            )
            self._tallies[name] = found
        return found

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
                    if not selection.wants_rows_of(change.table):
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
        """Return whether the layout of a row is new.

        A new layout is another object, or has another table. For rows of a fast decoder this holds
        although no column is read; events then do not show what columns they have.
        """
        is_new = False
        for change in changes:
            if isinstance(change, Row):
                shape: _Shape = (
                    change.table,
                    None if change.new is None else change.new_layout,
                    None if change.old is None else change.old_layout,
                )
            elif self._is_cheap:
                return True
            else:
                after, before = change.after, change.before
                shape = (
                    change.table,
                    None if after is None else after.columns,
                    None if before is None else before.columns,
                )
            identity = id(shape[0]), id(shape[1]), id(shape[2])
            if identity not in self._shapes:
                if len(self._shapes) >= _MAX_SEEN:
                    self._shapes.clear()
                self._shapes[identity] = shape
                is_new = True
        return is_new

    def _learn(self, changes: list[Row | RowChange], message: Message) -> None:
        for change in changes:
            name = full_name(change.table)
            for is_new, identity, columns, _ in images_of(change):
                shape = name, change.table.key, is_new, identity
                if shape in self._layouts:
                    continue
                self._add(change.table, columns)
                if self.survey_of.format.comparing.infers_types(message):
                    self._inferred.setdefault(name, set()).update(c.name for c in columns)
                if is_new:
                    self._learn_names(name, frozenset(column.name for column in columns))
                if len(self._layouts) >= _MAX_SEEN:
                    self._layouts.clear()
                self._layouts[shape] = columns

    def _look_into_text(self, changes: list[Row | RowChange]) -> None:
        """Find the columns of text whose values are bytes: not UTF-8."""
        for change in changes:
            for _, _, columns, values in images_of(change):
                for column, value in zip(columns, values, strict=True):
                    if type(value) is bytes and isinstance(column.type, TextType):
                        name = full_name(change.table)
                        self._ill_formed.setdefault(name, set()).add(column.name)

    def _learn_names(self, name: Name, columns: frozenset[str]) -> None:
        self._new_columns.setdefault(name, set()).update(columns)
        known = self._fewest_columns.get(name, frozenset())
        if not any(each <= columns for each in known):
            self._fewest_columns[name] = fewest(known | {columns})

    def _add(self, table: Table, columns: tuple[Column, ...]) -> None:
        name = full_name(table)
        known = self._columns.setdefault(name, set())
        # Values without types give many layouts of few columns: (2, 1) and (3, 1) for decimals.
        is_known = bool(known) and known.issuperset(columns)
        if is_known and len(set(columns)) == len(columns) and self._found[name].key == table.key:
            return
        if len(known) >= _MAX_SEEN:
            known.clear()
        known.update(columns)
        zone = self.survey_of.time_zone
        self._zoned |= {each.name for each in columns if zone_of(each.type, zone) is not None}
        described = canonical_table(Table(name[1], name[0], columns=columns, key=table.key))
        self._parts[name] = (table.schema, table.name or ""), table.database
        words = kind_words(described.columns)
        self._kinds[name] = joined_words(self._kinds.get(name, {}), words)
        found = self._found.get(name)
        self._found[name] = described if found is None else union_tables(found, described)


class _Waiting:
    """Row changes that are not yet counted, by table: some hundred, or a MiB of messages."""

    def __init__(self) -> None:
        self._of_tables: dict[int, tuple[Table, list[Row | RowChange], list[MessagePlace]]] = {}
        self._rows = 0
        self._bytes = 0

    def add(self, changes: list[Row | RowChange], place: MessagePlace, message: Message) -> bool:
        """Take the changes of a message. Return whether there are enough."""
        for change in changes:
            table = change.table
            known = self._of_tables.get(id(table))
            if known is None:
                self._of_tables[id(table)] = known = table, [], []
            known[1].append(change)
            known[2].append(place)
        self._rows += len(changes)
        self._bytes += len(message.value or b"")
        return self._rows >= _ROWS_AT_ONCE or self._bytes >= _BYTES_AT_ONCE

    def by_name(self) -> dict[Name, tuple[list[Row | RowChange], list[MessagePlace]]]:
        """Return the changes so far, and the places of their messages."""
        found: dict[Name, tuple[list[Row | RowChange], list[MessagePlace]]] = {}
        for table, changes, places in self._of_tables.values():
            own = found.setdefault(full_name(table), ([], []))
            own[0].extend(changes)
            own[1].extend(places)
        return found
