"""What Maxwell JSON carries, by event field and by kind, under the default options.

Rows name no types, so they are read by the definitions of their tables.
"""

from __future__ import annotations

from cdcwire.model.carries import EXACT, KINDS, NO, Carries, CarryVerdict, as_form, lossy

_INSTANT = as_form("timestamp with zone")
_AS: dict[str, CarryVerdict] = {
    "float not finite": NO,
    "decimal not finite": NO,
    "text ill-formed": NO,
    "date as count": as_form("date"),
    "time as count": as_form("time"),
    "datetime as count": as_form("datetime"),
    "timestamp": _INSTANT,
    "timestamp as count": _INSTANT,
    "timestamp with zone": _INSTANT,
    "interval": NO,
    "enum by index": as_form("enum by label"),
    "set by index": as_form("set by label"),
    "json": lossy("a JSON null, which becomes NULL"),
    "array": NO,
    "map": NO,
    "struct": NO,
    "unknown": NO,
    "unavailable": NO,
}

CARRIES = Carries(
    fields={
        "op": EXACT,
        "before of update": EXACT,
        "before of delete": EXACT,
        "key": EXACT,
        "commit_ts": NO,
        "sequence_id": NO,
        "lsn": NO,
        "tx_id": EXACT,
        "commit_ms": lossy("the part below a second"),
        "sent_ms": NO,
        "partition": NO,
        "types": EXACT,
        "schema change": NO,  # encoding one needs the definitions before and after it
        "progress": NO,
        "markers": NO,
    },
    kinds={kind: _AS.get(kind, EXACT) for kind in KINDS},
)
