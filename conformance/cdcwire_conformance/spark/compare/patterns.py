"""Differences of a table grouped by column and cause, so that many rows read as a few patterns.

Workers group the differences of their share, and only groups come to the driver. A coarse cause
is part of a finer one: a time cut to milliseconds may look as if it were cut to seconds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from pyspark.sql import DataFrame

from cdcwire_conformance.arrow.schema import CanonicalTable
from cdcwire_conformance.spark.compare.differences import difference_of
from cdcwire_conformance.spark.compare.result import (
    ABSENT,
    Pattern,
    PatternExample,
    RowDifference,
    RowVerdict,
    Shown,
    SideName,
)
from cdcwire_conformance.spark.compare.splitting import PairLayout
from cdcwire_conformance.spark.compare.value_causes import Cause, CauseKind, cause_of

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
class _Name:
    """The identity of a pattern."""

    column: str | None
    type: str
    cause: Cause
    option: str | None


@dataclass(slots=True)
class _Found:
    """The size of a pattern so far, and its first examples."""

    count: int = 0
    examples: list[PatternExample] = field(default_factory=list)

    def add(self, count: int, examples: Iterable[PatternExample]) -> None:
        self.count += count
        self.examples = [*self.examples, *examples][:_EXAMPLES]


_Groups: TypeAlias = dict[_Name, _Found]


def patterns_of(differences: Iterable[RowDifference]) -> tuple[Pattern, ...]:
    """Return the patterns of all differences of a table, the most frequent first."""
    return _patterns(_grouped(differences))


def patterns_in(texts: DataFrame, table: CanonicalTable, layout: PairLayout) -> tuple[Pattern, ...]:
    """Return the patterns of the differences that ``differences.texts_of`` gives, in one pass."""

    def groups(rows: Iterable[object]) -> Iterator[tuple[_Name, int, list[PatternExample]]]:
        found = _grouped(difference_of(row, table, layout) for row in rows)
        for name, each in found.items():
            yield name, each.count, each.examples

    merged: _Groups = {}
    for name, count, examples in texts.rdd.mapPartitions(groups).collect():
        merged.setdefault(name, _Found()).add(count, examples)
    return _patterns(merged)


def _grouped(differences: Iterable[RowDifference]) -> _Groups:
    found: _Groups = {}
    for difference in differences:
        of_row = _names_of(difference)
        for name, example in of_row.items():
            if _finest(name, of_row) == name:
                found.setdefault(name, _Found()).add(difference.weight, [example])
    return found


def _names_of(difference: RowDifference) -> dict[_Name, PatternExample]:
    """Return the patterns that a difference is part of, each once, with its values."""
    key = difference.key
    found: dict[_Name, PatternExample] = {}
    if difference.verdict != "changed":
        cause = Cause("row", amount=f"{difference.verdict}: {difference.op}")
        name = _Name(None, "row", cause, _OPTIONS_OF_ROWS.get(difference.verdict))
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
        name = _Name(each.column, each.kind, cause, _option(difference, each.column, cause))
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
    if shown.text is None or len(shown.text) <= _LONGEST_EXAMPLE:
        return shown
    return Shown(shown.text[:_LONGEST_EXAMPLE], length=shown.length or len(shown.text))


def _patterns(groups: _Groups) -> tuple[Pattern, ...]:
    merged: _Groups = {}
    for name, each in groups.items():
        merged.setdefault(_finest(name, groups), _Found()).add(each.count, each.examples)
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


def _finest(name: _Name, groups: Iterable[_Name]) -> _Name:
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
