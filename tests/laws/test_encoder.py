"""An Encoder gives the messages and the errors of the plain encoder, whatever came before."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial

import pytest

from cdcwire import Encoder
from cdcwire.core.context import Context
from cdcwire.core.errors import DecodeError, EncodeError
from cdcwire.core.message import Message
from cdcwire.model.events import Event
from cdcwire.registry import FORMAT_NAMES, get_format
from cdcwire_conformance.corpus.store import load_cases

each_format = pytest.mark.parametrize("name", FORMAT_NAMES)


def lists_of(name: str) -> list[tuple[str, Context, list[Event]]]:
    """Return the events of accepted cases, with the context that they are encoded with."""
    found = []
    for case in load_cases(formats=(name,)):
        context = replace(case.context(), compressions={})
        if case.expect != "accept" or "compression" in case.features or context.blobs:
            continue
        format_ = get_format(name)
        known = format_.prepared(case.messages, context)
        try:
            events = [e for each in case.messages for e in format_.to_events(each, context=known)]
        except DecodeError:  # a case that only some readers accept
            continue
        found.append((case.id, Context(options=known.options, tables=known.tables), events))
    return found


def outcome(encode: Callable[[list[Event]], Iterable[Message]], events: list[Event]) -> object:
    """Return the messages, or the error by all that it says."""
    try:
        return list(encode(events))
    except EncodeError as error:
        return type(error), error.args, error.path


@each_format
def test_events_are_encoded_as_the_plain_encoder_does(name: str) -> None:
    count = 0
    for case, context, events in lists_of(name):
        encoder = Encoder(name, options=context.options, tables=context.tables)
        expected = outcome(partial(get_format(name).from_events, context=context), events)
        for _ in range(2):  # the second time, it knows the columns
            assert outcome(encoder.encode, events) == expected, case
        count += isinstance(expected, list)
    assert count > 0


@each_format
def test_threads_share_an_encoder(name: str) -> None:
    _, context, events = max(lists_of(name), key=lambda each: len(each[2]))
    encoder = Encoder(name, options=context.options, tables=context.tables)
    expected = outcome(partial(get_format(name).from_events, context=context), events)
    with ThreadPoolExecutor(4) as pool:
        found = pool.map(lambda _: outcome(encoder.encode, events), range(40))
        assert all(each == expected for each in found)
