"""Laws of the steps over events: what they do to a stream, and what they leave alone."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdcwire.model.events import Event, Image, Marker, MarkerKind, Position, RowChange
from cdcwire.model.steps import (
    IncompleteUpdateError,
    drop_markers,
    drop_repeats,
    fill_unchanged,
    join_halves,
    split_key_changes,
)
from cdcwire.registry import get_format
from cdcwire_generators.comparing import texts_of
from cdcwire_generators.domain import Domain
from cdcwire_generators.messages import expected_feed, round_trip
from cdcwire_generators.strategies import ChangeStream, change_streams, row_changes

# Every change has a sequence id of its own, so that no two of a stream are the same.
NUMBERED = Domain(position_fields=("commit_ts", "sequence_id", "partition"))
KEY_ROLES = frozenset({"primary", "handle", "unique"})


def streams(*, with_key_changes: bool = False) -> st.SearchStrategy[ChangeStream]:
    return change_streams(domain=NUMBERED, with_key_changes=with_key_changes)


def halves_of(event: Event) -> list[Event]:
    if not isinstance(event, RowChange) or event.op != "update":
        return [event]
    return [
        replace(event, after=None, half="before"),
        replace(event, before=None, half="after"),
    ]


@given(stream=streams())
def test_join_halves_undoes_the_split_of_updates(stream: ChangeStream) -> None:
    """join_halves(halves(x)) == x."""
    halves = [half for event in stream.events for half in halves_of(event)]
    assert texts_of(join_halves(halves)) == texts_of(stream.events)


@given(stream=streams(), data=st.data())
def test_join_halves_finds_halves_across_other_tables(
    stream: ChangeStream, data: st.DataObject
) -> None:
    """Halves meet though rows of other tables stand between them, as in two files read at once."""
    queues = {
        name: [half for event in events for half in halves_of(event)]
        for name, events in _by_table(stream).items()
    }
    mixed: list[Event] = []
    while queues:
        name = data.draw(st.sampled_from(sorted(queues, key=str)))
        mixed.append(queues[name].pop(0))
        queues = {name: left for name, left in queues.items() if left}
    joined = [event for event in join_halves(mixed) if isinstance(event, RowChange)]
    for name, events in _by_table(stream).items():
        ours = [e for e in joined if (e.table.schema, e.table.name) == name]
        assert texts_of(ours) == texts_of(events)


def _by_table(stream: ChangeStream) -> dict[tuple[str | None, str | None], list[RowChange]]:
    rows = [event for event in stream.events if isinstance(event, RowChange)]
    by_name: dict[tuple[str | None, str | None], list[RowChange]] = {}
    for row in rows:
        by_name.setdefault((row.table.schema, row.table.name), []).append(row)
    return by_name


@given(change=row_changes(ops=("update",)), lost=st.sampled_from((0, 1)))
def test_join_halves_lone_half_raises(change: RowChange, lost: int) -> None:
    halves = halves_of(change)
    del halves[lost]
    with pytest.raises(IncompleteUpdateError) as caught:
        list(join_halves(halves))
    assert caught.value.event is halves[0]


@given(stream=streams(with_key_changes=True))
def test_fill_unchanged_undoes_what_was_left_out(stream: ChangeStream) -> None:
    """fill_unchanged(changed columns only) == all columns."""
    cut = [_changed_only(event) for event in stream.events]
    assert texts_of(fill_unchanged(cut)) == texts_of(stream.events)


def _changed_only(event: Event) -> Event:
    if not isinstance(event, RowChange) or event.before is None or event.after is None:
        return event
    after = event.after
    kept = [
        (column, value)
        for column, value in zip(event.before.columns, event.before.values, strict=True)
        if repr(after[column.name]) != repr(value)
    ]
    before = Image(tuple(c for c, _ in kept), tuple(v for _, v in kept)) if kept else None
    return replace(event, before=before, sent="changed")


@given(stream=change_streams())
def test_fill_unchanged_completes_open_protocol(stream: ChangeStream) -> None:
    """With only-output-updated-columns the same updates come back as without it.

    An update that changes nothing can't be known from an insert, and 0.0 equals -0.0 for the
    producer; both are left out here.
    """
    through = get_format("open-protocol")
    events = [event for event in stream.events if _shows_a_change(event)]
    cut = round_trip(events, through, {"only-output-updated-columns": True})
    assert texts_of(fill_unchanged(cut)) == texts_of(expected_feed(events, through))


def _shows_a_change(event: Event) -> bool:
    if not isinstance(event, RowChange) or event.before is None or event.after is None:
        return True
    pairs = list(zip(event.before.values, event.after.values, strict=True))
    return any(old != new for old, new in pairs) and all(
        repr(old) == repr(new) for old, new in pairs if old == new
    )


@given(stream=streams(with_key_changes=True))
def test_split_key_changes_leaves_no_update_of_a_key(stream: ChangeStream) -> None:
    """No update changes a value of its key after the step, and a second pass changes nothing."""
    split = list(split_key_changes(stream.events))
    for event in split:
        if isinstance(event, RowChange) and event.op == "update":
            assert event.before is not None
            assert event.after is not None
            for column, value in zip(event.before.columns, event.before.values, strict=True):
                if column.roles & KEY_ROLES:
                    assert value == event.after[column.name]
    assert texts_of(split_key_changes(split)) == texts_of(split)


@given(stream=streams(with_key_changes=True))
def test_split_key_changes_keeps_the_final_rows(stream: ChangeStream) -> None:
    """Whoever applies the changes ends with the same rows."""
    split = list(split_key_changes(stream.events))
    assert final_rows(split) == final_rows(list(stream.events))
    positions = [event.position for event in split]
    assert [p for p, _ in groupby(positions)] == [e.position for e in stream.events]


def final_rows(events: list[Event]) -> dict[str, int]:
    """Return how many times each row occurs at the end."""
    rows: dict[str, int] = {}
    for event in events:
        if isinstance(event, RowChange):
            for image, count in ((event.before, -1), (event.after, 1)):
                if image is not None:
                    row = repr((event.table.schema, event.table.name, image.values))
                    rows[row] = rows.get(row, 0) + count
    return {row: count for row, count in rows.items() if count}


@given(stream=streams(), data=st.data())
def test_drop_markers_drops_them_and_nothing_else(
    stream: ChangeStream, data: st.DataObject
) -> None:
    events = list(stream.events)
    for kind in data.draw(st.lists(st.sampled_from(get_args(MarkerKind)), max_size=4)):
        place = data.draw(st.integers(0, len(events)))
        events.insert(place, Marker(kind, None, Position(commit_ts=1)))
    assert list(drop_markers(events)) == list(stream.events)
    kept = list(drop_markers(events, wanted=lambda marker: marker.what != "tombstone"))
    assert kept == [e for e in events if not (isinstance(e, Marker) and e.what == "tombstone")]


@given(stream=streams(), data=st.data())
def test_drop_repeats_undoes_a_second_delivery(stream: ChangeStream, data: st.DataObject) -> None:
    """Rows that are sent again later, at another time, go; all else stays in its place."""
    events = list(stream.events)
    repeated = list(events)
    for _ in range(data.draw(st.integers(0, 4))):
        places = [p for p, event in enumerate(repeated) if isinstance(event, RowChange)]
        if places:
            place = data.draw(st.sampled_from(places))
            again = repeated[place]
            assert isinstance(again, RowChange)
            again = replace(again, position=replace(again.position, sent_ms=99))
            repeated.insert(data.draw(st.integers(place + 1, len(repeated))), again)
    assert texts_of(drop_repeats(repeated)) == texts_of(events)


@given(stream=streams())
def test_drop_repeats_of_a_whole_stream_twice_gives_it_once(stream: ChangeStream) -> None:
    rows = [event for event in stream.events if isinstance(event, RowChange)]
    assert list(drop_repeats([*rows, *rows])) == rows
