"""The parts of the model that Craft can carry: the truth about ``to_events(from_events(...))``."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from cdcwire.model.carries import EXACT, NO, Carries, CarryVerdict, as_form
from cdcwire.mysql.carries import LABELS_AS_INDEXES, mysql_kinds

_FIELDS: Mapping[str, CarryVerdict] = MappingProxyType(
    {
        "op": EXACT,
        "before of update": EXACT,
        "before of delete": EXACT,
        "key": EXACT,
        "commit_ts": EXACT,
        "sequence_id": NO,
        "lsn": NO,
        "tx_id": NO,
        "commit_ms": NO,
        "sent_ms": NO,
        "partition": EXACT,
        "types": EXACT,
        "schema change": EXACT,
        "progress": EXACT,
        "markers": NO,
    }
)
_KINDS: dict[str, CarryVerdict] = {
    **LABELS_AS_INDEXES,
    "bool": as_form("int8"),
}

CARRIES = Carries(_FIELDS, mysql_kinds(_KINDS))
"""The two Craft formats carry the same: the proposal differs in bytes, not in meaning."""
