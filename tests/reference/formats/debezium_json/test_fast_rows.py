"""Rows by themselves are read the same in the fast way, and refused in the same words."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial

import pytest

from cdcwire.core.compiled import Irregular
from cdcwire.core.errors import DecodeError
from cdcwire.core.message import KafkaMessage, Message
from cdcwire.core.rows import event_of
from cdcwire.formats.debezium_json.fast import RowDecoder
from cdcwire.formats.debezium_json.format import plain_events
from cdcwire.model.events import Event
from cdcwire_conformance.corpus.case import Case
from cdcwire_conformance.corpus.store import load_cases

CASES = tuple(
    case
    for case in load_cases(["debezium-json"])
    if case.id.startswith("debezium-json/unwrapped/") and case.expect == "accept"
)
WRAPPED = tuple(
    case
    for case in CASES
    if case.id.startswith("debezium-json/unwrapped/mariadb-")
    and any(isinstance(each, KafkaMessage) and each.value is not None for each in case.messages)
)
BYTES = b'0123456789"\\{}[],:nulltrue \xff'
DAMAGES = 12  # of each message
END = 400  # bytes of a message that are damaged: its payload


class Regular(RowDecoder):
    """A fast decoder that refuses what it does not read in the fast way, once it has learned."""

    is_learned = False

    def _plain(self, message: Message) -> list[Event]:
        if self.is_learned:
            raise Irregular
        return super()._plain(message)


def outcome(decode: Callable[[], Iterable[object]]) -> object:
    """Return the events with their types, or where and why a message is refused."""
    try:
        return [repr(each) for each in decode()]
    except DecodeError as error:
        return error.problem, error.offset, error.path, error.clause


def damaged(value: bytes, seed: str) -> Iterable[bytes]:
    chance = random.Random(seed)
    for _ in range(DAMAGES):
        place = len(value) - 1 - chance.randrange(min(len(value), END))
        byte = bytes([chance.choice(BYTES)])
        yield value[:place] + byte + value[place + chance.randrange(2) :]
        yield value[:place] + value[place + 1 :]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_golden_cases_whole_and_damaged_are_read_as_by_the_plain_decoder(case: Case) -> None:
    context = case.context()
    decoder = RowDecoder(context)
    for message in (*case.messages, *case.messages, *case.messages):
        plain = outcome(partial(plain_events, message, context=context))
        assert outcome(partial(decoder.decode_events, message)) == plain
    for message in case.messages:
        if not isinstance(message, KafkaMessage) or not message.value:
            continue
        for value in damaged(message.value, case.id):
            changed = replace(message, value=value)
            plain = outcome(partial(plain_events, changed, context=context))
            assert outcome(partial(decoder.decode_events, changed)) == plain


@pytest.mark.parametrize("case", WRAPPED, ids=lambda case: case.id)
def test_row_whose_schema_was_learned_is_read_in_the_fast_way(case: Case) -> None:
    decoder = Regular(case.context())
    for message in (*case.messages, *case.messages, *case.messages):
        decoder.decode(message)
    decoder.is_learned = True
    rows = [m for m in case.messages if isinstance(m, KafkaMessage) and m.value is not None]
    found = [event_of(each) for message in rows for each in decoder.decode(message)]
    assert found == [each for m in rows for each in plain_events(m, context=case.context())]
    assert found
