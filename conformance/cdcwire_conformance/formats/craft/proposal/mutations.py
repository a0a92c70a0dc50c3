"""The rules of Craft as proposed.

A reader of the proposal ignores surplus bytes inside a stated size, undefined group and event
types, and size tables that are not needed. So fewer numbers have one right value than in the
shipped format:

* Undefined event and group types are legal, so they give no case.
* A length or a size that is too small leaves surplus; one that is too large may end in surplus. So
  off by one may be legal by chance. The sizes of keys and of values add up exactly, and are sure.
* The group tables of an event of unknown type say nothing.
"""

from __future__ import annotations

from cdcwire_conformance.corpus.mutations.rules import (
    BOMB_COUNT,
    BOMB_SIZE,
    FormatRules,
    NumberRule,
    Site,
)
from cdcwire_conformance.formats.craft.mutations import (
    COLUMN,
    GROUP,
    has_bytes,
    is_null,
    is_one,
)
from cdcwire_conformance.formats.craft.table_mutations import TablesLayout, rewriter

_EVENT = r"events\[\d+\]"
_NAME_LENGTH = rf"(?:{_EVENT}\.(?:schema|table)|{COLUMN}\.name)\.length"
_GROUP_COUNT = r"size_tables\.groups\[\d+\]\.count"
_GROUP_SIZE = r"size_tables\.groups\[\d+\]\[\d+\]"
_KNOWN_EVENT_TYPES = (1, 2, 3)


def _is_of_known_event(site: Site) -> bool:
    """Return whether the group table of this number belongs to an event of a defined type."""
    return site.number_at("events", site.span.path[2], "type") in _KNOWN_EVENT_TYPES


RULES = FormatRules(
    parts=("value",),
    rewrite=rewriter(
        TablesLayout("keys", "values", fixed=(("version",), ("number_of_pairs",)), has_deltas=False)
    ),
    numbers=(
        NumberRule("number_of_pairs", "count", steps=(-1, 1)),
        NumberRule(_EVENT + r"\.query\.length", "length", steps=(-1, 1), is_certain=False),
        NumberRule(_EVENT + r"\.query\.length", "length", bomb=BOMB_SIZE),
        NumberRule(GROUP + r"\.count", "count", steps=(-1,), applies=is_one),
        NumberRule(GROUP + r"\.count", "count", steps=(1,), is_certain=False),
        NumberRule(GROUP + r"\.count", "count", bomb=BOMB_COUNT),
        NumberRule(COLUMN + r"\.length", "length", steps=(-1,), applies=is_null),
        NumberRule(
            COLUMN + r"\.length", "length", steps=(-1, 1), applies=has_bytes, is_certain=False
        ),
        NumberRule(COLUMN + r"\.length", "length", bomb=BOMB_SIZE - 1),
        NumberRule(_NAME_LENGTH, "length", steps=(-1, 1), is_certain=False),
        NumberRule(_NAME_LENGTH, "length", bomb=BOMB_SIZE),
        NumberRule(r"size_tables\.(?:keys|values)\.count", "count", steps=(-1, 1), bomb=BOMB_COUNT),
        NumberRule(r"size_tables\.(?:keys|values)\[\d+\]", "size", steps=(-1, 1), bomb=BOMB_SIZE),
        NumberRule(_GROUP_COUNT, "count", steps=(-1, 1), is_certain=False),
        NumberRule(_GROUP_COUNT, "count", bomb=BOMB_COUNT),
        NumberRule(_GROUP_SIZE, "size", steps=(-1, 1), is_certain=False),
        NumberRule(_GROUP_SIZE, "size", bomb=BOMB_SIZE, applies=_is_of_known_event),
        NumberRule("tail", "size", steps=(-1, 1), bomb=BOMB_SIZE),
    ),
)
