"""The rules of Craft as shipped.

Every region of a message is consumed exactly and all sizes add up, so a number that says where
something ends has one right value. The exceptions, which are legal or may be:

* An empty value and NULL differ in the length alone, so 0 is never changed to -1, nor -1 to 0.
* One column more or fewer shifts the arrays of a group; only a group of no columns is surely wrong.
* An unknown version, column type or DDL code has a reading: the bytes are as before.
* A tail one larger is not made where the byte before the size tables would be a valid count.
"""

from __future__ import annotations

from cdcwire.formats.craft.profile import CRAFT, PROPOSAL
from cdcwire_conformance.corpus.mutations.rules import (
    BOMB_COUNT,
    BOMB_SIZE,
    FormatRules,
    NumberRule,
    Site,
)
from cdcwire_conformance.formats.craft.table_mutations import TablesLayout, rewriter

_META_COUNT = 2  # the elements of the first size table

_EVENT = r"events\[\d+\]"
GROUP = _EVENT + r"\.groups\[\d+\]"
COLUMN = GROUP + r"\.columns\[\d+\]"


def is_one(site: Site) -> bool:
    """Return whether the number is 1."""
    return site.number == 1


def is_more_than_one(site: Site) -> bool:
    """Return whether the number is larger than 1."""
    return site.number > 1


def is_null(site: Site) -> bool:
    """Return whether the length is -1, the length of NULL."""
    return site.number == -1


def is_empty(site: Site) -> bool:
    """Return whether the length is 0."""
    return site.number == 0


def has_bytes(site: Site) -> bool:
    """Return whether the length is larger than 0."""
    return site.number > 0


def _is_no_table_before(site: Site) -> bool:
    before = min(span.start for path, span in site.spans.items() if path[0] == "size_tables") - 1
    return site.raw[before] != _META_COUNT


_EVENT_TYPES = frozenset({CRAFT.event_types, PROPOSAL.event_types})
RULES = FormatRules(
    parts=("value",),
    rewrite=rewriter(TablesLayout("meta", "bodies", fixed=(), has_deltas=True)),
    numbers=(
        NumberRule(_EVENT + r"\.type", "tag", values=(0, 4), clauses=_EVENT_TYPES),
        NumberRule(_EVENT + r"\.query\.length", "length", steps=(-1, 1), bomb=BOMB_SIZE),
        NumberRule(GROUP + r"\.type", "tag", values=(0, 3)),
        NumberRule(GROUP + r"\.count", "count", steps=(-1,), bomb=BOMB_COUNT, applies=is_one),
        NumberRule(GROUP + r"\.count", "count", bomb=BOMB_COUNT, applies=is_more_than_one),
        NumberRule(
            GROUP + r"\.count", "count", steps=(-1,), applies=is_more_than_one, is_certain=False
        ),
        NumberRule(GROUP + r"\.count", "count", steps=(1,), is_certain=False),
        NumberRule(
            COLUMN + r"\.length", "length", steps=(-1, 1), bomb=BOMB_SIZE - 1, applies=has_bytes
        ),
        NumberRule(COLUMN + r"\.length", "length", steps=(1,), applies=is_empty),
        NumberRule(COLUMN + r"\.length", "length", steps=(-1,), applies=is_null),
        NumberRule(r"dictionary\.count", "count", steps=(-1, 1), bomb=BOMB_COUNT),
        NumberRule(r"dictionary\[\d+\]\.length", "length", steps=(-1, 1), bomb=BOMB_SIZE),
        NumberRule(r"size_tables\..*\.count", "count", steps=(-1, 1), bomb=BOMB_COUNT),
        NumberRule(r"size_tables\..*\[\d+\]", "size", steps=(-1, 1), bomb=BOMB_SIZE - 1),
        NumberRule("tail", "size", steps=(-1,), bomb=BOMB_SIZE),
        NumberRule("tail", "size", steps=(1,), applies=_is_no_table_before),
    ),
)
