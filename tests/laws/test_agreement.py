"""The formats of one family agree on what they all carry."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdcwire.format import Format
from cdcwire.formats import FORMAT_NAMES, get_format
from cdcwire.model.steps import join_halves
from cdcwire_generators.domain import domain_of, fullest_options
from cdcwire_generators.passage import common_part, plainly, sent_through, texts_of
from cdcwire_generators.strategies import ChangeStream, change_streams

PAIRS = list(combinations(FORMAT_NAMES, 2))
# Formats that carry each other's events whole; then all of them, on their common ground.
WHOLE = tuple(
    name
    for name in FORMAT_NAMES
    if get_format(name).carries.fields["before of update"].verdict != "no"
)
CHAINS = [("craft", "craft-proposal", "open-protocol"), WHOLE]


def shared_fields(formats: list[Format]) -> tuple[str, ...]:
    """Return the fields of a position that streams have and all of ``formats`` carry."""
    return tuple(
        field
        for field in ("commit_ts", "partition")
        if all(each.carries.fields[field].verdict in ("exact", "option") for each in formats)
    )


@pytest.mark.parametrize(("left", "right"), PAIRS, ids=["=".join(pair) for pair in PAIRS])
@given(data=st.data())
def test_two_formats_give_equal_events(left: str, right: str, data: st.DataObject) -> None:
    """decode(encode(x)) is the same in both formats for what both carry exactly."""
    formats = [get_format(left), get_format(right)]
    fields = shared_fields(formats)
    domain = replace(domain_of(*formats), position_fields=fields)
    stream: ChangeStream = data.draw(change_streams(domain=domain))
    here, there = (
        sent_through(stream.events, each, fullest_options(each), tables=stream.tables)
        for each in formats
    )
    ours, theirs = (common_part(join_halves(found), *formats) for found in (here, there))
    assert texts_of(plainly(ours, fields)) == texts_of(plainly(theirs, fields))


@pytest.mark.parametrize("names", CHAINS, ids=["messages", "all"])
@given(data=st.data())
def test_a_chain_of_formats_changes_nothing(names: tuple[str, ...], data: st.DataObject) -> None:
    """Events that went through all formats are as they were after the first."""
    formats = [get_format(name) for name in names]
    keeps_codes = all(f.carries.fields["schema change"].verdict == "exact" for f in formats)
    fields = shared_fields(formats)
    domain = replace(domain_of(*formats), position_fields=fields)
    stream: ChangeStream = data.draw(change_streams(domain=domain, with_schema_changes=keeps_codes))
    first = events = sent_through(stream.events, formats[0])
    for through in [*formats[1:], formats[0]]:
        options = fullest_options(through)
        events = sent_through(join_halves(events), through, options, tables=stream.tables)
    assert texts_of(plainly(events, fields)) == texts_of(plainly(first, fields))


ENDS = [name for name in FORMAT_NAMES if name not in WHOLE]


@pytest.mark.parametrize("last", ENDS)
@given(data=st.data())
def test_a_chain_that_ends_in_a_format_without_old_rows_keeps_what_it_carries(
    last: str, data: st.DataObject
) -> None:
    """Rows that went through all other formats lose nothing more in the last one.

    It completes columns from the definition of their table, since others tell less of them.
    """
    formats = [get_format(name) for name in (*WHOLE, last)]
    fields = shared_fields(formats)
    domain = replace(domain_of(*formats), position_fields=fields)
    stream: ChangeStream = data.draw(change_streams(domain=domain, with_schema_changes=False))
    first = events = sent_through(stream.events, formats[0])
    for through in formats[1:]:
        options = fullest_options(through)
        events = sent_through(join_halves(events), through, options, tables=stream.tables)
    left = common_part(first, *formats)
    assert texts_of(plainly(events, fields)) == texts_of(plainly(left, fields))
