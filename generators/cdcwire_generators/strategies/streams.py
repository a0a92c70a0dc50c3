"""Schema changes, progress, and whole streams of changes that make sense one after the other."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from hypothesis import strategies as st

from cdcwire.model.events import (
    Event,
    Image,
    Marker,
    Op,
    Position,
    Progress,
    RowChange,
    SchemaChange,
    Table,
)
from cdcwire.model.kinds import Column
from cdcwire_generators.domain import PLAUSIBLE, Domain
from cdcwire_generators.families import SchemaChangeType
from cdcwire_generators.positions import position_at
from cdcwire_generators.strategies.names import schema_names, table_names
from cdcwire_generators.strategies.rows import changed_images, images, positions
from cdcwire_generators.strategies.tables import row_table, tables
from cdcwire_generators.workloads.statements import quoted

_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)  # one that a statement has without quotes


@dataclass(frozen=True, slots=True)
class ChangeStream:
    """Events in commit order, and the definitions of the tables that they change."""

    tables: tuple[Table, ...]
    events: tuple[Event, ...]


@st.composite
def schema_changes(
    draw: st.DrawFn, *, table: Table | None = None, domain: Domain = PLAUSIBLE
) -> SchemaChange:
    """Give schema changes of a table, or of any: statements of the family, and any text."""
    kind = draw(st.sampled_from(domain.family.schema_changes))
    named = _named(draw, kind, table, domain)
    shown = Table("", "") if named is None else named
    statement = kind.statement.format(
        schema=_in_statement(shown.schema), table=_in_statement(shown.name)
    )
    least = 1 if domain.needs_queries else 0
    anything = st.text(st.characters(codec="utf-8"), min_size=least, max_size=30)
    query = draw(st.one_of(st.just(statement), anything))
    position = draw(positions(domain=domain))
    position = replace(position, partition=None)  # a schema change is not one of a partition
    return SchemaChange(kind.what, query, kind.code, named, position)


def _in_statement(name: str | None) -> str | None:
    """Return a name, quoted where it would not be read as one name."""
    return name if name is None or _NAME.fullmatch(name) else quoted(name)


def _named(
    draw: st.DrawFn, kind: SchemaChangeType, table: Table | None, domain: Domain
) -> Table | None:
    has_path_names = domain.has_path_names
    if kind.names == "nothing":
        return None
    if table is not None:
        return Table(None if kind.names == "schema" else table.name, table.schema)
    schema = draw(schema_names(has_path_names=has_path_names))
    if kind.names == "schema":
        return Table(None, schema)
    return Table(draw(table_names(has_path_names=has_path_names)), schema)


def progress_events(*, domain: Domain = PLAUSIBLE) -> st.SearchStrategy[Progress]:
    """Give progress as the domain has it, whose position is that of no transaction."""
    said = domain.progress
    if said is None:
        raise ValueError("the domain has no progress")
    return positions(domain=domain).map(lambda position: Progress(said, _of_all(position)))


def _of_all(position: Position) -> Position:
    """Return a position without what is one transaction's or one partition's."""
    return replace(position, lsn=None, tx_id=None, tx_order=None, partition=None)


@st.composite
def change_streams(
    draw: st.DrawFn,
    *,
    tables_of_stream: Sequence[Table] | None = None,
    max_tables: int = 3,
    max_events: int = 12,
    with_schema_changes: bool = True,
    with_progress: bool = True,
    with_key_changes: bool = False,
    with_repeated_changes: bool = True,
    domain: Domain = PLAUSIBLE,
) -> ChangeStream:
    """Give streams over several tables in commit order, with all positions from one counter.

    A row is inserted before it is updated or deleted. The before image of an update or delete is
    the last state of the row. Two changes may be of one transaction (one commit ts). An update
    keeps the values of its key, unless ``with_key_changes``. ``with_repeated_changes``: a
    transaction may change one row twice, which TiDB's never do: it sends what they leave. All
    changes of a key are in one partition, as databases and Kafka have them. Kinds of events that
    the domain lacks (DDL, progress, a second table) never occur.
    """
    if max_events < 0 or max_tables < 1:
        raise ValueError(f"max_events={max_events} or max_tables={max_tables} is too small")
    if tables_of_stream is None:
        some = draw(
            st.lists(
                tables(max_columns=4, domain=domain),
                min_size=1,
                max_size=1 if domain.has_one_table else max_tables,
                unique_by=lambda table: (table.schema, table.name),
            )
        )
    else:
        some = list(tables_of_stream)
    actions = ["end", *["row"] * 6]
    has_progress = with_progress and domain.progress is not None
    actions += ["ddl"] * (with_schema_changes and domain.has_schema_changes)
    actions += ["progress"] * has_progress + ["marker"] * bool(domain.markers)
    writer = _StreamWriter(draw, tuple(some), with_key_changes, with_repeated_changes, domain)
    while len(writer.events) < max_events and draw(_one_more(writer, st.sampled_from(actions))):
        pass
    return ChangeStream(tuple(some), tuple(writer.events))


@st.composite
def _one_more(draw: st.DrawFn, writer: _StreamWriter, actions: st.SearchStrategy[str]) -> bool:
    """Write one event. All its draws are in one span, so that shrinking can remove it."""
    action = draw(actions)
    if action == "end":
        return False
    writer.write(action)
    return True


@dataclass(frozen=True, slots=True)
class _StreamRow:
    """An existing row. ``commit``: the transaction that changed it last."""

    image: Image
    partition: int | None
    commit: int


class _StreamWriter:
    """The state of a stream while it is drawn: rows, partitions of keys, and the counter."""

    def __init__(
        self,
        draw: st.DrawFn,
        stream_tables: tuple[Table, ...],
        with_key_changes: bool,
        with_repeated_changes: bool,
        domain: Domain,
    ) -> None:
        self.draw = draw
        self.tables = stream_tables
        self.with_key_changes = with_key_changes
        self.with_repeated_changes = with_repeated_changes
        self.domain = domain
        self.events: list[Event] = []
        self.changes = 0
        self.commits = 0
        self.left = -1  # the transaction in which a row last left its key
        self.rows: dict[int, list[_StreamRow]] = {n: [] for n in range(len(stream_tables))}
        self.partitions: dict[tuple[str | None, ...], int | None] = {}

    def write(self, action: str) -> None:
        if action == "row":
            # The next row may belong to the transaction of the last one.
            is_same = self.events and isinstance(self.events[-1], RowChange)
            self.commits += 0 if is_same and self.draw(st.booleans()) else 1
            self.events.append(self._row_change())
            return
        self.commits += 1
        position = self._position(None)
        if action == "progress":
            assert self.domain.progress is not None  # otherwise progress is not an action
            self.events.append(Progress(self.domain.progress, _of_all(position)))
            return
        if action == "marker":
            what = self.draw(st.sampled_from(self.domain.markers))
            id_ = position.tx_id if self.domain.has_marker_ids else None
            self.events.append(Marker(what, id_, position))
            return
        table = self.draw(st.sampled_from(self.tables))
        change = self.draw(schema_changes(table=table, domain=self.domain))
        self.events.append(
            SchemaChange(change.what, change.query, change.code, change.table, position)
        )

    def _row_change(self) -> RowChange:
        draw = self.draw
        index = draw(st.integers(0, len(self.tables) - 1))
        table, rows = self.tables[index], self.rows[index]
        op = draw(st.sampled_from(("insert", "update", "delete"))) if rows else "insert"
        if op == "insert":
            return self._insert(table, rows)
        place = draw(st.integers(0, len(rows) - 1))
        if op == "update":
            return self._update(table, rows, place)
        position = self._position_after(rows[place])
        self.left = self.commits
        return RowChange(row_table(table), "delete", rows.pop(place).image, None, position)

    def _insert(self, table: Table, rows: list[_StreamRow]) -> RowChange:
        after = self.draw(images(table, domain=self.domain))
        partition = self.draw(st.one_of(st.none(), st.integers(1, 3)))
        same = [place for place, row in enumerate(rows) if _has_key_of(table, row.image, after)]
        if same:  # the key is taken: what was drawn becomes the row's next state
            return self._updated(table, rows, same[0], after)
        self._begin_if(self.left == self.commits)
        partition = self._partition(table, after, partition)
        position = self._position(partition)
        rows.append(_StreamRow(after, partition, self.commits))
        is_read = self.domain.has_reads and self.draw(st.booleans())
        op: Op = "read" if is_read else "insert"
        return RowChange(row_table(table), op, None, after, position)

    def _update(self, table: Table, rows: list[_StreamRow], place: int) -> RowChange:
        before, partition = rows[place].image, rows[place].partition
        keeps = () if self.with_key_changes else (table.key or ())
        after = self.draw(changed_images(before, keeps=keeps, domain=self.domain))
        taken = (row.image for other, row in enumerate(rows) if other != place)
        is_taken = any(_has_key_of(table, row, after) for row in taken)
        if is_taken or self._partition(table, after, partition) != partition:
            after = before
        return self._updated(table, rows, place, after)

    def _updated(self, table: Table, rows: list[_StreamRow], place: int, after: Image) -> RowChange:
        before = rows[place]
        is_moved = bool(table.key) and not _has_key_of(table, before.image, after)
        self._begin_if(is_moved and self.left == self.commits)
        position = self._position_after(before)
        self.left = self.commits if is_moved else self.left
        rows[place] = _StreamRow(after, before.partition, self.commits)
        return RowChange(row_table(table), "update", before.image, after, position)

    def _partition(self, table: Table, row: Image, drawn: int | None) -> int | None:
        """Return the partition of a row's key. ``drawn``: for a key that had none so far."""
        if not table.key:
            return drawn
        values = (repr(row[name]) for name in table.key)
        return self.partitions.setdefault((table.schema, table.name, *values), drawn)

    def _position_after(self, row: _StreamRow) -> Position:
        """Return the position of a change of a row, which may begin another transaction."""
        self._begin_if(row.commit == self.commits)
        return self._position(row.partition)

    def _begin_if(self, is_repeated: bool) -> None:
        """Begin another transaction before a change that would repeat one of a key."""
        if is_repeated and not self.with_repeated_changes:
            self.commits += 1

    def _position(self, partition: int | None) -> Position:
        self.changes += 1
        return position_at(self.changes, self.commits, self.domain.position_fields, partition)


