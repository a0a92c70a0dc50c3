"""Options that may explain the differences of a comparison, each as one line."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cdcwire_conformance.spark.compare.feed import OpenedFeed
from cdcwire_conformance.spark.compare.result import (
    ColumnDifference,
    Comparison,
    TableComparison,
)
from cdcwire_conformance.spark.compare.rules import ComparisonRules

_TIME = re.compile(r"(.*:[0-9]{2})(?:\.([0-9]+))?(Z|[+-][0-9]{2}:[0-9]{2})?")
_UNITS = {0: "s", 3: "ms", 6: "us"}


def hints_of(
    found: Comparison, rules: ComparisonRules, left: OpenedFeed, right: OpenedFeed
) -> tuple[str, ...]:
    """Return the hints, each once. They rest on the differences that are shown."""
    hints = [
        *_checkpoint_hints(found, rules, left, right),
        *(hint for table in found.tables for hint in _table_hints(table, rules)),
    ]
    return tuple(dict.fromkeys(hints))


def _checkpoint_hints(
    found: Comparison, rules: ComparisonRules, left: OpenedFeed, right: OpenedFeed
) -> Iterator[str]:
    """Yield a window for a prefix that ends at its checkpoint, where the other feed goes on."""
    counts = [table.counts for table in found.tables if table.counts is not None]
    extra = {
        "left": sum(each.only_left for each in counts),
        "right": sum(each.only_right for each in counts),
    }
    for side, feed, other in (("left", left, "right"), ("right", right, "left")):
        prefix = feed.opened.prefix
        if prefix is None or prefix.checkpoint is None or rules.position != "commit_ts":
            continue
        if extra[other]:
            yield (
                f"the {side} prefix is read up to its checkpoint; --to {prefix.checkpoint + 1} "
                f"leaves out what the {other} feed has after it"
            )


def _table_hints(table: TableComparison, rules: ComparisonRules) -> Iterator[str]:
    counts = table.counts
    if counts is None or not counts.differing:
        return
    alone = counts.only_left > 0 and counts.only_right > 0
    if rules.position is not None and alone and not counts.same + counts.changed:
        yield (
            f"no two rows have the same {rules.position} and key; feeds of two clusters are "
            "compared with --pair-by key"
        )
    changed = [each for each in table.differences if each.verdict == "changed"]
    columns = [column for each in changed for column in each.columns]
    if columns and all(each.column is None and each.image == "before" for each in columns):
        yield "all shown differences are before images that one side lacks: --no-before"
    by_name: dict[str, list[ColumnDifference]] = {}
    for column in columns:
        if column.column is not None and column.image is not None:
            by_name.setdefault(column.column, []).append(column)
    for name, found in by_name.items():
        digits = {_digits_kept(each) for each in found}
        kept = max((each for each in digits if each is not None), default=None)
        if kept is not None and None not in digits:
            yield (
                f"all shown differences of {table.table}.{name} are times cut to {_UNITS[kept]}: "
                f"--precision {name}={_UNITS[kept]}"
            )


def _digits_kept(column: ColumnDifference) -> int | None:
    """Return to how many digits of a second one value is the other one cut; None if it is not."""
    texts = column.left.text, column.right.text
    if texts[0] is None or texts[1] is None:
        return None
    ours, theirs = (_TIME.fullmatch(text) for text in texts if text is not None)
    if ours is None or theirs is None or ours[1] != theirs[1] or ours[3] != theirs[3]:
        return None
    fractions = sorted(((each[2] or "").rstrip("0") for each in (ours, theirs)), key=len)
    for digits in _UNITS:
        short, long = fractions
        if len(short) <= digits < len(long) and long[:digits].rstrip("0") == short:
            return digits
    return None
