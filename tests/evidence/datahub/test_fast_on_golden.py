"""The fast decoders on golden and on damaged messages: exactly what the plain ones say."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain

import pytest

from cdcwire.core.errors import DecodeError
from cdcwire.core.message import Message
from cdcwire.core.rows import Row
from cdcwire.registry import get_format
from cdcwire_conformance.corpus.case import Case
from cdcwire_conformance.corpus.derive import derive_cases
from cdcwire_conformance.corpus.store import load_case, load_cases

BLOBS = [case for case in load_cases(["datahub-blob"]) if "encoding" not in case.options]
TUPLES = load_cases(["datahub-tuple"])
# Whose damaged forms are read too: they are many.
DAMAGED = (
    "datahub-blob/document/delete",
    "datahub-blob/values/all-types",
    "datahub-tuple/document/rows-batch",
    "datahub-tuple/types/borders-batch",
)
Read = Callable[[Message], object]


def readers(case: Case) -> tuple[Read, Read]:
    """Return the fast decoder for a case and the plain one."""
    context = case.context()
    format_ = get_format(case.format)
    decoder = format_.decoder(context)
    return (
        lambda message: [
            row.to_event() if isinstance(row, Row) else row for row in decoder(message)
        ],
        lambda message: list(format_.to_events(message, context=context)),
    )


def outcome(read: Read, message: Message) -> object:
    """Return values with their types, or all that an error says."""
    try:
        return repr(read(message))
    except DecodeError as error:
        return error.offset, error.clause, error.path, error.problem


@pytest.mark.parametrize("cases", [BLOBS, TUPLES], ids=["datahub-blob", "datahub-tuple"])
def test_golden_messages_are_read_as_the_plain_decoder_reads_them(cases: list[Case]) -> None:
    for case in cases:
        fast, plain = readers(case)
        for message in chain(case.messages, case.messages):  # what was learned is used, too
            assert outcome(fast, message) == outcome(plain, message), case.id


@pytest.mark.parametrize("case_id", DAMAGED)
def test_damaged_messages_are_refused_as_the_plain_decoder_refuses_them(case_id: str) -> None:
    base = load_case(case_id)
    fast, plain = readers(base)
    fast(base.messages[0])
    for case in derive_cases(base):
        assert outcome(fast, case.messages[0]) == outcome(plain, case.messages[0]), case.id
