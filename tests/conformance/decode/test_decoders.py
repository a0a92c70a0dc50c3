"""Messages to rows by the decoder that a format has: the same as its events."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cdcwire.arrow.batches import MessagePlace
from cdcwire.compressions import known_compressions
from cdcwire.core.context import Context, Selection
from cdcwire.core.errors import DecodeError
from cdcwire.core.message import KafkaMessage, StoredFile
from cdcwire.core.options import OptionError, OptionValue
from cdcwire.core.rows import Row
from cdcwire.model.events import Event
from cdcwire.registry import FORMAT_NAMES, get_format
from cdcwire_conformance.decode.decoders import message_decoder, place_decoder, table_of_topic
from cdcwire_generators.workloads import workload, workload_tables

EVENTS = list(workload("orders-10", 40, 3, ddl=True, resolved_every=10))


def events_of(found: object) -> list[Event]:
    assert isinstance(found, (list, tuple)) or hasattr(found, "__iter__")
    return [each.to_event() if isinstance(each, Row) else each for each in found]


@pytest.mark.parametrize("name", ["craft", "craft-proposal", "open-protocol"])
def test_decoder_gives_the_events_of_the_format(name: str) -> None:
    decode, found = message_decoder(get_format(name), Context()), get_format(name)
    for message in found.from_events(EVENTS, context=Context()):
        assert events_of(decode(message)) == list(found.to_events(message, context=Context()))


@pytest.mark.parametrize("compression", ["lz4", "snappy"])
def test_compressed_items_are_read_with_the_libraries_at_hand(compression: str) -> None:
    pytest.importorskip("cramjam", reason="needs the extra size")
    options = {"large-message-handle-compression": compression}
    context = Context(options=options, compressions=known_compressions())
    messages = list(get_format("open-protocol").from_events(EVENTS, context=context))
    decode = message_decoder(get_format("open-protocol"), Context(options=options))
    found = [event for message in messages for event in events_of(decode(message))]
    expected = [
        e for m in messages for e in get_format("open-protocol").to_events(m, context=context)
    ]
    assert found == expected


TOPICS: tuple[tuple[str, dict[str, OptionValue]], ...] = (
    ("datahub-tuple", {}),
    ("datahub-tuple", {"encoding": "batch", "compression": "deflate"}),
    ("datahub-tuple", {"encoding": "protobuf"}),
    ("datahub-blob", {}),
    ("datahub-blob", {"encoding": "json"}),
    ("datahub-blob", {"encoding": "batch", "split-updates": False}),
)


@pytest.mark.parametrize(("name", "options"), TOPICS)
def test_decoder_of_topics_gives_the_events_and_errors_of_the_format(
    name: str, options: dict[str, OptionValue]
) -> None:
    tables = workload_tables("orders-10")
    context, found = Context(options=options, tables=tables), get_format(name)
    events = workload("orders-10", 40, 3, position_fields=("sequence_id", "commit_ms"))
    decode = message_decoder(get_format(name), context)
    for message in found.from_events(events, context=context):
        assert isinstance(message, KafkaMessage)
        assert events_of(decode(message)) == list(found.to_events(message, context=context))
        assert message.value is not None
        damaged = replace(message, value=message.value[:-3])
        with pytest.raises(DecodeError) as expected:
            list(found.to_events(damaged, context=context))
        with pytest.raises(DecodeError) as given:
            list(decode(damaged))
        assert str(given.value) == str(expected.value)


def test_topic_is_known_by_its_name() -> None:
    tables = tuple(replace(workload_tables("tiny")[0], name=name) for name in ("a", "b", "b.1"))
    (table,) = workload_tables("tiny")
    found = {
        name: table_of_topic(name, tables) for name in ("a", "test.a", "a.7", "b.1", "c", "a.x")
    }
    assert found == {
        "a": tables[0],
        "test.a": tables[0],
        "a.7": tables[0],
        "b.1": None,  # the table of this name, or a shard of b
        "c": None,
        "a.x": None,
    }
    assert table_of_topic("c", (table,)) is table
    positions = ("sequence_id", "commit_ms")
    events = workload("tiny", 3, 1, inserts_only=True, position_fields=positions)
    context = Context(tables=(table,))
    (message,) = get_format("datahub-tuple").from_events(events, context=context)
    decoder_at = place_decoder(get_format("datahub-tuple"), Context(tables=(*tables, table)))
    assert len(list(decoder_at(MessagePlace("tiny"))(message))) == 3
    with pytest.raises(DecodeError, match="topic 'c' has no definition"):
        list(decoder_at(MessagePlace(file="/feed/c.jsonl"))(message))


def test_table_that_is_not_selected_is_passed_over() -> None:
    context = Context(selection=Selection(frozenset({("shop", "nothing")})))
    for name in ("craft", "open-protocol"):
        decode = message_decoder(get_format(name), context)
        for message in get_format(name).from_events(
            workload("orders-10", 20, 3), context=Context()
        ):
            assert list(decode(message)) == []


def test_claim_check_file_in_a_feed_has_no_rows() -> None:
    decode = message_decoder(get_format("open-protocol"), Context())
    assert list(decode(StoredFile("a/b.json", b""))) == []


@pytest.mark.parametrize("name", FORMAT_NAMES)
def test_option_that_is_not_known_is_refused_at_once(name: str) -> None:
    with pytest.raises(OptionError):
        message_decoder(get_format(name), Context(options={"no-such-option": True}))
