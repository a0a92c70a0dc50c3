"""Searches known-wrong decoders with generated messages. It needs the extra ``generators``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings

from cdcwire.format import Format
from cdcwire.registry import get_format
from cdcwire_conformance.corpus.case import Case
from cdcwire_conformance.corpus.store import corpus_version
from cdcwire_conformance.known_wrong.decoder import Decode, KnownWrong, right
from cdcwire_conformance.property.cases import task_of
from cdcwire_conformance.property.search import SearchSettings, is_fair, search
from cdcwire_conformance.run.asking import Judge
from cdcwire_conformance.run.catch import catching_case, testee_of
from cdcwire_conformance.run.results import Outcome
from cdcwire_conformance.run.selection import Declared, Task
from cdcwire_conformance.testees.in_process import InProcessTestee
from cdcwire_generators.samples import Sample
from cdcwire_generators.strategies import samples

ONLY_MALFORMED = "only malformed messages show it"
_SEED = 1


@dataclass(frozen=True, slots=True)
class Found:
    """The known-wrong decoders of a format: the sample that shows each by its number; the others.

    ``asked``: how many different messages they read.
    """

    format: str
    asked: int
    at: dict[str, int]
    missed: tuple[KnownWrong, ...]


def find(format_name: str, number: int, wrongs: Sequence[KnownWrong]) -> Found:
    """Let known-wrong decoders of a format read the same samples, until each is found."""
    through = get_format(format_name)
    left = {wrong.name: wrong for wrong in wrongs}
    testees = {name: testee_of(wrong, through) for name, wrong in left.items()}
    judge = _judge(testees[wrongs[0].name], through)
    since = corpus_version()
    at: dict[str, int] = {}
    seen: set[str] = set()
    drawn = 0

    @settings(
        max_examples=number,
        database=None,
        deadline=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
        verbosity=Verbosity.quiet,
    )
    @seed(_SEED)
    @given(samples(through))
    def read(sample: Sample) -> None:
        nonlocal drawn
        drawn += 1
        task = task_of(sample, through, "decode", since)
        if task.id in seen or not is_fair(judge, task, sample, through):
            return
        seen.add(task.id)
        for wrong in _suspects(task, through, list(left.values())):
            if judge.ask_once(testees[wrong.name], task)[0].is_bad:
                at[wrong.name] = drawn
                del left[wrong.name]

    read()
    return Found(format_name, len(seen), at, tuple(left.values()))


def smallest(
    wrong: KnownWrong, format_name: str, number: int, seconds_to_shrink: float
) -> Outcome | None:
    """Return the smallest of the shrunk failures of a decoder. ``number``: of samples to draw."""
    through = get_format(format_name)
    testee = testee_of(wrong, through)
    asked = SearchSettings(number, _SEED, seconds_to_shrink=seconds_to_shrink)
    found = search(testee, _judge(testee, through), format_name, "decode", asked)
    return min(found.failures, key=lambda outcome: size_of(outcome.case), default=None)


def size_of(case: Case) -> tuple[int, int]:
    """Return the number of events of a case, and of columns in its widest row."""
    events = case.events or []
    images = (event.get(side) for event in events for side in ("before", "after"))
    return len(events), max((len(image) for image in images if image), default=0)


def reason(wrong: KnownWrong, format_name: str, cases: Sequence[Case]) -> str:
    """Return why no generated message shows a decoder."""
    valid = [case for case in cases if case.format == format_name and case.expect == "accept"]
    case_id = catching_case(wrong, format_name, valid)
    if case_id is None:
        return ONLY_MALFORMED
    return f"no generated message is like `{case_id}`"


def _judge(testee: InProcessTestee, through: Format) -> Judge:
    return Judge(testee.start(), Declared(choices=through.choices), confirmed=0)


def _suspects(task: Task, through: Format, wrongs: Sequence[KnownWrong]) -> list[KnownWrong]:
    """Return the decoders that answer otherwise than the reference; judging takes longer."""
    case = task.case
    context = through.prepared(case.messages, case.context())

    def answer(decode: Decode) -> str:
        try:
            events = [decode(through, message, context) for message in case.messages]
        except Exception as error:  # noqa: BLE001  (the edge: a decoder that crashes is wrong)
            return repr(error)
        return repr(events)  # which differs where values are equal: 0.0 and -0.0, 1.0 and 1.00

    expected = answer(right)
    return [wrong for wrong in wrongs if answer(wrong.decode) != expected]
