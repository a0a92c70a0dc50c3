"""The rows of a feed that count for a table, after its statements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from cdcwire.arrow.batches import MessagePlace
from cdcwire.core.orders import COMMIT_TS
from cdcwire.model.events import Position, SchemaChangeKind, TableName
from cdcwire_conformance.compare.last_state import LastState, Moment, Share, StatedFeed, last_state
from cdcwire_conformance.compare.rules import Window
from cdcwire_conformance.decode.other_events import PlacedStatement, RowSpan, part_of
from cdcwire_conformance.decode.row_facts import Range

pytest.importorskip("sqlglot", reason="needs the extra ddl")

FILE = MessagePlace(file="a.jsonl")
A: TableName = ("s", "a")
B: TableName = ("s", "b")
C: TableName = ("s", "c")


def statement(
    query: str,
    at: int,
    *,
    file: str = "a.jsonl",
    commit_ts: int | None = None,
    is_alone: bool = True,
) -> PlacedStatement:
    place = MessagePlace(file=file, offset=at)
    kind: SchemaChangeKind = "query"
    position = Position(commit_ts=commit_ts)
    return PlacedStatement(kind, query, "s", None, position, place, is_alone=is_alone)


def span(first: int, last: int, *files: str) -> RowSpan:
    parts = frozenset(part_of(MessagePlace(file=file)) for file in files or ("a.jsonl",))
    return RowSpan(parts, (first, last))


def found(
    statements: Sequence[PlacedStatement],
    spans: Mapping[TableName, RowSpan],
    commit_ts: tuple[int, int] | None = None,
    window: Window | None = None,
) -> LastState:
    locate = "{0.file}@{0.offset}".format
    order = None if commit_ts is None else COMMIT_TS
    ranges: dict[TableName, Range] = {} if commit_ts is None else dict.fromkeys(spans, commit_ts)
    return last_state(StatedFeed(statements, spans, order, ranges, False, window, None, locate))


def test_truncate_ends_what_came_before_it_in_the_file() -> None:
    state = found([statement("TRUNCATE a", 5)], {A: span(0, 9)})
    assert state.shares == {A: (Share(A, since=Moment(offset=5), keeps_emptied=True),)}
    assert state.notes == {A: ("TRUNCATE a (a.jsonl@5): no row before it is left",)}


def test_position_comes_before_the_place() -> None:
    spans = {A: span(0, 9)}
    state = found([statement("TRUNCATE a", 5, commit_ts=3)], spans, (1, 8))
    assert state.of(A) == (Share(A, since=Moment(position=3), keeps_emptied=True),)


def test_statement_sent_to_several_partitions_counts_once() -> None:
    parts = [statement("RENAME TABLE a TO b", 5, file=f, commit_ts=3) for f in ("p0", "p1")]
    spans = {A: span(0, 9, "p0", "p1")}
    state = found(parts, spans, (1, 2))
    assert state.unknown == {}
    assert state.of(B) == (Share(A, until=Moment(position=3)),)
    assert state.of(A) == ()


@pytest.mark.parametrize(
    ("statements", "spans"),
    [
        ([statement("TRUNCATE a", 5, file="p0")], {A: span(0, 9, "p0", "p1")}),
        ([statement("TRUNCATE a", 5, file="p0")], {A: span(0, 9, "p1")}),
        ([statement("TRUNCATE a", 5, is_alone=False)], {A: span(0, 9)}),
        ([statement("RENAME TABLE a TO b", 5)], {A: span(0, 3), B: span(7, 9, "p1")}),
    ],
    ids=["other-partition", "no-partition-of-its-own", "rows-in-its-message", "new-name-elsewhere"],
)
def test_order_that_is_not_known_is_not_guessed(
    statements: list[PlacedStatement], spans: dict[TableName, RowSpan]
) -> None:
    state = found(statements, spans)
    assert "the feed does not say which rows came before it" in state.unknown[A]
    assert state.shares == {}


def test_rename_gives_rows_to_the_new_name_and_keeps_what_comes_later() -> None:
    spans = {A: span(0, 9), B: span(6, 9)}
    state = found([statement("RENAME TABLE a TO b", 5)], spans)
    at = Moment(offset=5)
    assert state.of(B) == (Share(A, until=at), Share(B, since=at))
    assert state.of(A) == (Share(A, since=at),)


def test_names_that_are_swapped_swap_their_rows() -> None:
    spans = {A: span(0, 4), B: span(1, 4)}
    state = found([statement("RENAME TABLE a TO c, b TO a, c TO b", 5)], spans)
    at = Moment(offset=5)
    assert state.unknown == {}
    assert (state.of(A), state.of(B)) == ((Share(B, until=at),), (Share(A, until=at),))
    assert state.of(C) == ()


def test_rename_to_a_name_that_exists_is_not_applied() -> None:
    state = found([statement("RENAME TABLE a TO b", 5)], {A: span(0, 9), B: span(2, 9)})
    for name in (A, B):
        assert "the table s.b exists before it" in state.unknown[name]


def test_dropped_name_is_free_for_a_rename() -> None:
    statements = [statement("DROP TABLE b", 4), statement("RENAME TABLE a TO b", 5)]
    state = found(statements, {A: span(0, 3), B: span(2, 3)})
    assert state.unknown == {}
    assert state.of(B) == (Share(A, until=Moment(offset=5)),)


def test_truncate_after_what_is_not_known_makes_it_known() -> None:
    statements = [statement("ALTER TABLE a DROP PARTITION p", 3), statement("TRUNCATE a", 5)]
    assert found(statements[:1], {A: span(0, 9)}).unknown.keys() == {A}
    assert found(statements, {A: span(0, 9)}).unknown == {}


def test_what_is_not_known_goes_with_the_rows_to_their_new_name() -> None:
    statements = [
        statement("ALTER TABLE a DROP PARTITION p", 3),
        statement("RENAME TABLE a TO b", 5),
    ]
    assert found(statements, {A: span(0, 4)}).unknown.keys() == {B}


def test_statement_before_all_rows_of_its_table_changes_none() -> None:
    assert found([statement("ALTER TABLE a DROP PARTITION p", 3)], {A: span(4, 9)}).unknown == {}


def test_statement_after_the_window_is_not_applied() -> None:
    spans = {A: span(0, 9)}
    truncate = [statement("TRUNCATE a", 5, commit_ts=6)]
    assert found(truncate, spans, (1, 8), Window(None, 6)).shares == {}
    assert found(truncate, spans, (1, 8), Window(None, 7)).of(A)[0].since is not None


def test_names_of_statements_match_in_another_case() -> None:
    assert found([statement("TRUNCATE TABLE S.A", 5)], {A: span(0, 9)}).shares.keys() == {A}


def test_dropped_database_empties_its_tables() -> None:
    other: TableName = ("x", "a")
    state = found(
        [statement("DROP DATABASE s", 5)], {A: span(0, 9), B: span(0, 9), other: span(0, 9)}
    )
    assert state.shares.keys() == {A, B}
