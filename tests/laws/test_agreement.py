"""The formats of one family agree on what they all carry."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdcwire.formats import FORMAT_NAMES, get_format
from cdcwire.model.events import Event, RowChange, Table
from cdcwire_generators.domain import domain_of
from cdcwire_generators.passage import sent_through, texts_of
from cdcwire_generators.strategies import change_streams

PAIRS = list(combinations(FORMAT_NAMES, 2))


@pytest.mark.parametrize(("left", "right"), PAIRS, ids=["=".join(pair) for pair in PAIRS])
@given(data=st.data())
def test_two_formats_give_equal_events(left: str, right: str, data: st.DataObject) -> None:
    """decode(encode(x)) is the same in both formats for what both carry exactly."""
    ours, theirs = get_format(left), get_format(right)
    stream = data.draw(change_streams(domain=domain_of(ours, theirs)))
    here = sent_through(stream.events, ours)
    there = sent_through(stream.events, theirs)
    assert texts_of(map(_key_by_name, here)) == texts_of(map(_key_by_name, there))


@given(data=st.data())
def test_a_chain_of_formats_changes_nothing(data: st.DataObject) -> None:
    """Events that went through all formats are as they were after the first."""
    formats = [get_format(name) for name in FORMAT_NAMES]
    stream = data.draw(change_streams(domain=domain_of(*formats)))
    first = events = sent_through(stream.events, formats[0])
    for through in [*formats[1:], formats[0]]:
        events = sent_through(events, through)
    assert texts_of(map(_key_by_name, events)) == texts_of(map(_key_by_name, first))


def _key_by_name(event: Event) -> Event:
    """Return an event whose key names are sorted: one format gives columns in another order."""
    if not isinstance(event, RowChange):
        return event
    key = tuple(sorted(event.table.key or ()))
    table = Table(event.table.name, event.table.schema, key=key)
    return RowChange(table, event.op, event.before, event.after, event.position)