def _has_key_of(table: Table, row: Image, other: Image) -> bool:
    """Return whether two rows have one key. Rows of a table without key are never the same."""
    return bool(table.key) and all(repr(row[name]) == repr(other[name]) for name in table.key or ())


@st.composite
def late_columns(draw: st.DrawFn, stream: ChangeStream) -> ChangeStream:
    """Give a stream as it is if one column was added between two changes of its table.

    The rows before do not have the column. A row that existed then has NULL in it, until a change
    gives it a value. Without a table that can get a column, it is the stream itself.
    """
    choices = [
        (table, column)
        for table in stream.tables
        for column in table.columns or ()
        if _may_be_late(table, column) and len(_changes_of(stream, table)) > 1
    ]
    if not choices:
        return stream
    table, column = draw(st.sampled_from(choices))
    since = draw(st.sampled_from(_changes_of(stream, table)[1:]))
    return replace(stream, events=_with_late_column(stream.events, table, column, since))


def _may_be_late(table: Table, column: Column) -> bool:
    is_of_key = column.roles or column.name in (table.key or ())
    return column.nullable is not False and not is_of_key


def _changes_of(stream: ChangeStream, table: Table) -> list[int]:
    """Return the places of the row changes of a table."""
    return [number for number, event in enumerate(stream.events) if _is_of(event, table)]


