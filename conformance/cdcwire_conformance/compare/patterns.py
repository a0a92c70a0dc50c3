"""Differences of a table grouped by column and cause, so that many rows read as a few patterns.

Spark's workers group the differences of their share, and ``joined_groups`` joins the groups. A
coarse cause is part of a finer one: a time cut to milliseconds may look as if it were cut to
seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeAlias

from cdcwire_conformance.compare.meaning import (
    PRECISIONS,
    SCALE_REPLACEMENTS,
    Replacement,
    replaced,
    time_cuts,
)
from cdcwire_conformance.compare.result import (
    ABSENT,
    ColumnDifference,
    Pattern,
    PatternExample,
    RowDifference,
    RowVerdict,
    Shown,
    SideName,
    beginning_of,
)
from cdcwire_conformance.compare.value_causes import OTHER_SIDE, Cause, cause_of, is_shifted

_EXAMPLES = 2
_LONGEST_EXAMPLE = 200  # characters of a value
_VALUES_OF_ROW = 4  # shown in place of a key
_NAMED_FIELDS = ("op", "half")  # fields with a few values, each a pattern


def _is_equal_after(
    each: ColumnDifference, cause: Cause, replacements: tuple[Replacement, ...]
) -> bool:
    texts = each.left.text, each.right.text
    left, right = (replaced(text or "", replacements) for text in texts)
    return left == right


def _is_later(each: ColumnDifference, cause: Cause) -> bool:
    seconds = cause.seconds if cause.side == "left" else -cause.seconds
    return is_shifted(each.left.text or "", each.right.text or "", seconds)


def _is_unchanged(each: ColumnDifference, cause: Cause) -> bool:
    return each.is_unchanged


# Options that accept differences of a cause, the mildest first, with whether each makes two values
# equal. An option is proposed only if it makes all differences of a pattern equal. The last two
# depend on the feeds, see ``proposals``.
_Trials: TypeAlias = "tuple[tuple[str, Callable[[ColumnDifference, Cause], bool]], ...]"
_TIMES: _Trials = tuple(
    (
        f"--precision {{column}}={unit}",
        partial(_is_equal_after, replacements=time_cuts(PRECISIONS[unit])),
    )
    for unit in ("us", "ms", "s")
)
_SCALES: _Trials = (
    ("--ignore-scale {column}", partial(_is_equal_after, replacements=SCALE_REPLACEMENTS)),
)
# The cause is found only if one value is the other one in this form.
_ENCODED: Mapping[str, str] = {"hexadecimal": "hex", "base64": "base64"}
_BINARY_MODE = "binary-handling-mode"
_SHIFTS: _Trials = (("", _is_later),)
_ABSENT: _Trials = (("", _is_unchanged),)
_TYPES_WITH_TIMES = ("text", "time", "datetime", "timestamp")
_TYPES_WITH_SCALES = ("text", "decimal")
_OPTIONS_OF_ROWS: Mapping[RowVerdict, str] = {
    "repeated": "--allow-repeats",
    "out of order": "--no-order",
}
_OPTION_OF_BEFORE = "--no-before"
OPTIONS = frozenset(
    (
        *(option for option, _ in (*_TIMES, *_SCALES)),
        *_OPTIONS_OF_ROWS.values(),
        _OPTION_OF_BEFORE,
        *(f"--{side}-binary" for side in OTHER_SIDE),
    )
)
_UNIT_ORDER = ("seconds", "milliseconds", "microseconds")


@dataclass(frozen=True, slots=True)
class PatternName:
    """The identity of a pattern."""

    column: str | None
    type: str
    cause: Cause
    option: str | None


Example: TypeAlias = "tuple[Any, PatternExample]"


@dataclass(slots=True)
class PatternCount:
    """The size of a pattern so far, and its first examples, each after its place in the order.

    ``tried``: how many of the options that were tried do not accept all of its differences.
    """

    count: int = 0
    examples: list[Example] = field(default_factory=list)
    tried: int = 0

    def add(self, count: int, examples: Iterable[Example], tried: int = 0) -> None:
        """Count differences of the pattern, and keep the first examples in their order."""
        self.count += count
        self.tried = max(self.tried, tried)
        found: list[Example] = []
        for each in sorted((*self.examples, *examples), key=lambda each: each[0]):
            if len(found) < _EXAMPLES and all(each[1] != other for _, other in found):
                found.append(each)
        self.examples = found


PatternGroups: TypeAlias = dict[PatternName, PatternCount]


def patterns_of(differences: Iterable[RowDifference]) -> tuple[Pattern, ...]:
    """Return the patterns of all differences of a table, the most frequent first."""
    return patterns_in(groups_of(enumerate(differences)))


def joined_groups(parts: Iterable[PatternGroups]) -> PatternGroups:
    """Return the groups of each share of the differences of a table as one."""
    joined: PatternGroups = {}
    for groups in parts:
        for name, each in groups.items():
            joined.setdefault(name, PatternCount()).add(each.count, each.examples, each.tried)
    return joined


def groups_of(differences: Iterable[tuple[Any, RowDifference]]) -> PatternGroups:
    """Return differences grouped by their pattern. Each comes with its place in the order."""
    found: PatternGroups = {}
    for place, difference in differences:
        of_row = _names_of(difference)
        for name, values in of_row.items():
            if len(of_row) > 1 and _finest(name, of_row) != name:
                continue
            known = found.get(name)
            if known is None:
                known = found[name] = PatternCount()
            trials = _trials_of(name)
            for each in values:
                known.tried = _tried(trials, known.tried, each, name.cause)
            known.count += difference.weight
            if len(known.examples) < _EXAMPLES:
                left, right = (_beginning(each) for each in (values[0].left, values[0].right))
                example = PatternExample(_shown_key(difference), left, right)
                known.add(0, [(place, example)])
    return found


def _shown_key(difference: RowDifference) -> tuple[tuple[str, Shown], ...]:
    """Return the key of a row; of a table without key, the first values of a row of one side."""
    if difference.key or difference.verdict == "changed" or not difference.columns:
        return difference.key
    image = difference.columns[-1].image
    values = [
        (each.column, _beginning(each.right if each.left.is_absent else each.left))
        for each in difference.columns
        if each.column is not None and each.image == image is not None
    ]
    return tuple(values[:_VALUES_OF_ROW])


def _trials_of(name: PatternName) -> _Trials:
    """Return the options that may accept the differences of a pattern."""
    kind = name.cause.kind
    if kind in ("absent-value", "null-absent"):
        return _ABSENT
    if kind == "time-shift" and name.type.startswith("timestamp"):
        return _SHIFTS
    if kind.startswith("time-") and name.type.startswith(_TYPES_WITH_TIMES):
        return _TIMES
    if kind == "scale" and name.type.startswith(_TYPES_WITH_SCALES):
        return _SCALES
    return ()


def _tried(trials: _Trials, start: int, each: ColumnDifference, cause: Cause) -> int:
    """Return the first option from ``start`` on that makes two values equal.

    Milder options than one that did not make an earlier difference equal are not tried again.
    """
    texts = None not in (each.left.text, each.right.text)
    if trials is not _ABSENT and (not texts or each.left.length or each.right.length):
        return len(trials)
    while start < len(trials) and not trials[start][1](each, cause):
        start += 1
    return start


def _names_of(difference: RowDifference) -> dict[PatternName, list[ColumnDifference]]:
    """Return the patterns that a difference is part of, each with its values in the images."""
    found: dict[PatternName, list[ColumnDifference]] = {}
    if difference.verdict != "changed":
        cause = Cause("row", amount=f"{difference.verdict}: {difference.op}")
        name = PatternName(None, "row", cause, _OPTIONS_OF_ROWS.get(difference.verdict))
        found[name] = [ColumnDifference(None, None, "row", ABSENT, ABSENT)]
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
        name = PatternName(each.column, each.kind, cause, _option(difference, cause))
        found.setdefault(name, []).append(each)
    return found


def _option(difference: RowDifference, cause: Cause) -> str | None:
    """Return the option that accepts a difference of this cause, whatever the values are."""
    is_update = difference.op == "update" and not any(
        each.image is None and each.column == "op" for each in difference.columns
    )
    is_before = cause.kind == "image" and cause.amount == "before"
    return _OPTION_OF_BEFORE if is_before and is_update else None


def _beginning(shown: Shown) -> Shown:
    return beginning_of(shown, _LONGEST_EXAMPLE)


def patterns_in(groups: PatternGroups) -> tuple[Pattern, ...]:
    """Return the patterns of all differences of a table, the most frequent first."""
    merged: PatternGroups = {}
    for name, each in groups.items():
        finest = _finest(name, groups)
        is_tried = _trials_of(finest) is _trials_of(name)
        tried = each.tried if is_tried else len(_trials_of(finest))
        merged.setdefault(finest, PatternCount()).add(each.count, each.examples, tried)
    found = (
        Pattern(
            name.column,
            name.type,
            name.cause.kind,
            str(_cause(name, each.tried)),
            each.count,
            tuple(example for _, example in each.examples),
            name.option or _accepting(name, each.tried),
            _later(name, each.tried),
            _lacking(name, each.tried),
        )
        for name, each in merged.items()
    )
    return tuple(sorted(found, key=_order))


def _order(each: Pattern) -> tuple[int, str, str, str, str]:
    return -each.count, each.column or "", each.text, each.type, each.option or ""


def _cause(name: PatternName, tried: int) -> Cause:
    """Return the cause of a pattern. A cut is as coarse as the precision that accepts it."""
    if name.cause.kind == "time-cut" and tried < len(_trials_of(name)):
        return replace(name.cause, amount=_UNIT_ORDER[::-1][tried])
    return name.cause


def _accepting(name: PatternName, tried: int) -> str | None:
    """Return the mildest option that accepts all differences of a pattern."""
    trials = _trials_of(name)
    if tried < len(trials) and trials[tried][0]:
        return trials[tried][0].format(column=name.column)
    has_bytes = name.type.removeprefix("array<").startswith("bytes")
    if name.cause.kind in _ENCODED and has_bytes and name.cause.side:
        return f"--{name.cause.side}-binary {name.column}={_ENCODED[name.cause.kind]}"
    if name.cause.kind == "hexadecimal-read" and has_bytes:
        return f"--{name.cause.side}-option {_BINARY_MODE}=hex"
    return None


def _later(name: PatternName, tried: int) -> int | None:
    """Return by how many seconds all times of the left side are later, exactly."""
    if _trials_of(name) is not _SHIFTS or tried:
        return None
    return name.cause.seconds if name.cause.side == "left" else -name.cause.seconds


def _lacking(name: PatternName, tried: int) -> SideName | None:
    """Return the side that lacks columns of before images that did not change."""
    if _trials_of(name) is not _ABSENT or tried or name.cause.side is None:
        return None
    is_absent = name.cause.kind == "absent-value"
    return name.cause.side if is_absent else OTHER_SIDE[name.cause.side]


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
