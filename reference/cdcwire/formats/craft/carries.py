"""What Craft can carry of the neutral model: the truth about ``to_events(from_events(...))``."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from cdcwire.model.carries import EXACT, KINDS, NO, Carries, CarryVerdict, as_form, option

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
_KINDS_THAT_DIFFER: Mapping[str, CarryVerdict] = MappingProxyType(
    {
        "bool": as_form("int8"),
        "decimal not finite": NO,
        "date as count": as_form("date"),
        "time as count": as_form("time"),
        "datetime as count": as_form("datetime"),
        "timestamp as count": as_form("timestamp"),
        "timestamp with zone": option("time-zone"),
        "interval": NO,
        "enum by label": as_form("enum by index"),
        "set by label": as_form("set by index"),
        "array": NO,
        "map": NO,
        "struct": NO,
        "unknown": NO,
        "unavailable": NO,
    }
)

CARRIES = Carries(_FIELDS, {kind: _KINDS_THAT_DIFFER.get(kind, EXACT) for kind in KINDS})
"""The two Craft formats carry the same: the proposal differs in bytes, not in meaning."""
