"""The cases that a testee is asked, their direction, and the rules that bind the testee.

| level | a failure |
| --- | --- |
| must | fails the run |
| should, unspecified | is reported |
| may | is reported; fails the run where the testee has stated this very choice |

A ``may`` case is skipped if the testee states another choice: it is judged by its own choice.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from math import isqrt
from pathlib import Path

from cdcwire_conformance.corpus.case import Case
from cdcwire_conformance.corpus.derive import derive_cases
from cdcwire_conformance.corpus.store import cases_where, id_fits
from cdcwire_conformance.protocol.answers import Claim, Description
from cdcwire_conformance.protocol.requests import Command, Request, decode_request, encode_request
from cdcwire_conformance.testees.one_shot import raw_bytes


@dataclass(frozen=True, slots=True)
class Chosen:
    """The cases of a run. Those derived from ``bases`` are made when they are asked for.

    ``sample``: about one of this many derived cases is taken, the same ones in each run. Cases are
    derived from some of the bases only, because deriving them takes as long as asking them.
    """

    stored: list[Case]
    bases: list[Case]
    pattern: str | None
    sample: int = 1

    def derived(self) -> Iterator[Case]:
        """Yield the malformed cases that fit the pattern."""
        step = isqrt(self.sample)
        return islice(self._derived(self.bases[::step]), 0, None, -(-self.sample // step))

    def _derived(self, bases: Iterable[Case]) -> Iterator[Case]:
        for base in bases:
            for case in derive_cases(base):
                if self.pattern is None or id_fits(case.id, self.pattern):
                    yield case

    def has(self, task: Task) -> bool:
        """Return whether a question about a chosen case is asked; ``ID@encode`` is one of two."""
        fits = self.pattern is None or id_fits(task.case.id, self.pattern)
        return fits or id_fits(task.id, str(self.pattern))


def choose(
    formats: Iterable[str] | None,
    *,
    pattern: str | None = None,
    levels: Iterable[str] | None = None,
    derived: bool = True,
    sample: int = 1,
    root: Path | None = None,
) -> Chosen:
    """Return the cases of these formats with a fitting id and a requested level.

    Derived cases have the level must. ``sample``: see ``Chosen``. ``root``: see ``corpus.store``.
    Raises: CorpusError.
    """
    # The id of a derived case, or of an encoding, begins with that of its base.
    stem = None if pattern is None else pattern.partition("@")[0]

    def may_fit(case_id: str) -> bool:
        if pattern is None or stem is None:
            return True
        return any(
            (
                id_fits(case_id, stem),
                id_fits(case_id, pattern),
                id_fits(f"{case_id}@encode", pattern),
            )
        )

    everything = cases_where(may_fit, formats, root)
    allowed = None if levels is None else set(levels)
    stored = [
        case
        for case in everything
        if (pattern is None or any(id_fits(task.id, pattern) for task in tasks_of(case)))
        and (allowed is None or case.level in allowed)
    ]
    if not derived or (allowed is not None and "must" not in allowed):
        return Chosen(stored, [], pattern)
    bases = [case for case in everything if stem is None or id_fits(case.id, stem)]
    return Chosen(stored, bases, pattern, sample)


@dataclass(frozen=True)
class Task:
    """One question: a case in one direction. ``id`` names it in reports and lists."""

    id: str
    case: Case
    cmd: Command

    @property
    def rule(self) -> str:
        """The rule that made a derived case: ``cut``. Empty for a stored case."""
        return (self.case.derived or "").partition(":")[0]

    @cached_property
    def request(self) -> Request:
        """The request for the testee."""
        return decode_request(self.case) if self.cmd == "decode" else encode_request(self.case)


def tasks_of(case: Case) -> Iterator[Task]:
    """Yield the questions of a case: one, or two where an accept case is canonical.

    Its events are then encoded too, and have to give its bytes. Encoding rows needs the definition
    of their table.
    """
    if case.expect == "encode":
        yield Task(case.id, case, "encode")
        return
    yield Task(case.id, case, "decode")
    if case.expect == "accept" and case.canonical and case.derived is None:
        has_rows = any(event.get("kind") == "row" for event in case.events or ())
        if case.tables or not has_rows:
            yield Task(f"{case.id}@encode", case, "encode")


@dataclass(frozen=True, slots=True)
class Declared:
    """The facts on the command line about a testee, in addition to its own description.

    ``raw``: it takes nothing but the bytes of one value.
    """

    without: frozenset[str] = frozenset()
    choices: Mapping[str, str] = field(default_factory=dict)
    encode: bool | None = None
    raw: bool = False


class CaseSelection:
    """The questions for one testee."""

    def __init__(self, description: Description, declared: Declared) -> None:
        self._description = description
        self._declared = declared
        self._claims: dict[str, Claim | None] = {}

    def claim(self, format_name: str) -> Claim | None:
        """Return the claim on a format with what was declared; None where there is no claim."""
        if format_name not in self._claims:
            self._claims[format_name] = self._claim(format_name)
        return self._claims[format_name]

    def _claim(self, format_name: str) -> Claim | None:
        claim = self._description.claim(format_name)
        if claim is None:
            return None
        return Claim(
            claim.encode if self._declared.encode is None else self._declared.encode,
            claim.without | self._declared.without,
            {**claim.choices, **self._declared.choices},
        )

    def not_claimed(self, task: Task) -> str:
        """Return why the testee does not claim this; nothing if it does."""
        claim = self.claim(task.case.format)
        if claim is None:
            return f"the testee has no format {task.case.format}"
        if task.cmd == "encode" and not claim.encode:
            return "the testee does not encode"
        declined = sorted(claim.without.intersection(task.case.features))
        if declined:
            return f"without {', '.join(declined)}"
        if self._declared.raw and raw_bytes(task.request) is None:
            return "it needs more than the bytes of one value (--raw)"
        return ""

    def skipped(self, case: Case) -> str:
        """Return why a case is left out though claimed; empty if the testee is asked."""
        subject, stated = self._stated_choice(case)
        if stated is None or f"{subject}: {stated}" == case.choice:
            return ""
        return f"the testee chose {subject}: {stated}; this case is {case.choice}"

    def is_binding(self, case: Case) -> bool:
        """Return whether a failure of this case fails the run."""
        if case.level == "may":
            subject, stated = self._stated_choice(case)
            return stated is not None and f"{subject}: {stated}" == case.choice
        return case.level == "must"

    def _stated_choice(self, case: Case) -> tuple[str, str | None]:
        if case.choice is None:
            return "", None
        subject = case.choice.partition(":")[0].strip()
        claim = self.claim(case.format)
        return subject, None if claim is None else claim.choices.get(subject)


def parse_choice(text: str) -> tuple[str, str]:
    """Return subject and choice of ``subject: choice``. Raises: ValueError."""
    subject, sign, choice = text.partition(":")
    if not sign or not subject.strip() or not choice.strip():
        raise ValueError(f"{text!r} does not have the form 'subject: choice'")
    return subject.strip(), choice.strip()


def unknown_features(without: Iterable[str], known: Iterable[str]) -> list[str]:
    """Return the declared features that no case and no format knows: misspelled ones."""
    return sorted(set(without) - set(known))