def _is_of(event: Event, table: Table) -> bool:
    if not isinstance(event, RowChange):
        return False
    return (event.table.schema, event.table.name) == (table.schema, table.name)


def _with_late_column(
    events: tuple[Event, ...], table: Table, column: Column, since: int
) -> tuple[Event, ...]:
    """Return events in which rows of a table have a column from one place on."""
    early = {
        id(event.after)
        for event in events[:since]
        if isinstance(event, RowChange) and _is_of(event, table)
    }
    found: list[Event] = []
    for number, event in enumerate(events):
        if not isinstance(event, RowChange) or not _is_of(event, table):
            found.append(event)
        elif number < since:
            images = (_without(event.before, column), _without(event.after, column))
            found.append(replace(event, before=images[0], after=images[1]))
        elif id(event.before) in early:
            found.append(replace(event, before=_with_null(event.before, column)))
        else:
            found.append(event)
    return tuple(found)


def _without(image: Image | None, column: Column) -> Image | None:
    if image is None:
        return None
    return Image.of([pair for pair in image.pairs if pair[0].name != column.name])


def _with_null(image: Image | None, column: Column) -> Image | None:
    if image is None:
        return None
    pairs = image.pairs
    return Image.of([(own, None if own.name == column.name else value) for own, value in pairs])
