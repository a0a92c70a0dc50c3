"""The rules of Debezium JSON: those of Connect's JSON, at the members that all messages need.

Which members a message needs depends on what it is: ``op`` and ``source`` are needed by changes,
``status`` and ``id`` by the borders of transactions, the versions by CDL's messages. Each of them
is looked for only where it is. Left out, ``op`` leaves something that is not a message.
"""

from __future__ import annotations

from cdcwire_conformance.corpus.mutations.rules import FormatRules
from cdcwire_conformance.families.connect_mutations import LONG_PART, changes_of, legal_sizes

_NEEDED = frozenset(
    (
        *(("op",), ("source",), ("message",), ("status",), ("id",), ("message_type",)),
        *(("source", "version"), ("source", "ts_ms"), ("source", "table")),
    )
)

RULES = FormatRules(
    parts=("key", "value"),
    legal_sizes=legal_sizes,
    changes=changes_of(_NEEDED, {"op": "x", "status": "ABORT", "message_version": "9.9"}),
    long_part=LONG_PART,
)
