"""The fast decoder gives what the plain one gives, and refuses the same in the same words."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial

import pytest

from cdcwire.core.compiled import Irregular
from cdcwire.core.context import Context, Selection
from cdcwire.core.errors import DecodeError
from cdcwire.core.message import KafkaMessage, Message
from cdcwire.core.rows import Row, event_of
from cdcwire.formats.simple.fast import RowDecoder
from cdcwire.formats.simple.format import FORMAT, plain_events
from cdcwire.model.events import Event
from cdcwire_conformance.corpus.case import Case
from cdcwire_conformance.corpus.store import load_cases
from cdcwire_generators.workloads import workload

CASES = tuple(case for case in load_cases(["simple"]) if case.expect != "encode")
DAMAGES = 12  # of each message
BYTES = b'0123456789"\\{}[],:nulltrueudD\xff\x00 aZ+-./'
SELECTIONS = {
    "everything": Selection(),
    "columns": Selection(columns=frozenset({"id", "a", "c", "price"})),
    "another table": Selection(tables=frozenset({("shop", "other")})),
}


def outcome(decode: Callable[[], Iterable[Row | Event]]) -> object:
    """Return the events with their types, or where and why a message is refused."""
    try:
        return [repr(event_of(each)) for each in decode()]
    except DecodeError as error:
        return error.problem, error.offset, error.path, error.clause


def prepared(messages: Iterable[Message], context: Context) -> Context:
    assert FORMAT.prepared is not None
    return FORMAT.prepared(messages, context)


def damaged(value: bytes, seed: str) -> Iterable[bytes]:
    chance = random.Random(seed)
    for _ in range(DAMAGES):
        place, byte = chance.randrange(len(value)), bytes([chance.choice(BYTES)])
        yield value[:place] + byte + value[place + chance.randrange(2) :]
        yield value[:place] + value[place + 1 :]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_golden_cases_whole_and_damaged_are_read_as_by_the_plain_decoder(case: Case) -> None:
    context = prepared(case.messages, case.context())
    decoder = RowDecoder(context)

    def assert_same(message: Message) -> None:
        plain = outcome(lambda: plain_events(message, context=context))
        assert outcome(lambda: decoder.decode(message)) == plain

    for message in (*case.messages, *case.messages):
        assert_same(message)
    for message in case.messages:
        value = message.value
        if isinstance(message, KafkaMessage) and value and len(value) < 1 << 12:
            for changed in damaged(value, case.id):
                assert_same(replace(message, value=changed))


@pytest.mark.parametrize("selection", SELECTIONS.values(), ids=SELECTIONS)
def test_rows_of_a_feed_are_read_in_the_fast_way(selection: Selection) -> None:
    messages = list(FORMAT.from_events(workload("orders-10", 200, 1), context=Context()))
    context = replace(prepared(messages, Context()), selection=selection)
    decoder = Regular(context)
    for message in messages:
        decoder.decode(message)
    decoder.is_learned = True
    found = [outcome(partial(decoder.decode, each)) for each in messages[1:]]
    expected = [outcome(partial(plain_events, each, context=context)) for each in messages]
    assert found == expected[1:]
    assert any(found) == (selection.tables is None)


class Regular(RowDecoder):
    """A fast decoder that refuses what it does not read in the fast way, once it has learned."""

    is_learned = False

    def _plain(self, message: Message) -> Iterable[Event]:
        if self.is_learned:
            raise Irregular
        return super()._plain(message)
