"""The first questions of a run: they show whether a testee can answer at all.

A testee whose libraries are missing often answers ``start`` and then crashes on each request. The
first questions come from all formats and groups. If each of them ends in the same crash and none
has an answer, the run stops. A decoder that fails only in one format or group is asked everything.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence

from cdcwire_conformance.corpus.case import Case
from cdcwire_conformance.run.groups import crash_kind
from cdcwire_conformance.run.results import Outcome

CRASHES_AT_START = 10


def asking_order(cases: Sequence[Case]) -> list[int]:
    """Return the places of cases in the order of asking.

    The first case of each group comes first, and the formats take turns. The others keep their
    order.
    """
    groups_seen: Counter[str] = Counter()
    turns: dict[int, int] = {}
    seen: set[tuple[str, str]] = set()
    for place, case in enumerate(cases):
        group = case.format, case.group
        if group not in seen:
            seen.add(group)
            turns[place] = groups_seen[case.format]
            groups_seen[case.format] += 1
    first = sorted(turns, key=lambda place: (turns[place], place))
    return [*first, *(place for place in range(len(cases)) if place not in turns)]


class Opening:
    """Watches the first answers of a run. ``limit``: of equal crashes; 0 means no limit."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._crashes = 0
        self._kind: Hashable = None
        self._is_over = not limit

    def stops_at(self, outcome: Outcome) -> bool:
        """Return whether the run stops: the testee gave nothing else than this crash so far.

        Questions that were not asked do not count. An expected failure counts as an answer.
        """
        if self._is_over or outcome.verdict in ("not claimed", "skipped", "not run"):
            return False
        is_crash = outcome.verdict in ("crashed", "timed out")
        kind = crash_kind(outcome) if is_crash else None
        if not is_crash or (self._crashes and kind != self._kind):
            self._is_over = True
            return False
        self._kind = kind
        self._crashes += 1
        return self._crashes >= self._limit
