"""Failures grouped by what went wrong: the part of the answer, what was expected, what was given.

A case with several differences is in several groups. A decoder with three faults then gives three
groups, even if one of the faults shows in every case.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from shlex import quote
from typing import Literal, TypeAlias

from cdcwire.console.visible import said
from cdcwire.model.events import Path
from cdcwire.model.kind_text import kind_text
from cdcwire.model.kinds import IntType, Type
from cdcwire_conformance.judge.difference import ABSENT_TEXT, Difference, shorten
from cdcwire_conformance.judge.events import FIELDS_TO_DECLINE
from cdcwire_conformance.protocol.requests import Command
from cdcwire_conformance.run.results import Outcome, Results

Section: TypeAlias = Literal["accept", "reject", "encode"]
SECTIONS: Mapping[Section, str] = {
    "accept": "valid messages",
    "encode": "events to encode",
    "reject": "malformed messages",
}
_FEW_TYPES = 4  # the same change in columns of more types is one group
_FEW_CLAUSES = 8  # malformed messages of more clauses that are accepted are one group
_ENOUGH = 3  # cases, before a feature is said to explain them
_MANY = 20  # cases that differ in one field only, before it is said that it can be declined
_CLAUSES_SHOWN = 3
_WITHOUT_ANSWER = ("crashed", "timed out")  # verdicts, which name the part of their groups
_CLAUSES_LENGTH = 160  # characters of the clauses in a line
_SIDE_LENGTH = 64  # characters of an expected or given value in a line
_SIDES = ("before", "after")
_LONGEST_KIND = 200  # characters of a text by which failures are grouped
_VARIABLE = re.compile(r"0x[0-9a-f]+|\d+|'[^']*'|\"[^\"]*\"|\S*[/\\]\S*")
_NUMBER = re.compile(r"(?<!\w)[-+]?(?:0[xX][0-9a-fA-F]+|\d[\d_]*(?:\.\d+)?(?:[eE][-+]?\d+)?)")
_OBJECT = re.compile(r"@[0-9a-f]+\b")  # Java names an object by its address
_REASON = re.compile(
    r"^(?:panic: |fatal error: |Exception in thread|Unhandled exception|thread '.*' panicked)"
    r"|^(?:\w[\w.]*)?(?:Error|Exception|Exit|Interrupt)\b"
)
_CAUSE = re.compile(r"^Caused by: ")


@dataclass(slots=True)
class FailureGroup:
    """Failures of one kind.

    ``part``: the part of the answer that is wrong. ``types``: of the columns, where it is about
    columns. ``expected`` and ``got`` are those of the first case. ``clauses``: of the malformed
    messages that were accepted, the most frequent first. ``alone``: how many of the cases differ in
    nothing else. ``decline``: a feature that explains all of them.
    """

    section: Section
    is_binding: bool
    part: str
    types: tuple[str, ...]
    expected: str
    got: str
    hint: str
    outcomes: list[Outcome] = field(default_factory=list)
    clauses: tuple[str, ...] = ()
    alone: int = 0
    decline: str = ""

    @property
    def first(self) -> Outcome:
        """The smallest case of the group, if possible one that differs in nothing else."""
        return self.outcomes[0]

    @property
    def title(self) -> str:
        """The part, with the types of its columns where these are few."""
        if not self.types:
            return self.part
        few = len(self.types) <= _FEW_TYPES
        return f"{self.part} of {', '.join(self.types) if few else f'{len(self.types)} types'}"

    @property
    def change(self) -> tuple[str, str]:
        """The expected and the given answer; the clauses where a rejection was expected."""
        if not self.clauses:
            return self.expected, self.got
        named = ", ".join(self.clauses[:_CLAUSES_SHOWN])
        left = len(self.clauses) - _CLAUSES_SHOWN
        return (
            f"{named} and {left} more {'clause' if left == 1 else 'clauses'}"
            if left > 0
            else named,
            "",
        )

    @property
    def shown_change(self) -> tuple[str, str]:
        """The change on one line, long values cut; the reason of a crash is whole."""
        expected, got = self.change
        if self.part in _WITHOUT_ANSWER:
            return expected, got
        limit = _CLAUSES_LENGTH if self.clauses else _SIDE_LENGTH
        return shorten(expected, limit), shorten(got, limit)

    @property
    def name(self) -> str:
        """The title and the change on one line: what each report calls the group."""
        return f"{self.title}: {' -> '.join(filter(None, self.shown_change))}"

    @property
    def advice(self) -> str:
        """The feature that may be declined, if one feature explains the group."""
        if not self.decline:
            return ""
        if self.decline in FIELDS_TO_DECLINE and self.alone:
            number = "it" if self.alone == 1 else f"{self.alone} of them"
            verb = "differs" if self.alone == 1 else "differ"
            what = f"{number} {verb} only here"
        else:
            what = f"all cases with the feature {self.decline!r} fail"
        return f"{what}; decline it with --without {quote(self.decline)}"


@dataclass(frozen=True, slots=True)
class _Key:
    section: Section
    is_binding: bool
    part: str
    change: tuple[str, str]
    hint: str
    family: str

    @property
    def is_acceptance(self) -> bool:
        return self.section == "reject" and self.change[0] == "rejected"

    def without_details(self) -> _Key:
        """Return the key without types of columns, or without the clause that was broken."""
        change = ("rejected", "") if self.is_acceptance else self.change
        return _Key(self.section, self.is_binding, self.part, change, self.hint, "")


def failure_groups(results: Results) -> list[FailureGroup]:
    """Return what went wrong, what fails the run first, valid messages before malformed ones."""
    found: dict[_Key, list[tuple[Outcome, Difference, bool]]] = defaultdict(list)
    for outcome in results.bad():
        keys: dict[_Key, Difference] = {}
        for key, difference in _keys_of(outcome):
            keys.setdefault(key, difference)
        for key, difference in keys.items():
            found[key].append((outcome, difference, len(keys) == 1))
    merged = _merged(found)
    groups = [_group(key, members) for key, members in merged.items()]
    passed = _passed_features(results)
    for key, group in zip(merged, groups, strict=True):
        group.decline = _feature_of(group, key.change[1] == ABSENT_TEXT, passed)
    order = list(SECTIONS)
    groups.sort(key=lambda g: (not g.is_binding, order.index(g.section), -len(g.outcomes)))
    return groups


def failure_key(outcome: Outcome) -> Hashable:
    """Return the kind of a failure: the first of the groups that it belongs to.

    The text of a rejection does not count: it may name what was rejected.
    """
    key, difference = next(_keys_of(outcome))
    return key if difference.path or outcome.verdict != "failed" else replace(key, change=("", ""))


def _merged(
    found: Mapping[_Key, list[tuple[Outcome, Difference, bool]]],
) -> dict[_Key, list[tuple[Outcome, Difference, bool]]]:
    """Return the groups; many that differ in types of columns or in clauses only are joined."""
    alike: dict[_Key, list[_Key]] = defaultdict(list)
    for key in found:
        alike[key.without_details()].append(key)
    merged = {}
    for general, keys in alike.items():
        if len(keys) > (_FEW_CLAUSES if general.is_acceptance else _FEW_TYPES):
            members = [member for key in keys for member in found[key]]
            merged[general] = list({member[0].id: member for member in reversed(members)}.values())
        else:
            merged.update({key: found[key] for key in keys})
    return merged


def _group(key: _Key, members: list[tuple[Outcome, Difference, bool]]) -> FailureGroup:
    members = sorted(members, key=lambda member: (not member[2], size_of(member[0])))
    difference = members[0][1]
    sides = {each.path[2] for _, each, _ in members if part_of(each.path) == "column"}
    is_one_sided = len(sides) == 1 and ABSENT_TEXT in key.change
    types = dict.fromkeys(_type_name(each.type) for _, each, _ in members if each.type is not None)
    return FailureGroup(
        key.section,
        key.is_binding,
        f"{key.part} {sides.pop()}" if is_one_sided else key.part,
        tuple(types),
        difference.expected,
        difference.got,
        difference.hint,
        [outcome for outcome, _, _ in members],
        _clauses([outcome for outcome, _, _ in members]) if key.is_acceptance else (),
        sum(is_alone for _, _, is_alone in members),
    )


def size_of(outcome: Outcome) -> int:
    """Return the bytes of the messages of a case."""
    return sum(len(message.value or b"") for message in outcome.case.messages)


def _clauses(outcomes: Iterable[Outcome]) -> tuple[str, ...]:
    counted = Counter(outcome.clauses[0] for outcome in outcomes)
    return tuple(clause for clause, _ in counted.most_common())


def _keys_of(outcome: Outcome) -> Iterator[tuple[_Key, Difference]]:
    """Yield the groups that a failure belongs to, each with the difference that says so."""
    section: Section = "encode" if outcome.cmd == "encode" else "accept"
    if outcome.case.expect == "reject":
        section = "reject"

    def key(part: str, change: tuple[str, str], hint: str = "", family: str = "") -> _Key:
        return _Key(section, outcome.is_binding, part, change, _general(hint), family)

    if outcome.verdict in _WITHOUT_ANSWER:
        reason = crash_reason(outcome)
        yield (
            key(outcome.verdict, ("an answer", _general_crash(reason))),
            Difference((), "", reason),
        )
        return
    if section == "reject":
        what = outcome.rule or (outcome.case.error or {}).get("clause") or outcome.case.clauses[0]
        difference = outcome.differences[0] if outcome.differences else None
        shown = difference or Difference((), "rejected", outcome.problem)
        yield key(f"accepted, though {_malformed(outcome)}", ("rejected", what)), shown
        return
    if not outcome.differences:
        yield key("answer", ("", _general(outcome.problem))), Difference((), "", outcome.problem)
    for difference in _telling(outcome.differences):
        part = part_of(difference.path)
        change = difference.change[0], _general(difference.change[1])
        # A hint says more than the type: one fault in several types is one group.
        is_typed = difference.type is not None and not difference.hint
        family = _family(difference.type) if is_typed and difference.type else ""
        yield key(part, change, difference.hint, family), difference


def _malformed(outcome: Outcome) -> str:
    return f"malformed (rule {outcome.rule})" if outcome.is_derived else "malformed"


def _telling(differences: Iterable[Difference]) -> Iterator[Difference]:
    """Yield the differences that are not a consequence of another one.

    Where the number of events differs, the wrong events are compared. Where the operation differs,
    the images before and after do too.
    """
    found = list(differences)
    if found and found[0].path == ("events",):
        yield found[0]
        return
    other_op = {each.path[1] for each in found if each.path[2:] == ("op",)}
    for each in found:
        is_image = len(each.path) == 3 and each.path[2] in _SIDES
        if not (is_image and each.path[1] in other_op):
            yield each


def part_of(path: Path) -> str:
    """Return the part of an answer that a path leads to, without the numbers and columns of it."""
    match path:
        case ():
            return "answer"
        case ("events",):
            return "number of events"
        case ("events", _):
            return "kind of event"
        case ("events", _, ("before" | "after"), _, *_):
            return "column"
        case ("events", _, *steps):
            return ".".join(map(str, steps))
        case ("messages",):
            return "number of messages"
        case _:
            return ".".join(str(step) for step in path if not isinstance(step, int))


def _general(text: str) -> str:
    """Return a text without what differs from case to case: numbers, quoted text, paths."""
    # The pattern's time grows with the square of a word. Longer numbers must not move the end.
    return _VARIABLE.sub("#", text[: 2 * _LONGEST_KIND])[:_LONGEST_KIND]


def _general_crash(text: str) -> str:
    """Return the reason of a crash without any number, whatever its sign, base or digits."""
    return _general(_NUMBER.sub("#", _OBJECT.sub("#", text[: 2 * _LONGEST_KIND])))


def crash_kind(outcome: Outcome) -> Hashable:
    """Return what equal crashes share: the verdict, and the reason without its numbers."""
    return outcome.verdict, _general_crash(crash_reason(outcome))


def crash_reason(outcome: Outcome) -> str:
    """Return the line of standard error that gives the reason of a crash, or else the problem.

    The first cause of an exception of Java follows it.
    """
    lines = [line.strip() for line in outcome.stderr.splitlines() if line.strip()]
    reasons = [line for line in lines if _REASON.search(line)]
    if not reasons:
        return outcome.problem
    is_python = any(line.startswith("Traceback ") for line in lines)
    reason = reasons[-1 if is_python else 0]
    cause = next(filter(_CAUSE.search, lines), "")
    return said(f"{reason}; {cause[0].lower()}{cause[1:]}" if cause else reason)


def reason_lines(lines: Sequence[str]) -> set[int]:
    """Return the places of the lines of standard error that give the reason of a crash."""
    reasons = [place for place, line in enumerate(lines) if _REASON.search(line.strip())]
    causes = [place for place, line in enumerate(lines) if _CAUSE.search(line.strip())]
    return {*reasons[:1], *reasons[-1:], *causes[:1]}


def _family(kind: Type) -> str:
    if isinstance(kind, IntType):
        return "unsigned integer" if kind.unsigned else "integer"
    return _type_name(kind)


def _type_name(kind: Type) -> str:
    return kind_text(kind).partition("(")[0].partition("<")[0]


def _passed_features(results: Results) -> dict[tuple[str, Command], set[str]]:
    """Return the features of the valid cases that passed, by format and direction."""
    passed: dict[tuple[str, Command], set[str]] = defaultdict(set)
    for outcome in results.outcomes:
        if outcome.verdict == "passed" and outcome.case.expect != "reject":
            passed[outcome.case.format, outcome.cmd].update(outcome.case.features)
    return passed


def _feature_of(
    group: FailureGroup,
    is_absent: bool,
    passed: Mapping[tuple[str, Command], Collection[str]],
) -> str:
    """Return the feature that explains a group: each of its cases has it, and none that passed."""
    field_name = group.part.removeprefix("position.")
    if group.section == "accept" and field_name in FIELDS_TO_DECLINE:
        return field_name if is_absent or group.alone >= _MANY else ""
    if group.section == "reject" or len({outcome.case.id for outcome in group.outcomes}) < _ENOUGH:
        return ""
    shared = set.intersection(*(set(outcome.case.features) for outcome in group.outcomes))
    for outcome in group.outcomes:
        shared.difference_update(passed.get((outcome.case.format, outcome.cmd), ()))
    own = shared.intersection(group.types)
    return min(own) if own else shared.pop() if len(shared) == 1 else ""
