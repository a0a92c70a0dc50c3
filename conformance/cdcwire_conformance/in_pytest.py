"""Golden cases as pytest parameters, for decoders that are written in Python.

    @pytest.mark.cdcwire_cases(FORMAT)
    def test_my_decoder(cdcwire_case):
        cdcwire_case.check(my_decode)

``my_decode(message, context)`` gives the events of one message, as the model's classes or in the
text form. To refuse a message it raises DecodeError, or one of ``rejections``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

import pytest

from cdcwire.registry import FORMAT_NAMES
from cdcwire_conformance.corpus import Case
from cdcwire_conformance.output.text import failure_lines
from cdcwire_conformance.run.asking import Judge
from cdcwire_conformance.run.results import Outcome
from cdcwire_conformance.run.selection import Chosen, Declared, Task, choose, tasks_of
from cdcwire_conformance.testees.codecs import Decode, Encode
from cdcwire_conformance.testees.in_process import Codec, InProcessTestee


def chosen_tasks(chosen: Chosen) -> Iterator[Task]:
    """Yield the questions of the cases that are chosen, stored ones first."""
    for case in chain(chosen.stored, chosen.derived()):
        yield from filter(chosen.has, tasks_of(case))


def settle(outcome: Outcome) -> None:
    """End a test as its outcome says: passed, failed, skipped, or expected to fail.

    A failure that does not bind is an expected one: it shows, and breaks nothing.
    """
    if outcome.verdict == "passed":
        return
    if outcome.verdict in ("not claimed", "skipped"):
        pytest.skip(f"{outcome.verdict}: {outcome.reason}")
    if outcome.verdict == "expected failure":
        pytest.xfail(outcome.reason)
    if not outcome.is_binding:
        pytest.xfail(f"{outcome.case.level}: {outcome.text}")
    pytest.fail("\n".join(failure_lines(outcome)), pytrace=False)


@dataclass(frozen=True)
class GoldenCase:
    """A case in one direction, as a test gets it. Its ``case`` has messages, events and all."""

    task: Task

    @property
    def case(self) -> Case:
        """The golden case."""
        return self.task.case

    def check(
        self,
        decode: Decode,
        encode: Encode | None = None,
        *,
        rejections: tuple[type[Exception], ...] = (),
        without: Iterable[str] = (),
        timeout: float = 10.0,
    ) -> None:
        """Judge functions by this case; the test fails with the report of the difference.

        ``without``: features that they do not have; cases with these are skipped.
        """
        codec = Codec(decode, encode, frozenset(without), rejections)
        testee = InProcessTestee("a decoder", {self.case.format: codec}, timeout=timeout)
        judge = Judge(testee.start(), Declared())
        settle(judge.settle(self.task) or judge.ask(testee, self.task))


def golden_cases(
    *formats: str,
    pattern: str | None = None,
    levels: Iterable[str] | None = None,
    derived: bool = False,
    encode: bool = False,
) -> list[GoldenCase]:
    """Return the cases of these formats (none: of all), for ``pytest.mark.parametrize``.

    ``encode``: with those where events are to be encoded.
    """
    unknown = sorted(set(formats) - set(FORMAT_NAMES))
    if unknown:
        raise pytest.UsageError(f"there is no format {', '.join(unknown)}")
    chosen = choose(formats or None, pattern=pattern, levels=levels, derived=derived)
    tasks = chosen_tasks(chosen)
    cases = [GoldenCase(task) for task in tasks if encode or task.cmd == "decode"]
    if not cases:
        raise pytest.UsageError("no golden case is like that; `cdcwire corpus list` names them")
    return cases
