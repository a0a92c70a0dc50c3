"""Messages of Debezium's connectors and of Maxwell decode, and come back byte for byte."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from cdcwire.core.context import NO_CONTEXT, Context
from cdcwire.core.message import KafkaMessage
from cdcwire.format import Format
from cdcwire.formats import debezium_avro, debezium_json, maxwell_json
from cdcwire.model.events import Event, Marker, RowChange
from cdcwire.model.text import event_to_json
from cdcwire.registry import get_format
from cdcwire_evidence.debezium.engine import Sent
from cdcwire_evidence.producers.captures import MAXWELLS, Engine
from cdcwire_evidence.producers.feeds import Recording

JSON, AVRO, MAXWELL = map(get_format, ("debezium-json", "debezium-avro", "maxwell-json"))


def in_avro(sent: Sequence[Sent]) -> list[KafkaMessage]:
    return [found.avro for found in sent if found.avro is not None]


def test_messages_in_json_come_back_byte_for_byte(sent: Sequence[Sent]) -> None:
    for message in (each for found in sent for each in (found.message, found.bare)):
        decoded = debezium_json.decode(message.value, key=message.key)
        assert debezium_json.encode(decoded) == (message.key, message.value)


def test_events_give_the_json_of_the_connector(sent: Sequence[Sent], engine: Engine) -> None:
    context = Context(options=engine.options)
    for found in sent:
        events = list(JSON.to_events(found.message, context=NO_CONTEXT))
        assert list(JSON.from_events(events, context=context)) == [found.message]


def test_messages_in_avro_come_back_byte_for_byte(
    recording: Recording, sent: Sequence[Sent], engine: Engine
) -> None:
    """The schemas too: an event is written under the id of a text that is equal."""
    reading = Context(schemas=recording.schemas)
    writing = Context(options=engine.options, schemas=recording.schemas)
    for message in in_avro(sent):
        decoded = debezium_avro.decode(message.value, key=message.key, context=reading)
        assert debezium_avro.encode(decoded) == (message.key, message.value)
        events = list(AVRO.to_events(message, context=reading))
        assert list(AVRO.from_events(events, context=writing)) == [message]


def test_avro_says_what_json_says(recording: Recording, sent: Sequence[Sent]) -> None:
    context = Context(schemas=recording.schemas)
    without = Counter(found.topic.rpartition(".")[2] for found in sent if found.avro is None)
    assert without == {"Odd_Name-1": 3}  # Avro has no such names
    for found in sent:
        if found.avro is not None:
            read = JSON.to_events(found.message, context=NO_CONTEXT)
            expected = [without_key(event) for event in read]
            events = AVRO.to_events(found.avro, context=context)
            assert [without_key(event) for event in events] == expected


def without_key(event: Event) -> Event:
    """Return a tombstone without the bytes of its key, which differ by the encoding."""
    if not isinstance(event, Marker):
        return event
    extra = {name: value for name, value in event.extra.items() if name != "message_key"}
    return replace(event, extra=extra)


def test_fast_decoders_say_what_the_plain_ones_say(
    recording: Recording, sent: Sequence[Sent]
) -> None:
    check_fast(JSON, [found.message for found in sent], NO_CONTEXT)
    check_fast(JSON, [found.bare for found in sent], NO_CONTEXT)
    check_fast(AVRO, in_avro(sent), Context(schemas=recording.schemas))


def test_maxwell_doubles_the_quote_of_a_label(recording: Recording) -> None:
    """A known fault of Maxwell; it is on the format's page. Comparisons leave the table out."""
    for lines in recording.maxwell.values():
        labels = [
            json.loads(line)["data"].get("e") for line in lines if b'"table":"labels"' in line
        ]
        assert [label for label in labels if label] == ["it's", "x,y", "it''s", "x,y"]


def check_fast(form: Format, messages: Sequence[KafkaMessage], context: Context) -> None:
    for message in messages:
        expected = [event_to_json(event) for event in form.to_events(message, context=context)]
        found = form.events(message, context=context)
        assert [event_to_json(event) for event in found] == expected


def test_all_changes_of_the_workload_were_sent(sent: Sequence[Sent], engine: Engine) -> None:
    found = Counter(
        event.op if isinstance(event, RowChange) else event.what
        for each in sent
        for event in JSON.to_events(each.message, context=NO_CONTEXT)
    )
    of_durations = 3 * len(engine.left_out)
    assert (found["read"], found["insert"]) == (36 - of_durations, 44 - of_durations)
    assert (found["update"], found["truncate"]) == (14, 1)
    assert found["delete"] == found["tombstone"] == 9


def test_messages_of_maxwell_come_back_byte_for_byte(recording: Recording) -> None:
    assert recording.maxwell.keys() == MAXWELLS.keys()
    for lines in recording.maxwell.values():
        for line in lines:
            assert maxwell_json.encode(maxwell_json.decode(line)) == (None, line)
        check_fast(MAXWELL, [KafkaMessage(None, line) for line in lines], NO_CONTEXT)
