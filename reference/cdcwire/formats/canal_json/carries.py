"""What Canal-JSON carries, by event field and by kind, under the default options: on a queue."""

from __future__ import annotations

from cdcwire.model.carries import EXACT, KINDS, NO, Carries, CarryVerdict, as_form, lossy, option

_AS: dict[str, CarryVerdict] = {
    "bool": as_form("int8"),
    "float not finite": NO,
    "decimal not finite": NO,
    "text ill-formed": lossy("ill-formed bytes, each becomes U+FFFD"),
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
        "before of update": EXACT,
        "before of delete": EXACT,
        "key": EXACT,
        "commit_ts": option("enable-tidb-extension"),
        "sequence_id": NO,
        "lsn": NO,
        "tx_id": NO,
        "commit_ms": EXACT,
        "sent_ms": EXACT,
        "partition": NO,  # a file's path tells it, a message does not
        # mysqlType has them in full under content-compatible only.
        "types": lossy("lengths, digits and elements"),
        "schema change": lossy("the number of the action"),
        "progress": option("enable-tidb-extension"),
        "markers": NO,
    },
    kinds={kind: _AS.get(kind, EXACT) for kind in KINDS},
)
