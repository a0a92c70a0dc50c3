"""Messages to rows by the decoder that a format has: the same as its events."""

from __future__ import annotations

import pytest

from cdcwire.errors import DecodeError
from cdcwire.format import Context, OptionError, Selection
from cdcwire.formats import FORMAT_NAMES, get_format
from cdcwire.message import StoredFile
from cdcwire.model.events import Event
from cdcwire.rows import Row
from cdcwire_conformance.arrow.decoders import message_decoder
from cdcwire_conformance.compressions import known_compressions
from cdcwire_generators.workloads import workload

EVENTS = list(workload("orders-10", 40, 3, ddl=True, resolved_every=10))


def events_of(found: object) -> list[Event]:
    assert isinstance(found, (list, tuple)) or hasattr(found, "__iter__")
    return [each.to_event() if isinstance(each, Row) else each for each in found]


@pytest.mark.parametrize("name", ["craft", "craft-proposal", "open-protocol"])
def test_decoder_gives_the_events_of_the_format(name: str) -> None:
    decode, found = message_decoder(name, Context()), get_format(name)
    for message in found.encode(EVENTS, Context()):
        assert events_of(decode(message)) == list(found.decode(message, Context()))


@pytest.mark.parametrize("compression", ["lz4", "snappy"])
def test_compressed_items_are_read_with_the_libraries_at_hand(compression: str) -> None:
    pytest.importorskip("cramjam", reason="needs the extra size")
    options = {"large-message-handle-compression": compression}
    told = Context(options=options, compressions=known_compressions())
    messages = list(get_format("open-protocol").encode(EVENTS, told))
    decode = message_decoder("open-protocol", Context(options=options))
    found = [event for message in messages for event in events_of(decode(message))]
    expected = [e for m in messages for e in get_format("open-protocol").decode(m, told)]
    assert found == expected


def test_table_that_is_not_selected_is_passed_over() -> None:
    context = Context(selection=Selection(frozenset({("shop", "nothing")})))
    for name in ("craft", "open-protocol"):
        decode = message_decoder(name, context)
        for message in get_format(name).encode(workload("orders-10", 20, 3), Context()):
            assert list(decode(message)) == []


def test_stored_file_is_no_message_of_the_open_protocol() -> None:
    with pytest.raises(DecodeError) as caught:
        list(message_decoder("open-protocol", Context())(StoredFile("a/b.json", b"")))
    assert caught.value.clause == "open-protocol: framing"


@pytest.mark.parametrize("name", FORMAT_NAMES)
def test_option_that_is_not_known_is_refused_at_once(name: str) -> None:
    with pytest.raises(OptionError):
        message_decoder(name, Context(options={"no-such-option": True}))
