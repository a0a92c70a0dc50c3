"""A Decoder gives the events and the errors of the plain decoder, whatever it has learned."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache, partial
from itertools import chain, zip_longest

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cdcwire
from cdcwire import Change, Decoder, OptionError, canal_json, decode
from cdcwire.core.context import Context, with_sent_tables
from cdcwire.core.errors import DecodeError
from cdcwire.core.message import KafkaMessage, Message, StoredFile
from cdcwire.model.events import RowChange
from cdcwire.registry import FORMAT_NAMES, get_format
from cdcwire_conformance.corpus.case import Case
from cdcwire_conformance.corpus.store import load_cases

MOST_FEEDS = 14 * settings().max_examples  # that take turns; the nightly run has all cases
each_format = pytest.mark.parametrize("name", FORMAT_NAMES)


@cache
def cases_of(name: str) -> tuple[tuple[Case, Context], ...]:
    """Return the cases that need nothing but allowed options, tables and schemas."""
    found = []
    for case in load_cases(formats=(name,)):
        context = replace(case.context(), compressions={})
        if context.blobs or "compression" in case.features:
            continue
        try:
            decoder_of(name, context)
        except OptionError:
            continue
        found.append((case, context))
    return tuple(found)


def decoder_of(name: str, context: Context) -> Decoder[RowChange]:
    return Decoder(name, options=context.options, tables=context.tables, schemas=context.schemas)


def text(found: object) -> str:
    """Return all that events or an error say; an empty ``extra`` may be of two classes."""
    return repr(found).replace("mappingproxy({})", "{}")


def outcome(decode: object, message: Message) -> object:
    """Return the events, or the error by all that it says."""
    assert callable(decode)
    try:
        return list(decode(message))
    except DecodeError as error:
        return type(error), error.args, error.path


def plain(name: str, context: Context) -> object:
    return lambda message: get_format(name).to_events(message, context=context)


def with_tables_in(name: str, message: Message, context: Context) -> Context:
    """Return the context after a message, which may define tables."""
    tables_in = get_format(name).tables_in
    if tables_in is None or not isinstance(message, KafkaMessage):
        return context
    return with_sent_tables(context, (*context.tables, *tables_in(message, context)))


@each_format
def test_case_is_decoded_as_the_plain_decoder_does(name: str) -> None:
    count = 0
    for case, context in cases_of(name):
        decoder = decoder_of(name, context)
        for message in case.messages * 2:  # the second time, it knows the tables
            context = with_tables_in(name, message, context)
            expected = text(outcome(plain(name, context), message))
            assert text(outcome(decoder.decode, message)) == expected, case.id
            count += 1
    assert count > 0


def interleaved(name: str) -> Iterator[tuple[Case, Context, Message]]:
    """Yield the messages of many cases in turn, so that settings change from one to the next."""
    cases = cases_of(name)
    some = cases[:: -(-len(cases) // MOST_FEEDS)]
    feeds = [[(case, context, each) for each in case.messages] for case, context in some]
    yield from filter(None, chain(*zip_longest(*feeds)))


def once(name: str, context: Context) -> object:
    """Return the function that decodes one message, as users call it."""
    options, tables, schemas = context.options, context.tables, context.schemas
    return partial(decode, name, options=options, tables=tables, schemas=schemas)


@each_format
def test_function_decodes_interleaved_feeds_as_the_plain_decoder_does(name: str) -> None:
    """Feeds of other options, tables and schemas take turns, and each message comes twice."""
    for case, context, message in interleaved(name):
        expected = text(outcome(plain(name, with_tables_in(name, message, context)), message))
        for _ in range(2):
            assert text(outcome(once(name, context), message)) == expected, case.id


@each_format
def test_to_events_of_interleaved_feeds_gives_what_the_plain_decoder_gives(name: str) -> None:
    to_events = getattr(cdcwire, name.replace("-", "_")).to_events
    for case, context, message in interleaved(name):
        for each in (message, damaged(message, 0.5, 0x2C)):
            expected = text(outcome(plain(name, context), each))
            for _ in range(2):
                assert text(outcome(partial(to_events, context=context), each)) == expected, case.id


def test_to_events_follows_changed_options() -> None:
    options: dict[str, str | int] = {"dialect": "ticdc"}
    context = Context(options=options)
    message = KafkaMessage(None, b"")
    assert canal_json.to_events(message, context=context) == []
    options["dialect"] = "other"
    with pytest.raises(OptionError, match="dialect"):
        canal_json.to_events(message, context=context)


def test_to_events_in_threads_gives_what_the_plain_decoder_gives() -> None:
    cases = [(c, x, m) for c, x in cases_of("canal-json") for m in c.messages]
    expected = [text(outcome(plain("canal-json", x), m)) for _, x, m in cases]

    def read(_: int) -> list[str]:
        return [
            text(outcome(partial(canal_json.to_events, context=x), message))
            for _, x, message in cases
        ]

    with ThreadPoolExecutor(4) as pool:
        assert all(found == expected for found in pool.map(read, range(8)))


@each_format
@given(data=st.data())
def test_function_decodes_damaged_messages_as_the_plain_decoder_does(
    name: str, data: st.DataObject
) -> None:
    case, context = data.draw(st.sampled_from(cases_of(name)))
    for message in case.messages:
        place = data.draw(st.floats(0, 1, exclude_max=True))
        broken = damaged(message, place, data.draw(st.integers(0, 255)))
        known = with_tables_in(name, broken, context)
        for each in (message, broken):
            outcome(once(name, context), each)
        expected = text(outcome(plain(name, known), broken))
        assert text(outcome(once(name, context), broken)) == expected


def damaged(message: Message, place: float, byte: int) -> Message:
    value = message.value or b""
    at = int(place * len(value))
    value = value[:at] + bytes([byte]) + value[at + 1 :]
    if isinstance(message, StoredFile):
        return StoredFile(message.path, value)
    return KafkaMessage(message.key, value, message.headers, message.has_key)


@each_format
@given(data=st.data())
def test_damaged_message_is_decoded_as_the_plain_decoder_does(
    name: str, data: st.DataObject
) -> None:
    case, context = data.draw(st.sampled_from(cases_of(name)))
    decoder = decoder_of(name, context)
    for message in case.messages:
        outcome(decoder.decode, message)
        place = data.draw(st.floats(0, 1, exclude_max=True))
        broken = damaged(message, place, data.draw(st.integers(0, 255)))
        for each in (message, broken):  # both may define tables, which a decoder keeps
            context = with_tables_in(name, each, context)
        expected = text(outcome(plain(name, context), broken))
        assert text(outcome(decoder.decode, broken)) == expected


@each_format
def test_threads_share_a_decoder(name: str) -> None:
    case, context = max(
        (each for each in cases_of(name) if each[0].expect == "accept"),
        key=lambda each: len(each[0].messages),
    )
    decoder = decoder_of(name, context)
    messages = case.messages * 50
    expected = [text(outcome(plain(name, context), message)) for message in messages]
    with ThreadPoolExecutor(4) as pool:
        found = pool.map(lambda message: text(outcome(decoder.decode, message)), messages)
        assert [*found] == expected


@each_format
def test_typed_rows_hold_the_values_of_the_events(name: str) -> None:
    count = 0
    for case, context in cases_of(name):
        if case.expect != "accept":
            continue
        options, tables, schemas = context.options, context.tables, context.schemas
        typed = Decoder(name, rows=dict, options=options, tables=tables, schemas=schemas)
        for message in case.messages:
            events = outcome(plain(name, context), message)
            if not isinstance(events, list):
                continue
            for event, change in zip(events, typed.decode(message), strict=True):
                if isinstance(event, RowChange):
                    assert isinstance(change, Change)
                    assert replace(change, before=None, after=None) == Change(
                        event.op,
                        event.table,
                        None,
                        None,
                        event.position,
                        event.half,
                        event.sent,
                        event.extra,
                    )
                    images = (event.before, event.after)
                    before, after = (
                        None
                        if image is None
                        else {column.name: value for column, value in image.pairs}
                        for image in images
                    )
                    assert repr(change.before) == repr(before), case.id
                    assert repr(change.after) == repr(after), case.id
                    count += 1
    assert count > 0
