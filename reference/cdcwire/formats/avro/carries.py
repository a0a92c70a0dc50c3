"""What Avro carries, by event field and by kind, under the default options."""

from __future__ import annotations

from cdcwire.model.carries import EXACT, KINDS, NO, Carries, CarryVerdict, as_form, lossy, option

_AS: dict[str, CarryVerdict] = {
    "bool": as_form("int32"),
    "int8": as_form("int32"),
    "int16": as_form("int32"),
    "int24": as_form("int32"),
    "int8 unsigned": as_form("int32 unsigned"),
    "int16 unsigned": as_form("int32 unsigned"),
    "int24 unsigned": as_form("int32 unsigned"),
    "decimal not finite": NO,
    "date as count": as_form("date"),
    "time as count": as_form("time"),
    "datetime as count": as_form("datetime"),
    "timestamp as count": as_form("timestamp"),
    "timestamp with zone": option("time-zone"),
    "interval": NO,
    "enum by index": as_form("enum by label"),
    "set by index": as_form("set by label"),
    "array": NO,
    "map": NO,
    "struct": NO,
    "unknown": NO,
    "unavailable": NO,
}

CARRIES = Carries(
    fields={
        "op": option("enable-tidb-extension"),
        "before of update": NO,
        "before of delete": lossy("columns outside the handle key"),
        "key": EXACT,
        "commit_ts": option("enable-tidb-extension"),
        "sequence_id": NO,
        "lsn": NO,
        "tx_id": NO,
        "commit_ms": option("enable-tidb-extension"),
        "sent_ms": NO,
        "partition": NO,
        "types": lossy("widths of integers and lengths"),
        "schema change": option("avro-enable-watermark"),
        "progress": option("avro-enable-watermark"),
        "markers": NO,
    },
    kinds={kind: _AS.get(kind, EXACT) for kind in KINDS},
)
