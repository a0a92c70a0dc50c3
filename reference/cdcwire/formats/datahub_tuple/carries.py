"""The event fields and kinds that Tuple topics carry under the default options."""

from __future__ import annotations

from cdcwire.model.carries import EXACT, KINDS, NO, Carries, CarryVerdict, as_form, lossy

_TEXT = as_form("text")
_KINDS: dict[str, CarryVerdict] = {
    "int24": as_form("int32"),
    "int8 unsigned": as_form("int16"),
    "int16 unsigned": as_form("int32"),
    "int24 unsigned": as_form("int32"),
    "int32 unsigned": as_form("int64"),
    "year": as_form("int32"),
    **dict.fromkeys(
        (
            "int64 unsigned",
            "date",
            "date as count",
            "time",
            "time as count",
            "datetime",
            "datetime as count",
            "timestamp",
            "timestamp as count",
            "interval",
            "enum by index",
            "enum by label",
            "set by index",
            "set by label",
            "json",
            "vector",
        ),
        _TEXT,
    ),
    "bit": as_form("int64", "text"),
    "timestamp with zone": as_form("timestamp with zone"),
    **dict.fromkeys(
        (
            "float not finite",
            "decimal not finite",
            "text ill-formed",
            "array",
            "map",
            "struct",
            "unknown",
            "unavailable",
        ),
        NO,
    ),
}

CARRIES = Carries(
    fields={
        "op": EXACT,
        "before of update": EXACT,
        "before of delete": EXACT,
        "key": EXACT,
        "commit_ts": NO,
        "sequence_id": EXACT,
        "lsn": NO,
        "tx_id": NO,
        "commit_ms": EXACT,
        "sent_ms": NO,
        "partition": NO,
        "types": lossy("all types but ten"),
        "schema change": NO,
        "progress": NO,
        "markers": NO,
    },
    kinds={kind: _KINDS.get(kind, EXACT) for kind in KINDS},
)
