"""Explained messages of the Craft proposal, and the format in the registry."""

from __future__ import annotations

from itertools import pairwise

import pytest

from cdcwire.core.context import NO_CONTEXT, Context, Selection
from cdcwire.core.errors import DecodeError
from cdcwire.core.message import KafkaMessage
from cdcwire.formats.craft.proposal.format import FORMAT
from cdcwire.model.events import path_text
from cdcwire.registry import get_format

DELETE = bytes.fromhex(
    "00010001 0101000101730174 0302020169646603040b410208020000c03f 010801120112 06"
)
# A resolved event, an event of type 9; surplus in the keys, a value and the size tables.
UNKNOWN = bytes.fromhex(
    "00010002 0100 0309 0000 0101 0000 0000 ee aa bbcc 010d 020102 00 0107 dd 09"
)


@pytest.mark.parametrize("data", [DELETE, UNKNOWN])
def test_spans_cover_every_byte_once_and_in_order(data: bytes) -> None:
    found = FORMAT.explain(KafkaMessage(None, data), context=NO_CONTEXT)
    assert found.error is None
    assert found.spans[0].start == 0
    assert found.spans[-1].end == len(data)
    assert all(one.end == two.start for one, two in pairwise(found.spans))
    assert all(span.clause.startswith("craft-proposal: ") for span in found.spans)


def test_spans_name_codes() -> None:
    found = FORMAT.explain(KafkaMessage(None, DELETE), context=NO_CONTEXT)
    texts = {path_text(span.path): span.text for span in found.spans}
    assert texts["events[0].type"] == "1 (row)"
    assert texts["events[0].partition"] == "-1 (none)"
    assert texts["events[0].groups[0].type"] == "3 (delete)"
    assert texts["events[0].groups[0].columns[1].type"] == "4 (float)"
    assert texts["events[0].groups[0].columns[1].flags"] == "65 (binary, nullable)"
    assert texts["events[0].groups[0].columns[1].name"] == "'f'"


def test_warnings_name_what_is_passed_over() -> None:
    found = FORMAT.explain(KafkaMessage(None, UNKNOWN), context=NO_CONTEXT)
    assert [warning.split(":")[0] for warning in found.warnings] == [
        "keys",
        "events[0]",
        "events[1]",
        "size_tables",
    ]
    notes = {path_text(span.path): span.note for span in found.spans if span.note}
    assert notes == {
        "keys.surplus": "ignored",
        "events[0].surplus": "ignored",
        "events[1].value": "event type 9 is not known",
        "size_tables.surplus": "ignored",
    }


@pytest.mark.parametrize("cut", range(len(DELETE)))
def test_truncated_message_is_explained_as_far_as_it_goes(cut: int) -> None:
    found = FORMAT.explain(KafkaMessage(None, DELETE[:cut]), context=NO_CONTEXT)
    assert found.error is not None
    assert found.warnings == ()
    assert all(0 <= span.start < span.end <= cut for span in found.spans)


def test_registry_decodes_and_encodes() -> None:
    assert get_format("craft-proposal") is FORMAT
    events = list(FORMAT.to_events(KafkaMessage(None, DELETE), context=NO_CONTEXT))
    assert list(FORMAT.from_events(events, context=NO_CONTEXT)) == [KafkaMessage(None, DELETE)]


def test_selection_of_the_context_is_kept_to() -> None:
    context = Context(selection=Selection(tables=frozenset({("s", "other")})))
    assert list(FORMAT.to_events(KafkaMessage(None, DELETE), context=context)) == []


def test_message_without_value_is_rejected() -> None:
    with pytest.raises(DecodeError) as caught:
        list(FORMAT.to_events(KafkaMessage(None, None), context=NO_CONTEXT))
    assert caught.value.clause == "craft-proposal: kafka message"
