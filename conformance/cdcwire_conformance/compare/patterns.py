"""Differences of a table grouped by column and cause, so that many rows read as a few patterns.

Spark's workers group the differences of their share, and ``merged_patterns`` joins the groups. A
coarse cause is part of a finer one: a time cut to milliseconds may look as if it were cut to
seconds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from cdcwire_conformance.compare.result import (
    ABSENT,
    Pattern,
    PatternExample,
    RowDifference,
    RowVerdict,
    Shown,
    SideName,
    beginning_of,
)
from cdcwire_conformance.compare.value_causes import Cause, CauseKind, cause_of

_EXAMPLES = 2
_LONGEST_EXAMPLE = 200  # characters of a value
_NAMED_FIELDS = ("op", "half")  # fields with a few values, each a pattern

# The option that accepts differences of a cause, with the column and what is cut.
_OPTIONS: Mapping[CauseKind, str] = {
    "time-form": "--temporal native",
    "time-cut": "--precision {column}={unit}",
}
_OPTIONS_OF_ROWS: Mapping[RowVerdict, str] = {
    "repeated": "--allow-repeats",
    "out of order": "--no-order",
}
_OPTION_OF_BEFORE = "--no-before"
OPTIONS = frozenset((*_OPTIONS.values(), *_OPTIONS_OF_ROWS.values(), _OPTION_OF_BEFORE))
_UNITS = {"seconds": "s", "milliseconds": "ms", "microseconds": "us"}
_UNIT_ORDER = tuple(_UNITS)


@dataclass(frozen=True, slots=True)
class PatternName:
    """The identity of a pattern."""

    column: str | None
    type: str
    cause: Cause
    option: str | None


@dataclass(slots=True)
class PatternCount:
    """The size of a pattern so far, and its first examples."""

    count: int = 0
    examples: list[PatternExample] = field(default_factory=list)

    def add(self, count: int, examples: Iterable[PatternExample]) -> None:
        """Count differences of the pattern, and keep the first examples."""
        self.count += count
        self.examples = [*self.examples, *examples][:_EXAMPLES]


PatternGroups: TypeAlias = dict[PatternName, PatternCount]


def patterns_of(differences: Iterable[RowDifference]) -> tuple[Pattern, ...]:
    """Return the patterns of all differences of a table, the most frequent first."""
    return _patterns(groups_of(differences))


def merged_patterns(parts: Iterable[PatternGroups]) -> tuple[Pattern, ...]:
    """Return the patterns of a table from the groups of each share of its differences."""
    merged: PatternGroups = {}
    for groups in parts:
        for name, each in groups.items():
            merged.setdefault(name, PatternCount()).add(each.count, each.examples)
    return _patterns(merged)


def groups_of(differences: Iterable[RowDifference]) -> PatternGroups:
    """Return differences grouped by their pattern."""
    found: PatternGroups = {}
    for difference in differences:
        of_row = _names_of(difference)
        for name, example in of_row.items():
            if _finest(name, of_row) == name:
                found.setdefault(name, PatternCount()).add(difference.weight, [example])
    return found


def _names_of(difference: RowDifference) -> dict[PatternName, PatternExample]:
    """Return the patterns that a difference is part of, each once, with its values."""
    key = difference.key
    found: dict[PatternName, PatternExample] = {}
    if difference.verdict != "changed":
        cause = Cause("row", amount=f"{difference.verdict}: {difference.op}")
        name = PatternName(None, "row", cause, _OPTIONS_OF_ROWS.get(difference.verdict))
        found[name] = PatternExample(key, ABSENT, ABSENT)
        if difference.verdict != "stale":
            return found
    for each in difference.columns:
        if each.column in difference.explained:
            continue
        if each.column is None:
            side: SideName = "right" if each.left.is_absent else "left"
            cause = Cause("image", side, each.image or "")
        elif each.image is None and each.column in _NAMED_FIELDS:
            values = f"{each.left.text} on the left, {each.right.text} on the right"
            cause = Cause("event-field", amount=values)
        else:
            cause = cause_of(each.left, each.right, each.kind)
        name = PatternName(each.column, each.kind, cause, _option(difference, each.column, cause))
        if name not in found:
            found[name] = PatternExample(key, _beginning(each.left), _beginning(each.right))
    return found


def _option(difference: RowDifference, column: str | None, cause: Cause) -> str | None:
    """Return the option that accepts a difference of this cause."""
    if cause.kind == "image" and cause.amount == "before" and difference.op == "update":
        return _OPTION_OF_BEFORE
    option = _OPTIONS.get(cause.kind)
    return option and option.format(column=column, unit=_UNITS.get(cause.amount))


def _beginning(shown: Shown) -> Shown:
    return beginning_of(shown, _LONGEST_EXAMPLE)


def _patterns(groups: PatternGroups) -> tuple[Pattern, ...]:
    merged: PatternGroups = {}
    for name, each in groups.items():
        merged.setdefault(_finest(name, groups), PatternCount()).add(each.count, each.examples)
    found = (
        Pattern(
            name.column,
            name.type,
            name.cause.kind,
            str(name.cause),
            each.count,
            tuple(each.examples),
            name.option,
        )
        for name, each in merged.items()
    )
    return tuple(sorted(found, key=lambda each: (-each.count, each.column or "", each.text)))


def _finest(name: PatternName, groups: Iterable[PatternName]) -> PatternName:
    """Return the pattern of the same column that explains this one too.

    Where other values are cut, one that only lacks zeros at the end is cut too.
    """
    kind, _, how = name.cause.kind.partition("-")
    start = {"scale": "decimals", "time-form": "time"}.get(name.cause.kind)
    if start is None and (kind not in ("decimals", "time") or how not in ("cut", "rounded")):
        return name
    family = (f"{start or kind}-cut", f"{start or kind}-rounded")
    similar = [
        each
        for each in groups
        if each.column == name.column
        and each.cause.kind in family
        and (start is not None or each.cause.side == name.cause.side)
    ]
    return max(similar, key=lambda each: (_digits(each.cause), each.cause.kind), default=name)


def _digits(cause: Cause) -> int:
    if cause.amount in _UNIT_ORDER:
        return _UNIT_ORDER.index(cause.amount)
    return int(cause.amount)
