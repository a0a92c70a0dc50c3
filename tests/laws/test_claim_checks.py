"""Errors in claim-check files: the offset lies in the message, and all ways report the same."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import pytest

from cdcwire.core.context import Context
from cdcwire.core.errors import DecodeError
from cdcwire.core.message import KafkaMessage, Message
from cdcwire.format import Format
from cdcwire.registry import FORMAT_NAMES, get_format
from cdcwire_conformance.corpus.case import Case
from cdcwire_conformance.corpus.store import load_cases

CASES = [
    case
    for name in FORMAT_NAMES
    for case in load_cases(formats=(name,))
    if case.blobs and case.expect != "encode"
]


def changed_files(blobs: Mapping[str, bytes]) -> Iterator[Mapping[str, bytes]]:
    """Yield the files with one of them cut, longer, or changed in one byte."""
    for name, content in blobs.items():
        step = max(1, len(content) // 40)
        for place in range(0, len(content), step):
            yield {**blobs, name: content[:place]}
            yield {**blobs, name: content[:place] + b"}" + content[place + 1 :]}
        yield {**blobs, name: content + b" " * 5000 + b"x"}


def outcomes(format_: Format, message: Message, context: Context) -> list[DecodeError | None]:
    found: list[DecodeError | None] = []
    for decode in (
        lambda: list(format_.to_events(message, context=context)),
        lambda: list(format_.decoder(context)(message)),
    ):
        try:
            decode()
            found.append(None)
        except DecodeError as error:
            found.append(error)
    return [*found, format_.explain(message, context=context).error]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_offset_of_an_error_in_a_claim_check_lies_in_the_message(case: Case) -> None:
    format_, refused = get_format(case.format), 0
    context = format_.prepared(case.messages, case.context())
    for blobs in (case.blobs, *changed_files(case.blobs)):
        for message in case.messages:
            found = outcomes(format_, message, replace(context, blobs=blobs))
            assert len({error and (error.problem, error.offset) for error in found}) == 1
            if found[0] is not None:
                refused += 1
                assert isinstance(message, KafkaMessage)
                longest = max(len(message.key or b""), len(message.value or b""))
                assert all(error and 0 <= error.offset <= longest for error in found)
    assert refused


def test_formats_with_claim_checks_have_cases() -> None:
    with_files = {name for name in FORMAT_NAMES if get_format(name).has_claim_checks}
    assert {case.format for case in CASES} == with_files
