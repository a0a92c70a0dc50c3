"""Explaining and decoding agree: both refuse the same messages, for the same reason.

The spans of a message come in the order of its parts and bytes.
"""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from cdcwire.core.errors import DecodeError
from cdcwire.core.format import Context, Format
from cdcwire.core.message import Message
from cdcwire.core.options import OptionError
from cdcwire.core.registry import FORMAT_NAMES, get_format
from cdcwire_conformance.corpus.case import Case
from cdcwire_conformance.corpus.derive import derive_cases, is_base
from cdcwire_conformance.corpus.store import load_cases

_EVERY = 100  # of the malformed messages of a case


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
    some = (case for base in bases for case in list(derive_cases(base))[::_EVERY])
    assert _differences(some) == []
