"""What Open Protocol carries, by event field and by kind, under the default options."""

from __future__ import annotations

from cdcwire.model.carries import EXACT, KINDS, NO, Carries, CarryVerdict, as_form, lossy, option

_AS: dict[str, CarryVerdict] = {
    "bool": as_form("int8"),
    "float not finite": NO,
    "decimal not finite": NO,
    "text ill-formed": lossy("ill-formed bytes of CHAR and VARCHAR, each becomes U+FFFD"),
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

CARRIES = Carries(
    fields={
        "op": EXACT,
        "before of update": option("output-old-value"),
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
    },
    kinds={kind: _AS.get(kind, EXACT) for kind in KINDS},
)
