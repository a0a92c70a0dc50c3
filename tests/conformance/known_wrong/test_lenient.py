"""No case of level must asks for more than a format promises: a lenient reader passes them all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache, partial
from itertools import islice

import pytest

from cdcwire.core.context import Context
from cdcwire.core.message import Message
from cdcwire.core.options import OptionError
from cdcwire.registry import FORMAT_NAMES, get_format
from cdcwire_conformance.corpus.case import Case
from cdcwire_conformance.corpus.derive import derive_cases, is_base
from cdcwire_conformance.corpus.store import load_cases
from cdcwire_conformance.known_wrong.lenient import Liberties, lenient_reader
from cdcwire_conformance.run.asking import Judge
from cdcwire_conformance.run.selection import Declared, Task
from cdcwire_conformance.suite import get_suite
from cdcwire_conformance.testees.in_process import Codec, InProcessTestee

_EVERY_BASE = 12  # malformed cases are derived from one base of so many
_EVERY_CUT = 40

# A case of each format that was must, and that a lenient reader may take otherwise.
RELAXED = (
    "craft/message/version-2",
    "craft-proposal/values/decimal-ill-formed-utf8",
    "open-protocol/rows/empty-object",
    "open-protocol/json/lone-high-surrogate",
    "csv/reject/quoted-number",
    "canal-json/reject-values/tinyint-too-large",
    "canal-json/json/lone-surrogate",
    "avro/reject-values/decimal-text-word",
    "datahub-tuple/reject-fields/integer-plus",
    "datahub-blob/reject-values/long-text",
    "cdl-json/reject-members/version-2.0",
    "debezium-json/reject-values/int8-300",
    "maxwell-json/reject-values/date-text",
    "simple/reject-values/date-text",
)


@cache
def cases(format_name: str) -> tuple[Case, ...]:
    return tuple(load_cases([format_name]))


def failures(
    format_name: str, asked: Iterable[Case], liberties: Liberties | None = None
) -> Iterator[str]:
    """Yield what the lenient reader fails, and what it does not claim: it declines nothing."""
    format_ = get_format(format_name)
    reader = lenient_reader(liberties or get_suite(format_name).liberties)

    def prepared(messages: Iterable[Message], context: Context) -> Context:
        try:
            return format_.prepared(messages, context)
        except OptionError:
            return context

    codec = Codec(partial(reader.decode, format_), prepared=prepared)
    testee = InProcessTestee(reader.name, {format_name: codec})
    judge = Judge(testee.start(), Declared())
    for case in asked:
        task = Task(case.id, case, "decode")
        outcome = judge.settle(task) or judge.ask(testee, task)
        if outcome.verdict != "passed":
            yield f"{case.id}: {outcome.verdict}: {outcome.problem or outcome.reason}"


def sample(derived: Iterable[Case]) -> Iterator[Case]:
    """Yield the derived cases of a base, of its cuts one in so many."""
    cuts = 0
    for case in derived:
        if "cut:" in str(case.derived):
            cuts += 1
            if cuts % _EVERY_CUT:
                continue
        yield case


@pytest.mark.parametrize("format_name", FORMAT_NAMES)
def test_lenient_reader_passes_all_stored_must_cases(format_name: str) -> None:
    asked = (case for case in cases(format_name) if case.level == "must")
    assert not list(failures(format_name, (case for case in asked if case.expect != "encode")))


@pytest.mark.parametrize("format_name", FORMAT_NAMES)
def test_lenient_reader_passes_derived_cases(format_name: str) -> None:
    bases = [case for case in cases(format_name) if is_base(case)]
    derived = (case for base in bases[::_EVERY_BASE] for case in sample(derive_cases(base)))
    liberties = get_suite(format_name).liberties.of_wrong_lengths()
    assert not list(failures(format_name, derived, liberties))


@pytest.mark.parametrize("case_id", RELAXED)
def test_lenient_reader_fails_a_case_that_is_made_must_again(case_id: str) -> None:
    """Without this a lenient reader that is strict would pass everything too."""
    format_name = case_id.partition("/")[0]
    case = next(case for case in cases(format_name) if case.id == case_id)
    asked = replace(case, level="must", choice=None, features=())
    assert list(islice(failures(format_name, [asked]), 1))
