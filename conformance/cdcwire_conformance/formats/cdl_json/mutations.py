"""The rules of CDL JSON: those of Connect's JSON, at the members that a change has.

A message without value is a tombstone; such a case has nothing to change.
"""

from __future__ import annotations

from collections.abc import Sequence

from cdcwire.core.reader import Span
from cdcwire_conformance.corpus.mutations.rules import FormatRules
from cdcwire_conformance.families.connect_mutations import LONG_PART, changes_of, legal_sizes

_NEEDED = ("SEG_OWNER", "TABLE_NAME", "TIMESTAMP", "OPERATION")


def is_read(spans: Sequence[Span]) -> bool:
    """Return whether readers look into the key: one that is not an object may be any bytes."""
    return not any(span.part == "key" and span.clause == "cdl-json: kafka keys" for span in spans)


RULES = FormatRules(
    parts=("key", "value"),
    legal_sizes=legal_sizes,
    changes=changes_of(
        frozenset((name,) for name in _NEEDED),
        {"OPERATION": "UPSERT"},
        frozenset({("TIMESTAMP",)}),
    ),
    long_part=LONG_PART,
    is_read=is_read,
)
