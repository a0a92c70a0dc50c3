"""Steps over events, by hand. The laws of all steps stand in tests/laws."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cdcwire.model.events import Event, Image, Marker, Position, Progress, RowChange, Sent, Table
from cdcwire.model.kinds import Column, FloatType, IntType, TextType
from cdcwire.model.steps import (
    IncompleteUpdateError,
    drop_markers,
    drop_repeats,
    fill_unchanged,
    join_halves,
    split_key_changes,
)

ID = Column("id", IntType(32), roles=frozenset({"primary", "handle"}))
NAME = Column("name", TextType())
TABLE = Table("t", "test", key=("id",))


def image(number: int, name: str | None) -> Image:
    return Image((ID, NAME), (number, name))


def half(which: str, number: int, name: str, sequence_id: int) -> RowChange:
    position = Position(sequence_id=sequence_id)
    if which == "before":
        return RowChange(TABLE, "update", image(number, name), None, position, "before")
    return RowChange(TABLE, "update", None, image(number, name), position, "after")


def update(before: Image | None, after: Image, sent: Sent | None = None) -> RowChange:
    return RowChange(TABLE, "update", before, after, Position(commit_ts=5), sent=sent)


def test_join_halves_makes_one_update_of_two_neighbours() -> None:
    resolved = Progress("resolved")
    joined = list(join_halves([half("before", 1, "a", 7), resolved, half("after", 1, "b", 7)]))
    assert joined == [
        resolved,
        RowChange(TABLE, "update", image(1, "a"), image(1, "b"), Position(sequence_id=7)),
    ]


@pytest.mark.parametrize(
    "events",
    [
        [half("before", 1, "a", 7)],
        [half("after", 1, "a", 7)],
        [half("before", 1, "a", 7), half("after", 1, "b", 8)],
        [half("before", 1, "a", 7), half("before", 1, "a", 7)],
    ],
    ids=["no-after", "no-before", "other-sequence-id", "two-befores"],
)
def test_join_halves_half_alone_is_an_error(events: list[Event]) -> None:
    with pytest.raises(
        IncompleteUpdateError, match=r"only the (before|after) record .* sequence id 7"
    ):
        list(join_halves(events))


def test_fill_unchanged_completes_the_old_row() -> None:
    sent = update(Image((NAME,), (None,)), image(1, "b"), "changed")
    assert list(fill_unchanged([sent])) == [update(image(1, None), image(1, "b"))]


def test_fill_unchanged_leaves_what_was_sent_whole() -> None:
    whole = update(None, image(1, "b"))
    assert list(fill_unchanged([whole])) == [whole]


def test_split_key_changes_gives_delete_and_insert() -> None:
    changed = update(image(1, "a"), image(2, "a"))
    assert list(split_key_changes([changed])) == [
        replace(changed, op="delete", after=None),
        replace(changed, op="insert", before=None),
    ]


def test_split_key_changes_leaves_other_updates() -> None:
    same_key = update(image(1, "a"), image(1, "b"))
    assert list(split_key_changes([same_key])) == [same_key]


def test_drop_markers_keeps_rows_and_progress() -> None:
    rest: list[Event] = [update(None, image(1, "a")), Progress("resolved")]
    assert list(drop_markers([rest[0], Marker("tombstone"), rest[1]])) == rest
    assert list(drop_markers([Marker("begin")], lambda marker: marker.what == "begin"))


def test_drop_repeats_drops_what_was_delivered_again() -> None:
    row = update(None, image(1, "a"))
    again = replace(row, position=replace(row.position, sent_ms=99))
    assert list(drop_repeats([row, again])) == [row]


def test_drop_repeats_keeps_what_differs_by_the_sign_of_zero() -> None:
    column = (Column("f", FloatType(64)),)
    rows = [update(None, Image(column, (0.0,))), update(None, Image(column, (-0.0,)))]
    assert len(list(drop_repeats(rows))) == 2


def test_drop_repeats_keeps_rows_without_position() -> None:
    row = RowChange(TABLE, "insert", None, image(1, "a"))
    assert list(drop_repeats([row, row])) == [row, row]


def test_drop_repeats_keeps_equal_rows_of_a_table_without_key() -> None:
    keyless = replace(TABLE, key=())
    row = RowChange(keyless, "insert", None, image(1, "a"), Position(commit_ts=5))
    assert list(drop_repeats([row, row])) == [row, row]
    numbered = replace(row, position=Position(sequence_id=7))
    assert list(drop_repeats([numbered, numbered])) == [numbered]
