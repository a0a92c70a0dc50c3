"""The proposal's promise: an old reader skips what a later version adds, and reads the rest."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from cdcwire.core.context import NO_CONTEXT
from cdcwire.core.message import KafkaMessage
from cdcwire.formats.craft import proposal as craft_proposal
from cdcwire.formats.craft.proposal.message import ColumnGroup, Message, RowEvent, UnknownEvent
from cdcwire.model.events import Event
from cdcwire.registry import get_format
from cdcwire_generators.comparing import texts_of
from cdcwire_generators.formats.craft.proposal.messages import (
    proposal_messages,
    proposal_renderings,
)


def known_part(message: Message) -> Message:
    """Return a message as a writer of this version would have written it."""
    events: list[craft_proposal.Event] = []
    for event in message.events:
        if isinstance(event, UnknownEvent):
            continue
        if isinstance(event, RowEvent):
            groups = tuple(
                replace(group, surplus=b"")
                for group in event.groups
                if isinstance(group, ColumnGroup)
            )
            if groups:
                events.append(replace(event, groups=groups, surplus=b""))
        else:
            events.append(replace(event, surplus=b""))
    return Message(tuple(events))


def events_of(raw: bytes) -> list[Event]:
    return list(get_format("craft-proposal").to_events(KafkaMessage(None, raw), context=NO_CONTEXT))


@given(message=proposal_messages(with_unknown=True), data=st.data())
def test_old_reader_skips_what_a_later_version_adds(message: Message, data: st.DataObject) -> None:
    """The events of a message with unknown bits are those of the message without them."""
    later = data.draw(proposal_renderings(message))
    known = known_part(message)
    expected = events_of(craft_proposal.encode(known)) if known.events else []
    assert texts_of(events_of(later)) == texts_of(expected)


@given(message=proposal_messages(with_unknown=True), data=st.data())
def test_every_rendering_means_the_same(message: Message, data: st.DataObject) -> None:
    """decode(r) == decode(encode(m)) for every form r that the format allows for m."""
    rendering = data.draw(proposal_renderings(message))
    again = craft_proposal.encode(craft_proposal.decode(rendering))
    assert again == craft_proposal.encode(message)
