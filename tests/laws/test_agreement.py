"""The formats agree on what they carry.

Tried are the pairs that the documents describe side by side, and each format with one hub. That is
enough for every pair: what a format gives back of what it carries exactly is what was sent (the law
of round trips), in each the same; the hub shows that nothing in the way of comparing hides a
difference. A hub shares a field of the position with the format. Canal-JSON shares commit
timestamps with the MySQL family and times in milliseconds with most of the rest; Debezium JSON has
ids of transactions.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdcwire.model.steps import join_halves
from cdcwire.registry import FORMAT_NAMES, get_format
from cdcwire_generators.comparing import common_part, plainly, texts_of
from cdcwire_generators.domain import (
    domain_of,
    fullest_options,
    shared_fields,
    with_position_fields,
)
from cdcwire_generators.messages import round_trip
from cdcwire_generators.strategies import ChangeStream, change_streams

HUBS = ("canal-json", "debezium-json")
DOCUMENTED = (
    ("craft", "open-protocol"),
    ("csv", "canal-json"),
    ("avro", "canal-json"),
    ("datahub-tuple", "datahub-blob"),
    ("cdl-json", "debezium-json"),
)


def _hub_of(name: str) -> str | None:
    found = (hub for hub in HUBS if shared_fields(get_format(name), get_format(hub)))
    return next(found, None)


_WITH_HUB = tuple(
    (name, hub) for name in FORMAT_NAMES if name != HUBS[0] and (hub := _hub_of(name)) is not None
)
PAIRS = tuple(dict.fromkeys((*DOCUMENTED, *_WITH_HUB)))
# Formats that carry each other's events whole, as far as they have anything in common.
CHAINS = {
    "messages": ("craft", "craft-proposal", "open-protocol"),
    "mysql": ("craft", "craft-proposal", "open-protocol", "csv", "canal-json"),
    "datahub": ("datahub-tuple", "datahub-blob"),
}
# Formats that have no old rows, and the chain that leads to each.
ENDS = {"avro": "mysql"}


@pytest.mark.parametrize(("left", "right"), PAIRS, ids=["=".join(pair) for pair in PAIRS])
@given(data=st.data())
def test_two_formats_give_equal_events(left: str, right: str, data: st.DataObject) -> None:
    """decode(encode(x)) is the same in both formats for what both carry exactly."""
    formats = [get_format(left), get_format(right)]
    fields = shared_fields(*formats)
    assert fields
    domain = with_position_fields(domain_of(*formats), fields)
    stream: ChangeStream = data.draw(change_streams(domain=domain))
    here, there = (
        round_trip(stream.events, each, fullest_options(each), tables=stream.tables)
        for each in formats
    )
    ours, theirs = (common_part(join_halves(found), *formats) for found in (here, there))
    assert texts_of(plainly(ours, fields)) == texts_of(plainly(theirs, fields))


@pytest.mark.parametrize("names", CHAINS.values(), ids=CHAINS)
@given(data=st.data())
def test_a_chain_of_formats_changes_nothing(names: tuple[str, ...], data: st.DataObject) -> None:
    """Events that went through all formats are as they were after the first."""
    formats = [get_format(name) for name in names]
    keeps_codes = all(f.carries.fields["schema change"].verdict == "exact" for f in formats)
    fields = shared_fields(*formats)
    domain = with_position_fields(domain_of(*formats), fields)
    stream: ChangeStream = data.draw(change_streams(domain=domain, with_schema_changes=keeps_codes))
    first = events = round_trip(stream.events, formats[0], tables=stream.tables)
    for through in [*formats[1:], formats[0]]:
        options = fullest_options(through)
        events = round_trip(join_halves(events), through, options, tables=stream.tables)
    assert texts_of(plainly(events, fields)) == texts_of(plainly(first, fields))


@pytest.mark.parametrize(("last", "chain"), ENDS.items(), ids=ENDS)
@given(data=st.data())
def test_a_chain_that_ends_in_a_format_without_old_rows_keeps_what_it_carries(
    last: str, chain: str, data: st.DataObject
) -> None:
    """Rows that went through all other formats lose nothing more in the last one.

    It completes columns from the definition of their table, since others tell less of them.
    """
    formats = [get_format(name) for name in (*CHAINS[chain], last)]
    fields = shared_fields(*formats)
    domain = with_position_fields(domain_of(*formats), fields)
    stream: ChangeStream = data.draw(change_streams(domain=domain, with_schema_changes=False))
    first = events = round_trip(stream.events, formats[0])
    for through in formats[1:]:
        options = fullest_options(through)
        events = round_trip(join_halves(events), through, options, tables=stream.tables)
    left = common_part(first, *formats)
    assert texts_of(plainly(events, fields)) == texts_of(plainly(left, fields))
