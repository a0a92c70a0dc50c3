"""Options that may explain the differences of a comparison, each as one line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from cdcwire_conformance.compare.feed import OpenedFeed
from cdcwire_conformance.compare.result import Comparison, SideName, TableComparison
from cdcwire_conformance.compare.rules import ComparisonRules


def hints_of(
    found: Comparison,
    rules: ComparisonRules,
    left: OpenedFeed,
    right: OpenedFeed,
    one_sided_keys: Mapping[str, SideName],
) -> tuple[str, ...]:
    """Return the hints, each once. They rest on the differences that are shown.

    ``one_sided_keys``: the side that has a key, by the names of tables whose other side has none.
    """
    hints = [
        *_checkpoint_hints(found, rules, left, right),
        *_key_hints(one_sided_keys),
        *(
            hint
            for table in found.tables
            if table.table not in one_sided_keys
            for hint in _table_hints(table, rules)
        ),
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


def _key_hints(one_sided_keys: Mapping[str, SideName]) -> Iterator[str]:
    """Yield how both sides get the key that only one of them sends."""
    for side in ("left", "right"):
        tables = [table for table, has_key in one_sided_keys.items() if has_key == side]
        if tables:
            other = "right" if side == "left" else "left"
            yield (
                f"the {other} feed sends no key of {', '.join(tables)}; --ddl FILE with the CREATE "
                "TABLE (or --tables FILE) gives both sides the key"
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
