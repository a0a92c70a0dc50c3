"""The golden cases that catch each known-wrong decoder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from cdcwire.compressions import known_compressions
from cdcwire.core.context import Context
from cdcwire.core.message import Message
from cdcwire.format import Format
from cdcwire.model.events import Event
from cdcwire.registry import get_format
from cdcwire_conformance.corpus.case import Case
from cdcwire_conformance.known_wrong.decoder import KnownWrong
from cdcwire_conformance.run.asking import Judge
from cdcwire_conformance.run.selection import Declared, Task
from cdcwire_conformance.testees.in_process import Codec, InProcessTestee

_LEVELS = ("must", "should", "may")


def catching_case(known_wrong: KnownWrong, format_name: str, cases: Sequence[Case]) -> str | None:
    """Return the id of the first case that the decoder fails, or None: it gets through."""
    return next(catching_cases(known_wrong, format_name, cases), None)


def catching_cases(
    known_wrong: KnownWrong, format_name: str, cases: Sequence[Case]
) -> Iterator[str]:
    """Yield the ids of the cases that the decoder fails.

    The decoder claims the choices of the reference, so that cases of level "may" count too. Cases
    that name a fault which the decoder repeats come first, then the levels by their force.
    """
    through = get_format(format_name)
    testee = testee_of(known_wrong, through)
    judge = Judge(testee.start(), Declared(choices=through.choices))
    fit = [case for case in cases if case.format == format_name and case.level in _LEVELS]
    for case in sorted(fit, key=partial(_rank, known_wrong)):
        task = Task(case.id, case, "decode")
        if case.expect == "encode" or judge.settle(task):
            continue
        if judge.ask(testee, task).is_bad:
            yield case.id


def testee_of(known_wrong: KnownWrong, through: Format) -> InProcessTestee:
    """Return a known-wrong decoder as a testee of one format."""

    def decode(message: Message, *, context: Context) -> list[Event]:
        return known_wrong.decode(through, message, context)

    without = frozenset() if known_compressions() else frozenset({"compression"})
    codec = Codec(decode, without=without, prepared=through.prepared)
    return InProcessTestee(known_wrong.name, {through.name: codec})


def _rank(known_wrong: KnownWrong, case: Case) -> tuple[bool, int]:
    return not set(case.bugs) & set(known_wrong.seen), _LEVELS.index(case.level)
