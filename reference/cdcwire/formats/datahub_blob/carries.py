"""The event fields and kinds that Blob messages carry under the default options."""

from __future__ import annotations

from cdcwire.model.carries import EXACT, KINDS, NO, Carries, CarryVerdict, as_form, lossy

_TEXT = as_form("text")
_LONG = as_form("int64")
_KINDS: dict[str, CarryVerdict] = {
    **dict.fromkeys(
        (
            *(f"int{bits}{sign}" for bits in (8, 16, 24, 32) for sign in ("", " unsigned")),
            "year",
        ),
        _LONG,
    ),
    **dict.fromkeys(
        (
            "int64 unsigned",
            "decimal",
            "decimal not finite",
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
    "timestamp with zone": as_form("timestamp with zone", "text"),
    "float32": as_form("float64"),
    **dict.fromkeys(
        (
            "float not finite",
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
        "sent_ms": EXACT,
        "partition": NO,
        "types": lossy("all types but six"),
        "schema change": lossy("the number of the action"),
        "progress": EXACT,
        "markers": EXACT,
    },
    kinds={kind: _KINDS.get(kind, EXACT) for kind in KINDS},
)
