"""Explaining and decoding agree: both refuse the same messages, for the same reason.

The spans of a message come in the order of its parts and bytes, and have each byte once.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import islice

import pytest
from hypothesis import settings

from cdcwire.core.context import Context
from cdcwire.core.errors import DecodeError
from cdcwire.core.message import KafkaMessage, Message
from cdcwire.core.options import OptionError
from cdcwire.core.reader import Span
from cdcwire.format import Format
from cdcwire.registry import FORMAT_NAMES, get_format
from cdcwire_conformance.corpus.case import Case
from cdcwire_conformance.corpus.derive import derive_cases, is_base
from cdcwire_conformance.corpus.store import load_cases

# Making malformed messages takes longer than trying them: a few cases give many of theirs.
_BASES = 2 * settings().max_examples
_EVERY = 20  # of the malformed messages of such a case


def _differences(cases: Iterable[Case]) -> list[str]:
    found = []
    for case in cases:
        format_ = get_format(case.format)
        try:
            context = format_.prepared(case.messages, case.context())
        except OptionError:
            continue  # no message is read with refused settings
        for number, message in enumerate(case.messages):
            decoded = _error(format_, message, context)
            explanation = format_.explain(message, context=context)
            if _shown(decoded) != _shown(explanation.error):
                found.append(f"{case.id}, message {number}: {decoded} / {explanation.error}")
            places = [("key value".index(span.part), span.start) for span in explanation.each()]
            if places != sorted(places):
                found.append(f"{case.id}, message {number}: spans out of order")
    return found


def _error(format_: Format, message: Message, context: Context) -> DecodeError | None:
    try:
        for _ in format_.to_events(message, context=context):
            pass
    except DecodeError as error:
        return error
    return None


def _shown(error: DecodeError | None) -> object:
    return None if error is None else (error.problem, error.offset, error.clause)


@pytest.mark.parametrize("name", FORMAT_NAMES)
def test_explain_refuses_what_decode_refuses(name: str) -> None:
    cases = [case for case in load_cases(formats=(name,)) if case.expect != "encode"]
    assert _differences(cases) == []


@pytest.mark.parametrize("name", FORMAT_NAMES)
def test_explain_refuses_malformed_messages_as_decode_does(name: str) -> None:
    bases = [case for case in load_cases(formats=[name]) if is_base(case)]
    some = (
        case
        for base in bases[:: -(-len(bases) // _BASES)]
        for case in islice(derive_cases(base), 0, None, _EVERY)
    )
    assert _differences(some) == []


def _uncovered(message: KafkaMessage, spans: Iterable[Span]) -> list[str]:
    """Return the parts with a byte that is in no span, or in two."""
    found = []
    ends = {"key": 0, "value": 0}
    for span in spans:
        if span.start != ends[span.part]:
            found.append(span.part)
        ends[span.part] = span.end
    sizes = {"key": len(message.key or b""), "value": len(message.value or b"")}
    return [*found, *(part for part, end in ends.items() if end != sizes[part])]


@pytest.mark.parametrize("name", FORMAT_NAMES)
def test_spans_cover_every_byte_of_key_and_value_once(name: str) -> None:
    format_ = get_format(name)
    wrong = []
    for case in load_cases(formats=(name,)):
        if case.expect != "accept":
            continue
        context = format_.prepared(case.messages, case.context())
        for message in case.messages:
            if not isinstance(message, KafkaMessage):
                continue
            for each in (message, replace(message, key=message.key or b"another key")):
                explanation = format_.explain(each, context=context)
                spans = list(explanation.each())
                if explanation.error is None and (parts := _uncovered(each, spans)):
                    wrong.append(f"{case.id}: {parts}, key {each.key!r}")
    assert wrong == []


@pytest.mark.parametrize(
    "name", ["canal-json", "craft", "craft-proposal", "datahub-blob", "datahub-tuple"]
)
def test_key_that_a_format_ignores_is_one_span(name: str) -> None:
    format_ = get_format(name)
    case = next(
        case
        for case in load_cases(formats=(name,))
        if case.expect == "accept" and isinstance(case.messages[0], KafkaMessage)
    )
    (message, *_) = case.messages
    assert isinstance(message, KafkaMessage)
    explanation = format_.explain(replace(message, key=b"another key"), context=case.context())
    assert explanation.error is None
    [span] = [span for span in explanation.spans if span.part == "key"]
    assert (span.start, span.end, span.value) == (0, 11, b"another key")
    assert span.note.startswith("not read")
    assert span.subject is None
