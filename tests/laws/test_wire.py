"""The wire layers lose nothing: encode(decode(b)) == b for canonical bytes."""

from __future__ import annotations

from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdcwire import craft, craft_proposal, open_protocol
from cdcwire.formats import FORMAT_NAMES, get_format
from cdcwire.message import KafkaMessage
from cdcwire_generators.passage import encoded
from cdcwire_generators.strategies import (
    change_streams,
    craft_messages,
    craft_renderings,
    open_messages,
    open_renderings,
    proposal_messages,
)


@given(message=craft_messages())
def test_craft_canonical_bytes_come_back_byte_for_byte(message: craft.Message) -> None:
    """encode(decode(b)) == b, with undefined flag bits, unknown type codes and every float."""
    canonical = craft.encode(message)
    assert craft.encode(craft.decode(canonical)) == canonical


@given(data=st.data(), message=craft_messages())
def test_craft_every_rendering_means_the_same(data: st.DataObject, message: craft.Message) -> None:
    """decode(r) == decode(encode(m)) for every form r that the format allows for m."""
    rendering = data.draw(craft_renderings(message))
    assert craft.encode(craft.decode(rendering)) == craft.encode(message)


@given(message=proposal_messages())
def test_proposal_canonical_bytes_come_back_byte_for_byte(message: craft_proposal.Message) -> None:
    canonical = craft_proposal.encode(message)
    assert craft_proposal.encode(craft_proposal.decode(canonical)) == canonical


@given(message=proposal_messages(with_unknown=True))
def test_proposal_unknown_bits_come_back_byte_for_byte(message: craft_proposal.Message) -> None:
    """What a later version added is kept, so that nothing is lost in silence."""
    written = craft_proposal.encode(message)
    assert craft_proposal.encode(craft_proposal.decode(written)) == written


@pytest.mark.parametrize("dialect", ["tiflow", "ticdc"])
@given(data=st.data())
def test_open_protocol_canonical_bytes_come_back_byte_for_byte(
    dialect: Literal["tiflow", "ticdc"], data: st.DataObject
) -> None:
    """encode(decode(b)) == b for both producers."""
    message = data.draw(open_messages(dialect=dialect))
    key, value = open_protocol.encode(message, dialect)
    again = open_protocol.decode(key, value)
    assert open_protocol.encode(again, dialect) == (key, value)


@given(data=st.data(), message=open_messages())
def test_open_protocol_every_rendering_means_the_same(
    data: st.DataObject, message: open_protocol.Message
) -> None:
    """decode(r) == decode(encode(m)) for every form r that a decoder takes for m."""
    key, value = data.draw(open_renderings(message))
    found = open_protocol.decode(key, value)
    assert open_protocol.encode(found) == open_protocol.encode(message)


@pytest.mark.parametrize("name", FORMAT_NAMES)
@given(data=st.data())
def test_encoded_events_are_canonical(name: str, data: st.DataObject) -> None:
    """What the model layer encodes is what the wire layer would write again."""
    stream = data.draw(change_streams())
    for message in encoded(stream.events, get_format(name)):
        assert isinstance(message, KafkaMessage)
        assert message.value is not None
        if name == "craft":
            assert craft.encode(craft.decode(message.value)) == message.value
        elif name == "craft-proposal":
            assert craft_proposal.encode(craft_proposal.decode(message.value)) == message.value
        else:
            pair = open_protocol.encode(open_protocol.decode(message.key, message.value))
            assert pair == (message.key, message.value)
